"""Kernels of ranges: events whose numbers lie in ranges that each rule has of its own."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from occurs.kernel import kernel, over_ranges
from occurs.model.types import Type
from occurs.operators.kernels.growing import longer

#: the least and the greatest number that there is
ALL_NUMBERS = (-(2**63), 2**63 - 1)
#: up to here every whole number is a float of its own
_EXACT = 2**53


def as_ordered(value: Any, type: Type) -> int | None:
    """A constant as int64, such that constants and values of an attribute of ``type`` compare as their numbers do: see
    :func:`ordered_numbers`.  None if it cannot be compared in this way."""
    if isinstance(value, bool):
        return None
    if type is Type.INT and isinstance(value, int):
        return value if ALL_NUMBERS[0] <= value <= ALL_NUMBERS[1] else None
    if type is Type.FLOAT and (isinstance(value, float) or (isinstance(value, int) and abs(value) <= _EXACT)):
        bits: int = struct.unpack("<q", struct.pack("<d", value + 0.0))[0]
        return None if value != value else bits if bits >= 0 else bits ^ ALL_NUMBERS[1]
    return None


def ordered_numbers(values: np.ndarray) -> np.ndarray:
    """Numbers as int64 in the same order: whole numbers as they are, floats by their bits."""
    if values.dtype != np.float64:
        return values.astype(np.int64, copy=False)
    bits = (values + 0.0).view(np.int64)  # -0.0 becomes 0.0
    return np.where(bits >= 0, bits, bits ^ np.int64(ALL_NUMBERS[1]))


@kernel(work=over_ranges)
def first_within(
    lo: np.ndarray, hi: np.ndarray, at: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray,
    rule: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """int64 (n): of token i the first of ``at[lo[i]:hi[i]]`` that lies in the ranges of its rule, -1 if none does.

    ``values``: int64 (ranges, n), numbers by entry of ``at``; ``low``, ``high``: int64 (ranges, rules), both included;
    ``rule``: of each token.
    """
    out = np.full(len(lo), -1, np.int64)
    for i in range(len(lo)):
        r = rule[i]
        for p in range(lo[i], hi[i]):
            # written out in both kernels: as a kernel of its own it makes this one twice as slow
            fits = True
            for k in range(len(values)):
                fits &= low[k, r] <= values[k, p] and values[k, p] <= high[k, r]
            if fits:
                out[i] = at[p]
                break
    return out


@kernel(work=over_ranges)
def spread_within(
    lo: np.ndarray, hi: np.ndarray, at: np.ndarray, values: np.ndarray, low: np.ndarray, high: np.ndarray,
    rule: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """All entries of ``at[lo[i]:hi[i]]`` that lie in the ranges of the rule of token i, token by token: (i, entry).

    The other arguments are those of :func:`first_within`.
    """
    which = np.empty(len(lo), np.int64)
    entry = np.empty(len(lo), np.int64)
    n = 0
    for i in range(len(lo)):
        r = rule[i]
        for p in range(lo[i], hi[i]):
            fits = True
            for k in range(len(values)):
                fits &= low[k, r] <= values[k, p] and values[k, p] <= high[k, r]
            if fits:
                if n == len(which):
                    which, entry = longer(which, 2 * n + 1), longer(entry, 2 * n + 1)
                which[n] = i
                entry[n] = at[p]
                n += 1
    return which[:n], entry[:n]
