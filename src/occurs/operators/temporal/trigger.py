"""The operator of a temporal trigger (temporal-logic.md, sections 4 and 5).

A language compiles a trigger to a :class:`Rule`: its resolved formula, its strategy, and what it sees of its program;
terms and formulas are those of :mod:`.tree`.  Whatever evaluates a rule is an :class:`Evaluator`, for all instances of
the trigger: :class:`.general.General` takes every rule and goes state by state,
:class:`.vectorised.Columns` takes those that have a form over whole columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.blocks import Block, Identity, Reasons
from occurs.operators.columns import Column
from occurs.operators.contract import Call, Operator, Outcome
from occurs.operators.states import Own, State
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


# --- the operator -----------------------------------------------------------------------------------------------------

#: of what a firing is made: (role, type or value, time, attributes as the text of a JSON object) each
Reason = tuple[str, str, int, str]


@dataclass(frozen=True)
class Firings:
    """What a call found: n firings in the order of time, then of the values of ``columns`` (by name), and m notices.

    ``time``: int64 (n).  ``columns``: the attributes of the event, in the types of the definition's schema.
    ``generics``: the generic variables (n); with ``time`` they identify a firing of the trigger.  ``since``: int64 (n),
    the time at which the activation began.  ``reasons``, if wanted: per firing the states and remembered values of one
    way to be satisfied (temporal-logic.md 4.4).

    ``over``: int64 (m), the times at which an instance was found to be able to fire no more, in order; ``of``: its
    generic variables (m).
    """

    time: np.ndarray
    columns: Mapping[str, Column]
    generics: Mapping[str, Column]
    since: np.ndarray
    over: np.ndarray
    of: Mapping[str, Column]
    reasons: Sequence[Sequence[Reason]] | None = None
    #: what is to be counted: rows without a key, inserts of rows that are there ..
    counts: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)


class Evaluator(Protocol):
    """Evaluates one trigger.  It is made once per definition, is sent to other processes, and has no state of its own.

    The rows of a call have a column ``sequence`` if the input has one; rows of tables may have ``op`` and ``old`` (JSON
    text); a declared column may be missing, then it is null.  Timestamps are int64 microseconds.
    """

    @property
    def words(self) -> str:
        """How it is evaluated, for ``explain``: "vectorised: ..", "state by state: .."."""

    @property
    def tells(self) -> bool:
        """Does it find instances that can fire no more?"""

    def fresh(self) -> Any:
        """The state before the first call, as :class:`occurs.operators.contract.Own` holds it."""

    def restored(self, tables: Mapping[str, pa.Table]) -> Any:
        """The state that was saved as ``tables``.  Raises CheckpointProblem."""

    def advance(self, kept: Any, call: Call) -> Firings:
        """Take the rows of a call; ``kept`` is changed in place.  Raises InputProblem."""


@dataclass(frozen=True, eq=False)
class Trigger(Operator):
    """One trigger.  A second output has the notices of instances that can fire no more."""

    evaluator: Evaluator

    def fresh(self) -> State:
        return Own(self.identity, self.evaluator.fresh())

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> State:
        return Own(self.identity, self.evaluator.restored(saved[self.identity]))

    def advance(self, state: Own, call: Call) -> Outcome:
        rows = {t: call.new(t) for t in call.rows}
        if any(len(new) != len(call.rows[t]) for t, new in rows.items()):
            call = replace(call, rows=rows)
        found = self.evaluator.advance(state.kept, call)
        blocks = [
            Block(
                self.outs[:1],
                found.time,
                found.columns,
                identity=lambda: Identity(time=found.time, values=_values(found.generics)),
                reasons=lambda rows: _reasons(found, rows),
            )
        ]
        if len(self.outs) > 1:
            known = lambda: Identity(time=found.over, values=_values(found.of))  # noqa: E731
            blocks.append(Block(self.outs[1:], found.over, found.of, identity=known))
        return Outcome(blocks, counts=found.counts)


def _values(columns: Mapping[str, Column]) -> dict[str, pa.Array]:
    return {name: column.arrow for name, column in columns.items()}


def _reasons(firings: Firings, rows: np.ndarray) -> Reasons:
    """When the activation of each firing began, and the states and remembered values of one way to be satisfied."""
    found: list[Reason] = []
    offsets = [0]
    for i in rows.tolist():
        found.append(("activation", "state", int(firings.since[i]), "{}"))
        found += () if firings.reasons is None else firings.reasons[i]
        offsets.append(len(found))
    roles, types, times, attributes = zip(*found)
    return Reasons(
        np.array(offsets),
        pa.array(roles, pa.string()),
        pa.array(types, pa.string()),
        np.array(times, np.int64),
        pa.nulls(len(found), pa.string()),
        pa.array(attributes, pa.string()),
    )
