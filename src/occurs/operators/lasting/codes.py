"""Bindings as single numbers: codes of several variables put together, so that they compare, sort and join as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from occurs.operators.keycodes import IntTable
from occurs.operators.lasting.signals import Codes

#: codes below this can be put together in pairs without a table
_HALF = 1 << 31


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
    for k in range(1, width):
        if k > 1 or any(len(o) and int(o.max()) >= _HALF for o in out):
            out = dense(out)
        out = [(o << 32) | codes[k] for o, (codes, _) in zip(out, sides)]
    return out


def dense(sides: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The same numbers in few bits."""
    table, used, out = IntTable(), 0, []
    for values in sides:
        codes, used = table.encode(values, None, used)
        out.append(codes)
    return out
