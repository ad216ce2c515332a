"""Kernels over rows with a group and a tick: sorted, searched, told apart.  For few rows they cost next to nothing.

Groups and ticks are any int64.  Every kernel is compiled once: for arrays of any stride, that may be read-only.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.codes import _slot

_INTS = types.Array(types.int64, 1, "A", readonly=True)
_OUT = types.Array(types.int64, 1, "C")
_FLAGS = types.Array(types.boolean, 1, "C")
_OPEN = 2**63 - 1


@kernel(types.int64(types.int64))
def _table_size(n: int) -> int:
    """The size of a table of open addressing for ``n`` keys."""
    size = 16
    while size < 2 * n:
        size *= 2
    return size


@kernel(_FLAGS(_INTS, _INTS))
def member(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Which of ``values`` are in ``among``."""
    n, m = len(values), len(among)
    out = np.zeros(n, np.bool_)
    if n == 0 or m == 0:
        return out
    least = among[0]
    greatest = among[0]
    for i in range(m):
        least = min(least, among[i])
        greatest = max(greatest, among[i])
    width = np.uint64(np.int64(greatest)) - np.uint64(np.int64(least))
    if width <= np.uint64(8 * (n + m) + 64):
        there = np.zeros(np.int64(width) + 1, np.bool_)
        for i in range(m):
            there[among[i] - least] = True
        for i in range(n):
            v = values[i]
            if least <= v <= greatest:
                out[i] = there[v - least]
        return out
    size = _table_size(m)
    keys = np.zeros(size, np.int64)
    used = np.zeros(size, np.bool_)
    for i in range(m):
        s = _slot(among[i], size)
        while used[s] and keys[s] != among[i]:
            s = (s + 1) & (size - 1)
        used[s] = True
        keys[s] = among[i]
    for i in range(n):
        s = _slot(values[i], size)
        while used[s] and keys[s] != values[i]:
            s = (s + 1) & (size - 1)
        out[i] = used[s]
    return out


@kernel(_FLAGS(_INTS, _INTS, _INTS))
def dominated(group: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Of rows in the order of (group, start): which have another one in their group that starts no earlier and ends no
    later; of equal ones the first has not."""
    out = np.ones(len(group), np.bool_)
    least = 0
    last = len(group) - 1
    while last >= 0:
        # all rows of one start: only the first to end can matter
        first = last
        best = last
        while first > 0 and group[first - 1] == group[last] and start[first - 1] == start[last]:
            first -= 1
            if end[first] <= end[best]:
                best = first
        if last == len(group) - 1 or group[last + 1] != group[last] or end[best] < least:
            out[best] = False
            least = end[best]
        last = first - 1
    return out


@kernel(_OUT(_INTS, _INTS))
def combined(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """One number >= 0 per row, equal where both are; none at all if they would not be small enough."""
    n = len(left)
    if n == 0:
        return np.empty(0, np.int64)
    least, greatest, low, high = left[0], left[0], right[0], right[0]
    for i in range(n):
        least, greatest = min(least, left[i]), max(greatest, left[i])
        low, high = min(low, right[i]), max(high, right[i])
    rows = np.uint64(np.int64(greatest)) - np.uint64(np.int64(least))
    size = np.uint64(np.int64(high)) - np.uint64(np.int64(low))
    if np.float64(rows + np.uint64(1)) * np.float64(size + np.uint64(1)) >= 2.0**62 or max(rows, size) >= 1 << 62:
        return np.empty(0, np.int64)
    step = np.int64(size) + 1
    out = np.empty(n, np.int64)
    for i in range(n):
        out[i] = (left[i] - least) * step + (right[i] - low)
    return out


@kernel(types.UniTuple(types.int64, 2)(_INTS))
def extremes(ticks: np.ndarray) -> tuple[int, int]:
    """The least and the greatest; of nothing 0 and -1."""
    if len(ticks) == 0:
        return 0, -1
    least = greatest = ticks[0]
    for i in range(len(ticks)):
        least = min(least, ticks[i])
        greatest = max(greatest, ticks[i])
    return least, greatest


@kernel(types.boolean(_INTS))
def ascending(ticks: np.ndarray) -> bool:
    """Whether none is less than the one before."""
    for i in range(1, len(ticks)):  # noqa: SIM110 - numba
        if ticks[i] < ticks[i - 1]:
            return False
    return True


@kernel(types.boolean(_INTS))
def silent(ticks: np.ndarray) -> bool:
    """Whether all are the greatest int64."""
    for i in range(len(ticks)):  # noqa: SIM110 - numba
        if ticks[i] != _OPEN:
            return False
    return True


@kernel(_OUT(_INTS))
def tied(ticks: np.ndarray) -> np.ndarray:
    """The rows that are equal to the one before or to the next."""
    n = len(ticks)
    out = np.empty(n, np.int64)
    found = 0
    for i in range(n):
        if (i > 0 and ticks[i - 1] == ticks[i]) or (i + 1 < n and ticks[i + 1] == ticks[i]):
            out[found] = i
            found += 1
    return out[:found]
