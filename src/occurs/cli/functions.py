"""``occurs functions``: the functions that rules may use, with examples."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import click

from occurs.errors import UsageProblem, did_you_mean


@click.command("functions")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List functions and aggregates, or describe the one called NAME.

    The list has the functions of all languages and the aggregates of TESLA.  The description has an example and names
    the languages that offer the function.
    """
    from occurs.expr.aggregates import written
    from occurs.expr.functions import CATALOGUE

    if name is None:
        _list()
    elif name.lower() in CATALOGUE or name.lower() in written():
        click.echo(_explained(name.lower()))
    else:
        known = {*CATALOGUE, *written()}
        raise UsageProblem.of("unknown-function", f"unknown function `{name}`",
                              hint=did_you_mean(name.lower(), known, "functions"))  # fmt: skip


def _list() -> None:
    """One entry for each: how it is called, what it gives, an example."""
    from occurs.expr import describe
    from occurs.expr.aggregates import written
    from occurs.expr.functions import CATALOGUE

    topics: dict[str, list[tuple[str, str]]] = {}
    for known in CATALOGUE.values():
        text = f"{_plain(known.doc)} {' = '.join(describe.example(known))}"
        topics.setdefault(known.topic, []).append((describe.signature(known), text))
    topics["aggregates (TESLA)"] = [(a.text, a.doc) for a in written().values()]
    out = click.HelpFormatter(width=110)
    for topic, functions in sorted(topics.items()):
        with out.section(topic):
            out.write_dl(sorted(functions), col_max=40)
    click.echo(out.getvalue() + "\n`occurs functions NAME` describes one of them.")


def _explained(name: str) -> str:
    from occurs.expr import describe
    from occurs.expr.aggregates import written
    from occurs.expr.functions import CATALOGUE

    if name in written():
        found = written()[name]
        values, result = describe.values(found.values), describe.values([found.value])
        lines = [found.text, found.doc, f"example: for V = {values} the result is {result}"]
        offered = f"TESLA, over a window: `{found.text} within 5 min from A`"
    else:
        known = CATALOGUE[name]
        lines = [f"{describe.signature(known)}: {describe.types(known)}", _plain(known.doc)]
        lines.append(f"example: {' = '.join(describe.example(known))}")
        offered = ", ".join(f"{lang} ({own})" if own != name else lang for lang, own in _languages(name))
    first, *rest = [*lines, f"offered by: {offered}"]
    return "\n".join([first, *(click.wrap_text(line, 100, "  ", "    ") for line in rest)])


def _plain(doc: str) -> str:
    return doc.replace("``", "`")


def _languages(name: str) -> list[tuple[str, str]]:
    """The languages that offer a function of the catalogue, each with its name there."""
    from occurs.languages.kit.language import folder, names

    out = []
    for language in names():
        where = f"occurs.languages.{folder(language)}.functions"
        if find_spec(where) is None:
            continue
        offered = import_module(where).FUNCTIONS
        own = offered if isinstance(offered, dict) else {n: n for n in offered}
        out += [(language, n) for n, meant in own.items() if meant == name]
    return out
