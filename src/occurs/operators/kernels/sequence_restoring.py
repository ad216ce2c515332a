"""A state of the machine of patterns that comes back."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.sequence_bindings import keep_true
from occurs.operators.kernels.sequence_instances import enqueue, enter_chain
from occurs.operators.kernels.sequence_tables import (
    AT,
    ATOM,
    DUE,
    FIRST,
    INTERVAL,
    KIND,
    NEXT,
    NODE,
    ONE,
    PARENT,
    PREVIOUS,
    STORED,
    STORED_BINDING,
    STORED_END,
    STORED_NEXT,
    STORED_POSITION,
    USED,
    WITHIN,
)


@kernel
def relink(
    reg: np.ndarray,
    inst: np.ndarray,
    heads: np.ndarray,
    queue: np.ndarray,
    waiting: np.ndarray,
    words: np.ndarray,
    known: np.ndarray,
    bound: np.ndarray,
    nodes: np.ndarray,
    atoms: np.ndarray,
    equals: np.ndarray,
) -> None:
    """Link the instances [0, reg[USED]), which come in the order in which they were started, to their siblings, chains
    and queues."""
    for i in range(reg[USED]):
        inst[i, FIRST] = -1
        inst[i, NEXT] = -1
        inst[i, PREVIOUS] = -1
        inst[i, STORED] = -1
        inst[i, STORED_END] = -1
    for i in range(reg[USED]):
        parent = inst[i, PARENT]
        if parent >= 0:
            first = inst[parent, FIRST]
            inst[i, NEXT] = first
            if first >= 0:
                inst[first, PREVIOUS] = i
            inst[parent, FIRST] = i
        kind = nodes[inst[i, NODE], KIND]
        if kind == ATOM:
            enter_chain(reg, inst, heads, nodes[inst[i, NODE], ONE], i, words, known, bound, atoms, equals, waiting)
        elif kind in (WITHIN, INTERVAL, AT):
            enqueue(reg, inst, queue, i, inst[i, DUE])


@kernel
def restore_trues(reg: np.ndarray, inst: np.ndarray, store: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``rows``: (instance, position, binding) of stored trues, in their order."""
    for k in range(len(rows)):
        store = keep_true(reg, inst, store, rows[k, 0], rows[k, 1], rows[k, 2])
    return store


@kernel
def stored_trues(inst: np.ndarray, store: np.ndarray, live: np.ndarray, n: int) -> np.ndarray:
    """The ``n`` stored trues of the instances ``live`` as :func:`restore_trues` takes them, instances by place."""
    out = np.zeros((n, 3), np.int64)
    at = 0
    for k in range(len(live)):
        s = inst[live[k], STORED]
        while s >= 0:
            out[at, 0] = k
            out[at, 1] = store[s, STORED_POSITION]
            out[at, 2] = store[s, STORED_BINDING]
            at += 1
            s = store[s, STORED_NEXT]
    return out
