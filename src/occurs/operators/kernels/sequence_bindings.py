"""Bindings of the machine of patterns: events bound to tags, chained from the latest back; trues that wait."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.sequence_tables import (
    BEFORE,
    BINDING,
    BOUND,
    BOUND_LIMIT,
    EVENT,
    EVENT_TAG,
    KEPT,
    KEPT_FREE,
    NODE,
    STORED,
    STORED_BINDING,
    STORED_END,
    STORED_LIVE,
    STORED_NEXT,
    STORED_POSITION,
    USED,
)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def mixed(h: int, word: int) -> int:
    """For one ``h`` different words give different results."""
    z = (np.uint64(h) ^ np.uint64(word)) * _GOLDEN
    return np.int64(z ^ (z >> _SHIFT))  # type: ignore[return-value]


@kernel
def longer(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros(size, a.dtype)
    out[: len(a)] = a
    return out


@kernel
def higher(a: np.ndarray, size: int) -> np.ndarray:
    out = np.zeros((size, a.shape[1]), a.dtype)
    out[: len(a)] = a
    return out


@kernel
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


@kernel
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


@kernel
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


@kernel
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


@kernel
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
