"""Values, three-valued logic and operators in the reference semantics: plain Python, one value at a time (common.md 6).

A value is None, bool, int, float, str or Fraction (a duration that is not a whole number of ticks).  Times and
durations are ints (ticks).  The overflow of an int64 is the value :class:`Undecided`: it travels upwards until the
rest of the expression decides the result without it, or until somebody needs the result and raises.

Shares nothing with the engine on purpose: it is the other side of every comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from occurs.expr import tree
from occurs.languages.kit.reference_functions import ALIKE, FIRST, FLOATS, FUNCTIONS, TIMES, like, string
from occurs.model.types import Type

LEAST, GREATEST = -(2**63), 2**63 - 1
#: the value of an expression
Value = Callable[[tree.Expr], Any]
#: the type of an expression: FLOAT and TIMESTAMP where it is one; anything else is of no consequence here
Static = Callable[[tree.Expr], Type | None]


@dataclass(frozen=True)
class Undecided:
    """A value lost by an int64 overflow; of a condition: the outcomes that are still possible."""

    outcomes: frozenset[bool | None] = frozenset((True, False))


OVERFLOW = Undecided()


def clean(value: Any) -> Any:
    """NaN is null; numbers beyond int64 are overflow; whole fractions are ints."""
    if isinstance(value, Fraction):
        value = value if value.denominator > 1 else int(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return OVERFLOW
    return value


# --- expressions of every language ---------------------------------------------------------------------------------


def evaluate(node: tree.Expr, value: Value, static: Static) -> Any:
    """The value of an operator or a function; ``value`` and ``static``: of expressions of the language."""
    match node:
        case tree.Literal():
            return clean(node.value)
        case tree.IsNull():
            found = value(node.arg)
            return OVERFLOW if isinstance(found, Undecided) else (found is None) != node.negated
        case tree.Unary("not"):
            return unless(True, value(node.arg))
        case tree.Unary("neg"):
            return strict(lambda a: -a, value(node.arg))
        case tree.Binary("and"):
            return both(value(node.left), value(node.right))
        case tree.Binary("or"):
            return either(value(node.left), value(node.right))
        case tree.Binary():
            return strict(OPERATORS[node.op], value(node.left), value(node.right))
        case tree.In():
            return unless(node.negated, one_of(value(node.arg), map(value, node.items)))
        case tree.Like():
            return unless(node.negated, strict(like, value(node.arg), value(node.pattern)))
        case tree.Call("if"):
            return as_float(branch(node.args, value), static(node))
        case tree.Call():
            return _called(node, [value(a) for a in node.args], static)
    raise TypeError(f"not an expression of this language: {type(node).__name__}")


def _called(node: tree.Call, values: list[Any], static: Static) -> Any:
    match node.name:
        case "coalesce":
            # an overflow before the first value that is not null hides which one that is
            return as_float(next((v for v in values if v is not None), None), static(node))
        case "nullif":
            same = strict(OPERATORS["="], *values)
            return as_float(OVERFLOW if isinstance(same, Undecided) else None if same else values[0], static(node))
        case "least" | "greatest":
            # as floats before they are compared: two ints may be one float
            return strict(FUNCTIONS[node.name], *(as_float(v, static(node)) for v in values))
        case "string":
            return strict(lambda a: string(a, static(node.args[0])), *values)
    return strict(FUNCTIONS[node.name], *values)


def branch(parts: Sequence[tree.Expr], value: Value) -> Any:
    """``condition, value, condition, value, .. [, otherwise]``: the value of the first condition that is true."""
    if len(parts) < 2:
        return value(parts[0]) if parts else None
    test = kleene(lambda a: a is True, value(parts[0]))
    if isinstance(test, Undecided):
        return OVERFLOW
    return value(parts[1]) if test else branch(parts[2:], value)


def as_float(value: Any, of: Type | None) -> Any:
    """An int where the result is a float."""
    return float(value) if of is Type.FLOAT and isinstance(value, int) and not isinstance(value, bool) else value


def static_type(node: tree.Expr, static: Static) -> Type | None:
    """The type of an operator or a function; ``static``: of expressions of the language."""
    match node:
        case tree.Literal():
            return node.type
        case tree.Unary("neg"):
            return static(node.arg)
        case tree.Binary(op="/"):
            return Type.FLOAT
        case tree.Binary(op="+" | "-" | "*" | "%"):
            return widest([static(node.left), static(node.right)])
        case tree.Call() if node.name in FLOATS:
            return Type.FLOAT
        case tree.Call() if node.name in TIMES:
            return Type.TIMESTAMP
        case tree.Call() if node.name in FIRST:
            return static(node.args[0])
        case tree.Call("if"):
            return widest([static(a) for a in outcomes(node.args)])
        case tree.Call() if node.name in ALIKE:
            return widest([static(a) for a in node.args])
    return None


def outcomes(parts: Sequence[tree.Expr]) -> list[tree.Expr]:
    """Of ``condition, value, .. [, otherwise]`` the values."""
    return [a for i, a in enumerate(parts) if i % 2 == 1 or i == len(parts) - 1]


def widest(types: Sequence[Type | None]) -> Type | None:
    """FLOAT if one is, else the first that is known."""
    known = [t for t in types if t not in (None, Type.NULL)]
    return Type.FLOAT if Type.FLOAT in known else next(iter(known), None)


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


def either(a: Any, b: Any) -> Any:
    """Kleene's OR."""
    return kleene(_or, a, b)


def unless(negated: bool, outcome: Any) -> Any:
    """Kleene's NOT if ``negated``."""
    return kleene(lambda a: None if a is None else not a, outcome) if negated else outcome


def conjunction(values: Iterable[Any]) -> Any:
    """AND over any number of outcomes; True for none."""
    out: Any = True
    for v in values:
        out = both(out, v)
    return out


def one_of(value: Any, items: Iterable[Any]) -> Any:
    """Whether a value is equal to one of the items."""
    found: Any = False
    for item in items:
        found = either(found, strict(OPERATORS["="], value, item))
    return found


# --- arithmetic, comparison -----------------------------------------------------------------------------------------


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
    """Ints exactly; a fraction of a tick with a float gives a float."""

    def apply(a: Any, b: Any) -> Any:
        if isinstance(a, float) or isinstance(b, float):
            return f(float(a), float(b))
        return f(a, b)

    return apply


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": _arithmetic(lambda a, b: a + b),
    "-": _arithmetic(lambda a, b: a - b),
    "*": _arithmetic(lambda a, b: a * b),
    "/": divide,
    "%": remainder,
    # Python compares int, float and Fraction by exact value, and text by code point
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
