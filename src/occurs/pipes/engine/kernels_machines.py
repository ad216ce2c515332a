"""The kernel of machines with registers (pipes.md, 4.7)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from occurs.operators.kernels.stackcode import DONE, STACK, evaluate

Arrays = tuple[Any, ...]


@njit(cache=True, nogil=True)
def run(
    code: np.ndarray, state: np.ndarray, transitions: Arrays, sets: np.ndarray, program: Arrays, pool: Arrays,
    after: np.ndarray, moved: np.ndarray, registers: np.ndarray, known: np.ndarray,
) -> int:  # fmt: skip
    """One transition per item; the row at which a number did not fit, or -1.

    transitions: (first, last) per state into rows of (begin, end of the guard's code, -1: none; target; first, last of
    ``sets``; the column without which the guard is not true, -1: none); ``sets``: (begin, end of code, register).
    ``pool``: values and known, rows of items and behind them one per trace with its registers.  Out: the state
    ``after`` each item, whether it has ``moved``, the registers then.
    """
    bounds, rows = transitions
    values, _, ok_values, _ = pool
    stack = (np.empty(STACK, np.int64), np.empty(STACK, np.float64), np.empty(STACK, np.bool_))
    x, _, ok = stack
    n = len(code)
    roles = np.zeros(1, np.int64)
    count = registers.shape[1]
    for i in range(n):
        c = code[i]
        s = state[c]
        mine = n + c
        roles[0] = mine
        for t in range(bounds[s, 0], bounds[s, 1]):
            first = rows[t, 5]
            if first >= 0 and (values[i, first] == 0 or not ok_values[i, first]):
                continue
            taken = rows[t, 0] < 0
            if not taken:
                if evaluate(program, rows[t, 0], rows[t, 1], pool, roles, i, stack) != DONE:
                    return i
                taken = ok[0] and x[0] != 0
            if taken:
                for k in range(rows[t, 3], rows[t, 4]):
                    if evaluate(program, sets[k, 0], sets[k, 1], pool, roles, i, stack) != DONE:
                        return i
                    values[mine, sets[k, 2]] = x[0]
                    ok_values[mine, sets[k, 2]] = ok[0]
                s = rows[t, 2]
                state[c] = s
                moved[i] = True
                break
        after[i] = s
        for r in range(count):
            registers[i, r] = values[mine, r]
            known[i, r] = ok_values[mine, r]
    return -1


@njit(cache=True, nogil=True)
def table_run(
    code: np.ndarray, guards: np.ndarray, table: np.ndarray, state: np.ndarray, after: np.ndarray, moved: np.ndarray
) -> None:
    """Machines without registers.  ``guards`` (n): a bit per guard that is true; ``table``: the state behind each state
    and bits, or -1 if it stays.  ``code`` may be empty: all items are of trace 0."""
    if len(code) == 0:
        s = state[0]
        for i in range(len(guards)):
            t = table[s, guards[i]]
            if t >= 0:
                s = t
                moved[i] = True
            after[i] = s
        state[0] = s
        return
    for i in range(len(code)):
        c = code[i]
        t = table[state[c], guards[i]]
        if t >= 0:
            state[c] = t
            moved[i] = True
        after[i] = state[c]
