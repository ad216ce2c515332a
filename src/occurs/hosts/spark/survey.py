"""What one scan tells of the rows of a history: how many there are and how many are bad, when they begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: up to so many types are told apart by a test each, which is cheaper than a grouping by text
FEW = 6


@dataclass(frozen=True)
class Seen:
    """Of one type with rows: are some good?  How many of these have a label, have none, have an end, end where they
    begin?"""

    good: bool
    labels: int
    unlabelled: int
    ends: int
    empty: int = 0


@dataclass(frozen=True)
class Survey:
    """``first`` and ``last``: least and greatest tick of good rows, None without; ``types``: those with rows."""

    rows: int
    bad: int
    good: int
    first: int | None
    last: int | None
    types: dict[str, Seen]


def survey(wide: DataFrame, types: Sequence[str], *, labels: bool, ends: bool) -> Survey:
    """Scan the wide rows (``__type __time __label __end __state``), of ``types`` and of others that only move the
    clock.  ``labels``, ``ends``: may rows have such?"""
    from pyspark.sql import functions as F

    type = F.col("__type")
    good = F.col("__state") == 0
    last: Column = F.col("__time")
    if ends:
        last = F.greatest(last, F.col("__end"))
    figures = [
        F.count(F.lit(1)),
        F.coalesce(F.sum((F.col("__state") == 2).cast("long")), F.lit(0)),
        F.coalesce(F.sum(good.cast("long")), F.lit(0)),
        F.min(F.when(good, F.col("__time"))),
        F.max(F.when(good, last)),
    ]
    if not labels and not ends and len(types) <= FEW:
        row = wide.agg(*figures, *(F.max(type == t) for t in types)).collect()[0]
        if row[0] == row[2]:  # every row is good; else a second look tells of which types they are
            there = [t for t, some in zip(types, row[len(figures) :]) if some]
            return Survey(row[0], 0, row[2], row[3], row[4], dict.fromkeys(there, Seen(True, 0, 0, 0)))
    read = F.when(type.isin(list(types)), type) if types else F.lit(None)
    more = [F.count(F.when(good, F.col("__label"))), F.count(F.when(good, F.col("__end")))]
    more.append(F.count(F.when(good & (F.col("__end") == F.col("__time")), 1)))
    rows = wide.groupBy(read.alias("type")).agg(*figures, *more).collect()
    return Survey(
        sum(r[1] for r in rows),
        sum(r[2] for r in rows),
        sum(r[3] for r in rows),
        min((r[4] for r in rows if r[4] is not None), default=None),
        max((r[5] for r in rows if r[5] is not None), default=None),
        {r[0]: Seen(r[3] > 0, r[6], r[3] - r[6], r[7], r[8]) for r in rows if r[0] is not None},
    )
