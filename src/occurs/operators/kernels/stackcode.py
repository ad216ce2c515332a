"""Expressions on a small stack machine: what constraints and outputs of sequential rules are run as.

Written by :mod:`occurs.operators.rule_bytecode`.  Null is "not known" on the stack; connectives are Kleene's; NaN
becomes null.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel

#: a tuple of arrays of different types
Arrays = tuple[Any, ...]

DONE, GIVE_UP = 0, 1

# code is (operation, a, b) per row
(
    INT,  # constant number a of the ints
    FLOAT,
    NULL,
    REF,  # column b of role a (-1: the row itself), as int
    REF_FLOAT,
    REF_TIME,
    TO_FLOAT,
    ADD,
    SUBTRACT,
    MULTIPLY,
    NEGATE,
    ADD_FLOAT,
    SUBTRACT_FLOAT,
    MULTIPLY_FLOAT,
    DIVIDE,
    NEGATE_FLOAT,
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST,
    EQUAL_FLOAT,
    UNEQUAL_FLOAT,
    LESS_FLOAT,
    AT_MOST_FLOAT,
    GREATER_FLOAT,
    AT_LEAST_FLOAT,
    AND,
    OR,
    NOT,
    IS_NULL,
    EXACT,  # give up unless the int on top is the same as a float
    ABSOLUTE,
    ABSOLUTE_FLOAT,
    REMAINDER,
    REMAINDER_FLOAT,
    LEAST,
    LEAST_FLOAT,
    GREATEST,
    GREATEST_FLOAT,
    COALESCE,  # of two: the first that is not null
    CHOOSE,  # of three: the second if the first is true, else the third
) = range(43)

STACK = 32
_BIG = np.int64(1) << np.int64(62)
_EXACT = np.int64(1) << np.int64(53)


@kernel
def _overflows(op: int, a: np.int64, b: np.int64) -> np.bool_:
    """May the result leave int64?  Careful rather than exact: near the ends the caller gives up."""
    if op == MULTIPLY:
        return np.bool_(abs(float(a) * float(b)) >= 9.2e18)
    return np.bool_(a >= _BIG or a <= -_BIG or b >= _BIG or b <= -_BIG)


@kernel
def evaluate(
    program: Arrays, begin: int, end: int, pool: Arrays, roles: np.ndarray, own: int | np.int64, stack: Arrays
) -> int:
    """Run ``code[begin:end]``; the result is ``x[0]`` (ints, booleans) or ``y[0]`` (floats), and ``ok[0]`` (known?).

    program: (code, ints, floats); pool: (values, the same as floats, known, time); stack: (x, y, ok), STACK each.
    ``roles``: the rows that roles are bound to; ``own``: the row that role -1 is.  What is read of a row less than 0 is
    null.
    """
    code, ints, floats = program
    values, real, known, time = pool
    x, y, ok = stack
    return compute(code, ints, floats, begin, end, values, real, known, time, roles, own, x, y, ok)


@kernel
def compute(
    code: np.ndarray, ints: np.ndarray, floats: np.ndarray, begin: int, end: int, values: np.ndarray, real: np.ndarray,
    known: np.ndarray, time: np.ndarray, roles: np.ndarray, own: int | np.int64, x: np.ndarray, y: np.ndarray,
    ok: np.ndarray,
) -> int:  # fmt: skip
    """The same with all arrays apart: to take them out of tuples costs as much as a short expression."""
    top = 0
    for at in range(begin, end):
        op = code[at, 0]
        if REF <= op <= REF_TIME:
            row = own if code[at, 1] < 0 else roles[code[at, 1]]
            column = code[at, 2]
            if row < 0:
                x[top] = 0
                y[top] = 0.0
                ok[top] = False
            elif op == REF_TIME:
                x[top] = time[row]
                ok[top] = True
            elif op == REF:
                x[top] = values[row, column]
                ok[top] = known[row, column]
            else:
                y[top] = real[row, column]
                ok[top] = known[row, column]
            top += 1
        elif op == INT:
            x[top] = ints[code[at, 1]]
            ok[top] = True
            top += 1
        elif op == FLOAT:
            y[top] = floats[code[at, 1]]
            ok[top] = True
            top += 1
        elif op == NULL:
            x[top] = 0
            y[top] = 0.0
            ok[top] = False
            top += 1
        elif op == TO_FLOAT:
            y[top - 1] = float(x[top - 1])
        elif op == EXACT:
            if ok[top - 1] and (x[top - 1] > _EXACT or x[top - 1] < -_EXACT):
                return GIVE_UP
        elif op == NEGATE:
            if ok[top - 1] and x[top - 1] <= -_BIG:
                return GIVE_UP
            x[top - 1] = -x[top - 1]
        elif op == NEGATE_FLOAT:
            y[top - 1] = -y[top - 1]
        elif op == ABSOLUTE:
            if ok[top - 1] and x[top - 1] <= -_BIG:
                return GIVE_UP
            x[top - 1] = abs(x[top - 1])
        elif op == ABSOLUTE_FLOAT:
            y[top - 1] = abs(y[top - 1])
        elif op == CHOOSE:
            top -= 2
            chosen = top if ok[top - 1] and x[top - 1] != 0 else top + 1
            x[top - 1], y[top - 1], ok[top - 1] = x[chosen], y[chosen], ok[chosen]
        elif op == NOT:
            x[top - 1] = 1 - x[top - 1]
        elif op == IS_NULL:
            x[top - 1] = 0 if ok[top - 1] else 1
            ok[top - 1] = True
        else:
            top -= 1
            a, b = top - 1, top
            if op == AND:
                if (ok[a] and x[a] == 0) or (ok[b] and x[b] == 0):
                    x[a] = 0
                    ok[a] = True
                else:
                    ok[a] = ok[a] and ok[b]
            elif op == OR:
                if (ok[a] and x[a] != 0) or (ok[b] and x[b] != 0):
                    x[a] = 1
                    ok[a] = True
                else:
                    ok[a] = ok[a] and ok[b]
            elif op == COALESCE:
                if not ok[a]:
                    x[a], y[a], ok[a] = x[b], y[b], ok[b]
            elif not (ok[a] and ok[b]):
                ok[a] = False
                x[a] = 0
                y[a] = 0.0
            elif op <= MULTIPLY:
                if _overflows(op, x[a], x[b]):
                    return GIVE_UP
                if op == ADD:
                    x[a] += x[b]
                elif op == SUBTRACT:
                    x[a] -= x[b]
                else:
                    x[a] *= x[b]
            elif op <= DIVIDE:
                if op == ADD_FLOAT:
                    y[a] += y[b]
                elif op == SUBTRACT_FLOAT:
                    y[a] -= y[b]
                elif op == MULTIPLY_FLOAT:
                    y[a] *= y[b]
                elif y[b] == 0.0:
                    ok[a] = False
                else:
                    y[a] /= y[b]
                if ok[a] and np.isnan(y[a]):
                    ok[a] = False
            elif op == EQUAL:
                x[a] = x[a] == x[b]
            elif op == UNEQUAL:
                x[a] = x[a] != x[b]
            elif op == LESS:
                x[a] = x[a] < x[b]
            elif op == AT_MOST:
                x[a] = x[a] <= x[b]
            elif op == GREATER:
                x[a] = x[a] > x[b]
            elif op == AT_LEAST:
                x[a] = x[a] >= x[b]
            elif op == EQUAL_FLOAT:
                x[a] = y[a] == y[b]
            elif op == UNEQUAL_FLOAT:
                x[a] = y[a] != y[b]
            elif op == LESS_FLOAT:
                x[a] = y[a] < y[b]
            elif op == AT_MOST_FLOAT:
                x[a] = y[a] <= y[b]
            elif op == GREATER_FLOAT:
                x[a] = y[a] > y[b]
            elif op == AT_LEAST_FLOAT:
                x[a] = y[a] >= y[b]
            elif op == LEAST:
                x[a] = min(x[a], x[b])
            elif op == LEAST_FLOAT:
                y[a] = min(y[a], y[b])
            elif op == GREATEST:
                x[a] = max(x[a], x[b])
            elif op == GREATEST_FLOAT:
                y[a] = max(y[a], y[b])
            elif op == REMAINDER:
                # with the sign of the dividend; by zero null
                if x[b] == 0:
                    ok[a] = False
                elif x[b] == -1:
                    x[a] = 0
                else:
                    rest = x[a] % x[b]
                    x[a] = rest - x[b] if rest != 0 and (x[a] < 0) != (x[b] < 0) else rest
            elif y[b] == 0.0:
                ok[a] = False
            else:
                y[a] = np.fmod(y[a], y[b])
                ok[a] = not np.isnan(y[a])
    return DONE
