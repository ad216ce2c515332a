"""From rows to signals: the atoms of inputs (phenesthe.md, sections 4.2 and 4.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from occurs.expr.dialect import PHENESTHE
from occurs.expr.evaluate import select
from occurs.expr.tree import Binary, Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.frame import own_column
from occurs.operators.interval.bindings import distinct, firsts, instants, joint, member, with_times
from occurs.operators.interval.conditions import overflow
from occurs.operators.interval.delayed_release import opened
from occurs.operators.interval.hulls import coalesced
from occurs.operators.interval.ranges import MaximalRange
from occurs.operators.interval.signals import (
    OPEN,
    Call,
    Codes,
    Held,
    Intervals,
    Phenomena,
    Points,
    Signal,
    Spans,
    State,
)
from occurs.operators.kernels.intervals import some_null
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

    def advance(self, state: State, inputs: tuple[Rows, ...], call: Call) -> tuple[State, Signal]:
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

    def _bound(self, rows: Rows, call: Call) -> tuple[Rows, Codes]:
        """The rows that match and bind all variables, and their bindings."""
        rows = self._matched(rows)
        if not len(rows):
            return rows, tuple(np.zeros(0, np.int64) for _ in self.variables)
        codes = tuple([call.values.encode(rows.column(a)) for a in self.arguments])
        if not any([some_null(c) for c in codes]):  # noqa: C419 - few
            return rows, codes
        keep = np.ones(len(rows), np.bool_)
        for c in codes:
            keep &= c >= 0
        return rows.take(np.flatnonzero(keep)), tuple(c[keep] for c in codes)

    def matching(self, rows: Rows, call: Call) -> tuple[Rows, Codes]:
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

    def _lasting(self, rows: Rows, call: Call) -> Intervals:
        """Rows with an end as intervals; what has no length is none."""
        rows, codes = self._bound(rows, call)
        column = rows.column("end")
        end = np.where(column.is_valid(), column.values, OPEN) if len(rows) else np.zeros(0, np.int64)
        return Intervals(codes, rows.time, end).take(rows.time < end)

    # --- signals ----------------------------------------------------------------------------------------------------

    def instants(self, rows: Rows, call: Call) -> tuple[Codes, np.ndarray]:
        """The bindings and instants of rows that are new, in the order of time, perhaps some more than once."""
        new, codes = self._bound(rows.slice(rows.new) if rows.new else rows, call)
        return codes, new.time

    def _points(self, rows: Rows, call: Call) -> Points:
        rows, codes = self._bound(rows, call)
        return distinct(Points(codes, rows.time, call.since, call.complete))

    def _spans(self, state: State, rows: Rows, call: Call) -> tuple[State, Spans]:
        """A row holds until its end, which it may tell beforehand."""
        held, new = state["open"], self._lasting(rows, call)
        over = held.columns["end"] <= call.frontier
        nothing = Intervals.empty(len(self.variables))
        if not len(new) and not over.any():
            return state, Spans(nothing, nothing, opened(held), call.since, call.complete)
        key, other = joint([(held.codes, len(held)), (new.codes, len(new))])
        touched = over | member(key, other)
        old = held.take(touched)
        known = Intervals(old.codes, old.columns["start"], old.columns["end"])
        found = coalesced(np.concatenate([key[touched], other]), Intervals.concat([known, new]))
        ended = found.end <= call.frontier
        now = found.take(~ended)
        held = Held.concat([held.take(~touched), Held(now.codes, {"start": now.start, "end": now.end})])
        open = np.where(ended, found.end, OPEN)
        began = Intervals(found.codes, found.start, open).take(found.start > call.since)
        return {"open": held}, Spans(found.take(ended), began, opened(held), call.since, call.complete)

    def _phenomena(self, state: State, rows: Rows, call: Call) -> tuple[State, Phenomena]:
        """Rows are a set; each is open until its end has passed."""
        held, new = state["rows"], self._lasting(rows, call)
        if len(new) > 1:
            (key,) = instants([(new.codes, new.start)])
            new = new.take(firsts(with_times([key], [new.end])[0]))
        over = held.columns["end"] <= call.frontier
        if not len(new) and not over.any():
            return state, Phenomena(Intervals.empty(len(self.variables)), opened(state["open"]), call.complete)
        known = Intervals(held.codes, held.columns["start"], held.columns["end"])
        found = Intervals.concat([known, new])
        ended = found.end <= call.frontier
        rest = found.take(~ended)
        # rows that differ in what is yet to come are one for now
        now = rest.take(firsts(instants([(rest.codes, rest.start)])[0])) if len(rest) else rest
        open = Held(now.codes, {"start": now.start})
        held = Held(rest.codes, {"start": rest.start, "end": rest.end})
        return {"rows": held, "open": open}, Phenomena(found.take(ended), opened(open), call.complete)

    def _changes(self, state: State, rows: Rows, call: Call) -> tuple[State, Spans]:
        """``holds`` begins a state, its contrary ends it; both at one instant: it begins, or goes on."""
        node, held = MaximalRange(self.variables, self.variables), state["open"]
        rows = self._matched(rows)
        if not len(rows):
            nothing = Intervals.empty(len(self.variables))
            return state, Spans(nothing, nothing, opened(held), call.since, call.complete)
        codes = tuple(call.values.encode(rows.column(a)) for a in self.arguments)
        # a range wants codes from 0 on
        by = 1 if any((c < 0).any() for c in (*codes, *held.codes)) else 0
        holds = rows.column("holds")
        sides = []
        for mask in (holds.values & holds.is_valid(), ~holds.values & holds.is_valid()):
            given = Points(_moved(tuple(c[mask] for c in codes), by), rows.time[mask], call.since, call.complete)
            sides.append(distinct(given))
        found, spans = node.advance({"open": Held(_moved(held.codes, by), held.columns)}, (sides[0], sides[1]), call)
        held = Held(_moved(found["open"].codes, -by), found["open"].columns)
        closed, began = (replace(p, codes=_moved(p.codes, -by)) for p in (spans.closed, spans.began))
        return {"open": held}, replace(spans, closed=closed, began=began, open=opened(held))


def _moved(codes: Codes, by: int) -> Codes:
    return tuple(c + by for c in codes) if by else codes
