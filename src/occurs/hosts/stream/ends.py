"""The ends of rows, as the clock must know them when nothing comes any more (common.md, section 1).

Whether a row is late, and so moves no clock, only a bucket knows.  So it is told, for every frontier that may be, which
is the greatest end of the rows behind it: few pairs, as only ends later than those of all younger rows matter.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.hosts.stream.records import from_blob, to_blob


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
