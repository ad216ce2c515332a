"""Networks of temporal operators of the past, state by state over the segments of instances (temporal-logic.md 5.4).

A program is an int64 matrix, one row per node, operands before those that use them; its columns are ``OP`` ..
``CLOCK``.  Every node has a truth value at each state; what it keeps is in ``memory`` (:data:`SLOTS` numbers per node)
and in queues.  Comparisons are of int64 keys.  The cost of a state does not depend on bounds, but for ``SCAN``, and
for ``NUMBER`` with ``EQUAL``.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.temporal_aggregates import AGGREGATE, aggregated
from occurs.operators.kernels.temporal_queues import asked, compares, pushed, roomy, scanned

_GREATEST = 2**63 - 1
#: no time yet
NONE = -(2**63)
SLOTS = 5

#: columns of a program: operator, operands, ages [LOW, HIGH], the age at which all is over, comparison, numbers, queue,
#: whether the first operand is asked before (0) or after (1), the column of times (-1: of the states; less: -2 minus a
#: node LATEST, whose time it is)
OP, A, B, LOW, HIGH, CLOSE, COMPARE, LEFT, RIGHT, QUEUE, AFTER, CLOCK = range(12)
WIDTH = 12

#: of what is now: column A, a constant (A), the first state since the activation, LEFT compared with RIGHT
ATOM, CONSTANT, FIRST, NOT, AND, OR = range(6)
#: A at the state before
LAST = 6
#: A since B: ``AFTER`` A need not hold now, but where B did.  With ages in [LOW, HIGH]: by a flag, the last time of B,
#: the first one, or all of them
HELD, LATEST, EARLIEST, WITHIN = range(7, 11)
#: some B from which on A was never satisfied at an age in [LOW, HIGH], not longer ago than CLOSE
UNBROKEN = 11
#: A since B, and LEFT now compares with RIGHT then; SCAN: LEFT is the first and RIGHT the number of comparisons
NUMBER, SCAN = 12, 13
#: LEFT now, an aggregate (A is its node) or a column, compares with RIGHT now
BETWEEN = 14
assert AGGREGATE == 15


@kernel
def _doubled(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    size = len(times)
    more_times = np.empty(2 * size, np.int64)
    more_values = np.empty((values.shape[0], 2 * size), np.int64)
    for i in range(size):
        more_times[i] = times[i]
        for w in range(values.shape[0]):
            more_values[w, i] = values[w, i]
    return more_times, more_values


@kernel(inline="always")
def _clear(head: np.ndarray, tail: np.ndarray, q: int, op: int) -> None:
    """Nothing is kept."""
    if op >= WITHIN:
        head[q] = tail[q]
    if op == NUMBER:
        head[q + 1] = tail[q + 1]


@kernel
def _unbroken(
    times: np.ndarray,
    values: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
    q: int,
    breaks: bool,
    begins: bool,
    clock: int,
    now: int,
    low: int,
    high: int,
    close: int,
) -> bool:
    """Whether something is left that has not been broken; what is at an age in [low, high] now may be."""
    if begins:
        pushed(times, values, head, tail, q, clock, 0)
    first, end = head[q], tail[q]
    old = first < end and now - times[q, first] > high
    while first < end and now - times[q, first] > high:
        first += 1
    while breaks and first < end and now - times[q, first] >= low:
        first += 1
    there = old or first < end
    while first < end and now - times[q, first] >= close:
        first += 1
    # of those that the same will break the last is enough
    while high == _GREATEST and first + 1 < end and now - times[q, first + 1] >= low:
        first += 1
    head[q] = first
    return there


@kernel
def run(
    program: np.ndarray,
    pairs: np.ndarray,
    root: int,
    doubt: int,
    gap: int,
    continues: bool,
    exports: np.ndarray,
    atoms: np.ndarray,
    numbers: np.ndarray,
    known: np.ndarray,
    lost: np.ndarray,
    time: np.ndarray,
    start: np.ndarray,
    memory: np.ndarray,
    about: np.ndarray,
    queue_start: np.ndarray,
    queue_time: np.ndarray,
    queue_value: np.ndarray,
    queues: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Which states fire.

    ``pairs`` (m, 3): comparisons of scans.  ``root``: the node that is a hit; -1: nothing ever fires.  ``doubt``: the
    node that says whether there may be one (-1: there is no doubt).  ``gap``: least ticks between firings (0: none).
    ``exports``: aggregates whose values are wanted.  ``atoms`` (a, n) truth values, ``numbers`` (c, n), where they are
    ``known`` and where ``lost`` (no rows: nowhere); ``time`` (n).  Segment s has the states [start[s], start[s + 1]).
    ``memory`` (segments, nodes, SLOTS) and ``about`` (segments, 3: begins, last firing, time of activation) are
    changed; what is in queue q of segment s is [queue_start[s * queues + q], queue_start[s * queues + q + 1]) of
    ``queue_time`` and ``queue_value`` (width, m).

    Returns: fired (n); time of the activation (n); values and whether they are known (exports, n); the sizes of queues
    (segments * queues) and what is in them (times, values); a state at which something that is lost is needed, or -1.
    """
    n, nodes, width = len(time), len(program), queue_value.shape[0]
    fired = np.zeros(n, np.bool_)
    since = np.empty(n, np.int64)
    values_out = np.zeros((len(exports), n), np.int64)
    known_out = np.zeros((len(exports), n), np.bool_)
    sizes = np.zeros((len(start) - 1) * queues, np.int64)
    kept, kept_time = 0, np.empty(64, np.int64)
    kept_value = np.empty((width, 64), np.int64)
    size = 64
    times = np.empty((queues, size), np.int64)
    values = np.empty((queues, width, size), np.int64)
    head, tail = np.zeros(queues, np.int64), np.zeros(queues, np.int64)
    truth = np.zeros(nodes, np.bool_)
    result, result_known = np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_)
    broken = -1
    losing = len(lost) > 0
    for s in range(len(start) - 1):
        mine = memory[s]
        first, last_fired, activated = about[s, 0] != 0, about[s, 1], about[s, 2]
        for q in range(queues):
            head[q] = tail[q] = 0
            for i in range(queue_start[s * queues + q], queue_start[s * queues + q + 1]):
                if tail[q] == size:
                    times, values = roomy(times, values, head, tail, q)
                    size = times.shape[1]
                times[q, tail[q]] = queue_time[i]
                for w in range(width):
                    values[q, w, tail[q]] = queue_value[w, i]
                tail[q] += 1
        for i in range(start[s], start[s + 1]):
            now = time[i]
            if first:
                activated = now
            for q in range(queues):
                # numbers may come over from the next queue
                waiting = tail[q + 1] - head[q + 1] if q + 1 < queues else 0
                while tail[q] + waiting >= size:
                    times, values = roomy(times, values, head, tail, q)
                    size = times.shape[1]
            for k in range(nodes):
                op = program[k, OP]
                if op == ATOM:
                    truth[k] = atoms[program[k, A], i]
                elif op == CONSTANT:
                    truth[k] = program[k, A] != 0
                elif op == FIRST:
                    truth[k] = first
                elif op == NOT:
                    truth[k] = not truth[program[k, A]]
                elif op == AND:
                    truth[k] = truth[program[k, A]] and truth[program[k, B]]
                elif op == OR:
                    truth[k] = truth[program[k, A]] or truth[program[k, B]]
                elif op == LAST:
                    truth[k] = mine[k, 0] != 0
                    mine[k, 0] = truth[program[k, A]]
                elif op == BETWEEN:
                    if program[k, A] < 0:
                        left, there = numbers[program[k, LEFT], i], known[program[k, LEFT], i]
                    else:
                        left, there = result[program[k, A]], result_known[program[k, A]]
                    right = program[k, RIGHT]
                    truth[k] = there and known[right, i] and compares(program[k, COMPARE], left, numbers[right, i])
                elif op == AGGREGATE:
                    on = program[k, B] < 0 or truth[program[k, B]]
                    if losing and lost[program[k, LEFT], i]:
                        broken = i
                    if doubt >= 0 and program[k, B] >= 0 and truth[program[k, B]] != truth[program[k, B] ^ 1]:
                        broken = i
                    value = numbers[program[k, LEFT], i]
                    there = known[program[k, LEFT], i]
                    result[k], result_known[k], large = aggregated(
                        program[k], mine[k], on, value, there, now, times, values, head, tail
                    )
                    if large:
                        broken = i
                else:
                    holds, begins = truth[program[k, A]], truth[program[k, B]]
                    clock = now
                    if program[k, CLOCK] >= 0 and begins:
                        clock = numbers[program[k, CLOCK], i]
                        begins = known[program[k, CLOCK], i]
                    elif program[k, CLOCK] < -1:
                        clock = mine[-2 - program[k, CLOCK], 1]
                    after = program[k, AFTER] != 0
                    low, high, q = program[k, LOW], program[k, HIGH], program[k, QUEUE]
                    if op == UNBROKEN:
                        truth[k] = _unbroken(
                            times, values, head, tail, q, holds, begins, clock, now, low, high, program[k, CLOSE]
                        )
                        continue
                    if not holds and not after:
                        mine[k, 0] = 0
                        _clear(head, tail, q, op)
                    if op == HELD:
                        if begins:
                            mine[k, 0] = 1
                        truth[k] = mine[k, 0] != 0
                    elif op in (LATEST, EARLIEST):
                        if begins and (op == LATEST or mine[k, 0] == 0):
                            mine[k, 0], mine[k, 1] = 1, clock
                        age = now - mine[k, 1]
                        truth[k] = mine[k, 0] != 0 and (age <= high if op == LATEST else age >= low)
                    elif op == WITHIN:
                        if begins:
                            pushed(times, values, head, tail, q, clock, 0)
                        while head[q] < tail[q] and now - times[q, head[q]] > high:
                            head[q] += 1
                        truth[k] = head[q] < tail[q] and now - times[q, head[q]] >= low
                    elif op == NUMBER:
                        left, right, compare = program[k, LEFT], program[k, RIGHT], program[k, COMPARE]
                        if losing and ((begins and lost[right, i]) or (lost[left, i] and head[q] < tail[q])):
                            broken = i
                        begins = begins and known[right, i]
                        there = asked(
                            times,
                            values,
                            head,
                            tail,
                            q,
                            begins,
                            clock,
                            numbers[right, i],
                            now,
                            low,
                            high,
                            compare,
                            numbers[left, i],
                        )
                        truth[k] = there and known[left, i]
                    else:
                        left, right = program[k, LEFT], program[k, RIGHT]
                        for w in range(left, left + right if losing else left):
                            there = head[q] < tail[q]
                            if (begins and lost[pairs[w, 1], i]) or (there and lost[pairs[w, 0], i]):
                                broken = i
                        truth[k] = scanned(
                            times,
                            values,
                            head,
                            tail,
                            q,
                            begins,
                            clock,
                            now,
                            low,
                            high,
                            pairs,
                            left,
                            right,
                            numbers,
                            known,
                            i,
                        )
                    if not holds and after:
                        mine[k, 0] = 0
                        _clear(head, tail, q, op)
            for e in range(len(exports)):
                values_out[e, i], known_out[e, i] = result[exports[e]], result_known[exports[e]]
            first = False
            since[i] = activated
            free = gap == 0 or last_fired == NONE or now - last_fired >= gap
            if doubt >= 0 and free and truth[doubt] and not truth[root]:
                broken = i
            if root >= 0 and free and truth[root]:
                fired[i] = True
                last_fired = now
                if not continues:
                    first = True
                    for k in range(nodes):
                        for slot in range(SLOTS):
                            mine[k, slot] = 0
                    for q in range(queues):
                        head[q] = tail[q] = 0
        about[s, 0], about[s, 1], about[s, 2] = first, last_fired, activated
        for q in range(queues):
            many = tail[q] - head[q]
            sizes[s * queues + q] = many
            while kept + many > len(kept_time):
                kept_time, kept_value = _doubled(kept_time, kept_value)
            for i in range(many):
                kept_time[kept + i] = times[q, head[q] + i]
                for w in range(width):
                    kept_value[w, kept + i] = values[q, w, head[q] + i]
            kept += many
    return fired, since, values_out, known_out, sizes, kept_time[:kept], kept_value[:, :kept], broken
