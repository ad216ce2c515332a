"""What is said of the input of formulas over instants and intervals, on Spark: see :mod:`occurs.hosts.counts`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from occurs.hosts.spark.read import SparkSource
from occurs.operators.lasting.scan import Scan
from occurs.plan.stage import Stage

if TYPE_CHECKING:
    from pyspark.sql import Column


def counts(stage: Stage, source: SparkSource) -> dict[str, int]:
    """``null: TYPE.ATTRIBUTE`` and ``coalesced: TYPE``, where there are such rows.  Runs a job for each kind."""
    return {**_nulls(stage, source), **_coalesced(stage, source)}


def _nulls(stage: Stage, source: SparkSource) -> dict[str, int]:
    """Rows without a value of an attribute that a formula looks at."""
    from pyspark.sql import functions as F

    looked = {(t, n) for d in stage.nets.values() for t, names in d.columns.items() for n in names}
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

    scans = ((t, d.net.nodes[number]) for d in stage.nets.values() for number, t in d.net.sources.items())
    states = sorted({t for t, s in scans if isinstance(s, Scan) and s.sort == "state" and t in source.schemas})
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
