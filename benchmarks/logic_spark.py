"""OVERLOAD on Spark, keyed by link, beside the same job with a kernel that does nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

import occurs
from benchmarks import logic_work, sparkjob
from benchmarks.report import Report
from benchmarks.timing import alternate, stopwatch
from occurs.hosts.spark import PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WIDE = "time bigint, link string, load bigint"


def parquet(folder: Path, n: int) -> Path:
    """The file with the traffic of ``n`` rows, made if it is not there; whole before it has its name."""
    path = folder / f"traffic-{n}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        pq.write_table(logic_work.traffic(n), part)
        part.replace(path)
    return path


def report(spark: SparkSession, path: Path, repetitions: int) -> Report:
    """Seconds of each way, medians of runs in turns.  AssertionError if Spark finds something else than the script."""
    from pyspark.sql import functions as F

    table = pq.read_table(path)
    n = table.num_rows
    out = Report(
        f"Spark batch: OVERLOAD, {n:,} rows of {logic_work.LINKS:,} links in Parquet, noop sink",
        [
            ("job", ""),
            ("firings", ",d"),
            ("seconds", ".2f"),
            ("states/s", ",.0f"),
            ("to identity", ".2f"),
            ("spread", ".2f"),
        ],
        notes=[
            f"Wanted: within {sparkjob.TARGET} of the identity kernel, which returns as many rows as `continue` does. "
            f"{PARTITIONS} partitions, two cores.",
        ],
    )
    counts = {s: logic_work.by_hand(table, s) for s in ("continue", "reactivate")}
    share = counts["continue"][0] / n

    def rule(strategy: str) -> DataFrame:
        program = occurs.parse(logic_work.rules(strategy), language="ftl")
        return program.detect({"Traffic": spark.read.parquet(str(path))}, time_unit="s")["Overload"]

    for strategy, (count, total) in counts.items():
        row = rule(strategy).select(F.count(F.lit(1)), F.sum("load")).first()
        if row is None or tuple(row) != (count, total):
            raise AssertionError(f"Spark found {row}, the script {(count, total)}")
    frame = spark.read.parquet(str(path))

    def idle() -> DataFrame:
        return sparkjob.idle(frame, share, shuffled=True, key="link", wide=_WIDE)

    times = alternate(
        {
            "identity": lambda: stopwatch(lambda: sparkjob.sink(idle())),
            **{s: lambda s=s: stopwatch(lambda: sparkjob.sink(rule(s))) for s in counts},  # type: ignore[misc]
        },
        repetitions,
        budget=300,
    )
    base = times["identity"].median
    for name, t in times.items():
        firings = counts[name][0] if name in counts else int(np.round(share * n))
        words = "identity kernel, same shuffle and sort" if name == "identity" else f"{name}: detect and write"
        out.add(words, firings, t.median, n / t.median, t.median / base, t.spread)
    return out
