"""Rows of a table by the type that each of them has."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from occurs.kernel import kernel

#: NumPy sorts so few rows before a compiled kernel could be called
_FEW = 1 << 12
#: of so few types the rows are looked for type by type; of more, the rows of all types are dealt out at once
_EACH = 4


def count(codes: np.ndarray, types: int) -> np.ndarray:
    """int64 (types): how many rows have each of the ``codes`` 0 .. types - 1.  Rows with a negative code are left out.

    ``codes``: int16 or int32 (n), less than ``types``.
    """
    if types == 1:
        return np.array([np.count_nonzero(codes >= 0)])
    if len(codes) < _FEW:
        return np.bincount(codes[codes >= 0], minlength=types)
    found: np.ndarray = _count(codes, types)
    return found[1:]


def group(codes: np.ndarray, counts: np.ndarray, wanted: Collection[int]) -> dict[int, np.ndarray]:
    """The row numbers of each of the ``wanted`` types that has rows, ascending: code -> int64.

    ``codes``: as for :func:`count`; ``counts``: what it returns for them.
    """
    types = len(counts)
    if len(codes) < _FEW:
        rows = {c: np.flatnonzero(codes == c) for c in wanted}
        return {c: there for c, there in rows.items() if len(there)}
    if len(wanted) <= _EACH:
        return {c: _rows_of(codes, c, int(counts[c])) for c in wanted if counts[c]}
    step = np.zeros(types + 1, np.int64)
    step[[c + 1 for c in wanted]] = 1
    here = np.concatenate([np.zeros(1, np.int64), counts]) * step
    stops = np.cumsum(here)
    # rows of all other types go to one place behind the rest
    put = np.where(step > 0, stops - here, stops[-1])
    order = _fill(codes, put, step, stops[-1])
    return {c: order[stops[c] : stops[c + 1]] for c in wanted if counts[c]}


@kernel
def _count(codes: np.ndarray, types: int) -> np.ndarray:
    """How many rows have the codes -1 .. types - 1."""
    n = len(codes)
    # one counter after the other would wait for the one before it
    out = np.zeros((4, types + 1), np.int64)
    fours = n - n % 4
    for i in range(0, fours, 4):
        for k in range(4):
            out[k, codes[i + k] + 1] += 1
    for i in range(fours, n):
        out[0, codes[i] + 1] += 1
    return out[0] + out[1] + out[2] + out[3]


@kernel
def _rows_of(codes: np.ndarray, wanted: int, count: int) -> np.ndarray:
    """The numbers of the rows with the code ``wanted``, which are exactly ``count``."""
    # a row of another type is written, too, and then overwritten: so no branch depends on the rows
    out = np.empty(count + 1, np.int64)
    at = 0
    for i in range(len(codes)):
        out[at] = i
        at += codes[i] == wanted
    return out[:count]


@kernel
def _fill(codes: np.ndarray, put: np.ndarray, step: np.ndarray, total: int) -> np.ndarray:
    """Row numbers at ``put`` of their code + 1, which grows by ``step``: no branch depends on the rows."""
    order = np.empty(total + 1, np.int64)
    for i in range(len(codes)):
        c = codes[i] + 1
        order[put[c]] = i
        put[c] += step[c]
    return order[:total]
