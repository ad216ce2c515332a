"""The k-th smallest of a range in a number of steps that does not grow with the range: a wavelet matrix."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

_1 = np.uint64(1)


@kernel
def _ones(word: int) -> int:
    """How many bits are set."""
    x = np.uint64(word)
    x = x - ((x >> _1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))  # type: ignore[return-value]


@kernel
def wavelet(rank: np.ndarray, levels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(words uint64 (levels, w), ones before each word (levels, w), zeros (levels)) of ranks below ``2**levels``."""
    n = len(rank)
    w = (n >> 6) + 1
    words = np.zeros((levels, w), np.uint64)
    before = np.zeros((levels, w), np.int64)
    zeros = np.zeros(levels, np.int64)
    now = rank.copy()
    after = np.empty_like(now)
    for level in range(levels):
        bit = levels - 1 - level
        put = 0
        for i in range(n):
            if (now[i] >> bit) & 1:
                words[level, i >> 6] |= _1 << np.uint64(i & 63)
            else:
                after[put] = now[i]
                put += 1
        zeros[level] = put
        for i in range(n):
            if (now[i] >> bit) & 1:
                after[put] = now[i]
                put += 1
        total = 0
        for k in range(w):
            before[level, k] = total
            total += _ones(words[level, k])
        now, after = after, now
    return words, before, zeros


@kernel
def kth(
    words: np.ndarray, before: np.ndarray, zeros: np.ndarray, lo: np.ndarray, hi: np.ndarray, k: np.ndarray
) -> np.ndarray:
    """The rank of the ``k``-th smallest (from 0) of each range; -1 where the range has no such."""
    levels = len(zeros)
    out = np.full(len(lo), -1, np.int64)
    for i in range(len(lo)):
        a, b, left = lo[i], hi[i], k[i]
        if left < 0 or left >= b - a:
            continue
        value = 0
        for level in range(levels):
            mask_a = (_1 << np.uint64(a & 63)) - _1
            mask_b = (_1 << np.uint64(b & 63)) - _1
            ones_a = before[level, a >> 6] + _ones(words[level, a >> 6] & mask_a)
            ones_b = before[level, b >> 6] + _ones(words[level, b >> 6] & mask_b)
            none = (b - a) - (ones_b - ones_a)
            value <<= 1
            if left < none:
                a -= ones_a
                b -= ones_b
            else:
                left -= none
                value |= 1
                a = zeros[level] + ones_a
                b = zeros[level] + ones_b
        out[i] = value
    return out


def distinct(rank: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """How many different ranks each range holds; -1 (null) is none."""
    return _distinct(rank, lo, hi, np.argsort(hi, kind="stable"))


@kernel
def _distinct(rank: np.ndarray, lo: np.ndarray, hi: np.ndarray, order: np.ndarray) -> np.ndarray:
    """``order``: the ranges by their end.  Up to each end, the last place of every rank counts: a tree of sums."""
    n = len(rank)
    out = np.zeros(len(lo), np.int64)
    sums = np.zeros(n + 1, np.int64)
    most = -1
    for p in range(n):
        most = max(most, rank[p])
    last = np.full(most + 1, -1, np.int64)
    done = 0
    for i in order:
        while done < hi[i]:
            now = rank[done]
            if now >= 0:
                before = last[now]
                at = before + 1
                while before >= 0 and at <= n:
                    sums[at] -= 1
                    at += at & -at
                at = done + 1
                while at <= n:
                    sums[at] += 1
                    at += at & -at
                last[now] = done
            done += 1
        found = 0
        at = hi[i]
        while at > 0:
            found += sums[at]
            at -= at & -at
        at = lo[i]
        while at > 0:
            found -= sums[at]
            at -= at & -at
        out[i] = found
    return out
