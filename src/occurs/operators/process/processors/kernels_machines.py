"""The kernel of machines with registers (pipes.md, 4.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.stackcode import DONE, STACK, evaluate

Arrays = tuple[Any, ...]

#: what an operand of :func:`steps` is
REGISTER, CONSTANT, COLUMN = 0, 1, 2


@kernel
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


@kernel
def table_run(
    code: np.ndarray, what: np.ndarray, width: int, target: np.ndarray, state: np.ndarray, after: np.ndarray,
) -> None:  # fmt: skip
    """Machines without registers.  ``what`` (n): a number less than ``width`` per item; ``target``: the state behind
    state s and number w at s * width + w.  ``code`` may be empty: all items are of trace 0."""
    if len(code) == 0:
        place = target.astype(np.int64) * width
        at = state[0] * width
        for i in range(len(what)):
            k = at + what[i]
            after[i] = target[k]
            at = place[k]
        state[0] = at // width
        return
    for i in range(len(code)):
        c = code[i]
        s = target[state[c] * width + what[i]]
        state[c] = s
        after[i] = s


@kernel
def entered(before: np.ndarray, code: np.ndarray, what: np.ndarray, width: int, moves: np.ndarray, after: np.ndarray,
            moved: np.ndarray) -> None:  # fmt: skip
    """``moved``: which items made a machine go into a state, be it the one it was in; ``moves``: as ``target``."""
    for i in range(len(what)):
        c = code[i] if len(code) else 0
        moved[i] = moves[before[c] * width + what[i]]
        before[c] = after[i]


@kernel(inline="always")
def _operand(what: int, number: int, own: np.ndarray, constants: np.ndarray, columns: np.ndarray, row: int) -> np.int64:
    if what == REGISTER:
        return own[number]
    if what == CONSTANT:
        return constants[number]
    return columns[number, row]


@kernel
def _holds(op: int, a: np.int64, b: np.int64) -> np.bool_:
    if op == 0:
        return a == b
    if op == 1:
        return a != b
    if op == 2:
        return a < b
    if op == 3:
        return a <= b
    if op == 4:
        return a > b
    return a >= b


@kernel
def steps(
    code: np.ndarray, what: np.ndarray, ways: Arrays, constants: np.ndarray, columns: np.ndarray, state: np.ndarray,
    registers: np.ndarray, after: np.ndarray, moved: np.ndarray, out: np.ndarray,
) -> int:  # fmt: skip
    """One transition per item; the row at which a number did not fit, or -1.

    ``what`` (n): a number per item; ``ways``: by state and this number the (first, last) rows of transitions, which are
    (target; first, last condition; first, last SET); conditions (operator, two operands); SETs (register; 0 the first
    operand, 1 the sum, 2 the difference; two operands).  An operand is what it is, and its number.  ``registers``
    (traces, registers) change where they stand; ``out`` (registers, n): what they are behind each item.
    """
    first, last, rows, conditions, sets = ways
    many = len(code) > 0
    count = registers.shape[1]
    c = 0
    own = registers[0]
    s = state[0]
    for i in range(len(what)):
        if many:
            c = code[i]
            own = registers[c]
            s = state[c]
        for t in range(first[s, what[i]], last[s, what[i]]):
            taken = True
            for k in range(rows[t, 1], rows[t, 2]):
                a = _operand(conditions[k, 1], conditions[k, 2], own, constants, columns, i)
                b = _operand(conditions[k, 3], conditions[k, 4], own, constants, columns, i)
                if not _holds(conditions[k, 0], a, b):
                    taken = False
                    break
            if not taken:
                continue
            for k in range(rows[t, 3], rows[t, 4]):
                a = _operand(sets[k, 2], sets[k, 3], own, constants, columns, i)
                b = _operand(sets[k, 4], sets[k, 5], own, constants, columns, i)
                new = a
                if sets[k, 1] == 1:
                    new = a + b
                    if ((a ^ new) & (b ^ new)) < 0:
                        return i
                elif sets[k, 1] == 2:
                    new = a - b
                    if ((a ^ b) & (a ^ new)) < 0:
                        return i
                own[sets[k, 0]] = new
            s = rows[t, 0]
            state[c] = s
            moved[i] = True
            break
        after[i] = s
        for r in range(count):
            out[r, i] = own[r]
    return -1
