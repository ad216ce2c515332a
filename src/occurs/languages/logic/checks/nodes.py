"""What the checks make of triggers: terms whose names are resolved, and the analysis (temporal-logic.md, section 3).

In a resolved formula constants are literals, texts that were written as bare names are literals, functions are ``Call``
by their lower-case name, and every other name is one of the nodes here.  Everything else is as in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from occurs.errors import Problem
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.languages.logic import syntax
from occurs.languages.logic.syntax import Formula, Sql
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class Rows:
    """The sort of a term that is a relation: its columns; a type that is not known is NULL."""

    columns: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return f"a relation ({', '.join(n for n, _ in self.columns)})"


#: what a term gives; None: it is not known
Sort = Type | Rows | None


@dataclass(frozen=True)
class Time(_Leaf):
    """``time``: of the state."""

    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class Global(_Leaf):
    """A global variable; ``clock``: it is assigned from ``time``."""

    name: str
    sort: Sort = None
    clock: bool = False
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class Generic(_Leaf):
    """A generic variable: a constant of the instance."""

    name: str
    type: Type | None = None
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class Variable(_Leaf):
    """A database variable: a column of the rows of type ``state``."""

    state: str
    name: str
    type: Type | None = None
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class Value(Expr):
    """``column`` of the row of ``table`` with these ``keys``, in the order of the declaration; without keys of its only
    row."""

    table: str
    column: str
    keys: tuple[Expr, ...]
    type: Type | None = None
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class ViewOf(Expr):
    """What a view gives with these arguments, in the order of its parameters: one value, or rows."""

    view: str
    args: tuple[Expr, ...]
    sort: Sort = None
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class TableOf(_Leaf):
    """All rows of a table."""

    table: str
    sort: Sort = None
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class Last(_Leaf):
    """``event.attribute``: of the last such event of the state."""

    event: str
    attribute: str
    type: Type | None = None
    span: syntax.Span | None = _span()


@dataclass(frozen=True)
class Happens(Formula):
    """The state has an event of this type in which each of ``names`` has the value of the term in its place."""

    event: str
    names: tuple[str, ...] = ()
    args: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Found(Formula):
    """``exists (sql)``.

    ``names`` are its parameters, ``args`` their values; ``relations``: the global variables that it reads as tables;
    ``tables``: those that it reads, also through views.
    """

    sql: Sql
    names: tuple[str, ...] = ()
    args: tuple[Expr, ...] = ()
    relations: tuple[Expr, ...] = ()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResolvedTrigger:
    """A trigger with what the checks know of it.

    ``name``: the type of event that it makes, of the ``schema``.  ``formula``: with resolved names, as ``emit`` and the
    ``values`` of `execute`.  ``reads``: the types of rows that its formula reads; ``inputs``: besides, those that its
    `for each` and its actions look at.  ``text``: the canonical text.
    """

    trigger: syntax.Trigger
    number: int
    name: str
    formula: Formula
    generics: tuple[tuple[str, Type], ...]
    reads: tuple[str, ...]
    inputs: tuple[str, ...]
    schema: Schema
    emit: tuple[tuple[str, Expr], ...] | None
    file: str | None
    text: str


@dataclass(frozen=True)
class Analysis:
    """What the checks found; triggers with errors are there too, so look at ``problems`` first.

    ``triggers``: in the order of the text.  ``schemas``: of all types that are known; ``declared``: of tables, events
    and states that are declared here.  ``tables`` .. ``constants``: the declarations by name.
    """

    triggers: tuple[ResolvedTrigger, ...]
    schemas: Mapping[str, Schema]
    declared: Mapping[str, Schema]
    tables: Mapping[str, syntax.Table]
    events: Mapping[str, syntax.Event]
    states: Mapping[str, syntax.State]
    views: Mapping[str, syntax.View]
    constants: Mapping[str, syntax.Constant]
    problems: list[Problem]

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {name: place for place, name in enumerate((*self.tables, *self.states))}

    def in_order(self, names: Iterable[str]) -> list[tuple[str, syntax.Table | syntax.State]]:
        """The tables and states of these names, as they are declared one after the other: tables first."""
        found = sorted((n for n in names if n in self._places), key=self._places.__getitem__)
        return [(n, self.tables[n] if n in self.tables else self.states[n]) for n in found]
