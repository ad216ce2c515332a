"""The aggregate functions in the reference semantics, over the values that are not null, in the total order."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any


def total(values: Sequence[Any]) -> Any:
    """Exact for ints; of floats the exact sum, rounded once.  0 for none."""
    if not any(isinstance(v, float) for v in values):
        return sum(values)
    numbers = [float(v) for v in values]
    if any(math.isinf(v) for v in numbers):
        return sum(v for v in numbers if math.isinf(v))
    try:
        return math.fsum(numbers)
    except OverflowError:
        return math.inf if sum(Fraction(v) for v in numbers) > 0 else -math.inf


def mean(values: Sequence[Any]) -> float | None:
    """The sum divided by the count; null for none."""
    return float(total(values)) / len(values) if values else None


def deviation(values: Sequence[Any]) -> float | None:
    """The sample standard deviation, from exact moments; null below two values and with an infinite one."""
    n = len(values)
    if n < 2 or any(isinstance(v, float) and math.isinf(v) for v in values):
        return None
    exact = [Fraction(v) for v in values]
    centre = sum(exact) / n
    try:
        return math.sqrt(sum((v - centre) ** 2 for v in exact) / (n - 1))
    except OverflowError:  # the variance is beyond float64
        return math.inf


def median(values: Sequence[Any]) -> float | None:
    """The middle value, or the mean of the middle two; null for none."""
    ranked = sorted(values)
    middle = ranked[(len(ranked) - 1) // 2 : len(ranked) // 2 + 1]
    return mean(middle)


def percentile(values: Sequence[Any], percent: float) -> float | None:
    """The value that stands at so many percent of the way from the least to the greatest, in proportion between the two
    nearest; null for none."""
    if not values:
        return None
    ranked = sorted(values)
    at = percent * (len(ranked) - 1) / 100
    low, high = float(ranked[math.floor(at)]), float(ranked[math.ceil(at)])
    return low if low == high else low + (high - low) * (at - math.floor(at))


AGGREGATES: dict[str, Callable[[Sequence[Any]], Any]] = {
    "count": len,
    "count distinct": lambda values: len(set(values)),
    "sum": total,
    "avg": mean,
    "stddev": deviation,
    "median": median,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "list": list,
    "set": lambda values: sorted(set(values)),
}
