"""A trigger as the general operator takes it: resolved, with all that it sees of its program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from occurs.expr.tree import Expr
from occurs.languages.logic.checks.nodes import ResolvedTrigger
from occurs.languages.logic.running.program import Reading, Sources
from occurs.model.time import TimeKind
from occurs.model.types import Type


@dataclass(frozen=True)
class Plain:
    """A SELECT of one row of one table at a time: its ``columns`` by place; is there a condition?"""

    table: str
    columns: tuple[int, ...]
    filtered: bool


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
class Trigger:
    """``readings``: what its formula reads.  ``outputs``: the columns of its events, ``emit`` their terms (None: the
    generic variables).  ``gap`` and ``every`` in ticks.  ``split``: per state type of which every instance has its own
    rows the places of the generic variables."""

    resolved: ResolvedTrigger
    sources: Sources
    kind: TimeKind
    readings: tuple[Reading, ...]
    outputs: tuple[tuple[str, Type], ...]
    query: Query | None
    split: Mapping[str, tuple[int, ...]]
    gap: int | None = None
    every: int | None = None

    @property
    def name(self) -> str:
        return self.resolved.trigger.name.text

    @property
    def past(self) -> bool:
        return self.resolved.trigger.past

    @cached_property
    def continues(self) -> bool:
        return self.resolved.trigger.continues

    @property
    def generics(self) -> tuple[tuple[str, Type], ...]:
        return self.resolved.generics

    @property
    def emit(self) -> tuple[tuple[str, Expr], ...] | None:
        return self.resolved.emit

    @property
    def observes_all(self) -> bool:
        """Is it evaluated at every state of the input?"""
        observing = self.resolved.trigger.observing
        return observing is not None and observing.every is None

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
