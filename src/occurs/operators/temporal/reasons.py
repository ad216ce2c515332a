"""How obligations have come about: the states and remembered values behind a firing (temporal-logic.md 4.4)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

from occurs.model.astext import dumps
from occurs.operators.temporal import tree
from occurs.operators.temporal.future import LAST, NOW, Ahead, Pending, Residual, Several, leaves, satisfied
from occurs.operators.temporal.past import OfPresent, Record, Term, Test, Values
from occurs.operators.temporal.times import Ages, allowed, ticks
from occurs.operators.temporal.tree import lowered
from occurs.operators.temporal.values import Relation

if TYPE_CHECKING:
    from occurs.operators.temporal.tables import State


#: (role, text, time, attributes as JSON) each: values that were remembered, states that were looked at
Entry: TypeAlias = tuple[str, str, int, str]
Trail: TypeAlias = tuple[Entry, ...]


#: entries of a trail; of what is satisfied at many states the latest are kept
LONGEST = 32


class Trails:
    """How each obligation has come about; ``hit``: how the formula was satisfied at this state, in one way."""

    def __init__(self, of: dict[Pending, Trail] | None = None) -> None:
        self.of: dict[Pending, Trail] = of or {}
        self.hit: Trail = ()
        self._next: dict[Pending, Trail] = {}

    def go_on(self, ahead: Ahead, part: Residual, found: Iterable[Residual], s: State) -> None:
        """What has become of a part of the residual at a state."""
        before = [leaf for leaf in leaves(part) if type(leaf) is tuple]
        base = tuple(dict.fromkeys(entry for leaf in before for entry in self.of.get(leaf, ())))[-LONGEST:]
        for one in found:
            if not self.hit and (one is NOW or one is LAST or (type(one) is Several and satisfied(one, False)[1])):
                self.hit = (*base, looked_at(s.time, shown_state(s)))
            met = type(one) is Several and _met(one)
            for leaf in leaves(one):
                if type(leaf) is tuple and leaf not in self._next:
                    more = self._stayed(ahead, leaf, s) if leaf in before else self._new(ahead, leaf, before, s)
                    if met and not more:
                        more = (looked_at(s.time, shown_state(s)),)
                    self._next[leaf] = (*base, *more)[-LONGEST:]

    @staticmethod
    def _stayed(ahead: Ahead, leaf: Pending, s: State) -> Trail:
        """What was read where an obligation goes on: nothing if it only waits for something to come."""
        waits = leaf[1] and ahead.nodes[leaf[0]].comes
        return () if waits else (looked_at(s.time, shown_state(s)),)

    @staticmethod
    def _new(ahead: Ahead, leaf: Pending, before: Sequence[Pending], s: State) -> Trail:
        """What an obligation remembers that those before it did not."""
        known = {pair for one in before for pair in zip(ahead.nodes[one[0]].names, one[2])}
        own = [(n, v) for n, v in zip(ahead.nodes[leaf[0]].names, leaf[2]) if n[0] != "#" and (n, v) not in known]
        made = tuple(remembered(name, value, s.time) for name, value in own)
        return made or ((looked_at(s.time, shown_state(s)),) if all(one[0] != leaf[0] for one in before) else ())

    def turn(self, left: Iterable[Residual]) -> None:
        """To the next state: of obligations that are not left nothing is known any more."""
        self.of = {leaf: self._next[leaf] for part in left for leaf in leaves(part) if type(leaf) is tuple}
        self._next = {}


def _met(residual: Several) -> bool:
    """Whether a part of an `and` may have been satisfied at this state."""
    inner = [p for p in residual.parts if type(p) is Several]
    return any((not p.conjunction and NOW in p.parts) or _met(p) for p in inner)


def looked_at(time: int, seen: str) -> Entry:
    """A state that was looked at."""
    return "state", "state", time, seen


def shown_state(s: State) -> str:
    """What was written in a state and the values of its variables, as JSON."""
    return dumps({n: _as_json(v) for n, v in s.seen().items()})


def remembered(name: str, value: Any, time: int) -> Entry:
    """A value that was remembered at a state."""
    return name, shown(value), time, dumps({name: _as_json(value)})


def _as_json(value: Any) -> Any:
    """A value as JSON has it; of many rows their number."""
    if isinstance(value, Relation):
        return shown(value)
    return float(value) if isinstance(value, Fraction) else value


def shown(value: Any) -> str:
    """A value as text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"{len(value.rows)} rows" if isinstance(value, Relation) else str(value)


# --- of a formula that looks back -------------------------------------------------------------------------------------


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
        stay, window = self._way(f.left, True), allowed(f.bound, self.present.kind)

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
        never, window = self._way(f.right, False), allowed(f.bound, self.present.kind)

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


def _back(s: Record, window: Ages) -> Iterator[tuple[Record, bool]]:
    """The states from ``s`` back to the far end of its window, each with whether the window has begun there."""
    at: Record | None = s
    while at is not None and s.time - at.time <= window.most:
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
