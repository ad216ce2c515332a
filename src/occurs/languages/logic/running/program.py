"""What a trigger sees of a program, and which rows it reads (temporal-logic.md 4.1, *Reads*)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from occurs.expr.tree import Expr, Literal, Unary
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.analysis import Analysis
from occurs.languages.logic.checks.nodes import (
    Found,
    Generic,
    Happens,
    Last,
    TableOf,
    Value,
    Variable,
    ViewOf,
)
from occurs.languages.logic.running.states import Shape
from occurs.languages.logic.semantics.text import restrictions, sources
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class View:
    """A SELECT with the names of its parameters."""

    sql: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """Types of rows by name: ``tables``, ``states`` (rows that give values to variables), ``events``; ``views``.

    ``types``: per table those of its columns.
    """

    tables: Mapping[str, Shape]
    states: Mapping[str, Shape]
    events: Mapping[str, Shape]
    views: Mapping[str, View]
    types: Mapping[str, Mapping[str, Type]]

    @classmethod
    def of(cls, analysis: Analysis, reads: frozenset[str], schemas: Mapping[str, Schema]) -> Sources:
        """The part of a program that a trigger reads; ``schemas``: of all types."""
        declared = analysis.in_order(reads)
        tables = {n: _shape(t) for n, t in declared if isinstance(t, syntax.Table)}
        states = {
            n: Shape(n, tuple(c.name.text for c in t.columns)) for n, t in declared if isinstance(t, syntax.State)
        }
        if not analysis.states and STATE in reads:
            states[STATE] = Shape(STATE, schemas[STATE].plain if STATE in schemas else ())
        others = reads - tables.keys() - states.keys()
        events = {n: Shape(n, schemas[n].plain if n in schemas else ()) for n in sorted(others)}
        views = {n: View(v.sql.text, tuple(p.text for p in v.parameters)) for n, v in analysis.views.items()}
        types = {n: {c.name.text: c.type for c in t.columns} for n, t in declared if isinstance(t, syntax.Table)}
        return cls(tables, states, events, views, types)

    def shape(self, name: str) -> Shape:
        """Of a type of rows."""
        return self.tables.get(name) or self.states.get(name) or self.events[name]


#: the type of rows that are states without declaration
STATE = "state"


def _shape(table: syntax.Table) -> Shape:
    keys = tuple(i for i, c in enumerate(table.columns) if c.key)
    return Shape(table.name.text, tuple(c.name.text for c in table.columns), keys)


@dataclass(frozen=True)
class Reading:
    """Rows of a type that are read: those with these values, and with those of generic variables, in these columns."""

    type: str
    fixed: tuple[tuple[str, Any], ...] = ()
    keyed: tuple[tuple[str, str], ...] = ()


def readings(node: Expr, sources_: Sources) -> list[Reading]:
    """Everything that a resolved formula or term reads, each once."""
    return list(dict.fromkeys(_readings(node, sources_)))


def _readings(node: Expr, known: Sources) -> Iterator[Reading]:
    match node:
        case Variable():
            yield Reading(node.state)
        case TableOf():
            yield Reading(node.table)
        case Value():
            shape = known.tables[node.table]
            names = [shape.columns[i] for i in shape.keys]
            yield _reading(node.table, dict(zip(names, node.keys, strict=True)))
        case Happens():
            yield _reading(node.event, dict(zip(node.names, node.args, strict=True)))
        case Last():
            yield Reading(node.event)
        case ViewOf():
            view = known.views[node.view]
            yield from of_sql(view.sql, dict(zip(view.parameters, node.args, strict=True)), (), known)
        case Found():
            hidden = [str(getattr(x, "name", "")) for x in node.relations]
            yield from of_sql(node.sql.text, dict(zip(node.names, node.args, strict=True)), hidden, known)
    for child in node.children:
        yield from _readings(child, known)


def of_sql(
    sql: str, args: Mapping[str, Expr], relations: tuple[str, ...] | list[str], known: Sources
) -> Iterator[Reading]:
    """The rows of tables that a SELECT reads, those of the views in it wholly."""
    hidden = {r.lower() for r in relations}
    columns = {n: list(s.columns) for n, s in known.tables.items()}
    tables = {n.lower(): n for n in known.tables if n.lower() not in hidden}
    views = {n.lower(): v for n, v in known.views.items() if n.lower() not in hidden}
    restricted = restrictions(sql, columns)
    for name in dict.fromkeys(s.name.lower() for s in sources(sql)):
        if name in tables:
            by = restricted.get(tables[name], {})
            yield _reading(tables[name], {c: args[p] for c, p in by.items() if p in args})
        elif name in views:
            yield from of_sql(views[name].sql, {}, (), known)


def _reading(type_: str, wanted: Mapping[str, Expr]) -> Reading:
    fixed: list[tuple[str, Any]] = []
    keyed: list[tuple[str, str]] = []
    for column, term in wanted.items():
        if isinstance(term, Literal):
            fixed.append((column, term.value))
        elif isinstance(term, Unary) and isinstance(term.arg, Literal):
            fixed.append((column, None if term.arg.value is None else -term.arg.value))  # type: ignore[operator]
        elif isinstance(term, Generic):
            keyed.append((column, term.name))
    return Reading(type_, tuple(sorted(fixed, key=str)), tuple(sorted(keyed)))
