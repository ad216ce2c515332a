"""Exact sums over ranges at a cost that does not grow with the range: prefix sums in fixed point.

Every value is ``+-mantissa * 2**(base + shift)``, mantissa < 2**64 and shift >= 0.  A prefix sum is an integer in units
of ``2**base`` (of ``2**(2 base)`` for squares), two's complement in limbs of 32 bits, least limb first.  Differences of
prefix sums are exact, and rounded once, as by ``math.fsum``: nothing depends on where a history was cut.
"""

from __future__ import annotations

import math

import numpy as np

from occurs.kernel import kernel

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
def prefix(mantissa: np.ndarray, shift: np.ndarray, negative: np.ndarray, limbs: int, squares: bool) -> np.ndarray:
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
def sums(table: np.ndarray, base: int, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
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
def deviations(
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
