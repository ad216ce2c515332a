"""Index kernels: rows grouped by key code, and the ranges of rows in windows of time."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

_LAST_TICK = 2**63 - 1


@kernel
def group_rows(code: np.ndarray, n_codes: int, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counting sort of rows by code; rows with code < 0, or not ``keep`` (if it has rows), are left out.

    Returns ``order`` (row numbers, grouped by code, in row order within) and ``start`` (n_codes + 1).
    """
    n = len(code)
    all_rows = len(keep) == 0
    start = np.zeros(n_codes + 1, np.int64)
    for i in range(n):
        if code[i] >= 0 and (all_rows or keep[i]):
            start[code[i] + 1] += 1
    for c in range(n_codes):
        start[c + 1] += start[c]
    order = np.empty(start[n_codes], np.int64)
    put = start[:-1].copy()
    for i in range(n):
        c = code[i]
        if c >= 0 and (all_rows or keep[i]):
            order[put[c]] = i
            put[c] += 1
    return order, start


@kernel
def _lower(time: np.ndarray, lo: int, hi: int, t: int) -> int:
    """The first position in [lo, hi) whose time is at least ``t``."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if time[mid] < t:
            lo = mid + 1
        else:
            hi = mid
    return lo


@kernel
def find_ranges(
    code: np.ndarray, low: np.ndarray, high: np.ndarray, start: np.ndarray, time: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each request the positions [lo, hi) of its code's group with ``low <= time <= high``.

    Requests in time order cost a step of two moving pointers; others a binary search.
    """
    n = len(code)
    groups = len(start) - 1
    lo = np.zeros(n, np.int64)
    hi = np.zeros(n, np.int64)
    at_low = start[:-1].copy()
    at_high = start[:-1].copy()
    for i in range(n):
        c = code[i]
        if c < 0 or c >= groups:
            continue
        first = start[c]
        end = start[c + 1]
        if first == end:
            continue
        for side in range(2):
            t = low[i] if side == 0 else min(high[i], _LAST_TICK - 1) + 1
            p = at_low[c] if side == 0 else at_high[c]
            if p > first and time[p - 1] >= t:
                p = _lower(time, first, p, t)
            else:
                step = 0
                while p < end and time[p] < t and step < 8:
                    p += 1
                    step += 1
                if step == 8 and p < end and time[p] < t:
                    # galloping, so that a rare request over many rows stays cheap
                    width = 16
                    while p + width < end and time[p + width] < t:
                        p += width
                        width *= 2
                    p = _lower(time, p, min(end, p + width + 1), t)
            if side == 0:
                at_low[c] = p
                lo[i] = p
            else:
                at_high[c] = p
                hi[i] = p
        if high[i] == _LAST_TICK:
            hi[i] = end
        if hi[i] < lo[i]:
            hi[i] = lo[i]
    return lo, hi


@kernel
def is_sorted(time: np.ndarray) -> bool:
    for i in range(1, len(time)):  # noqa: SIM110 - numba
        if time[i] < time[i - 1]:
            return False
    return True
