"""``python -m benchmarks.soak SECONDS``: a keyed rule follows a steady stream; what it holds must not grow.

Prints, every half minute: rows, state, and the memory of Spark's Java and of its Python workers.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import threading
import time as clock
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks import streaming
from benchmarks.report import Report

PACE, SIZE, TICKS, EVERY = 1.0, 5_000, 1_000_000, 30.0


def descendants(root: int) -> list[int]:
    """Processes below ``root``, from /proc."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:  # it has ended
                continue
    out, new = [], {root}
    while new:
        new = {pid for pid, parent in parents.items() if parent in new}
        out += sorted(new)
    return out


def memory(pids: list[int]) -> tuple[float, float]:
    """Resident megabytes of (Java, Python) among these processes."""
    java = python = 0.0
    for pid in pids:
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
        if name == "java":
            java += pages * 4096 / 1e6
        else:
            python += pages * 4096 / 1e6
    return java, python


def soak(seconds: float) -> Report:
    """Run and look; the last third against the second."""
    import os

    out = Report(
        f"A steady stream for {seconds:.0f} s: {SIZE / PACE:,.0f} events/s of 1,000 keys, last within 20 s",
        [
            ("s", ",.0f"),
            ("rows", ",d"),
            ("kept", ",d"),
            ("waiting", ",d"),
            ("written B", ",d"),
            ("s/batch", ".2f"),
            ("Java MB", ",.0f"),
            ("Python MB", ",.0f"),
        ],
    )
    spark = streaming.session()
    folder = Path(tempfile.mkdtemp())
    (folder / "in").mkdir()
    job = streaming.ours(streaming.stream(spark, folder / "in", 1000))
    query = job.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
    running = query.trigger(processingTime="1 second").start()
    over = threading.Event()

    def feed() -> None:
        number = 0
        while not over.wait(PACE):
            streaming.put(folder / "in", number, streaming.rows(number, 1_000, SIZE, TICKS))
            for old in folder.glob(f"in/{number - 100:06}.parquet"):
                old.unlink()  # long done
            number += 1

    feeder = threading.Thread(target=feed)
    feeder.start()
    began, rows, seen = clock.monotonic(), 0, -1
    try:
        while clock.monotonic() - began < seconds:
            clock.sleep(EVERY)
            if running.exception() is not None:
                raise RuntimeError("the query has failed") from running.exception()
            recent = [p for p in running.recentProgress if p["batchId"] > seen and p["numInputRows"]]
            if not recent:
                continue
            seen = recent[-1]["batchId"]
            figures = recent[-1]["observedMetrics"]["occurs"]
            rows += sum(p["numInputRows"] for p in recent)
            java, python = memory(descendants(os.getpid()))
            took = median(p["durationMs"]["triggerExecution"] for p in recent) / 1000
            out.add(
                clock.monotonic() - began,
                rows,
                figures["kept"],
                figures["waiting"],
                figures["size"],
                took,
                java,
                python,
            )
    finally:
        over.set()
        feeder.join()
        running.stop()
        spark.stop()
        shutil.rmtree(folder)
    third = len(out.rows) // 3
    if third:
        names = [name for name, _ in out.columns]
        for name in ("kept", "written B", "Java MB", "Python MB"):
            values = [float(str(row[names.index(name)])) for row in out.rows]
            out.notes.append(
                f"{name}: last third / second third {median(values[-third:]) / median(values[third:-third]):.2f}"
            )
    return out


if __name__ == "__main__":
    soak(float(sys.argv[1])).show(Console(width=160))
