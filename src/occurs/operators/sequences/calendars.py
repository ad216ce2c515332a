"""Local time for ``timer:at``, and its instances whose next instant is not known yet."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.operators.kernels import sequence_tables as T
from occurs.operators.kernels.sequence_calendar import next_instant
from occurs.operators.sequences.layout import Layout
from occurs.operators.sequences.stream import Stream
from occurs.operators.sequences.work import Work

_LEAST = -(2**62)
_HOUR = 3600
#: what a calendar can name, in seconds since 1970: the years 1 to 9999
_FIRST, _LAST = -62_135_596_800, 253_402_300_799


def segments_of(layout: Layout, stream: Stream) -> np.ndarray:
    """int64 (n, 2): from which second of UTC on local time is how many seconds ahead of UTC."""
    if layout.zone == "UTC":
        return np.array([[_LEAST, 0]], np.int64)
    assert stream.start is not None
    first, last = stream.start * layout.tick // 1_000_000, stream.frontier * layout.tick // 1_000_000
    first, last = max(_FIRST, first - 2 * 86_400), min(_LAST, last + 2 * 86_400)
    grid = np.append(np.arange(first // _HOUR * _HOUR, last, _HOUR), last)
    ahead = _ahead(grid, layout.zone)
    changes = np.flatnonzero(ahead[1:] != ahead[:-1])
    low, high = grid[changes], grid[changes + 1]
    # the second from which on the later one holds
    while len(low) and (high - low > 1).any():
        middle = (low + high) // 2
        later = _ahead(middle, layout.zone) == ahead[changes + 1]
        high = np.where(later, middle, high)
        low = np.where(later, low, middle)
    starts = np.concatenate([[_LEAST], high])
    return np.column_stack([starts, np.concatenate([ahead[:1], ahead[changes + 1]])]).astype(np.int64)


def _ahead(seconds: np.ndarray, zone: str) -> np.ndarray:
    utc = pa.array(seconds * 1_000_000).view(pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC"))
    local = pc.local_timestamp(utc.cast(pa.timestamp("us", tz=zone)))
    return local.view(pa.int64()).to_numpy() // 1_000_000 - seconds


def next_due(work: Work, layout: Layout, segments: np.ndarray, stream: Stream) -> None:
    """Of instances of earlier calls no instant is in these: it is the first one of this call, if there is one."""
    if stream.since is None:
        return
    inst = work.arrays[1]
    for number, row in enumerate(layout.node_table):
        if row[T.KIND] != T.AT:
            continue
        waiting = np.flatnonzero(inst[: work.reg[T.USED], T.NODE] == number)
        if len(waiting):
            allowed = layout.calendars[row[T.ONE]]
            due = next_instant(allowed, layout.tick, segments, stream.since, stream.frontier)
            inst[waiting, T.DUE] = due
