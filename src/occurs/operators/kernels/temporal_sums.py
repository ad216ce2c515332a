"""Exact sums that go up and down, for aggregates over the states of an instance (temporal-logic.md 4.2).

A sum of ints is two words, ``low + 2**32 * high``; a sum of floats is an expansion as that of ``math.fsum``: floats
that do not overlap, least first, whose exact sum it is.
"""

from __future__ import annotations

import math

import numpy as np

from occurs.kernel import kernel

#: an expansion has at most as many parts (2098 bits in pieces of 53, and one to spare)
PARTS = 48


@kernel(inline="always")
def key_of(value: float) -> int:
    """An int64 in the order of floats; no NaN.  0.0 and -0.0 have the same."""
    bits = np.float64(value + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ np.int64(0x7FFFFFFFFFFFFFFF)  # type: ignore[return-value]


@kernel(inline="always")
def float_of(key: int) -> float:
    """The float that has a key."""
    bits = key if key >= 0 else key ^ np.int64(0x7FFFFFFFFFFFFFFF)
    return np.int64(bits).view(np.float64)


@kernel
def grown(parts: np.ndarray, count: int, x: float) -> int:
    """Adds ``x`` to an expansion; how many parts it has now."""
    out = 0
    for i in range(count):
        y = parts[i]
        if abs(x) < abs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            parts[out] = low
            out += 1
        x = high
    if x != 0.0:
        parts[out] = x
        out += 1
    return out


@kernel
def rounded(parts: np.ndarray, count: int) -> float:
    """The float nearest to an expansion, halves to even."""
    if count == 0:
        return 0.0
    at = count - 1
    high = parts[at]
    low = 0.0
    while at > 0:
        at -= 1
        x = high
        high = x + parts[at]
        low = parts[at] - (high - x)
        if low != 0.0:
            break
    if at > 0 and ((low < 0.0 and parts[at - 1] < 0.0) or (low > 0.0 and parts[at - 1] > 0.0)):
        y = low * 2.0
        x = high + y
        if y == x - high:
            high = x
    return high


@kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """``a * b`` and what rounding has taken from it (Dekker)."""
    p = a * b
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def _less(parts: np.ndarray, count: int, q: float, half: float, n: float) -> int:
    """The sign of an expansion minus ``(q + half) * n``."""
    rest = np.empty(PARTS + 6, np.float64)
    rest[:count] = parts[:count]
    for factor in (q, half):
        high, low = _product(factor, n)
        count = grown(rest, count, -high)
        count = grown(rest, count, -low)
    if count == 0:
        return 0
    return 1 if rest[count - 1] > 0 else -1


@kernel
def mean(parts: np.ndarray, count: int, n: int) -> float:
    """The float nearest to an expansion divided by ``n`` (exactly representable), halves to even."""
    q = rounded(parts, count) / n
    if q == 0.0 or math.isinf(q):
        return q
    for _ in range(4):
        up, down = np.nextafter(q, np.inf), np.nextafter(q, -np.inf)
        above = _less(parts, count, q, (up - q) / 2, float(n))
        below = _less(parts, count, q, (down - q) / 2, float(n))
        even = (np.float64(q).view(np.int64) & 1) == 0
        if above > 0 or (above == 0 and not even):
            q = up
        elif below < 0 or (below == 0 and not even):
            q = down
        else:
            break
    return q


@kernel
def whole(low: int, high: int) -> tuple[int, bool]:
    """The int that two words are; whether it fits."""
    high += low >> 32
    low &= 0xFFFFFFFF
    fits = -(2**31) <= high < 2**31
    return (high << 32) | low, fits


@kernel
def mean_of_words(low: int, high: int, n: int) -> float:
    """The float nearest to a sum of ints divided by ``n``, halves to even."""
    high += low >> 32
    low &= 0xFFFFFFFF
    negative = high < 0
    if negative:
        low, high = -low, -high
        high += low >> 32
        low &= 0xFFFFFFFF
    # the quotient in base 2**32, one digit after the other, then bits behind the point
    digit, rest = high // n, high % n
    quotient = digit
    shift = 0
    value = (rest << 32) | low
    quotient = (quotient << 32) + value // n
    rest = value % n
    while quotient < (1 << 61) and shift < 1100 and (rest != 0 or quotient == 0):
        if quotient == 0 and rest == 0:
            return 0.0
        rest *= 2
        quotient = 2 * quotient + rest // n
        rest %= n
        shift += 1
    if rest != 0:
        quotient |= 1
    out = math.ldexp(float(quotient), -shift)
    return -out if negative else out
