"""What comparisons of time tell of all later times (temporal-logic.md 4.3, *Closed*; 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal, Unary
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal.closures import Values
from occurs.operators.temporal.steps import ticks
from occurs.operators.temporal.tree import Generic, Global, Time

#: what a formula is at every state later than a time, None if it is not known
Later: TypeAlias = Callable[[Values, int], "bool | None"]


def later(f: tree.Formula, kind: TimeKind) -> Later | None:
    """What a formula is at every state later than a time, as far as its comparisons of time tell (None: nothing)."""
    match f:
        case tree.Until():
            # it waits for what never comes, or has it at once
            return later(f.right, kind)
        case tree.Nexttime():
            following = later(f.operand, kind)
            return None if following is None else (lambda r, time: False if following(r, time) is False else None)
        case tree.Assign():
            return _unset(f.variable.text, later(f.operand, kind))
    return _told(f, kind, later)


def _unset(name: str, inner: Later | None) -> Later | None:
    """Whatever value the variable will have."""
    return None if inner is None else (lambda r, time: inner({**r, name: None}, time))


def passed(f: tree.Formula, kind: TimeKind) -> Later | None:
    """The same, but nothing is said of what looks ahead (4.3, *Closed*)."""
    return _told(f, kind, passed)


def _told(f: tree.Formula, kind: TimeKind, of: Callable[[tree.Formula, TimeKind], Later | None]) -> Later | None:
    match f:
        case tree.Not():
            inner = of(f.operand, kind)
            return None if inner is None else (lambda r, time: _opposite(inner(r, time)))
        case tree.And() | tree.Or():
            parts = [of(p, kind) for p in f.operands]
            known = [p for p in parts if p is not None]
            return _decided(known, isinstance(f, tree.Or), len(known) == len(parts)) if known else None
        case tree.Compare():
            return _compared(f, kind)
    return None


def _opposite(told: bool | None) -> bool | None:
    return None if told is None else not told


def _decided(parts: list[Later], decisive: bool, all_known: bool) -> Later:
    def told(r: Values, time: int) -> bool | None:
        known = all_known
        for part in parts:
            found = part(r, time)
            if found is decisive:
                return decisive
            known = known and found is not None
        return (not decisive) if known else None

    return told


def _limit(f: tree.Compare, kind: TimeKind, otherwise: Later) -> Later:
    """The same for ``time op t + c`` with a whole c, which most of them are."""
    match f:
        case tree.Compare(
            left=Time(), right=Binary(op="+", left=Global() as start, right=DurationLiteral() as length)
        ):
            exact = ticks(length.value, kind)
        case tree.Compare(left=Time(), right=Binary(op="+", left=Global() as start, right=Literal(value=int() as n))):
            exact = Fraction(n)
        case _:
            return otherwise
    if exact.denominator != 1:
        return otherwise
    after, name, rising = exact.numerator, start.name, f.op in (">", ">=", "!=")

    def told(r: Values, time: int) -> bool | None:
        at = r[name]
        if type(at) is not int:
            return otherwise(r, time)
        return rising if at + after <= time else None

    return told


Linear: TypeAlias = Callable[[Values], "tuple[Any, Any] | None"]


def _compared(f: tree.Compare, kind: TimeKind) -> Later | None:
    left, right = _linear(f.left, kind), _linear(f.right, kind)
    if left is None or right is None:
        return None
    rising = f.op in (">", ">=", "!=")
    falling = f.op in ("<", "<=", "!=")

    def told(r: Values, time: int) -> bool | None:
        a, b = left(r), right(r)
        if a is None or b is None:
            return None
        factor, rest = a[0] - b[0], b[1] - a[1]
        if factor == 0:
            return None
        if factor > 0:
            return None if rest > time * factor else rising
        return None if rest < time * factor else falling

    return _limit(f, kind, told)


def _linear(t: Expr, kind: TimeKind) -> Linear | None:
    """(a, b) if the term is a * time + b; None if it is nothing of the kind."""
    match t:
        case Literal():
            value = _number(t.value)
            return None if value is None else (lambda r: (0, value))
        case DurationLiteral():
            length = ticks(t.value, kind)
            exact = length.numerator if length.denominator == 1 else length
            return lambda r: (0, exact)
        case Time():
            return lambda r: (1, 0)
        case Global() | Generic():
            name = t.name

            def named(r: Values) -> tuple[Any, Any] | None:
                found = _number(r[name])
                return None if found is None else (0, found)

            return named
        case Unary():
            inner = _linear(t.arg, kind)
            return None if inner is None else (lambda r: None if (a := inner(r)) is None else (-a[0], -a[1]))
        case Binary(op="+" | "-" | "*"):
            left, right = _linear(t.left, kind), _linear(t.right, kind)
            return None if left is None or right is None else _both(t.op, left, right)
    return None


def _both(op: str, left: Linear, right: Linear) -> Linear:
    def found(r: Values) -> tuple[Any, Any] | None:
        a, b = left(r), right(r)
        if a is None or b is None:
            return None
        if op == "*":
            return None if a[0] and b[0] else (a[0] * b[1] + b[0] * a[1], a[1] * b[1])
        return (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[0], a[1] - b[1])

    return found


def _number(value: Any) -> Any:
    """An exact number; None if it is none."""
    if type(value) is int:
        return value
    if type(value) is float:
        return Fraction(value) if value - value == 0 else None
    return value if type(value) is Fraction else None
