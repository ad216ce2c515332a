"""Expressions in the reference semantics of all languages: plain Python, one value at a time (common.md, section 6).

A value is None, bool, int, float, str or Fraction (a duration that is not a whole number of ticks).  Times and
durations are ints (ticks).  The overflow of an int64 is the value :class:`Undecided`: it travels upwards until the
rest of the expression decides the result without it, or until somebody needs the result and raises.

Shares nothing with the engine on purpose: it is the other side of every comparison.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

from occurs.errors import DefinitionProblem, Problem
from occurs.expr import tree
from occurs.expr.dialect import TESLA, Dialect
from occurs.expr.functions import CATALOGUE
from occurs.expr.reference_functions import like
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

LEAST, GREATEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Undecided:
    """A value lost by an int64 overflow, or for another ``problem``; of a condition: the outcomes that are possible."""

    outcomes: frozenset[bool | None] = frozenset((True, False))
    problem: Problem | None = None

    @property
    def lost(self) -> Undecided:
        """A value that is lost because this is."""
        return Undecided(problem=self.problem)


OVERFLOW = Undecided()


def clean(value: Any, keep_nan: bool = False) -> Any:
    """NaN is null, unless it is kept; numbers beyond int64 are overflow; whole fractions are ints."""
    if isinstance(value, Fraction):
        value = value if value.denominator > 1 else int(value)
    if isinstance(value, float) and math.isnan(value):
        return value if keep_nan else None
    if isinstance(value, int | Fraction) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return OVERFLOW
    return value


# --- expressions of every language ---------------------------------------------------------------------------------


class Evaluator(ABC):
    """Expressions at one place of a program; a language says what its own nodes are there.

    ``names``: of functions that the language calls otherwise.
    """

    dialect: Dialect = TESLA
    names: ClassVar[Mapping[str, str]] = {}

    @property
    @abstractmethod
    def kind(self) -> TimeKind:
        """The kind of time of the run."""

    @abstractmethod
    def leaf(self, node: tree.Expr) -> Any:
        """The value of a reference or another node that only the language knows."""

    def leaf_type(self, node: tree.Expr) -> Type | None:
        """Its type if that is FLOAT or TIMESTAMP; anything else is of no consequence here."""
        return None

    def compared(self, nodes: Sequence[tree.Expr]) -> list[Any]:
        """The values of expressions that are compared with one another."""
        return [self.value(n) for n in nodes]

    def value(self, node: tree.Expr) -> Any:
        """The value of an expression; None is null, Undecided an overflow that matters."""
        match node:
            case tree.Literal():
                return self.clean(node.value)
            case tree.DurationLiteral():
                return clean(ticks(node.value, self.kind))
            case tree.Annotated():
                return self.value(node.arg)
            case tree.IsNull():
                found = self.value(node.arg)
                return found.lost if isinstance(found, Undecided) else (found is None) != node.negated
            case tree.Unary("not"):
                return unless(True, self.condition(node.arg))
            case tree.Unary("neg", tree.Literal(int() as number)):
                return clean(-number)
            case tree.Unary("neg"):
                return self.strict(lambda a: -a, self.value(node.arg))
            case tree.Binary("and"):
                return both(self.condition(node.left), self.condition(node.right))
            case tree.Binary("or"):
                return either(self.condition(node.left), self.condition(node.right))
            case tree.Binary() if node.op in tree.COMPARISONS:
                return self.atom(strict(OPERATORS[node.op], *self.compared((node.left, node.right))))
            case tree.Binary():
                values = self.value(node.left), self.value(node.right)
                return self.strict(lambda a, b: self.computed(node.op, a, b), *values)
            case tree.In():
                found, *items = self.compared((node.arg, *node.items))
                return self.atom(unless(node.negated, one_of(found, items)))
            case tree.Like():
                return self.atom(unless(node.negated, strict(like, self.value(node.arg), self.value(node.pattern))))
            case tree.Call("if"):
                return as_float(self.branch(node.args), self.type(node))
            case tree.Call():
                return self.called(node, [self.value(a) for a in node.args])
        return self.clean(self.leaf(node))

    def clean(self, value: Any) -> Any:
        """As :func:`clean`."""
        return clean(value, self.dialect.nan == "keep")

    def strict(self, f: Callable[..., Any], *values: Any) -> Any:
        """As :func:`strict`."""
        return strict(f, *values, keep_nan=self.dialect.nan == "keep")

    def condition(self, node: tree.Expr) -> Any:
        """An operand of a connective, or a whole condition."""
        connective = isinstance(node, tree.Unary) or (isinstance(node, tree.Binary) and node.op in ("and", "or"))
        return self.value(node) if connective else self.atom(self.value(node))

    def atom(self, outcome: Any) -> Any:
        """A comparison as the dialect has it if it is null."""
        return kleene(lambda a: a is True, outcome) if self.dialect.null_atom == "false" else outcome

    def computed(self, op: str, a: Any, b: Any) -> Any:
        """Arithmetic of two values; by zero, and with an infinite dividend, as the dialect has it."""
        if op == "/" and b == 0 and self.dialect.zero_division == "inf":
            sign = math.copysign(1, a) * math.copysign(1, b)
            return math.nan if a == 0 or a != a else math.copysign(math.inf, sign)
        if op in ("%", "mod") and isinstance(a, float) and math.isinf(a) and b != 0:
            return math.nan
        return OPERATORS[op](a, b)

    def called(self, node: tree.Call, values: list[Any]) -> Any:
        """A function of values."""
        name = self.names.get(node.name, node.name)
        if name == "coalesce":
            # an overflow before the first value that is not null hides which one that is
            return as_float(next((v for v in values if v is not None), None), self.type(node))
        if name == "nullif":
            same = strict(OPERATORS["="], *values)
            return as_float(same.lost if isinstance(same, Undecided) else None if same else values[0], self.type(node))
        known = CATALOGUE[name]
        assert known.reference is not None
        if known.result == "alike":
            # as floats before they are compared: two ints may be one float
            values = [as_float(v, self.type(node)) for v in values]
        if known.typed:
            values = [*values, self.type(node.args[0]) or Type.NULL]
        return self.strict(known.reference, *values)

    def branch(self, parts: Sequence[tree.Expr]) -> Any:
        """``condition, value, condition, value, .. [, otherwise]``: the value of the first condition that is true."""
        if len(parts) < 2:
            return self.value(parts[0]) if parts else None
        test = kleene(lambda a: a is True, self.value(parts[0]))
        if isinstance(test, Undecided):
            return test.lost
        return self.value(parts[1]) if test else self.branch(parts[2:])

    def type(self, node: tree.Expr) -> Type | None:
        """The type of an expression if it is FLOAT or TIMESTAMP."""
        match node:
            case tree.Literal() | tree.Annotated():
                return node.type
            case tree.Unary("neg"):
                return self.type(node.arg)
            case tree.Binary(op="/"):
                return Type.FLOAT
            case tree.Binary(op="+" | "-" | "*" | "%" | "mod" | "div"):
                return widest([self.type(node.left), self.type(node.right)])
            case tree.Call("if"):
                return widest([self.type(a) for a in outcomes(node.args)])
            case tree.Call():
                result = CATALOGUE[self.names.get(node.name, node.name)].result
                if isinstance(result, int):
                    return self.type(node.args[result])
                return result if isinstance(result, Type) else widest([self.type(a) for a in node.args])
            case tree.DurationLiteral() | tree.Binary() | tree.Unary() | tree.IsNull() | tree.In() | tree.Like():
                return None
        return self.leaf_type(node)


def ticks(duration: Duration, kind: TimeKind) -> int | Fraction:
    """The exact number of ticks of a duration; DefinitionProblem (``missing-unit``) if the time has no unit."""
    exact = kind.convert(duration)
    if exact is None:
        raise DefinitionProblem.of("missing-unit", "the duration and the time column have no common unit")
    return int(exact) if exact.denominator == 1 else exact


def as_float(value: Any, of: Type | None) -> Any:
    """An int where the result is a float."""
    return float(value) if of is Type.FLOAT and isinstance(value, int) and not isinstance(value, bool) else value


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
    found = frozenset(f(*choice) for choice in product(*possible))
    problem = next((v.problem for v in values if isinstance(v, Undecided)), None)
    return next(iter(found)) if len(found) == 1 else Undecided(found, problem)


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


def strict(f: Callable[..., Any], *values: Any, keep_nan: bool = False) -> Any:
    """Null if an operand is null, an overflow if one has overflowed, else ``f`` of them."""
    if any(v is None for v in values):
        return None
    for v in values:
        if isinstance(v, Undecided):
            return v.lost
    return clean(f(*values), keep_nan)


def divide(a: Any, b: Any) -> Any:
    """Real division, of ints and fractions to the nearest float of the exact quotient; null by zero."""
    return None if b == 0 else float(a / b)


def remainder(a: Any, b: Any) -> Any:
    """The sign is the dividend's; null by zero, and of an infinite dividend."""
    if b == 0 or (isinstance(a, float) and math.isinf(a)):
        return None
    if isinstance(a, float) or isinstance(b, float):
        return math.fmod(a, b)
    size = abs(a) % abs(b)
    return -size if a < 0 else size


def modulo(a: Any, b: Any) -> Any:
    """The remainder of the quotient rounded down; null by zero, and of an infinite dividend."""
    return None if b == 0 or (isinstance(a, float) and math.isinf(a)) else a % b


def quotient(a: Any, b: Any) -> Any:
    """The quotient rounded down; null by zero."""
    return None if b == 0 else a // b


def equal(a: Any, b: Any) -> bool:
    """By exact value; a boolean only with a boolean."""
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


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
    "mod": modulo,
    "div": quotient,
    # Python compares int, float and Fraction by exact value, and text by code point
    "=": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
