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
from occurs.operators.kernels import sequence_tables as T
from occurs.operators.kernels.sequence_bindings import collect_garbage, higher, joined, keep_true, listed
from occurs.operators.kernels.sequence_calendar import next_instant
from occurs.operators.kernels.sequence_collecting import collect
from occurs.operators.kernels.sequence_combining import combinations
from occurs.operators.kernels.sequence_ends import keep_late, to_discard
from occurs.operators.kernels.sequence_instances import after, begun, enqueue, enter_chain, more_heads, remove, soonest
from occurs.operators.kernels.sequence_judging import TRUE, UNKNOWN, accepted, judge, key_values
from occurs.operators.kernels.stackcode import Arrays


@kernel
def run(
    tree: Arrays,
    rules: Arrays,
    program: Arrays,
    pool: Arrays,
    mask: np.ndarray,
    base: int,
    work: Arrays,
    start: int,
    until: int,
    limit: int,
    discard: bool,
    late_wanted: bool,
) -> tuple[int, Arrays]:
    """Go on until all events have been seen and all timers that are due up to ``until`` have fired.

    tree: (nodes, children, limits of arrows, atoms, their keys, keys of every-distinct, number of each tag's list or
    -1, calendars (n, ALLOWED), microseconds per tick, segments of local time).
    rules: (conditions, code ranges, needed roles, roles as (tag, index)).  pool: (words, the same as floats, known,
    time); events of earlier calls first, those of this call from ``base`` on in their order; ``mask`` (events, atoms):
    0 the event is none for the atom, 1 it is, DOUBTFUL: an overflow hides whether it is.  work: all that changes (see
    :mod:`occurs.operators.sequence.work`).

    Returns how it ended, and ``work``.  FULL: reg[ASKED] is the node that is one too many; UNDECIDED: the atom.
    """
    nodes, children, limits, atoms, equals, keys, tag_lists, calendars, tick, segments = tree
    words, _, known, time = pool
    (
        reg,
        inst,
        bound,
        store,
        stack,
        picked,
        heads,
        queue,
        waiting,
        table,
        key_heads,
        matches,
        lists,
        late,
        late_lists,
        roles,
        values,
        calc,
    ) = work
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
                if kind == T.ATOM:
                    if reg[T.WAITING] >= len(heads):
                        heads = more_heads(reg, inst, heads, nodes)
                    enter_chain(reg, inst, heads, nodes[node, T.ONE], new, words, known, bound, atoms, equals, waiting)
                    op = T.NOTHING
                elif kind == T.INTERVAL:
                    enqueue(reg, inst, queue, new, after(reg[T.NOW], nodes[node, T.ONE]))
                    op = T.NOTHING
                elif kind == T.AT:
                    allowed = calendars[nodes[node, T.ONE]]
                    enqueue(reg, inst, queue, new, next_instant(allowed, tick, segments, reg[T.NOW], until))
                    op = T.NOTHING
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
                        enqueue(reg, inst, queue, new, after(reg[T.NOW], nodes[node, T.ONE]))
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
                    if nodes[node, T.KIND] == T.ATOM:
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
                        if inst[p, T.COUNT] == nodes[above, T.TWO]:
                            if nodes[above, T.THREE]:
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
                    elif inst[p, T.COUNT] < nodes[above, T.ONE]:
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
                    some = np.int64(
                        key_values(
                            nodes[node, T.ONE],
                            nodes[node, T.TWO],
                            m,
                            bound,
                            rules,
                            roles,
                            program,
                            pool,
                            calc,
                            keys,
                            values,
                        )
                    )
                if some < 0:
                    reg[T.ASKED], reg[T.ASKED_BINDING], reg[T.ASKED_ROW] = node, m, -1
                    status = T.ASKING_KEYS
                    going = False
                else:
                    table, key_heads, new_key = accepted(reg, inst, i, some, values, table, key_heads, nodes)
                    op = T.TRUE if new_key else T.NOTHING
            if not going:
                # to go on with this operation when the answer has come
                stack[top, 0], stack[top, 1], stack[top, 2] = op, i, inst[i, T.SERIAL]
                stack[top, 3], stack[top, 4] = m, x
                top += 1
                break
    reg[T.TOP] = top
    return status, (
        reg,
        inst,
        bound,
        store,
        stack,
        picked,
        heads,
        queue,
        waiting,
        table,
        key_heads,
        matches,
        lists,
        late,
        late_lists,
        roles,
        values,
        calc,
    )
