"""Which waiting filters accept the event at hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import sequence_tables as T
from occurs.operators.kernels.sequence_bindings import higher
from occurs.operators.kernels.sequence_instances import chain_head, keys_agree, own_hash
from occurs.operators.kernels.sequence_judging import TRUE, UNKNOWN, judge
from occurs.operators.kernels.sequence_order import in_order
from occurs.operators.kernels.stackcode import Arrays

#: in a mask: an overflow hides whether the event is one for the atom
DOUBTFUL = 2


@kernel
def collect(
    reg: np.ndarray,
    inst: np.ndarray,
    bound: np.ndarray,
    picked: np.ndarray,
    heads: np.ndarray,
    waiting: np.ndarray,
    nodes: np.ndarray,
    atoms: np.ndarray,
    equals: np.ndarray,
    mask: np.ndarray,
    rules: Arrays,
    roles: np.ndarray,
    program: Arrays,
    pool: Arrays,
    calc: Arrays,
) -> tuple[np.ndarray, int]:
    """Go on with picking: rows of ``picked`` (number, serial, class, level), the table, which may have grown, and
    FINISHED, ASKING or UNDECIDED; reg[PICKED] says how many.  Of different levels only the highest is informed."""
    words, _, known, _ = pool
    event = reg[T.NEXT_EVENT] - 1
    row = reg[T.ROW]
    h: Any = np.int64(0)
    while reg[T.PICK_ATOM] < len(atoms):
        a = reg[T.PICK_ATOM]
        at = reg[T.PICK_INSTANCE]
        if at == -2:
            at = np.int64(-1)
            if mask[event, a] and waiting[a] > 0:
                h, some = own_hash(words, known, row, a, atoms, equals)
                if some:
                    at = chain_head(heads, h)
        else:
            h = inst[at, T.HASH]
        while at >= 0:
            if (
                inst[at, T.HASH] == h
                and nodes[inst[at, T.NODE], T.ONE] == a
                and keys_agree(bound, inst[at, T.BINDING], row, a, atoms, equals, words)
            ):
                fits = TRUE
                c = atoms[a, T.CONDITION]
                if c >= 0:
                    if reg[T.ANSWERED]:
                        fits = reg[T.ANSWER]
                        reg[T.ANSWERED] = 0
                    else:
                        fits = judge(c, inst[at, T.BINDING], row, bound, rules, roles, program, pool, calc)
                    if fits == UNKNOWN:
                        reg[T.ASKED], reg[T.ASKED_BINDING], reg[T.ASKED_ROW] = c, inst[at, T.BINDING], row
                        reg[T.PICK_INSTANCE] = at
                        return picked, T.ASKING
                if fits == TRUE:
                    if mask[event, a] == DOUBTFUL:
                        reg[T.ASKED] = a
                        return picked, T.UNDECIDED
                    n = reg[T.PICKED]
                    if n == len(picked):
                        picked = higher(picked, 2 * n)
                    picked[n, 0] = at
                    picked[n, 1] = inst[at, T.SERIAL]
                    picked[n, 2] = atoms[a, T.CLASS]
                    picked[n, 3] = atoms[a, T.LEVEL]
                    reg[T.PICKED] += 1
            at = inst[at, T.QUEUE]
        reg[T.PICK_ATOM] += 1
        reg[T.PICK_INSTANCE] = -2
    if reg[T.PICKED] > 1:
        _highest_level(reg, picked)
        in_order(picked, reg[T.PICKED])
    return picked, T.FINISHED


@kernel
def _highest_level(reg: np.ndarray, picked: np.ndarray) -> None:
    highest = picked[0, 3]
    lowest = highest
    for k in range(1, reg[T.PICKED]):
        highest = max(highest, picked[k, 3])
        lowest = min(lowest, picked[k, 3])
    if lowest == highest:
        return
    n = 0
    for k in range(reg[T.PICKED]):
        if picked[k, 3] == highest:
            picked[n] = picked[k]
            n += 1
    reg[T.PICKED] = n
