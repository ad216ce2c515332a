"""Counts of the input of formulas over instants and intervals (:func:`occurs.hosts.detections.input_counts`), and of
triggers, on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from occurs.hosts.spark.read import SparkSource
from occurs.hosts.spark.result import Result
from occurs.operators.definition import Definition
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column

#: what is no row of a table, but takes some away
_GONE = ("delete", "d", "D", "truncate")


def counts(stage: Stage, source: SparkSource, results: Sequence[Result]) -> dict[str, int]:
    """``null: TYPE.ATTRIBUTE`` and ``coalesced: TYPE``, where there are such rows, and what triggers count.  Runs a job
    for each kind."""
    return {**_nulls(stage, source), **_coalesced(stage, source), **_accepted(stage, source, results)}


def _accepted(stage: Stage, source: SparkSource, results: Sequence[Result]) -> dict[str, int]:
    """``rows without a key``; ``deletes of absent rows: TYPE`` and ``inserts of present rows: TYPE`` where triggers go
    state by state.  Only where there may be such are these judged once more."""
    from pyspark.sql import functions as F

    without = _without_key(stage.definitions, source)
    lost = [without.get(d.identity, 0) for d in stage.definitions if not d.stateful]
    out = {"rows without a key": max(lost, default=0)}
    for result in results:
        if result.tally is None or not any(_judged(d, source, without) for d in result.group.stage.definitions):
            continue
        # what several that have all rows count of one table is counted once
        for _, what, n in result.tally().groupBy("who", "what").agg(F.sum("n")).collect():
            out[what] = max(n, out.get(what, 0))
    return {what: n for what, n in sorted(out.items()) if n}


def _judged(d: Definition, source: SparkSource, without: dict[str, int]) -> bool:
    """May a trigger count what no look at single rows tells?"""
    if not d.stateful:
        return False
    return d.begins is None or without.get(d.identity, 0) > 0 or any((t, "op") in source.physical for t in d.sequenced)


def _without_key(triggers: Iterable[Definition], source: SparkSource) -> dict[str, int]:
    """Per trigger the rows that would make an instance, if they had a key."""
    from pyspark.sql import functions as F

    found: dict[str, Column] = {}
    for d in triggers:
        rows = []
        for t, names in d.begins or ():
            lost: Column = F.lit(False)
            for name in names:
                column = source.physical.get((t, name))
                lost = lost | (F.lit(True) if column is None else F.col(column).isNull())
            op = source.physical.get((t, "op"))
            put = F.lit(True) if op is None else F.coalesce(~F.col(op).isin(*_GONE), F.lit(True))
            rows.append(F.count(F.when((F.col("__type") == t) & lost & put, 1)))
        if rows:
            found[d.identity] = sum(rows[1:], rows[0])
    if not found:
        return {}
    row = source.frame.agg(*found.values()).collect()[0]
    return dict(zip(found, row, strict=True))


def _nulls(stage: Stage, source: SparkSource) -> dict[str, int]:
    """Rows without a value of an attribute that a formula looks at."""
    from pyspark.sql import functions as F

    looked = {(t, n) for d in stage.definitions for t, names in d.nulls.items() for n in names}
    found: dict[str, Column] = {}
    for t, n in sorted(looked):
        if t in source.schemas and n in source.schemas[t]:
            column = source.physical.get((t, n))
            lost = F.col("__type") == t
            found[f"null: {t}.{n}"] = F.count(F.when(lost if column is None else lost & F.col(column).isNull(), 1))
    if not found:
        return {}
    row = source.frame.agg(*found.values()).collect()[0]
    return {name: n for name, n in zip(found, row, strict=True) if n}


def _coalesced(stage: Stage, source: SparkSource) -> dict[str, int]:
    """Rows of a state that overlap or touch an earlier one with the same values."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    states = sorted({t for d in stage.definitions for t in d.coalesced if t in source.schemas})
    if not states:
        return {}
    columns = sorted({c for (t, _), c in source.physical.items() if t in states})
    # of other types a column has the values of another attribute of the same table
    mine = {c: [t for (t, _), own in source.physical.items() if own == c and t in states] for c in columns}
    values = [F.when(F.col("__type").isin(mine[c]), F.col(c)) for c in columns]
    before = Window.partitionBy("__type", *values).orderBy("__time").rowsBetween(Window.unboundedPreceding, -1)
    end = F.coalesce(F.col("__end"), F.lit(2**63 - 1))
    rows = source.frame.where(F.col("__type").isin(states))
    touching = rows.select("__type", (F.max(end).over(before) >= F.col("__time")).alias("touches")).where("touches")
    return {f"coalesced: {t}": n for t, n in sorted(touching.groupBy("__type").count().collect())}
