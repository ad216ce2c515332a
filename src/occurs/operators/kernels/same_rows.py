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


#: so many rows are looked at behind a difference, before a hash table of all rows is made; and so many must be alike
#: then, as one may be by chance
NEAR, ALIKE = 8, 6


@kernel
def _alike(old: np.ndarray, new: np.ndarray, i: int, j: int) -> bool:
    """Do both go on alike from here?"""
    for k in range(ALIKE):  # noqa: SIM110 - numba
        if i + k >= len(old) or j + k >= len(new) or old[i + k] != new[j + k]:
            return False
    return True


@kernel
def _shift(old: np.ndarray, new: np.ndarray, i: int, j: int) -> tuple[int, int]:
    """How many rows differ, were removed or were added until both go on alike; (0, 0): more than are looked at."""
    for d in range(1, NEAR + 1):
        if _alike(old, new, i + d, j + d):
            return d, d
        if _alike(old, new, i + d, j):
            return d, 0
        if _alike(old, new, i, j + d):
            return 0, d
    return 0, 0


@kernel
def same_rows(old: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of two tables, given by numbers (uint64), stay in their order: bool per row of each.

    Goes through both at once.  Where they differ, and go on differently for some rows, a row that the other one does
    not have ahead is removed or added; if both have theirs ahead, the one that is nearer is caught up with.
    """
    stays, stayed = np.zeros(len(old), np.bool_), np.zeros(len(new), np.bool_)
    old_slots = old_next = new_slots = new_next = np.zeros(0, np.int64)
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
        of_old, of_new = _shift(old, new, i, j)
        if of_old + of_new > 0:
            i += of_old
            j += of_new
            continue
        if len(old_slots) == 0:
            size = 16
            while size < 2 * max(len(old), len(new)):
                size *= 2
            old_slots, old_next = _next(old, size)
            new_slots, new_next = _next(new, size)
        in_old = _ahead(new[j], old, old_slots, old_next, i)
        in_new = _ahead(old[i], new, new_slots, new_next, j)
        if in_old < 0 or (in_new >= 0 and in_new - j < in_old - i):
            j += 1
        else:
            i += 1
    return stays, stayed


@kernel
def equal_rows(one: np.ndarray, other: np.ndarray, stays: np.ndarray, stayed: np.ndarray) -> bool:
    """Are the rows of (n, words) and (m, words) that booleans choose equal?  As many are chosen of both."""
    j = 0
    for i in range(len(one)):
        if stays[i]:
            while not stayed[j]:
                j += 1
            for k in range(one.shape[1]):
                if one[i, k] != other[j, k]:
                    return False
            j += 1
    return True


@kernel
def mix(numbers: np.ndarray, values: np.ndarray) -> None:
    """Take the values of a column (uint64) into the numbers of rows (uint64), in place."""
    times = np.uint64(0x9E3779B97F4A7C15)
    for row in range(len(numbers)):
        mixed = (numbers[row] ^ values[row]) * times
        numbers[row] = mixed ^ (mixed >> np.uint64(29))


@kernel
def numbers_of_lists(items: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """uint64 per list, of the numbers of its items (uint64) and their places; ``offsets``: lists + 1."""
    mix = np.uint64(0x9E3779B97F4A7C15)
    out = np.empty(len(offsets) - 1, np.uint64)
    for row in range(len(out)):
        total = np.uint64(offsets[row + 1] - offsets[row] + 1) * mix
        for k in range(offsets[row], offsets[row + 1]):
            mixed = (total ^ items[k]) * mix
            total = mixed ^ (mixed >> np.uint64(31))
        out[row] = total
    return out
