"""Operators on the values of items in the reference semantics of pipes (pipes.md, 2.3, 4.1).

The values are those of :mod:`occurs.operators.process.values`: they are what comes in and out, as definitions are.
What is computed of them shares nothing with the engine on purpose.

Arithmetic and comparisons with null are null; AND, OR, NOT, IMPLIES are Kleene's, over Trooleans as over booleans.  An
int64 overflow is a :class:`Lost` value: it travels upwards until the rest of the function decides without it, or the
result needs it.  A value of the wrong type is a :class:`Fault`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from typing import Any

from occurs.expr.reference_functions import power as real_power
from occurs.operators.process.values import Map, Set, Troolean, distinct, elements, key


def set_of(values: Iterable[Any]) -> Set:
    """The distinct ones, in the order in which they came."""
    return Set(distinct(values))


def map_of(items: Iterable[tuple[Any, Any]]) -> Map:
    """A later value of a key replaces the earlier one, at its place."""
    found: dict[Hashable, tuple[Any, Any]] = {}
    for k, v in items:
        found[key(k)] = (found.get(key(k), (k,))[0], v)
    return Map(tuple(found.values()))


def number(value: Any) -> bool:
    """An int or a float, and no boolean."""
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


def truth(value: Any) -> bool:
    """A boolean or a Troolean."""
    return isinstance(value, (bool, Troolean))


# --- operators --------------------------------------------------------------------------------------------------------


LEAST, GREATEST = -(2**63), 2**63 - 1


class Fault(Exception):
    """``value`` is none that an operator or function can take; ``kind`` of the problem, ``item`` its number."""

    def __init__(self, kind: str, message: str, value: Any) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.value = value
        self.item: int | None = None


class Lost:
    """A value that an overflow keeps from being known."""


LOST = Lost()


def clean(value: Any) -> Any:
    """An int beyond int64 is lost."""
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return LOST
    return value


def strict(f: Callable[..., Any], *values: Any) -> Any:
    """Null if an operand is null, lost if one is lost, else ``f`` of them."""
    if any(v is None for v in values):
        return None
    return LOST if LOST in values else clean(f(*values))


# --- truth ----------------------------------------------------------------------------------------------------------


def kleene(values: Iterable[Any], decisive: bool) -> Any:
    """AND (``decisive`` false) or OR: decided by one; else lost, null or ``?`` if one is; all of it empty: neutral.

    The result is a Troolean as soon as one operand is.
    """
    found = [as_truth(v) for v in values]
    seen = {v for v in found if not isinstance(v, Lost)}
    trooleans = any(isinstance(v, Troolean) for v in found)

    def give(b: bool) -> Any:
        return b if not trooleans else Troolean.TRUE if b else Troolean.FALSE

    decided = Troolean.TRUE if decisive else Troolean.FALSE
    if any(v is decisive or v is decided for v in seen):
        return give(decisive)
    if LOST in found:
        return LOST
    if None in seen:
        return None
    return Troolean.UNKNOWN if Troolean.UNKNOWN in seen else give(not decisive)


def as_truth(value: Any) -> Any:
    """A boolean, a Troolean, null or lost; Fault otherwise."""
    if value is None or truth(value) or isinstance(value, Lost):
        return value
    raise Fault("bad-value", "is neither true nor false", value)


def is_true(guard: Any) -> bool:
    """Whether a guard is true: null selects nothing."""
    if guard is not None and not isinstance(guard, bool):
        raise Fault("bad-value", "is not a boolean", guard)
    return guard is True


def opposite(value: Any) -> Any:
    """NOT."""
    value = as_truth(value)
    if isinstance(value, Troolean):
        swapped = {Troolean.TRUE: Troolean.FALSE, Troolean.FALSE: Troolean.TRUE}
        return swapped.get(value, value)
    return not value if isinstance(value, bool) else value


# --- comparisons ----------------------------------------------------------------------------------------------------


def equal(a: Any, b: Any) -> bool:
    """By value; NaN equals nothing."""
    if number(a) and number(b):
        return bool(a == b)
    return key(a) == key(b)


def _before(a: Any, b: Any) -> bool:
    """``a < b``: of two numbers, or two texts (by code point)."""
    for value, other in ((a, b), (b, a)):
        if not number(value) and not isinstance(value, str):
            raise Fault("bad-value", "cannot be ordered", value)
        if isinstance(value, str) != isinstance(other, str):
            raise Fault("bad-value", "cannot be compared with a value of another type", value)
    return bool(a < b)


def _nan(*values: Any) -> bool:
    return any(isinstance(v, float) and math.isnan(v) for v in values)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": _before,
    ">": lambda a, b: _before(b, a),
    "<=": lambda a, b: not _before(b, a) and not _nan(a, b),
    ">=": lambda a, b: not _before(a, b) and not _nan(a, b),
}


# --- numbers --------------------------------------------------------------------------------------------------------


def of_numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` of arguments that are numbers."""

    def apply(*values: Any) -> Any:
        for v in values:
            if not number(v):
                raise Fault("bad-value", "is not a number", v)
        return f(*values)

    return apply


def _divide(a: Any, b: Any) -> float:
    """True division of floats: by zero infinite, of zero by zero NaN."""
    a, b = float(a), float(b)
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a) * math.copysign(1, b)


def _modulo(a: Any, b: Any) -> Any:
    """The remainder of the quotient rounded down; null by zero."""
    if b == 0:
        return None
    return math.nan if isinstance(a, float) and math.isinf(a) else a % b


def _whole_quotient(a: Any, b: Any) -> Any:
    """The quotient rounded down; null by zero."""
    if b == 0:
        return None
    return a // b


def power(a: Any, b: Any) -> Any:
    """An int for ints with an exponent that is not negative, else a float; null outside the real numbers."""
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        return LOST if abs(a) > 1 and b > 63 else a**b
    return None if a == 0 and b < 0 else real_power(a, b)


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": of_numbers(lambda a, b: a + b),
    "-": of_numbers(lambda a, b: a - b),
    "*": of_numbers(lambda a, b: a * b),
    "/": of_numbers(_divide),
    "mod": of_numbers(_modulo),
    "div": of_numbers(_whole_quotient),
    "neg": of_numbers(lambda a: -a),
    "power": of_numbers(power),
}


def elements_of(value: Any) -> tuple[Any, ...]:
    """The elements of a list, a set or a bag; Fault otherwise."""
    found = elements(value)
    if found is None:
        raise Fault("bad-value", "is not a list, set or bag", value)
    return found


def contains(collection: Any, wanted: Any) -> bool:
    """Whether an element of a list, a set or a bag, or a key of a map is equal; whether a text has a part."""
    if isinstance(collection, str) and isinstance(wanted, str):
        return wanted in collection
    found = elements(collection)
    if found is None and hasattr(collection, "items"):
        found = tuple(k for k, _ in collection.items)
    if found is None:
        raise Fault("bad-value", "is not a collection", collection)
    return any(v is not None and equal(v, wanted) for v in found)
