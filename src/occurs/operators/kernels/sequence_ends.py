"""What a guard that runs out leaves behind, and which instances hold an event."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import sequence_tables as T
from occurs.operators.kernels.sequence_bindings import higher, joined, listed, longer
from occurs.operators.kernels.sequence_order import different, in_order, place_of


@kernel
def contains(bound: np.ndarray, binding: int, events: np.ndarray) -> bool:
    """Is one of ``events`` (ascending) bound?"""
    at = binding
    while at >= 0:
        if place_of(events, bound[at, T.EVENT]) >= 0:
            return True
        at = bound[at, T.BEFORE]
    return False


@kernel
def holders(
    reg: np.ndarray,
    inst: np.ndarray,
    bound: np.ndarray,
    store: np.ndarray,
    events: np.ndarray,
    picked: np.ndarray,
) -> np.ndarray:
    """The live instances that started with one of the events, and those that have stored one: rows of
    ``picked`` (number, serial, class), the table, which may have grown; reg[PICKED] says how many."""
    found = 0
    for i in range(reg[T.USED]):
        if inst[i, T.NODE] < 0:
            continue
        holds = contains(bound, inst[i, T.BINDING], events)
        if not holds:
            # of `and` what it has stored, of `until` what it has collected
            s = inst[i, T.STORED]
            while s >= 0 and not holds:
                holds = contains(bound, store[s, T.STORED_BINDING], events)
                s = store[s, T.STORED_NEXT]
        if holds:
            if found == len(picked):
                wider = np.zeros((2 * found, picked.shape[1]), picked.dtype)
                wider[:found] = picked
                picked = wider
            picked[found, 0] = i
            picked[found, 1] = inst[i, T.SERIAL]
            picked[found, 2] = 0
            found += 1
    reg[T.PICKED] = found
    return picked


@kernel
def partial_matches(
    reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, nodes: np.ndarray, top: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """What has been bound below instance ``top``: (the table of bound events, bindings, their number).

    These are what its waiting filters and timers started with, and what `and` and `until` have collected; those that
    are the beginning of another one, and the empty one, are left out.
    """
    found = np.zeros(16, np.int64)
    n = 0
    i = top
    while True:
        # parents first
        node = inst[i, T.NODE]
        kind = nodes[node, T.KIND]
        binding = -1
        if not nodes[node, T.ABSENT]:
            binding = inst[i, T.BINDING]
            s = inst[i, T.STORED]
            while s >= 0:
                bound, binding = joined(bound, reg, binding, store[s, T.STORED_BINDING], inst[i, T.BINDING])
                s = store[s, T.STORED_NEXT]
            leaf = kind == T.ATOM or kind == T.INTERVAL or kind == T.AT
            if binding >= 0 and (leaf or inst[i, T.STORED] >= 0):
                if n == len(found):
                    found = longer(found, 2 * n)
                found[n] = binding
                n += 1
        if inst[i, T.FIRST] >= 0:
            i = inst[i, T.FIRST]
            continue
        while i != top and inst[i, T.NEXT] < 0:
            i = inst[i, T.PARENT]
        if i == top:
            break
        i = inst[i, T.NEXT]
    if n > 1:
        some = different(found, n)
        whole = np.ones(len(some), np.bool_)
        for k in range(len(some)):
            at = bound[some[k], T.BEFORE]
            while at >= 0:
                j = place_of(some, at)
                if j >= 0:
                    whole[j] = False
                at = bound[at, T.BEFORE]
        n = 0
        for k in range(len(some)):
            if whole[k]:
                found[n] = some[k]
                n += 1
    return bound, found, n


@kernel
def keep_late(
    reg: np.ndarray,
    inst: np.ndarray,
    bound: np.ndarray,
    store: np.ndarray,
    nodes: np.ndarray,
    i: int,
    tag_lists: np.ndarray,
    late: np.ndarray,
    late_lists: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Write what has been bound below the guard ``i``, whose time is up: (bound, late, late_lists), as they may have
    grown."""
    bound, found, n = partial_matches(reg, inst, bound, store, nodes, i)
    for k in range(n):
        at = reg[T.LATE]
        if at == len(late):
            late = higher(late, 2 * at)
        late[at, T.MATCH_TIME] = reg[T.NOW]
        late[at, T.MATCH_ROW] = -1
        late_lists, reg[T.LATE_LISTED] = listed(
            bound, found[k], tag_lists, late[at, T.MATCH_FIELDS :], late_lists, reg[T.LATE_LISTED]
        )
        reg[T.LATE] += 1
    return bound, late, late_lists


@kernel
def to_discard(
    reg: np.ndarray,
    inst: np.ndarray,
    bound: np.ndarray,
    store: np.ndarray,
    picked: np.ndarray,
    matches: np.ndarray,
    lists: np.ndarray,
    tag_lists: np.ndarray,
) -> np.ndarray:
    """The live instances that hold an event of one of the new matches, as ``picked`` of class -1, in their order."""
    events = np.zeros(4, np.int64)
    n = 0
    for k in range(reg[T.MATCHES_MARK], reg[T.MATCHES]):
        row = matches[k, T.MATCH_FIELDS :]
        for tag in range(len(tag_lists)):
            size = 1 if tag_lists[tag] < 0 else row[len(tag_lists) + tag_lists[tag]]
            if row[tag] < 0:
                continue
            if n + size > len(events):
                events = longer(events, 2 * (n + size))
            for j in range(size):
                events[n] = row[tag] if tag_lists[tag] < 0 else lists[row[tag] + j]
                n += 1
    reg[T.MATCHES_MARK] = reg[T.MATCHES]
    picked = holders(reg, inst, bound, store, different(events, n), picked)
    in_order(picked, reg[T.PICKED])
    picked[: reg[T.PICKED], 2] = -1
    return picked
