"""The functions of TESLA (tesla.md, section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from occurs.expr.functions import CATALOGUE


@dataclass(frozen=True)
class Aggregate:
    """An aggregate: how it is written over ``V``, what it gives, and its value for the ``values`` of an example."""

    text: str
    doc: str
    values: tuple[Any, ...]
    result: Any


AGGREGATES = {
    "count": Aggregate("COUNT(DISTINCT X().V)", "The number of distinct values; `COUNT(X().V)` counts all values, and "
                       "`COUNT(X())` counts rows.", (2, 2, 5, None), 2),
    "sum": Aggregate("SUM(X().V)", "The sum of the values; 0 if there are none.", (2, 5, None), 7),
    "avg": Aggregate("AVG(X().V)", "The mean of the values.", (2, 5, None), 3.5),
    "min": Aggregate("MIN(X().V)", "The smallest value.", (5, 2, None), 2),
    "max": Aggregate("MAX(X().V)", "The largest value.", (2, 5, None), 5),
    "stddev": Aggregate("STDDEV(X().V)", "The sample standard deviation; null below two values.", (1, 2, 3), 1.0),
    "median": Aggregate("MEDIAN(X().V)", "The middle value, or the mean of the two middle values.", (2, 5, 9, 30), 7.0),
    "percentile": Aggregate("PERCENTILE(X().V, 90)", "The value at this percentile, interpolated linearly between the "
                            "two nearest values.", (10, 20, 40, 50), 47.0),
    "first": Aggregate("FIRST(X().V)", "The earliest value that is not null.", (None, 5, 2), 5),
    "last": Aggregate("LAST(X().V)", "The latest value that is not null.", (5, 2, None), 2),
    "list": Aggregate("LIST(X().V)", "The values in order, as a list; only as the value of an attribute.",
                      (5, 2, None, 5), [5, 2, 5]),
    "set": Aggregate("SET(X().V)", "The distinct values, ascending, as a list; only as the value of an attribute.",
                     (5, 2, None, 5), [2, 5]),
}  # fmt: skip
#: those that give lists, which are reported and never read
LISTS = ("list", "set")
#: the scalar functions: all of the common catalogue
FUNCTIONS = frozenset(CATALOGUE) - frozenset(AGGREGATES)


def is_function(name: str) -> bool:
    """Whether ``name`` (lower case) is a scalar function of TESLA."""
    return name in FUNCTIONS
