"""Values, arithmetic and functions in the reference semantics of temporal triggers (temporal-logic.md 4.2).

Arithmetic is that of common.md, section 6.  Plain Python values, one at a time: None is null, times and durations are
ints (ticks; a duration that is no whole number of them a Fraction), a relation is a :class:`Relation`.  What cannot be
known because an int64 has overflowed, or because a view gave several rows where one value is needed, is a
:class:`Lost`: it travels upwards until the rest of the formula decides the result without it, or until the result needs
it and its problem is raised.  So is a truth value: True, False or Lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from occurs.errors import DefinitionProblem, InputProblem, Problem
from occurs.expr.aggregates import plain_aggregate
from occurs.languages.kit.reference_functions import FUNCTIONS as OF_CATALOGUE
from occurs.languages.kit.reference_functions import nearest_float
from occurs.model.time import Duration, TimeKind

LEAST, GREATEST = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class Lost:
    """A value, or whether something holds, that ``problem`` keeps from being known."""

    problem: Problem

    def needed(self) -> InputProblem:
        """What to raise if nothing decides the result without it."""
        return InputProblem(self.problem)


OVERFLOW = Lost(Problem("overflow", "an integer of a trigger does not fit in 64 bits"))

#: whether something holds
Outcome: TypeAlias = bool | Lost


@dataclass(frozen=True)
class Relation:
    """Rows with named columns; the same row may be there more than once."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def same(self, other: Relation) -> bool:
        """Are the sets of rows equal?"""
        return set(self.rows) == set(other.rows)


def clean(value: Any) -> Any:
    """NaN is null, whole fractions are ints, an int beyond int64 is lost."""
    if isinstance(value, Fraction) and value.denominator == 1:
        value = int(value)
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return OVERFLOW
    return value


def ticks(duration: Duration, kind: TimeKind) -> Fraction:
    """The exact number of ticks; DefinitionProblem (``missing-unit``) if the time has no unit."""
    exact = kind.convert(duration)
    if exact is None:
        raise DefinitionProblem.of("missing-unit", "a duration and the time of the states have no common unit")
    return Fraction(exact)


def strict(f: Callable[..., Any], *values: Any) -> Any:
    """Null if an operand is null, lost if one is lost, else ``f`` of them."""
    if any(v is None for v in values):
        return None
    lost = [v for v in values if isinstance(v, Lost)]
    return lost[0] if lost else clean(f(*values))


# --- truth ------------------------------------------------------------------------------------------------------------


def holds(value: Any) -> Outcome:
    """An atom with a null operand is not satisfied."""
    return value if isinstance(value, Lost) else bool(value)


def opposite(a: Outcome) -> Outcome:
    """Not."""
    return a if isinstance(a, Lost) else not a


def every(outcomes: Iterable[Outcome]) -> Outcome:
    """And: false if one is, else lost if one is."""
    found: Outcome = True
    for a in outcomes:
        if a is False:
            return False
        found = a if isinstance(a, Lost) else found
    return found


def some(outcomes: Iterable[Outcome]) -> Outcome:
    """Or: true if one is, else lost if one is."""
    return opposite(every(opposite(a) for a in outcomes))


# --- operators --------------------------------------------------------------------------------------------------------


def _divide(a: Any, b: Any) -> Any:
    """Real division; null by zero."""
    return None if b == 0 else float(a) / float(b)


def _modulo(a: Any, b: Any) -> Any:
    """The remainder of the quotient rounded down; null by zero."""
    return None if b == 0 else a % b


def _equal(a: Any, b: Any) -> bool:
    """By exact value; relations as sets; a boolean only with a boolean."""
    if isinstance(a, Relation) and isinstance(b, Relation):
        return a.same(b)
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "mod": _modulo,
    "=": _equal,
    "!=": lambda a, b: not _equal(a, b),
    # Python compares int and float by exact value, and text by code point
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


# --- functions --------------------------------------------------------------------------------------------------------


FUNCTIONS: dict[str, Callable[..., Any]] = {**OF_CATALOGUE, "time_of_day": lambda a: a % 86_400_000_000}


def call(name: str, values: list[Any]) -> Any:
    """A function of its arguments; ``coalesce`` is the first that is not null."""
    if name == "coalesce":
        return next((v for v in values if v is not None), None)
    return strict(FUNCTIONS[name], *values)


def aggregate(op: str, values: list[Any]) -> Any:
    """Over the values of some states: nulls are left out; of none null, ``count`` 0; sums are exact."""
    lost = [v for v in values if isinstance(v, Lost)]
    if lost:
        return lost[0]
    there = [v for v in values if v is not None]
    if op == "count":
        return len(there)
    if not there:
        return None
    if op == "avg" and not any(isinstance(v, float) and math.isinf(v) for v in there):
        # rounded once
        return nearest_float(sum(map(Fraction, there), Fraction(0)) / len(there))
    return clean(plain_aggregate(op, there))
