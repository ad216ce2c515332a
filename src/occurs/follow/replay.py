"""Recorded events as a stream: rows in order of time, as they become due, through small files in the checkpoint.

The files are the source that Spark reads, so what was handed out before a crash is neither lost nor handed out anew:
their names say which rows they hold.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from occurs.connect.whole import durable
from occurs.errors import CheckpointProblem, OccursError, ResourceProblem, UsageProblem
from occurs.follow.expected import Expected
from occurs.follow.folders import PARQUET, literal
from occurs.follow.wide import wide
from occurs.model.source import Source
from occurs.model.time import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: rows of a file if there is no speed to keep to: so many are a micro-batch
CHUNK = 100_000
#: seconds between two looks at what is due
_EVERY = 0.2
_NAME = re.compile(r"rows-(\d{12})-(\d{12})\.parquet")


class Record:
    """The rows of some sources as wide rows in order of time; those without one (bad rows) come first."""

    def __init__(self, sources: Sequence[Source], expected: Expected):
        rows = wide(sources, expected)
        times = rows.column("__time")
        first = times.is_null().to_numpy()
        self.times = np.where(first, np.iinfo(np.int64).min, times.fill_null(0).to_numpy())
        order = np.argsort(self.times, kind="stable")
        self.times = self.times[order]
        self.rows = rows.take(pa.array(order))

    @property
    def identity(self) -> str:
        """The same for the same record."""
        return hashlib.blake2b(self.times.tobytes(), digest_size=8).hexdigest()


class Feeder(threading.Thread):
    """Writes what is due into ``spool``, from where a run before has stopped, until the record ends or it is stopped.

    ``speed``: how many times as fast as it was recorded; None: without delay.  ``error``: what has ended it, if
    something went wrong.  Raises UsageProblem (``missing-unit``) if the length of a tick is unknown.
    """

    def __init__(self, record: Record, spool: Path, speed: float | None, kind: TimeKind):
        super().__init__(name="occurs-replay", daemon=True)
        if speed is not None and kind.tick is None:
            hint = "specify the unit of integer times: --time-unit"
            raise UsageProblem.of("missing-unit", f"--speed {speed:g}: the length of a tick is unknown", hint=hint)
        self._record, self._spool, self._speed, self._tick = record, spool, speed, kind.tick or 1
        self._halt = threading.Event()
        self.error: OccursError | None = None
        spool.mkdir(exist_ok=True)
        names = sorted(p for p in spool.iterdir() if _NAME.fullmatch(p.name))
        self._at = _end(spool, [p.name for p in names])
        self._stamp = _stamped(names)

    def run(self) -> None:
        times = self._record.times
        began, first = time.monotonic(), self._first()
        while self._at < len(times) and not self._halt.is_set():
            to = min(self._at + CHUNK, len(times))
            if self._speed is not None:
                due = first + int((time.monotonic() - began) * self._speed * 1_000_000 / self._tick)
                to = int(np.searchsorted(times, due, side="right"))
            if to > self._at:
                try:
                    self._write(to)
                except OSError as error:
                    text = f"{self._spool}: {error.strerror or error}"
                    self.error = ResourceProblem.of("disk", text)
                    return
            if self._speed is not None and self._at < len(times):
                self._halt.wait(_EVERY)

    def _first(self) -> int:
        """The time that is now: of the row that is next, after a restart too; of the first that has one."""
        known = self._record.times[self._at :]
        known = known[known > np.iinfo(np.int64).min]
        return int(known[0]) if len(known) else 0

    def _write(self, to: int) -> None:
        path = self._spool / f"rows-{self._at:012}-{to:012}.parquet"
        with durable(path, stamp=self._next_stamp()) as out:
            pq.write_table(self._record.rows.slice(self._at, to - self._at), out, write_page_checksum=True)
        self._at = to

    def _next_stamp(self) -> float:
        """Spark takes files in the order of their times of change, which are milliseconds: no two have the same."""
        self._stamp = max(time.time(), self._stamp + 0.002)
        return self._stamp

    @property
    def done(self) -> bool:
        return self._at >= len(self._record.times)

    def stop(self) -> None:
        self._halt.set()
        if self.is_alive():
            self.join()


def _stamped(files: Sequence[Path]) -> float:
    """Let the times of change of files ascend, as they may not in a copy of a checkpoint; returns the last one.

    Spark takes the files in this order, and knows those that it has taken by their names.
    """
    last = 0.0
    for path in files:
        stamp = path.stat().st_mtime
        if stamp <= last:
            stamp = last + 0.002
            os.utime(path, (stamp, stamp))
        last = stamp
    return last


def _end(spool: Path, names: Sequence[str]) -> int:
    """How many rows the files of a spool hold, all from the first.  Raises CheckpointProblem (``bad-checkpoint``)."""
    end = 0
    for first, last in (map(int, re.findall(r"\d+", name)) for name in names):
        if first != end:
            raise CheckpointProblem.damaged(spool, f"a file with the rows from {end:,} to {first:,} is missing")
        end = last
    return end


def stream(session: SparkSession, spool: Path, expected: Expected, *, chunks: bool) -> DataFrame:
    """The wide rows that a feeder writes; ``chunks``: one file per micro-batch."""
    spool.mkdir(exist_ok=True)
    reader = session.readStream.schema(expected.ddl).option("maxFileAge", "36500d").options(**PARQUET)
    if chunks:
        reader = reader.option("maxFilesPerTrigger", "1")
    return reader.parquet(literal(spool))
