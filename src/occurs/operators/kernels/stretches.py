"""Kernels that follow marks through time: where something begins with one kind of mark and ends with another."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.codes import _slot
from occurs.operators.kernels.intervals import _FLAGS, _INTS, _OPEN, _OUT, _table_size

#: the least key, keys of a table of open addressing (none: a number for each key from the least on), numbers, how many
_INDEX = types.Tuple((types.int64, _OUT, _OUT, types.int64))


@kernel(_INDEX(_INTS))
def index(keys: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, int]:
    """Numbers 0, 1, ... for keys, in the order in which they first come; to be asked with :func:`number`."""
    n = len(keys)
    if n == 0:
        nothing = np.empty(0, np.int64)
        return 0, nothing, nothing, 0
    least = greatest = keys[0]
    for i in range(n):
        least, greatest = min(least, keys[i]), max(greatest, keys[i])
    width = np.uint64(np.int64(greatest)) - np.uint64(np.int64(least))
    count = 0
    if width <= np.uint64(8 * n + 64):
        numbers = np.full(np.int64(width) + 1, -1, np.int64)
        for i in range(n):
            at = np.uint64(keys[i]) - np.uint64(np.int64(least))
            if numbers[at] < 0:
                numbers[at] = count
                count += 1
        return least, numbers[:0], numbers, count
    size = _table_size(n)
    table = np.zeros(size, np.int64)
    numbers = np.full(size, -1, np.int64)
    for i in range(n):
        s = _slot(keys[i], size)
        while numbers[s] >= 0 and table[s] != keys[i]:
            s = (s + 1) & (size - 1)
        if numbers[s] < 0:
            table[s] = keys[i]
            numbers[s] = count
            count += 1
    return least, table, numbers, count


@kernel(types.int64(_INDEX, types.int64))
def number(index: tuple[int, np.ndarray, np.ndarray, int], key: int) -> int:
    """The number of a key, -1 if it has none."""
    least, table, numbers, _ = index
    if len(table) == 0:
        at = np.uint64(np.int64(key)) - np.uint64(np.int64(least))
        return numbers[np.int64(at)] if at < np.uint64(len(numbers)) else -1
    size = len(table)
    s = _slot(key, size)
    while numbers[s] >= 0 and table[s] != key:
        s = (s + 1) & (size - 1)
    return numbers[s]


@kernel(_OUT(_INDEX, _INTS))
def numbers_of(index: tuple[int, np.ndarray, np.ndarray, int], keys: np.ndarray) -> np.ndarray:
    """The numbers of many keys, -1 of those that have none.

    In a loop this is to be taken rather than :func:`number`, which counts references to the arrays for every key.
    """
    least, table, numbers, _ = index
    out = np.empty(len(keys), np.int64)
    if len(table) == 0:
        most = np.uint64(len(numbers))
        for i in range(len(keys)):
            at = np.uint64(keys[i]) - np.uint64(np.int64(least))
            out[i] = numbers[at] if at < most else -1
        return out
    size = len(table)
    for i in range(len(keys)):
        s = _slot(keys[i], size)
        while numbers[s] >= 0 and table[s] != keys[i]:
            s = (s + 1) & (size - 1)
        out[i] = numbers[s]
    return out


@kernel(types.void(_OUT, _INTS, _INTS, _INTS))
def lower(out: np.ndarray, group: np.ndarray, others: np.ndarray, ticks: np.ndarray) -> None:
    """Lowers ``out`` (per row of ``group``) to the least of the ``ticks`` (per row of ``others``) of its group."""
    known = index(others)
    numbers = numbers_of(known, others)
    least = np.full(known[3], _OPEN, np.int64)
    for i in range(len(others)):
        least[numbers[i]] = min(least[numbers[i]], ticks[i])
    numbers = numbers_of(known, group)
    for i in range(len(group)):
        if numbers[i] >= 0:
            out[i] = min(out[i], least[numbers[i]])


@kernel(types.boolean(_INTS))
def some_null(codes: np.ndarray) -> bool:
    """Whether there is a code -1."""
    for i in range(len(codes)):  # noqa: SIM110 - numba
        if codes[i] < 0:
            return True
    return False


@kernel(types.Tuple((_FLAGS, types.int64))(_INTS, _INTS))
def first_marks(key: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, int]:
    """Of marks in the order of time: which are the first of their key at their time, and how many are not."""
    numbers = index(key)
    of_row = numbers_of(numbers, key)
    last = np.full(numbers[3], -1, np.int64)  # the row of a key before
    out = np.ones(len(key), np.bool_)
    again = 0
    for i in range(len(key)):
        k = of_row[i]
        if last[k] >= 0 and time[last[k]] == time[i]:
            out[i] = False
            again += 1
        last[k] = i
    return out, again


@kernel(
    types.UniTuple(_OUT, 5)(_INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, _INTS, types.boolean),
)
def stretches(
    held_key: np.ndarray,
    held_head: np.ndarray,
    held_start: np.ndarray,
    key: np.ndarray,
    head: np.ndarray,
    time: np.ndarray,
    stop: np.ndarray,
    stop_time: np.ndarray,
    latest: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Stretches of a key from a mark to the first stop of its head at which it has no mark.

    Marks (``key``, ``head``, ``time``) and stops (``stop``: a head, ``stop_time``) are in the order of time.  ``held``
    are stretches that are open, at most one of a key, from before all marks.  A stretch begins with the first mark, or
    with the ``latest`` before the stop.

    Returns rows, each of them where the stretch begins, a mark by its number behind all held: of those that end, and
    their ends; of those that began in this call, and their ends (the greatest int64: none); of those that are open now.
    """
    held, n = len(held_key), len(key)
    bindings, heads = index(key), index(stop)
    known = bindings[3]
    kept = np.empty(held + n, np.int64)
    touched = keeps = 0
    for i in range(held):
        if number(bindings, held_key[i]) < 0 and number(heads, held_head[i]) < 0:
            kept[keeps] = i
            keeps += 1
        else:
            touched += 1
    # per key the row where its stretch began (-1: none), its last mark, and the next open key of the same head
    row = np.full(known + touched, -1, np.int64)
    last = np.empty(known + touched, np.int64)
    link = np.full(known + touched, -1, np.int64)
    first = np.full(heads[3], -1, np.int64)
    if touched:
        for i in range(held):
            b, h = number(bindings, held_key[i]), number(heads, held_head[i])
            if b < 0 and h < 0:
                continue
            if b < 0:
                b = known
                known += 1
            row[b] = i
            last[b] = held_start[i]
            if h >= 0:
                link[b] = first[h]
                first[h] = b
    ended = np.empty(n + touched, np.int64)
    ends = np.empty(n + touched, np.int64)
    count = i = j = 0
    while i < n or j < len(stop):
        if i < n and (j >= len(stop) or time[i] <= stop_time[j]):
            b = number(bindings, key[i])
            if row[b] < 0:
                row[b] = held + i
                h = number(heads, head[i])
                if h >= 0:
                    link[b] = first[h]
                    first[h] = b
            elif latest:
                row[b] = held + i
            last[b] = time[i]
            i += 1
        else:
            h = number(heads, stop[j])
            before = -1
            b = first[h]
            while b >= 0:
                following = link[b]
                if last[b] < stop_time[j]:
                    ended[count] = row[b]
                    ends[count] = stop_time[j]
                    count += 1
                    row[b] = -1
                    if before < 0:
                        first[h] = following
                    else:
                        link[before] = following
                else:
                    before = b
                b = following
            j += 1
    began = np.empty(count + known, np.int64)
    began_ends = np.empty(count + known, np.int64)
    begins = 0
    for i in range(count):
        if ended[i] >= held:
            began[begins] = ended[i]
            began_ends[begins] = ends[i]
            begins += 1
    for b in range(known):
        if row[b] >= 0:
            kept[keeps] = row[b]
            keeps += 1
            if row[b] >= held:
                began[begins] = row[b]
                began_ends[begins] = _OPEN
                begins += 1
    return ended[:count], ends[:count], began[:begins], began_ends[:begins], kept[:keeps]
