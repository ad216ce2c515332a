"""Values, arithmetic and functions in the reference semantics of temporal triggers (temporal-logic.md 4.2).

Arithmetic is that of common.md, section 6.  Plain Python values, one at a time: None is null, times and durations are
ints (ticks; a duration that is no whole number of them a Fraction), a relation is a :class:`Relation`.  What cannot be
known because an int64 has overflowed, or because a view gave several rows where one value is needed, is a
:class:`Lost`: it travels upwards until the rest of the formula decides the result without it, or until the result needs
it and its problem is raised.  So is a truth value: True, False or Lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from occurs.errors import Problem
from occurs.expr.aggregates import plain_aggregate
from occurs.expr.functions import CATALOGUE
from occurs.expr.reference import OPERATORS, Undecided, clean, strict
from occurs.expr.reference_functions import nearest_float

#: a value, or whether something holds, that a problem keeps from being known
Lost = Undecided


def problem_of(lost: Undecided) -> Problem:
    """The problem to raise if nothing decides the result without it."""
    return lost.problem or Problem("overflow", "an integer of a trigger does not fit in 64 bits")


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


# --- operators, functions, aggregates ---------------------------------------------------------------------------------


def compare(op: str, a: Any, b: Any) -> Any:
    """A comparison; relations as sets."""
    if isinstance(a, Relation) and isinstance(b, Relation):
        return a.same(b) == (op == "=")
    return strict(OPERATORS[op], a, b)


def call(name: str, values: list[Any]) -> Any:
    """A function of its arguments; ``coalesce`` is the first that is not null."""
    if name == "coalesce":
        return next((v for v in values if v is not None), None)
    known = (lambda a: a % 86_400_000_000) if name == "time_of_day" else CATALOGUE[name].reference
    assert known is not None
    return strict(known, *values)


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
