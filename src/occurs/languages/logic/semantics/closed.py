"""What comparisons of time tell about all later times (temporal-logic.md 4.3, *Closed*), and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from occurs.expr import tree
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.values import ticks
from occurs.model.time import TimeKind

#: a number by its name, or anything else
Known = Callable[[str], Any]

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}


def within(bound: syntax.Bound, age: int, kind: TimeKind) -> bool:
    """Is an age in ticks, which is not negative, within the bound?"""
    low = ticks(bound.first, kind)
    match bound.op:
        case "<=":
            return age <= low
        case ">=":
            return age >= low
        case "=":
            return age == low
        case "<":
            return age < low
        case ">":
            return age > low
    assert bound.second is not None
    return low <= age <= ticks(bound.second, kind)


def passed(f: syntax.Formula, rho: Mapping[str, Any], time: int, known: Known, kind: TimeKind) -> bool | None:
    """What ``f`` is at every time later than ``time`` as far as its comparisons of time tell; None: unknown.

    ``known``: the number that a generic variable or a constant is.
    """
    match f:
        case syntax.Not():
            inner = passed(f.operand, rho, time, known, kind)
            return None if inner is None else not inner
        case syntax.And() | syntax.Or():
            found = [passed(p, rho, time, known, kind) for p in f.operands]
            decisive = isinstance(f, syntax.Or)
            if decisive in found:
                return decisive
            return None if None in found else not decisive
        case syntax.Compare():
            return _compared(f, rho, time, known, kind)
    return None


def _compared(f: syntax.Compare, rho: Mapping[str, Any], time: int, known: Known, kind: TimeKind) -> bool | None:
    left, right = (linear(t, rho, known, kind) for t in (f.left, f.right))
    if left is None or right is None:
        return None
    factor, rest = left[0] - right[0], right[1] - left[1]
    if factor == 0 or rest / factor > time:
        return None
    return (f.op if factor > 0 else _FLIPPED[f.op]) in (">", ">=", "!=")


def linear(t: tree.Expr, rho: Mapping[str, Any], known: Known, kind: TimeKind) -> tuple[Fraction, Fraction] | None:
    """(a, b) if the term is a * time + b; None if it is nothing of the kind."""
    match t:
        case tree.Literal():
            return _number(t.value)
        case tree.DurationLiteral():
            return _number(ticks(t.value, kind))
        case tree.Ref(scope=None):
            if t.name in rho:
                return _number(rho[t.name])
            return (Fraction(1), Fraction(0)) if t.name == "time" else _number(known(t.name))
        case tree.Unary("neg"):
            inner = linear(t.arg, rho, known, kind)
            return None if inner is None else (-inner[0], -inner[1])
        case tree.Binary(op="+" | "-" | "*"):
            left, right = linear(t.left, rho, known, kind), linear(t.right, rho, known, kind)
            if left is None or right is None:
                return None
            if t.op == "*":
                if left[0] and right[0]:
                    return None
                return left[0] * right[1] + right[0] * left[1], left[1] * right[1]
            sign = 1 if t.op == "+" else -1
            return left[0] + sign * right[0], left[1] + sign * right[1]
    return None


def _number(value: Any) -> tuple[Fraction, Fraction] | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | Fraction)
        or value in (float("inf"), -float("inf"))
    ):
        return None
    return Fraction(0), Fraction(value)
