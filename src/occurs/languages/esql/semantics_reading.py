"""Processors that read documents, tuples and texts, in the reference semantics of pipes (pipes.md 4.8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occurs.languages.esql import semantics_documents as documents
from occurs.languages.esql.semantics_arithmetic import Fault
from occurs.languages.esql.semantics_traces import Item, Scope, Trace, each
from occurs.languages.esql.semantics_values import Record
from occurs.operators.process import tree

Inputs = Sequence[Trace]


def _read(read: Callable[[Any], Any]) -> Callable[[Any, Inputs, Scope], list[Trace]]:
    """Each item read; null of null, and of what cannot be read if the processor says so."""

    def one(value: Any, bad: str) -> Any:
        try:
            return None if value is None else read(value)
        except Fault:
            if bad == "null":
                return None
            raise

    def run(p: Any, inputs: Inputs, scope: Scope) -> list[Trace]:
        (x,) = inputs
        made = each(x.items, lambda i: one(i.value, p.bad))
        return [Trace(tuple(i._replace(value=v) for i, v in zip(x.items, made)), x.end)]

    return run


def tuples(p: tree.Tuples, inputs: Inputs, scope: Scope) -> list[Trace]:
    """The first line names the columns, the others are tuples of text; a null gives nothing."""
    (x,) = inputs
    lines = [(item, line) for item, some in zip(x.items, each(x.items, _lines)) for line in some]
    if not lines:
        return [Trace((), x.end)]
    (names,) = each(lines[:1], lambda found: _header(found[1]))
    made = each(lines[1:], lambda found: _named(names, found[1]))
    return [Trace(tuple(i._replace(value=v) for (i, _), v in zip(lines[1:], made)), x.end)]


def _lines(item: Item) -> list[list[str | None]]:
    return [] if item.value is None else documents.read_csv(item.value)


def _header(line: list[str | None]) -> list[str]:
    if len(set(line)) < len(line):
        raise Fault("bad-value", "names a column twice", line)
    return [n or "" for n in line]


def _named(names: list[str], line: list[str | None]) -> Record:
    if len(line) > len(names):
        raise Fault("bad-value", f"has {len(line)} fields, but there are {len(names)} columns", line)
    return Record(tuple(zip(names, [*line, *[None] * (len(names) - len(line))])))


def regex(p: tree.Regex, inputs: Inputs, scope: Scope) -> list[Trace]:
    """A tuple of the groups of the first match; null if there is none."""
    (x,) = inputs
    made = each(x.items, lambda i: documents.groups(p.pattern, p.names, i.value))
    return [Trace(tuple(i._replace(value=v) for i, v in zip(x.items, made)), x.end)]


def plot(p: tree.Plot, inputs: Inputs, scope: Scope) -> list[Trace]:
    """What is drawn, in place of the picture."""
    (x,) = inputs
    return [Trace(tuple(i._replace(value=documents.Picture(p, i.value)) for i in x.items), x.end)]


MEANING: dict[type[tree.Processor], Callable[[Any, Inputs, Scope], list[Trace]]] = {
    tree.Xml: _read(documents.read_xml),
    tree.Json: _read(documents.read_json),
    tree.Tuples: tuples,
    tree.Regex: regex,
    tree.Plot: plot,
}
