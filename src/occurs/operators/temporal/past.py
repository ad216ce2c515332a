"""Operators that look back, and aggregates: what is kept of earlier states (temporal-logic.md 4.2, 5.1, 5.2).

An operator in which no global variable is free has one truth value per state, and keeps no more than the next needs.
One with free variables has to be asked with values that come later: of every state there is a record, as long as the
operator may look back at it (:class:`Reach`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal.closures import Term, Test, Values
from occurs.operators.temporal.records import OfRecords, Record
from occurs.operators.temporal.rule import Sources
from occurs.operators.temporal.steps import (
    Aggregate,
    LastTime,
    Since,
    SinceWithin,
    Step,
    Window,
    both,
    ticks,
)
from occurs.operators.temporal.terms import Terms
from occurs.operators.temporal.tree import BACK, Global, Time, free, lowered
from occurs.operators.temporal.values import Truth


@dataclass(frozen=True)
class Reach:
    """How far back something looks: ``ticks`` (None: to the activation), and so many states more."""

    ticks: int | None
    states: int = 0

    def __or__(self, other: Reach) -> Reach:
        far = None if self.ticks is None or other.ticks is None else max(self.ticks, other.ticks)
        return Reach(far, max(self.states, other.states))


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
        highs = [h for h in (Window.of(f.bound, kind).high, _oldest(f.right, clocks, kind)) if h is not None]
        far = None if not highs or found.ticks is None else max(min(highs), 0) + found.ticks
        return Reach(far, found.states)
    return found


def _oldest(f: Expr, clocks: frozenset[str], kind: TimeKind) -> int | None:
    """The greatest age, by a conjunct `time >= t - c` with one of ``clocks`` for t, at which a formula may hold."""
    if isinstance(f, tree.And):
        ages = [a for p in f.operands if (a := _oldest(p, clocks, kind)) is not None]
        return min(ages, default=None)
    if isinstance(f, tree.Assign):
        return _oldest(f.operand, clocks - {f.variable.text}, kind)
    if not isinstance(f, tree.Compare) or f.op not in ("<", "<=", ">", ">=", "="):
        return None
    left, right = term_of_time(f.left, clocks, kind), term_of_time(f.right, clocks, kind)
    if left is None or right is None:
        return None
    # (times, clocks, rest) of the greater side less the smaller one, which is at least nothing
    if f.op in (">", ">=") or (f.op == "=" and left[0] > right[0]):
        left, right = right, left
    times, own, rest = (b - a for a, b in zip(left, right))
    return math.ceil(rest / times) if times > 0 and own == -times else None


def term_of_time(t: Expr, clocks: frozenset[str], kind: TimeKind) -> tuple[Fraction, Fraction, Fraction] | None:
    """A term as (factor of ``time``, factor of clocks, rest in ticks)."""
    nothing = Fraction(0)
    match t:
        case Time():
            return Fraction(1), nothing, nothing
        case Global() if t.name in clocks:
            return nothing, Fraction(1), nothing
        case DurationLiteral():
            return nothing, nothing, ticks(t.value, kind)
        case Literal(value=int() | float() as value) if not isinstance(value, bool) and value - value == 0:
            return nothing, nothing, Fraction(value)
        case Unary():
            inner = term_of_time(t.arg, clocks, kind)
            return None if inner is None else (-inner[0], -inner[1], -inner[2])
        case Binary(op="+" | "-"):
            left, right = term_of_time(t.left, clocks, kind), term_of_time(t.right, clocks, kind)
            sign = 1 if t.op == "+" else -1
            if left is None or right is None:
                return None
            return left[0] + sign * right[0], left[1] + sign * right[1], left[2] + sign * right[2]
    return None


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
            return Since(left, right) if f.bound is None else SinceWithin(left, right, Window.of(f.bound, self.kind))

        return self._place(f, make)

    def _of_record(self, f: tree.Since | tree.Lasttime) -> Test:
        """An operator with free variables, asked of a record."""
        if f not in self._back:
            if isinstance(f, tree.Lasttime):
                self._back[f] = _last(self.records.test(f.operand))
            else:
                left, right = self.records.test(f.left), self.records.test(f.right)
                self._back[f] = _since(left, right, Window.of(f.bound, self.kind))
        return self._back[f]


def _last(operand: Test) -> Test:
    return lambda s, r: s.before is not None and operand(s.before, r)


def _since(left: Test, right: Test, window: Window) -> Test:
    def test(s: Record, r: Values) -> Truth:
        found: Truth = False
        so_far: Truth = True
        at: Record | None = s
        while at is not None:
            age = s.time - at.time
            if window.high is not None and age > window.high:
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
