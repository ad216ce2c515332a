"""OVERLOAD on Spark, keyed by link, beside the same job with a kernel that does nothing.

All jobs read the file anew.  What a rule takes besides is its plan, with one scan that finds the ends of the clock and
bad rows: nearly the same for any number of rows.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

import occurs
from benchmarks import logic_work, sparkjob
from benchmarks.report import Report
from benchmarks.timing import Timing, alternate, stopwatch
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
    jobs: dict[str, list[float]] = {s: [] for s in counts}

    def idle() -> DataFrame:
        return sparkjob.idle(spark.read.parquet(str(path)), share, shuffled=True, key="link", wide=_WIDE)

    def whole(strategy: str) -> float:
        found: list[DataFrame] = []
        plan = stopwatch(lambda: found.append(rule(strategy)))
        jobs[strategy].append(stopwatch(lambda: sparkjob.sink(found[0])))
        return plan + jobs[strategy][-1]

    times = alternate(
        {
            "identity": lambda: stopwatch(lambda: sparkjob.sink(idle())),
            **{s: partial(whole, s) for s in counts},
        },
        repetitions,
        budget=300,
    )
    base = times["identity"].median
    for name, t in times.items():
        firings = counts[name][0] if name in counts else int(np.round(share * n))
        words = "identity kernel, same shuffle and sort" if name == "identity" else f"{name}: detect and write"
        out.add(words, firings, t.median, n / t.median, t.median / base, t.spread)
        if name in jobs:
            job = Timing(tuple(jobs[name][1:]))  # the first one only warmed up
            out.add("  of it: the job itself", firings, job.median, n / job.median, job.median / base, job.spread)
    return out
