"""The residual of a future formula, which a kernel rewrites from state to state (temporal-logic.md 5.1).

The residual of an instance is an ``or`` of *parts*; a part is a *gate*: an obligation (row of the program, values that
it remembers), or ``and`` or ``or`` of two gates.  Gates stand in the order in which they need one another, equal ones
are one.  At a state every obligation is looked at, and gates are made anew.

A formula is a matrix of rows in negation normal form, operands before those that use them, and the rows of what is
below a row are [BEGIN, row].  The result of a row at a state is two numbers.  The bits of ``NOW``: is it satisfied if
nothing follows (``SURE``), does this state take part in that (``NEW``), both if unknown values are true (``MAYBE``,
``MAYBE_NEW``).  ``REST``: the gate that remains.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.temporal import NONE, SLOTS, brought, compares, hit, longer, roomy, taken

#: columns of a row: operator, operands, first row below, is it to be false?, columns of a comparison or (as -1 - slot)
#: what is remembered, ages at which it holds, ages from which on it never and always holds, what is told of later times
#: and of those at which nothing closes it ([first, end) of ``told``), may fewer obligations serve for others?
OP, A, B, BEGIN, NEGATED, COMPARE, LEFT, RIGHT, LOW, HIGH, CLOSE, OPENED = range(12)
TOLD, TOLD_END, CLOSED, CLOSED_END, SERVES = range(12, 17)
ROW = 17
#: node A of the network; a truth that is remembered (slot A); a comparison; the age since slot A (-1: since 0)
NODE, REMEMBERED, COMPARED, AGED = range(4)
#: of operands
BOTH, EITHER, SAME = 4, 5, 6
#: B until A; the negation of an until, where A is that of what it waits for and B that of its left side; A at the next
#: state; that, or there is none
AWAITED, AVOIDED, NEXT, NEXT_OR_LAST = range(7, 11)

#: operations of what is told: a row AGED and whether it is negated, nothing, not, and, or, at the next state
TOLD_AGE, TOLD_NOTHING, TOLD_NOT, TOLD_AND, TOLD_OR, TOLD_NEXT = range(6)

#: where a slot has its value from: column of numbers, the time, or (-2 - node) the truth of a node
OF_TIME = -1

#: columns of what a row, or a gate, comes to: bits, the gate that remains, and of an obligation its gate if it goes on
NOW, REST, GOES_ON = range(3)
SURE, NEW, MAYBE, MAYBE_NEW = 1, 2, 4, 8
EVERY_BIT = 15
#: no gate: never, satisfied before, not known before
NEVER, DONE, UNKNOWN = -1, -2, -3
#: columns of a gate: an obligation (its row), or the kind of a gate; its operands, of an obligation what is known of
#: the values that follow (two bits each: a value, one that is lost)
GATE, FIRST_OPERAND, SECOND_OPERAND, VALUES = range(4)
ALL, ANY = -1, -2
#: obligations of a part that is compared with others; then columns for their number, and for whether it is dropped
MOST = 4
SIZE, GONE, PART = range(MOST, MOST + 3)


@kernel
def _gate(gates: np.ndarray, count: np.ndarray, table: np.ndarray, new: np.ndarray) -> int:
    """The number of the gate ``new``, which is entered if there is none like it.  There is room.

    ``count``: how many there are, and the number of the state.  ``table``: by hash, state and gate in one number.
    """
    width = len(new)
    found = 17
    for w in range(width):
        found = (found ^ new[w] & 0xFFFFFFF ^ new[w] >> 28 & 0xFFFFFFF) * 1000003 & 0xFFFFFFFF
    size = len(table) - 1
    at = found & size
    while table[at] >> 32 == count[1]:
        g = table[at] & 0xFFFFFFFF
        same = True
        for w in range(width):
            if gates[g, w] != new[w]:
                same = False
                break
        if same:
            return g
        at = (at + 1) & size
    g = count[0]
    table[at] = count[1] << 32 | g
    for w in range(width):
        gates[g, w] = new[w]
    count[0] = g + 1
    return g


@kernel
def _joined(kind: int, a: int, b: int, first: bool, gates: np.ndarray, count: np.ndarray, table: np.ndarray,
            new: np.ndarray) -> int:  # fmt: skip
    """``and`` or ``or`` of two gates; ``first``: what is satisfied once is so for good."""
    if a == b:
        return a
    if kind == ALL:
        if a == NEVER or b == NEVER:
            return NEVER
        if a == DONE or b == DONE:
            return b if a == DONE else a
    else:
        if a == NEVER or b == NEVER:
            return b if a == NEVER else a
        if first and (a == DONE or b == DONE):
            return DONE
    new[:] = 0
    new[GATE], new[FIRST_OPERAND], new[SECOND_OPERAND] = kind, min(a, b), max(a, b)
    return _gate(gates, count, table, new)


@kernel(inline="always")
def _told(
    told: np.ndarray, rows: np.ndarray, r: int, which: int, state: np.ndarray, now: int, stack: np.ndarray
) -> int:
    """What holds at all later times: 1, 0 it does not, -1 nothing is told.  ``which``: TOLD or CLOSED."""
    if rows[r, which] == rows[r, which + 1]:
        return -1
    return _all_told(told, rows[r, which], rows[r, which + 1], rows, state, now, stack)


@kernel
def _all_told(
    told: np.ndarray, begin: int, end: int, rows: np.ndarray, state: np.ndarray, now: int, stack: np.ndarray
) -> int:
    top = 0
    for at in range(begin, end):
        op = told[at, 0]
        if op == TOLD_AGE:
            row = told[at, 1]
            start, known = 0, True
            if rows[row, A] >= 0:
                start, known = state[0, rows[row, A]], state[1, rows[row, A]] == 1
            found = -1
            if known and now - start >= rows[row, CLOSE]:
                found = 0
            elif known and now - start >= rows[row, OPENED]:
                found = 1
            stack[top] = found
            top += 1
        elif op == TOLD_NOTHING:
            stack[top] = -1
            top += 1
        elif op == TOLD_NOT:
            stack[top - 1] = -1 if stack[top - 1] < 0 else 1 - stack[top - 1]
        elif op == TOLD_NEXT:
            stack[top - 1] = 0 if stack[top - 1] == 0 else -1
        else:
            decisive = 0 if op == TOLD_AND else 1
            top -= 1
            a, b = stack[top - 1], stack[top]
            if a == decisive or b == decisive:
                stack[top - 1] = decisive
            else:
                stack[top - 1] = -1 if a < 0 or b < 0 else a
    return stack[0]


@kernel
def _pending(
    row: int, free: np.ndarray, state: np.ndarray, gates: np.ndarray, count: np.ndarray, table: np.ndarray,
    new: np.ndarray,
) -> int:  # fmt: skip
    """The obligation of a row, with the values that it uses."""
    new[:] = 0
    new[GATE] = row
    for w in range(free.shape[1]):
        if free[row, w]:
            new[SECOND_OPERAND] |= state[1, w] << 2 * w
            if state[1, w] == 1:
                new[VALUES + w] = state[0, w]
    return _gate(gates, count, table, new)


@kernel(inline="always")
def _looked_at(
    k: int, rows: np.ndarray, told: np.ndarray, slots: np.ndarray, free: np.ndarray, state: np.ndarray,
    fresh: np.ndarray, i: int, now: int, first: bool, doubled: int, truth: np.ndarray, numbers: np.ndarray,
    known: np.ndarray, lost: np.ndarray, out: np.ndarray, gates: np.ndarray, count: np.ndarray, table: np.ndarray,
    new: np.ndarray, stack: np.ndarray,
) -> int:  # fmt: skip
    """Row ``k`` at state ``i``, in ``out[k]``; returns the gate of the obligation if it goes on, else -1.

    ``state`` (2, slots): the values of the obligation and what is known of them (1: the value, 2: it is lost); those
    that are remembered at this state are entered.  ``fresh``: the same of this state.
    """
    begin, goes_on = rows[k, BEGIN], -1
    for w in range(len(slots)):
        if begin <= slots[w, 1] <= k:
            state[0, w], state[1, w] = fresh[0, w], fresh[1, w]
    for r in range(begin, k + 1):
        op = rows[r, OP]
        if op <= AGED:
            sure = maybe = False
            if op == NODE:
                at = rows[r, A]
                sure = truth[doubled * at]
                maybe = truth[doubled * at + doubled - 1]
            elif op == REMEMBERED:
                maybe = state[1, rows[r, A]] != 0
                sure = state[1, rows[r, A]] == 1
            elif op == AGED:
                start = 0
                there = 1
                if rows[r, A] >= 0:
                    start, there = state[0, rows[r, A]], state[1, rows[r, A]]
                sure = maybe = there == 1 and rows[r, LOW] <= now - start <= rows[r, HIGH]
            else:
                left, right = rows[r, LEFT], rows[r, RIGHT]
                if left < 0:
                    a, a_known = state[0, -1 - left], state[1, -1 - left]
                else:
                    a, a_known = numbers[left, i], 1 if known[left, i] else 0
                    if len(lost) > 0 and lost[left, i]:
                        a_known = 2
                if right < 0:
                    b, b_known = state[0, -1 - right], state[1, -1 - right]
                else:
                    b, b_known = numbers[right, i], 1 if known[right, i] else 0
                    if len(lost) > 0 and lost[right, i]:
                        b_known = 2
                if a_known == 1 and b_known == 1:
                    sure = maybe = compares(rows[r, COMPARE], a, b)
                else:
                    maybe = a_known != 0 and b_known != 0
            if rows[r, NEGATED]:
                sure, maybe = not maybe, not sure
            out[r, NOW] = (SURE | NEW if sure else 0) | (MAYBE | MAYBE_NEW if maybe else 0)
            out[r, REST] = DONE if sure else UNKNOWN if maybe else NEVER
            continue
        a = rows[r, A]
        out[r, NOW], out[r, REST] = out[a, NOW], out[a, REST]
        if op == SAME:
            continue
        if op in (BOTH, EITHER):
            b = rows[r, B]
            out[r, NOW] = _of_two(op == BOTH, out[a, NOW], out[b, NOW])
            kind = ALL if op == BOTH else ANY
            out[r, REST] = _joined(kind, out[a, REST], out[b, REST], first, gates, count, table, new)
        elif op in (NEXT, NEXT_OR_LAST):
            out[r, NOW] = 0 if op == NEXT else EVERY_BIT
            out[r, REST] = NEVER
            later = _told(told, rows, r, TOLD, state, now, stack)
            if later != (0 if op == NEXT else 1):
                out[r, REST] = _pending(a, free, state, gates, count, table, new)
        elif op == AWAITED:
            if _told(told, rows, r, TOLD, state, now, stack) == 0:
                continue
            on = out[rows[r, B], REST]
            if on != NEVER:
                same = _pending(r, free, state, gates, count, table, new)
                if r == k:
                    goes_on = same
                on = _joined(ALL, on, same, first, gates, count, table, new)
                out[r, REST] = _joined(ANY, out[a, REST], on, first, gates, count, table, new)
        else:
            if out[a, NOW] & MAYBE == 0 and out[a, REST] == NEVER:
                continue
            if _told(told, rows, r, CLOSED, state, now, stack) == 0:
                continue
            on = out[rows[r, B], REST]
            if _told(told, rows, r, TOLD, state, now, stack) != 1:
                same = _pending(r, free, state, gates, count, table, new)
                on = _joined(ANY, on, same, first, gates, count, table, new)
            # `last` is as new as `now`
            satisfied = out[a, NOW] & (SURE | MAYBE)
            out[r, NOW] = satisfied | satisfied << 1
            out[r, REST] = _joined(ALL, out[a, REST], on, first, gates, count, table, new)
    return goes_on


@kernel(inline="always")
def _of_two(both: bool, a: int, b: int) -> int:
    """The bits of ``and`` or ``or``."""
    if not both:
        return a | b
    satisfied = a & b & (SURE | MAYBE)
    return satisfied | (a | b) & satisfied << 1


@kernel
def _obligations(part: int, gates: np.ndarray, found: np.ndarray, stack: np.ndarray) -> int:
    """How many obligations an ``and`` is made of, which are put into ``found``; 0: too many, or something else."""
    n, top = 0, 1
    stack[0] = part
    while top:
        top -= 1
        g = stack[top]
        if g >= 0 and gates[g, GATE] == ALL:
            if top + 2 > 2 * MOST:
                return 0
            stack[top], stack[top + 1] = gates[g, SECOND_OPERAND], gates[g, FIRST_OPERAND]
            top += 2
        elif g < 0 or gates[g, GATE] < 0 or n == MOST:
            return 0
        else:
            # in the order of rows
            at = n
            while at > 0 and gates[found[at - 1], GATE] > gates[g, GATE]:
                found[at] = found[at - 1]
                at -= 1
            found[at] = g
            n += 1
    return n


@kernel
def _serves(
    a: np.ndarray, b: np.ndarray, n: int, rows: np.ndarray, direction: np.ndarray, gates: np.ndarray
) -> bool:  # fmt: skip
    """Are the obligations ``b`` met only if ``a`` are, too?"""
    for j in range(n):
        if a[j] == b[j]:
            continue
        row = gates[a[j], GATE]
        if row != gates[b[j], GATE] or not rows[row, SERVES]:
            return False
        for w in range(direction.shape[1]):
            if direction[row, w] == 0:
                continue
            if gates[a[j], SECOND_OPERAND] >> 2 * w & 3 != 1 or gates[b[j], SECOND_OPERAND] >> 2 * w & 3 != 1:
                return False
            x, y = gates[a[j], VALUES + w], gates[b[j], VALUES + w]
            if x < y if direction[row, w] > 0 else x > y:
                return False
    return True


@kernel
def _undominated(
    parts: np.ndarray, many: int, stays: np.ndarray, first: bool, rows: np.ndarray, direction: np.ndarray,
    gates: np.ndarray, stack: np.ndarray, found: np.ndarray,
) -> int:  # fmt: skip
    """Drop parts that are met only if another one is, too; those that stay as they were have been compared before.
    Also each ``and`` that ends only where obligations of it do that are parts themselves.  ``found``: as many rows as
    gates have, of which nothing is kept."""
    fresh = 0
    for j in range(many):
        fresh += not stays[parts[j]]
    if fresh == 0:
        return many
    for j in range(many):
        found[j, SIZE] = _obligations(parts[j], gates, found[j], stack)
        found[j, GONE] = 0
    for j in range(many):
        size = found[j, SIZE]
        if stays[parts[j]] or size == 0 or found[j, GONE]:
            continue
        if size > 1:
            own = 0
            for n in range(size):
                for other in range(many):
                    own += parts[other] == found[j, n]
            if own == size or (first and own > 0):
                found[j, GONE] = 1
                continue
        for other in range(many):
            if other == j or found[other, GONE] or found[other, SIZE] != size:
                continue
            if _serves(found[j], found[other], size, rows, direction, gates):
                found[other, GONE] = 1
            elif _serves(found[other], found[j], size, rows, direction, gates):
                found[j, GONE] = 1
                break
    kept = 0
    for j in range(many):
        if not found[j, GONE]:
            parts[kept] = parts[j]
            kept += 1
    return kept


@kernel
def _turn(
    old: np.ndarray, many_old: int, old_parts: np.ndarray, many: int, rows: np.ndarray, told: np.ndarray,
    slots: np.ndarray, free: np.ndarray, direction: np.ndarray, fresh: np.ndarray, i: int, now: int, first: bool,
    doubled: int, truth: np.ndarray, numbers: np.ndarray, known: np.ndarray, lost: np.ndarray, gates: np.ndarray,
    table: np.ndarray, count: np.ndarray, parts: np.ndarray, out: np.ndarray, done: np.ndarray, new: np.ndarray,
    stack: np.ndarray, state: np.ndarray, needed: np.ndarray, stays: np.ndarray, found: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """The gates and parts behind a state: how many parts, -1 if ``gates`` lacks room; the bits of all parts.

    All arrays behind ``lost`` are written to; ``needed``, ``stays``: false, and are so again.  ``parts`` and ``stays``
    have room for all gates, ``stack`` for twice as many.
    """
    m = len(rows)
    for j in range(many):
        needed[old_parts[j]] = True
    for g in range(many_old - 1, -1, -1):
        if needed[g] and old[g, GATE] < 0:
            for c in range(FIRST_OPERAND, VALUES):
                if old[g, c] >= 0:
                    needed[old[g, c]] = True
    count[0] = 0
    count[1] += 1
    for g in range(many_old):
        if not needed[g]:
            continue
        needed[g] = False
        if count[0] + 3 * m + 3 > len(gates):
            needed[:many_old] = False
            return -1, 0
        k = old[g, GATE]
        if k >= 0:
            for w in range(len(slots)):
                state[0, w], state[1, w] = old[g, VALUES + w], old[g, SECOND_OPERAND] >> 2 * w & 3
            same = _looked_at(
                k, rows, told, slots, free, state, fresh, i, now, first, doubled, truth, numbers, known, lost, out,
                gates, count, table, new, stack,
            )  # fmt: skip
            done[g, NOW], done[g, REST], done[g, GOES_ON] = out[k, NOW], out[k, REST], same
        else:
            a, b = old[g, FIRST_OPERAND], old[g, SECOND_OPERAND]
            bits = (_bits(a, done), _bits(b, done))
            done[g, NOW] = _of_two(k == ALL, bits[0], bits[1])
            left, right = a if a < 0 else done[a, REST], b if b < 0 else done[b, REST]
            done[g, REST] = _joined(k, left, right, first, gates, count, table, new)
    bits_of_all = 0
    for j in range(many):
        bits_of_all |= done[old_parts[j], NOW]
    kept = 0
    if not (bits_of_all & NEW and first):
        for j in range(many):
            top = 1
            stack[0] = done[old_parts[j], REST]
            while top:
                top -= 1
                g = stack[top]
                if g < 0 or stays[g]:
                    continue
                stays[g] = True
                if gates[g, GATE] == ANY:
                    stack[top], stack[top + 1] = gates[g, SECOND_OPERAND], gates[g, FIRST_OPERAND]
                    top += 2
                else:
                    parts[kept] = g
                    kept += 1
        stays[: count[0]] = False
        if kept > 1:
            for j in range(many):
                g = old_parts[j]
                if old[g, GATE] >= 0 and done[g, GOES_ON] >= 0:
                    stays[done[g, GOES_ON]] = True
            kept = _undominated(parts, kept, stays, first, rows, direction, gates, stack, found)
            stays[: count[0]] = False
    return kept, bits_of_all


@kernel(inline="always")
def _bits(g: int, done: np.ndarray) -> int:
    """Of a gate before, or of what is none: done is satisfied, and what is not known may be."""
    if g >= 0:
        return done[g, NOW]
    return SURE | MAYBE if g == DONE else MAYBE if g == UNKNOWN else 0


@kernel
def run_ahead(
    program: np.ndarray, pairs: np.ndarray, doubt: int, gap: int, continues: bool, rows: np.ndarray, told: np.ndarray,
    slots: np.ndarray, free: np.ndarray, direction: np.ndarray, atoms: np.ndarray, numbers: np.ndarray,
    known: np.ndarray, lost: np.ndarray, time: np.ndarray, start: np.ndarray, memory: np.ndarray, about: np.ndarray,
    queue_start: np.ndarray, queue_time: np.ndarray, queue_value: np.ndarray, queues: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """Which states fire, and at which an instance can fire no more.

    As :func:`occurs.operators.kernels.temporal.run`, of a formula that looks ahead: the last row of ``rows``.  ``told``
    (m, 2): what is told of later times.  ``slots`` (w, 2): where the value of each comes from, and the row at which it
    is remembered; ``free`` (rows, w): which of them an obligation keeps, and the ``direction`` (1: greater values serve
    for smaller ones, -1: the other way round).  The last of the ``queues`` of a segment has its gates.  The first
    number of ``about`` is 2 if the instance can fire no more.

    Returns: fired (n); time of the activation (n); over (n); the sizes of queues and what is in them (times, values); a
    state at which something that is lost is needed, or -1.
    """
    n, nodes, width = len(time), len(program), queue_value.shape[0]
    fired, over = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    since = np.empty(n, np.int64)
    own = queues - 1
    sizes = np.zeros((len(start) - 1) * queues, np.int64)
    kept, kept_time = 0, np.empty(64, np.int64)
    kept_value = np.empty((width, 64), np.int64)
    times, values = np.empty((own, 64), np.int64), np.empty((own, width, 64), np.int64)
    head, tail = np.zeros(own, np.int64), np.zeros(own, np.int64)
    truth = np.zeros(nodes, np.bool_)
    result, result_known = np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_)
    root, doubled = len(rows) - 1, 1 if doubt < 0 else 2
    across = VALUES + len(slots)
    size, room = 64 + 3 * len(rows), 0  # of gates to begin with, and of the arrays beside them
    gates, spare = np.zeros((size, across), np.int64), np.zeros((size, across), np.int64)
    parts, spare_parts = np.zeros(size, np.int64), np.zeros(size, np.int64)
    fresh, state = np.zeros((2, len(slots)), np.int64), np.zeros((2, len(slots)), np.int64)
    table, number = np.zeros(256, np.int64), np.zeros(2, np.int64)
    out, new = np.zeros((len(rows), 2), np.int64), np.zeros(across, np.int64)
    done, found, stack = np.zeros((0, 3), np.int64), np.zeros((0, PART), np.int64), np.zeros(0, np.int64)
    needed, stays = np.zeros(0, np.bool_), np.zeros(0, np.bool_)
    first_way = gap == 0 and not continues
    broken = -1
    for s in range(len(start) - 1):
        mine = memory[s]
        first, last_fired, activated = about[s, 0] == 1, about[s, 1], about[s, 2]
        finished = about[s, 0] == 2
        times, values = brought(times, values, head, tail, queue_start, queue_time, queue_value, s * queues)
        begin, end = queue_start[s * queues + own], queue_start[s * queues + own + 1]
        many, count = 0, end - begin
        if count > len(gates):
            gates, parts = np.zeros((2 * count, across), np.int64), np.zeros(2 * count, np.int64)
        for g in range(count):
            for w in range(across):
                gates[g, w] = queue_value[w, begin + g]
            if queue_time[begin + g]:
                parts[many] = g
                many += 1
        for i in range(start[s], start[s + 1]):
            now = time[i]
            since[i] = now if first else activated
            if finished:
                continue
            if first:
                activated = now
                many = count = 1
                gates[0] = 0
                gates[0, GATE] = root
                parts[0] = 0
            full = 0
            while full >= 0:
                _, lacking, full = hit(
                    program, pairs, -1, doubt, True, atoms, numbers, known, lost, time, i, i + 1, first, mine, truth,
                    result, result_known, times, values, head, tail, fired,
                )  # fmt: skip
                if full >= 0:
                    times, values = roomy(times, values, head, tail, full)
            if lacking:
                broken = i
            first = False
            for w in range(len(slots)):
                source = slots[w, 0]
                fresh[0, w], fresh[1, w] = 0, 1
                if source == OF_TIME:
                    fresh[0, w] = now
                elif source < OF_TIME:
                    at = doubled * (-2 - source)
                    fresh[1, w] = 1 if truth[at] else 2 if truth[at + doubled - 1] else 0
                elif len(lost) > 0 and lost[source, i]:
                    fresh[1, w] = 2
                else:
                    fresh[0, w], fresh[1, w] = numbers[source, i], 1 if known[source, i] else 0
            had, many, bits = many, -1, 0
            while many < 0:
                if room < max(len(gates), len(spare)):
                    room = max(len(gates), len(spare))
                    done, found = np.zeros((room, 3), np.int64), np.zeros((room, PART), np.int64)
                    needed, stays = np.zeros(room, np.bool_), np.zeros(room, np.bool_)
                    stack = np.zeros(2 * room + len(told) + 2 * MOST + 2, np.int64)
                    while len(table) < 4 * room:
                        table = np.zeros(2 * len(table), np.int64)
                many, bits = _turn(
                    gates, count, parts, had, rows, told, slots, free, direction, fresh, i, now, first_way, doubled,
                    truth, numbers, known, lost, spare, table, number, spare_parts, out, done, new, stack, state,
                    needed, stays, found,
                )  # fmt: skip
                if many < 0:
                    size = 2 * len(spare) + 3 * len(rows) + 3
                    spare, spare_parts = np.zeros((size, across), np.int64), np.zeros(size, np.int64)
            count = number[0]
            gates, spare, parts, spare_parts = spare, gates, spare_parts, parts
            if gap == 0 or last_fired == NONE or now - last_fired >= gap:
                if bits & MAYBE_NEW and not bits & NEW:
                    broken = i
                if bits & NEW:
                    fired[i] = True
                    last_fired = now
                    if not continues:
                        first = True
                        for k in range(nodes):
                            for slot in range(SLOTS):
                                mine[k, slot] = 0
                        for q in range(own):
                            head[q] = tail[q] = 0
                        many = count = 0
                        continue
            if many == 0:
                over[i] = finished = True
                for q in range(own):
                    head[q] = tail[q] = 0
        about[s, 0], about[s, 1], about[s, 2] = 2 if finished else 1 if first else 0, last_fired, activated
        if first or finished:
            many = count = 0
        kept, kept_time, kept_value = taken(times, values, head, tail, sizes, s * queues, kept, kept_time, kept_value)
        sizes[s * queues + own] = count
        kept_time, kept_value = longer(kept_time, kept_value, kept, count)
        kept_time[kept : kept + count] = 0
        for g in range(count):
            for w in range(width):
                kept_value[w, kept + g] = gates[g, w] if w < across else 0
        for j in range(many):
            kept_time[kept + parts[j]] = 1
        kept += count
    return fired, since, over, sizes, kept_time[:kept], kept_value[:, :kept], broken
