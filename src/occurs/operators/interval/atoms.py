"""Atoms: the rows of an input, or the signal of another definition, as the signal of an atom (phenesthe.md, sections
4.2 and 4.6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.dialect import PHENESTHE
from occurs.expr.evaluate import select
from occurs.expr.tree import Binary, Expr, Literal
from occurs.model.time import TimeKind
from occurs.model.types import Type, arrow_type
from occurs.operators.blocks import Block
from occurs.operators.columns import Column
from occurs.operators.frame import own_column
from occurs.operators.interval.bindings import distinct, firsts, instants, joint, member
from occurs.operators.interval.conditions import overflow
from occurs.operators.interval.ranges import MaximalRange
from occurs.operators.interval.sets import coalesced
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
    Spans,
    State,
    Stateless,
)
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows


@dataclass(frozen=True)
class Scan:
    """The rows of an input that an atom matches; only those that are new belong to the call.

    ``sort``: event, state, changes (a state of which rows say when it begins and when it stops to hold) or dynamic.
    ``arguments``: for every one of ``variables`` the attribute that binds it; null and NaN bind nothing, but of changes
    null (code -1) is a value like any other.
    ``conditions``: on attributes; a row must satisfy them all.  ``name``: of the definition, for errors.
    """

    sort: str
    type: str
    variables: tuple[str, ...]
    arguments: tuple[str, ...]
    conditions: tuple[Expr, ...]
    kind: TimeKind
    name: str

    def fresh(self) -> State:
        n = len(self.variables)
        match self.sort:
            case "event":
                return {}
            case "state":
                return {"open": Held.empty(n, "start", "end")}
            case "dynamic":
                return {"rows": Held.empty(n, "start", "end"), "open": Held.empty(n, "start")}
        return {"open": Held.empty(n, "start")}

    def advance(self, state: State, inputs: tuple[Rows, ...], call: Instants) -> tuple[State, Signal]:
        rows = inputs[0]
        new = rows.slice(rows.new) if rows.new else rows
        match self.sort:
            case "event":
                return state, self._points(new, call)
            case "state":
                return self._spans(state, new, call)
            case "changes":
                return self._changes(state, new, call)
        return self._phenomena(state, new, call)

    # --- rows -------------------------------------------------------------------------------------------------------

    @cached_property
    def _condition(self) -> Expr | None:
        """All conditions in one, so that an overflow in one does not matter where another is false."""
        return reduce(lambda a, b: Binary("and", a, b), self.conditions) if self.conditions else None

    def _matched(self, rows: Rows) -> Rows:
        """The rows that satisfy the conditions."""
        if self._condition is not None and len(rows):
            passed, undecided = select(
                self._condition, lambda leaf: own_column(rows, leaf), len(rows), kind=self.kind, dialect=PHENESTHE
            )
            if undecided is not None:
                self._overflow(rows.take(undecided))
            if not passed.all():
                rows = rows.take(np.flatnonzero(passed))
        return rows

    def _bound(self, rows: Rows, call: Instants) -> tuple[Rows, Codes]:
        """The rows that match and bind all variables, and their bindings."""
        rows = self._matched(rows)
        if not len(rows):
            return rows, tuple(np.zeros(0, np.int64) for _ in self.variables)
        codes = tuple([call.values.encode(rows.column(a)) for a in self.arguments])
        if not any([(c < 0).any() for c in codes]):  # noqa: C419 - few
            return rows, codes
        keep = np.ones(len(rows), np.bool_)
        for c in codes:
            keep &= c >= 0
        return rows.take(np.flatnonzero(keep)), tuple(c[keep] for c in codes)

    def matching(self, rows: Rows, call: Instants) -> tuple[Rows, Codes]:
        """The rows that the atom matches, and their bindings."""
        if self.sort != "changes":
            return self._bound(rows, call)
        rows = self._matched(rows)
        return rows, tuple(call.values.encode(rows.column(a)) for a in self.arguments) if len(rows) else ()

    def _overflow(self, rows: Rows) -> None:
        """Complains of a row, unless it binds nothing anyway."""
        bound = np.ones(len(rows), np.bool_)
        for a in self.arguments if self.sort != "changes" else ():
            column = rows.column(a)
            bound &= column.is_valid()
            if column.type is Type.FLOAT:
                bound &= ~np.isnan(column.values)
        if bound.any():
            raise overflow(self.name, f"a row of `{self.type}` at {int(rows.time[np.argmax(bound)])}")

    def _lasting(self, rows: Rows, call: Instants) -> Intervals:
        """Rows with an end as intervals; what has no length is none."""
        rows, codes = self._bound(rows, call)
        end = ends_of(rows) if len(rows) else np.zeros(0, np.int64)
        return Intervals(codes, rows.time, end).take(rows.time < end)

    # --- signals ----------------------------------------------------------------------------------------------------

    def instants(self, rows: Rows, call: Instants) -> tuple[Codes, np.ndarray]:
        """The bindings and instants of rows that are new, in the order of time, perhaps some more than once."""
        new, codes = self._bound(rows.slice(rows.new) if rows.new else rows, call)
        return codes, new.time

    def _points(self, rows: Rows, call: Instants) -> Points:
        rows, codes = self._bound(rows, call)
        return distinct(Points(codes, rows.time, call.since, call.complete))

    def _spans(self, state: State, rows: Rows, call: Instants) -> tuple[State, Spans]:
        """A row holds until its end, which it may tell beforehand."""
        held, new = state["open"], self._lasting(rows, call)
        over = held.columns["end"] <= call.frontier
        if not len(new) and not over.any():
            return state, Spans.unchanged(held.opened(), call.since, call.complete)
        key, other = joint([(held.codes, len(held)), (new.codes, len(new))])
        touched = over | member(key, other)
        old = held.take(touched)
        known = old.intervals()
        found = coalesced(np.concatenate([key[touched], other]), Intervals.concat([known, new]))
        ended = found.end <= call.frontier
        now = found.take(~ended)
        held = Held.concat([held.take(~touched), now.held()])
        open = np.where(ended, found.end, OPEN)
        began = Intervals(found.codes, found.start, open).take(found.start > call.since)
        return {"open": held}, Spans(found.take(ended), began, held.opened(), call.since, call.complete)

    def _phenomena(self, state: State, rows: Rows, call: Instants) -> tuple[State, Phenomena]:
        """Rows are a set; each is open until its end has passed."""
        held, new = state["rows"], self._lasting(rows, call)
        if len(new) > 1:
            new = new.take(firsts(instants([(new.codes, new.start, new.end)])[0]))
        over = held.columns["end"] <= call.frontier
        if not len(new) and not over.any():
            return state, Phenomena(Intervals.empty(len(self.variables)), state["open"].opened(), call.complete)
        known = held.intervals()
        found = Intervals.concat([known, new])
        ended = found.end <= call.frontier
        rest = found.take(~ended)
        # rows that differ in what is yet to come are one for now
        now = rest.take(firsts(instants([(rest.codes, rest.start)])[0])) if len(rest) else rest
        open = now.starts()
        held = rest.held()
        return {"rows": held, "open": open}, Phenomena(found.take(ended), open.opened(), call.complete)

    def _changes(self, state: State, rows: Rows, call: Instants) -> tuple[State, Spans]:
        """``holds`` begins a state, its contrary ends it; both at one instant: it begins, or goes on."""
        node = MaximalRange(self.variables, self.variables)
        rows = self._matched(rows)
        if not len(rows):
            return state, Spans.unchanged(state["open"].opened(), call.since, call.complete)
        codes = tuple(call.values.encode(rows.column(a)) for a in self.arguments)
        holds = rows.column("holds")
        sides = []
        for mask in (holds.values & holds.is_valid(), ~holds.values & holds.is_valid()):
            given = Points(tuple(c[mask] for c in codes), rows.time[mask], call.since, call.complete)
            sides.append(distinct(given))
        return node.advance(state, (sides[0], sides[1]), call)


def ends_of(rows: Rows | Block) -> np.ndarray:
    """int64 ends of rows, ``OPEN`` for a row that has not ended."""
    column = rows.columns["end"]
    return column.values if column.valid is None else np.where(column.valid, column.values, OPEN)


# --- rows that another definition derives -----------------------------------------------------------------------------


#: a variable of the operand, or a value
Place = str | Literal


@dataclass(frozen=True)
class Picked(Stateless):
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

    def advance(self, state: State, inputs: tuple[Signal, ...], call: Instants) -> tuple[State, Signal]:
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
        lags = Lags.of(self.variables, map(rows.lag, signal.lags))
        return state, Phenomena(rows.intervals(signal.closed), rows.intervals(signal.open), signal.complete, lags)


class _Rows:
    """Reads the rows of a signal as those of an atom, in one call."""

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
    """The code of a constant in a dictionary of values."""
    return int(values.encode(constant(literal))[0])


def constant(literal: Literal) -> Column:
    """A column of one row with the value of a constant."""
    array = pa.array([literal.value], pa.int64() if literal.type is Type.TIMESTAMP else arrow_type(literal.type))
    return Column.of(array, literal.type)
