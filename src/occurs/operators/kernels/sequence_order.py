"""Order for the machine of patterns: the instances that an event informs, and sets of events."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel


@kernel
def _earlier(a: np.ndarray, b: np.ndarray) -> bool:
    return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1])


@kernel
def _sink(picked: np.ndarray, root: int, n: int) -> None:
    """Heap sort: let the row at ``root`` sink below those of [root, n) that come later."""
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and _earlier(picked[child], picked[child + 1]):
            child += 1
        if not _earlier(picked[root], picked[child]):
            return
        for k in range(picked.shape[1]):
            picked[root, k], picked[child, k] = picked[child, k], picked[root, k]
        root = child


# NumPy's sorting is compiled into each caller under names that caches of several processes may mix up (`sort` and
# `argsort` are built of functions of the same names and types), so the few sorts here are plain code


@kernel
def in_order(picked: np.ndarray, n: int) -> None:
    """Sort the picked instances (number, serial, class, ..) by class and serial."""
    for k in range(1, n):
        if _earlier(picked[k], picked[k - 1]):
            break
    else:
        return
    for root in range(n // 2 - 1, -1, -1):
        _sink(picked, root, n)
    for end in range(n - 1, 0, -1):
        for k in range(picked.shape[1]):
            picked[0, k], picked[end, k] = picked[end, k], picked[0, k]
        _sink(picked, 0, end)


@kernel
def different(values: np.ndarray, n: int) -> np.ndarray:
    """The first ``n`` values, each once, ascending."""
    rows = np.zeros((n, 3), np.int64)
    rows[:, 1] = values[:n]
    in_order(rows, n)
    out = np.zeros(n, np.int64)
    found = 0
    for k in range(n):
        if k == 0 or rows[k, 1] != rows[k - 1, 1]:
            out[found] = rows[k, 1]
            found += 1
    return out[:found].copy()


@kernel
def place_of(values: np.ndarray, value: int) -> int:
    """Where ``value`` is in ascending ``values``; -1: nowhere."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < len(values) and values[low] == value else -1
