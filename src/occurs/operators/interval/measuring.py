"""Attributes computed from intervals: their length, and aggregates of the events in them.

An extension of Phenesthe.  Of each interval that has ended, its ends included, with the events of an atom that agree
with it in the variables that both have; of an open interval the attributes are null.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem
from occurs.model.types import Type
from occurs.operators.aggregates import Reduced, reduced
from occurs.operators.columns import Column
from occurs.operators.frame import Index
from occurs.operators.interval.bindings import Groups, joint, later, pick
from occurs.operators.interval.signals import (
    OPEN,
    Codes,
    Held,
    Instants,
    Intervals,
    Lag,
    Lags,
    Phenomena,
    Points,
    Signal,
    State,
)
from occurs.operators.rows import Rows

#: the events of every node that are known
Events = Mapping[str, Held]


@dataclass(frozen=True)
class Measured:
    """An attribute.  ``node``: of the events, None if it is the length of the interval, which ``unit`` (in ticks)
    divides if there is one.  ``variable``: that is aggregated, and its type."""

    name: str
    type: Type
    function: str
    node: int | None = None
    variable: tuple[str, Type] | None = None
    unit: int | None = None


@dataclass(frozen=True)
class Measures:
    """The attributes of a definition whose binding is ``attributes``: its variables, and the columns that have them.
    ``variables``: of the nodes of events."""

    measured: tuple[Measured, ...]
    attributes: tuple[tuple[str, str], ...]
    variables: Mapping[int, tuple[str, ...]]

    def fresh(self) -> State:
        """No events, per node."""
        return {str(node): Held.empty(len(variables), "time") for node, variables in self.variables.items()}

    @property
    def tables(self) -> Mapping[str, tuple[str, ...]]:
        """The variables of the bindings in every table of the state."""
        return {str(node): variables for node, variables in self.variables.items()}

    def extended(self, state: Mapping[str, Held], signals: Sequence[Signal]) -> State:
        """The events that are kept, and behind them those of a call."""
        out = {}
        for node in self.variables:
            points = signals[node]
            assert isinstance(points, Points)
            out[str(node)] = Held.concat([state[str(node)], Held(points.codes, {"time": points.time})])
        return out

    def kept(self, events: Mapping[str, Held], least: Sequence[Lag]) -> State:
        """The events in which an interval may still be reported; ``least``: where these begin."""
        return {name: self._left(int(name), table, least) for name, table in events.items()}

    def _left(self, node: int, table: Held, least: Sequence[Lag]) -> Held:
        own = self.variables[node]
        on = tuple(v for v in own if v in dict(self.attributes))
        time = table.columns["time"]
        lowest = Lags.of(on, least).least(OPEN, 0, Intervals(pick(table.codes, own, on), time, time))
        return table.take(time >= lowest)

    def columns(self, rows: Rows, events: Events, call: Instants) -> dict[str, Column]:
        """What is computed of rows with an ``end``.  Raises InputProblem (``overflow``)."""
        out = {}
        end = rows.column("end")
        there = end.is_valid()
        ends = np.where(there, end.values, rows.time)
        for m in self.measured:
            if m.node is None:
                column = _length(m, rows.time, ends, rows.type)
            else:
                column = self._aggregate(m, rows, ends, events[str(m.node)], call)
            if not there.all():
                column = _only(column, there)
            out[m.name] = column
        return out

    def _aggregate(self, m: Measured, rows: Rows, ends: np.ndarray, events: Held, call: Instants) -> Column:
        assert m.node is not None
        own = self.variables[m.node]
        columns = dict(self.attributes)
        on = tuple(v for v in own if v in columns)
        mine = tuple(call.values.encode(rows.column(columns[v])) for v in on)
        theirs, ours = joint([(pick(events.codes, own, on), len(events)), (mine, len(rows))])
        groups = Groups(theirs, events.columns["time"])
        lo, hi = groups.between(ours, rows.time, ends)
        nothing = np.zeros(0, np.int64)
        index = Index(np.arange(len(events)), nothing, nothing, nothing)
        if m.variable is None:
            return reduced(Reduced(m.function, None, m.type), None, index, lo, hi, lambda _: _overflow(m, rows.type))
        name, type = m.variable
        values = call.values.decode(events.codes[own.index(name)][groups.order], type)
        return reduced(Reduced(m.function, name, m.type), values, index, lo, hi, lambda _: _overflow(m, rows.type))


def _length(m: Measured, starts: np.ndarray, ends: np.ndarray, definition: str) -> Column:
    length = ends.astype(np.uint64) - starts.astype(np.uint64)
    if m.unit is not None:
        return Column(Type.FLOAT, length.astype(np.float64) / float(m.unit), None)
    if (length > np.uint64(OPEN)).any():
        _overflow(m, definition)
    return Column(Type.INT, length.astype(np.int64), None)


def _overflow(m: Measured, definition: str) -> NoReturn:
    message = f"a number overflows 64-bit integers in `{m.name}` of `{definition}`"
    raise InputProblem.of("overflow", message, definition=definition)


def _only(column: Column, there: np.ndarray) -> Column:
    """The column with null where not ``there``."""
    if column.numeric:
        return Column(column.type, column.values, column.is_valid() & there)
    return Column(column.type, None, None, pc.if_else(pa.array(there), column.arrow, None))


def bounds(
    variables: Callable[[int, str, Held], tuple[str, ...]], state: Mapping[int, Mapping[str, Held]],
    signals: Sequence[tuple[tuple[str, ...], Signal]], call: Instants,
) -> list[Lag]:  # fmt: skip
    """Where the intervals begin at the earliest that a net has not reported after a call.

    They come of what its nodes keep, of what is open, and of what is behind the frontier.  Each is a lag of starts: an
    interval with these bindings begins at this tick or later.
    """
    out: list[Lag] = []

    def bound(variables: tuple[str, ...], codes: Codes, ticks: np.ndarray) -> None:
        out.append(Lag(variables, codes, ticks, ticks))

    bound((), (), np.array([call.frontier + 1], np.int64))
    for number, tables in state.items():
        for name, table in tables.items():
            ticks = [c for n, c in table.columns.items() if n != "waits"]
            if len(table) and ticks:
                bound(variables(number, name, table), table.codes, np.minimum.reduce(ticks))
    for own, signal in signals:
        if not isinstance(signal, Points) and len(signal.open):
            bound(own, signal.open.codes, signal.open.start)
        if signal.complete < call.frontier:
            bound((), (), np.array([signal.complete + 1], np.int64))
        if isinstance(signal, Phenomena):
            for lag in signal.lags:
                bound(lag.variables, lag.codes, later(lag.starts))
    return out
