"""Resolved formulas as the engine evaluates them: few operators, and no bounds on those that look ahead.

``f until[<=c] g`` is ``[#1 <- time](f until (g and time <= #1 + c))`` (temporal-logic.md 4.2), so that an obligation
needs no more than the values of its free variables.  Operators that look back keep their bounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

from occurs.expr.tree import Binary, DurationLiteral, Expr
from occurs.languages.logic import syntax
from occurs.languages.logic.checks.bounds import free
from occurs.languages.logic.checks.nodes import (
    Found,
    Global,
    Happens,
    Last,
    TableOf,
    Time,
    Value,
    Variable,
    ViewOf,
)
from occurs.languages.logic.syntax import Formula, Not, Or, Since, Truth, Until
from occurs.model.types import Type

__all__ = ["AHEAD", "BACK", "free", "lowered", "of_state"]

#: what is left of the operators
AHEAD = (syntax.Nexttime, Until)
BACK = (syntax.Lasttime, Since)
_TRUE = Truth(True)


@dataclass(frozen=True)
class Number:
    """Gives variables of bounds their names."""

    numbers: Iterator[int]

    def __call__(self) -> str:
        return f"#{next(self.numbers)}"


def lowered(formula: Formula) -> Formula:
    """The same formula with not, and, or, assignment, nexttime, until without bound, lasttime, since and atoms only."""
    return _lower(formula, Number(count(1)))


def _lower(f: Formula, name: Number) -> Formula:
    match f:
        case syntax.Implies():
            return Or((Not(_lower(f.left, name)), _lower(f.right, name)))
        case syntax.Eventually():
            return _until(_TRUE, _lower(f.operand, name), f.bound, name)
        case syntax.Always():
            return Not(_until(_TRUE, Not(_lower(f.operand, name)), f.bound, name))
        case syntax.Until():
            return _until(_lower(f.left, name), _lower(f.right, name), f.bound, name)
        case syntax.Release():
            return Not(_until(Not(_lower(f.left, name)), Not(_lower(f.right, name)), f.bound, name))
        case syntax.WeakUntil():
            left = _lower(f.left, name)
            return Or((Until(left, _lower(f.right, name)), Not(Until(_TRUE, Not(left)))))
        case syntax.Previously():
            return Since(_TRUE, _lower(f.operand, name), f.bound)
        case syntax.Throughout():
            return Not(Since(_TRUE, Not(_lower(f.operand, name)), f.bound))
        case syntax.Since():
            return Since(_lower(f.left, name), _lower(f.right, name), f.bound)
        case Not() | syntax.Assign() | syntax.Nexttime() | syntax.Lasttime():
            return replace(f, operand=_lower(f.operand, name))
        case syntax.And() | Or():
            return replace(f, operands=tuple(_lower(p, name) for p in f.operands))
    return f


def _until(left: Formula, right: Formula, bound: syntax.Bound | None, name: Number) -> Formula:
    if bound is None:
        return Until(left, right)
    start = name()
    here = Global(start, Type.TIMESTAMP, True)

    def test(op: str, duration: DurationLiteral) -> Formula:
        return syntax.Compare(op, Time(), Binary("+", here, duration))

    tests = [test(bound.op, DurationLiteral(bound.first))]
    if bound.second is not None:
        tests = [test(">=", DurationLiteral(bound.first)), test("<=", DurationLiteral(bound.second))]
    return syntax.Assign(syntax.Name(start), Time(), Until(left, syntax.And((right, *tests))))


def of_state(node: Expr) -> bool:
    """Does a term or formula without operators have a value of its own in every state?"""
    looks = (Time, Variable, Value, TableOf, ViewOf, Last, Happens, Found, syntax.Aggregate, *BACK)
    return any(isinstance(n, looks) for n in node.walk())
