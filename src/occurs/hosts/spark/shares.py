"""Which rows go to which engine: slices of time, shares of the rules, and the same for the rows of frequent keys.

Rows get ``__share``, the number of a :class:`~occurs.hosts.spark.task.Share`; a row that several need is there several
times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from occurs.hosts.spark.inlets import one_of
from occurs.hosts.spark.sample import Sample
from occurs.hosts.spark.task import Share
from occurs.plan.partitioning import Group

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: a slice is a run of cells of equal length: so many of them for each slice, and so many at most
CELLS, MOST_CELLS = 64, 16_384


@dataclass(frozen=True)
class Slices:
    """The clock, cut.  ``ends``: first and last tick of each slice; the cells of ``cell`` ticks from ``origin`` on are
    in the slices ``slice_of``, and what lies before or behind the cells is in the first or last slice."""

    ends: tuple[tuple[int, int], ...]
    origin: int
    cell: int
    slice_of: tuple[int, ...]

    def of(self, time: Column) -> Column:
        """The number of the slice that an instant is in."""
        from pyspark.sql import functions as F

        cell = F.call_function("div", time - F.lit(self.origin), F.lit(self.cell))
        cell = F.greatest(F.lit(0), F.least(F.lit(len(self.slice_of) - 1), cell)).cast("int")
        if self.slice_of == tuple(range(len(self.slice_of))):
            return cell
        # Spark folds this into one constant; an array of literals would be sent to it one by one
        table = F.split(F.lit(",".join(map(str, self.slice_of))), ",").cast("array<int>")
        return F.get(table, cell)

    def needing(self, time: Column, overlap: int, last: int) -> tuple[Column, Column]:
        """The number of the slice that an instant is in, and of the last one that can look back at it; ``last``: of the
        clock."""
        from pyspark.sql import functions as F

        # the last instant that looks back at it
        later = F.least(time, F.lit(last - overlap)) + F.lit(overlap)
        return self.of(time), self.of(F.greatest(later, time))


def slices(clock: tuple[int, int], overlap: int, partitions: int, times: np.ndarray | None = None) -> Slices:
    """The clock in at most ``partitions`` slices: of equal length, or of about as many rows, where ``times`` has the
    ticks of some rows, in order.  No slice but the last is shorter than ``overlap``, else overlaps would be most of the
    work."""
    first, last = clock
    span = last - first + 1
    n = max(1, min(partitions, span // max(1, overlap))) if span < 2**62 else 1
    width = -(-span // n)
    if times is None or n == 1 or not len(times):
        n = -(-span // width)
        ends = [(first + i * width, min(last, first + (i + 1) * width - 1)) for i in range(n)]
        return Slices(tuple(ends), first, width, tuple(range(n)))
    # a few rows may be far from all others: cells are where the rows are
    low, high = (int(times[int(part * (len(times) - 1))]) for part in (0.002, 0.998))
    cell = -(-(high - low + 1) // min(MOST_CELLS, CELLS * n, high - low + 1))
    cells = -(-(high - low + 1) // cell)
    before = np.cumsum(np.bincount(np.clip((times - low) // cell, 0, cells - 1), minlength=cells))
    begins = [first]
    for i in range(1, n):
        # behind the cell with which the rows so far are this part
        wanted = low + cell * (int(np.searchsorted(before, len(times) * i / n)) + 1)
        least = low + cell * -(-(begins[-1] + max(1, overlap) - low) // cell)
        if max(wanted, least) > min(last, low + cell * (cells - 1)):
            break
        begins.append(max(wanted, least))
    number = np.searchsorted(begins, low + cell * np.arange(cells), side="right") - 1
    following = [*begins[1:], last + 1]
    ends = [(begin, end - 1) for begin, end in zip(begins, following, strict=True)]
    return Slices(tuple(ends), low, cell, tuple(number.tolist()))


def _of_slices(cut: Slices, group: Group, clock: tuple[int, int]) -> list[Share]:
    """What the engines of the slices do."""
    # timers before the overlap concern nobody
    return [Share(group.stage, (max(clock[0], first - group.overlap), last), first) for first, last in cut.ends]


def sliced(
    frame: DataFrame, group: Group, clock: tuple[int, int], partitions: int, sample: Sample | None
) -> tuple[DataFrame, list[Share]]:
    """Every row in each slice of time that can look back at it."""
    from pyspark.sql import functions as F

    cut = slices(clock, group.overlap, partitions, None if sample is None else sample.times)
    shares = _of_slices(cut, group, clock)
    if len(shares) == 1:
        return frame, shares
    own = F.sequence(*cut.needing(F.col("__time"), group.overlap, clock[1]))
    return frame.withColumn("__share", F.explode(own)), shares


def by_rules(frame: DataFrame, group: Group, whole: Share, partitions: int) -> tuple[DataFrame, list[Share]]:
    """Every row in each share of the rules that reads its type."""
    from pyspark.sql import functions as F

    shares = [replace(whole, stage=stage) for stage in group.spread(partitions)]
    if len(shares) == 1:
        return frame, shares
    types = {t: F.col("__type") == t for t in group.stage.inputs}
    return frame.withColumn("__share", F.explode(_readers(shares, types))), shares


def _readers(shares: Sequence[Share], types: Mapping[str, Column], first: int = 0) -> Column:
    """The numbers of the shares, from ``first`` on, that read a row."""
    from pyspark.sql import functions as F

    cases = [(types[t], [n for n, s in enumerate(shares) if n >= first and t in s.stage.inputs]) for t in sorted(types)]
    found = [(test, F.array(*map(F.lit, own))) for test, own in cases if own]
    return one_of(found) if found else F.array(F.lit(0))


def divided(
    frame: DataFrame,
    group: Group,
    whole: Share,
    partitions: int,
    sample: Sample,
    keys: Sequence[Column],
    types: Mapping[str, Column],
) -> tuple[DataFrame, list[Share]]:
    """Rows in the partitions of their ``keys``; those of frequent keys in several: by time if that can be cut, else by
    rules.  ``types``: whether a row is of a type.  Share 0 has the rows of all other keys."""
    from pyspark.sql import functions as F

    often = F.xxhash64(*keys).isin([key.hash for key in sample.keys])
    cut = slices(whole.clock, group.overlap, 1 if group.endless else partitions, sample.often)
    parts = group.spread(partitions)
    if len(cut.ends) > 1:
        shares = [whole, *_of_slices(cut, group, whole.clock)]
        needing = cut.needing(F.col("__time"), group.overlap, whole.clock[1])
        own = F.sequence(*(F.when(often, number + 1).otherwise(0) for number in needing))
    elif len(parts) > 1:
        shares = [whole, *(replace(whole, stage=part) for part in parts)]
        own = F.when(often, _readers(shares, types, 1)).otherwise(F.array(F.lit(0)))
    else:
        return frame.repartition(partitions, *keys), [whole]
    frame = frame.withColumn("__share", F.explode(own))
    # the parts of a key are in partitions that follow one another
    part = F.pmod(F.hash(*keys) + F.col("__share"), F.lit(partitions))
    return frame.withColumn("__part", part).repartitionById(partitions, "__part").drop("__part"), shares
