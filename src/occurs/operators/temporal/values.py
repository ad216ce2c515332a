"""Values of terms in the engine of temporal triggers, one state at a time: arithmetic, comparisons, functions.

Plain Python values; None is null.  What cannot be known because an int64 has overflowed, or because a view gave several
rows where one value is needed, is a :class:`Lost`; so is a truth value.  It is raised only if the answer depends on it
(common.md, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import add, le, lt, mul, sub
from typing import Any, TypeAlias

from occurs.errors import InputProblem, Problem
from occurs.expr.functions import CATALOGUE
from occurs.expr.signature import single

LEAST, GREATEST = -(2**63), 2**63 - 1


class Lost:
    """A value, or a truth, that ``problem`` keeps from being known.  It equals only itself."""

    __slots__ = ("problem",)

    def __init__(self, problem: Problem) -> None:
        self.problem = problem


OVERFLOW = Lost(Problem("overflow", "an integer does not fit in 64 bits"))


def told(lost: Lost, trigger: str, time: int) -> InputProblem:
    """What a trigger needed at a time and could not know."""
    at = f" at {time}" if lost is OVERFLOW else ""
    return InputProblem(replace(lost.problem, definition=trigger, message=f"`{trigger}`: {lost.problem.message}{at}"))


#: whether something holds
Truth: TypeAlias = "bool | Lost"


@dataclass(frozen=True)
class Relation:
    """Rows with named columns; the same row may be there more than once."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __hash__(self) -> int:
        return hash((self.columns, len(self.rows), self.rows[:4]))


def whole(value: Any) -> Any:
    """NaN is null, a fraction that is whole an int, an int beyond int64 is lost."""
    if type(value) is Fraction and value.denominator == 1:
        value = value.numerator
    if type(value) is int:
        return value if LEAST <= value <= GREATEST else OVERFLOW
    return None if value != value else value


def _strict(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operation whose result is null if an operand is, else lost if one is."""

    def value(a: Any, b: Any) -> Any:
        if a is None or b is None:
            return None
        if type(a) is Lost or type(b) is Lost:
            return a if type(a) is Lost else b
        return whole(f(a, b))

    return value


#: division is that of reals, the remainder that of the quotient rounded down; both are null by zero
ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": _strict(add),
    "-": _strict(sub),
    "*": _strict(mul),
    "/": _strict(lambda a, b: None if b == 0 else float(a / b)),
    "mod": _strict(lambda a, b: None if b == 0 else a % b),
}


def equal(a: Any, b: Any) -> Truth:
    """By exact value, a boolean only with a boolean, relations as sets; false for null."""
    if a is None or b is None:
        return False
    if type(a) is Lost or type(b) is Lost:
        return a if type(a) is Lost else b
    if type(a) is Relation and type(b) is Relation:
        return set(a.rows) == set(b.rows)
    return (type(a) is bool) == (type(b) is bool) and bool(a == b)


def unequal(a: Any, b: Any) -> Truth:
    """Not equal; false for null."""
    if a is None or b is None:
        return False
    found = equal(a, b)
    return found if type(found) is Lost else not found


def _ordered(f: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Truth]:
    """A comparison of ints and floats by exact value, of text by code point; false for null."""

    def test(a: Any, b: Any) -> Truth:
        if a is None or b is None:
            return False
        if type(a) is Lost or type(b) is Lost:
            return a if type(a) is Lost else b
        return bool(f(a, b))

    return test


_less, _at_most = _ordered(lt), _ordered(le)
COMPARISONS: dict[str, Callable[[Any, Any], Truth]] = {
    "=": equal,
    "!=": unequal,
    "<": _less,
    "<=": _at_most,
    ">": lambda a, b: _less(b, a),
    ">=": lambda a, b: _at_most(b, a),
}


# --- functions --------------------------------------------------------------------------------------------------------


def _stepped(f: Callable[[float], int]) -> Callable[[Any], Any]:
    """Ints stay ints, floats floats."""
    return lambda a: a if type(a) is not float or math.isinf(a) else float(f(a))


def rounded(a: Any, digits: int = 0) -> Any:
    """To so many places after the point (negative: before it), halves away from zero."""
    if type(a) is not float:
        if digits >= 0:
            return a
        unit = 10**-digits
        return (abs(a) + unit // 2) // unit * unit * (1 if a >= 0 else -1)
    scaled = a * 10.0**digits if digits >= 0 else a / 10.0**-digits
    if math.isinf(scaled) or math.isinf(a):
        return a
    near = math.floor(Fraction(abs(scaled)) + Fraction(1, 2))
    return float((-near if a < 0 else near) / Fraction(10) ** digits)


_HOUR, _MINUTE = 3_600_000_000, 60_000_000
#: those that are worth a form of their own, for one argument (``round``: one or two)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "floor": _stepped(math.floor),
    "ceil": _stepped(math.ceil),
    "round": rounded,
    "sqrt": lambda a: None if a < 0 else math.sqrt(a),
    "length": len,
    "lower": str.lower,
    "upper": str.upper,
    # of a time in microseconds, UTC
    "hour": lambda a: a // _HOUR % 24,
    "minute": lambda a: a // _MINUTE % 60,
    "time_of_day": lambda a: a % (24 * _HOUR),
}


def function(name: str) -> Callable[..., Any]:
    """A function of values that are neither null nor lost, by its name."""
    own, known = FUNCTIONS.get(name), CATALOGUE.get(name)
    if known is None or known.run is None:
        assert own is not None
        return own

    of_columns = single(known)
    if own is None:
        return of_columns
    return own if name == "round" else lambda *values: own(*values) if len(values) == 1 else of_columns(*values)


def call(f: Callable[..., Any], values: list[Any]) -> Any:
    """A function of its arguments: null if one of them is, lost if one is."""
    lost = None
    for v in values:
        if v is None:
            return None
        if type(v) is Lost:
            lost = lost or v
    return lost or whole(f(*values))


def first_lost(values: Mapping[str, Any]) -> Lost | None:
    """The first value that is not known."""
    return next((v for v in values.values() if type(v) is Lost), None)


def first_known(values: list[Any]) -> Any:
    """``coalesce``."""
    return next((v for v in values if v is not None), None)
