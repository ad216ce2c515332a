"""Instances of the machine of patterns: beginnings, chains of waiting filters, queues of timers, ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.sequence_bindings import event_of, higher, mixed
from occurs.operators.kernels.sequence_tables import (
    AND,
    AT,
    ATOM,
    BINDING,
    DUE,
    EQUALS,
    EQUALS_END,
    FIRST,
    FOLLOWED,
    FREE,
    HASH,
    INSTANCE_FIELDS,
    INTERVAL,
    KEPT_FREE,
    KIND,
    LIVE,
    NEVER,
    NEXT,
    NEXT_DUE,
    NODE,
    ONE,
    PARENT,
    POSITION,
    PREVIOUS,
    QUEUE,
    QUEUE_BACK,
    REPEAT,
    SERIAL,
    SERIALS,
    STORED,
    STORED_END,
    STORED_LIVE,
    STORED_NEXT,
    UNTIL,
    USED,
    WAITING,
    WITHIN,
)
from occurs.operators.kernels.stackcode import Arrays


@kernel
def begun(
    reg: np.ndarray, inst: np.ndarray, nodes: np.ndarray, node: int, parent: int, binding: int, child: int
) -> tuple[np.ndarray, int]:
    """A new instance of ``node``, which is child number ``child`` of the node of instance ``parent`` (-1: the root):
    the table, which may have grown, and its place."""
    new = reg[FREE]
    if new >= 0:
        reg[FREE] = inst[new, NEXT]
    else:
        new = reg[USED]
        if new == len(inst):
            inst = higher(inst, 2 * new)
        reg[USED] += 1
    reg[LIVE] += 1
    mine = inst[new]
    mine[:] = 0
    mine[NODE] = node
    mine[PARENT] = parent
    mine[SERIAL] = reg[SERIALS]
    reg[SERIALS] += 1
    mine[BINDING] = binding
    mine[FIRST] = -1
    mine[NEXT] = -1
    mine[PREVIOUS] = -1
    mine[STORED] = -1
    mine[QUEUE_BACK] = -2
    if parent >= 0:
        first = inst[parent, FIRST]
        mine[NEXT] = first
        if first >= 0:
            inst[first, PREVIOUS] = new
        inst[parent, FIRST] = new
        above = inst[parent, NODE]
        if nodes[above, KIND] == FOLLOWED and nodes[above, ONE] >= 0:
            inst[parent, INSTANCE_FIELDS + child] += 1
    return inst, new


@kernel
def own_hash(
    words: np.ndarray, known: np.ndarray, row: int, atom: int, atoms: np.ndarray, equals: np.ndarray
) -> Arrays:
    """(hash of the keys of an event, is none null?)"""
    h: Any = np.int64(atom)
    for k in range(atoms[atom, EQUALS], atoms[atom, EQUALS_END]):
        if not known[row, equals[k, 0]]:
            return h, False
        h = mixed(h, words[row, equals[k, 0]])
    return h, True


@kernel
def enter_chain(
    reg: np.ndarray,
    inst: np.ndarray,
    heads: np.ndarray,
    atom: int,
    i: int,
    words: np.ndarray,
    known: np.ndarray,
    bound: np.ndarray,
    atoms: np.ndarray,
    equals: np.ndarray,
    waiting: np.ndarray,
) -> None:
    """Let instance ``i`` wait in the chain of its keys; in none if one is null."""
    h: Any = np.int64(atom)
    for k in range(atoms[atom, EQUALS], atoms[atom, EQUALS_END]):
        row = event_of(bound, inst[i, BINDING], equals[k, 1], -1)
        if row < 0 or not known[row, equals[k, 2]]:
            inst[i, QUEUE_BACK] = -2
            return
        h = mixed(h, words[row, equals[k, 2]])
    inst[i, HASH] = h
    _link(inst, heads, i)
    waiting[atom] += 1
    reg[WAITING] += 1


@kernel
def chain_head(heads: np.ndarray, h: int) -> int:
    """The first instance in the chain of a hash; others may be in it."""
    return heads[mixed(0, h) & (len(heads) - 1)]


@kernel
def _link(inst: np.ndarray, heads: np.ndarray, i: int) -> None:
    bucket = mixed(0, inst[i, HASH]) & (len(heads) - 1)
    head = heads[bucket]
    inst[i, QUEUE] = head
    inst[i, QUEUE_BACK] = -1
    if head >= 0:
        inst[head, QUEUE_BACK] = i
    heads[bucket] = i


@kernel
def more_heads(reg: np.ndarray, inst: np.ndarray, heads: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Twice as many chains."""
    heads = np.full(2 * len(heads), -1, np.int64)
    for i in range(reg[USED]):
        if inst[i, NODE] >= 0 and nodes[inst[i, NODE], KIND] == ATOM and inst[i, QUEUE_BACK] != -2:
            _link(inst, heads, i)
    return heads


@kernel
def keys_agree(
    bound: np.ndarray,
    binding: int,
    row: int,
    atom: int,
    atoms: np.ndarray,
    equals: np.ndarray,
    words: np.ndarray,
) -> bool:
    """Of several keys with equal hashes: are they equal?  (Of one they are.)"""
    first, end = atoms[atom, EQUALS], atoms[atom, EQUALS_END]
    if end - first > 1:
        for k in range(first, end):
            other = event_of(bound, binding, equals[k, 1], -1)
            if words[other, equals[k, 2]] != words[row, equals[k, 0]]:
                return False
    return True


@kernel
def enqueue(reg: np.ndarray, inst: np.ndarray, queue: np.ndarray, i: int, due: int) -> None:
    """``due`` is never before that of an instance of the same node that was started before."""
    node = inst[i, NODE]
    inst[i, DUE] = due
    inst[i, QUEUE] = -1
    last = queue[node, 1]
    inst[i, QUEUE_BACK] = last
    if last >= 0:
        inst[last, QUEUE] = i
    else:
        queue[node, 0] = i
    queue[node, 1] = i
    reg[NEXT_DUE] = min(reg[NEXT_DUE], due)


@kernel
def after(now: int, ticks: int) -> int:
    return NEVER if now > NEVER - ticks else now + ticks


@kernel
def soonest(reg: np.ndarray, inst: np.ndarray, queue: np.ndarray, until: int) -> int:
    """The instance whose timer is due first, at most at ``until`` (of equals the one started first); -1: none."""
    if reg[NEXT_DUE] > until:
        return -1
    found = -1
    due = NEVER
    serial = NEVER
    for node in range(len(queue)):
        i = queue[node, 0]
        if i >= 0 and (inst[i, DUE] < due or (inst[i, DUE] == due and inst[i, SERIAL] < serial)):
            found, due, serial = i, inst[i, DUE], inst[i, SERIAL]
    reg[NEXT_DUE] = due
    return found if due <= until and due < NEVER else -1


@kernel
def remove(
    i: int,
    reg: np.ndarray,
    inst: np.ndarray,
    store: np.ndarray,
    nodes: np.ndarray,
    heads: np.ndarray,
    queue: np.ndarray,
    waiting: np.ndarray,
) -> None:
    """End instance ``i`` and all below it."""
    parent = inst[i, PARENT]
    after, before = inst[i, NEXT], inst[i, PREVIOUS]
    if before >= 0:
        inst[before, NEXT] = after
    elif parent >= 0:
        inst[parent, FIRST] = after
    if after >= 0:
        inst[after, PREVIOUS] = before
    if parent >= 0:
        above = inst[parent, NODE]
        if nodes[above, KIND] == FOLLOWED and nodes[above, ONE] >= 0:
            inst[parent, INSTANCE_FIELDS + nodes[inst[i, NODE], POSITION]] -= 1
    at = i
    while True:
        while inst[at, FIRST] >= 0:
            at = inst[at, FIRST]
        up = inst[at, PARENT]
        after = inst[at, NEXT]
        _release(at, reg, inst, store, nodes, heads, queue, waiting)
        if at == i:
            return
        inst[up, FIRST] = after
        if after >= 0:
            inst[after, PREVIOUS] = -1
        at = up


@kernel
def _release(
    i: int,
    reg: np.ndarray,
    inst: np.ndarray,
    store: np.ndarray,
    nodes: np.ndarray,
    heads: np.ndarray,
    queue: np.ndarray,
    waiting: np.ndarray,
) -> None:
    node = inst[i, NODE]
    kind = nodes[node, KIND]
    if kind == ATOM:
        back, forth = inst[i, QUEUE_BACK], inst[i, QUEUE]
        if back != -2:
            if back >= 0:
                inst[back, QUEUE] = forth
            else:
                heads[mixed(0, inst[i, HASH]) & (len(heads) - 1)] = forth
            if forth >= 0:
                inst[forth, QUEUE_BACK] = back
            waiting[nodes[node, ONE]] -= 1
            reg[WAITING] -= 1
    elif kind in (WITHIN, INTERVAL, AT):
        back, forth = inst[i, QUEUE_BACK], inst[i, QUEUE]
        if back >= 0:
            inst[back, QUEUE] = forth
        else:
            queue[node, 0] = forth
        if forth >= 0:
            inst[forth, QUEUE_BACK] = back
        else:
            queue[node, 1] = back
    if kind in (AND, UNTIL, REPEAT):
        s = inst[i, STORED]
        while s >= 0:
            reg[STORED_LIVE] -= 1
            s = store[s, STORED_NEXT]
        if inst[i, STORED] >= 0:
            store[inst[i, STORED_END], STORED_NEXT] = reg[KEPT_FREE]
            reg[KEPT_FREE] = inst[i, STORED]
    inst[i, NODE] = -1
    inst[i, SERIAL] = -1
    inst[i, NEXT] = reg[FREE]
    reg[FREE] = i
    reg[LIVE] -= 1
