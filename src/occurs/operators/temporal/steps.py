"""Operators that look back, and aggregates, in which no global variable is free: what goes on from state to state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from occurs.model.time import Duration, TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal import values as ops
from occurs.operators.temporal.closures import Term, Test, Values
from occurs.operators.temporal.values import Lost, Truth


class Step(Protocol):
    """Something that goes on from state to state.  ``kept`` is its state, plain values that can be saved."""

    def fresh(self) -> Any: ...

    def advance(self, kept: Any, s: Any, r: Values) -> tuple[Any, Any]:
        """(what is kept, the value in this state)."""


@dataclass(frozen=True)
class Window:
    """Ages that a bound allows, in ticks: ``low`` to ``high`` (None: no end), both closed."""

    low: int
    high: int | None

    @classmethod
    def of(cls, bound: tree.Bound | None, kind: TimeKind) -> Window:
        """Of a bound."""
        if bound is None:
            return cls(0, None)
        first = ticks(bound.first, kind)
        if bound.second is not None:
            return cls(math.ceil(first), math.floor(ticks(bound.second, kind)))
        if bound.op == "=":
            # an age that is no whole number of ticks never comes
            return cls(int(first), int(first)) if first.denominator == 1 else cls(1, 0)
        least = {">=": math.ceil(first), ">": math.floor(first) + 1}.get(bound.op, 0)
        most = {"<=": math.floor(first), "<": math.ceil(first) - 1}.get(bound.op)
        return cls(least, most)

    @property
    def empty(self) -> bool:
        """Is no age allowed?"""
        return self.high is not None and self.high < self.low


def ticks(duration: Duration, kind: TimeKind) -> Fraction:
    """Exactly; a duration without a common unit has been refused."""
    found = kind.convert(duration)
    return Fraction(0 if found is None else found)


# --- without free variables -------------------------------------------------------------------------------------------


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
    window: Window

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
            if window.high is None:
                kept = _oldest((*kept, (time, now)))
            elif window.low == 0 and now is True:
                kept = ((time, now),)
            else:
                kept = (*kept, (time, now))
        if window.high is not None and kept and time - kept[0][0] > window.high:
            kept = tuple(one for one in kept if time - one[0] <= window.high)
        found: Truth = False
        for t, truth in reversed(kept):
            if time - t >= window.low and (window.high is None or time - t <= window.high):
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
