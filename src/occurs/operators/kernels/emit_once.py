"""Kernel that emits a result once, although several pairs of rows derive it (phenesthe.md, sections 4.5 and 5)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.blocks import _BLOCK, behind_another, copy, keys, least, taken
from occurs.operators.kernels.intervals import _OUT, index, numbers_of


@kernel(_OUT(_BLOCK, _BLOCK, _BLOCK, types.int64))
def _of_pending(rows: np.ndarray, pending: np.ndarray, places: np.ndarray, side: int) -> np.ndarray:
    """Per row whether one of the rows ``pending`` of a side has its binding and its end: 0 or 1."""
    n, m, width, own = rows.shape[1], pending.shape[1], places.shape[1], pending.shape[0] - 2
    both = np.empty((own + 1, n + m), np.int64)
    for v in range(width):
        if places[side, v] >= 0:
            copy(both, places[side, v], 0, rows, v, 0, n)
            copy(both, places[side, v], n, pending, places[side, v], 0, m)
    copy(both, own, 0, rows, width + 1, 0, n)
    copy(both, own, n, pending, own + 1, 0, m)
    key = keys(both, own + 1)
    known = index(key[n:])
    out = numbers_of(known, key[:n])
    for i in range(n):
        out[i] = out[i] >= 0
    return out


@kernel(
    types.UniTuple(_BLOCK, 2)(_BLOCK, _BLOCK, types.int64, _BLOCK, _OUT, _BLOCK, _BLOCK),
)
def once(
    given: np.ndarray, rows: np.ndarray, complete: int, lags: np.ndarray, cuts: np.ndarray, pending: np.ndarray,
    places: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The rows that are not among ``given``, each once; and of both what could be derived again.

    A row can be derived again only from something that is not known yet, hence only as long as something can still
    appear under its binding at its start and at its end: ``complete``, ``lags`` and ``cuts`` are of the results.  Or
    from a row of the right side that is ``pending``; ``places`` as for relations.
    """
    old, width = given.shape[1], rows.shape[0] - 2
    every = behind_another(given, rows, width + 2)
    key = keys(every, width + 2)
    known = index(key)
    seen = np.zeros(known[3], np.bool_)
    some, numbers = np.empty(every.shape[1], np.int64), numbers_of(known, key)
    count = fresh = 0
    for i in range(every.shape[1]):
        k = numbers[i]
        if not seen[k]:
            seen[k] = True
            some[count] = i
            count += 1
            fresh += i >= old
    some = some[:count]
    every = taken(every, some)
    own = np.arange(width)
    s, n = least(complete, lags, cuts, 0, every, own), least(complete, lags, cuts, 1, every, own)
    stays = np.zeros(count, np.int64)
    if pending.shape[1]:
        stays = _of_pending(every, pending, places, 1)
    kept = np.empty(count, np.int64)
    keeps = 0
    for i in range(count):
        if stays[i] or (n[i] < every[width + 1, i] and s[i] < every[width, i]):
            kept[keeps] = i
            keeps += 1
    return taken(every, np.arange(count - fresh, count)), taken(every, kept[:keeps])
