"""Aggregation kernels over ranges ``[lo, hi)`` of a column that lies in index order.

Counts, integer sums, extremes and first/last cost the same for every length of range.  Float sums are exact (and so do
not depend on how the history was cut): Shewchuk's partial sums, correctly rounded as ``math.fsum``.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def prefix_sums(values: np.ndarray) -> np.ndarray:
    """n + 1 sums modulo 2**64: differences are right whenever the true sum fits into int64."""
    out = np.empty(len(values) + 1, np.int64)
    total = np.int64(0)
    out[0] = 0
    for i in range(len(values)):
        total += values[i]
        out[i + 1] = total
    return out


@njit(cache=True, nogil=True)
def next_true(flags: np.ndarray) -> np.ndarray:
    """For every position (n + 1) the first position at or after it whose flag is set, else n."""
    n = len(flags)
    out = np.empty(n + 1, np.int64)
    out[n] = n
    for i in range(n - 1, -1, -1):
        out[i] = i if flags[i] else out[i + 1]
    return out


@njit(cache=True, nogil=True)
def last_true(flags: np.ndarray) -> np.ndarray:
    """For every position (n + 1) the last position before it whose flag is set, else -1."""
    n = len(flags)
    out = np.empty(n + 1, np.int64)
    out[0] = -1
    for i in range(n):
        out[i + 1] = i if flags[i] else out[i]
    return out


@njit(cache=True, nogil=True)
def _add_exact(partials: np.ndarray, used: int, x: float) -> int:
    """Add ``x`` to the non-overlapping ``partials``; returns how many there are now."""
    kept = 0
    for j in range(used):
        y = partials[j]
        if abs(x) < abs(y):
            x, y = y, x
        hi = x + y
        lo = y - (hi - x)
        if lo != 0.0:
            partials[kept] = lo
            kept += 1
        x = hi
    partials[kept] = x
    return kept + 1


@njit(cache=True, nogil=True)
def _round_exact(partials: np.ndarray, used: int) -> float:
    """The sum of ``partials``, rounded half to even once."""
    if used == 0:
        return 0.0
    n = used - 1
    hi = partials[n]
    lo = 0.0
    while n > 0:
        x = hi
        n -= 1
        y = partials[n]
        hi = x + y
        lo = y - (hi - x)
        if lo != 0.0:
            break
    if n > 0 and ((lo < 0.0 and partials[n - 1] < 0.0) or (lo > 0.0 and partials[n - 1] > 0.0)):
        y = lo * 2.0
        x = hi + y
        if y == x - hi:
            hi = x
    return hi


@njit(cache=True, nogil=True)
def float_sums(values: np.ndarray, valid: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Exact sums of each range.  Sums that leave the range of doubles are infinite."""
    out = np.zeros(len(lo), np.float64)
    partials = np.empty(64, np.float64)
    for i in range(len(lo)):
        used = 0
        plain = 0.0
        finite = True
        for p in range(lo[i], hi[i]):
            if valid[p]:
                v = values[p]
                plain += v
                if not np.isfinite(v):
                    finite = False
                if finite:
                    used = _add_exact(partials, used, v)
        out[i] = _round_exact(partials, used) if finite and np.isfinite(plain) else plain
    return out


@njit(cache=True, nogil=True)
def deviations(values: np.ndarray, valid: np.ndarray, lo: np.ndarray, hi: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Sample standard deviations about the given means; NaN below two values."""
    out = np.full(len(lo), np.nan)
    partials = np.empty(64, np.float64)
    for i in range(len(lo)):
        used = 0
        count = 0
        for p in range(lo[i], hi[i]):
            if valid[p]:
                d = values[p] - mean[i]
                used = _add_exact(partials, used, d * d)
                count += 1
        if count > 1:
            out[i] = np.sqrt(_round_exact(partials, used) / (count - 1))
    return out


@njit(cache=True, nogil=True)
def middles(
    rank: np.ndarray, valid: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the two middle values (equal for odd counts), by ``rank``; -1 for empty ranges."""
    n = len(lo)
    left = np.full(n, -1, np.int64)
    right = np.full(n, -1, np.int64)
    for i in range(n):
        count = 0
        for p in range(lo[i], hi[i]):
            if valid[p]:
                count += 1
        if count == 0:
            continue
        keys = np.empty(count, np.int64)
        where = np.empty(count, np.int64)
        k = 0
        for p in range(lo[i], hi[i]):
            if valid[p]:
                keys[k] = rank[p]
                where[k] = p
                k += 1
        by = np.argsort(keys)
        left[i] = where[by[(count - 1) // 2]]
        right[i] = where[by[count // 2]]
    return left, right


@njit(cache=True, nogil=True)
def sparse_table(rank: np.ndarray, levels: int, least: bool) -> np.ndarray:
    """``table[k, i]``: position of the least (greatest) rank in [i, i + 2**k); ranks < 0 count as absent."""
    n = len(rank)
    table = np.full((levels, max(n, 1)), -1, np.int64)
    for i in range(n):
        if rank[i] >= 0:
            table[0, i] = i
    for k in range(1, levels):
        half = 1 << (k - 1)
        for i in range(n - (1 << k) + 1):
            a = table[k - 1, i]
            b = table[k - 1, i + half]
            if a < 0 or (b >= 0 and ((rank[b] < rank[a]) if least else (rank[b] > rank[a]))):
                table[k, i] = b
            else:
                table[k, i] = a
    return table


@njit(cache=True, nogil=True)
def extremes(table: np.ndarray, rank: np.ndarray, lo: np.ndarray, hi: np.ndarray, least: bool) -> np.ndarray:
    """Positions of the least (greatest) value of each range, -1 if it has none."""
    n = len(lo)
    out = np.full(n, -1, np.int64)
    for i in range(n):
        width = hi[i] - lo[i]
        if width <= 0:
            continue
        k = 0
        while (2 << k) <= width:
            k += 1
        a = table[k, lo[i]]
        b = table[k, hi[i] - (1 << k)]
        if a < 0 or (b >= 0 and ((rank[b] < rank[a]) if least else (rank[b] > rank[a]))):
            out[i] = b
        else:
            out[i] = a
    return out
