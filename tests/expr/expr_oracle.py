"""Expressions evaluated one value at a time in plain Python: the other side of every comparison.

A value is None, bool, int, float, str or Fraction (a duration in ticks).  :class:`Lost` is an int64 overflow.
"""

from __future__ import annotations

import math
import operator
import re
from fractions import Fraction
from itertools import product
from typing import Any

from occurs.expr import tree
from occurs.expr.dialect import Dialect
from occurs.expr.typing import infer
from occurs.model.time import TimeKind
from occurs.model.types import Type


class Lost:
    """A value lost to an overflow; ``outcomes`` are those that are still possible of a condition."""

    def __init__(self, outcomes: frozenset = frozenset((True, False))) -> None:
        self.outcomes = outcomes

    def __repr__(self) -> str:
        return f"Lost({set(self.outcomes)})"


COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Oracle:
    def __init__(self, row: dict[tree.Expr, Any], kind: TimeKind, dialect: Dialect, types: Any = None) -> None:
        self.row, self.kind, self.dialect, self.types = row, kind, dialect, types

    def clean(self, value: Any) -> Any:
        if isinstance(value, Lost) or value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, float):
            return None if math.isnan(value) and self.dialect.nan == "null" else value
        if isinstance(value, Fraction):
            return int(value) if value.denominator == 1 and abs(value) < 2**63 else value
        return value if -(2**63) <= value < 2**63 else Lost()

    def strict(self, f: Any, *values: Any) -> Any:
        if any(v is None for v in values):
            return None
        if any(isinstance(v, Lost) for v in values):
            return Lost()
        return self.clean(f(*values))

    def logic(self, f: Any, *values: Any) -> Any:
        possible = [v.outcomes if isinstance(v, Lost) else (v,) for v in values]
        outcomes = frozenset(f(*c) for c in product(*possible))
        return next(iter(outcomes)) if len(outcomes) == 1 else Lost(outcomes)

    def atom(self, value: Any) -> Any:
        return self.logic(lambda a: bool(a), value) if self.dialect.null_atom == "false" else value

    def condition(self, node: tree.Expr) -> Any:
        """An operand of a connective, or a whole condition."""
        return self.atom(self.value(node)) if not _connective(node) else self.value(node)

    def value(self, node: tree.Expr) -> Any:
        match node:
            case tree.Literal():
                return self.clean(node.value)
            case tree.DurationLiteral():
                return self.clean(self.kind.convert(node.value))
            case tree.Unary(op="not"):
                return self.logic(lambda a: None if a is None else not a, self.condition(node.arg))
            case tree.Unary(arg=tree.Literal(value=int() as value)):
                return self.clean(-value)
            case tree.Unary():
                return self.strict(operator.neg, self.value(node.arg))
            case tree.Binary(op="and"):
                return self.logic(kleene_and, self.condition(node.left), self.condition(node.right))
            case tree.Binary(op="or"):
                return self.logic(kleene_or, self.condition(node.left), self.condition(node.right))
            case tree.Binary() if node.op in COMPARE:
                return self.atom(self.strict(COMPARE[node.op], self.value(node.left), self.value(node.right)))
            case tree.Binary():
                return self.strict(
                    lambda a, b: self.arithmetic(node.op, a, b), self.value(node.left), self.value(node.right)
                )
            case tree.IsNull():
                arg = self.value(node.arg)
                return Lost() if isinstance(arg, Lost) else (arg is None) is not node.negated
            case tree.In():
                arg, out = self.value(node.arg), False
                for item in node.items:
                    out = self.logic(kleene_or, out, self.strict(operator.eq, arg, self.value(item)))
                return self.atom(self.logic(lambda a: None if a is None else a is not node.negated, out))
            case tree.Like():
                out = self.strict(like, self.value(node.arg), self.value(node.pattern))
                return self.atom(self.logic(lambda a: None if a is None else a is not node.negated, out))
            case tree.Call(name="coalesce"):
                return self.widened(node, next((v for v in map(self.value, node.args) if v is not None), None))
            case tree.Call(name="if"):
                return self.widened(node, self.branch(node.args))
            case tree.Call(name="abs"):
                return self.strict(abs, self.value(node.args[0]))
            case tree.Call(name="least"):
                values = (self.widened(node, self.value(a)) for a in node.args)
                return self.strict(lambda *v: math.nan if any(a != a for a in v) else min(v), *values)
        return self.clean(self.row[node])

    def widened(self, node: tree.Expr, value: Any) -> Any:
        """An int among alternatives of which one is a float is a float."""
        if (
            isinstance(value, int)
            and not isinstance(value, bool)
            and infer(node, self.types, _no_problem) is Type.FLOAT
        ):
            return float(value)
        return value

    def branch(self, args: tuple[tree.Expr, ...]) -> Any:
        if len(args) == 1:
            return self.value(args[0])
        test = self.logic(lambda a: a is True, self.value(args[0]))
        if isinstance(test, Lost):
            return Lost()
        return self.value(args[1]) if test else self.branch(args[2:])

    def arithmetic(self, op: str, a: Any, b: Any) -> Any:
        if op == "/":
            if b == 0:
                if self.dialect.zero_division == "null":
                    return None
                negative = math.copysign(1, b if isinstance(b, float) else 1) * math.copysign(1, float(a)) < 0
                return math.nan if a == 0 or a != a else -math.inf if negative else math.inf
            if isinstance(a, float) or isinstance(b, float):
                return _ieee(operator.truediv, float(a), float(b))
            exact = Fraction(a) / Fraction(b)
            return exact.numerator / exact.denominator
        if isinstance(a, float) or isinstance(b, float):
            a, b = float(a), float(b)
            if op in "+-*":
                return {"+": operator.add, "-": operator.sub, "*": operator.mul}[op](a, b)
            if b == 0:
                return None
            return _ieee(_float_remainder, op, a, b)
        if op in "+-*":
            return {"+": operator.add, "-": operator.sub, "*": operator.mul}[op](a, b)
        if b == 0:
            return None
        if op == "div":
            return a // b
        rest = abs(a) % abs(b)
        return a % b if op == "mod" else -rest if a < 0 else rest


def _connective(node: tree.Expr) -> bool:
    return isinstance(node, tree.Unary) or (isinstance(node, tree.Binary) and node.op in ("and", "or"))


def _no_problem(*problem: Any) -> None:
    raise AssertionError(problem)


def _ieee(f: Any, *args: Any) -> float:
    try:
        return f(*args)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def _float_remainder(op: str, a: float, b: float) -> float:
    if op == "%":
        return math.fmod(a, b)
    if op == "mod":
        return math.nan if math.isinf(a) else a % b
    return a // b  # rounded down once, as the text case "DIV and MOD of floats" has it


def kleene_and(a: bool | None, b: bool | None) -> bool | None:
    return False if a is False or b is False else None if a is None or b is None else True


def kleene_or(a: bool | None, b: bool | None) -> bool | None:
    return True if a is True or b is True else None if a is None or b is None else False


def like(text: str, pattern: str) -> bool:
    out, i = "", 0
    while i < len(pattern):
        c = pattern[i]
        if c == "\\" and i + 1 < len(pattern):
            i += 1
            out += re.escape(pattern[i])
        else:
            out += {"%": ".*", "_": "."}.get(c, re.escape(c))
        i += 1
    return re.fullmatch(out, text, re.DOTALL) is not None
