"""One call of an intersection of states in one kernel (phenesthe.md, section 4.4).

Blocks are as in :mod:`occurs.operators.kernels.blocks`; that of what is open has no ends.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.blocks import _BLOCK, behind_another, keys, taken
from occurs.operators.kernels.intervals import member
from occurs.operators.kernels.overlapping import overlaps
from occurs.operators.kernels.relations import _on, results


@kernel(
    types.Tuple((_BLOCK, _BLOCK, _BLOCK))(*[_BLOCK] * 6, types.int64),
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
