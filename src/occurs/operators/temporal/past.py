"""Operators that look back, and aggregates: what is kept of earlier states (temporal-logic.md 4.2, 5.1, 5.2).

An operator in which no global variable is free has one truth value per state, and keeps no more than the next needs.
One with free variables has to be asked with values that come later: of every state there is a record, as long as the
operator may look back at it (:class:`Reach`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal import values as ops
from occurs.operators.temporal.terms import Term, Terms, Test, Values, compared
from occurs.operators.temporal.times import FOREVER, Ages, allowed, farthest, ticks
from occurs.operators.temporal.tree import BACK, Found, Happens, Time, Value, ViewOf, free, lowered, of_state
from occurs.operators.temporal.trigger import Sources
from occurs.operators.temporal.values import Lost, Relation, Truth


@dataclass(frozen=True)
class Reach:
    """How far back something looks: ``ticks`` (infinite: to the activation), and so many states more."""

    ticks: float
    states: int = 0

    def __or__(self, other: Reach) -> Reach:
        return Reach(max(self.ticks, other.ticks), max(self.states, other.states))


NOWHERE = Reach(0)


def reach(f: Expr, kind: TimeKind, clocks: frozenset[str] = frozenset()) -> Reach:
    """How far back from its state the operators in ``f`` look that have free variables.

    ``clocks``: the variables that have the time of this state.
    """
    found = NOWHERE
    if isinstance(f, tree.Assign):
        name = frozenset({f.variable.text})
        return reach(f.operand, kind, clocks | name if isinstance(f.term, Time) else clocks - name)
    inner = frozenset() if isinstance(f, BACK) else clocks
    for child in f.children:
        found |= reach(child, kind, inner)
    if isinstance(f, tree.Lasttime) and free(f):
        return Reach(found.ticks, found.states + 1)
    if isinstance(f, tree.Since) and free(f):
        own = min(allowed(f.bound, kind).most, _greatest_age(f.right, clocks, kind))
        return Reach(max(own, 0) + found.ticks, found.states)
    return found


def _greatest_age(f: Expr, clocks: frozenset[str], kind: TimeKind) -> float:
    """The greatest age, by a conjunct `time >= t - c` with one of ``clocks`` for t, at which a formula may hold."""
    match f:
        case tree.And():
            return min(_greatest_age(p, clocks, kind) for p in f.operands)
        case tree.Assign():
            return _greatest_age(f.operand, clocks - {f.variable.text}, kind)
        case tree.Compare():
            found = farthest(f.op, f.left, f.right, False, clocks, kind)
            return math.inf if found is None else found
    return math.inf


class OfPresent(Terms):
    """Closures over the present state, with all that goes on from state to state."""

    def __init__(self, sources: Sources, kind: TimeKind) -> None:
        super().__init__(sources, kind)
        #: what is done in every state, in this order: (into `past`, or into the record?, place, how)
        self.steps: list[tuple[bool, int, Any]] = []
        self.operators: list[Step] = []
        self.slots = 0
        self._places: dict[Any, int] = {}
        self._slot_of: dict[Any, int] = {}
        self._back: dict[Any, Test] = {}
        self.records = OfRecords(self, self._allot, self._of_record)
        #: how far back records are needed
        self.reach = NOWHERE
        #: the variables that have the time of the present state, where the compiler is
        self._clocks: frozenset[str] = frozenset()

    def test(self, f: tree.Formula) -> Test:
        if not isinstance(f, tree.Assign):
            return super().test(f)
        before, name = self._clocks, frozenset({f.variable.text})
        self._clocks = before | name if isinstance(f.term, Time) else before - name
        try:
            return super().test(f)
        finally:
            self._clocks = before

    @property
    def recording(self) -> bool:
        """Are records needed?"""
        return bool(self._back) or self.slots > 0

    def _allot(self, node: Any, term: Callable[[], Term]) -> int:
        """The slot of a term or formula in records."""
        if node not in self._slot_of:
            made = term()
            self._slot_of[node] = self.slots
            self.steps.append((False, self.slots, made))
            self.slots += 1
        return self._slot_of[node]

    def _place(self, node: Any, make: Callable[[], Step]) -> Term:
        """The value of something that goes on from state to state."""
        if node not in self._places:
            step = make()
            self._places[node] = len(self.operators)
            self.steps.append((True, len(self.operators), step))
            self.operators.append(step)
        at = self._places[node]
        return lambda s, r: s.past[at]

    def aggregate(self, t: tree.Aggregate) -> Term:
        def make() -> Step:
            # a predicate looks at one state
            predicate = None if t.predicate is None else self.test(lowered(t.predicate))
            within = None if t.within is None else math.floor(ticks(t.within, self.kind))
            return Aggregate(t.op, self.term(t.arg), predicate, within)

        return self._place(t, make)

    def looking_back(self, f: tree.Since | tree.Lasttime) -> Test:
        if free(f):
            self.reach |= reach(f, self.kind, self._clocks)
            asked = self._of_record(f)
            return lambda s, r: asked(s.record, r)

        def make() -> Step:
            if isinstance(f, tree.Lasttime):
                return LastTime(self.test(f.operand))
            left, right = self.test(f.left), self.test(f.right)
            return Since(left, right) if f.bound is None else SinceWithin(left, right, allowed(f.bound, self.kind))

        return self._place(f, make)

    def _of_record(self, f: tree.Since | tree.Lasttime) -> Test:
        """An operator with free variables, asked of a record."""
        if f not in self._back:
            if isinstance(f, tree.Lasttime):
                self._back[f] = _last(self.records.test(f.operand))
            else:
                left, right = self.records.test(f.left), self.records.test(f.right)
                self._back[f] = _since(left, right, allowed(f.bound, self.kind))
        return self._back[f]


def _last(operand: Test) -> Test:
    return lambda s, r: s.before is not None and operand(s.before, r)


def _since(left: Test, right: Test, window: Ages) -> Test:
    def test(s: Record, r: Values) -> Truth:
        found: Truth = False
        so_far: Truth = True
        at: Record | None = s
        while at is not None:
            age = s.time - at.time
            if age > window.most:
                break
            if age >= window.low:
                one = both(so_far, right(at, r))
                if one is True:
                    return True
                found = one if one is not False else found
            so_far = both(so_far, left(at, r))
            if so_far is False:
                break
            at = at.before
        return found

    return test


# --- records of states ------------------------------------------------------------------------------------------------


@dataclass(eq=False, slots=True)
class Record:
    """What is kept of a state: its time, the values in its slots, and the record before it."""

    time: int
    values: list[Any]
    before: Record | None


class OfRecords(Terms):
    """Closures over records; ``slots``: for every slot the term of the present state, as closure."""

    def __init__(self, present: Terms, allot: Callable[[Any, Callable[[], Term]], int], back: Callable[[Any], Test]):
        super().__init__(present.sources, present.kind)
        self.present, self.allot, self.back = present, allot, back

    def slot(self, node: Any, term: Callable[[], Term]) -> Term:
        at = self.allot(node, term)
        return lambda s, r: s.values[at]

    def test(self, f: tree.Formula) -> Test:
        if not free(f) and of_state(f):
            return self.slot(f, lambda: self.present.test(f))
        return super().test(f)

    def term(self, t: Expr) -> Term:
        if not isinstance(t, Time) and not free(t) and of_state(t):
            return self.slot(t, lambda: self.present.term(t))
        return super().term(t)

    def compared(self, f: tree.Compare) -> Test:
        return compared(f.op, self.term(f.left), self.term(f.right))

    def looking_back(self, f: tree.Since | tree.Lasttime) -> Test:
        return self.back(f)

    def events(self, f: Happens) -> Term:
        name = f.event
        return self.slot(("events", name), lambda: lambda s, r: tuple(s.events.get(name, ())))

    def table(self, t: Value) -> Term:
        name = t.table
        return self.slot(("table", name), lambda: lambda s, r: s.tables[name].frozen().rows)

    def select(self, node: Found | ViewOf) -> Callable[[Any, Values, str, Values], Relation]:
        frozen = self.slot(("tables",), lambda: lambda s, r: s.sql.frozen(s.tables))

        def select(s: Any, r: Values, sql: str, values: Values) -> Relation:
            tables, database = frozen(s, r)
            found: Relation = database.select(sql, values, tables)
            return found

        return select


# --- operators without free variables ---------------------------------------------------------------------------------


class Step(Protocol):
    """Something that goes on from state to state.  ``kept`` is its state, plain values that can be saved."""

    def fresh(self) -> Any: ...

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        """(what is kept, the value in this state)."""


@dataclass(frozen=True)
class LastTime:
    """``lasttime f``: what f was."""

    operand: Test

    def fresh(self) -> Any:
        return False

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        return self.operand(s, r), kept


@dataclass(frozen=True)
class Since:
    """``f since g``: was it so in the state before?"""

    left: Test
    right: Test

    def fresh(self) -> Any:
        return False

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        now = self.right(s, r)
        if now is not True and kept is not False:
            before = both(self.left(s, r), kept)
            now = before if before is True or now is False else now
        return now, now


@dataclass(frozen=True)
class SinceWithin:
    """``f since[B] g``: (time of g, does f hold since?), the latest last, as far as some later state may need them."""

    left: Test
    right: Test
    window: Ages

    def fresh(self) -> Any:
        return ()

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        time, window = s.time, self.window
        if kept:
            left = self.left(s, r)
            if left is False:
                kept = ()
            elif left is not True:
                kept = tuple((t, both(truth, left)) for t, truth in kept)
        now = self.right(s, r)
        if now is not False:
            if window.high == FOREVER:
                kept = _oldest((*kept, (time, now)))
            elif window.low == 0 and now is True:
                kept = ((time, now),)
            else:
                kept = (*kept, (time, now))
        if kept and time - kept[0][0] > window.most:
            kept = tuple(one for one in kept if time - one[0] <= window.most)
        found: Truth = False
        for t, truth in reversed(kept):
            if window.low <= time - t <= window.most:
                if truth is True:
                    return kept, True
                found = truth
        return kept, found


def _oldest(kept: tuple[tuple[int, Truth], ...]) -> tuple[tuple[int, Truth], ...]:
    """The oldest that holds serves all later states, as does the oldest of those before it that are not known."""
    found: list[tuple[int, Truth]] = []
    for one in kept:
        if one[1] is True or not found:
            found.append(one)
        if one[1] is True:
            break
    return tuple(found)


def both(a: Truth, b: Truth) -> Truth:
    """And."""
    if a is False or b is False:
        return False
    return b if a is True else a


@dataclass(frozen=True)
class Aggregate:
    """``op of arg from predicate``: what its states have come to (:func:`gathered`); ``None`` before the predicate has
    held, a Lost if it is not known whether it has.  ``op of arg within c``: (time, value) of its states.
    """

    op: str
    arg: Term
    predicate: Test | None
    within: int | None

    def fresh(self) -> Any:
        return () if self.predicate is None else None

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        if self.predicate is not None:
            holds = self.predicate(s, r)
            if holds is not False:
                kept = () if holds is True else holds
        if type(kept) is Lost:
            return kept, kept
        if kept is None:
            return None, 0 if self.op == "count" else None
        if self.within is None:
            kept = gathered(self.op, kept, self.arg(s, r))
            return kept, result(self.op, kept)
        kept = (*kept, (s.time, self.arg(s, r)))
        if s.time - kept[0][0] > self.within:
            kept = tuple((t, v) for t, v in kept if s.time - t <= self.within)
        return kept, total(self.op, [v for _, v in kept])


#: nothing gathered
_EMPTY: tuple[Any, ...] = (0, None, False, None, None)


def gathered(op: str, kept: Any, value: Any) -> Any:
    """(how many values, their exact sum or the least or greatest, is one a float?, a lost one, infinite ones added)."""
    count, sums, floats, lost, infinite = kept or _EMPTY
    if value is None:
        return count, sums, floats, lost, infinite
    if type(value) is Lost:
        return count + 1, sums, floats, lost or value, infinite
    if op in ("min", "max"):
        sums = value if sums is None or (value < sums if op == "min" else value > sums) else sums
    elif op != "count":
        if type(value) is float:
            floats = True
            if math.isinf(value):
                return count + 1, sums, floats, lost, value if infinite is None else infinite + value
            value = Fraction(value)
        sums = value if sums is None else sums + value
    return count + 1, sums, floats, lost, infinite


def result(op: str, kept: Any) -> Any:
    """Of what was gathered."""
    count, sums, floats, lost, infinite = kept or _EMPTY
    if lost is not None:
        return lost
    if op == "count":
        return count
    if not count or op in ("min", "max"):
        return sums
    if infinite is not None:
        return ops.whole(infinite)
    if op == "avg":
        return real(Fraction(sums) / count)
    return real(sums) if floats else ops.whole(sums)


def total(op: str, values: Sequence[Any]) -> Any:
    """Over the values of some states, nulls left out; sums are exact."""
    there = [v for v in values if v is not None]
    for v in there:
        if type(v) is Lost:
            return v
    if op == "count":
        return len(there)
    if not there:
        return None
    if op in ("min", "max"):
        return min(there) if op == "min" else max(there)
    if not any(type(v) is float for v in there):
        exact = sum(there)
        return ops.whole(exact) if op == "sum" else real(Fraction(exact) / len(there))
    if any(type(v) is float and math.isinf(v) for v in there):
        return ops.whole(sum(float(v) for v in there))
    sums = sum((Fraction(v) for v in there), Fraction(0))
    return real(sums if op == "sum" else sums / len(there))


def real(exact: Any) -> float:
    """The nearest float, infinite beyond float64."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
