"""Expressions in the reference semantics of TESLA: plain Python values, one at a time (common.md section 6).

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
from typing import Any, Protocol

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.languages.reference_functions import ALIKE, FIRST, FLOATS, FUNCTIONS, TIMES, like, string
from occurs.languages.tesla import syntax
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

    @property
    def kind(self) -> TimeKind:
        """What times count."""

    def attribute(self, scope: str | None, name: str) -> Any:
        """The value of an attribute of a role, or (None) of the event at hand."""

    def parameter(self, name: str) -> Any:
        """The value that ``$name`` stands for."""

    def aggregate(self, node: syntax.Aggregate) -> Any:
        """The value of an aggregate."""

    def type_of(self, scope: str | None, name: str) -> Type | None:
        """The type of an attribute of a role, or (None) of the event at hand."""

    def type_of_parameter(self, name: str) -> Type | None:
        """The type of what ``$name`` stands for."""

    def type_of_aggregated(self, node: syntax.Aggregate) -> Type | None:
        """The type of the attribute that is aggregated."""


def clean(value: Any) -> Any:
    """NaN is null; ints beyond int64 are overflow; whole fractions are ints."""
    if isinstance(value, Fraction):
        if value.denominator != 1:
            return value
        value = int(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return OVERFLOW
    return value


def ticks(duration: Duration, kind: TimeKind) -> Fraction:
    """The exact number of ticks of a duration; DefinitionProblem (``missing-unit``) if the time has no unit."""
    exact = kind.convert(duration)
    if exact is None:
        raise DefinitionProblem.of("missing-unit", "the duration and the time column have no common unit")
    return exact


def evaluate(node: tree.Expr, scope: Scope) -> Any:
    """The value of an expression; None is null, Undecided an overflow that matters."""
    match node:
        case tree.Literal():
            return clean(node.value)
        case tree.DurationLiteral():
            return clean(ticks(node.value, scope.kind))
        case tree.Ref():
            return clean(scope.attribute(node.scope, node.name))
        case tree.Param():
            return clean(scope.parameter(node.name))
        case tree.Annotated():
            return evaluate(node.arg, scope)
        case syntax.Aggregate():
            return clean(scope.aggregate(node))
        case tree.IsNull():
            value = evaluate(node.arg, scope)
            if isinstance(value, Undecided):
                return OVERFLOW
            return (value is None) != node.negated
        case tree.Unary("not"):
            return _unless(True, evaluate(node.arg, scope))
        case tree.Unary("neg"):
            return strict(lambda a: -a, evaluate(node.arg, scope))
        case tree.Binary("and"):
            return both(evaluate(node.left, scope), evaluate(node.right, scope))
        case tree.Binary("or"):
            return kleene(_or, evaluate(node.left, scope), evaluate(node.right, scope))
        case tree.Binary():
            return strict(OPERATORS[node.op], evaluate(node.left, scope), evaluate(node.right, scope))
        case tree.In():
            arg = evaluate(node.arg, scope)
            found: Any = False
            for item in node.items:
                found = kleene(_or, found, strict(OPERATORS["="], arg, evaluate(item, scope)))
            return _unless(node.negated, found)
        case tree.Like():
            return _unless(node.negated, strict(like, evaluate(node.arg, scope), evaluate(node.pattern, scope)))
        case tree.Call() if node.name in ALIKE:
            return _as_float_beside_floats(alternative(node, scope), node, scope)
        case tree.Call("string"):
            return strict(lambda a: string(a, static_type(node.args[0], scope)), evaluate(node.args[0], scope))
        case tree.Call():
            return strict(FUNCTIONS[node.name], *(evaluate(a, scope) for a in node.args))
    raise TypeError(f"not a TESLA expression: {type(node).__name__}")


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


def _unless(negated: bool, outcome: Any) -> Any:
    """Kleene's NOT if ``negated``."""
    return kleene(lambda a: None if a is None else not a, outcome) if negated else outcome


def conjunction(values: Iterable[Any]) -> Any:
    """AND over any number of outcomes; True for none."""
    out: Any = True
    for v in values:
        out = both(out, v)
    return out


def coalesce(values: Iterable[Any]) -> Any:
    """The first value that is not null; an overflow before it hides which one that is."""
    for v in values:
        if v is not None:
            return v
    return None


# --- alternatives -------------------------------------------------------------------------------------------------


def alternative(node: tree.Call, scope: Scope) -> Any:
    """What ``coalesce``, ``nullif``, ``if``, ``least`` or ``greatest`` chooses."""
    if node.name == "if":
        return branch(node.args, scope)
    values = [evaluate(a, scope) for a in node.args]
    if node.name == "coalesce":
        return coalesce(values)
    if node.name == "nullif":
        same = strict(OPERATORS["="], *values)
        return OVERFLOW if isinstance(same, Undecided) else None if same else values[0]
    # as floats before they are compared: two ints may be one float
    return strict(FUNCTIONS[node.name], *(_as_float_beside_floats(v, node, scope) for v in values))


def branch(args: Sequence[tree.Expr], scope: Scope) -> Any:
    """``if(condition, value, condition, value, ..., otherwise)``: the value of the first condition that is true."""
    if len(args) == 1:
        return evaluate(args[0], scope)
    test = kleene(lambda a: a is True, evaluate(args[0], scope))
    if isinstance(test, Undecided):
        return OVERFLOW
    return evaluate(args[1], scope) if test else branch(args[2:], scope)


def _as_float_beside_floats(value: Any, node: tree.Call, scope: Scope) -> Any:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and static_type(node, scope) is Type.FLOAT else value


# --- arithmetic, comparison ----------------------------------------------------------------------------


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


# --- types ------------------------------------------------------------------------------------------------------------


def static_type(node: tree.Expr, at: Scope) -> Type | None:
    """FLOAT and TIMESTAMP where the type is one; anything else is of no consequence here."""
    match node:
        case tree.Literal():
            return node.type
        case tree.Ref():
            return at.type_of(node.scope, node.name)
        case tree.Param():
            return at.type_of_parameter(node.name)
        case tree.Annotated():
            return node.type
        case syntax.Aggregate(function="avg" | "stddev" | "median" | "percentile"):
            return Type.FLOAT
        case syntax.Aggregate(function="count" | "count distinct"):
            return Type.INT
        case syntax.Aggregate():
            return at.type_of_aggregated(node)
        case tree.Unary("neg"):
            return static_type(node.arg, at)
        case tree.Binary(op="/"):
            return Type.FLOAT
        case tree.Binary(op="+" | "-" | "*" | "%"):
            return widest([static_type(node.left, at), static_type(node.right, at)])
        case tree.Call() if node.name in FLOATS:
            return Type.FLOAT
        case tree.Call() if node.name in TIMES:
            return Type.TIMESTAMP
        case tree.Call() if node.name in FIRST:
            return static_type(node.args[0], at)
        case tree.Call() if node.name in ALIKE:
            return widest([static_type(a, at) for a in alternatives(node)])
    return None


def alternatives(node: tree.Call) -> Sequence[tree.Expr]:
    """The arguments of which the result may be one."""
    if node.name == "if":
        return [a for i, a in enumerate(node.args) if i % 2 == 1 or i == len(node.args) - 1]
    return node.args


def widest(types: Sequence[Type | None]) -> Type | None:
    """FLOAT if one is, else the first that is known."""
    known = [t for t in types if t not in (None, Type.NULL)]
    return Type.FLOAT if Type.FLOAT in known else next(iter(known), None)
