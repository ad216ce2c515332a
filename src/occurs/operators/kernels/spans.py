"""One call of operators over states in one kernel (phenesthe.md, section 4.4): ranges from marks, intersections.

Blocks are as in :mod:`occurs.operators.kernels.blocks`; a block of marks or of what is open has the codes of a binding
first, then the tick.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from occurs.operators.kernels.blocks import _BLOCK, behind_another, copy, keys, taken
from occurs.operators.kernels.intervals import _INTS, _OUT, ascending, member
from occurs.operators.kernels.overlapping import overlaps
from occurs.operators.kernels.relations import _on, results
from occurs.operators.kernels.stretches import stretches


@njit(_BLOCK(_BLOCK), cache=True, nogil=True)
def _in_order(marks: np.ndarray) -> np.ndarray:
    """In the order of time, ties as they come."""
    time = marks[marks.shape[0] - 1]
    return marks if ascending(time) else taken(marks, np.argsort(time, kind="mergesort"))


@njit(_BLOCK(_BLOCK, _INTS, _INTS), cache=True, nogil=True)
def _ended(rows: np.ndarray, at: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Rows with their ends."""
    width = rows.shape[0]
    out = np.empty((width + 1, len(at)), np.int64)
    for k in range(width):
        for i in range(len(at)):
            out[k, i] = rows[k, at[i]]
    for i in range(len(at)):
        out[width, i] = end[i]
    return out


@njit(_OUT(_BLOCK, _BLOCK, types.int64, _BLOCK), cache=True, nogil=True)
def _heads(places: np.ndarray, rows: np.ndarray, width: int, stops: np.ndarray) -> np.ndarray:
    """Keys of the variables of the stops, which are among those of the rows: of the rows, and of the stops behind."""
    n, m = rows.shape[1], stops.shape[1]
    codes = np.empty((stops.shape[0] - 1, n + m), np.int64)
    for v in range(width):
        if places[1, v] >= 0:
            copy(codes, places[1, v], 0, rows, v, 0, n)
            copy(codes, places[1, v], n, stops, places[1, v], 0, m)
    return keys(codes, codes.shape[0])


@njit(types.Tuple((_BLOCK, _BLOCK, _BLOCK))(_BLOCK, _BLOCK, _BLOCK, _BLOCK, types.boolean), cache=True, nogil=True)
def ranges(
    held: np.ndarray, phi: np.ndarray, psi: np.ndarray, places: np.ndarray, latest: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What a call makes of stretches that are open (``held``) and of marks, see :func:`stretches`: those that ended;
    those that began in it, with the ends they have; what is open now.  ``places``: of the variables of phi and psi."""
    width, old = held.shape[0] - 1, held.shape[1]
    phi, psi = _in_order(phi), _in_order(psi)
    n = phi.shape[1]
    rows = behind_another(held, phi, width + 1)
    head = _heads(places, rows, width, psi)
    # one key of all variables is another of some of them, if these are all
    key = head[: old + n] if psi.shape[0] == held.shape[0] else keys(rows, width)
    ended, ends, began, began_ends, now = stretches(
        key[:old], head[:old], held[width], key[old:], head[old : old + n], phi[width],
        head[old + n :], psi[psi.shape[0] - 1], latest,
    )  # fmt: skip
    return _ended(rows, ended, ends), _ended(rows, began, began_ends), taken(rows, now)


@njit(
    types.Tuple((_BLOCK, _BLOCK, _BLOCK))(*[_BLOCK] * 6, types.int64),
    cache=True,
    nogil=True,
)
def common(
    left_closed: np.ndarray, left_open: np.ndarray, right_closed: np.ndarray, right_open: np.ndarray,
    held: np.ndarray, places: np.ndarray, since: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """What comes of pairs of which one side is new, or has ended, in this call: what has ended; what began in it, with
    the end it has; what is open now, of which ``held`` was before.  See :func:`overlaps`."""
    wl, wr, width = left_open.shape[0] - 2, right_open.shape[0] - 2, places.shape[1]
    x, y = behind_another(left_closed, left_open, wl + 2), behind_another(right_closed, right_open, wr + 2)
    key = _on(places, x, y.shape[1], y)
    i, j, start, end, before, ended = overlaps(
        key[: x.shape[1]], x[wl], x[wl + 1], left_closed.shape[1],
        key[x.shape[1] :], y[wr], y[wr + 1], right_closed.shape[1], since,
    )  # fmt: skip
    n = len(i)
    if n == 0:
        return np.empty((width + 2, 0), np.int64), np.empty((width + 2, 0), np.int64), held
    found = results(places, x, y, i, j, 0)
    for p in range(n):
        found[width, p], found[width + 1, p] = start[p], end[p]
    rows = np.arange(n)
    closed, began, now = taken(found, rows[:ended]), taken(found, rows[before:]), taken(found, rows[ended:])
    if before:
        both = keys(behind_another(held, closed, width), width)
        over = member(both[: held.shape[1]], both[held.shape[1] : held.shape[1] + before])
        held = taken(held, np.flatnonzero(~over))
    if n > ended:
        held = behind_another(held, now, width + 1)
    return closed, began, held
