"""Aggregates over the states since a condition, or within a duration, state by state (temporal-logic.md 4.2).

The row of a program (:mod:`temporal`): ``A`` the aggregate, with ``FLOATS`` added if its values are floats (keys of
:mod:`temporal_sums`); ``B`` the node that begins it anew, or -1; ``HIGH`` the greatest age; ``LEFT`` the column of
values; ``QUEUE`` the values in the window, and the one behind it for the parts of a sum of floats.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.temporal_queues import pushed, remembered
from occurs.operators.kernels.temporal_sums import float_of, grown, key_of, mean, mean_of_words, rounded, whole

AGGREGATE = 15
SUM, AVG, COUNT, MIN, MAX = range(5)
FLOATS = 8
_GREATEST = 2**63 - 1
_WORD = 0xFFFFFFFF
_A, _B, _HIGH, _QUEUE = 1, 2, 4, 9
_AT_LEAST, _AT_MOST = 5, 3


@kernel
def _added(values: np.ndarray, tail: np.ndarray, mine: np.ndarray, q: int, value: int, floats: bool, sign: int) -> None:
    """``sign`` times a value comes to the sum.  Slots 1 and 2: its words, or how many infinities there are."""
    if not floats:
        mine[1] += sign * (value & _WORD)
        mine[2] += sign * (value >> 32)
        return
    x = float_of(value)
    if np.isinf(x):
        mine[1 if x > 0 else 2] += sign
        return
    parts = values[q].view(np.float64)[0]
    tail[q] = grown(parts, tail[q], sign * x)


@kernel
def aggregated(
    p: np.ndarray,
    mine: np.ndarray,
    on: bool,
    value: int,
    there: bool,
    now: int,
    times: np.ndarray,
    values: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
) -> tuple[int, bool, bool]:
    """The value at this state, whether there is one, and whether a sum left the range of int64.  There is room.

    ``on``: does the condition begin it here?  Slots of ``mine``: 0 has it ever begun; 1, 2 the sum; 3 how many values.
    """
    floats = p[_A] >= FLOATS
    op = p[_A] & 7
    q = p[_QUEUE]
    window = p[_B] < 0
    least = op in (MIN, MAX)
    summed = op in (SUM, AVG)
    if window or on:
        if not window:
            mine[1] = mine[2] = mine[3] = 0
            head[q] = tail[q] = 0
            if floats and summed:
                tail[q + 1] = 0
        mine[0] = 1
    if mine[0] == 0:
        return 0, op == COUNT, False
    if there:
        if least:
            # a greatest is what `current <= value` would be asked of
            direction = _AT_LEAST if op == MIN else _AT_MOST
            remembered(times, values, head, tail, q, now, value, direction, not window)
        else:
            mine[3] += 1
            if window:
                pushed(times, values, head, tail, q, now, value)
            if summed:
                _added(values, tail, mine, q + 1, value, floats, 1)
    if window:
        while head[q] < tail[q] and now - times[q, head[q]] > p[_HIGH]:
            if not least:
                mine[3] -= 1
                if summed:
                    _added(values, tail, mine, q + 1, values[q, 0, head[q]], floats, -1)
            head[q] += 1
    if op == COUNT:
        return mine[3], True, False
    if least:
        some = head[q] < tail[q]
        return values[q, 0, head[q]] if some else 0, some, False
    if mine[3] == 0:
        return 0, False, False
    if not floats:
        if op == AVG:
            return key_of(mean_of_words(mine[1], mine[2], mine[3])), True, False
        total, fits = whole(mine[1], mine[2])
        return total, fits, not fits
    if mine[1] and mine[2]:
        return 0, False, False
    if mine[1] or mine[2]:
        return key_of(np.inf if mine[1] else -np.inf), True, False
    parts = values[q + 1].view(np.float64)[0]
    if op == AVG:
        return key_of(mean(parts, tail[q + 1], mine[3])), True, False
    return key_of(rounded(parts, tail[q + 1])), True, False
