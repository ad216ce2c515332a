"""Bounds and comparisons of time, as ages in ticks (temporal-logic.md 4.2)."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import Duration, TimeKind
from occurs.operators.temporal.tree import Bound, Global, Time

#: no end
FOREVER = 2**63 - 1
#: ages that may be added up in int64
REACH = 2**61


@dataclass(frozen=True)
class Ages:
    """The ages in ticks that a bound allows: [low, high]; no age from ``close`` on is one of them."""

    low: int = 0
    high: int = FOREVER
    close: int = FOREVER

    def __and__(self, other: Ages) -> Ages:
        return Ages(max(self.low, other.low), min(self.high, other.high), min(self.close, other.close))

    @cached_property
    def most(self) -> float:
        """The greatest age, infinite without end."""
        return math.inf if self.high == FOREVER else self.high

    @property
    def within_reach(self) -> bool:
        """May all its ends be added up in int64?"""
        return all(abs(end) <= REACH or end == FOREVER for end in (self.low, self.high, self.close))


def ages(op: str, limit: Fraction) -> Ages:
    """The ages of whole ticks that are ``op limit``; for ``<= < =`` no later age is one from ``limit`` on."""
    low, high = math.ceil(limit), math.floor(limit)
    match op:
        case "<=":
            return Ages(0, high, low)
        case "<":
            return Ages(0, low - 1, low)
        case "=":
            return Ages(low, high, low)
        case ">=":
            return Ages(low)
    assert op == ">"
    return Ages(high + 1)


def allowed(bound: Bound | None, kind: TimeKind) -> Ages:
    """What a bound allows."""
    if bound is None:
        return Ages()
    first = ticks(bound.first, kind)
    if bound.second is None:
        return ages(bound.op, first)
    return ages(">=", first) & ages("<=", ticks(bound.second, kind))


def ticks(duration: Duration, kind: TimeKind) -> Fraction:
    """The exact number of ticks; a duration without a common unit with time has been refused."""
    found = kind.convert(duration)
    return Fraction(0 if found is None else found)


def linear(t: Expr, clocks: Set[str], kind: TimeKind) -> tuple[Fraction, Fraction, Fraction] | None:
    """A term as (factor of ``time``, factor of the variables ``clocks``, rest in ticks), None if it is not linear."""
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
            inner = linear(t.arg, clocks, kind)
            return None if inner is None else (-inner[0], -inner[1], -inner[2])
        case Binary(op="+" | "-" | "*"):
            left, right = linear(t.left, clocks, kind), linear(t.right, clocks, kind)
            if left is None or right is None:
                return None
            if t.op == "*":
                if any(left[:2]) and any(right[:2]):
                    return None
                by, of = (left[2], right) if not any(left[:2]) else (right[2], left)
                return by * of[0], by * of[1], by * of[2]
            sign = 1 if t.op == "+" else -1
            return left[0] + sign * right[0], left[1] + sign * right[1], left[2] + sign * right[2]
    return None


def farthest(op: str, left: Expr, right: Expr, ahead: bool, clocks: Set[str], kind: TimeKind) -> int | None:
    """c of ``time <= t + c`` with one of ``clocks`` for t, looking back of ``time >= t - c``; None: there is no such
    limit."""
    a, b = linear(left, clocks, kind), linear(right, clocks, kind)
    if a is None or b is None or op not in ("<", "<=", ">", ">=", "="):
        return None
    for swapped in (False, True) if op == "=" else (op in (">", ">="),):
        # the greater side less the smaller one is at least nothing
        times, own, rest = (y - x for x, y in zip(*((b, a) if swapped else (a, b)), strict=True))
        if own == -times and (times < 0 if ahead else times > 0):
            return math.ceil(rest / abs(times))
    return None
