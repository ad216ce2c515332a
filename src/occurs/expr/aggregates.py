"""The one catalogue of aggregates (common.md, section 6): values computed from the rows of a window.

Each is declared once, with a computation on whole columns for the engine and a plain one for the reference semantics,
which share no code.  Both get the values that are not null, in the total order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from occurs.expr.signature import ANY, NUMBER, ORDERED, Kind
from occurs.model.types import Type

TESLA = ("tesla",)
LANGUAGES = (*TESLA, "phenesthe", "logic")


class Ranges(Protocol):
    """Ranges of rows of one column: an aggregate makes a column of one value per range of them."""

    #: how many values that are not null each range has
    count: np.ndarray
    #: what is written behind the column, as in ``PERCENTILE(X().V, 90)``
    number: float | None

    def column(self, found: np.ndarray, type: Type = Type.FLOAT, known: np.ndarray | None = None) -> Any:
        """A column of ``found``, null where a range has no values, or where not ``known``."""

    def end(self, which: str) -> Any:
        """The column of the ``first``, ``last``, ``min`` or ``max`` of each range."""

    def sums(self) -> Any:
        """The column of the exact sums; raises the error of a range whose sum leaves int64."""

    def means(self) -> np.ndarray:
        """The exact sums divided by the counts."""

    def deviations(self) -> Any:
        """The column of the sample standard deviations; null where there is none."""

    def percentiles(self, percent: float) -> Any:
        """The column of the values at so many percent, in proportion between the two nearest."""

    def medians(self) -> np.ndarray:
        """The middle values, or the means of the middle two."""

    def distinct(self) -> np.ndarray:
        """How many different values each range has."""

    def lists(self, distinct: bool) -> Any:
        """The column of the values of each range in their order, or of the different ones, ascending."""

    def folded(self, run: np.ufunc) -> np.ndarray:
        """``run`` over the values of each range as floats, from first to last, at a cost that grows with the range."""


@dataclass(frozen=True)
class Aggregate:
    """One aggregate.

    ``takes``: the types of the values.  ``result``: its type, None: that of the values.  ``none``: its value if there
    are no values.  ``run``: on whole columns.  ``reference``: of the values as plain Python values.  ``example``:
    values of ``V``, and the result.  ``text``: how it is written in TESLA over ``V``, empty if it is a form of another.
    ``languages``: those that offer it.  ``positional``: whether it depends on the order of simultaneous events.
    ``running``: what it is with one more value, from what it is without it.
    """

    name: str
    doc: str
    takes: Kind
    result: Type | None
    none: int | None
    run: Callable[[Ranges], Any]
    reference: Callable[..., Any]
    text: str
    values: tuple[Any, ...]
    value: Any
    languages: tuple[str, ...]
    positional: bool
    running: Callable[[Any, Any], Any] | None

    @property
    def listing(self) -> bool:
        """Whether it gives lists, which are reported and never read."""
        return self.result is Type.RECORD

    def needs(self, type: Type | None) -> str | None:
        """What it takes, in words, if values of ``type`` are not that."""
        if type is None or type is Type.NULL or type in self.takes:
            return None
        return "numbers" if self.takes is NUMBER else "values with an order"

    def typed(self, type: Type | None) -> Type | None:
        """The type of its result for values of ``type``, None if that is not known."""
        if self.result is not None:
            return self.result
        return type if type not in (None, Type.NULL) else Type.INT if self.none is not None else None


#: name -> aggregate
AGGREGATES: dict[str, Aggregate] = {}


def declare(
    name: str,
    takes: Kind,
    result: Type | None,
    run: Callable[[Ranges], Any],
    reference: Callable[..., Any],
    doc: str,
    *,
    example: tuple[tuple[Any, ...], Any],
    none: int | None = None,
    text: str = "{}(X().V)",
    languages: tuple[str, ...] = LANGUAGES,
    positional: bool = False,
    running: Callable[[Any, Any], Any] | None = None,
) -> None:
    """Put an aggregate into the catalogue; see :class:`Aggregate`."""
    written = text.format(name.upper())
    AGGREGATES[name] = Aggregate(
        name, doc, takes, result, none, run, reference, written, *example, languages, positional, running
    )


def written() -> dict[str, Aggregate]:
    """The aggregates that are words of their own, by name."""
    return {name: a for name, a in AGGREGATES.items() if a.text}


def words(language: str) -> list[str]:
    """The words by which a language names its aggregates."""
    return [name for name, a in written().items() if language in a.languages]


# --- plain computations, for the reference semantics ------------------------------------------------------------------


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


def plain_aggregate(name: str, values: Sequence[Any], number: float | None = None) -> Any:
    """An aggregate in the reference semantics, of values that are not null, in the total order."""
    known = AGGREGATES[name].reference
    return known(values) if number is None else known(values, number)


def percentile(values: Sequence[Any], percent: float) -> float | None:
    """The value that stands at so many percent of the way from the least to the greatest, in proportion between the two
    nearest; null for none."""
    if not values:
        return None
    ranked = sorted(values)
    at = percent * (len(ranked) - 1) / 100
    low, high = float(ranked[math.floor(at)]), float(ranked[math.ceil(at)])
    return low if low == high else low + (high - low) * (at - math.floor(at))


# --- the declarations -------------------------------------------------------------------------------------------------

# fmt: off
declare("count", ANY, Type.INT, lambda x: x.column(x.count, Type.INT), len,
        "The number of distinct values; `COUNT(X().V)` counts all values, and `COUNT(X())` counts rows.",
        none=0, text="COUNT(DISTINCT X().V)", example=((2, 2, 5, None), 2))
declare("count distinct", ANY, Type.INT, lambda x: x.column(x.distinct(), Type.INT), lambda v: len(set(v)),
        "The number of distinct values.", none=0, text="", example=((2, 2, 5, None), 2), languages=TESLA)
declare("sum", NUMBER, None, lambda x: x.sums(), total, "The sum of the values; 0 if there are none.",
        none=0, example=((2, 5, None), 7))
declare("avg", NUMBER, Type.FLOAT, lambda x: x.column(x.means()), mean, "The mean of the values.",
        example=((2, 5, None), 3.5))
declare("min", ORDERED, None, lambda x: x.end("min"), lambda v: min(v, default=None), "The smallest value.",
        example=((5, 2, None), 2), running=min)
declare("max", ORDERED, None, lambda x: x.end("max"), lambda v: max(v, default=None), "The largest value.",
        example=((2, 5, None), 5), running=max)
declare("stddev", NUMBER, Type.FLOAT, lambda x: x.deviations(), deviation,
        "The sample standard deviation; null below two values.", example=((1, 2, 3), 1.0), languages=TESLA)
declare("median", NUMBER, Type.FLOAT, lambda x: x.column(x.medians()), median,
        "The middle value, or the mean of the two middle values.", example=((2, 5, 9, 30), 7.0), languages=TESLA)
declare("percentile", NUMBER, Type.FLOAT, lambda x: x.percentiles(x.number or 0.0), percentile,
        "The value at this percentile, interpolated linearly between the two nearest values.",
        text="PERCENTILE(X().V, 90)", example=((10, 20, 40, 50), 47.0), languages=TESLA)
declare("first", ANY, None, lambda x: x.end("first"), lambda v: v[0] if v else None,
        "The earliest value that is not null.", example=((None, 5, 2), 5), languages=TESLA, positional=True)
declare("last", ANY, None, lambda x: x.end("last"), lambda v: v[-1] if v else None,
        "The latest value that is not null.", example=((5, 2, None), 2), languages=TESLA, positional=True)
declare("list", ANY, Type.RECORD, lambda x: x.lists(False), list,
        "The values in order, as a list; only as the value of an attribute.",
        example=((5, 2, None, 5), [5, 2, 5]), languages=TESLA, positional=True)
declare("set", ANY, Type.RECORD, lambda x: x.lists(True), lambda v: sorted(set(v)),
        "The distinct values, ascending, as a list; only as the value of an attribute.",
        example=((5, 2, None, 5), [2, 5]), languages=TESLA)
