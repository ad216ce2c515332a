"""The clock of a stream: from the times that were seen to the frontier, alike in every bucket.

A row may come up to ``delay`` ticks after one with a greater time.  So all instants before the newest time less the
delay are complete: up to there reaches the frontier, which is judged anew at the end of every micro-batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.hosts.stream.records import from_blob, to_blob


@dataclass
class Clock:
    """``newest``, ``least``: greatest and least time of accepted rows; ``last``: the greatest time or end.
    ``frontier``: all instants up to here are complete.  ``start``: where the clock begins; known with the first
    frontier that is not before it."""

    delay: int
    until: int | None = None
    start: int | None = None
    newest: int | None = None
    least: int | None = None
    last: int | None = None
    frontier: int | None = None
    closed: bool = False

    def see(self, lo: int | None, hi: int | None, last: int | None = None) -> None:
        """Rows of these times have come, of which one ends at ``last``."""
        if lo is not None and (self.least is None or lo < self.least):
            self.least = lo
        if hi is not None and (self.newest is None or hi > self.newest):
            self.newest = hi
        for end in (hi, last):
            if end is not None and (self.last is None or end > self.last):
                self.last = end

    def close(self) -> None:
        """Nothing comes any more."""
        self.closed = True

    def judge(self) -> int | None:
        """Move the frontier as far as what was seen allows; None while nothing is complete.  What comes is ordered by
        its times; only when nothing comes any more the clock goes on to the last end."""
        if self.closed:
            until = self.last if self.until is None else self.until
        else:
            until = None if self.newest is None else self.newest - self.delay - 1
        if until is None:
            return self.frontier
        if self.until is not None:
            until = min(until, self.until)
        first = self.least if self.start is None else self.start
        if self.frontier is None and (first is None or until < first):
            return None  # before the clock has begun there is nothing to judge, and nothing is late
        if self.frontier is None or until > self.frontier:
            self.frontier = until
        if self.start is None and self.least is not None and self.least <= self.frontier:
            self.start = self.least
        return self.frontier

    def entry(self) -> dict[str, Any]:
        """Plain JSON; the delay and the end are the query's."""
        return {n: getattr(self, n) for n in ("start", "newest", "least", "last", "frontier", "closed")}

    def load(self, entry: Mapping[str, Any]) -> None:
        for name, value in entry.items():
            setattr(self, name, value)
        if self.last is None:  # written before there were ends
            self.last = self.newest


class Ends:
    """The rows seen by a task whose ends matter: times descending, ends ascending."""

    def __init__(self) -> None:
        self._time = np.zeros(0, np.int64)
        self._end = np.zeros(0, np.int64)

    def see(self, table: pa.Table) -> None:
        """Rows with ``__time`` and ``__end`` (null: none)."""
        ended = table.filter(pc.greater(table.column("__end"), table.column("__time")))
        if ended.num_rows:
            self._keep(ended.column("__time").to_numpy(), ended.column("__end").to_numpy())

    def merge(self, blob: bytes) -> None:
        """What another task has seen."""
        table = from_blob(blob)
        self._keep(table.column("time").to_numpy(), table.column("end").to_numpy())

    def _keep(self, time: np.ndarray, end: np.ndarray) -> None:
        time, end = np.concatenate([self._time, time]), np.concatenate([self._end, end])
        order = np.lexsort((-end, -time))
        time, end = time[order], end[order]
        later = np.ones(len(end), np.bool_)
        later[1:] = end[1:] > np.maximum.accumulate(end)[:-1]
        self._time, self._end = time[later], end[later]

    @property
    def blob(self) -> bytes | None:
        """For :func:`last_end`; None if nothing ends."""
        return to_blob(pa.table({"time": self._time, "end": self._end})) if len(self._time) else None


def last_end(blobs: Iterable[bytes], frontier: int | None) -> int | None:
    """The greatest end of a row with a time after ``frontier``; None if there is none."""
    found: list[int] = []
    for blob in blobs:
        table = from_blob(blob)
        end = table.column("end").to_numpy()
        if frontier is not None:
            end = end[table.column("time").to_numpy() > frontier]
        found += [int(end.max())] if len(end) else []
    return max(found, default=None)
