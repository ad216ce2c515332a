"""A row pattern on Spark, partitioned by a key, beside the same job with a kernel that does nothing.

All jobs read the file anew.  What the pattern takes besides is its plan, with one scan that finds the ends of the clock
and bad rows: nearly the same for any number of rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import occurs
from benchmarks import sparkjob
from benchmarks.report import Report
from benchmarks.rowpatterns import V_SHAPE
from benchmarks.timing import Timing, alternate, stopwatch
from occurs.hosts.spark import PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_WIDE = "time bigint, sym bigint, price double"
_RULE = f"SELECT * FROM Q MATCH_RECOGNIZE (PARTITION BY sym ORDER BY time {V_SHAPE})"
#: rows of one partition
_EACH = 50


def parquet(folder: Path, n: int) -> Path:
    """The file with ``n`` rows, made if it is not there; whole before it has its name."""
    path = folder / f"rows-{n}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(20)
        price = 100 + np.cumsum(rng.normal(size=n))
        sym = rng.integers(0, max(1, n // _EACH), n)
        part = path.with_suffix(".part")
        pq.write_table(pa.table({"time": np.arange(n), "sym": sym, "price": price}), part)
        part.replace(path)
    return path


def rule(spark: SparkSession, path: Path) -> DataFrame:
    """The detections, not yet computed; the clock of the history is (one scan)."""
    program = occurs.parse(_RULE, language="match_recognize")
    return program.detect({"Q": spark.read.parquet(str(path))}, time_unit="ms")["matches"]


def report(spark: SparkSession, path: Path, repetitions: int) -> Report:
    """Seconds of each way, medians of runs in turns.  AssertionError if Spark finds something else than the local
    host."""
    from pyspark.sql import functions as F

    table = pq.read_table(path)
    n, keys = table.num_rows, pc.count_distinct(table["sym"]).as_py()
    here = occurs.parse(_RULE, language="match_recognize").detect({"Q": table}, time_unit="ms")["matches"]
    count, total = here.num_rows, pc.sum(here["time"]).as_py()
    row = rule(spark, path).select(F.count(F.lit(1)), F.sum("time")).first()
    if row is None or tuple(row) != (count, total):
        raise AssertionError(f"Spark found {row}, the local host {(count, total)}")
    jobs: list[float] = []

    def whole() -> float:
        found: list[DataFrame] = []
        plan = stopwatch(lambda: found.append(rule(spark, path)))
        jobs.append(stopwatch(lambda: sparkjob.sink(found[0])))
        return plan + jobs[-1]

    def idle() -> DataFrame:
        return sparkjob.idle(spark.read.parquet(str(path)), count / n, shuffled=True, key="sym", wide=_WIDE)

    times = alternate(
        {"identity": lambda: stopwatch(lambda: sparkjob.sink(idle())), "rule": whole}, repetitions, budget=300
    )
    out = Report(
        f"Spark batch: a row pattern, {n:,} rows of {keys:,} partitions in Parquet, noop sink",
        [("job", ""), ("seconds", ".2f"), ("rows/s", ",.0f"), ("to identity", ".2f"), ("spread", ".2f")],
        notes=[
            f"{count:,} matches, as many as the local host finds, at the same times. {PARTITIONS} partitions of Spark, "
            "two cores.",
            f"Wanted: the job itself within {sparkjob.TARGET} of the identity kernel behind the same shuffle and sort.",
        ],
    )
    base, job = times["identity"].median, Timing(tuple(jobs[1:]))  # the first one only warmed up
    shown = {
        "identity kernel, same shuffle and sort": times["identity"],
        "the row pattern: detect and write": times["rule"],
        "  of it: the job itself": job,
    }
    for words, t in shown.items():
        out.add(words, t.median, n / t.median, t.median / base, t.spread)
    return out
