"""Aggregation kernels over ranges ``[lo, hi)`` of a column that lies in index order.

Counts, integer sums, extremes and first/last cost the same for every length of range.  Float sums here are for short
ranges (of long ones see the end); they are exact too, so that nothing depends on how the history was cut: Shewchuk's
partial sums, correctly rounded as ``math.fsum``.
"""

from __future__ import annotations

import math

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
def round_exact(partials: np.ndarray, used: int) -> float:
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
        out[i] = round_exact(partials, used)
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
    before: np.ndarray, after: np.ndarray, table: np.ndarray, rank: np.ndarray, lo: np.ndarray, hi: np.ndarray,
    least: bool,
) -> np.ndarray:  # fmt: skip
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


# -- the k-th smallest of a range: a wavelet matrix --------------------------------------------------------------------
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


# -- exact sums: prefix sums in fixed point ----------------------------------------------------------------------------
# Every value is ``+-mantissa * 2**(base + shift)``, mantissa < 2**64 and shift >= 0.  A prefix sum is an integer in
# units of ``2**base`` (of ``2**(2 base)`` for squares), two's complement in limbs of 32 bits, least limb first.
# Differences of prefix sums are exact, and rounded once, as by ``math.fsum``.
_WORD = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@kernel
def decompose(bits: np.ndarray, use: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, int, int]:
    """(mantissas uint64, shifts, negative, base, greatest shift) of float64 values given as int64 ``bits``.

    Rows not in ``use`` count as 0; those in it are finite.
    """
    n = len(bits)
    mantissa = np.zeros(n, np.uint64)
    shift = np.zeros(n, np.int64)
    negative = np.zeros(n, np.bool_)
    least = 2047
    most = 0
    for i in range(n):
        if not use[i]:
            continue
        exponent = (bits[i] >> 52) & 0x7FF
        fraction = bits[i] & 0xFFFFFFFFFFFFF
        if exponent == 0:
            exponent = 1
        else:
            fraction |= 1 << 52
        if fraction == 0:
            continue
        mantissa[i] = np.uint64(fraction)
        shift[i] = exponent
        negative[i] = bits[i] < 0
        least = min(least, exponent)
        most = max(most, exponent)
    if most == 0:
        least = 1
        most = 1
    for i in range(n):
        if mantissa[i] != 0:
            shift[i] -= least
    return mantissa, shift, negative, least - 1075, most - least


@kernel
def _accumulate(total: np.ndarray, parts: np.ndarray, shift: int, negative: bool) -> None:
    """Add (subtract) ``parts * 2**shift``, modulo the width of ``total``; limbs in uint64."""
    word = shift >> 5
    rest = np.uint64(shift & 31)
    limbs = len(total)
    carry = np.uint64(1) if negative else np.uint64(0)
    spill = np.uint64(0)
    for k in range(word, limbs):
        j = k - word
        piece = parts[j] if j < len(parts) else np.uint64(0)
        shifted = (piece << rest) | spill
        spill = shifted >> _32
        term = shifted & _WORD
        if negative:
            term = _WORD - term
        s = total[k] + term + carry
        total[k] = s & _WORD
        carry = s >> _32


@kernel
def exact_prefix(
    mantissa: np.ndarray, shift: np.ndarray, negative: np.ndarray, limbs: int, squares: bool
) -> np.ndarray:
    """uint32 (n + 1, limbs): the sums of the values, or of their squares, before every position."""
    n = len(mantissa)
    out = np.zeros((n + 1, limbs), np.uint32)
    total = np.zeros(limbs, np.uint64)
    parts = np.zeros(4 if squares else 2, np.uint64)
    for i in range(n):
        m = mantissa[i]
        if m != 0:
            low = m & _WORD
            high = m >> _32
            if squares:
                mixed = low * high
                p0 = low * low
                p1 = (p0 >> _32) + ((mixed & _WORD) << np.uint64(1))
                p2 = (p1 >> _32) + ((mixed >> _32) << np.uint64(1)) + ((high * high) & _WORD)
                parts[0] = p0 & _WORD
                parts[1] = p1 & _WORD
                parts[2] = p2 & _WORD
                parts[3] = ((high * high) >> _32) + (p2 >> _32)
                _accumulate(total, parts, 2 * shift[i], False)
            else:
                parts[0] = low
                parts[1] = high
                _accumulate(total, parts, shift[i], negative[i])
        for k in range(limbs):
            out[i + 1, k] = total[k]
    return out


@kernel
def _difference(table: np.ndarray, lo: int, hi: int, out: np.ndarray) -> None:
    borrow = np.uint64(0)
    for k in range(table.shape[1]):
        d = np.uint64(table[hi, k]) - np.uint64(table[lo, k]) - borrow
        out[k] = d & _WORD
        borrow = (d >> _32) & np.uint64(1)


@kernel
def _rounded(x: np.ndarray) -> tuple[float, int]:
    """(m, e) with m * 2**e the integer ``x`` (destroyed), rounded half to even to 53 bits."""
    limbs = len(x)
    negative = (x[limbs - 1] >> np.uint64(31)) != 0
    if negative:
        carry = np.uint64(1)
        for k in range(limbs):
            s = (_WORD - x[k]) + carry
            x[k] = s & _WORD
            carry = s >> _32
    top = limbs - 1
    while top >= 0 and x[top] == 0:
        top -= 1
    if top < 0:
        return 0.0, 0
    width = 32 * top
    w = x[top]
    while w != 0:
        w >>= np.uint64(1)
        width += 1
    below = max(0, width - 53)
    m = np.uint64(0)
    for bit in range(width - 1, below - 1, -1):
        m = (m << np.uint64(1)) | ((x[bit >> 5] >> np.uint64(bit & 31)) & np.uint64(1))
    if below > 0:
        half = (x[(below - 1) >> 5] >> np.uint64((below - 1) & 31)) & np.uint64(1)
        if half != 0:
            sticky = (m & np.uint64(1)) != 0
            for bit in range(below - 2, -1, -1):
                if sticky:
                    break
                sticky = ((x[bit >> 5] >> np.uint64(bit & 31)) & np.uint64(1)) != 0
            if sticky:
                m += np.uint64(1)
    value = float(m)
    return (-value if negative else value), below


@kernel
def _scaled(m: float, e: int) -> float:
    """m times 2 to the power of e; infinite beyond the range of doubles, where Python's ``ldexp`` raises."""
    if m != 0.0 and math.frexp(m)[1] + e > 1024:
        return np.inf if m > 0.0 else -np.inf
    return math.ldexp(m, int(e))


@kernel
def exact_sums(table: np.ndarray, base: int, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The sum of each range, rounded once; infinite beyond the range of doubles."""
    out = np.zeros(len(lo), np.float64)
    x = np.zeros(table.shape[1], np.uint64)
    for i in range(len(lo)):
        if hi[i] > lo[i]:
            _difference(table, lo[i], hi[i], x)
            m, e = _rounded(x)
            out[i] = _scaled(m, e + base)
    return out


@kernel
def exact_deviations(
    table: np.ndarray, squares: np.ndarray, base: int, lo: np.ndarray, hi: np.ndarray, count: np.ndarray
) -> np.ndarray:
    """Sample standard deviations: sqrt((n S2 - S1**2) / (n (n - 1))), exact before the division; 0 below two values."""
    out = np.zeros(len(lo), np.float64)
    n1 = table.shape[1]
    n2 = squares.shape[1]
    width = max(n2 + 2, 2 * n1) + 1
    s1 = np.zeros(n1, np.uint64)
    s2 = np.zeros(n2, np.uint64)
    x = np.zeros(width, np.uint64)
    for i in range(len(lo)):
        n = count[i]
        if n < 2:
            continue
        _difference(table, lo[i], hi[i], s1)
        _difference(squares, lo[i], hi[i], s2)
        if (s1[n1 - 1] >> np.uint64(31)) != 0:
            carry = np.uint64(1)
            for k in range(n1):
                s = (_WORD - s1[k]) + carry
                s1[k] = s & _WORD
                carry = s >> _32
        # x = n * S2, with n below 2**32 (rows of one call and its past)
        carry = np.uint64(0)
        for k in range(width):
            s = carry + (s2[k] * np.uint64(n) if k < n2 else np.uint64(0))
            x[k] = s & _WORD
            carry = s >> _32
        # x -= S1 ** 2
        for a in range(n1):
            if s1[a] == 0:
                continue
            carry = np.uint64(0)
            borrow = np.uint64(0)
            for k in range(a, width):
                b = k - a
                term = carry + (s1[a] * s1[b] if b < n1 else np.uint64(0))
                carry = term >> _32
                d = x[k] - (term & _WORD) - borrow
                x[k] = d & _WORD
                borrow = (d >> _32) & np.uint64(1)
        m, e = _rounded(x)
        out[i] = math.sqrt(_scaled(m / (float(n) * float(n - 1)), e + 2 * base))
    return out
