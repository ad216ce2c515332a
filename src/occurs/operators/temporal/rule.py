"""A trigger as the operator takes it: its resolved formula, its strategy, and what it sees of its program.

A language compiles its triggers to :class:`Rule`; terms and formulas are those of :mod:`.tree`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal.tables import Shape
from occurs.operators.temporal.tree import Formula


@dataclass(frozen=True)
class Rule:
    """A trigger.

    ``formula``: with resolved names; ``past``: it looks back.  ``continues``: after a firing the activation goes on,
    else there is a new one.  ``generics``: the generic variables.  ``outputs``: the columns of its events, ``emit``
    their terms (None: the generic variables).  ``readings``: what the formula reads.  ``split``: per state type of
    which every instance has its own rows the places of the generic variables.  ``gap`` (between two firings) and
    ``every`` (of `observing every`) in ticks; ``observes_all``: it is evaluated at every state of the input.
    """

    name: str
    formula: Formula
    past: bool
    continues: bool
    generics: tuple[tuple[str, Type], ...]
    outputs: tuple[tuple[str, Type], ...]
    emit: tuple[tuple[str, Expr], ...] | None
    kind: TimeKind
    sources: Sources
    readings: tuple[Reading, ...]
    query: Query | None
    split: Mapping[str, tuple[int, ...]]
    gap: int | None = None
    every: int | None = None
    observes_all: bool = False

    @property
    def asks_who(self) -> bool:
        """Does it matter whether a row is of the input?"""
        return self.observes_all or self.query is not None

    @cached_property
    def plain(self) -> bool:
        """Is there one instance, over states and events alone, which any row of these wakes?"""
        if self.generics or self.asks_who or self.every is not None or self.sources.tables:
            return False
        types = {*self.sources.states, *self.sources.events}
        return types == {r.type for r in self.readings if not r.fixed and not r.keyed}

    @cached_property
    def waking(self) -> frozenset[str]:
        """The state types in ``split`` whose rows make states: those that are read, or all if no state is."""
        read = {r.type for r in self.readings}
        own = frozenset(n for n in self.split if n in read)
        return own or (frozenset() if read & self.sources.states.keys() else frozenset(self.split))


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

    def shape(self, name: str) -> Shape:
        """Of a type of rows."""
        return self.tables.get(name) or self.states.get(name) or self.events[name]


@dataclass(frozen=True)
class View:
    """A SELECT with the names of its parameters."""

    sql: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """Rows of a type that are read: those with these values, and with those of generic variables, in these columns."""

    type: str
    fixed: tuple[tuple[str, Any], ...] = ()
    keyed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Query:
    """``for each .. in (SQL)``: ``tables`` that it reads; does it look at ``:time``?  ``constants`` by name.

    ``plain``: if it looks at one row of one table at a time.
    """

    sql: str
    tables: frozenset[str]
    clocked: bool
    constants: Mapping[str, Any]
    plain: Plain | None = None


@dataclass(frozen=True)
class Plain:
    """A SELECT of one row of one table at a time: its ``columns`` by place; is there a condition?"""

    table: str
    columns: tuple[int, ...]
    filtered: bool
