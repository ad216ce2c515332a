"""Look-ups of chains of steps: the first event that fits at or after a place, for all that wait at once (4A, 5)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, over_ranges


@kernel
def _at_least(at: np.ndarray, lo: int, hi: int, low: int) -> int:
    """The first number in [lo, hi) of an entry of ``at`` that is at least ``low``."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if at[mid] < low:
            lo = mid + 1
        else:
            hi = mid
    return lo


@kernel
def first_after(
    code: np.ndarray, low: np.ndarray, limit: np.ndarray, start: np.ndarray, at: np.ndarray, time: np.ndarray
) -> np.ndarray:
    """int64 (n): where the first event of group ``code[i]`` is that is not before place ``low[i]``, -1 if there is none
    with a time before ``limit[i]``.

    ``at``: the places of the events, group by group (``start``: groups + 1), ascending in each; ``time``: of every
    place.  ``limit`` has no entries, or n.  Asked in the order of places, a look-up costs a step of a moving pointer.
    """
    n = len(code)
    groups = len(start) - 1
    bounded = len(limit) > 0
    out = np.full(n, -1, np.int64)
    moving = start[:-1].copy()
    for i in range(n):
        c = code[i]
        if c < 0 or c >= groups:
            continue
        end = start[c + 1]
        p = moving[c]
        place = low[i]
        if p > start[c] and at[p - 1] >= place:
            p = _at_least(at, start[c], p, place)
        else:
            step = 0
            while p < end and at[p] < place and step < 8:
                p += 1
                step += 1
            if step == 8 and p < end and at[p] < place:
                # galloping, so that few questions about many events stay cheap
                width = 16
                while p + width < end and at[p + width] < place:
                    p += width
                    width *= 2
                p = _at_least(at, p, min(end, p + width + 1), place)
        moving[c] = p
        if p < end and (not bounded or time[at[p]] < limit[i]):
            out[i] = at[p]
    return out


@kernel(work=over_ranges)
def spread(lo: np.ndarray, hi: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All entries of the ranges [lo[i], hi[i]) of ``at``, range by range: (i, entry)."""
    total = 0
    for i in range(len(lo)):
        total += max(0, hi[i] - lo[i])
    which = np.empty(total, np.int64)
    entry = np.empty(total, np.int64)
    k = 0
    for i in range(len(lo)):
        for p in range(lo[i], hi[i]):
            which[k] = i
            entry[k] = at[p]
            k += 1
    return which, entry


@kernel
def in_order(keys: np.ndarray) -> bool:
    """Are the columns of ``keys`` (keys, n) in lexicographic order, the first key first?"""
    for i in range(1, keys.shape[1]):
        for k in range(keys.shape[0]):
            a = keys[k, i - 1]
            b = keys[k, i]
            if a < b:
                break
            if a > b:
                return False
    return True
