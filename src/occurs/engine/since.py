"""Tables as a definition sees them that was added while a stream was running: only what came after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from occurs.operators.lasting.signals import Intervals, Points, Signal, Spans
from occurs.operators.rows import Rows


class Since(Mapping[str, Rows]):
    """The rows of ``tables`` with times after ``born``; past and new rows stay apart."""

    def __init__(self, tables: Mapping[str, Rows], born: int):
        self._tables = tables
        self._born = born
        self._cut: dict[str, tuple[Rows, Rows]] = {}

    def __getitem__(self, type: str) -> Rows:
        rows = self._tables[type]
        known = self._cut.get(type)
        if known is not None and known[0] is rows:
            return known[1]
        first = int(np.searchsorted(rows.time, self._born, side="right"))
        part = rows if first == 0 else rows.slice(first, None, max(0, rows.new - first))
        self._cut[type] = (rows, part)
        return part

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def signal_since(signal: Signal, born: int) -> Signal:
    """What of a signal happens, or begins, after ``born``; up to when it is complete stays as it is."""

    def later(rows: Intervals) -> Intervals:
        after = rows.start > born
        return rows if after.all() else rows.take(after)

    if isinstance(signal, Points):
        after = signal.time > born
        if after.all():
            return signal
        return replace(signal, codes=tuple(c[after] for c in signal.codes), time=signal.time[after])
    if isinstance(signal, Spans):
        began = later(signal.began)
        return replace(signal, closed=later(signal.closed), began=began, open=later(signal.open))
    return replace(signal, closed=later(signal.closed), open=later(signal.open))
