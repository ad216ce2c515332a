"""Local time for ``timer:at``, and its instances whose next instant is not known yet."""

from __future__ import annotations

import numpy as np

from occurs.model.zones import changes
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.pattern_machine import next_instant
from occurs.operators.merging import Stream
from occurs.operators.sequence.layout import Layout
from occurs.operators.sequence.work import Work

_LEAST = -(2**62)
_SECOND = 1_000_000
#: what a calendar can name, in microseconds since 1970: the years 1 to 9999
_FIRST, _LAST = -62_135_596_800 * _SECOND, 253_402_300_799 * _SECOND


def segments_of(layout: Layout, stream: Stream) -> np.ndarray:
    """int64 (n, 2): from which second of UTC on local time is how many seconds ahead of UTC."""
    if layout.zone == "UTC":
        return np.array([[_LEAST, 0]], np.int64)
    assert stream.start is not None
    between = (min(max(at * layout.tick, _FIRST), _LAST) for at in (stream.start, stream.frontier))
    starts, ahead = changes(layout.zone, *between)
    return np.column_stack([starts, ahead]) // _SECOND


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
