"""Maximal ranges over the marks of rows, in place (phenesthe.md, section 4.4)."""

from __future__ import annotations

import numpy as np
from numba import njit, types

from occurs.operators.kernels.blocks import _BLOCK, copy
from occurs.operators.kernels.intervals import _OPEN, _OUT, _table_size
from occurs.operators.keycodes import _slot


@njit(types.int64(_OUT, _BLOCK, _OUT, types.int64, types.int64, types.int64), cache=True, nogil=True)
def _place(slots: np.ndarray, rows: np.ndarray, marks: np.ndarray, at: int, step: int, width: int) -> int:
    """The slot of the binding of a mark, or the empty one for it; its codes are ``step`` apart in ``marks``."""
    if width == 1:  # codes are few
        return marks[at]
    size = len(slots)
    code = 0
    for k in range(width):
        code = code * 1_000_003 + marks[at + k * step]
    s = _slot(code, size)
    while slots[s] >= 0:
        same = True
        for k in range(width):
            if rows[k, slots[s]] != marks[at + k * step]:
                same = False
        if same:
            return s
        s = (s + 1) & (size - 1)
    return s


@njit(types.int64(_OUT, types.int64, types.int64), cache=True, nogil=True)
def _greatest(codes: np.ndarray, first: int, n: int) -> int:
    out = -1
    for i in range(first, first + n):
        out = max(out, codes[i])
    return out


@njit(
    types.Tuple((_BLOCK, types.int64, _BLOCK, _BLOCK, types.boolean))(
        _BLOCK, types.int64, _OUT, types.int64, types.int64, types.int64, types.int64
    ),
    cache=True,
    nogil=True,
)
def ranged(
    table: np.ndarray, size: int, marks: np.ndarray, phi: int, n: int, psi: int, m: int
) -> tuple[np.ndarray, int, np.ndarray, np.ndarray, bool]:
    """One call of ``φ ~> ψ``, both of the same variables.

    ``table``: what is open in its first ``size`` rows, codes and start.  ``marks``: from ``phi`` on the ``n`` marks of
    φ, a column of codes after the other and then the times, from ``psi`` on the ``m`` of ψ, in the order of time.
    Returns the table and its size afterwards (changed in place, or a larger one), what ended, what began with the end
    that it has, and whether the table has changed.
    """
    width = table.shape[0] - 1
    # the bindings of what was open, and behind them those of other marks of φ
    rows = np.empty((width, size + n), np.int64)
    start, last = np.empty(size + n, np.int64), np.empty(size + n, np.int64)
    places = _table_size(size + n)
    if width == 1:
        places = 1 + max(_greatest(table[0], 0, size), _greatest(marks, phi, n), _greatest(marks, psi, m))
    slots = np.full(places, -1, np.int64)
    for k in range(width):
        copy(rows, k, 0, table, k, 0, size)
    column = rows.ravel()
    for i in range(size):
        slots[_place(slots, rows, column, i, size + n, width)] = i
        start[i] = last[i] = table[width, i]
    known = size
    ended = np.empty((width + 2, size + n), np.int64)
    began = np.empty((width + 2, size + n), np.int64)
    holds, fresh = np.zeros(size + n, np.bool_), np.zeros(size + n, np.bool_)
    holds[:size] = True
    ends = begins = i = j = 0
    phi_time, psi_time = phi + width * n, psi + width * m
    while i < n or j < m:
        if i < n and (j >= m or marks[phi_time + i] <= marks[psi_time + j]):
            s = _place(slots, rows, marks, phi + i, n, width)
            row = slots[s]
            if row < 0:
                row = slots[s] = known
                for k in range(width):
                    rows[k, row] = marks[phi + i + k * n]
                known += 1
            if not holds[row]:
                start[row] = marks[phi_time + i]
                holds[row] = fresh[row] = True
            last[row] = marks[phi_time + i]
            i += 1
        else:
            row = slots[_place(slots, rows, marks, psi + j, m, width)]
            time = marks[psi_time + j]
            if row >= 0 and holds[row] and last[row] < time:
                for k in range(width):
                    ended[k, ends] = rows[k, row]
                ended[width, ends], ended[width + 1, ends] = start[row], time
                ends += 1
                if fresh[row]:
                    for k in range(width + 2):
                        began[k, begins] = ended[k, ends - 1]
                    begins += 1
                holds[row] = False
            j += 1
    # --- the table: what stays is where it was, the last rows move to where there are none
    changed = False
    left = size
    for row in range(size - 1, -1, -1):
        if not holds[row]:
            left -= 1
            for k in range(width + 1):
                table[k, row] = table[k, left]
            changed = True
        elif fresh[row]:
            table[width, row] = start[row]
            changed = True
    for row in range(known):
        if fresh[row] and holds[row]:
            for k in range(width):
                began[k, begins] = rows[k, row]
            began[width, begins], began[width + 1, begins] = start[row], _OPEN
            begins += 1
            if row >= size:
                if left == table.shape[1]:
                    larger = np.empty((width + 1, 2 * left + 16), np.int64)
                    for k in range(width + 1):
                        copy(larger, k, 0, table, k, 0, left)
                    table = larger
                for k in range(width):
                    table[k, left] = rows[k, row]
                table[width, left] = start[row]
                left += 1
                changed = True
    return table, left, ended[:, :ends].copy(), began[:, :begins].copy(), changed
