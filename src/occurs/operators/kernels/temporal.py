"""Networks of temporal operators of the past, state by state over the segments of instances (temporal-logic.md 5.4).

A program is an int64 matrix, one row per node, operands before those that use them; its columns are ``OP`` ..
``CLOCK``.  Every node has a truth value at each state; what it keeps is in ``memory`` (:data:`SLOTS` numbers per node)
and in queues.  Comparisons are of int64 keys.  The cost of a state does not depend on bounds, but for ``SCAN``, and
for ``NUMBER`` with ``EQUAL``.
"""

from __future__ import annotations

import math

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.range_aggregates import round_exact

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
#: over the states since B (-1: all) up to the age HIGH, of the numbers LEFT: A is which, with ``FLOATS`` added if these
#: are floats (:func:`key_of`); QUEUE has the values, the one behind it the parts of a sum of floats
AGGREGATE = 15
SUM, AVG, COUNT, MIN, MAX = range(5)
FLOATS = 8


@kernel(inline="always")
def _clear(head: np.ndarray, tail: np.ndarray, q: int, op: int) -> None:
    """Nothing is kept."""
    if op >= WITHIN:
        head[q] = tail[q]
    if op == NUMBER:
        head[q + 1] = tail[q + 1]


@kernel
def _unbroken(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int, breaks: bool, begins: bool,
    clock: int, now: int, low: int, high: int, close: int,
) -> bool:  # fmt: skip
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
def hit(
    program: np.ndarray, pairs: np.ndarray, root: int, doubt: int, stops: bool, atoms: np.ndarray, numbers: np.ndarray,
    known: np.ndarray, lost: np.ndarray, time: np.ndarray, begin: int, end: int, first: bool, mine: np.ndarray,
    truth: np.ndarray, result: np.ndarray, result_known: np.ndarray, times: np.ndarray, values: np.ndarray,
    head: np.ndarray, tail: np.ndarray, hits: np.ndarray,
) -> tuple[int, bool, int]:  # fmt: skip
    """The truth of all nodes at the states from ``begin`` on, up to the last one before ``end``, the first that is in
    doubt or, if a hit ``stops`` it, the first hit.

    ``root``: the node that is a hit, which is noted in ``hits`` (-1: none).  ``first``: is the state ``begin`` the
    first of its instance?

    Returns: the state; is something that is lost needed there; the queue that is full, else -1.  If one is full, the
    state was not looked at: make it :func:`roomy`, and go on from this state.
    """
    losing = len(lost) > 0
    nodes, queues = len(program), len(head)
    broken = False
    i = begin
    while True:
        now = time[i]
        for q in range(queues):
            # numbers may come over from the next queue
            waiting = tail[q + 1] - head[q + 1] if q + 1 < queues else 0
            if tail[q] + waiting >= times.shape[1]:
                return i, broken, q
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
                    broken = True
                if doubt >= 0 and program[k, B] >= 0 and truth[program[k, B]] != truth[program[k, B] ^ 1]:
                    broken = True
                value = numbers[program[k, LEFT], i]
                there = known[program[k, LEFT], i]
                result[k], result_known[k], large = aggregated(
                    program[k], mine[k], on, value, there, now, times, values, head, tail
                )
                if large:
                    broken = True
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
                        broken = True
                    begins = begins and known[right, i]
                    there = asked(
                        times, values, head, tail, q, begins, clock, numbers[right, i], now, low, high, compare,
                        numbers[left, i],
                    )  # fmt: skip
                    truth[k] = there and known[left, i]
                else:
                    left, right = program[k, LEFT], program[k, RIGHT]
                    for w in range(left, left + right if losing else left):
                        there = head[q] < tail[q]
                        if (begins and lost[pairs[w, 1], i]) or (there and lost[pairs[w, 0], i]):
                            broken = True
                    truth[k] = scanned(
                        times, values, head, tail, q, begins, clock, now, low, high, pairs, left, right, numbers,
                        known, i,
                    )  # fmt: skip
                if not holds and after:
                    mine[k, 0] = 0
                    _clear(head, tail, q, op)
        first = False
        there = root >= 0 and truth[root]
        if there:
            hits[i] = True
        if broken or (there and stops) or (doubt >= 0 and truth[doubt]) or i + 1 == end:
            return i, broken, -1
        i += 1


@kernel
def run(
    program: np.ndarray, pairs: np.ndarray, root: int, doubt: int, gap: int, continues: bool, atoms: np.ndarray,
    numbers: np.ndarray, known: np.ndarray, lost: np.ndarray, time: np.ndarray, start: np.ndarray, memory: np.ndarray,
    about: np.ndarray, queue_start: np.ndarray, queue_time: np.ndarray, queue_value: np.ndarray, queues: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """Which states fire.

    ``pairs`` (m, 3): comparisons of scans.  ``root``: the node that is a hit.  ``doubt``: the
    node that says whether there may be one (-1: there is no doubt).  ``gap``: least ticks between firings (0: none).
    ``atoms`` (a, n) truth values, ``numbers`` (c, n), where they are
    ``known`` and where ``lost`` (no rows: nowhere); ``time`` (n).  Segment s has the states [start[s], start[s + 1]).
    ``memory`` (segments, nodes, SLOTS) and ``about`` (segments, 3: begins, last firing, time of activation) are
    changed; what is in queue q of segment s is [queue_start[s * queues + q], queue_start[s * queues + q + 1]) of
    ``queue_time`` and ``queue_value`` (width, m).

    Returns: fired (n); time of the activation (n); the sizes of queues (segments * queues) and what is in them (times,
    values); a state at which something that is lost is needed, or -1.
    """
    n, nodes, width = len(time), len(program), queue_value.shape[0]
    fired = np.zeros(n, np.bool_)
    since = np.empty(n, np.int64)
    sizes = np.zeros((len(start) - 1) * queues, np.int64)
    kept, kept_time = 0, np.empty(64, np.int64)
    kept_value = np.empty((width, 64), np.int64)
    times, values = np.empty((queues, 64), np.int64), np.empty((queues, width, 64), np.int64)
    head, tail = np.zeros(queues, np.int64), np.zeros(queues, np.int64)
    truth = np.zeros(nodes, np.bool_)
    result, result_known = np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_)
    broken = -1
    for s in range(len(start) - 1):
        mine = memory[s]
        first, last_fired, activated = about[s, 0] != 0, about[s, 1], about[s, 2]
        times, values = brought(times, values, head, tail, queue_start, queue_time, queue_value, s * queues)
        i = start[s] - 1
        while i + 1 < start[s + 1]:
            begin = i + 1
            if first:
                activated = time[begin]
            i, full = begin, 0
            while full >= 0:
                i, lacking, full = hit(
                    program, pairs, root, doubt, not continues, atoms, numbers, known, lost, time, i, start[s + 1],
                    first and i == begin, mine, truth, result, result_known, times, values, head, tail, fired,
                )  # fmt: skip
                if full >= 0:
                    times, values = roomy(times, values, head, tail, full)
            first = False
            for j in range(begin, i + 1):
                since[j] = activated
                if fired[j]:
                    fired[j] = gap == 0 or last_fired == NONE or time[j] - last_fired >= gap
                    if fired[j]:
                        last_fired = time[j]
            if lacking:
                broken = i
            free = gap == 0 or last_fired == NONE or time[i] - last_fired >= gap
            if doubt >= 0 and free and truth[doubt] and not truth[root]:
                broken = i
            if fired[i] and not continues:
                first = True
                for k in range(nodes):
                    for slot in range(SLOTS):
                        mine[k, slot] = 0
                for q in range(queues):
                    head[q] = tail[q] = 0
        about[s, 0], about[s, 1], about[s, 2] = first, last_fired, activated
        kept, kept_time, kept_value = taken(times, values, head, tail, sizes, s * queues, kept, kept_time, kept_value)
    return fired, since, sizes, kept_time[:kept], kept_value[:, :kept], broken


# --- queues of past states --------------------------------------------------------------------------------------------

# All queues of one instance live in ``times`` (queues, capacity) and ``values`` (queues, width, capacity); queue ``q``
# is what lies in [head[q], tail[q]), oldest first.  What is called at every state is inlined: handing over the arrays
# costs more than the work.

EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST = range(6)


@kernel
def compares(op: int, a: int, b: int) -> bool:
    """``a op b``."""
    if op == AT_LEAST:
        return a >= b
    if op == MORE:
        return a > b
    if op == AT_MOST:
        return a <= b
    if op == LESS:
        return a < b
    if op == EQUAL:
        return a == b
    return a != b


@kernel
def roomy(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int
) -> tuple[np.ndarray, np.ndarray]:
    """The arrays, with room for one more at the end of a queue that has reached it."""
    size = times.shape[1]
    if 2 * head[q] >= size:
        first, n = head[q], tail[q] - head[q]
        for i in range(n):
            times[q, i] = times[q, first + i]
            for w in range(values.shape[1]):
                values[q, w, i] = values[q, w, first + i]
        head[q], tail[q] = 0, n
        return times, values
    more_times = np.empty((times.shape[0], 2 * size), np.int64)
    more_values = np.empty((times.shape[0], values.shape[1], 2 * size), np.int64)
    more_times[:, :size] = times
    more_values[:, :, :size] = values
    return more_times, more_values


@kernel
def brought(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, queue_start: np.ndarray,
    queue_time: np.ndarray, queue_value: np.ndarray, first: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The arrays, with what an instance has in its queues; ``first``: the number of the first of these."""
    for q in range(len(head)):
        head[q] = tail[q] = 0
        for i in range(queue_start[first + q], queue_start[first + q + 1]):
            if tail[q] == times.shape[1]:
                times, values = roomy(times, values, head, tail, q)
            times[q, tail[q]] = queue_time[i]
            for w in range(values.shape[1]):
                values[q, w, tail[q]] = queue_value[w, i]
            tail[q] += 1
    return times, values


@kernel
def taken(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, sizes: np.ndarray, first: int, kept: int,
    kept_time: np.ndarray, kept_value: np.ndarray,
) -> tuple[int, np.ndarray, np.ndarray]:  # fmt: skip
    """The other way round: how much is kept of all instances so far, and what."""
    for q in range(len(head)):
        many = tail[q] - head[q]
        sizes[first + q] = many
        kept_time, kept_value = longer(kept_time, kept_value, kept, many)
        for i in range(many):
            kept_time[kept + i] = times[q, head[q] + i]
            for w in range(values.shape[1]):
                kept_value[w, kept + i] = values[q, w, head[q] + i]
        kept += many
    return kept, kept_time, kept_value


@kernel
def longer(times: np.ndarray, values: np.ndarray, kept: int, many: int) -> tuple[np.ndarray, np.ndarray]:
    """The arrays, with room for ``many`` more."""
    if kept + many <= len(times):
        return times, values
    more_times = np.empty(2 * (kept + many), np.int64)
    more_values = np.empty((values.shape[0], 2 * (kept + many)), np.int64)
    more_times[:kept] = times[:kept]
    more_values[:, :kept] = values[:, :kept]
    return more_times, more_values


@kernel(inline="always")
def pushed(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int, time: int, value: int
) -> None:
    """At the end, where there is room; ``value`` is the first of its numbers."""
    times[q, tail[q]] = time
    values[q, 0, tail[q]] = value
    tail[q] += 1


@kernel(inline="always")
def remembered(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int, time: int, value: int, op: int,
    endless: bool,
) -> None:  # fmt: skip
    """A number is remembered that a current number will be compared with: ``current op value``; what another one
    makes superfluous goes.  There is room.  ``endless``: nothing ever gets too old."""
    first, last = head[q], tail[q]
    if op == UNEQUAL:
        # the last one, and the last that is another number
        if last > first and values[q, 0, last - 1] == value:
            times[q, last - 1] = time
            return
        if last - first == 2:
            head[q] += 1
    elif op >= LESS:
        least = op >= MORE
        if endless and last > first:
            best = values[q, 0, first]
            if best <= value if least else best >= value:
                return
        while last > first:
            other = values[q, 0, last - 1]
            if other < value if least else other > value:
                break
            last -= 1
    times[q, last] = time
    values[q, 0, last] = value
    tail[q] = last + 1


@kernel(inline="always")
def answers(values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int, op: int, current: int) -> bool:
    """Is a number remembered for which ``current op number`` holds?"""
    if tail[q] == head[q]:
        return False
    if op >= LESS:
        return compares(op, current, values[q, 0, head[q]])
    for i in range(head[q], tail[q]):  # noqa: SIM110 - numba
        if compares(op, current, values[q, 0, i]):
            return True
    return False


@kernel(inline="always")
def asked(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int, begins: bool, clock: int,
    value: int, now: int, low: int, high: int, op: int, current: int,
) -> bool:  # fmt: skip
    """Remember ``value`` of the time ``clock`` if something ``begins``, and ask what is of an age in [low, high]."""
    endless = high == _GREATEST
    if low <= 0:
        if begins:
            remembered(times, values, head, tail, q, clock, value, op, endless)
    else:
        # those that are too young wait in the next queue
        if begins:
            pushed(times, values, head, tail, q + 1, clock, value)
        first = head[q + 1]
        while first < tail[q + 1] and now - times[q + 1, first] >= low:
            remembered(times, values, head, tail, q, times[q + 1, first], values[q + 1, 0, first], op, endless)
            first += 1
        head[q + 1] = first
    first = head[q]
    while first < tail[q] and now - times[q, first] > high:
        first += 1
    head[q] = first
    return answers(values, head, tail, q, op, current)


@kernel
def scanned(
    times: np.ndarray, values: np.ndarray, head: np.ndarray, tail: np.ndarray, q: int, begins: bool, clock: int,
    now: int, low: int, high: int, pairs: np.ndarray, first: int, many: int, numbers: np.ndarray, known: np.ndarray,
    i: int,
) -> bool:  # fmt: skip
    """As :func:`asked` for ``many`` numbers: comparisons ``pairs[first]`` .. of columns at state ``i``."""
    complete = begins
    asking = True
    for w in range(many):
        complete = complete and known[pairs[first + w, 1], i]
        asking = asking and known[pairs[first + w, 0], i]
    if complete:
        for w in range(many):
            values[q, w, tail[q]] = numbers[pairs[first + w, 1], i]
        times[q, tail[q]] = clock
        tail[q] += 1
    while head[q] < tail[q] and now - times[q, head[q]] > high:
        head[q] += 1
    if not asking:
        return False
    for at in range(head[q], tail[q]):
        if now - times[q, at] < low:
            return False
        fits = True
        for w in range(many):
            pair = first + w
            fits = fits and compares(pairs[pair, 2], numbers[pairs[pair, 0], i], values[q, w, at])
        if fits:
            return True
    return False


# --- aggregates -------------------------------------------------------------------------------------------------------

# A sum of ints is two words, ``low + 2**32 * high``; a sum of floats is an expansion as that of ``math.fsum``: floats
# that do not overlap, least first, whose exact sum it is.

#: an expansion has at most as many parts (2098 bits in pieces of 53, and one to spare)
PARTS = 48


@kernel(inline="always")
def key_of(value: float) -> int:
    """An int64 in the order of floats; no NaN.  0.0 and -0.0 have the same."""
    bits = np.float64(value + 0.0).view(np.int64)
    return bits if bits >= 0 else bits ^ np.int64(0x7FFFFFFFFFFFFFFF)  # type: ignore[return-value]


@kernel(inline="always")
def float_of(key: int) -> float:
    """The float that has a key."""
    bits = key if key >= 0 else key ^ np.int64(0x7FFFFFFFFFFFFFFF)
    return np.int64(bits).view(np.float64)


@kernel
def grown(parts: np.ndarray, count: int, x: float) -> int:
    """Adds ``x`` to an expansion; how many parts it has now."""
    out = 0
    for i in range(count):
        y = parts[i]
        if abs(x) < abs(y):
            x, y = y, x
        high = x + y
        low = y - (high - x)
        if low != 0.0:
            parts[out] = low
            out += 1
        x = high
    if x != 0.0:
        parts[out] = x
        out += 1
    return out


@kernel
def _product(a: float, b: float) -> tuple[float, float]:
    """``a * b`` and what rounding has taken from it (Dekker)."""
    p = a * b
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


@kernel
def _less(parts: np.ndarray, count: int, q: float, half: float, n: float) -> int:
    """The sign of an expansion minus ``(q + half) * n``."""
    rest = np.empty(PARTS + 6, np.float64)
    rest[:count] = parts[:count]
    for factor in (q, half):
        high, low = _product(factor, n)
        count = grown(rest, count, -high)
        count = grown(rest, count, -low)
    if count == 0:
        return 0
    return 1 if rest[count - 1] > 0 else -1


@kernel
def mean(parts: np.ndarray, count: int, n: int) -> float:
    """The float nearest to an expansion divided by ``n`` (exactly representable), halves to even."""
    q = round_exact(parts, count) / n
    if q == 0.0 or math.isinf(q):
        return q
    for _ in range(4):
        up, down = np.nextafter(q, np.inf), np.nextafter(q, -np.inf)
        above = _less(parts, count, q, (up - q) / 2, float(n))
        below = _less(parts, count, q, (down - q) / 2, float(n))
        even = (np.float64(q).view(np.int64) & 1) == 0
        if above > 0 or (above == 0 and not even):
            q = up
        elif below < 0 or (below == 0 and not even):
            q = down
        else:
            break
    return q


@kernel
def whole(low: int, high: int) -> tuple[int, bool]:
    """The int that two words are; whether it fits."""
    high += low >> 32
    low &= 0xFFFFFFFF
    fits = -(2**31) <= high < 2**31
    return (high << 32) | low, fits


@kernel
def mean_of_words(low: int, high: int, n: int) -> float:
    """The float nearest to a sum of ints divided by ``n``, halves to even."""
    high += low >> 32
    low &= 0xFFFFFFFF
    negative = high < 0
    if negative:
        low, high = -low, -high
        high += low >> 32
        low &= 0xFFFFFFFF
    # the quotient in base 2**32, one digit after the other, then bits behind the point
    digit, rest = high // n, high % n
    quotient = digit
    shift = 0
    value = (rest << 32) | low
    quotient = (quotient << 32) + value // n
    rest = value % n
    while quotient < (1 << 61) and shift < 1100 and (rest != 0 or quotient == 0):
        if quotient == 0 and rest == 0:
            return 0.0
        rest *= 2
        quotient = 2 * quotient + rest // n
        rest %= n
        shift += 1
    if rest != 0:
        quotient |= 1
    out = math.ldexp(float(quotient), -shift)
    return -out if negative else out


@kernel
def _added(values: np.ndarray, tail: np.ndarray, mine: np.ndarray, q: int, value: int, floats: bool, sign: int) -> None:
    """``sign`` times a value comes to the sum.  Slots 1 and 2: its words, or how many infinities there are."""
    if not floats:
        mine[1] += sign * (value & 0xFFFFFFFF)
        mine[2] += sign * (value >> 32)
        return
    x = float_of(value)
    if np.isinf(x):
        mine[1 if x > 0 else 2] += sign
        return
    parts = values[q].view(np.float64)[0]
    tail[q] = grown(parts, tail[q], sign * x)


@kernel
def aggregated(
    p: np.ndarray, mine: np.ndarray, on: bool, value: int, there: bool, now: int, times: np.ndarray, values: np.ndarray,
    head: np.ndarray, tail: np.ndarray,
) -> tuple[int, bool, bool]:  # fmt: skip
    """The value at this state, whether there is one, and whether a sum left the range of int64.  There is room.

    ``on``: does the condition begin it here?  Slots of ``mine``: 0 has it ever begun; 1, 2 the sum; 3 how many values.
    """
    floats = p[A] >= FLOATS
    op = p[A] & 7
    q = p[QUEUE]
    window = p[B] < 0
    least = op in (MIN, MAX)
    summed = op in (SUM, AVG)
    if window or on:
        if not window:
            mine[1] = mine[2] = mine[3] = 0
            head[q] = tail[q] = 0
            if floats and summed:
                tail[q + 1] = 0
        mine[0] = 1
    if mine[0] == 0:
        return 0, op == COUNT, False
    if there:
        if least:
            # a greatest is what `current <= value` would be asked of
            direction = AT_LEAST if op == MIN else AT_MOST
            remembered(times, values, head, tail, q, now, value, direction, not window)
        else:
            mine[3] += 1
            if window:
                pushed(times, values, head, tail, q, now, value)
            if summed:
                _added(values, tail, mine, q + 1, value, floats, 1)
    if window:
        while head[q] < tail[q] and now - times[q, head[q]] > p[HIGH]:
            if not least:
                mine[3] -= 1
                if summed:
                    _added(values, tail, mine, q + 1, values[q, 0, head[q]], floats, -1)
            head[q] += 1
    if op == COUNT:
        return mine[3], True, False
    if least:
        some = head[q] < tail[q]
        return values[q, 0, head[q]] if some else 0, some, False
    if mine[3] == 0:
        return 0, False, False
    if not floats:
        if op == AVG:
            return key_of(mean_of_words(mine[1], mine[2], mine[3])), True, False
        total, fits = whole(mine[1], mine[2])
        return total, fits, not fits
    if mine[1] and mine[2]:
        return 0, False, False
    if mine[1] or mine[2]:
        return key_of(np.inf if mine[1] else -np.inf), True, False
    parts = values[q + 1].view(np.float64)[0]
    if op == AVG:
        return key_of(mean(parts, tail[q + 1], mine[3])), True, False
    return key_of(round_exact(parts, tail[q + 1])), True, False


# -- which rows the states of instances see; rows and states are sorted by (code, time) --------------------------------
@kernel
def latest(code: np.ndarray, time: np.ndarray, state_code: np.ndarray, state_time: np.ndarray) -> np.ndarray:
    """int64 (states): the last row of the same code that is not later than the state; -1: there is none."""
    out = np.empty(len(state_code), np.int64)
    at = 0
    n = len(code)
    for i in range(len(state_code)):
        c, t = state_code[i], state_time[i]
        while at < n and (code[at] < c or (code[at] == c and time[at] <= t)):
            at += 1
        out[i] = at - 1 if at > 0 and code[at - 1] == c else -1
    return out


@kernel
def firsts(code: np.ndarray, time: np.ndarray) -> np.ndarray:
    """bool (rows): the first of its code and time."""
    out = np.empty(len(code), np.bool_)
    for i in range(len(code)):
        out[i] = i == 0 or code[i] != code[i - 1] or time[i] != time[i - 1]
    return out


@kernel
def epochs(
    code: np.ndarray, time: np.ndarray, put: np.ndarray, active: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Activations by rows that are there (``put``) or gone, ``active``: per code, is it active before all rows?

    Returns per row: is it the last of its code and time; then also: is the instance there, has it just entered, has it
    just left, and how often has it come back, counted from 0 for an activation that goes on, or for the first one.
    """
    n = len(code)
    last = np.zeros(n, np.bool_)
    there = np.zeros(n, np.bool_)
    entered = np.zeros(n, np.bool_)
    gone = np.zeros(n, np.bool_)
    epoch = np.zeros(n, np.int64)
    number, now = 0, False
    for i in range(n):
        c = code[i]
        if i == 0 or code[i - 1] != c:
            now = active[c]
            number = 0 if now else -1
        if i + 1 < n and code[i + 1] == c and time[i + 1] == time[i]:
            continue
        last[i] = True
        if put[i] and not now:
            entered[i] = True
            number += 1
        gone[i] = now and not put[i]
        now = put[i]
        there[i] = put[i]
        epoch[i] = max(number, 0)
    return last, there, entered, gone, epoch


@kernel
def _put_instances(
    code: np.ndarray, slots: np.ndarray, about: np.ndarray, start: np.ndarray, time: np.ndarray, value: np.ndarray,
    first: int, last: int, k: int, at: int, codes: np.ndarray, out_slots: np.ndarray, out_about: np.ndarray,
    begin: np.ndarray, times: np.ndarray, values: np.ndarray,
) -> int:  # fmt: skip
    """Copy the instances from ``first`` to before ``last`` to number ``k`` and on, and their queues to ``at`` and on.

    Returns where the queues end.  Value by value: to assign slices takes seconds more to compile.
    """
    queues = (len(begin) - 1) // len(codes)
    low, high = start[first * queues], start[last * queues]
    for i in range(first, last):
        codes[k + i - first] = code[i]
        for s in range(slots.shape[1]):
            out_slots[k + i - first, s] = slots[i, s]
        for s in range(about.shape[1]):
            out_about[k + i - first, s] = about[i, s]
    for q in range((last - first) * queues):
        begin[k * queues + q] = start[first * queues + q] - low + at
    for i in range(low, high):
        times[at + i - low] = time[i]
    for v in range(value.shape[0]):
        for i in range(low, high):
            values[v, at + i - low] = value[v, i]
    return at + high - low


@kernel
def merge_instances(
    code: np.ndarray, slots: np.ndarray, about: np.ndarray, start: np.ndarray, time: np.ndarray, value: np.ndarray,
    new_code: np.ndarray, new_slots: np.ndarray, new_about: np.ndarray, new_start: np.ndarray, new_time: np.ndarray,
    new_value: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Instances in ascending order of their codes, of which those that are new take the place of those that were there.

    Per instance (m, and n new ones, at least one) ``slots`` and ``about`` are rows; its queues are in ``time`` and
    ``value`` (columns, entries) from ``start`` (a multiple of m, and one) on.  Returns the six arrays of all, and where
    each instance comes from: its number among those that were there, or m and its number among the new ones.
    """
    m, n = len(code), len(new_code)
    queues = (len(new_start) - 1) // n
    which = np.empty(m + n, np.int64)
    total, size, i, j = 0, new_start[n * queues], 0, 0
    while i < m or j < n:
        if j < n and (i >= m or new_code[j] <= code[i]):
            if i < m and code[i] == new_code[j]:
                i += 1
            which[total] = m + j
            j += 1
        else:
            size += start[(i + 1) * queues] - start[i * queues]
            which[total] = i
            i += 1
        total += 1
    codes = np.empty(total, np.int64)
    out_slots = np.empty((total, slots.shape[1]), np.int64)
    out_about = np.empty((total, about.shape[1]), np.int64)
    begin = np.empty(total * queues + 1, np.int64)
    times = np.empty(size, np.int64)
    values = np.empty((value.shape[0], size), np.int64)
    at, k = 0, 0
    while k < total:  # run by run
        first, old = which[k], which[k] < m
        stop = k + 1
        while stop < total and which[stop] == which[stop - 1] + 1 and (which[stop] < m) == old:
            stop += 1
        if old:
            at = _put_instances(
                code, slots, about, start, time, value, first, first + stop - k, k, at, codes, out_slots, out_about,
                begin, times, values,
            )  # fmt: skip
        else:
            first -= m
            at = _put_instances(
                new_code, new_slots, new_about, new_start, new_time, new_value, first, first + stop - k, k, at, codes,
                out_slots, out_about, begin, times, values,
            )  # fmt: skip
        k = stop
    begin[total * queues] = at
    return codes, out_slots, out_about, begin, times, values, which[:total]
