"""The machine of patterns: instances of the nodes of a tree, driven by events and timers (epl-and-nets.md, 4A).

What has to be done next lies on a stack of operations; what an operation leads to is done before what lies below it, so
that a report has gone all the way up before the next one is looked at.  Between events the stack is empty.

All that lives is in arrays, places in them are in registers, and the machine can stop in the midst of an operation: it
*asks* for the value of an expression that it cannot compute, and goes on when it is called again with the answer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import pattern_tables as T
from occurs.operators.kernels.growing import higher, longer, mixed
from occurs.operators.kernels.pattern_timers import after, due, later
from occurs.operators.kernels.stackcode import DONE, Arrays, evaluate


@kernel
def run(
    tree: Arrays, rules: Arrays, program: Arrays, pool: Arrays, mask: np.ndarray, base: int, work: Arrays, start: int,
    until: int, limit: int, discard: bool, late_wanted: bool,
) -> tuple[int, Arrays]:  # fmt: skip
    """Go on until all events have been seen and all timers that are due up to ``until`` have fired.

    tree: (nodes, children, limits of arrows, atoms, their keys, keys of every-distinct, number of each tag's list or
    -1, calendars (n, ALLOWED), microseconds per tick, segments of local time).
    rules: (conditions, code ranges, needed roles, roles as (tag, index)).  pool: (words, the same as floats, known,
    time); events of earlier calls first, those of this call from ``base`` on in their order; ``mask`` (events, atoms):
    0 the event is none for the atom, 1 it is, DOUBTFUL: an overflow hides whether it is.  work: all that changes (see
    :mod:`occurs.operators.sequence.machine_arrays`).

    Returns how it ended, and ``work``.  FULL: reg[ASKED] is the node that is one too many; UNDECIDED: the atom.
    """
    nodes, children, limits, atoms, equals, keys, tag_lists, calendars, tick, segments = tree
    words, _, known, time = pool
    (
        reg, inst, bound, store, stack, picked, heads, queue, waiting, table, key_heads, matches, lists, late,
        late_lists, roles, values, calc,
    ) = work  # fmt: skip
    n_events = len(mask)
    top = reg[T.TOP]
    status = T.FINISHED
    going = True
    while going:
        op = T.NOTHING
        i: Any = np.int64(-1)
        m: Any = np.int64(-1)
        x: Any = np.int64(0)
        if top > 0:
            top -= 1
            op, i, m, x = stack[top, 0], stack[top, 1], stack[top, 3], stack[top, 4]
            if i >= 0 and inst[i, T.SERIAL] != stack[top, 2]:
                continue  # it has ended meanwhile
        elif reg[T.PHASE] == T.INFORMING:
            if reg[T.INFORMED] < reg[T.PICKED]:
                k = reg[T.INFORMED]
                reg[T.INFORMED] += 1
                i = picked[k, 0]
                if inst[i, T.SERIAL] != picked[k, 1]:
                    continue
                reg[T.TOLD] += 1
                if picked[k, 2] < 0:
                    op = T.FALSE
                else:
                    node = inst[i, T.NODE]
                    m = reg[T.BOUND]
                    if m == len(bound):
                        bound = higher(bound, 2 * m)
                    reg[T.BOUND] += 1
                    bound[m, T.EVENT_TAG] = atoms[nodes[node, T.ONE], T.TAG]
                    bound[m, T.EVENT] = reg[T.ROW]
                    bound[m, T.BEFORE] = inst[i, T.BINDING]
                    parent = inst[i, T.PARENT]
                    x = np.int64(parent < 0 or nodes[inst[parent, T.NODE], T.KIND] != T.EVERY)
                    op = T.TRUE
            else:
                reg[T.PHASE] = T.CHOOSING
                if (
                    discard
                    and reg[T.MATCHES] > reg[T.MATCHES_MARK]
                    and (reg[T.ROW] >= 0 or soonest(reg, inst, queue, reg[T.NOW]) < 0)
                ):
                    # after an event, or the last of the timers of an instant:
                    # what holds an event of a match is false, and sees nothing more of this event
                    picked = to_discard(reg, inst, bound, store, picked, matches, lists, tag_lists)
                    reg[T.INFORMED] = 0
                    reg[T.PHASE] = T.INFORMING
                continue
        elif reg[T.PHASE] == T.COLLECTING:
            picked, status = collect(
                reg, inst, bound, picked, heads, waiting, nodes, atoms, equals, mask, rules, roles, program, pool, calc
            )
            if status != T.FINISHED:
                going = False
                continue
            reg[T.INFORMED] = 0
            reg[T.PHASE] = T.INFORMING
            continue
        else:
            # what comes next: the start, a timer, an event, or the end
            if reg[T.BOUND] > reg[T.BOUND_LIMIT]:
                collect_garbage(reg, inst, bound, store, nodes)
            reg[T.PICKED] = 0
            reg[T.INFORMED] = 0
            if not reg[T.STARTED]:
                reg[T.STARTED] = 1
                reg[T.NOW] = start
                reg[T.ROW] = -1
                op = T.START
            else:
                more = reg[T.NEXT_EVENT] < n_events
                row = base + reg[T.NEXT_EVENT]
                now = time[row] if more else until
                if reg[T.NEXT_DUE] <= now:
                    i = np.int64(soonest(reg, inst, queue, now))
                if i >= 0:
                    reg[T.NOW] = inst[i, T.DUE]
                    reg[T.ROW] = -1
                    reg[T.PHASE] = T.INFORMING
                    if nodes[inst[i, T.NODE], T.KIND] == T.WITHIN:
                        op = T.FALSE
                        if late_wanted:
                            bound, late, late_lists = keep_late(
                                reg, inst, bound, store, nodes, i, tag_lists, late, late_lists
                            )
                    else:
                        op, m, x = T.TRUE, inst[i, T.BINDING], np.int64(1)
                        node, p = inst[i, T.NODE], inst[i, T.PARENT]
                        if nodes[node, T.STAYS] and p >= 0 and nodes[inst[p, T.NODE], T.KIND] == T.EVERY:
                            # it stays, for its next instant
                            unqueue(inst, queue, i)
                            next_due = due(reg, inst[i], nodes[node], calendars, tick, segments, until)
                            enqueue(reg, inst, queue, i, next_due)
                            x = np.int64(0)
                elif more:
                    reg[T.NEXT_EVENT] += 1
                    reg[T.NOW] = now
                    reg[T.ROW] = row
                    if reg[T.WAITING]:
                        reg[T.PHASE] = T.COLLECTING
                        reg[T.PICK_ATOM] = 0
                        reg[T.PICK_INSTANCE] = -2
                    continue
                else:
                    going = False
                    continue
        while op != T.NOTHING:
            if top + 4 > len(stack):
                stack = higher(stack, 2 * len(stack))
            if op == T.START:
                # x of the children of i (-1: the root), with binding m
                node = np.int64(0)
                parent_kind = T.NOTHING - 1
                if i >= 0:
                    node = children[nodes[inst[i, T.NODE], T.KIDS] + x]
                    parent_kind = nodes[inst[i, T.NODE], T.KIND]
                if reg[T.LIVE] + reg[T.STORED_LIVE] >= limit:
                    reg[T.ASKED] = node
                    status = T.FULL
                    going = False
                    break
                if nodes[node, T.LENGTH]:
                    if not reg[T.ANSWERED]:
                        reg[T.ASKED], reg[T.ASKED_BINDING], reg[T.ASKED_ROW] = node, m, -1
                        stack[top, 0], stack[top, 1] = T.START, i
                        stack[top, 2] = inst[i, T.SERIAL] if i >= 0 else 0
                        stack[top, 3], stack[top, 4] = m, x
                        top += 1
                        status = T.ASKING_LENGTH
                        going = False
                        break
                    reg[T.ANSWERED] = 0
                inst, new = begun(reg, inst, nodes, node, i, m, x)
                mine = inst[new]
                serial = mine[T.SERIAL]
                if nodes[node, T.INSTANT] and (
                    parent_kind == T.EVERY or parent_kind == T.UNTIL or parent_kind == T.REPEAT
                ):
                    mine[T.FRESH] = 1
                    stack[top, 0], stack[top, 1], stack[top, 2] = T.SETTLED, new, serial
                    top += 1
                kind = nodes[node, T.KIND]
                if nodes[node, T.LENGTH] and (kind == T.UNTIL or kind == T.REPEAT):
                    mine[T.MASK] = reg[T.ANSWER]
                if kind == T.ATOM:
                    if reg[T.WAITING] >= len(heads):
                        heads = more_heads(reg, inst, heads, nodes)
                    enter_chain(reg, inst, heads, nodes[node, T.ONE], new, words, known, bound, atoms, equals, waiting)
                    op = T.NOTHING
                elif kind >= T.TIMERS:
                    next_due = due(reg, mine, nodes[node], calendars, tick, segments, until)
                    enqueue(reg, inst, queue, new, next_due)
                    op = T.NOTHING
                    if nodes[node, T.INSTANT]:
                        op, i, x = T.TRUE, new, np.int64(1)
                elif kind == T.AND or kind == T.OR or kind == T.UNTIL:
                    if kind == T.AND:
                        mine[T.COUNT] = nodes[node, T.TWO]
                    n = nodes[node, T.N_KIDS]
                    while top + n > len(stack):
                        stack = higher(stack, 2 * len(stack))
                    # the end of `until` starts before what it ends
                    for k in range(n):
                        stack[top, 0], stack[top, 1], stack[top, 2] = T.START, new, serial
                        stack[top, 3], stack[top, 4] = m, k if kind == T.UNTIL else n - 1 - k
                        top += 1
                    op = T.NOTHING
                else:
                    if kind == T.WITHIN:
                        ticks = reg[T.ANSWER] if nodes[node, T.LENGTH] else nodes[node, T.ONE]
                        enqueue(reg, inst, queue, new, later(nodes[node], tick, segments, reg[T.NOW], ticks))
                    elif kind == T.NOT:
                        stack[top, 0], stack[top, 1], stack[top, 2] = T.TRUE, new, serial
                        stack[top, 3], stack[top, 4] = m, 0
                        top += 1
                    i, x = new, np.int64(0)
            elif op == T.TRUE:
                # i reports true with m, and ends if x
                p = inst[i, T.PARENT]
                node = inst[i, T.NODE]
                position = nodes[node, T.POSITION]
                fresh = inst[i, T.FRESH]
                if x:
                    remove(i, reg, inst, store, nodes, heads, queue, waiting)
                if p < 0:
                    at = reg[T.MATCHES]
                    if at == len(matches):
                        matches = higher(matches, 2 * at)
                    matches[at, T.MATCH_TIME] = reg[T.NOW]
                    matches[at, T.MATCH_ROW] = reg[T.ROW]
                    lists, reg[T.LISTED] = listed(
                        bound, m, tag_lists, matches[at, T.MATCH_FIELDS :], lists, reg[T.LISTED]
                    )
                    reg[T.MATCHES] += 1
                    op = T.NOTHING
                    continue
                above = inst[p, T.NODE]
                kind = nodes[above, T.KIND]
                if kind == T.FOLLOWED:
                    if position + 1 == nodes[above, T.N_KIDS]:
                        i, x = p, np.int64(inst[p, T.FIRST] < 0)
                    elif nodes[above, T.ONE] >= 0 and (
                        0 <= limits[nodes[above, T.ONE] + position] <= inst[p, T.INSTANCE_FIELDS + position + 1]
                    ):
                        op, i = T.FALSE if inst[p, T.FIRST] < 0 else T.NOTHING, p
                    else:
                        op, i, x = T.START, p, position + 1
                elif kind == T.EVERY:
                    distinct = nodes[above, T.TWO] > nodes[above, T.ONE]
                    if nodes[node, T.KIND] == T.ATOM or nodes[node, T.STAYS]:
                        op, i, x = T.DISTINCT if distinct else T.TRUE, p, np.int64(0)
                    elif fresh:
                        # true as soon as it starts: dropped
                        if not x:
                            remove(i, reg, inst, store, nodes, heads, queue, waiting)
                        op = T.NOTHING
                    else:
                        stack[top, 0] = T.DISTINCT if distinct else T.TRUE
                        stack[top, 1], stack[top, 2] = p, inst[p, T.SERIAL]
                        stack[top, 3], stack[top, 4] = m, 0
                        top += 1
                        op, i, m, x = T.START, p, inst[p, T.BINDING], np.int64(0)
                elif kind == T.NOT:
                    op, i = T.FALSE if x else T.NOTHING, p
                elif kind == T.OR:
                    if x:
                        while inst[p, T.FIRST] >= 0:
                            remove(inst[p, T.FIRST], reg, inst, store, nodes, heads, queue, waiting)
                    i = p
                elif kind == T.WITHIN:
                    most = nodes[above, T.TWO]
                    if 0 <= most <= inst[p, T.COUNT]:
                        op = T.FALSE
                    else:
                        inst[p, T.COUNT] += 1
                    i = p
                elif kind == T.WHILE:
                    op, i = T.JUDGE, p
                elif kind == T.AND:
                    op = T.NOTHING
                    if nodes[node, T.KIND] != T.NOT:
                        inst[p, T.MASK] |= np.int64(1) << position
                        if x:
                            inst[p, T.COUNT] -= 1
                        if discard or inst[p, T.COUNT] > 1 - x:
                            store = keep_true(reg, inst, store, p, position, m)
                            if reg[T.LIVE] + reg[T.STORED_LIVE] > limit:
                                reg[T.ASKED] = above
                                status = T.FULL
                                going = False
                                break
                        if inst[p, T.MASK] == nodes[above, T.ONE]:
                            # the new one with all that the others have, in the order of the children
                            bound, combined, n = combinations(reg, inst, bound, store, nodes, p, position, m)
                            done = inst[p, T.COUNT] == 0
                            while top + n > len(stack):
                                stack = higher(stack, 2 * len(stack))
                            for k in range(n):
                                stack[top, 0], stack[top, 1], stack[top, 2] = T.TRUE, p, inst[p, T.SERIAL]
                                stack[top, 3], stack[top, 4] = combined[n - 1 - k], np.int64(done and k == 0)
                                top += 1
                else:  # UNTIL, REPEAT
                    b = inst[p, T.BINDING]
                    least, most, exact = nodes[above, T.ONE], nodes[above, T.TWO], nodes[above, T.THREE]
                    if nodes[above, T.LENGTH]:
                        least, most = inst[p, T.MASK] // T.NUMBERS, inst[p, T.MASK] % T.NUMBERS - 1
                        exact = np.int64(least == most)
                    ended = position == 1
                    if not ended:
                        if fresh:
                            if not x:
                                remove(i, reg, inst, store, nodes, heads, queue, waiting)
                            op = T.NOTHING
                            continue
                        if m != b:  # one that binds nothing is counted only
                            store = keep_true(reg, inst, store, p, position, m)
                        inst[p, T.COUNT] += 1
                        if reg[T.LIVE] + reg[T.STORED_LIVE] > limit:
                            reg[T.ASKED] = above
                            status = T.FULL
                            going = False
                            break
                        if inst[p, T.COUNT] == most:
                            if exact:
                                m = b
                                ended = True
                            else:
                                if not x:
                                    remove(i, reg, inst, store, nodes, heads, queue, waiting)
                                op = T.NOTHING
                                continue
                        elif x:
                            op, i, m, x = T.START, p, b, np.int64(0)
                            continue
                        else:
                            op = T.NOTHING
                            continue
                    elif inst[p, T.COUNT] < least:
                        op, i = T.FALSE, p
                        continue
                    s = inst[p, T.STORED]
                    while s >= 0:
                        bound, m = joined(bound, reg, m, store[s, T.STORED_BINDING], b)
                        s = store[s, T.STORED_NEXT]
                    i, x = p, np.int64(1)
            elif op == T.FALSE:
                # i ends without result
                p = inst[i, T.PARENT]
                node = inst[i, T.NODE]
                fresh = inst[i, T.FRESH]
                remove(i, reg, inst, store, nodes, heads, queue, waiting)
                op = T.NOTHING
                if p >= 0:
                    kind = nodes[inst[p, T.NODE], T.KIND]
                    if kind == T.EVERY:
                        above = inst[p, T.NODE]
                        if nodes[above, T.TWO] > nodes[above, T.ONE]:
                            inst[p, T.COUNT] += 1  # every-distinct forgets its keys
                        if not fresh:
                            op, i, m, x = T.START, p, inst[p, T.BINDING], np.int64(0)
                    elif kind == T.FOLLOWED or kind == T.OR:
                        if inst[p, T.FIRST] < 0:
                            op, i = T.FALSE, p
                    elif kind != T.NOT:
                        op, i = T.FALSE, p
            elif op == T.SETTLED:
                inst[i, T.FRESH] = 0
                op = T.NOTHING
            elif op == T.JUDGE:
                # may the while i pass m, which is its last if x?
                c = nodes[inst[i, T.NODE], T.ONE]
                if reg[T.ANSWERED]:
                    fits = reg[T.ANSWER]
                    reg[T.ANSWERED] = 0
                else:
                    fits = judge(c, m, -1, bound, rules, roles, program, pool, calc)
                if fits == UNKNOWN:
                    reg[T.ASKED], reg[T.ASKED_BINDING], reg[T.ASKED_ROW] = c, m, -1
                    status = T.ASKING
                    going = False
                else:
                    op = T.TRUE if fits == TRUE else T.FALSE
            else:  # DISTINCT
                node = inst[i, T.NODE]
                if reg[T.ANSWERED]:
                    some = reg[T.ANSWER]
                    reg[T.ANSWERED] = 0
                else:
                    first, last = nodes[node, T.ONE], nodes[node, T.TWO]
                    some = np.int64(key_values(first, last, m, bound, rules, roles, program, pool, calc, keys, values))
                if some < 0:
                    reg[T.ASKED], reg[T.ASKED_BINDING], reg[T.ASKED_ROW] = node, m, -1
                    status = T.ASKING_KEYS
                    going = False
                else:
                    table, key_heads, new_key = accepted(
                        reg, inst, i, some, values, table, key_heads, nodes, tick, segments
                    )
                    op = T.TRUE if new_key else T.NOTHING
            if not going:
                # to go on with this operation when the answer has come
                stack[top, 0], stack[top, 1], stack[top, 2] = op, i, inst[i, T.SERIAL]
                stack[top, 3], stack[top, 4] = m, x
                top += 1
                break
    reg[T.TOP] = top
    return status, (
        reg, inst, bound, store, stack, picked, heads, queue, waiting, table, key_heads, matches, lists, late,
        late_lists, roles, values, calc,
    )  # fmt: skip


# -- the filters that accept the event at hand -------------------------------------------------------------------------
#: in a mask: an overflow hides whether the event is one for the atom
DOUBTFUL = 2


@kernel
def collect(
    reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, picked: np.ndarray, heads: np.ndarray, waiting: np.ndarray,
    nodes: np.ndarray, atoms: np.ndarray, equals: np.ndarray, mask: np.ndarray, rules: Arrays, roles: np.ndarray,
    program: Arrays, pool: Arrays, calc: Arrays,
) -> tuple[np.ndarray, int]:  # fmt: skip
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
            for c in range(picked.shape[1]):
                picked[n, c] = picked[k, c]
            n += 1
    reg[T.PICKED] = n


# -- instances ---------------------------------------------------------------------------------------------------------
@kernel
def begun(
    reg: np.ndarray, inst: np.ndarray, nodes: np.ndarray, node: int, parent: int, binding: int, child: int
) -> tuple[np.ndarray, int]:
    """A new instance of ``node``, which is child number ``child`` of the node of instance ``parent`` (-1: the root):
    the table, which may have grown, and its place."""
    new = reg[T.FREE]
    if new >= 0:
        reg[T.FREE] = inst[new, T.NEXT]
    else:
        new = reg[T.USED]
        if new == len(inst):
            inst = higher(inst, 2 * new)
        reg[T.USED] += 1
    reg[T.LIVE] += 1
    mine = inst[new]
    mine[:] = 0
    mine[T.NODE] = node
    mine[T.PARENT] = parent
    mine[T.SERIAL] = reg[T.SERIALS]
    reg[T.SERIALS] += 1
    mine[T.BINDING] = binding
    mine[T.FIRST] = -1
    mine[T.NEXT] = -1
    mine[T.PREVIOUS] = -1
    mine[T.STORED] = -1
    mine[T.QUEUE_BACK] = -2
    if parent >= 0:
        first = inst[parent, T.FIRST]
        mine[T.NEXT] = first
        if first >= 0:
            inst[first, T.PREVIOUS] = new
        inst[parent, T.FIRST] = new
        above = inst[parent, T.NODE]
        if nodes[above, T.KIND] == T.FOLLOWED and nodes[above, T.ONE] >= 0:
            inst[parent, T.INSTANCE_FIELDS + child] += 1
    return inst, new


@kernel
def own_hash(
    words: np.ndarray, known: np.ndarray, row: int, atom: int, atoms: np.ndarray, equals: np.ndarray
) -> Arrays:
    """(hash of the keys of an event, is none null?)"""
    h: Any = np.int64(atom)
    for k in range(atoms[atom, T.EQUALS], atoms[atom, T.EQUALS_END]):
        if not known[row, equals[k, 0]]:
            return h, False
        h = mixed(h, words[row, equals[k, 0]])
    return h, True


@kernel
def enter_chain(
    reg: np.ndarray, inst: np.ndarray, heads: np.ndarray, atom: int, i: int, words: np.ndarray, known: np.ndarray,
    bound: np.ndarray, atoms: np.ndarray, equals: np.ndarray, waiting: np.ndarray,
) -> None:  # fmt: skip
    """Let instance ``i`` wait in the chain of its keys; in none if one is null."""
    h: Any = np.int64(atom)
    for k in range(atoms[atom, T.EQUALS], atoms[atom, T.EQUALS_END]):
        row = event_of(bound, inst[i, T.BINDING], equals[k, 1], -1)
        if row < 0 or not known[row, equals[k, 2]]:
            inst[i, T.QUEUE_BACK] = -2
            return
        h = mixed(h, words[row, equals[k, 2]])
    inst[i, T.HASH] = h
    _link(inst, heads, i)
    waiting[atom] += 1
    reg[T.WAITING] += 1


@kernel
def chain_head(heads: np.ndarray, h: int) -> int:
    """The first instance in the chain of a hash; others may be in it."""
    return heads[mixed(0, h) & (len(heads) - 1)]


@kernel
def _link(inst: np.ndarray, heads: np.ndarray, i: int) -> None:
    bucket = mixed(0, inst[i, T.HASH]) & (len(heads) - 1)
    head = heads[bucket]
    inst[i, T.QUEUE] = head
    inst[i, T.QUEUE_BACK] = -1
    if head >= 0:
        inst[head, T.QUEUE_BACK] = i
    heads[bucket] = i


@kernel
def more_heads(reg: np.ndarray, inst: np.ndarray, heads: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Twice as many chains."""
    heads = np.full(2 * len(heads), -1, np.int64)
    for i in range(reg[T.USED]):
        if inst[i, T.NODE] >= 0 and nodes[inst[i, T.NODE], T.KIND] == T.ATOM and inst[i, T.QUEUE_BACK] != -2:
            _link(inst, heads, i)
    return heads


@kernel
def keys_agree(
    bound: np.ndarray, binding: int, row: int, atom: int, atoms: np.ndarray, equals: np.ndarray, words: np.ndarray,
) -> bool:  # fmt: skip
    """Of several keys with equal hashes: are they equal?  (Of one they are.)"""
    first, end = atoms[atom, T.EQUALS], atoms[atom, T.EQUALS_END]
    if end - first > 1:
        for k in range(first, end):
            other = event_of(bound, binding, equals[k, 1], -1)
            if words[other, equals[k, 2]] != words[row, equals[k, 0]]:
                return False
    return True


@kernel
def enqueue(reg: np.ndarray, inst: np.ndarray, queue: np.ndarray, i: int, due: int) -> None:
    """A queue has its instances by when they are due, equals as they were started: lengths may differ."""
    node = inst[i, T.NODE]
    inst[i, T.DUE] = due
    before = queue[node, 1]
    behind = -1
    while before >= 0 and inst[before, T.DUE] > due:
        behind = before
        before = inst[before, T.QUEUE_BACK]
    inst[i, T.QUEUE_BACK] = before
    inst[i, T.QUEUE] = behind
    if before >= 0:
        inst[before, T.QUEUE] = i
    else:
        queue[node, 0] = i
    if behind >= 0:
        inst[behind, T.QUEUE_BACK] = i
    else:
        queue[node, 1] = i
    reg[T.NEXT_DUE] = min(reg[T.NEXT_DUE], due)


@kernel
def unqueue(inst: np.ndarray, queue: np.ndarray, i: int) -> None:
    """Take a timer out of its queue."""
    node = inst[i, T.NODE]
    back, forth = inst[i, T.QUEUE_BACK], inst[i, T.QUEUE]
    if back >= 0:
        inst[back, T.QUEUE] = forth
    else:
        queue[node, 0] = forth
    if forth >= 0:
        inst[forth, T.QUEUE_BACK] = back
    else:
        queue[node, 1] = back


@kernel
def soonest(reg: np.ndarray, inst: np.ndarray, queue: np.ndarray, until: int) -> int:
    """The instance whose timer is due first, at most at ``until`` (of equals the one started first); -1: none."""
    if reg[T.NEXT_DUE] > until:
        return -1
    found = -1
    due = T.NEVER
    serial = T.NEVER
    for node in range(len(queue)):
        i = queue[node, 0]
        if i >= 0 and (inst[i, T.DUE] < due or (inst[i, T.DUE] == due and inst[i, T.SERIAL] < serial)):
            found, due, serial = i, inst[i, T.DUE], inst[i, T.SERIAL]
    reg[T.NEXT_DUE] = due
    return found if due <= until and due < T.NEVER else -1


@kernel
def remove(
    i: int, reg: np.ndarray, inst: np.ndarray, store: np.ndarray, nodes: np.ndarray, heads: np.ndarray,
    queue: np.ndarray, waiting: np.ndarray,
) -> None:  # fmt: skip
    """End instance ``i`` and all below it."""
    parent = inst[i, T.PARENT]
    after, before = inst[i, T.NEXT], inst[i, T.PREVIOUS]
    if before >= 0:
        inst[before, T.NEXT] = after
    elif parent >= 0:
        inst[parent, T.FIRST] = after
    if after >= 0:
        inst[after, T.PREVIOUS] = before
    if parent >= 0:
        above = inst[parent, T.NODE]
        if nodes[above, T.KIND] == T.FOLLOWED and nodes[above, T.ONE] >= 0:
            inst[parent, T.INSTANCE_FIELDS + nodes[inst[i, T.NODE], T.POSITION]] -= 1
    at = i
    while True:
        while inst[at, T.FIRST] >= 0:
            at = inst[at, T.FIRST]
        up = inst[at, T.PARENT]
        after = inst[at, T.NEXT]
        _release(at, reg, inst, store, nodes, heads, queue, waiting)
        if at == i:
            return
        inst[up, T.FIRST] = after
        if after >= 0:
            inst[after, T.PREVIOUS] = -1
        at = up


@kernel
def _release(
    i: int, reg: np.ndarray, inst: np.ndarray, store: np.ndarray, nodes: np.ndarray, heads: np.ndarray,
    queue: np.ndarray, waiting: np.ndarray,
) -> None:  # fmt: skip
    node = inst[i, T.NODE]
    kind = nodes[node, T.KIND]
    if kind == T.ATOM:
        back, forth = inst[i, T.QUEUE_BACK], inst[i, T.QUEUE]
        if back != -2:
            if back >= 0:
                inst[back, T.QUEUE] = forth
            else:
                heads[mixed(0, inst[i, T.HASH]) & (len(heads) - 1)] = forth
            if forth >= 0:
                inst[forth, T.QUEUE_BACK] = back
            waiting[nodes[node, T.ONE]] -= 1
            reg[T.WAITING] -= 1
    elif kind == T.WITHIN or kind >= T.TIMERS:
        unqueue(inst, queue, i)
    if kind in (T.AND, T.UNTIL, T.REPEAT):
        s = inst[i, T.STORED]
        while s >= 0:
            reg[T.STORED_LIVE] -= 1
            s = store[s, T.STORED_NEXT]
        if inst[i, T.STORED] >= 0:
            store[inst[i, T.STORED_END], T.STORED_NEXT] = reg[T.KEPT_FREE]
            reg[T.KEPT_FREE] = inst[i, T.STORED]
    inst[i, T.NODE] = -1
    inst[i, T.SERIAL] = -1
    inst[i, T.NEXT] = reg[T.FREE]
    reg[T.FREE] = i
    reg[T.LIVE] -= 1


# -- bindings, and trues that wait -------------------------------------------------------------------------------------
@kernel
def event_of(bound: np.ndarray, binding: int, tag: int, index: int) -> int:
    """The event of ``tag``: with ``index`` -1 the latest, else that of this number in its list; -1: none."""
    at = binding
    if index < 0:
        while at >= 0:
            if bound[at, T.EVENT_TAG] == tag:
                return bound[at, T.EVENT]
            at = bound[at, T.BEFORE]
        return -1
    n = 0
    while at >= 0:
        if bound[at, T.EVENT_TAG] == tag:
            n += 1
        at = bound[at, T.BEFORE]
    if index >= n:
        return -1
    at = binding
    while True:
        if bound[at, T.EVENT_TAG] == tag:
            n -= 1
            if n == index:
                return bound[at, T.EVENT]
        at = bound[at, T.BEFORE]


@kernel
def joined(bound: np.ndarray, reg: np.ndarray, base: int, binding: int, root: int) -> tuple[np.ndarray, int]:
    """``base`` and behind it what ``binding`` has beyond ``root``: the table, which may have grown, and the number."""
    if base == root:
        return bound, binding
    n = 0
    at = binding
    while at != root:
        n += 1
        at = bound[at, T.BEFORE]
    if n == 0:
        return bound, base
    first = reg[T.BOUND]
    if first + n > len(bound):
        bound = higher(bound, 2 * (first + n))
    at = binding
    for k in range(n - 1, -1, -1):
        bound[first + k, T.EVENT_TAG] = bound[at, T.EVENT_TAG]
        bound[first + k, T.EVENT] = bound[at, T.EVENT]
        bound[first + k, T.BEFORE] = first + k - 1 if k else base
        at = bound[at, T.BEFORE]
    reg[T.BOUND] = first + n
    return bound, first + n - 1


@kernel
def collect_garbage(reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, nodes: np.ndarray) -> None:
    """Keep the bound events that live instances and stored trues need, in their order, from 0 on."""
    n = reg[T.BOUND]
    number = np.full(n, -1, np.int64)
    for i in range(reg[T.USED]):
        if inst[i, T.NODE] < 0:
            continue
        if inst[i, T.BINDING] >= 0:
            number[inst[i, T.BINDING]] = 0
        s = inst[i, T.STORED]
        while s >= 0:
            if store[s, T.STORED_BINDING] >= 0:
                number[store[s, T.STORED_BINDING]] = 0
            s = store[s, T.STORED_NEXT]
    for at in range(n - 1, -1, -1):
        if number[at] == 0 and bound[at, T.BEFORE] >= 0:
            number[bound[at, T.BEFORE]] = 0
    kept = 0
    for at in range(n):
        if number[at] == 0:
            number[at] = kept
            bound[kept, T.EVENT_TAG] = bound[at, T.EVENT_TAG]
            bound[kept, T.EVENT] = bound[at, T.EVENT]
            before = bound[at, T.BEFORE]
            bound[kept, T.BEFORE] = number[before] if before >= 0 else -1
            kept += 1
    for i in range(reg[T.USED]):
        if inst[i, T.NODE] < 0:
            continue
        if inst[i, T.BINDING] >= 0:
            inst[i, T.BINDING] = number[inst[i, T.BINDING]]
        s = inst[i, T.STORED]
        while s >= 0:
            if store[s, T.STORED_BINDING] >= 0:
                store[s, T.STORED_BINDING] = number[store[s, T.STORED_BINDING]]
            s = store[s, T.STORED_NEXT]
    reg[T.BOUND] = kept
    reg[T.BOUND_LIMIT] = 2 * kept + reg[T.USED] + 4096


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
        tag = bound[at, T.EVENT_TAG]
        if tag_lists[tag] >= 0:
            row[tags + tag_lists[tag]] += 1
            some = True
        elif row[tag] < 0:
            row[tag] = bound[at, T.EVENT]
        at = bound[at, T.BEFORE]
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
        tag = bound[at, T.EVENT_TAG]
        if tag_lists[tag] >= 0:
            row[tag] -= 1
            lists[row[tag]] = bound[at, T.EVENT]
        at = bound[at, T.BEFORE]
    return lists, n


@kernel
def keep_true(reg: np.ndarray, inst: np.ndarray, store: np.ndarray, i: int, position: int, binding: int) -> np.ndarray:
    """Append to the stored trues of instance ``i``; the table, which may have grown."""
    at = reg[T.KEPT_FREE]
    if at >= 0:
        reg[T.KEPT_FREE] = store[at, T.STORED_NEXT]
    else:
        at = reg[T.KEPT]
        if at == len(store):
            store = higher(store, 2 * at)
        reg[T.KEPT] += 1
    reg[T.STORED_LIVE] += 1
    store[at, T.STORED_POSITION] = position
    store[at, T.STORED_BINDING] = binding
    store[at, T.STORED_NEXT] = -1
    if inst[i, T.STORED] < 0:
        inst[i, T.STORED] = at
    else:
        store[inst[i, T.STORED_END], T.STORED_NEXT] = at
    inst[i, T.STORED_END] = at
    return store


# -- conditions and keys -----------------------------------------------------------------------------------------------
FALSE, TRUE, UNKNOWN = range(3)


@kernel
def _bind(c: int, binding: int, bound: np.ndarray, rules: Arrays, roles: np.ndarray) -> None:
    """The events of the roles that condition ``c`` speaks of."""
    conditions, _, needs, role_table = rules
    for k in range(conditions[c, T.NEEDS], conditions[c, T.NEEDS_END]):
        r = needs[k]
        roles[r] = event_of(bound, binding, role_table[r, 0], role_table[r, 1])


@kernel
def judge(
    c: int, binding: int, own: int, bound: np.ndarray, rules: Arrays, roles: np.ndarray, program: Arrays, pool: Arrays,
    calc: Arrays,
) -> int:  # fmt: skip
    """Is condition ``c`` true with a binding and the event at hand, ``own`` (-1: none)?  UNKNOWN: it is to be asked."""
    conditions, parts, _, _ = rules
    if conditions[c, T.ASKS]:
        return UNKNOWN
    x, _, ok = calc
    _bind(c, binding, bound, rules, roles)
    for k in range(conditions[c, T.PARTS], conditions[c, T.PARTS_END]):
        if evaluate(program, parts[k, 0], parts[k, 1], pool, roles, own, calc) != DONE:
            return UNKNOWN
        if not (ok[0] and x[0] != 0):
            return FALSE
    return TRUE


@kernel
def key_values(
    first: int, end: int, binding: int, bound: np.ndarray, rules: Arrays, roles: np.ndarray, program: Arrays,
    pool: Arrays, calc: Arrays, keys: np.ndarray, values: np.ndarray,
) -> int:  # fmt: skip
    """Write the values of the keys [first, end) as words; returns the set (bits) of those that are not null, -1 if they
    are to be asked."""
    conditions, parts, _, _ = rules
    x, y, ok = calc
    bits = y.view(np.int64)
    known = 0
    for k in range(first, end):
        c = keys[k, 0]
        if conditions[c, T.ASKS]:
            return -1
        _bind(c, binding, bound, rules, roles)
        part = conditions[c, T.PARTS]
        if evaluate(program, parts[part, 0], parts[part, 1], pool, roles, -1, calc) != DONE:
            return -1
        values[k - first] = 0
        if ok[0]:
            known |= 1 << (k - first)
            if keys[k, 1]:
                values[k - first] = np.int64(0) if y[0] == 0.0 else bits[0]
            else:
                values[k - first] = x[0]
    return known


@kernel
def _bucket(serial: int, epoch: int, known: int, values: np.ndarray, n: int, size: int) -> int:
    h = mixed(mixed(mixed(0, serial), epoch), known)
    for k in range(n):
        h = mixed(h, values[k])
    return mixed(0, h) & (size - 1)


@kernel
def _forget(reg: np.ndarray, inst: np.ndarray, table: np.ndarray, nodes: np.ndarray) -> None:
    """Drop the keys of instances that are gone or have forgotten them, and those that have expired."""
    kept = 0
    for at in range(reg[T.KEYS_USED]):
        i = table[at, T.KEY_INSTANCE]
        if inst[i, T.SERIAL] != table[at, T.KEY_SERIAL] or inst[i, T.COUNT] != table[at, T.KEY_EPOCH]:
            continue
        node = inst[i, T.NODE]
        if nodes[node, T.THREE] >= 0 and after(table[at, T.KEY_TIME], nodes[node, T.LONGEST]) <= reg[T.NOW]:
            continue
        if kept < at:
            for c in range(table.shape[1]):
                table[kept, c] = table[at, c]
        kept += 1
    reg[T.KEYS_USED] = kept


@kernel
def chain_keys(
    reg: np.ndarray, inst: np.ndarray, table: np.ndarray, nodes: np.ndarray, heads: np.ndarray
) -> np.ndarray:
    """The heads of the chains of all accepted keys that still count.  ``heads``: those so far, which are returned if no
    key was dropped and the chains are short enough."""
    before = reg[T.KEYS_USED]
    _forget(reg, inst, table, nodes)
    n = reg[T.KEYS_USED]
    if n == before and 2 * n <= len(heads) and len(heads) > 0:
        return heads
    size = 16
    while size < 2 * n + 2:
        size *= 2
    heads = np.full(size, -1, np.int64)
    for at in range(n):
        node = inst[table[at, T.KEY_INSTANCE], T.NODE]
        width = nodes[node, T.TWO] - nodes[node, T.ONE]
        row = table[at]
        bucket = _bucket(row[T.KEY_SERIAL], row[T.KEY_EPOCH], row[T.KEY_KNOWN], row[T.KEY_FIELDS :], width, size)
        row[T.KEY_NEXT] = heads[bucket]
        heads[bucket] = at
    return heads


@kernel
def accepted(
    reg: np.ndarray, inst: np.ndarray, i: int, known: int, values: np.ndarray, table: np.ndarray, heads: np.ndarray,
    nodes: np.ndarray, tick: int, segments: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, bool]:  # fmt: skip
    """Does instance ``i`` accept a key now?  Then it is noted.  Returns (table, heads, answer)."""
    node = inst[i, T.NODE]
    n = nodes[node, T.TWO] - nodes[node, T.ONE]
    expiry = nodes[node, T.THREE]
    serial, epoch = inst[i, T.SERIAL], inst[i, T.COUNT]
    bucket = _bucket(serial, epoch, known, values, n, len(heads))
    at = heads[bucket]
    while at >= 0:
        same = table[at, T.KEY_SERIAL] == serial and table[at, T.KEY_EPOCH] == epoch
        same = same and table[at, T.KEY_KNOWN] == known
        for k in range(n):
            same = same and table[at, T.KEY_FIELDS + k] == values[k]
        if same:
            if expiry >= 0 and later(nodes[node], tick, segments, table[at, T.KEY_TIME], expiry) <= reg[T.NOW]:
                table[at, T.KEY_TIME] = reg[T.NOW]
                return table, heads, True
            return table, heads, False
        at = table[at, T.KEY_NEXT]
    if reg[T.KEYS_USED] == len(table) or 2 * reg[T.KEYS_USED] > len(heads):
        heads = chain_keys(reg, inst, table, nodes, heads)
        if 2 * reg[T.KEYS_USED] > len(table):
            table = higher(table, 2 * len(table))
        bucket = _bucket(serial, epoch, known, values, n, len(heads))
    at = reg[T.KEYS_USED]
    reg[T.KEYS_USED] += 1
    table[at, T.KEY_INSTANCE] = i
    table[at, T.KEY_SERIAL] = serial
    table[at, T.KEY_EPOCH] = epoch
    table[at, T.KEY_TIME] = reg[T.NOW]
    table[at, T.KEY_KNOWN] = known
    for k in range(n):
        table[at, T.KEY_FIELDS + k] = values[k]
    table[at, T.KEY_NEXT] = heads[bucket]
    heads[bucket] = at
    return table, heads, True


# -- what an and reports -----------------------------------------------------------------------------------------------
@kernel
def combinations(
    reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, nodes: np.ndarray, p: int, position: int,
    binding: int,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """Child ``position`` of the ``and`` ``p`` has become true with ``binding``: (bound, which may have grown, bindings,
    their number), in the order of the children."""
    above = inst[p, T.NODE]
    root = inst[p, T.BINDING]
    parts = np.zeros(4, np.int64)
    more = np.zeros(4, np.int64)
    parts[0] = root
    n = 1
    for k in range(nodes[above, T.N_KIDS]):
        if not (nodes[above, T.ONE] >> k) & 1:
            continue  # a `not` binds nothing
        size = 0
        for j in range(n):
            if k == position:
                if size == len(more):
                    more = longer(more, 2 * size)
                bound, more[size] = joined(bound, reg, parts[j], binding, root)
                size += 1
                continue
            s = inst[p, T.STORED]
            while s >= 0:
                if store[s, T.STORED_POSITION] == k:
                    if size == len(more):
                        more = longer(more, 2 * size)
                    bound, more[size] = joined(bound, reg, parts[j], store[s, T.STORED_BINDING], root)
                    size += 1
                s = store[s, T.STORED_NEXT]
        parts, more, n = more, parts, size
    return bound, parts, n


# -- guards that run out -----------------------------------------------------------------------------------------------
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
    reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, events: np.ndarray, picked: np.ndarray,
) -> np.ndarray:  # fmt: skip
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
                picked = higher(picked, 2 * found)
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
            leaf = kind == T.ATOM or kind >= T.TIMERS
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
    reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, nodes: np.ndarray, i: int,
    tag_lists: np.ndarray, late: np.ndarray, late_lists: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
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
    reg: np.ndarray, inst: np.ndarray, bound: np.ndarray, store: np.ndarray, picked: np.ndarray, matches: np.ndarray,
    lists: np.ndarray, tag_lists: np.ndarray,
) -> np.ndarray:  # fmt: skip
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


# -- order of instances and events -------------------------------------------------------------------------------------
@kernel
def _earlier(a: np.ndarray, b: np.ndarray) -> bool:
    return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1])


@kernel
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


@kernel
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


@kernel
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


@kernel
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


# -- a state that comes back -------------------------------------------------------------------------------------------
@kernel
def relink(
    reg: np.ndarray, inst: np.ndarray, heads: np.ndarray, queue: np.ndarray, waiting: np.ndarray, words: np.ndarray,
    known: np.ndarray, bound: np.ndarray, nodes: np.ndarray, atoms: np.ndarray, equals: np.ndarray,
) -> None:  # fmt: skip
    """Link the instances [0, reg[USED]), which come in the order in which they were started, to their siblings, chains
    and queues."""
    for i in range(reg[T.USED]):
        inst[i, T.FIRST] = -1
        inst[i, T.NEXT] = -1
        inst[i, T.PREVIOUS] = -1
        inst[i, T.STORED] = -1
        inst[i, T.STORED_END] = -1
    for i in range(reg[T.USED]):
        parent = inst[i, T.PARENT]
        if parent >= 0:
            first = inst[parent, T.FIRST]
            inst[i, T.NEXT] = first
            if first >= 0:
                inst[first, T.PREVIOUS] = i
            inst[parent, T.FIRST] = i
        kind = nodes[inst[i, T.NODE], T.KIND]
        if kind == T.ATOM:
            enter_chain(reg, inst, heads, nodes[inst[i, T.NODE], T.ONE], i, words, known, bound, atoms, equals, waiting)
        elif kind == T.WITHIN or kind >= T.TIMERS:
            enqueue(reg, inst, queue, i, inst[i, T.DUE])


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
        s = inst[live[k], T.STORED]
        while s >= 0:
            out[at, 0] = k
            out[at, 1] = store[s, T.STORED_POSITION]
            out[at, 2] = store[s, T.STORED_BINDING]
            at += 1
            s = store[s, T.STORED_NEXT]
    return out
