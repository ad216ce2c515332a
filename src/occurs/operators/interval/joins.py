"""Rows found, grouped and joined by their bindings: index arithmetic on whole columns.

A *key* is one int64 per row that stands for its binding (:func:`occurs.operators.interval.codes.joint`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occurs.kernel import kernel
from occurs.operators.codes import IntTable, _slot
from occurs.operators.interval.codes import dense, joint
from occurs.operators.interval.signals import NEVER, OPEN, Codes, Points, Signal, Spans
from occurs.operators.kernels.intervals import ascending, extremes
from occurs.operators.kernels.intervals import member as member
from occurs.operators.kernels.range_scan import first_marks
from occurs.operators.kernels.row_index import find_ranges, group_rows

_ALL = np.zeros(0, np.bool_)
#: keys (and spans of time) below this can be put together in pairs
_HALF = 1 << 31


def pick(codes: Codes, of: Sequence[str], wanted: Sequence[str]) -> Codes:
    """The codes of the variables ``wanted``, out of those of the variables ``of``."""
    return tuple(codes[of.index(v)] for v in wanted)


def union(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """All variables of both, sorted."""
    return tuple(sorted({*left, *right}))


def shared(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """The variables that both have, sorted."""
    return tuple(sorted(set(left) & set(right)))


def joined(
    variables: tuple[str, ...],
    left: tuple[tuple[str, ...], Codes, np.ndarray],
    right: tuple[tuple[str, ...], Codes, np.ndarray],
) -> Codes:
    """The codes of ``variables`` for pairs of rows; a side is its variables, its codes and its row per pair."""
    names, codes, i = left
    others, more, j = right
    return tuple(codes[names.index(v)][i] if v in names else more[others.index(v)][j] for v in variables)


def as_points(signal: Signal) -> Points:
    """The signal of an event formula."""
    assert isinstance(signal, Points)
    return signal


def as_spans(signal: Signal) -> Spans:
    """The signal of a state formula."""
    assert isinstance(signal, Spans)
    return signal


def shifted(time: int, ticks: int) -> int:
    """``time`` and some ticks (or less, if negative); what never was or never comes stays so, nothing wraps."""
    return time if time in (NEVER, OPEN) else max(NEVER, min(time + ticks, OPEN))


# --- finding ----------------------------------------------------------------------------------------------------------


@kernel
def _probe(values: np.ndarray, keys: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The codes of ``values`` in a table of open addressing (:class:`IntTable`), -1 if they are not there."""
    size = len(keys)
    out = np.empty(len(values), np.int64)
    for i in range(len(values)):
        s = _slot(values[i], size)
        while codes[s] >= 0 and keys[s] != values[i]:
            s = (s + 1) & (size - 1)
        out[i] = codes[s]
    return out


class Numbers:
    """Equal keys as equal numbers 0 <= number < ``size``: of the keys given (``given``), or any (:meth:`of`)."""

    def __init__(self, keys: np.ndarray) -> None:
        self._table: IntTable | None = None
        low, high = extremes(keys)
        if low >= 0 and high < 4 * len(keys) + 256:
            # small keys are their own numbers; not every number has a row then
            self.given, self.size = keys, high + 1
        else:
            self._table = IntTable()
            self.given, self.size = self._table.encode(keys, None, 0)

    def of(self, keys: np.ndarray) -> np.ndarray:
        """The numbers of ``keys``, -1 for what was not given."""
        if self._table is None:
            return np.where((keys >= 0) & (keys < self.size), keys, -1)
        return _probe(keys, self._table.keys, self._table.codes)


def find(keys: np.ndarray, among: np.ndarray) -> np.ndarray:
    """For every key a row of ``among`` that is equal to it (the last), -1 if there is none."""
    if not len(among) or not len(keys):
        return np.full(len(keys), -1, np.int64)
    numbers = Numbers(among)
    row = np.full(numbers.size + 1, -1, np.int64)  # one more, for the number -1
    row[numbers.given] = np.arange(len(among))
    return row[numbers.of(keys)]


def firsts(keys: np.ndarray) -> np.ndarray:
    """Booleans (n): the first row of every key."""
    codes, _ = IntTable().encode(keys, None, 0)
    out = np.ones(len(keys), np.bool_)
    # codes are given in the order of appearance: a new one is greater than all before it
    out[1:] = codes[1:] > np.maximum.accumulate(codes)[:-1]
    return out


def with_times(keys: Sequence[np.ndarray], times: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Keys of (key, time): one int64 per row of every side, equal where both are."""
    if any(len(k) and (int(k.max()) >= _HALF or int(k.min()) < 0) for k in keys):
        keys = dense(keys)
    used = [t for t in times if len(t)]
    if not used:
        return list(times)
    low, high = min(int(t.min()) for t in used), max(int(t.max()) for t in used)
    small = [t - low for t in times] if high - low < _HALF else dense(times)
    return [(k << 32) | t for k, t in zip(keys, small)]


def instants(sides: Sequence[tuple[Codes, np.ndarray]]) -> list[np.ndarray]:
    """Keys of (binding, time) of each side."""
    return with_times(joint([(codes, len(time)) for codes, time in sides]), [time for _, time in sides])


def take_points(points: Points, at: np.ndarray) -> Points:
    """The rows ``at`` (row numbers, or booleans)."""
    return Points(tuple(c[at] for c in points.codes), points.time[at], points.since, points.complete)


def distinct(points: Points) -> Points:
    """The same without repetitions."""
    if len(points) < 2:
        return points
    if ascending(points.time):
        # rows in order of time: it is enough to look at the one before of the same binding
        new, again = first_marks(joint([(points.codes, len(points))])[0], points.time)
        return take_points(points, new) if again else points
    new = firsts(instants([(points.codes, points.time)])[0])
    return points if new.all() else take_points(points, new)


# --- grouping and joining ---------------------------------------------------------------------------------------------


class Groups:
    """Rows grouped by key, within a key by time, ties in the given order.

    ``order``: row numbers (n), grouped.  ``time``: their times.  ``start``: where each group begins (and the last
    ends).  ``number``: of the group of every row, in the given order.
    """

    def __init__(self, key: np.ndarray, time: np.ndarray) -> None:
        self._numbers = Numbers(key)
        self.number = self._numbers.given
        if not ascending(time):
            by_time = np.argsort(time, kind="stable")
            order, self.start = group_rows(self.number[by_time], self._numbers.size, _ALL)
            self.order = by_time[order]
        else:
            self.order, self.start = group_rows(self.number, self._numbers.size, _ALL)
        self.time = time[self.order]

    def between(self, key: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per request the places [lo, hi) in ``order`` of the rows of ``key`` with ``low <= time <= high``."""
        return find_ranges(self._numbers.of(key), low, high, self.start, self.time)

    def next(self, key: np.ndarray, after: np.ndarray, default: int) -> np.ndarray:
        """Per request the least time of ``key`` that is greater than ``after`` (which is no greatest int64)."""
        if not len(self.time):
            return np.full(len(key), default, np.int64)
        lo, hi = self.between(key, after + 1, np.full(len(key), np.iinfo(np.int64).max))
        return np.where(lo < hi, self.time[np.minimum(lo, len(self.time) - 1)], default)


def expand(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All (row of the request, place) of the places [lo, hi) of requests."""
    counts = np.maximum(hi - lo, 0)
    row = np.repeat(np.arange(len(lo)), counts)
    first = np.cumsum(counts) - counts
    return row, np.arange(len(row)) + (lo - first)[row]


def pairs(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row numbers of all pairs with equal keys, in the order of ``left``."""
    if not len(left) or not len(right):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbers = Numbers(right)
    order, start = group_rows(numbers.given, numbers.size, _ALL)
    start = np.append(start, start[-1])  # of the number -1: nothing
    number = numbers.of(left)
    number[number < 0] = numbers.size
    row, place = expand(start[number], start[number + 1])
    return row, order[place]
