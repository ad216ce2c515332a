"""Which rows two tables have in common, in the same order."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel


@kernel
def _next(rows: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """By slot of a hash table the first row with a number; by row the next one with the same number.  -1: none."""
    mask = np.uint64(size - 1)
    slots, following = np.full(size, -1, np.int64), np.full(len(rows), -1, np.int64)
    for i in range(len(rows) - 1, -1, -1):
        s = (rows[i] ^ (rows[i] >> np.uint64(32))) & mask
        while slots[s] >= 0 and rows[slots[s]] != rows[i]:
            s = (s + np.uint64(1)) & mask
        following[i] = slots[s]
        slots[s] = i
    return slots, following


@kernel
def _ahead(number: np.uint64, rows: np.ndarray, slots: np.ndarray, following: np.ndarray, begin: int) -> int:
    """The first row with a number from ``begin`` on, which only grows; -1: none."""
    mask = np.uint64(len(slots) - 1)
    s = (number ^ (number >> np.uint64(32))) & mask
    while slots[s] >= 0 and rows[slots[s]] != number:
        s = (s + np.uint64(1)) & mask
    at = slots[s]
    while 0 <= at < begin:
        if following[at] < 0:
            return -1
        slots[s] = at = following[at]
    return at


@kernel
def same_rows(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of two tables, given by numbers (uint64), stay in their order: bool per row of each.

    Goes through both at once.  Where they differ, a row that the other one does not have ahead is removed or added; if
    both have theirs ahead, the one that is nearer is caught up with.
    """
    size = 16
    while size < 2 * max(len(old), len(new)):
        size *= 2
    old_slots, old_next = _next(old, size)
    new_slots, new_next = _next(new, size)
    stays, stayed = np.zeros(len(old), np.bool_), np.zeros(len(new), np.bool_)
    i = j = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            stays[i], stayed[j] = True, True
            i += 1
            j += 1
            continue
        if i + 1 < len(old) and j + 1 < len(new) and old[i + 1] == new[j + 1]:  # one row has other values
            i += 1
            j += 1
            continue
        in_old = _ahead(new[j], old, old_slots, old_next, i)
        in_new = _ahead(old[i], new, new_slots, new_next, j)
        if in_old < 0 or (in_new >= 0 and in_new - j < in_old - i):
            j += 1
        else:
            i += 1
    return stays, stayed
