"""Reading what another definition derives: an atom over a signal (phenesthe.md, section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Literal
from occurs.model.types import Type, arrow_type
from occurs.operators.columns import Column
from occurs.operators.interval.signals import Call, Codes, Intervals, Lag, Phenomena, Points, Signal, Spans, State
from occurs.operators.interval.values import Values

#: a variable of the operand, or a value
Place = str | Literal


@dataclass(frozen=True)
class Picked:
    """The rows of a signal that fit an atom, under the variables of the atom.

    ``operand``: the variables of the definition's formula, each of which is looked at or carried along.
    ``places``: where each of ``variables`` is read from; a value is the same on all rows.  ``equal``: variables of the
    operand with what they have to be equal to; none of them is among ``places``.  ``never``: no row fits.
    """

    sort: str
    operand: tuple[str, ...]
    variables: tuple[str, ...]
    places: tuple[Place, ...]
    equal: tuple[tuple[str, Place], ...] = ()
    never: bool = False

    @cached_property
    def _as_it_is(self) -> bool:
        """All rows, with all variables in their order, by other names perhaps."""
        return self.places == self.operand and not self.equal and not self.never

    def fresh(self) -> State:
        return {}

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Call) -> tuple[State, Signal]:
        signal = inputs[0]
        if self._as_it_is and (self.variables == self.operand or not isinstance(signal, Phenomena)):
            return state, signal  # only lags name variables
        rows = _Rows(self, call.values)
        if isinstance(signal, Points):
            at = rows.fitting(signal.codes, len(signal))
            time = signal.time if at is None else signal.time[at]
            return state, Points(rows.codes(signal.codes, len(time), at), time, signal.since, signal.complete)
        if isinstance(signal, Spans):
            parts = [rows.intervals(part) for part in (signal.closed, signal.began, signal.open)]
            return state, Spans(parts[0], parts[1], parts[2], signal.since, signal.complete)
        lags = tuple(lag for lag in map(rows.lag, signal.lags) if len(lag.starts))
        return state, Phenomena(rows.intervals(signal.closed), rows.intervals(signal.open), signal.complete, lags)


class _Rows:
    """The rows of one call."""

    def __init__(self, node: Picked, values: Values) -> None:
        self.node = node
        self.values = values
        self._known: dict[Literal, int] = {}

    def code(self, value: Literal) -> int:
        if value not in self._known:
            self._known[value] = code_of(self.values, value)
        return self._known[value]

    def fitting(self, codes: Codes, n: int) -> np.ndarray | None:
        """Booleans (n); None for all."""
        if self.node.never or not n:
            return np.zeros(n, np.bool_) if n else None
        at = dict(zip(self.node.operand, codes))
        return self._equal(at.__getitem__, self.node.equal)

    def _equal(self, of: Callable[[str], np.ndarray], equal: Any) -> np.ndarray | None:
        found = None
        for one, other in equal:
            same = of(one) == (self.code(other) if isinstance(other, Literal) else of(other))
            found = same if found is None else found & same
        return found

    def codes(self, codes: Codes, n: int, at: np.ndarray | None) -> Codes:
        """The codes of the atom's variables for the ``n`` rows ``at``."""
        out = []
        for place in self.node.places:
            if isinstance(place, Literal):
                out.append(np.full(n, self.code(place) if n else 0, np.int64))
            else:
                column = codes[self.node.operand.index(place)]
                out.append(column if at is None else column[at])
        return tuple(out)

    def intervals(self, rows: Intervals) -> Intervals:
        at = self.fitting(rows.codes, len(rows))
        start, end = (rows.start, rows.end) if at is None else (rows.start[at], rows.end[at])
        return Intervals(self.codes(rows.codes, len(start), at), start, end)

    def lag(self, lag: Lag) -> Lag:
        """A lag of the operand as one of the atom: bindings that do not fit lag no more."""
        node, columns = self.node, dict(zip(lag.variables, lag.codes))
        if node.never:
            keep: np.ndarray | None = np.zeros(len(lag.starts), np.bool_)
        else:
            # an equality with a variable that the lag leaves open tells where that one lags
            closed = [e for e in node.equal if e[0] in columns and (isinstance(e[1], Literal) or e[1] in columns)]
            keep = self._equal(columns.__getitem__, closed)
        out: dict[str, np.ndarray] = {}
        for name, codes in columns.items():
            equal = dict(node.equal).get(name, name)
            if not isinstance(equal, Literal):
                out[node.variables[node.places.index(equal)]] = codes
        names = tuple(sorted(out))
        made = Lag(names, tuple(out[v] for v in names), lag.starts, lag.ends)
        if keep is None:
            return made
        return Lag(names, tuple(c[keep] for c in made.codes), lag.starts[keep], lag.ends[keep])


def code_of(values: Values, literal: Literal) -> int:
    """The code of a constant."""
    array = pa.array([literal.value], pa.int64() if literal.type is Type.TIMESTAMP else arrow_type(literal.type))
    return int(values.encode(Column.of(array, literal.type))[0])
