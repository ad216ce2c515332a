"""Why a formula that looks back holds: the states of one way to be satisfied, and the values remembered there.

What is asked for is known from the records of states (:mod:`occurs.operators.temporal.records`), so these are kept
as far as the formula looks back, but no more than the latest :data:`STATES` of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from occurs.operators.temporal import tree
from occurs.operators.temporal.closures import Term, Test, Values
from occurs.operators.temporal.past import OfPresent
from occurs.operators.temporal.records import Record
from occurs.operators.temporal.steps import Window, ticks
from occurs.operators.temporal.trails import LONGEST, Entry, Trail, looked_at, remembered, shown_state
from occurs.operators.temporal.tree import lowered

#: what was read at a state, and before it, so that a formula has the value it has
Way: TypeAlias = Callable[[Record, Values], Iterator[Entry]]
#: states of which there are records for this alone
STATES = 256


class Witness:
    """The way in which a ``formula`` of one trigger is satisfied, the latest states first where there is a choice."""

    def __init__(self, present: OfPresent, formula: tree.Formula) -> None:
        self.present = present
        self.seen: Term = present.records.slot(("seen",), lambda: lambda s, r: shown_state(s))
        self.way = self._way(formula, True)

    def of(self, record: Record, r: Values) -> Trail:
        """Of the state of a record, at which the formula holds: in the order of time, that state last."""
        found = dict.fromkeys(islice(self.way(record, r), LONGEST))
        present = self._state(record, r)
        found.pop(present, None)
        return (*sorted(found, key=lambda entry: entry[2]), present)

    def _state(self, s: Record, r: Values) -> Entry:
        return looked_at(s.time, self.seen(s, r))

    # --- formulas -----------------------------------------------------------------------------------------------------

    def _way(self, f: tree.Formula, holds: bool) -> Way:
        """Why ``f`` holds in a state, or does not."""
        match f:
            case tree.Truth():
                return lambda s, r: iter(())
            case tree.Not():
                return self._way(f.operand, not holds)
            case tree.And() | tree.Or():
                if isinstance(f, tree.And) == holds:
                    return _all([self._way(p, holds) for p in f.operands])
                return _first([(self._test(p), self._way(p, holds)) for p in f.operands], holds)
            case tree.Assign():
                return self._assigned(f, holds)
            case tree.Lasttime():
                inner = self._way(f.operand, holds)
                return lambda s, r: iter(()) if s.before is None else inner(s.before, r)
            case tree.Since():
                return self._since(f) if holds else self._not_since(f)
        return self._atom(f)

    def _test(self, f: tree.Formula) -> Test:
        return self.present.records.test(f)

    def _assigned(self, f: tree.Assign, holds: bool) -> Way:
        name, term, inner = f.variable.text, self.present.records.term(f.term), self._way(f.operand, holds)

        def way(s: Record, r: Values) -> Iterator[Entry]:
            value = term(s, r)
            yield remembered(name, value, s.time)
            yield from inner(s, {**r, name: value})

        return way

    def _since(self, f: tree.Since) -> Way:
        """The latest state at which the right side holds, and all states behind it, where the left one does."""
        right, begin = self._test(f.right), self._way(f.right, True)
        stay, window = self._way(f.left, True), Window.of(f.bound, self.present.kind)

        def way(s: Record, r: Values) -> Iterator[Entry]:
            for at, inside in _back(s, window):
                if inside and right(at, r) is True:
                    yield from begin(at, r)
                    return
                yield from stay(at, r)

        return way

    def _not_since(self, f: tree.Since) -> Way:
        """All states in the window, where the right side does not hold, back to one where the left one does not."""
        left, leave = self._test(f.left), self._way(f.left, False)
        never, window = self._way(f.right, False), Window.of(f.bound, self.present.kind)

        def way(s: Record, r: Values) -> Iterator[Entry]:
            for at, inside in _back(s, window):
                if inside:
                    yield from never(at, r)
                if left(at, r) is False:
                    yield from leave(at, r)
                    return

        return way

    def _atom(self, f: tree.Formula) -> Way:
        """The state itself; and those that its aggregates are of."""
        aggregates = [self._aggregate(n) for n in f.walk() if isinstance(n, tree.Aggregate)]

        def way(s: Record, r: Values) -> Iterator[Entry]:
            yield self._state(s, r)
            for one in aggregates:
                yield from one(s, r)

        return way

    def _aggregate(self, t: tree.Aggregate) -> Way:
        begins = None if t.predicate is None else self._test(lowered(t.predicate))
        within = None if t.within is None else math.floor(ticks(t.within, self.present.kind))

        def way(s: Record, r: Values) -> Iterator[Entry]:
            at: Record | None = s
            while at is not None and (within is None or s.time - at.time <= within):
                yield self._state(at, r)
                if begins is not None and begins(at, r) is True:
                    return
                at = at.before

        return way


def _back(s: Record, window: Window) -> Iterator[tuple[Record, bool]]:
    """The states from ``s`` back to the far end of its window, each with whether the window has begun there."""
    at: Record | None = s
    while at is not None and (window.high is None or s.time - at.time <= window.high):
        yield at, s.time - at.time >= window.low
        at = at.before


def _all(parts: list[Way]) -> Way:
    def way(s: Record, r: Values) -> Iterator[Entry]:
        for part in parts:
            yield from part(s, r)

    return way


def _first(parts: list[tuple[Test, Way]], holds: bool) -> Way:
    """The first part that decides."""

    def way(s: Record, r: Values) -> Iterator[Entry]:
        for test, part in parts:
            if test(s, r) is holds:
                yield from part(s, r)
                return

    return way
