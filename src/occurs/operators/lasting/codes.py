"""Bindings as single numbers: codes of several variables put together, so that they compare, sort and join as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occurs.operators.keycodes import IntTable
from occurs.operators.lasting.signals import Codes

#: numbers below this can stand for pairs
_MOST = 1 << 62


def joint(sides: Sequence[tuple[Codes, int]]) -> list[np.ndarray]:
    """One int64 per row for each side's codes (with the number of its rows), equal where all codes are equal.

    The numbers mean something among the sides of one call only.
    """
    width = len(sides[0][0])
    if width == 0:
        return [np.zeros(n, np.int64) for _, n in sides]
    if width == 1:
        return [codes[0] for codes, _ in sides]
    out = [codes[0] for codes, _ in sides]
    many = _many(out)
    for k in range(1, width):
        more = [codes[k] for codes, _ in sides]
        size = _many(more)
        # numbers that stay small need no table, here or where rows are grouped by them
        if many * size > _MOST:
            out = dense(out)
            many = _many(out)
        if many * size > _MOST:
            more = dense(more)
            size = _many(more)
        out = [o * size + c for o, c in zip(out, more)]
        many *= size
    return out


def _many(sides: Sequence[np.ndarray]) -> int:
    """All numbers are less."""
    return 1 + max((int(numbers.max()) for numbers in sides if len(numbers)), default=0)


def dense(sides: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The same numbers in few bits."""
    table, used, out = IntTable(), 0, []
    for values in sides:
        codes, used = table.encode(values, None, used)
        out.append(codes)
    return out
