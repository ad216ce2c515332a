"""A keyed rule on Structured Streaming against Spark's own stateful operator that does nothing, on the same files.

The operator that does nothing (``transformWithState``) is reached as ours is: rows packed by a hash of the key into one
binary value per bucket, as moving rows one by one costs many times as much.  It keeps as many bytes as a rule's window
has, in pieces that it adds and drops, and computes nothing.

Latency: files come in at a steady pace; of every detection it is the time from when its terminator's file was put there
to when a sink has it, and of the idle operator the time until a sink has the file's rows.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time as clock
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import occurs
from benchmarks.report import Report
from occurs.connect.spark import local_session
from occurs.hosts.stream.layout import bucket_ids

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: the rule may take this many times the operator that does nothing
TARGET = 1.4
BUCKETS = 4
#: rows of a file, which is a micro-batch, and the time they cover
SIZE, TICKS = 100_000, 10_000_000
RULE = """
define L(k, v) from A(k = $k, v > 90) and last B(k = $k) within 20 s from A where k = A.k, v = B.v
"""
_SCHEMA = "type string, time bigint, k bigint, v bigint"
_PACKED = "bucket int, hi bigint, blob binary"


def session() -> SparkSession:
    """Spark on two cores, with as many partitions of state as buckets."""
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    return local_session(
        "local[2]",
        spark__sql__shuffle__partitions=str(BUCKETS),
        spark__sql__streaming__stateStore__providerClass=provider,
    )


def rows(number: int, keys: int, size: int = SIZE, ticks: int = TICKS) -> pa.Table:
    """The events of one file: two types, half of each, times (us) in order and behind those of the file before."""
    rng = np.random.default_rng([number, keys])
    time = np.sort(rng.integers(number * ticks, (number + 1) * ticks, size))
    types = pa.array(np.array(["A", "B"], object)[rng.integers(0, 2, size)])
    return pa.table({"type": types, "time": time, "k": rng.integers(0, keys, size), "v": rng.integers(0, 100, size)})


def put(folder: Path, number: int, table: pa.Table) -> None:
    """A file that appears at once, in the order of its number."""
    hidden = folder / f".{number}"
    pq.write_table(table, hidden)
    os.utime(hidden, (1e9 + number, 1e9 + number))
    hidden.rename(folder / f"{number:06}.parquet")


def stream(spark: SparkSession, folder: Path, files: int = 1) -> DataFrame:
    """``files``: the most of a micro-batch."""
    return spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", files).parquet(str(folder))


def ours(frame: DataFrame) -> DataFrame:
    """The detections of the rule."""
    found = occurs.parse(RULE).detect(frame, time_unit="us", watermark="0 s", partitions=BUCKETS)
    out: DataFrame = found["L"]
    return out


def idle(frame: DataFrame, kept: int) -> DataFrame:
    """One row per bucket, with the greatest time; the state are the ``kept`` last packed batches."""
    operator = _idle_operator(kept)
    packed = frame.selectExpr("*", f"pmod(hash(k), {BUCKETS}) as b").mapInArrow(_pack, _PACKED)
    return packed.groupBy("bucket").transformWithState(operator, "time bigint", "append", "none")


def _pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    ids = bucket_ids(BUCKETS)
    held = [b for b in batches if b.num_rows]
    if not held:
        return
    table = pa.Table.from_batches(held)
    bucket = table.column("b").to_numpy()
    order = np.argsort(bucket, kind="stable")
    cuts = np.searchsorted(bucket[order], np.arange(BUCKETS + 1))
    for i in range(BUCKETS):
        sink = pa.BufferOutputStream()
        part = table.take(pa.array(order[cuts[i] : cuts[i + 1]])).combine_chunks()
        with pa.ipc.new_stream(sink, part.schema) as writer:
            writer.write_table(part)
        yield pa.RecordBatch.from_pydict(
            {
                "bucket": pa.array([ids[i]], pa.int32()),
                "hi": pa.array([table.column("time").to_numpy().max()]),
                "blob": pa.array([sink.getvalue().to_pybytes()]),
            }
        )


def _idle_operator(kept: int) -> Any:
    from pyspark.sql import Row
    from pyspark.sql.streaming import StatefulProcessor

    class Idle(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.meta = handle.getValueState("meta", "value binary")
            self.pieces = handle.getMapState("pieces", "name string", "value binary")

        def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:
            found = self.meta.get()
            names = json.loads(found[0]) if found else [0]
            hi = 0
            for row in rows:
                hi = max(hi, row["hi"])
                names[0] += 1
                name = str(names[0])
                self.pieces.updateValue((name,), (row["blob"],))
                names.append(name)
                while len(names) - 1 > kept:
                    self.pieces.removeKey((names.pop(1),))
            self.meta.update((json.dumps(names).encode(),))
            yield Row(time=hi)

        def close(self) -> None:
            pass

    return Idle()


def plain(frame: DataFrame) -> DataFrame:
    """Through Python without any state."""
    return frame.mapInArrow(lambda batches: batches, _SCHEMA)


def throughput(spark: SparkSession, folder: Path, key_counts: list[int], files: int, repetitions: int) -> Report:
    """Events per second of the micro-batches after the first three, each a file."""
    out = Report(
        "Structured Streaming: a keyed rule, last within 20 s, 200,000 events in the window; events per second",
        [
            ("keys", ",d"),
            ("events", ",d"),
            ("found", ",d"),
            ("occurs", ",.0f"),
            ("idle operator", ",.0f"),
            ("no state", ",.0f"),
            ("occurs / idle (seconds)", ".2f"),
            ("spread", ".2f"),
        ],
        notes=[
            f"{SIZE:,} events a micro-batch, {BUCKETS} buckets, RocksDB, noop sink, local[2]; medians of all "
            f"micro-batches but the first three of each run. Target: {TARGET} times the seconds of the idle operator.",
            "idle operator: transformWithState over the same packed rows with the same window of bytes in its state.",
        ],
    )
    for keys in key_counts:
        place = folder / f"stream-{keys}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for n in range(files):
            put(place, n, rows(n, keys))
        jobs: dict[str, Callable[[], DataFrame]] = {
            "occurs": lambda place=place: ours(stream(spark, place)),
            "idle": lambda place=place: idle(stream(spark, place), 20_000_000 // TICKS),
            "plain": lambda place=place: plain(stream(spark, place)),
        }
        seconds: dict[str, list[float]] = {name: [] for name in jobs}
        found = 0
        for _ in range(repetitions):
            for name, job in jobs.items():
                progress = finish(job(), folder)
                seconds[name] += [p["durationMs"]["triggerExecution"] / 1000 for p in progress[3:]]
                if name == "occurs":
                    found = sum(p["observedMetrics"]["occurs"]["found"] for p in progress)
        middle = {name: median(times) for name, times in seconds.items()}
        ratio = middle["occurs"] / middle["idle"]
        out.add(
            keys,
            files * SIZE,
            found,
            *(SIZE / middle[name] for name in jobs),
            ratio,
            max(seconds["idle"]) / min(seconds["idle"]),
        )
        shutil.rmtree(place)
    return out


def finish(frame: DataFrame, folder: Path) -> list[Any]:
    """Run a query over all there is; its progress, micro-batch by micro-batch."""
    checkpoint = folder / f"checkpoint-{uuid.uuid4().hex}"
    writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    shutil.rmtree(checkpoint)
    return [p for p in query.recentProgress if p["numInputRows"]]


def latency(spark: SparkSession, folder: Path, seconds: float, *, pace: float = 1.0, size: int = 2_000) -> Report:
    """Time from arrival to detection: a file of ``size`` events every ``pace`` seconds."""
    out = Report(
        "Structured Streaming: from the arrival of an event to its detection in a sink, milliseconds",
        [("what", ""), ("files", ",d"), ("median", ",.0f"), ("p99", ",.0f")],
        notes=[
            f"{size:,} events of 1,000 keys every {pace} s, {BUCKETS} buckets, local[2], one micro-batch after another."
        ],
    )
    ticks = 1_000_000
    for name in ("occurs", "idle operator"):
        place = folder / "latency"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        frame = stream(spark, place, 1000)
        job = ours(frame) if name == "occurs" else idle(frame, 20)
        there: dict[int, float] = {}
        got: dict[int, float] = {}

        def sink(batch: DataFrame, number: int, got: dict[int, float] = got) -> None:
            table = batch.toArrow()
            now = clock.perf_counter()
            newest = int(table.column("time").to_numpy().max()) // ticks if len(table) else -1
            for n in range(newest + 1):
                got.setdefault(n, now)

        checkpoint = folder / f"checkpoint-{uuid.uuid4().hex}"
        query = job.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint)).start()

        def feed(place: Path = place, there: dict[int, float] = there) -> None:
            for n in range(int(seconds / pace)):
                put(place, n, rows(n, 1_000, size, ticks))
                there[n] = clock.perf_counter()
                clock.sleep(pace)

        feeder = threading.Thread(target=feed)
        feeder.start()
        feeder.join()
        query.processAllAvailable()
        query.stop()
        # the first micro-batches start workers and compile; the last instant of a file waits for the next file
        times = [1000 * (got[n] - there[n]) for n in sorted(got) if n in there and n >= 5]
        out.add(name, len(times), median(times), quantiles(times, n=100)[98])
        shutil.rmtree(checkpoint, ignore_errors=True)
        shutil.rmtree(place)
    return out
