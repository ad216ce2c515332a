"""What the machine of patterns is made of: instances, timers, chains of waiting filters, bindings, stored trues."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from occurs.operators.kernels.sequence_tables import (
    AND,
    AT,
    ATOM,
    BEFORE,
    BINDING,
    BOUND,
    BOUND_LIMIT,
    DUE,
    EQUALS,
    EQUALS_END,
    EVENT,
    EVENT_TAG,
    FIRST,
    FOLLOWED,
    FREE,
    HASH,
    INSTANCE_FIELDS,
    INTERVAL,
    KEPT,
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
    STORED,
    STORED_BINDING,
    STORED_END,
    STORED_LIVE,
    STORED_NEXT,
    STORED_POSITION,
    UNTIL,
    USED,
    WAITING,
    WITHIN,
)
from occurs.operators.kernels.stackcode import Arrays

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@njit(cache=True, nogil=True)
def mixed(h: int, word: int) -> int:
    """For one ``h`` different words give different results."""
    z = (np.uint64(h) ^ np.uint64(word)) * _GOLDEN
    return np.int64(z ^ (z >> _SHIFT))  # type: ignore[return-value]


@njit(cache=True, nogil=True)
def longer(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size, a.dtype)
    out[: len(a)] = a
    return out


@njit(cache=True, nogil=True)
def higher(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros((size, a.shape[1]), a.dtype)
    out[: len(a)] = a
    return out


# --- bindings ------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def event_of(bound: np.ndarray, binding: int, tag: int, index: int) -> int:
    """The event of ``tag``: with ``index`` -1 the latest, else that of this number in its list; -1: none."""
    at = binding
    if index < 0:
        while at >= 0:
            if bound[at, EVENT_TAG] == tag:
                return bound[at, EVENT]
            at = bound[at, BEFORE]
        return -1
    n = 0
    while at >= 0:
        if bound[at, EVENT_TAG] == tag:
            n += 1
        at = bound[at, BEFORE]
    if index >= n:
        return -1
    at = binding
    while True:
        if bound[at, EVENT_TAG] == tag:
            n -= 1
            if n == index:
                return bound[at, EVENT]
        at = bound[at, BEFORE]


@njit(cache=True, nogil=True)
def joined(bound: np.ndarray, reg: np.ndarray, base: int, binding: int, root: int) -> tuple[np.ndarray, int]:
    """``base`` and behind it what ``binding`` has beyond ``root``: the table, which may have grown, and the number."""
    if base == root:
        return bound, binding
    n = 0
    at = binding
    while at != root:
        n += 1
        at = bound[at, BEFORE]
    if n == 0:
        return bound, base
    first = reg[BOUND]
    if first + n > len(bound):
        bound = higher(bound, 2 * (first + n))
    at = binding
    for k in range(n - 1, -1, -1):
        bound[first + k, EVENT_TAG] = bound[at, EVENT_TAG]
        bound[first + k, EVENT] = bound[at, EVENT]
        bound[first + k, BEFORE] = first + k - 1 if k else base
        at = bound[at, BEFORE]
    reg[BOUND] = first + n
    return bound, first + n - 1


@njit(cache=True, nogil=True)
def collect_garbage(reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, nodes: np.ndarray) -> None:
    """Keep the bound events that live instances and stored trues need, in their order, from 0 on."""
    n = reg[BOUND]
    number = np.full(n, -1, np.int64)
    for i in range(reg[USED]):
        if inst[i, NODE] < 0:
            continue
        if inst[i, BINDING] >= 0:
            number[inst[i, BINDING]] = 0
        s = inst[i, STORED]
        while s >= 0:
            if store[s, STORED_BINDING] >= 0:
                number[store[s, STORED_BINDING]] = 0
            s = store[s, STORED_NEXT]
    for at in range(n - 1, -1, -1):
        if number[at] == 0 and bound[at, BEFORE] >= 0:
            number[bound[at, BEFORE]] = 0
    kept = 0
    for at in range(n):
        if number[at] == 0:
            number[at] = kept
            bound[kept, EVENT_TAG] = bound[at, EVENT_TAG]
            bound[kept, EVENT] = bound[at, EVENT]
            before = bound[at, BEFORE]
            bound[kept, BEFORE] = number[before] if before >= 0 else -1
            kept += 1
    for i in range(reg[USED]):
        if inst[i, NODE] < 0:
            continue
        if inst[i, BINDING] >= 0:
            inst[i, BINDING] = number[inst[i, BINDING]]
        s = inst[i, STORED]
        while s >= 0:
            if store[s, STORED_BINDING] >= 0:
                store[s, STORED_BINDING] = number[store[s, STORED_BINDING]]
            s = store[s, STORED_NEXT]
    reg[BOUND] = kept
    reg[BOUND_LIMIT] = 2 * kept + reg[USED] + 4096


@njit(cache=True, nogil=True)
def listed(
    bound: np.ndarray, binding: int, tag_lists: np.ndarray, row: np.ndarray, lists: np.ndarray, n: int
) -> tuple[np.ndarray, int]:
    """Write the events of a binding into ``row`` (per tag, then the lengths of lists); lists go behind the ``n`` events
    of ``lists``.  Returns it, as it may have grown, and the new ``n``."""
    tags = len(tag_lists)
    row[:tags] = -1
    row[tags:] = 0
    some = False
    at = binding
    while at >= 0:
        tag = bound[at, EVENT_TAG]
        if tag_lists[tag] >= 0:
            row[tags + tag_lists[tag]] += 1
            some = True
        elif row[tag] < 0:
            row[tag] = bound[at, EVENT]
        at = bound[at, BEFORE]
    if not some:
        return lists, n
    for tag in range(tags):
        if tag_lists[tag] >= 0 and row[tags + tag_lists[tag]] > 0:
            n += row[tags + tag_lists[tag]]
            row[tag] = n
    if n > len(lists):
        lists = longer(lists, 2 * n)
    # the latest comes first: each list is filled from its end, until its place is where it begins
    at = binding
    while at >= 0:
        tag = bound[at, EVENT_TAG]
        if tag_lists[tag] >= 0:
            row[tag] -= 1
            lists[row[tag]] = bound[at, EVENT]
        at = bound[at, BEFORE]
    return lists, n


# --- stored trues --------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def keep_true(reg: np.ndarray, inst: np.ndarray, store: np.ndarray, i: int, position: int, binding: int) -> np.ndarray:
    """Append to the stored trues of instance ``i``; the table, which may have grown."""
    at = reg[KEPT_FREE]
    if at >= 0:
        reg[KEPT_FREE] = store[at, STORED_NEXT]
    else:
        at = reg[KEPT]
        if at == len(store):
            store = higher(store, 2 * at)
        reg[KEPT] += 1
    reg[STORED_LIVE] += 1
    store[at, STORED_POSITION] = position
    store[at, STORED_BINDING] = binding
    store[at, STORED_NEXT] = -1
    if inst[i, STORED] < 0:
        inst[i, STORED] = at
    else:
        store[inst[i, STORED_END], STORED_NEXT] = at
    inst[i, STORED_END] = at
    return store


# --- waiting filters -----------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def chain_head(heads: np.ndarray, h: int) -> int:
    """The first instance in the chain of a hash; others may be in it."""
    return heads[mixed(0, h) & (len(heads) - 1)]


@njit(cache=True, nogil=True)
def _link(inst: np.ndarray, heads: np.ndarray, i: int) -> None:
    bucket = mixed(0, inst[i, HASH]) & (len(heads) - 1)
    head = heads[bucket]
    inst[i, QUEUE] = head
    inst[i, QUEUE_BACK] = -1
    if head >= 0:
        inst[head, QUEUE_BACK] = i
    heads[bucket] = i


@njit(cache=True, nogil=True)
def more_heads(reg: np.ndarray, inst: np.ndarray, heads: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Twice as many chains."""
    heads = np.full(2 * len(heads), -1, np.int64)
    for i in range(reg[USED]):
        if inst[i, NODE] >= 0 and nodes[inst[i, NODE], KIND] == ATOM and inst[i, QUEUE_BACK] != -2:
            _link(inst, heads, i)
    return heads


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _earlier(a: np.ndarray, b: np.ndarray) -> bool:
    return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1])


@njit(cache=True, nogil=True)
def _sink(picked: np.ndarray, root: int, n: int) -> None:
    """Heap sort: let the row at ``root`` sink below those of [root, n) that come later."""
    while True:
        child = 2 * root + 1
        if child >= n:
            return
        if child + 1 < n and _earlier(picked[child], picked[child + 1]):
            child += 1
        if not _earlier(picked[root], picked[child]):
            return
        for k in range(picked.shape[1]):
            picked[root, k], picked[child, k] = picked[child, k], picked[root, k]
        root = child


# NumPy's sorting is compiled into each caller under names that caches of several processes may mix up (`sort` and
# `argsort` are built of functions of the same names and types), so the few sorts here are plain code


@njit(cache=True, nogil=True)
def in_order(picked: np.ndarray, n: int) -> None:
    """Sort the picked instances (number, serial, class, ..) by class and serial."""
    for k in range(1, n):
        if _earlier(picked[k], picked[k - 1]):
            break
    else:
        return
    for root in range(n // 2 - 1, -1, -1):
        _sink(picked, root, n)
    for end in range(n - 1, 0, -1):
        for k in range(picked.shape[1]):
            picked[0, k], picked[end, k] = picked[end, k], picked[0, k]
        _sink(picked, 0, end)


@njit(cache=True, nogil=True)
def different(values: np.ndarray, n: int) -> np.ndarray:
    """The first ``n`` values, each once, ascending."""
    rows = np.zeros((n, 3), np.int64)
    rows[:, 1] = values[:n]
    in_order(rows, n)
    out = np.zeros(n, np.int64)
    found = 0
    for k in range(n):
        if k == 0 or rows[k, 1] != rows[k - 1, 1]:
            out[found] = rows[k, 1]
            found += 1
    return out[:found].copy()


@njit(cache=True, nogil=True)
def place_of(values: np.ndarray, value: int) -> int:
    """Where ``value`` is in ascending ``values``; -1: nowhere."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < len(values) and values[low] == value else -1


# --- timers --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def after(now: int, ticks: int) -> int:
    return NEVER if now > NEVER - ticks else now + ticks


@njit(cache=True, nogil=True)
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


# --- ends ----------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
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


# --- a state that comes back ---------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def restore_trues(reg: np.ndarray, inst: np.ndarray, store: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """``rows``: (instance, position, binding) of stored trues, in their order."""
    for k in range(len(rows)):
        store = keep_true(reg, inst, store, rows[k, 0], rows[k, 1], rows[k, 2])
    return store


@njit(cache=True, nogil=True)
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
