"""SLICE EACH on Spark: rows per CPU-second of all processes, beside one process and a kernel that does nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks import pipes_work, sparkjob
from benchmarks.report import Report
from benchmarks.timing import alternate, processor_seconds
from occurs import pipes
from occurs.hosts.spark import PARTITIONS
from occurs.pipes import fn

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: wanted of Spark, to the rate of one process
SHARE = 0.7
_WIDE = "time bigint, x bigint, k bigint"


def parquet(folder: Path, n: int) -> Path:
    """The file with the numbers of the pipelines, made if it is not there; whole before it has its name."""
    path = folder / f"numbers-{n}.parquet"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        pq.write_table(pa.table({"time": range(n), "x": pipes_work.numbers(n)}), part)
        part.replace(path)
    return path


def report(spark: SparkSession, path: Path, repetitions: int) -> Report:
    """CPU-seconds of each way, medians of runs in turns.  AssertionError if Spark finds something else than here."""
    from pyspark.sql import functions as F

    n = pq.read_metadata(path).num_rows
    x = pipes.source("X", type={"x": int}).x
    program = pipes.program(x.slice_each(fn("$0 MOD 1000"), lambda p: p.cumulate(fn.add)).named("Sums"))

    def local() -> Any:
        return program.detect({"X": pq.read_table(path)}, time_unit="s")["Sums"]

    def rule() -> DataFrame:
        found: DataFrame = program.detect({"X": frame}, time_unit="s", partitions=PARTITIONS)["Sums"]
        return found

    def idle() -> DataFrame:
        return sparkjob.idle(frame.withColumn("k", F.col("x") % 1000), 1.0, shuffled=True, key="k", wide=_WIDE)

    frame = spark.read.parquet(str(path))
    expected = local()
    row = rule().select(F.count(F.lit(1)), F.sum("value")).first()
    if row is None or tuple(row) != (expected.num_rows, sum(expected["value"].to_pylist())):
        raise AssertionError(f"Spark found {row}, this process {expected.num_rows} rows")

    def used(run: Callable[[], Any]) -> Callable[[], float]:
        def measured() -> float:
            before = processor_seconds()
            run()
            return processor_seconds() - before

        return measured

    times = alternate(
        {
            "one process": used(local),
            "Spark, identity kernel, same shuffle and sort": used(lambda: sparkjob.sink(idle())),
            "Spark, SLICE EACH": used(lambda: sparkjob.sink(rule())),
        },
        repetitions,
        budget=300,
    )
    alone, base, _ = (t.median for t in times.values())
    out = Report(
        f"SLICE EACH: {n:,} rows in Parquet, 1000 slices, {PARTITIONS} partitions, noop sink",
        [("job", ""), ("CPU-seconds", ".2f"), ("rows/s of CPU", ",.0f"), ("to one process", ".2f"),
         ("to identity", ".2f"), ("spread", ".2f")],
        notes=[
            "CPU-seconds of all processes (the JVM, its Python workers); rows/s of CPU is the rate per core.",
            f"Wanted: {SHARE} of the rate of the identity kernel, which gives back as many rows; that of one process, "
            "whose rows never cross from the JVM and back, is out of reach of a job that does nothing.",
        ],
    )  # fmt: skip
    for name, t in times.items():
        out.add(name, t.median, n / t.median, alone / t.median, base / t.median, t.spread)
    return out
