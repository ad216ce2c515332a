"""The Spark batch job against the same job with a kernel that does nothing.

Both read the same Parquet file, keep the same rows and columns, and write into the noop sink.  The identity kernel is
reached the same way (repartition by key, sort by time, ``mapInArrow``) and returns about as many rows as the rule does:
of every batch the first so many.  Without the shuffle it shows what the way costs.  A window function of Spark finds
the same detections, as times are distinct.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import occurs
from benchmarks.history import ABOVE, READ, RULE, WITHIN, parquet
from benchmarks.report import Report
from benchmarks.timing import Timing, alternate, processor_seconds, stopwatch
from occurs.connect.spark import local_session
from occurs.hosts.spark import PARTITIONS
from occurs.hosts.spark.task import BUDGET

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: the rule may take this many times its identity, and this many times the CPU time of Spark's own window function
TARGET, WINDOWS = 1.3, 0.9

_WIDE = "type smallint, time bigint, key bigint, v bigint"


def session() -> SparkSession:
    """Spark on two cores of this machine."""
    return local_session("local[2]")


def scanned(spark: SparkSession, path: Path) -> DataFrame:
    """The rows and columns that the rule needs as the plan of Occurs selects them, types as numbers."""
    from pyspark.sql import functions as F

    frame = spark.read.parquet(str(path))
    kept = F.col("type").isin(*READ) & (F.col("v") > ABOVE)
    number = F.when(F.col("type") == READ[0], 0)
    for at, type in enumerate(READ[1:], 1):
        number = number.when(F.col("type") == type, at)
    return frame.where(kept).select(number.cast("short").alias("type"), "time", "key", "v")


def identity(share: float) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """A kernel that passes on the first rows of every batch, ``share`` of them, unchanged."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch.slice(0, round(batch.num_rows * share))

    return run


def idle(frame: DataFrame, share: float, *, shuffled: bool, key: str = "key", wide: str = _WIDE) -> DataFrame:
    """The job with the identity kernel; ``shuffled``: brought to it as the rows of a rule keyed by ``key`` are.
    ``wide``: the columns."""
    if shuffled:
        frame = frame.repartition(PARTITIONS, key).sortWithinPartitions("time")
    return frame.mapInArrow(identity(share), wide)


def rule(spark: SparkSession, path: Path) -> DataFrame:
    """The detections, not yet computed; the clock of the history is (one scan of time and type)."""
    found: DataFrame = occurs.parse(RULE).detect(spark.read.parquet(str(path)), time_unit="ms")["CE"]
    return found


def windows(spark: SparkSession, path: Path) -> DataFrame:
    """The same detections by a window function of Spark."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    before = Window.partitionBy("key").orderBy("time").rangeBetween(-WITHIN, 0)
    value = F.last(F.when(F.col("type") == 1, F.col("v")), ignorenulls=True).over(before)
    found = scanned(spark, path).withColumn("V", value)
    return found.where((F.col("type") == 0) & F.col("V").isNotNull()).select("time", F.col("key").alias("Key"), "V")


def sink(frame: DataFrame) -> None:
    """Compute all rows and columns, keep nothing."""
    frame.write.format("noop").mode("overwrite").save()


def expected(path: Path) -> tuple[int, int, int]:
    """(rows that the rule reads, detections, sum of V), by the local host."""
    table = pq.read_table(path)
    kept = pc.and_(pc.is_in(table["type"], pa.array(READ)), pc.greater(table["v"], ABOVE))
    found = occurs.parse(RULE).detect(table, time_unit="ms")["CE"]
    return pc.sum(kept).as_py(), found.num_rows, pc.sum(found["V"]).as_py()


def report(spark: SparkSession, path: Path, repetitions: int) -> Report:
    """Seconds of each way, medians of runs in turns, and their ratios.  AssertionError if Spark, by the rule or by its
    window function, finds something else than the local host."""
    from pyspark.sql import functions as F

    read, count, total = expected(path)
    for found in (rule(spark, path), windows(spark, path)):
        row = found.select(F.count(F.lit(1)), F.sum("V")).first()
        if row is None or tuple(row) != (count, total):
            raise AssertionError(f"Spark found {row}, the local host {(count, total)}")
    share = count / read
    jobs: list[float] = []
    used: dict[str, list[float]] = {}

    def whole() -> float:
        found: list[DataFrame] = []
        plan = stopwatch(lambda: found.append(rule(spark, path)))
        jobs.append(stopwatch(lambda: sink(found[0])))
        return plan + jobs[-1]

    def counted(name: str, run: Callable[[], float]) -> Callable[[], float]:
        def job() -> float:
            before = processor_seconds()
            seconds = run()
            used.setdefault(name, []).append(processor_seconds() - before)
            return seconds

        return job

    ways: dict[str, Callable[[], float]] = {
        "scan": lambda: stopwatch(lambda: sink(scanned(spark, path))),
        "near": lambda: stopwatch(lambda: sink(idle(scanned(spark, path), share, shuffled=False))),
        "idle": lambda: stopwatch(lambda: sink(idle(scanned(spark, path), share, shuffled=True))),
        "windows": lambda: stopwatch(lambda: sink(windows(spark, path))),
        "rule": whole,
    }
    times = alternate({name: counted(name, run) for name, run in ways.items()}, repetitions, budget=300)
    events = pq.read_metadata(path).num_rows
    out = Report(
        f"Spark batch: {events:,} events in Parquet, one keyed rule (last within), noop sink",
        [
            ("job", ""), ("seconds", ".2f"), ("events/s", ",.0f"), ("to identity", ".2f"), ("spread", ".2f"),
            ("CPU-seconds", ".2f"), ("CPU to window function", ".2f"),
        ],
        notes=[
            f"{read:,} rows cross into Python, {count:,} come out (as many as the local host finds, with the same "
            f"sum); {PARTITIONS} partitions, two cores.",
            f"Target: the rule within {TARGET} of the identity kernel behind the same shuffle, and within {WINDOWS} of "
            "the CPU time of Spark's own window function (of all processes).",
        ],
    )  # fmt: skip
    base = times["idle"].median
    processors = {name: median(found[1:]) for name, found in used.items()}  # the first one only warmed up
    job = Timing(tuple(jobs[1:]))  # the first one only warmed up
    scan_of_clock = times["rule"].median - job.median
    names = {
        "scan": "scan and filter, JVM only",
        "near": "identity kernel, no shuffle",
        "idle": "identity kernel, same shuffle and sort",
        "windows": "Spark's own window function",
        "rule": "the rule: detect and write",
    }
    for name, words in names.items():
        seconds, busy = times[name].median, processors[name]
        out.add(
            words, seconds, events / seconds, seconds / base, times[name].spread, busy, busy / processors["windows"]
        )
    out.add("  of it: plan and clock", scan_of_clock, None, scan_of_clock / base, None, None, None)
    out.add("  of it: the job itself", job.median, events / job.median, job.median / base, job.spread, None, None)
    return out


# -- memory of the Python workers --------------------------------------------------------------------------------------
def peaks(root: int) -> list[int]:
    """Peak resident memory (kB) of all Python workers of Spark below process ``root``, from /proc; empty elsewhere."""
    parents: dict[int, int] = {}
    workers: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
            command = (folder / "cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has ended meanwhile, or is somebody else's
        pid = int(folder.name)
        parents[pid] = int(status["PPid"])
        if b"spark.daemon" in command and "VmHWM" in status:
            workers[pid] = int(status["VmHWM"].split()[0])

    def below(pid: int) -> bool:
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    return [peak for pid, peak in workers.items() if below(pid)]


def measure_memory(path: Path) -> dict[str, Any]:
    """Peak memory of a worker (kB) after the identity kernel and then after the rule, in a new Spark session."""
    spark = session()
    try:
        sink(idle(scanned(spark, path), 1.0, shuffled=True))
        before = max(peaks(os.getpid()), default=0)
        sink(rule(spark, path))
        return {"identity": before, "rule": max(peaks(os.getpid()), default=0)}
    finally:
        spark.stop()


def memory(folder: Path, sizes: Sequence[int]) -> Report:
    """Peak memory of the Python workers at every number of events, each in a process and a Spark session of its own."""
    out = Report(
        "Memory of a Python worker of Spark (peak resident, MB)",
        [("events", ",d"), ("rows per partition", ",d"), ("identity kernel", ".0f"), ("the rule", ".0f")],
        notes=[
            "The window is 60 s in both: the window and the rows of one call "
            f"({BUDGET:,}) bound the memory of a worker. The size of its partition does not.",
            "One worker after the other: peak after the identity kernel, then, of the same worker, after the rule.",
        ],
    )
    found = []
    for size in sizes:
        path = parquet(folder, size)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.sparkjob", str(path.absolute())],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parent.parent,
        )
        peak = json.loads(done.stdout.splitlines()[-1])
        found.append(peak["rule"])
        out.add(size, _crossing(size) // PARTITIONS, peak["identity"] / 1024, peak["rule"] / 1024)
    if len(sizes) > 1 and found[0]:
        times = f"{sizes[-1] / sizes[0]:.0f} times the events"
        out.notes.append(f"{times} take {found[-1] / found[0]:.2f} times the memory.")
    return out


def _crossing(n: int) -> int:
    """About how many of n events the rule reads: four in five are of its types, nine in ten of these pass."""
    return round(n * 0.8 * 0.9)


if __name__ == "__main__":
    print(json.dumps(measure_memory(Path(sys.argv[1]))))
