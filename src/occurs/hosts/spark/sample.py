"""Some rows of a long history, drawn at random: when the rows are, and which keys have many of them.

One job draws for all groups of definitions.  What it finds decides only how rows are distributed
(:mod:`occurs.hosts.spark.shares`), so no detection depends on it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from occurs.errors import Problem
from occurs.hosts.frequent import HEAVY, Frequent
from occurs.hosts.spark.inlets import can_matter, inlets_of, key_columns
from occurs.hosts.spark.read import SparkSource
from occurs.plan.partitioning import Group

if TYPE_CHECKING:
    from pyspark.sql import Column

#: rows from which on a history is sampled, and rows that are drawn
LEAST, DRAWN = 20_000_000, 16_384
#: a key must have this part of what an average partition has, and this many of the drawn rows: one drawn by chance says
#: nothing
PART, CERTAIN = 1.0, 32
#: keys of a group that are divided at most
MOST = 64


@dataclass(frozen=True)
class Key:
    """A key with many rows.  ``hash``: as ``xxhash64`` of its columns; ``values``: as JSON; ``part``: of the rows that
    can matter to a group."""

    hash: int
    values: str
    part: float


@dataclass(frozen=True)
class Sample:
    """The drawn rows that can matter to a group.  ``times``: their ticks, in order; ``keys``: those with many rows;
    ``often``: the ticks of the rows of these keys; ``rows``: how many rows of the history can matter, estimated."""

    times: np.ndarray
    keys: tuple[Key, ...]
    often: np.ndarray
    rows: int

    def heavy(self, group: Group, partitions: int) -> list[Problem]:
        """A warning of every key with so many rows that its partition works longer than the others."""
        attributes, types, hint = dict(group.stage.key), tuple(sorted(group.stage.defined)), group.split
        if not group.endless:
            hint = f"the history is too short for slices that overlap by the retention ({group.overlap:,} ticks)"
        out = []
        for key in self.keys:
            if key.part * partitions >= HEAVY:
                values = tuple(json.loads(key.values).values())
                named = Frequent(values, attributes, types, int(key.part * self.rows), hint)
                out.append(named.warning(key.part, partitions, "partitions"))
        return out


def samples(groups: Sequence[Group], source: SparkSource, partitions: int, labelled: bool) -> dict[int, Sample]:
    """By the place of a group its sample; none if the history is short, or if there is neither a key nor a slice.  Runs
    at most one job.  Groups that read what others find are not sampled: these rows are not there yet."""
    from pyspark.sql import functions as F

    rows = source.counts["rows"]
    if partitions < 2 or rows < LEAST:
        return {}
    asked = [n for n, g in enumerate(groups) if not g.takes and g.mode in ("slices", "keyed")]
    columns: list[Column] = []
    for n in asked:
        inlets = inlets_of(groups[n], source, (), labelled)
        time = F.when(can_matter(groups[n], source.physical, source.schemas, inlets), F.col("__time"))
        columns.append(time.alias(f"time{n}"))
        if groups[n].mode == "keyed":
            key = key_columns(groups[n], inlets, named=True)
            columns.append(F.xxhash64(*key).alias(f"key{n}"))
            named = F.struct(*(k.alias(f"k{i}") for i, k in enumerate(key)))
            columns.append(F.to_json(named, {"ignoreNullFields": "false"}).alias(f"values{n}"))
    if not columns:
        return {}
    drawn = source.frame.sample(fraction=min(1.0, DRAWN / rows), seed=0).select(*columns).toArrow()
    out = {}
    for n in asked:
        found = drawn.select([name for name in (f"time{n}", f"key{n}", f"values{n}") if name in drawn.column_names])
        found = found.filter(found.column(0).is_valid())
        time = found.column(0).to_numpy()
        keys: tuple[Key, ...] = ()
        often = time[:0]
        if found.num_columns > 1:
            keys, often = _keys(time, found.column(1).to_numpy(), found.column(2).to_pylist(), partitions)
        out[n] = Sample(np.sort(time), keys, np.sort(often), len(time) * rows // max(1, len(drawn)))
    return out


def _keys(
    time: np.ndarray, hashes: np.ndarray, values: Sequence[str], partitions: int
) -> tuple[tuple[Key, ...], np.ndarray]:
    """The keys that have more rows than an average partition, the most frequent first, and the ticks of their rows."""
    distinct, first, count = np.unique(hashes, return_index=True, return_counts=True)
    many = count >= max(CERTAIN, PART * len(hashes) / partitions)
    order = [n for n in np.argsort(-count, kind="stable").tolist() if many[n]][:MOST]
    keys = tuple(Key(int(distinct[n]), values[int(first[n])], float(count[n] / len(hashes))) for n in order)
    return keys, time[np.isin(hashes, [k.hash for k in keys])]
