"""Tables of rows that are kept, in no order and with room behind them: rows drawn by key, and put in the place of
others (phenesthe.md, section 5).  Blocks are as in :mod:`occurs.operators.kernels.blocks`."""

from __future__ import annotations

import numpy as np

from occurs.kernel import List, kernel, types
from occurs.operators.kernels.blocks import _BLOCK, copy
from occurs.operators.kernels.intervals import _OPEN, _OUT

_BLOCKS = types.ListType(_BLOCK)
_MARKS = types.Array(types.boolean, 1, "C")


@kernel(_BLOCK(_BLOCK))
def opened(held: np.ndarray) -> np.ndarray:
    """Rows of a table that begin and have not ended, as intervals."""
    width, n = held.shape
    out = np.empty((width + 1, n), np.int64)
    for k in range(width):
        copy(out, k, 0, held, k, 0, n)
    for i in range(n):
        out[width, i] = _OPEN
    return out


@kernel(_OUT(_BLOCK, types.int64, types.int64, _MARKS))
def drawn(table: np.ndarray, size: int, column: int, touched: np.ndarray) -> np.ndarray:
    """The rows of the keys in question."""
    if column < 0:
        return np.arange(size)
    out, keys, n = np.empty(size, np.int64), table[column], 0
    most = np.uint64(len(touched))
    for i in range(size):
        out[n] = i
        key = np.uint64(keys[i])
        n += int(key < most and touched[key])
    return out[:n]


@kernel(types.void(_BLOCKS, _OUT, _OUT, types.int64, _OUT, _BLOCK))
def replace(
    tables: List, sizes: np.ndarray, versions: np.ndarray, number: int, rows: np.ndarray, after: np.ndarray
) -> None:
    """Puts ``after`` in the place of some rows of a table."""
    versions[number] += 1
    table, size, old, new = tables[number], sizes[number], len(rows), after.shape[1]
    width = table.shape[0]
    for i in range(min(old, new)):
        for k in range(width):
            table[k, rows[i]] = after[k, i]
    # the last rows move to where there are none
    for i in range(old - 1, new - 1, -1):
        size -= 1
        if rows[i] != size:
            for k in range(width):
                table[k, rows[i]] = table[k, size]
    if size + new - old > table.shape[1] and new > old:
        larger = np.empty((width, 2 * (size + new - old) + 16), np.int64)
        for k in range(width):
            copy(larger, k, 0, table, k, 0, size)
        tables[number] = table = larger
    for i in range(old, new):
        for k in range(width):
            table[k, size] = after[k, i]
        size += 1
    sizes[number] = size
