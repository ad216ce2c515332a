"""Which rows the states of instances see; rows and states are sorted by (code, time)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel


@kernel
def latest(code: np.ndarray, time: np.ndarray, state_code: np.ndarray, state_time: np.ndarray) -> np.ndarray:
    """int64 (states): the last row of the same code that is not later than the state; -1: there is none."""
    out = np.empty(len(state_code), np.int64)
    at = 0
    n = len(code)
    for i in range(len(state_code)):
        c, t = state_code[i], state_time[i]
        while at < n and (code[at] < c or (code[at] == c and time[at] <= t)):
            at += 1
        out[i] = at - 1 if at > 0 and code[at - 1] == c else -1
    return out


@kernel
def firsts(code: np.ndarray, time: np.ndarray) -> np.ndarray:
    """bool (rows): the first of its code and time."""
    out = np.empty(len(code), np.bool_)
    for i in range(len(code)):
        out[i] = i == 0 or code[i] != code[i - 1] or time[i] != time[i - 1]
    return out


@kernel
def epochs(
    code: np.ndarray, time: np.ndarray, put: np.ndarray, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Activations by rows that are there (``put``) or gone, ``active``: per code, is it active before all rows?

    Returns per row: is it the last of its code and time; then also: is the instance there, has it just entered, has it
    just left, and how often has it come back, counted from 0 for an activation that goes on, or for the first one.
    ``active`` is changed.
    """
    n = len(code)
    last = np.zeros(n, np.bool_)
    there = np.zeros(n, np.bool_)
    entered = np.zeros(n, np.bool_)
    gone = np.zeros(n, np.bool_)
    epoch = np.zeros(n, np.int64)
    number = 0
    for i in range(n):
        c = code[i]
        if i == 0 or code[i - 1] != c:
            number = 0 if active[c] else -1
        if i + 1 < n and code[i + 1] == c and time[i + 1] == time[i]:
            continue
        last[i] = True
        if put[i] and not active[c]:
            entered[i] = True
            number += 1
        gone[i] = active[c] and not put[i]
        active[c] = put[i]
        there[i] = put[i]
        epoch[i] = max(number, 0)
    return last, there, entered, gone, epoch
