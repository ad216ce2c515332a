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
#: groups of up to so many rows are sorted by insertion
_INSERTED = 24


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


# -- numbers for keys --------------------------------------------------------------------------------------------------
#: the least key, keys of a table of open addressing (none: a number for each key from the least on), numbers, how many
_INDEX = types.Tuple((types.int64, _OUT, _OUT, types.int64))


@kernel(_INDEX(_INTS))
def index(keys: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, int]:
    """Numbers 0, 1, ... for keys, in the order in which they first come; to be asked with :func:`number`."""
    n = len(keys)
    if n == 0:
        nothing = np.empty(0, np.int64)
        return 0, nothing, nothing, 0
    least = greatest = keys[0]
    for i in range(n):
        least, greatest = min(least, keys[i]), max(greatest, keys[i])
    width = np.uint64(np.int64(greatest)) - np.uint64(np.int64(least))
    count = 0
    if width <= np.uint64(8 * n + 64):
        numbers = np.full(np.int64(width) + 1, -1, np.int64)
        for i in range(n):
            at = np.uint64(keys[i]) - np.uint64(np.int64(least))
            if numbers[at] < 0:
                numbers[at] = count
                count += 1
        return least, numbers[:0], numbers, count
    size = _table_size(n)
    table = np.zeros(size, np.int64)
    numbers = np.full(size, -1, np.int64)
    for i in range(n):
        s = _slot(keys[i], size)
        while numbers[s] >= 0 and table[s] != keys[i]:
            s = (s + 1) & (size - 1)
        if numbers[s] < 0:
            table[s] = keys[i]
            numbers[s] = count
            count += 1
    return least, table, numbers, count


@kernel(types.int64(_INDEX, types.int64))
def number(index: tuple[int, np.ndarray, np.ndarray, int], key: int) -> int:
    """The number of a key, -1 if it has none."""
    least, table, numbers, _ = index
    if len(table) == 0:
        at = np.uint64(np.int64(key)) - np.uint64(np.int64(least))
        return numbers[np.int64(at)] if at < np.uint64(len(numbers)) else -1
    size = len(table)
    s = _slot(key, size)
    while numbers[s] >= 0 and table[s] != key:
        s = (s + 1) & (size - 1)
    return numbers[s]


@kernel(_OUT(_INDEX, _INTS))
def numbers_of(index: tuple[int, np.ndarray, np.ndarray, int], keys: np.ndarray) -> np.ndarray:
    """The numbers of many keys, -1 of those that have none.

    In a loop this is to be taken rather than :func:`number`, which counts references to the arrays for every key.
    """
    least, table, numbers, _ = index
    out = np.empty(len(keys), np.int64)
    if len(table) == 0:
        most = np.uint64(len(numbers))
        for i in range(len(keys)):
            at = np.uint64(keys[i]) - np.uint64(np.int64(least))
            out[i] = numbers[at] if at < most else -1
        return out
    size = len(table)
    for i in range(len(keys)):
        s = _slot(keys[i], size)
        while numbers[s] >= 0 and table[s] != keys[i]:
            s = (s + 1) & (size - 1)
        out[i] = numbers[s]
    return out


@kernel(types.void(_OUT, _INTS, _INTS, _INTS))
def lower(out: np.ndarray, group: np.ndarray, others: np.ndarray, ticks: np.ndarray) -> None:
    """Lowers ``out`` (per row of ``group``) to the least of the ``ticks`` (per row of ``others``) of its group."""
    known = index(others)
    numbers = numbers_of(known, others)
    least = np.full(known[3], _OPEN, np.int64)
    for i in range(len(others)):
        least[numbers[i]] = min(least[numbers[i]], ticks[i])
    numbers = numbers_of(known, group)
    for i in range(len(group)):
        if numbers[i] >= 0:
            out[i] = min(out[i], least[numbers[i]])


# -- rows in groups ----------------------------------------------------------------------------------------------------
@kernel(types.UniTuple(_OUT, 2)(_INTS, _INTS, _INDEX))
def in_groups(
    group: np.ndarray, tick: np.ndarray, groups: tuple[int, np.ndarray, np.ndarray, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of numbered groups in the order of (number, tick), and where each group begins (and the last ends)."""
    n = len(group)
    # a place further on, so that where a group is filled is where the next one begins when all is done
    start = np.zeros(groups[3] + 2, np.int64)
    numbers = numbers_of(groups, group)
    for i in range(n):
        if numbers[i] >= 0:
            start[numbers[i] + 2] += 1
    for g in range(groups[3]):
        start[g + 2] += start[g + 1]
    order = np.empty(start[-1], np.int64)
    for i in range(n):
        if numbers[i] >= 0:
            order[start[numbers[i] + 1]] = i
            start[numbers[i] + 1] += 1
    start = start[:-1]
    # rows mostly come in the order of time
    for g in range(groups[3]):
        first, last = start[g], start[g + 1]
        if last - first > _INSERTED:
            ascends = True
            for p in range(first + 1, last):
                if tick[order[p]] < tick[order[p - 1]]:
                    ascends = False
                    break
            if not ascends:
                rows = order[first:last].copy()
                by = np.argsort(tick[rows], kind="mergesort")
                for p in range(last - first):
                    order[first + p] = rows[by[p]]
        else:
            for p in range(first + 1, last):
                row = order[p]
                q = p
                while q > first and tick[order[q - 1]] > tick[row]:
                    order[q] = order[q - 1]
                    q -= 1
                order[q] = row
    return order, start


@kernel(types.int64(_OUT, _INTS, types.int64, types.int64, types.int64))
def _first_from(order: np.ndarray, ticks: np.ndarray, lo: int, hi: int, tick: int) -> int:
    """The first place in [lo, hi) whose tick is not less."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if ticks[order[mid]] < tick:
            lo = mid + 1
        else:
            hi = mid
    return lo
