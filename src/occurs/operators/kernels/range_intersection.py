"""Kernel of the intersection of states: one call of the operator (phenesthe.md, section 4.4).

Blocks are as in :mod:`occurs.operators.kernels.blocks`; that of what is open has no ends.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.allen import results
from occurs.operators.kernels.blocks import _BLOCK, behind_another, keys, shared_keys, taken
from occurs.operators.kernels.intervals import _INDEX, _INTS, _OPEN, _OUT, _first_from, in_groups, index, member, number

_PAIRS = types.Tuple((_OUT, _OUT, types.int64))


@kernel(types.Tuple((_OUT, _OUT))(_INTS, _INTS, types.int64, types.int64))
def _parts(key: np.ndarray, start: np.ndarray, closed: int, since: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows that began after ``since`` or are among the first ``closed``; all others."""
    new, old = np.empty(len(key), np.int64), np.empty(len(key), np.int64)
    n = m = 0
    for i in range(len(key)):
        if i < closed or start[i] > since:
            new[n] = i
            n += 1
        else:
            old[m] = i
            m += 1
    return new[:n], old[:m]


@kernel(
    _PAIRS(_INDEX, _OUT, _OUT, types.int64, _INTS, _INTS, _INTS, _OUT, _INTS, _INTS, _OUT, types.boolean),
)
def _begin_within(
    keys: tuple[int, np.ndarray, np.ndarray, int], i: np.ndarray, j: np.ndarray, n: int, key: np.ndarray,
    start: np.ndarray, end: np.ndarray, rows: np.ndarray, other: np.ndarray, begin: np.ndarray, others: np.ndarray,
    later: bool,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """More pairs (i, j), of which there are ``n``: of ``rows`` with those of the ``others`` that begin before they end
    and not before them, or ``later`` than them, then as (j, i)."""
    if len(rows) == 0 or len(others) == 0:
        return i, j, n
    begins = begin[others]
    order, first = in_groups(other[others], begins, keys)
    for row in rows:
        k = number(keys, key[row])
        if k < 0:
            continue
        p = _first_from(order, begins, first[k], first[k + 1], start[row] + later)
        while p < first[k + 1] and begins[order[p]] < end[row]:
            if n == len(i):
                i, j = np.concatenate((i, i)), np.concatenate((j, j))
            if later:
                i[n], j[n] = others[order[p]], row
            else:
                i[n], j[n] = row, others[order[p]]
            n += 1
            p += 1
    return i, j, n


@kernel(
    types.Tuple((_OUT, _OUT, _OUT, _OUT, types.int64, types.int64))(
        _INTS, _INTS, _INTS, types.int64, _INTS, _INTS, _INTS, types.int64, types.int64
    ),
)
def overlaps(
    x_key: np.ndarray, x_start: np.ndarray, x_end: np.ndarray, x_closed: int, y_key: np.ndarray, y_start: np.ndarray,
    y_end: np.ndarray, y_closed: int, since: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int, int]:  # fmt: skip
    """The pairs of x and y of equal keys that have more than a point in common and of which one is new.

    New are the first rows (``closed``), and what began after ``since``.  Returns the rows of x and of y, and where what
    they have in common begins and ends: first of those that have ended, which began up to ``since`` and then which
    began after it, then of all others; how many there are of the first, and of the first two.
    """
    new_x, old_x = _parts(x_key, x_start, x_closed, since)
    new_y, old_y = _parts(y_key, y_start, y_closed, since)
    keys = index(np.concatenate((x_key[new_x], y_key[new_y])))
    i = np.empty(len(new_x) + len(new_y) + 4, np.int64)
    j = np.empty(len(new_x) + len(new_y) + 4, np.int64)
    n = 0
    for of_x, of_y in ((new_x, new_y), (new_x, old_y), (old_x, new_y)):
        i, j, n = _begin_within(keys, i, j, n, x_key, x_start, x_end, of_x, y_key, y_start, of_y, False)
        i, j, n = _begin_within(keys, i, j, n, y_key, y_start, y_end, of_y, x_key, x_start, of_x, True)
    before = ended = 0
    for p in range(n):
        if min(x_end[i[p]], y_end[j[p]]) != _OPEN:
            ended += 1
            before += max(x_start[i[p]], y_start[j[p]]) <= since
    row, other = np.empty(n, np.int64), np.empty(n, np.int64)
    start, end = np.empty(n, np.int64), np.empty(n, np.int64)
    a, b, c = 0, before, ended
    for p in range(n):
        s, e = max(x_start[i[p]], y_start[j[p]]), min(x_end[i[p]], y_end[j[p]])
        if e == _OPEN:
            q, c = c, c + 1
        elif s > since:
            q, b = b, b + 1
        else:
            q, a = a, a + 1
        row[q], other[q], start[q], end[q] = i[p], j[p], s, e
    return row, other, start, end, before, ended


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
    key = shared_keys(places, x, y.shape[1], y)
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
