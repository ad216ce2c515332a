"""Expressions in the reference semantics of EPL: plain Python values, one at a time (common.md section 6, dialect EPL).

A value is None, bool, int, float or str; times and durations are ints (ticks), a duration that is no whole number of
them a Fraction.  The overflow of an int64 is the value :class:`Undecided`: it travels upwards until the rest of the
expression decides the result without it, or until somebody needs the result and raises.

Readings where the specification is silent: ``between`` takes its ends in either order and is null if any of the three
is; ``in [l:h)`` is ``l <= x and x < h`` (ends as written, Kleene's ``and``); ``min`` and ``max`` are null if any
argument is; of ``case`` without ``else`` the rest is null.  Durations are compared exactly; as values they are the
nearest whole number of ticks (of two the even one).

Shares nothing with the engine on purpose: it is the other side of every comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import product
from typing import Any, Protocol

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.languages.epl import syntax
from occurs.languages.reference_functions import ALIKE, FIRST, FLOATS, FUNCTIONS, TIMES, like, string
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

LEAST, GREATEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Undecided:
    """A value lost by an int64 overflow; of a condition: the outcomes that are still possible."""

    outcomes: frozenset[bool | None] = frozenset((True, False))


OVERFLOW = Undecided()


class Scope(Protocol):
    """Where an expression is evaluated."""

    def value(self, ref: tree.Ref) -> Any:
        """The value of an attribute; null if the event is not there."""

    def type_of(self, ref: tree.Ref) -> Type | None:
        """The declared type of an attribute; None if it is not known."""

    @property
    def kind(self) -> TimeKind:
        """How time is counted."""


def clean(value: Any) -> Any:
    """NaN is null; ints beyond int64 are overflow; whole fractions are ints."""
    if isinstance(value, Fraction):
        value = value if value.denominator > 1 else int(value)
        return value if LEAST <= value <= GREATEST else OVERFLOW
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return OVERFLOW
    return value


def ticks(duration: Duration, kind: TimeKind) -> int | Fraction:
    """The exact number of ticks; DefinitionProblem (``missing-unit``) if the time has no unit."""
    exact = kind.convert(duration)
    if exact is None:
        raise DefinitionProblem.of("missing-unit", "a duration and the time of the events have no common unit")
    return int(exact) if exact.denominator == 1 else exact


def evaluate(node: tree.Expr, scope: Scope) -> Any:
    """The value of an expression; None is null, Undecided an overflow that matters."""
    match node:
        case tree.Literal():
            return clean(node.value)
        case tree.DurationLiteral():
            return clean(ticks(node.value, scope.kind))
        case tree.Ref():
            return clean(scope.value(node))
        case tree.IsNull():
            value = evaluate(node.arg, scope)
            return OVERFLOW if isinstance(value, Undecided) else (value is None) != node.negated
        case tree.Unary("not"):
            return opposite(evaluate(node.arg, scope))
        case tree.Unary("neg"):
            return strict(lambda a: -a, evaluate(node.arg, scope))
        case tree.Binary("and"):
            return both(evaluate(node.left, scope), evaluate(node.right, scope))
        case tree.Binary("or"):
            return kleene(_or, evaluate(node.left, scope), evaluate(node.right, scope))
        case tree.Binary(op="=" | "!=" | "<" | "<=" | ">" | ">="):
            return strict(OPERATORS[node.op], *_compared((node.left, node.right), scope))
        case tree.Binary():
            return strict(OPERATORS[node.op], evaluate(node.left, scope), evaluate(node.right, scope))
        case syntax.Between():
            x, low, high = _compared((node.arg, node.low, node.high), scope)
            return _unless(node.negated, strict(lambda x, a, b: min(a, b) <= x <= max(a, b), x, low, high))
        case syntax.InRange():
            x, low, high = _compared((node.arg, node.low, node.high), scope)
            above = strict(OPERATORS[">=" if node.closed[0] else ">"], x, low)
            below = strict(OPERATORS["<=" if node.closed[1] else "<"], x, high)
            return _unless(node.negated, both(above, below))
        case tree.In():
            x, *items = _compared((node.arg, *node.items), scope)
            found: Any = False
            for item in items:
                found = kleene(_or, found, strict(OPERATORS["="], x, item))
            return _unless(node.negated, found)
        case tree.Like():
            return _unless(node.negated, strict(like, evaluate(node.arg, scope), evaluate(node.pattern, scope)))
        case syntax.Concat():
            return strict(lambda a, b: a + b, evaluate(node.left, scope), evaluate(node.right, scope))
        case syntax.Case():
            return _as_float_beside_floats(branch(node.parts, scope), node, scope)
        case tree.Call():
            return _function(node, scope)
    raise TypeError(f"not an EPL expression: {type(node).__name__}")


def _function(node: tree.Call, scope: Scope) -> Any:
    """A function of the catalogue; ``min`` and ``max`` are its ``least`` and ``greatest``."""
    name = {"min": "least", "max": "greatest"}.get(node.name, node.name)
    if name == "if":
        return _as_float_beside_floats(branch(node.args, scope), node, scope)
    values = [evaluate(a, scope) for a in node.args]
    match name:
        case "coalesce":
            return _as_float_beside_floats(next((v for v in values if v is not None), None), node, scope)
        case "nullif":
            same = strict(OPERATORS["="], *values)
            chosen = OVERFLOW if isinstance(same, Undecided) else None if same else values[0]
            return _as_float_beside_floats(chosen, node, scope)
        case "least" | "greatest":
            # as floats before they are compared: two ints may be one float
            return strict(FUNCTIONS[name], *(_as_float_beside_floats(v, node, scope) for v in values))
        case "string":
            return strict(lambda a: string(a, static_type(node.args[0], scope)), values[0])
    return strict(FUNCTIONS[name], *values)


# --- three-valued logic -------------------------------------------------------------------------------------------


def kleene(f: Callable[..., bool | None], *values: Any) -> Any:
    """``f`` on all outcomes that are possible; Undecided if they differ."""
    possible = [v.outcomes if isinstance(v, Undecided) else (v,) for v in values]
    outcomes = frozenset(f(*choice) for choice in product(*possible))
    return next(iter(outcomes)) if len(outcomes) == 1 else Undecided(outcomes)


def _and(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _or(a: bool | None, b: bool | None) -> bool | None:
    if a is True or b is True:
        return True
    return None if a is None or b is None else False


def both(a: Any, b: Any) -> Any:
    """Kleene's AND."""
    return kleene(_and, a, b)


def conjunction(values: Iterable[Any]) -> Any:
    """AND over any number of outcomes; True for none."""
    out: Any = True
    for v in values:
        out = both(out, v)
    return out


def opposite(a: Any) -> Any:
    """Kleene's NOT."""
    return kleene(lambda x: None if x is None else not x, a)


def _unless(negated: bool, outcome: Any) -> Any:
    return opposite(outcome) if negated else outcome


def branch(parts: tuple[tree.Expr, ...], scope: Scope) -> Any:
    """``condition, value, condition, value, .. [, otherwise]``: the value of the first condition that is true."""
    if len(parts) < 2:
        return evaluate(parts[0], scope) if parts else None
    test = kleene(lambda a: a is True, evaluate(parts[0], scope))
    if isinstance(test, Undecided):
        return OVERFLOW
    return evaluate(parts[1], scope) if test else branch(parts[2:], scope)


# --- types --------------------------------------------------------------------------------------------------------


def static_type(node: tree.Expr, scope: Scope) -> Type | None:
    """FLOAT and TIMESTAMP where the type is one; anything else is of no consequence here."""
    match node:
        case tree.Literal():
            return node.type
        case tree.Ref():
            return scope.type_of(node)
        case tree.Unary("neg"):
            return static_type(node.arg, scope)
        case tree.Binary(op="/"):
            return Type.FLOAT
        case tree.Binary(op="+" | "-" | "*" | "%"):
            return _widest([static_type(node.left, scope), static_type(node.right, scope)])
        case tree.Call("if"):
            values = [a for i, a in enumerate(node.args) if i % 2 or i == len(node.args) - 1]
            return _widest([static_type(v, scope) for v in values])
        case tree.Call() if node.name in (*ALIKE, "min", "max"):
            return _widest([static_type(a, scope) for a in node.args])
        case tree.Call() if node.name in FIRST:
            return static_type(node.args[0], scope)
        case tree.Call():
            return Type.FLOAT if node.name in FLOATS else Type.TIMESTAMP if node.name in TIMES else None
        case syntax.Case():
            values = [p for i, p in enumerate(node.parts) if i % 2 or i == len(node.parts) - 1]
            return _widest([static_type(v, scope) for v in values])
    return None


def _widest(types: list[Type | None]) -> Type | None:
    """FLOAT if one is, else the first that is known."""
    known = [t for t in types if t not in (None, Type.NULL)]
    return Type.FLOAT if Type.FLOAT in known else next(iter(known), None)


def _as_float_beside_floats(value: Any, node: tree.Expr, scope: Scope) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and static_type(node, scope) is Type.FLOAT else value


def _compared(nodes: tuple[tree.Expr, ...], scope: Scope) -> list[Any]:
    """The values of things that are compared: a text literal beside a timestamp is one."""
    beside = any(static_type(n, scope) is Type.TIMESTAMP for n in nodes)
    return [
        microseconds(n.value)
        if beside and isinstance(n, tree.Literal) and isinstance(n.value, str)
        else evaluate(n, scope)
        for n in nodes
    ]


def microseconds(text: str) -> int:
    """An ISO time, UTC if it has no zone."""
    at = datetime.fromisoformat(text)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


# --- arithmetic, comparison, text ---------------------------------------------------------------------------------


def strict(f: Callable[..., Any], *values: Any) -> Any:
    """Null if an operand is null, an overflow if one has overflowed, else ``f`` of them."""
    if any(v is None for v in values):
        return None
    if any(isinstance(v, Undecided) for v in values):
        return OVERFLOW
    return clean(f(*values))


def divide(a: Any, b: Any) -> Any:
    """Real division; null by zero."""
    return None if b == 0 else float(a) / float(b)


def remainder(a: Any, b: Any) -> Any:
    """The sign is the dividend's; null by zero, and of an infinite dividend."""
    if b == 0 or (isinstance(a, float) and math.isinf(a)):
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    size = abs(a) % abs(b)
    return -size if a < 0 else size


def _arithmetic(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Ints exactly; an int beside a float is a float."""

    def apply(a: Any, b: Any) -> Any:
        return f(float(a), float(b)) if isinstance(a, float) or isinstance(b, float) else f(a, b)

    return apply


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "/": divide,
    "%": remainder,
    # Python compares int and float by exact value, and text by code point
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
