"""Queues of past states for :mod:`temporal`: when they were, and numbers remembered there (temporal-logic.md 5.2, 5.4).

All queues of one instance live in ``times`` (queues, capacity) and ``values`` (queues, width, capacity); queue ``q`` is
what lies in [head[q], tail[q]), oldest first.

What is called at every state is inlined: handing over the arrays costs more than the work.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

_GREATEST = 2**63 - 1

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
    times: np.ndarray,
    values: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
    q: int,
    time: int,
    value: int,
    op: int,
    endless: bool,
) -> None:
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
    times: np.ndarray,
    values: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
    q: int,
    begins: bool,
    clock: int,
    value: int,
    now: int,
    low: int,
    high: int,
    op: int,
    current: int,
) -> bool:
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
    times: np.ndarray,
    values: np.ndarray,
    head: np.ndarray,
    tail: np.ndarray,
    q: int,
    begins: bool,
    clock: int,
    now: int,
    low: int,
    high: int,
    pairs: np.ndarray,
    first: int,
    many: int,
    numbers: np.ndarray,
    known: np.ndarray,
    i: int,
) -> bool:
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
