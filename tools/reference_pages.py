"""What the site's pages take from the program: a hook of MkDocs.

The text of the function NAME replaces a line ``<!-- generated: NAME ARGUMENT -->`` of a page.  So the reference of
grammars, functions and options is always that of the program.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tools")]

import grammars  # noqa: E402

#: where a page takes something from the program
PLACE = re.compile(r"^<!-- generated: (\w+) ?(.*?) -->$", re.MULTILINE)


#: code, and brackets that begin an interval of numbers: two of them in a row would be a link
CODE = re.compile(r"(^ *```.*?^ *```$|`[^`\n]+`)", re.MULTILINE | re.DOTALL)
RANGE = re.compile(r"\[(?=[\d∞])")
#: in the row of a table a time stays on one line
ROW = re.compile(r"^ *\|.*$", re.MULTILINE)
TIME = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?")
#: a role of Sphinx before a name
ROLE = re.compile(r":(?:func|class|meth|mod|data|attr|exc):(?=<code>)")
#: rule languages, and the language that Pygments knows whose colours fit
COLOURS = {"tesla": "sql", "epl": "sql", "ftl": "sql", "ptl": "sql", "esql": "sql", "phenesthe": "prolog"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    top = re.fullmatch(r'--8<-- "(\w+\.md)"\s*', markdown)
    if top:  # a page of the repository's top folder: its links lead from there
        markdown = (ROOT / top[1]).read_text().replace("](docs/", "](../")
    markdown = "".join(part if CODE.match(part) else RANGE.sub("&#91;", part) for part in CODE.split(markdown))
    coloured = re.sub(r"(?<=^```)[a-z]+", lambda f: COLOURS.get(f[0], f[0]), expanded(markdown), flags=re.MULTILINE)
    return ROW.sub(lambda row: TIME.sub(r"<nobr>\g<0></nobr>", row[0]), coloured)


def on_page_content(html: str, **_: Any) -> str:
    """Called by MkDocs for every page: docstrings name things with roles of Sphinx, which pages show as code alone."""
    return ROLE.sub("", html)


def expanded(markdown: str) -> str:
    """The text of a page with all that is generated in its place."""
    return PLACE.sub(lambda found: GENERATED[found[1]](*found[2].split()), markdown)


def _cell(text: str) -> str:
    return text.replace("``", "`").replace("|", "\\|")


def _plain(text: str) -> str:
    """Text of a command, in which nothing is Markdown."""
    return escape(" ".join(text.split())).replace("|", "&#124;").replace("[", "&#91;").replace("*", "&#42;")


def grammar(language: str) -> str:
    """A grammar file: railroad diagrams of its rules, and EBNF."""
    rules = grammars.read(ROOT / f"src/occurs/languages/{language}/grammar.lark")
    drawn = "\n".join(f'<div class="railroad">{grammars.diagram(n, part, language)}</div>' for n, part in rules.items())
    kinds = "\n".join(f"| *{name}* | {text} |" for name, text in grammars.kinds(rules).items())
    return (
        f"{grammars.ebnf(rules, language)}\n"
        f"| token | how it is written |\n| --- | --- |\n{kinds}\n\n"
        f'<details markdown="0"><summary>Railroad diagrams</summary>\n{drawn}\n</details>\n'
    )


def constructs(language: str) -> str:
    """The constructs of a language, each with its section of the guide and its rules of the grammar."""
    return grammars.constructs(language)


def esql_forms() -> str:
    """The prefix forms of eSQL, one a row."""
    from occurs.languages.esql import grammar

    def written(element: Any) -> str:
        if isinstance(element, str):
            return element
        if isinstance(element, grammar.Slot):
            return f"*{element.name}*" + (" {, ..}" if element.many else "")
        if isinstance(element, grammar.Choice):
            words = " | ".join(element.words)
            return f"&#91;{words}&#93;" if element.optional else f"({words})"
        if isinstance(element, grammar.Noise):
            return f"&#91;{' | '.join(element.words)}&#93;"
        return f"&#91;{' '.join(map(written, element.elements))}&#93;"

    rows = [f"| {_cell(' '.join(map(written, p.elements)))} |" for p in grammar.PATTERNS]
    return "\n".join(["| form |", "| --- |", *rows]) + "\n"


def processors() -> str:
    """Every processor in Python: how it is called as a box, a method of pipes or a function, and what it does."""
    from occurs import pipes
    from occurs.operators.process import declared
    from occurs.pipes.processors import Methods, functions

    made = {"": vars(Methods), **{module: functions(module) for module in ("stats", "signal", "plot")}}
    out = []
    for cls in declared.processors():
        calls = [declared.Call(c) if isinstance(c, str) else c for c in cls.calls]
        lines = []
        for call in calls:
            module, dot, name = call.name.rpartition(".")
            called = made[module][name] if dot else getattr(pipes, name)
            signature = re.sub(r"((?:: |-> ))'([^']*)'", r"\1\2", str(inspect.signature(called)))
            signature = re.sub(r"^\(self(, )?", "(", signature.removesuffix(" -> None"))
            place = "pipe" if dot and not module else f"pipes.{module}".rstrip(".")
            lines += [f"# {call.doc}"] if call.doc else []
            lines.append(f"{place}.{name}{signature}")
        if lines:
            doc = " ".join((cls.__doc__ or "").split()).replace("``", "`")
            out.append(f"### {cls.__name__}\n\n```python\n" + "\n".join(lines) + f"\n```\n\n{doc}\n")
    return "\n".join(out)


def esql_grammar() -> str:
    """The grammar that the specification of pipes has."""
    text = (ROOT / "docs/spec/pipes.md").read_text()
    found = re.search(r"^### 2\.2 .*?^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not found:
        raise ValueError("docs/spec/pipes.md has no grammar in its section 2.2")
    return f"```text\n{found[1]}```\n"


def functions() -> str:
    """The catalogue of functions by topic: call, types, meaning, example, languages."""
    from occurs.cli.functions import _languages
    from occurs.expr import describe
    from occurs.expr.functions import CATALOGUE

    topics: dict[str, list[Any]] = {}
    for known in CATALOGUE.values():
        topics.setdefault(known.topic, []).append(known)
    out = []
    for topic, of in sorted(topics.items()):
        out += [
            f"## {topic.capitalize()}\n",
            "| function | meaning | example | languages |",
            "| --- | --- | --- | --- |",
        ]
        for known in sorted(of, key=lambda k: k.name):
            languages = ", ".join(
                f"{lang} (`{own}`)" if own != known.name else lang for lang, own in _languages(known.name)
            )
            call, value = describe.example(known)
            first = (
                f'<span id="{known.name}">`{_cell(describe.signature(known))}`</span><br>{_cell(describe.types(known))}'
            )
            out.append(f"| {first} | {_cell(known.doc)} | `{_cell(call)}` = `{_cell(value)}` | {languages} |")
        out.append("")
    return "\n".join(out)


def aggregates() -> str:
    """The aggregates of TESLA."""
    from occurs.expr import describe
    from occurs.expr.aggregates import written

    rows = [
        f"| `{_cell(a.text)}` | {_cell(a.doc)} | `{describe.values(a.values)}` gives `{describe.values([a.value])}` |"
        for a in written().values()
    ]
    return "\n".join(["| aggregate | meaning | example: the values of `V` |", "| --- | --- | --- |", *rows]) + "\n"


def options() -> str:
    """Every option of every command: which commands have it, what it means, its default."""
    import click

    from occurs.cli import main

    found: dict[str, tuple[click.Option, list[str]]] = {}
    context = main.make_context("occurs", [], resilient_parsing=True)
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                key = max(parameter.opts, key=len)
                found.setdefault(key, (parameter, []))[1].append(name)
    rows = ["| option | meaning | commands |", "| --- | --- | --- |"]
    for key, (option, commands) in sorted(found.items()):
        spelled = " / ".join(f"`{o}`" for o in (*option.opts, *option.secondary_opts))
        info = option.get_help_record(context)
        rows.append(
            f'| <span id="{key.lstrip("-")}">{spelled}</span> | {_plain(info[1] if info else "")} '
            f"| {', '.join(commands)} |"
        )
    return "\n".join(rows) + "\n"


def net_rules() -> str:
    """The rules of nets: the kind of error of each, and what it demands."""
    from occurs.nets.validate import RULES

    rows = [f"| `{name}` | {_cell(text[:1].upper() + text[1:])}. |" for name, text in RULES.items()]
    return "\n".join(["| kind | what a net must satisfy |", "| --- | --- |", *rows]) + "\n"


#: what became of an example of a peer, in the order of the table of counts
OUTCOMES = {
    "equal": "gives the results that the test states",
    "runs": "is accepted and runs; the source states no results",
    "differs": "runs, with other results",
    "refused": "is rejected, or is not supported",
    "not compared": "was not written for Occurs",
}


def peer(file: str) -> str:
    """The public examples and tests of another system, and what became of them here: ``docs/peers/facts/FILE.toml``."""
    facts = tomllib.loads((ROOT / f"docs/peers/facts/{file}.toml").read_text(encoding="utf-8"))
    examples = [e for part in facts["part"] for e in part["example"]]
    counts = {o: sum(e.get("tests", 1) for e in examples if e["outcome"] == o) for o in OUTCOMES}
    rows = [f"| {o} | {n} | {OUTCOMES[o]} |" for o, n in counts.items() if n]
    out = [
        f"[{facts['name']}]({facts['repository']}) at commit `{facts['version']}`, on {facts['checked']}. "
        f"{facts['how']}",
        "\n".join(["| outcome | number | meaning |", "| --- | --- | --- |", *rows]),
    ]
    for part in facts["part"]:
        rows = [
            f"| {_cell(e['name'])} | {e.get('tests', 1)} | {e['outcome']} | {_cell(e.get('reason', ''))} |"
            for e in part["example"]
        ]
        table = ["| example or test | number | outcome | reason |", "| --- | --- | --- | --- |", *rows]
        out += [f"## {part['name']}", "\n".join(table)]
    return "\n\n".join(out)


def cpn_files() -> str:
    """How many public files of CPN Tools run, and why the others do not; every file in a table."""
    files = json.loads((ROOT / "tests/nets/files/public_cpn.json").read_text())["files"]
    reasons = {
        "code segment": "A transition has a code segment, which runs ML code (files, sockets, charts).",
        "channel": "Transitions communicate by channels.",
        "undeclared colour": "A variable has a colour that the file does not declare.",
        "undeclared name": "An inscription has a variable that the file does not declare.",
        "multisets as values": "A variable stands for a multiset.",
    }
    rows = ["| result | files | why |", "| --- | --- | --- |"]
    rows.append(f"| runs | {sum(f['result'] == 'runs' for f in files)} | |")
    for reason, text in reasons.items():
        found = [f["result"] for f in files if f.get("reason") == reason]
        result = "not read" if "not read" in found else "read, does not run"
        rows.append(f"| {result} | {len(found)} | {text} |")
    rows += ["", "| file | result | firings | state space |", "| --- | --- | --- | --- |"]
    for f in files:
        space = f"{f['nodes']:,} nodes, {f['arcs']:,} arcs" if "nodes" in f else f.get("space", "")
        space += f"; SNAKES: {f['snakes']}" if "snakes" in f else ""
        space += f"; CPN Tools: {f['cpn tools']}" if "cpn tools" in f else ""
        steps = "" if "steps" not in f else "1,000 or more" if f["steps"] >= 1000 else str(f["steps"])
        why = f": {f['reason']}" if "reason" in f else ""
        rows.append(f"| `{f['path']}` | {f['result']}{why} | {steps} | {space} |")
    return "\n".join(rows) + "\n"


def commands() -> str:
    """Every command: how it is called, what it does, its options."""
    import click

    from occurs.cli import main

    context = main.make_context("occurs", [], resilient_parsing=True)
    out = []
    for name in main.list_commands(context):
        command = main.get_command(context, name)
        assert command
        inner = click.Context(command, info_name=f"occurs {name}")
        usage = " ".join([f"occurs {name}", *command.collect_usage_pieces(inner)])
        text = [" ".join(part.split()) for part in (command.help or "").replace("\b", "").split("\n\n")]
        shown = [p.get_help_record(inner) for p in command.get_params(inner) if isinstance(p, click.Option)]
        rows = [f"| <code>{_plain(r[0])}</code> | {_plain(r[1])} |" for r in shown if r]
        table = "\n".join(["| option | meaning |", "| --- | --- |", *rows])
        out += [f"## occurs {name}", f"```text\n{usage}\n```", *text, table]
    return "\n\n".join(out) + "\n"


GENERATED = {
    f.__name__: f
    for f in (
        grammar,
        constructs,
        esql_forms,
        esql_grammar,
        functions,
        aggregates,
        options,
        net_rules,
        peer,
        cpn_files,
        processors,
        commands,
    )
}
