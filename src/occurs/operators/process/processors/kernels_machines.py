"""Kernels of machines (pipes.md, 4.7)."""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel

Arrays = tuple[Any, ...]

#: what an operand of :func:`steps` is
OWN, CONSTANT, COLUMN = range(3)
#: what an instruction does
(
    EQUAL, DIFFERENT, LESS, AT_MOST, GREATER, AT_LEAST, COPY, ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, AND, OR,
    IS_NULL,
) = range(15)  # fmt: skip


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
    if what == OWN:
        return own[number]
    if what == CONSTANT:
        return constants[number]
    return columns[number, row]


@kernel(inline="always")
def _known(what: int, number: int, own: np.ndarray, columns: np.ndarray, row: int) -> np.bool_:
    if what == OWN:
        return own[number]
    return columns[number, row] if what == COLUMN else np.bool_(True)


@kernel
def _holds(op: int, a: np.int64, b: np.int64) -> np.bool_:
    if op == EQUAL:
        return a == b
    if op == DIFFERENT:
        return a != b
    if op == LESS:
        return a < b
    if op == AT_MOST:
        return a <= b
    if op == GREATER:
        return a > b
    return a >= b


@kernel
def _other(op: int, a: np.int64, b: np.int64, x: bool, y: bool) -> tuple[np.int64, bool, bool]:
    """The value of a rare instruction, whether it is known, and whether it does not fit.  Apart from :func:`steps`,
    whose loop is faster without it."""
    ok = x and y
    if op == MULTIPLY:
        return a * b, ok, ok and abs(float(a) * float(b)) >= 9.2e18  # with care rather than exactly
    if op in (DIVIDE, REMAINDER):
        if not ok or b == 0:
            return a, False, False
        if b == -1 and a == -(2**63):
            return a, True, True
        return a // b if op == DIVIDE else a % b, True, False
    if op == IS_NULL:
        return np.int64(not x), True, False
    strong = np.int64(op == OR)
    decided = (x and a == strong) or (y and b == strong)
    return strong if decided else 1 - strong, ok or decided, False


@kernel
def steps(
    code: np.ndarray, what: np.ndarray, ways: Arrays, given: Arrays, state: np.ndarray, registers: np.ndarray,
    known: np.ndarray, after: np.ndarray, moved: np.ndarray, out: np.ndarray, known_out: np.ndarray,
) -> int:  # fmt: skip
    """One transition per item; the row at which a number did not fit, or -1.

    ``what`` (n): a number per item; ``ways``: by state and this number the (first, last) rows of transitions, which are
    (target; first, last instruction); instructions (what it does; the number it goes to, -1: it must be true, or the
    way is not taken; two operands); constants.  An operand is what it is, and its number: of a register or a temporary
    number, a constant, a column.  ``given``: the columns, which of their values are known; if all is known always
    (False) nobody asks.  ``registers`` (traces, registers and temporary numbers) and whether they are ``known`` change
    where they stand; ``out``, ``known_out`` (registers, n): what they are behind each item.
    """
    first, last, rows, words, constants = ways
    columns, there, some = given
    many = len(code) > 0
    count = len(out)
    c = 0
    own, has = registers[0], known[0]
    s = state[0]
    for i in range(len(what)):
        if many:
            c = code[i]
            own = registers[c]
            if some:
                has = known[c]
            s = state[c]
        for t in range(first[s, what[i]], last[s, what[i]]):
            taken = True
            for k in range(rows[t, 1], rows[t, 2]):
                op, to = words[k, 0], words[k, 1]
                a = _operand(words[k, 2], words[k, 3], own, constants, columns, i)
                b = _operand(words[k, 4], words[k, 5], own, constants, columns, i)
                x = y = True
                if some:
                    x = _known(words[k, 2], words[k, 3], has, there, i)
                    y = _known(words[k, 4], words[k, 5], has, there, i)
                ok, found = x and y, a
                if op <= AT_LEAST:
                    found = np.int64(_holds(op, a, b))
                elif op == ADD:
                    found = a + b
                    if ok and ((a ^ found) & (b ^ found)) < 0:
                        return i
                elif op == SUBTRACT:
                    found = a - b
                    if ok and ((a ^ b) & (a ^ found)) < 0:
                        return i
                elif op != COPY:
                    found, ok, lost = _other(op, a, b, x, y)
                    if lost:
                        return i
                if to >= 0:
                    own[to] = found
                    if some:
                        has[to] = ok
                elif not ok or found == 0:
                    taken = False
                    break
            if taken:
                s = rows[t, 0]
                state[c] = s
                moved[i] = True
                break
        after[i] = s
        for r in range(count):
            out[r, i] = own[r]
            if some:
                known_out[r, i] = has[r]
    return -1
