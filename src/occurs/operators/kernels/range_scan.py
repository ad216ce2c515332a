"""Kernels of maximal ranges: a scan of marks from one that begins a range to the first that ends it (phenesthe.md,
section 4.4)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.codes import _slot
from occurs.operators.kernels.blocks import _BLOCK, behind_another, copy, keys, shared_keys, taken
from occurs.operators.kernels.intervals import _FLAGS, _INTS, _OPEN, _OUT, _table_size, index, number, numbers_of

#: so few bindings or keys are looked for among the rows of a table one by one, stretch by stretch: whether one is in a
#: stretch takes a vector instruction for several rows at once
FEW_KEYS, STRETCH = 4, 128


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
    held_key: np.ndarray, held_head: np.ndarray, held_start: np.ndarray, key: np.ndarray, head: np.ndarray,
    time: np.ndarray, stop: np.ndarray, stop_time: np.ndarray, latest: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
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


@kernel(types.int64(_OUT, types.int64, types.int64))
def _greatest(codes: np.ndarray, first: int, n: int) -> int:
    out = -1
    for i in range(first, first + n):
        out = max(out, codes[i])
    return out


@kernel(types.int64(_OUT, types.boolean, _BLOCK, _OUT, *[types.int64] * 5, _OUT, types.int64))
def _numbered(
    slots: np.ndarray, direct: bool, rows: np.ndarray, codes: np.ndarray, first: int, step: int, n: int, width: int,
    known: int, out: np.ndarray, to: int,
) -> int:  # fmt: skip
    """Writes the numbers of ``n`` bindings, of which the codes are ``step`` apart in ``codes``, to ``out``, from ``to``
    on; how many there are afterwards.

    ``slots``: of numbers or -1; ``direct``: the code of the one variable is the slot.  ``rows``: bindings by number;
    ``known``: so many there are.  Others get the next numbers if there are columns for them, else -1.
    """
    size = len(slots)
    for i in range(first, first + n):
        if direct:
            s = np.uint64(codes[i])
            if s >= np.uint64(size):
                out[to + i - first] = -1
                continue
        else:
            code = 0
            for k in range(width):
                code = code * 1_000_003 + codes[i + k * step]
            s = np.uint64(_slot(code, size))
            while slots[s] >= 0:
                there, k = np.uint64(slots[s]), 0
                while k < width and rows[k, there] == codes[i + k * step]:
                    k += 1
                if k == width:
                    break
                s = (s + np.uint64(1)) & np.uint64(size - 1)
        if slots[s] < 0 and known < rows.shape[1]:
            slots[s] = known
            for k in range(width):
                rows[k, known] = codes[i + k * step]
            known += 1
        out[to + i - first] = slots[s]
    return known


@kernel(types.int64(_BLOCK, types.int64, _BLOCK, types.int64))
def _row_of(table: np.ndarray, size: int, rows: np.ndarray, b: int) -> int:
    """The row of a table with the binding ``b`` of ``rows``, which no other one has; -1 if there is none."""
    width, at = rows.shape[0], 0
    while at < size:
        upto = min(at + STRETCH, size)
        stretch, many = table[0, at:upto], 0
        if width:
            code = rows[0, b]
            for i in range(np.uint64(len(stretch))):
                many += stretch[i] == code
        if many or not width:
            for i in range(at, upto):
                k = 0
                while k < width and table[k, i] == rows[k, b]:
                    k += 1
                if k == width:
                    return i
        at = upto
    return -1


@kernel(types.Tuple((_OUT, _OUT, _BLOCK))(_BLOCK, types.int64, _OUT, *[types.int64] * 4))
def _bindings(
    table: np.ndarray, size: int, marks: np.ndarray, phi: int, n: int, psi: int, m: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers for the bindings of marks: the number of every mark; per number the row in the table, -1 if there is
    none; the bindings by their numbers."""
    width = table.shape[0] - 1
    places, direct = _table_size(n + m), False
    if width == 1:
        codes = 1 + max(_greatest(marks, phi, n), _greatest(marks, psi, m))
        if codes <= 2 * places:
            places, direct = codes, True
    slots = np.full(places, -1, np.int64)
    rows, of_mark = np.empty((width, n + m), np.int64), np.empty(n + m, np.int64)
    known = _numbered(slots, direct, rows, marks, phi, n, n, width, 0, of_mark, 0)
    known = _numbered(slots, direct, rows, marks, psi, m, m, width, known, of_mark, n)
    rows = rows[:, :known].copy()
    of_row = np.full(known, -1, np.int64)
    if n + m <= FEW_KEYS:
        for b in range(known):
            of_row[b] = _row_of(table, size, rows, b)
        return of_mark, of_row, rows
    held = np.empty(size, np.int64)
    _numbered(slots, direct, rows, table.ravel(), 0, table.shape[1], size, width, known, held, 0)
    for i in range(size):
        if held[i] >= 0:
            of_row[held[i]] = i
    return of_mark, of_row, rows


@kernel(
    types.Tuple((_BLOCK, types.int64, _BLOCK, _BLOCK, types.boolean))(
        _BLOCK, types.int64, _OUT, types.int64, types.int64, types.int64, types.int64
    ),
)
def ranged(
    table: np.ndarray, size: int, marks: np.ndarray, phi: int, n: int, psi: int, m: int
) -> tuple[np.ndarray, int, np.ndarray, np.ndarray, bool]:
    """One call of ``φ ~> ψ``, both of the same variables.

    ``table``: what is open in its first ``size`` rows, codes and start.  ``marks``: from ``phi`` on the ``n`` marks of
    φ, a column of codes after the other and then the times, from ``psi`` on the ``m`` of ψ, in the order of time.
    Returns the table and its size afterwards (changed in place, or a larger one), what ended, what began with the end
    that it has, and whether the table has changed.
    """
    width = table.shape[0] - 1
    of_mark, of_row, rows = _bindings(table, size, marks, phi, n, psi, m)
    known = len(of_row)
    start, last = np.empty(known, np.int64), np.empty(known, np.int64)
    holds, fresh = np.zeros(known, np.bool_), np.zeros(known, np.bool_)
    for b in range(known):
        if of_row[b] >= 0:
            start[b] = last[b] = table[width, of_row[b]]
            holds[b] = True
    ended = np.empty((width + 2, min(n, m) + known), np.int64)
    began = np.empty((width + 2, min(n, m) + known), np.int64)
    ends = begins = i = j = 0
    phi_time, psi_time = phi + width * n, psi + width * m
    while i < n or j < m:
        if i < n and (j >= m or marks[phi_time + i] <= marks[psi_time + j]):
            b = of_mark[i]
            if not holds[b]:
                start[b] = marks[phi_time + i]
                holds[b] = fresh[b] = True
            last[b] = marks[phi_time + i]
            i += 1
        else:
            b, time = of_mark[n + j], marks[psi_time + j]
            if holds[b] and last[b] < time:
                for k in range(width):
                    ended[k, ends] = rows[k, b]
                ended[width, ends], ended[width + 1, ends] = start[b], time
                if fresh[b]:
                    for k in range(width + 2):
                        began[k, begins] = ended[k, ends]
                    begins += 1
                ends += 1
                holds[b] = False
            j += 1
    # --- the table: rows that go, and rows that come, which take the places of those
    free, come = np.empty(known, np.int64), np.empty(known, np.int64)
    gone = more = 0
    changed = False
    for b in range(known):
        row = of_row[b]
        if row >= 0 and not holds[b]:
            free[gone] = row
            gone += 1
        elif holds[b] and fresh[b]:
            for k in range(width):
                began[k, begins] = rows[k, b]
            began[width, begins], began[width + 1, begins] = start[b], _OPEN
            begins += 1
            changed = True
            if row >= 0:
                table[width, row] = start[b]
            else:
                come[more] = b
                more += 1
    changed = changed or gone > 0
    if size + more - gone > table.shape[1]:
        larger = np.empty((width + 1, 2 * (size + more - gone) + 16), np.int64)
        for k in range(width + 1):
            copy(larger, k, 0, table, k, 0, size)
        table = larger
    for c in range(more):
        if c < gone:
            row = free[c]
        else:
            row = size
            size += 1
        for k in range(width):
            table[k, row] = rows[k, come[c]]
        table[width, row] = start[come[c]]
    if gone > more:
        holes = np.sort(free[more:gone])
        for hole in holes[::-1]:  # the last rows move to where there are none
            size -= 1
            if hole != size:
                for k in range(width + 1):
                    table[k, hole] = table[k, size]
    return table, size, ended[:, :ends].copy(), began[:, :begins].copy(), changed


@kernel(_BLOCK(_BLOCK, _OUT, _OUT))
def _until(rows: np.ndarray, at: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """These rows, with ends."""
    width, n = rows.shape[0], len(at)
    out = np.empty((width + 1, n), np.int64)
    for i in range(n):
        for k in range(width):
            out[k, i] = rows[k, at[i]]
        out[width, i] = ends[i]
    return out


@kernel(types.UniTuple(_BLOCK, 3)(_BLOCK, _BLOCK, _BLOCK, _BLOCK))
def ranged_apart(
    held: np.ndarray, phi: np.ndarray, psi: np.ndarray, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One call of ``φ ~> ψ`` of any variables, marks in the order of time: what has ended, what began, and the rows
    that are open now, of which ``held`` were before.  ``places``: as relations have them."""
    width, before, m = held.shape[0] - 1, held.shape[1], psi.shape[1]
    both = behind_another(held, phi, width + 1)
    n = both.shape[1]
    head = shared_keys(places, both, m, psi)
    key = head if psi.shape[0] == phi.shape[0] else keys(both, width)
    ended, ends, begins, began_ends, now = stretches(
        key[:before], head[:before], both[width, :before], key[before:n], head[before:n], both[width, before:],
        head[n:], psi[psi.shape[0] - 2], False,
    )  # fmt: skip
    return _until(both, ended, ends), _until(both, begins, began_ends), taken(both, now)
