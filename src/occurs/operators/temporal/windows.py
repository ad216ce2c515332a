"""Bounds of ``until``: comparisons of time with the time at which it was begun (temporal-logic.md 4.2, 4.3)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.expr.tree import Binary, DurationLiteral, Expr, Literal
from occurs.model.time import TimeKind
from occurs.operators.temporal import tree
from occurs.operators.temporal.steps import ticks
from occurs.operators.temporal.tree import Formula, Global, Time, Truth

#: no age is as great
ENDLESS = 2**64
#: what may be written to be added to a time without leaving int64; bounds of operators are not added to anything
_LONGEST = 2**61


@dataclass(frozen=True)
class Ages:
    """The ages, in ticks since ``clock``, at which the comparisons hold: ``low`` to ``high``, both closed.

    As far as they tell, what is left of a formula without them (``rest``) is false at all later times from the age
    ``close`` on, and they hold at all later times from the age ``opened`` on (4.3, *Closed*).
    """

    clock: str
    rest: Formula
    low: int = 0
    high: int = ENDLESS
    close: int = ENDLESS
    opened: int = ENDLESS


def clocks(formula: Formula) -> frozenset[str]:
    """The variables that have nothing but times of states."""
    assigned = [n for n in formula.walk() if isinstance(n, tree.Assign)]
    return frozenset(n.variable.text for n in assigned) - {n.variable.text for n in assigned if n.term != Time()}


def ages(f: Formula, known: frozenset[str], kind: TimeKind) -> Ages | None:
    """Of a formula with comparisons of time with one of the ``known`` clocks among its conjuncts."""
    parts = f.operands if isinstance(f, tree.And) else (f,)
    found = [_compared(p, known, kind) for p in parts]
    clock = next((c[0] for c in found if c is not None), None)
    if clock is None:
        return None
    mine = [c for c in found if c is not None and c[0] == clock]
    rest = tuple(p for p, c in zip(parts, found, strict=True) if c is None or c[0] != clock)
    low, high, close, opened = 0, ENDLESS, ENDLESS, 0
    for _, op, age in mine:
        if op in (">=", ">", "="):
            low, opened = max(low, age + (op == ">")), max(opened, age)
        if op in ("<=", "<", "="):
            high, close, opened = min(high, age - (op == "<")), min(close, age), ENDLESS
    left: Formula = rest[0] if len(rest) == 1 else tree.And(rest) if rest else Truth(True)
    return Ages(clock, left, low, high, close, opened)


def _compared(f: Expr, known: frozenset[str], kind: TimeKind) -> tuple[str, str, int] | None:
    """``time op clock + c``: (clock, op, c)."""
    match f:
        case tree.Compare(left=Time(), right=Binary(op="+", left=Global() as start, right=Literal(value=int() as n))):
            exact = None if isinstance(n, bool) else n
        case tree.Compare(
            left=Time(), right=Binary(op="+", left=Global() as start, right=DurationLiteral() as length)
        ):
            found = ticks(length.value, kind)
            exact = found.numerator if found.denominator == 1 else None
        case _:
            return None
    if exact is None or (exact > _LONGEST and not start.name.startswith("#")):
        return None
    if start.name not in known or f.op == "!=":
        return None
    return start.name, f.op, exact
