"""Kernels of formulas: from when on verdicts are known, from the last position to the first (pipes.md, 4.5).

``last`` (n): the last position of its trace that is there; ``end``: per position the step from which the end decides
what is beyond (NEVER: it does not), or empty: nowhere.  Rows are sorted by trace and position.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NEVER = np.int64(2**62)


@njit(cache=True, nogil=True)
def always(strong: np.ndarray, weak: np.ndarray, last: np.ndarray, end: np.ndarray) -> None:
    """G (``strong``: true, ``weak``: false) or F (the other way round), where they stand: all from here on, one."""
    some = len(end) > 0
    s, w = NEVER, NEVER
    for i in range(len(strong) - 1, -1, -1):
        if last[i]:
            s, w = (end[i] if some else NEVER), NEVER
        if strong[i] > s:
            s = strong[i]
        if weak[i] < w:
            w = weak[i]
        strong[i] = s
        weak[i] = w


@njit(cache=True, nogil=True)
def until(
    true: np.ndarray, false: np.ndarray, goal: np.ndarray, missed: np.ndarray, last: np.ndarray, end: np.ndarray
) -> None:
    """U: ``goal``, ``missed``: from when the right side is known to be true, false; the result is in ``true``,
    ``false``, where the left side was."""
    some = len(end) > 0
    t, f = NEVER, NEVER
    for i in range(len(true) - 1, -1, -1):
        if last[i]:
            t, f = NEVER, (end[i] if some else NEVER)
        t = min(goal[i], max(true[i], t))
        f = max(missed[i], min(false[i], f))
        true[i] = t
        false[i] = f


@njit(cache=True, nogil=True)
def following(true: np.ndarray, false: np.ndarray, last: np.ndarray, end: np.ndarray) -> None:
    """X, where it stands."""
    some = len(end) > 0
    n = len(true)
    for i in range(n):
        if last[i]:
            true[i] = NEVER
            false[i] = end[i] if some else NEVER
        else:
            true[i] = true[i + 1]
            false[i] = false[i + 1]


@njit(cache=True, nogil=True)
def atom(value: np.ndarray, step: np.ndarray, null_false: bool, true: np.ndarray, false: np.ndarray) -> None:
    """Steps from truth values 0 false, 1 unknown, 2 true, 3 null, 4 not there."""
    for i in range(len(value)):
        v = value[i]
        true[i] = step[i] if v == 2 else NEVER
        false[i] = step[i] if v == 0 or (v == 3 and null_false) else NEVER


@njit(cache=True, nogil=True)
def decided(
    code: np.ndarray, true: np.ndarray, false: np.ndarray, exists: np.ndarray, end: np.ndarray, latest: np.ndarray,
    step: np.ndarray, emitted: np.ndarray,
) -> None:  # fmt: skip
    """Which positions come out (``emitted``) at which ``step``: those before the first of their trace that is open.

    ``end``: the step at which an open one comes out as null, or empty.  ``latest`` (per trace): that of the last."""
    some = len(end) > 0
    blocked = np.int64(-1)
    for i in range(len(code)):
        c = code[i]
        if c == blocked:
            continue
        known = min(true[i], false[i])
        if known >= NEVER and some:
            known = end[i]
        if known >= NEVER:
            blocked = c
            continue
        s = max(known, exists[i], latest[c])
        latest[c] = s
        step[i] = s
        emitted[i] = True
