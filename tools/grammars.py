"""Grammars as pages read them: EBNF with links, and railroad diagrams.

A grammar file of Lark is read by Lark's own grammar of grammars.  Its tree becomes a small tree of tuples:
``("seq", parts)``, ``("or", parts)``, ``("opt", part)``, ``("many", part)``, ``("some", part)``, ``("rule", name)``,
``("word", text)`` for text that stands there, ``("kind", name)`` for a kind of token.
"""

from __future__ import annotations

import io
import re
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import lark
import railroad

from occurs.expr.aggregates import words

#: tokens that are shown by their name; pages say what they are
KINDS = {
    "NAME": "a name: letters, digits and `_`, not starting with a digit",
    "PARAM": "`$` and a name",
    "NUMBER": "`12`, `1.5`, `2e-3`",
    "STRING": "text in double or single quotes",
    "UNIT": "a unit of time such as `s`, `min`, `h`",
}
#: tokens whose expressions have conditions: what an author writes
_SPELLED = {
    "AMP": ("&",),
    "BAR": ("|",),
    "AGGREGATE": ("sum of", "avg of", "count of", "min of", "max of"),
    "EQ": ("=", "=="),
    "GE": (">=", "≥"),
    "LE": ("<=", "≤"),
    "ON_NEVER": ("on never",),
    "PAIRED": ("until", "since", "release"),
    "RANGED": ("eventually", "always", "previously", "once", "historically", "throughout the past"),
    "SORT": ("event", "state", "dynamic", "event_phenomenon", "state_phenomenon", "dynamic_phenomenon"),
    "WEAK": ("weak until", "unless"),
    "_CONSUME": ("@consume",),
    "_ENDLIMIT": ("]>",),
    "_EVERY_DISTINCT": ("every-distinct",),
    "_INTERVAL": ("timer:interval",),
    "_DIFFERENCE": ("minus", "complement", "\\"),
    "_NOT": ("not", "¬"),
    "_NOT_NULL": ("not null",),
    "_CAST": ("cast",),
    "_LENGTH": ("interval",),
    "_SUB_LBRACE": ("_{",),
    "_TIMESTAMP": ("timestamp",),
    "_TIMER_AT": ("timer:at",),
    "_TIMER_SCHEDULE": ("timer:schedule",),
    "_WITHIN": ("timer:within",),
    "_WITHINMAX": ("timer:withinmax",),
}
KINDS |= {"PARAMETER": "`:` and a name; in `occurs.sql` only"}
KINDS |= {"KTH": "a number and `-first` or `-last`, as in `2-first`", "SQL": "a query in SQL",
          "COEFFICIENT": "a number that multiplies what follows it, as in `2x`"}  # fmt: skip

#: guide of a language, and what users know as constructs: (construct, rules of the grammar, section of the guide)
GUIDES: dict[str, tuple[str, list[tuple[str, str, str]]]] = {
    "tesla": ("tesla", [
        ("Rule", "rule", "the-simplest-program"),
        ("Event with its conditions", "event constraints", "events-and-conditions"),
        ("Expression", "bool comparison atom call when otherwise", "expressions"),
        ("Name of an event", "alias", "names-of-events"),
        ("Selection with `each`, `first`, `last`", "item", "selections"),
        ("Window with `within`", "within", "chains-of-windows"),
        ("`having`", "having", "a-condition-on-the-chosen-event"),
        ("Interval of a negation", "interval between", "absence"),
        ("Aggregate", "aggregate", "aggregates"),
        ("`consuming`", "consuming", "consuming"),
        ("Declaration of a type", "schema declared declaration", "declarations"),
        ("Subscription", "subscription", "subscriptions"),
    ]),
    "epl": ("epl", [
        ("Statement", "query", "statements"),
        ("Event type", "schema columns column inherits", "event-types-and-schemas"),
        ("Output type and columns", "into select item", "the-output-type-and-its-columns"),
        ("Filter", "filter conditions tag", "conditions-in-a-filter"),
        ("Pattern", "pattern", "patterns"),
        ("Sequence with `->`", "arrow", "sequence"),
        ("`every`", "qualp", "every"),
        ("`and`, `or`", "andp orp", "both-and-either"),
        ("`timer:within`", "guardp", "within-a-time"),
        ("Repetition and `until`", "untilp range", "repetition"),
        ("`every-distinct`", "keys", "distinct-keys"),
        ("Timers", "atomp argument cron", "timers"),
        ("`@consume`", "consume", "using-an-event-once"),
    ]),
    "logic": ("triggers", [
        ("Trigger", "trigger", "the-simplest-program"),
        ("Table, state, event", "table event state view", "tables-states-and-events"),
        ("Formula", "formula disjunction conjunction", "formulas"),
        ("Operators such as `eventually`", "prefix binary", "forward-operators"),
        ("Bound", "bound", "bounds"),
        ("Function or SQL in a formula", "atom arguments", "functions-and-sql"),
        ("How often a trigger fires", "strategy observing", "firing-again"),
        ("Action", "action notify emit execute", "outputs-and-actions"),
        ("`for each`", "foreach", "one-instance-per-key"),
    ]),
    "phenesthe": ("phenesthe", [
        ("Definition", "definition head", "files-and-definitions"),
        ("Input", "input declared columns", "inputs"),
        ("Value of an interval", "measure", "values-computed-over-an-interval"),
        ("Conditions and comparisons", "comparison", "conditions"),
        ("`and`, `or`, `not`", "and or not", "and-or-not"),
        ("`start`, `end`", "inst", "start-and-end-of-a-state"),
        ("`~>`", "range", "from-one-event-to-another"),
        ("Union, intersection, difference", "inter", "union-intersection-and-difference"),
        ("Runs of events", "iter", "runs-of-events"),
        ("Relation of two intervals", "relation", "relations-between-intervals"),
        ("`where`", "where", "conditions"),
        ("Fact", "fact", "facts"),
    ]),
    "esql": ("pipes", [
        ("Program and statement", "program statement", "files-and-statements"),
        ("Pipe and function", "pipe expr", "pipes-and-functions"),
        ("Phrase", "pattern param", "phrases"),
        ("Processor", "prefix operand", "processors"),
        ("Temporal logic", "until unary", "temporal-logic"),
        ("Machine", "machine state", "machines"),
    ]),
    "match_recognize": ("row-patterns", [
        ("View and query", "view query", "the-simplest-program"),
        ("Parts of the clause", "clause partition order subset", "the-parts-of-the-clause"),
        ("Pattern", "pattern primary", "patterns"),
        ("Quantifier", "quantified quantifier", "quantifiers"),
        ("Condition", "define defined call", "conditions"),
        ("Measures and rows", "measures measure rows", "measures-and-which-rows-are-output"),
        ("`AFTER MATCH SKIP`", "after skip", "where-the-search-resumes"),
        ("`WITHIN`", "within duration", "time-limits-and-timeouts"),
    ]),
}  # fmt: skip


@cache
def _reader() -> lark.Lark:
    return lark.Lark.open("grammars/lark.lark", rel_to=lark.__file__, parser="lalr", maybe_placeholders=False)


def read(path: Path) -> dict[str, Any]:
    """The rules of a grammar file, in its order, and behind them those of the shared grammar that it uses."""
    rules, tokens = _statements(path)
    parts = {name: [_part(body, tokens) for body in bodies] for name, bodies in rules.items()}
    shown = {
        n: _again([o for p in some for o in (p[1] if len(some) > 1 and p[0] == "or" else [p])])
        for n, some in parts.items()
    }
    shown = {name: part for name, part in shown.items() if part != ("rule", name)}
    first = next(iter(shown))
    used, found = {first}, [first]
    for name in found:
        new = {n for n in re.findall(r"'rule', '(\w+)'", repr(shown[name])) if n in shown} - used
        used |= new
        found += new
    return {name: part for name, part in shown.items() if name in used}


def _statements(path: Path) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """The bodies of every rule of a grammar, and its tokens, with those of the grammar that all languages share."""
    aggregates = f"({'|'.join(words(path.parent.name))})"
    text = path.read_text().replace("(?!count)", "").replace("(AGGREGATES)", aggregates) + "\n"
    changed = re.findall(r"^%(override|extend) [?!]*(\w+)", text, re.MULTILINE)
    tree = _reader().parse(re.sub(r"(?m)^%(override|extend) ", "", text))
    tokens = {_name(t): t for t in tree.find_data("token")}
    rules = {_name(r): [r.children[-1]] for r in tree.children if isinstance(r, lark.Tree) and r.data == "rule"}
    shared = path.parent.parent / "kit" / "expression.lark"
    if path != shared:
        more, others = _statements(shared)
        tokens = others | tokens
        for name, bodies in more.items():
            rules[name] = bodies + rules[name] if ("extend", name) in changed else rules.get(name, bodies)
    return rules, tokens


def _name(tree: lark.Tree[Any]) -> str:
    return str(tree.children[0]).lstrip("!?")


def _part(tree: Any, tokens: dict[str, Any]) -> Any:
    if tree.data == "expansions":
        parts = [_part(c, tokens) for c in tree.children if isinstance(c, lark.Tree)]
        parts = list(dict.fromkeys(parts))  # alternatives that differ in their names only
        return _again(parts)
    if tree.data == "alias":
        return _part(tree.children[0], tokens)
    if tree.data == "expansion":
        parts = tuple(_part(c, tokens) for c in tree.children)
        return parts[0] if len(parts) == 1 else ("seq", parts)
    if tree.data == "expr":
        part = _part(tree.children[0], tokens)
        operator = str(tree.children[1])
        return ({"?": "opt", "*": "many", "+": "some"}[operator], part)
    if tree.data == "maybe":
        return ("opt", _part(tree.children[0], tokens))
    if tree.data == "name":
        name = str(tree.children[0])
        return _token(name, tokens) if name.isupper() else ("rule", name)
    if tree.data == "literal":
        return _literal(str(tree.children[0]))
    if tree.data == "value":
        return _part(tree.children[0], tokens)
    raise ValueError(f"nothing is known of `{tree.data}` in a grammar")


def _again(parts: list[Any]) -> Any:
    """Alternatives; ``a`` or ``a`` and some times ``op a`` is ``a {op a}``."""
    if len(parts) == 2 and parts[1][0] == "seq":
        first, second = parts[0], parts[1][1]
        if len(second) == 2 and second[0] == first and second[1][0] == "some":
            return ("seq", (first, ("many", second[1][1])))
    return parts[0] if len(parts) == 1 else ("or", tuple(parts))


def _token(name: str, tokens: dict[str, Any]) -> Any:
    if name in KINDS or name not in tokens:
        return ("kind", name)
    part = _part(tokens[name].children[-1], tokens)
    if part is not None:
        return part
    if name not in _SPELLED:
        raise ValueError(f"the token {name} needs an entry in `_SPELLED` or `KINDS`")
    words = tuple(("word", word) for word in _SPELLED[name])
    return words[0] if len(words) == 1 else ("or", words)


def _literal(text: str) -> Any:
    """A keyword or a sign; None for an expression that is neither."""
    if text.startswith('"'):
        return ("word", text.rstrip("i")[1:-1].replace("\\\\", "\\"))
    body = text[1 : text.rindex("/")]
    body = re.sub(r"\(\?[!=].*$|\\b|\(\?<?[!=][^)]*\)", "", body)  # conditions on what stands beside it
    body = body.strip()
    if body.startswith("(") and body.endswith(")") and body.count("(") == 1:
        body = body[1:-1]
    words = body.split("|")
    if any(re.search(r"[\[\]()+*?]|\\[^|.+*?^$()\[\]]", re.sub(r"\\.", "", w)) for w in words):
        return None
    found = tuple(("word", re.sub(r"\\(.)", r"\1", w)) for w in words)
    return found[0] if len(found) == 1 else ("or", found)


def ebnf(rules: dict[str, Any], prefix: str) -> str:
    """All rules as HTML, every name of a rule a link to it, and its definition a link to the guide; ``prefix`` begins
    the names of the places."""
    width = max(map(len, rules))
    guide, constructs = GUIDES.get(prefix, ("", []))
    guided = {name: f"../../guides/{guide}/#{place}" for _, names, place in constructs for name in names.split()}
    lines = []
    for name, part in rules.items():
        parts = part[1] if part[0] == "or" and len(_flat(part)) > 90 else (part,)
        for k, one in enumerate(parts):
            shown = f'<a href="{guided[name]}">{name}</a>' if name in guided else name
            head = (
                f'<span id="{prefix}-{name}">{shown}</span>{" " * (width - len(name))} ='
                if not k
                else " " * width + " |"
            )
            lines.append(f"{head} {_ebnf(one, rules, prefix)}")
    return '<pre class="ebnf">' + "\n".join(lines) + "</pre>\n"


def constructs(language: str) -> str:
    """A table of the constructs of a language: the rules of the grammar, and the section of the guide."""
    guide, found = GUIDES[language]
    rows = []
    for what, names, place in found:
        link = "`{0}`" if language == "esql" else f"[`{{0}}`](#{language}-{{0}})"
        rules = ", ".join(link.format(name) for name in names.split())
        rows.append(f"| [{what}](../guides/{guide}.md#{place}) | {rules} |")
    return "\n".join(["| construct, in the guide | rules of the grammar |", "| --- | --- |", *rows]) + "\n"


def _flat(part: Any) -> str:
    return re.sub("<[^>]*>", "", _ebnf(part, {}, ""))


def _ebnf(part: Any, rules: dict[str, Any], prefix: str) -> str:
    kind, inner = part
    if kind == "seq":
        return " ".join(f"({_ebnf(p, rules, prefix)})" if p[0] == "or" else _ebnf(p, rules, prefix) for p in inner)
    if kind == "or":
        return " | ".join(_ebnf(p, rules, prefix) for p in inner)
    if kind == "opt":
        return f"[{_ebnf(inner, rules, prefix)}]"
    if kind == "many":
        return f"{{{_ebnf(inner, rules, prefix)}}}"
    if kind == "some":
        once = f"({_ebnf(inner, rules, prefix)})" if inner[0] == "or" else _ebnf(inner, rules, prefix)
        return f"{once} {{{_ebnf(inner, rules, prefix)}}}"
    if kind == "word":
        return f'<span class="s">"{escape(inner)}"</span>'
    return f'<a href="#{prefix}-{inner}">{inner}</a>' if inner in rules else f"<i>{inner}</i>"


def diagram(name: str, part: Any, prefix: str) -> str:
    """The railroad diagram of one rule, as SVG."""
    out = io.StringIO()
    drawn = railroad.Diagram(railroad.Start(label=name), _rails(part, prefix))
    drawn.writeSvg(out.write)
    svg = out.getvalue()
    return re.sub(r"\s*\n\s*", " ", svg.replace("<svg ", '<svg role="img" ', 1))


def _rails(part: Any, prefix: str) -> Any:
    kind, inner = part
    if kind == "seq":
        return railroad.Sequence(*(_rails(p, prefix) for p in inner))
    if kind == "or":
        return railroad.Choice(0, *(_rails(p, prefix) for p in inner))
    if kind == "opt":
        return railroad.Optional(_rails(inner, prefix))
    if kind == "many":
        return railroad.ZeroOrMore(_rails(inner, prefix))
    if kind == "some":
        return railroad.OneOrMore(_rails(inner, prefix))
    if kind == "word":
        return railroad.Terminal(inner)
    return railroad.NonTerminal(inner, href=f"#{prefix}-{inner}" if kind == "rule" else None)


def kinds(rules: dict[str, Any]) -> dict[str, str]:
    """The kinds of tokens that rules use, and how each is written."""
    used: set[str] = set()

    def walk(part: Any) -> None:
        kind, inner = part
        if kind == "kind":
            used.add(inner)
        for each in inner if kind in ("seq", "or") else [inner] if kind in ("opt", "many", "some") else []:
            walk(each)

    for part in rules.values():
        walk(part)
    return {name: text for name, text in KINDS.items() if name in used}
