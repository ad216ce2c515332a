"""Bindings as single numbers: codes of several variables put together, so that they compare, sort and join as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occurs.operators.codes import IntTable
from occurs.operators.interval.signals import Codes
from occurs.operators.kernels.intervals import combined


def joint(sides: Sequence[tuple[Codes, int]]) -> list[np.ndarray]:
    """One int64 per row for each side's codes (with the number of its rows), equal where all codes are equal.

    The numbers mean something among the sides of one call only.
    """
    width = len(sides[0][0])
    if width == 0:
        return [np.zeros(n, np.int64) for _, n in sides]
    if width == 1:
        return [codes[0] for codes, _ in sides]
    alone = len(sides) == 1
    out = sides[0][0][0] if alone else np.concatenate([codes[0] for codes, _ in sides])
    for k in range(1, width):
        more = sides[0][0][k] if alone else np.concatenate([codes[k] for codes, _ in sides])
        # numbers that stay small need no table, here or where rows are grouped by them
        both = combined(out, more)
        if len(both) < len(out):
            (few,) = dense([out])
            both = combined(few, more)
            if len(both) < len(out):
                both = combined(few, dense([more])[0])
        out = both
    if alone:
        return [out]
    parts, at = [], 0
    for codes, _ in sides:
        parts.append(out[at : at + len(codes[0])])
        at += len(codes[0])
    return parts


def dense(sides: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The same numbers in few bits."""
    table, used, out = IntTable(), 0, []
    for values in sides:
        codes, used = table.encode(values, None, used)
        out.append(codes)
    return out
