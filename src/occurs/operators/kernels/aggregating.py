"""Aggregation kernels over ranges ``[lo, hi)`` of a column that lies in index order.

Counts, integer sums, extremes and first/last cost the same for every length of range.  Float sums here are for short
ranges (long ones: exactsums.py); they are exact too, so that nothing depends on how the history was cut: Shewchuk's
partial sums, correctly rounded as ``math.fsum``.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel


@kernel
def prefix_sums(values: np.ndarray) -> np.ndarray:
    """n + 1 sums modulo 2**64: differences are right whenever the true sum fits into int64."""
    out = np.empty(len(values) + 1, np.int64)
    total = np.int64(0)
    out[0] = 0
    for i in range(len(values)):
        total += values[i]
        out[i + 1] = total
    return out


@kernel
def next_true(flags: np.ndarray) -> np.ndarray:
    """For every position (n + 1) the first position at or after it whose flag is set, else n."""
    n = len(flags)
    out = np.empty(n + 1, np.int64)
    out[n] = n
    for i in range(n - 1, -1, -1):
        out[i] = i if flags[i] else out[i + 1]
    return out


@kernel
def last_true(flags: np.ndarray) -> np.ndarray:
    """For every position (n + 1) the last position before it whose flag is set, else -1."""
    n = len(flags)
    out = np.empty(n + 1, np.int64)
    out[0] = -1
    for i in range(n):
        out[i + 1] = i if flags[i] else out[i]
    return out


@kernel
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


@kernel
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


@kernel
def float_sums(values: np.ndarray, valid: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Exact sums of each range, over finite values so small that no partial sum overflows."""
    out = np.zeros(len(lo), np.float64)
    partials = np.empty(64, np.float64)
    for i in range(len(lo)):
        used = 0
        for p in range(lo[i], hi[i]):
            if valid[p]:
                used = _add_exact(partials, used, values[p])
        out[i] = _round_exact(partials, used)
    return out


@kernel
def ranked(
    rank: np.ndarray, lo: np.ndarray, hi: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the values that are ``first`` and ``second`` by ``rank`` (-1: null) in each range; -1 for none."""
    n = len(lo)
    left = np.full(n, -1, np.int64)
    right = np.full(n, -1, np.int64)
    for i in range(n):
        count = 0
        for p in range(lo[i], hi[i]):
            if rank[p] >= 0:
                count += 1
        keys = np.empty(count, np.int64)
        where = np.empty(count, np.int64)
        k = 0
        for p in range(lo[i], hi[i]):
            if rank[p] >= 0:
                keys[k] = rank[p]
                where[k] = p
                k += 1
        by = np.argsort(keys)
        if 0 <= first[i] < count:
            left[i] = where[by[first[i]]]
        if 0 <= second[i] < count:
            right[i] = where[by[second[i]]]
    return left, right


#: extremes are kept per block of this many positions
BLOCK = 16


@kernel
def _better(rank: np.ndarray, a: int, b: int, least: bool) -> int:
    """That of two positions with the less (greater) rank, the first of equals; -1 is no position."""
    if a < 0:
        return b
    if b < 0:
        return a
    if least:
        return b if rank[b] < rank[a] else a
    return b if rank[b] > rank[a] else a


@kernel
def block_extremes(rank: np.ndarray, levels: int, least: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions of the least (greatest) rank (ranks < 0 are absent) up to each position in its block, from each
    position on in its block, and ``table[k, b]`` of the blocks [b, b + 2**k)."""
    n = len(rank)
    blocks = (n + BLOCK - 1) // BLOCK
    before = np.full(n, -1, np.int64)
    after = np.full(n, -1, np.int64)
    table = np.full((levels, max(blocks, 1)), -1, np.int64)
    for b in range(blocks):
        end = min(n, (b + 1) * BLOCK)
        best = -1
        for i in range(b * BLOCK, end):
            best = _better(rank, best, i if rank[i] >= 0 else -1, least)
            before[i] = best
        table[0, b] = best
        best = -1
        for i in range(end - 1, b * BLOCK - 1, -1):
            best = _better(rank, i if rank[i] >= 0 else -1, best, least)
            after[i] = best
    for k in range(1, levels):
        half = 1 << (k - 1)
        for b in range(blocks - (1 << k) + 1):
            table[k, b] = _better(rank, table[k - 1, b], table[k - 1, b + half], least)
    return before, after, table


@kernel
def extremes(
    before: np.ndarray,
    after: np.ndarray,
    table: np.ndarray,
    rank: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    least: bool,
) -> np.ndarray:
    """Positions of the least (greatest) value of each range, -1 if it has none."""
    n = len(lo)
    out = np.full(n, -1, np.int64)
    for i in range(n):
        if hi[i] <= lo[i]:
            continue
        first = lo[i] // BLOCK
        last = (hi[i] - 1) // BLOCK
        best = -1
        if first == last:
            for p in range(lo[i], hi[i]):
                best = _better(rank, best, p if rank[p] >= 0 else -1, least)
        else:
            best = after[lo[i]]
            width = last - first - 1
            if width > 0:
                k = 0
                while (2 << k) <= width:
                    k += 1
                best = _better(rank, best, table[k, first + 1], least)
                best = _better(rank, best, table[k, last - (1 << k)], least)
            best = _better(rank, best, before[hi[i] - 1], least)
        out[i] = best
    return out
