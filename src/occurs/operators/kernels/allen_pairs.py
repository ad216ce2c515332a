"""Kernels of the pairs of Allen's relations, and of the rows that still await a partner (phenesthe.md, section 4.5)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.intervals import (
    _INDEX,
    _INTS,
    _OPEN,
    _OUT,
    _first_from,
    dominated,
    in_groups,
    index,
    number,
    numbers_of,
)

NAMES = ("meets", "overlaps", "finishes", "starts", "equals", "contains")
MEETS, OVERLAPS, FINISHES, STARTS, EQUALS, CONTAINS = range(6)
_NEVER = -_OPEN - 1


@kernel(types.int64(types.int64))
def _earlier(tick: int) -> int:
    return max(tick, -_OPEN) - 1


@kernel(types.int64(types.int64))
def _later(tick: int) -> int:
    return min(tick, _OPEN - 1) + 1


_PAIRS = types.Tuple((_OUT, _OUT, types.int64))
_ROWS = (_INTS, _INTS, _INTS)


@kernel(_PAIRS(_OUT, _OUT, types.int64, _INDEX, *_ROWS, _OUT, *_ROWS, _INTS, _OUT))
def _containing(
    i: np.ndarray, j: np.ndarray, n: int, keys: tuple[int, np.ndarray, np.ndarray, int], x_key: np.ndarray,
    x_start: np.ndarray, x_end: np.ndarray, of_x: np.ndarray, y_key: np.ndarray, y_start: np.ndarray, y_end: np.ndarray,
    y_group: np.ndarray, of_y: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """More pairs (i, j): of every x and every group of y the y that starts after x and ends first, if x contains it:
    as many pairs as there are results, however many y there are."""
    groups = index(y_group[of_y])
    begins = y_start[of_y]
    order, first = in_groups(y_group[of_y], begins, groups)
    best = np.empty(len(order), np.int64)  # the row that ends first of those from a place on
    of_key = np.full(keys[3], -1, np.int64)
    link = np.full(groups[3], -1, np.int64)
    for g in range(groups[3]):
        row = -1
        for p in range(first[g + 1] - 1, first[g] - 1, -1):
            if row < 0 or y_end[of_y[order[p]]] < y_end[row]:
                row = of_y[order[p]]
            best[p] = row
        k = number(keys, y_key[row])
        link[g] = of_key[k]
        of_key[k] = g
    for row in of_x:
        k = number(keys, x_key[row])
        g = of_key[k] if k >= 0 else -1
        while g >= 0:
            p = _first_from(order, begins, first[g], first[g + 1], _later(x_start[row]))
            if p < first[g + 1] and y_end[best[p]] < x_end[row]:
                if n == len(i):
                    i, j = np.concatenate((i, i)), np.concatenate((j, j))
                i[n], j[n] = row, best[p]
                n += 1
            g = link[g]
    return i, j, n


@kernel(_PAIRS(types.int64, _OUT, _OUT, types.int64, _INDEX, *_ROWS, _OUT, *_ROWS, _INTS, _OUT))
def _found(
    rel: int, i: np.ndarray, j: np.ndarray, n: int, keys: tuple[int, np.ndarray, np.ndarray, int], x_key: np.ndarray,
    x_start: np.ndarray, x_end: np.ndarray, of_x: np.ndarray, y_key: np.ndarray, y_start: np.ndarray, y_end: np.ndarray,
    y_group: np.ndarray, of_y: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int]:  # fmt: skip
    """More pairs (i, j), of which there are ``n``: of the rows ``of_x`` with those ``of_y``, which are of the keys."""
    if len(of_x) == 0 or len(of_y) == 0:
        return i, j, n
    if rel == CONTAINS:
        return _containing(i, j, n, keys, x_key, x_start, x_end, of_x, y_key, y_start, y_end, y_group, of_y)
    ticks = y_end[of_y] if rel == FINISHES else y_start[of_y]
    order, first = in_groups(y_key[of_y], ticks, keys)
    for row in of_x:
        k = number(keys, x_key[row])
        s, e = x_start[row], x_end[row]
        if k < 0 or (e == _OPEN and rel != STARTS):
            continue
        # the y whose start (or end) is within these, if they are as they should be in their other tick
        low, high = e, e
        if rel in (STARTS, EQUALS):
            low, high = s, s
        elif rel == OVERLAPS:
            low, high = _later(s), _earlier(e)
        p = _first_from(order, ticks, first[k], first[k + 1], low)
        while p < first[k + 1] and ticks[order[p]] <= high:
            y = of_y[order[p]]
            if (
                rel == MEETS
                or (rel in (OVERLAPS, STARTS) and e < y_end[y])
                or (rel == EQUALS and e == y_end[y])
                or (rel == FINISHES and y_start[y] < s)
            ):
                if n == len(i):
                    i, j = np.concatenate((i, i)), np.concatenate((j, j))
                i[n], j[n] = row, y
                n += 1
            p += 1
    return i, j, n


@kernel(_OUT(_INTS, _INDEX, types.int64))
def _of_keys(key: np.ndarray, keys: tuple[int, np.ndarray, np.ndarray, int], first: int) -> np.ndarray:
    """The rows from ``first`` on that are of one of the keys."""
    out, numbers = np.empty(len(key) - first, np.int64), numbers_of(keys, key[first:])
    n = 0
    for i in range(len(numbers)):
        if numbers[i] >= 0:
            out[n] = first + i
            n += 1
    return out[:n]


@kernel(types.UniTuple(_OUT, 2)(types.int64, *_ROWS, types.int64, *_ROWS, _INTS, types.int64))
def related(
    rel: int, x_key: np.ndarray, x_start: np.ndarray, x_end: np.ndarray, x_new: int, y_key: np.ndarray,
    y_start: np.ndarray, y_end: np.ndarray, y_group: np.ndarray, y_new: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The pairs (row of x, row of y) of equal keys that are so related (a number of :data:`NAMES`) and of which one is
    new: from ``x_new`` or ``y_new`` on.  An open end is the greatest int64; two of them are neither equal nor ordered.

    For ``contains`` only one y of each ``group`` (of all its variables) is told, as the result is the same.
    """
    i, j = np.empty(8, np.int64), np.empty(8, np.int64)
    n = 0
    if x_new < len(x_key):
        keys = index(x_key[x_new:])
        rows = np.arange(x_new, len(x_key))
        of_y = _of_keys(y_key, keys, 0)
        i, j, n = _found(rel, i, j, n, keys, x_key, x_start, x_end, rows, y_key, y_start, y_end, y_group, of_y)
    if y_new < len(y_key) and x_new > 0:
        keys = index(y_key[y_new:])
        rows = _of_keys(x_key[:x_new], keys, 0)
        of_y = np.arange(y_new, len(y_key))
        i, j, n = _found(rel, i, j, n, keys, x_key, x_start, x_end, rows, y_key, y_start, y_end, y_group, of_y)
    return i[:n], j[:n]


_LIMITS = types.Tuple((types.boolean, types.int64, types.int64, types.int64, types.int64))


@kernel(_LIMITS(types.int64, types.boolean, types.int64, types.int64))
def _limits(rel: int, right: bool, s: int, e: int) -> tuple[bool, int, int, int, int]:
    """When a closed row [s, e] of the left side, or of the ``right`` one, may still gain a partner: (bounded, end,
    start, first, last).

    If it is ``bounded``, only as long as N of the other side is less than ``end``.  Then a row that is not known yet
    may be one if S of the other side is less than ``start``, and an open one if it began in [first, last].
    """
    before, after = _earlier(s), _later(s)
    inside = _earlier(e)
    if rel == MEETS:
        return (True, s, before, _NEVER, before) if right else (False, e, e, e, e)
    if rel == OVERLAPS:
        return (True, inside, before, _NEVER, before) if right else (False, e, inside, after, inside)
    if rel == STARTS:
        return (True, inside, s, s, s) if right else (False, e, s, s, s)
    if rel == FINISHES:
        return (True, e, e, after, inside) if right else (True, e, before, _NEVER, before)
    if rel == EQUALS:
        return (True, e, s, s, s)
    return (False, e, before, _NEVER, before) if right else (True, inside, inside, after, inside)


@kernel(types.UniTuple(_OUT, 2)(types.int64, types.boolean, *[_INTS] * 7))
def awaiting(
    rel: int, right: bool, key: np.ndarray, start: np.ndarray, end: np.ndarray, s: np.ndarray, n: np.ndarray,
    open_key: np.ndarray, open_start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The closed rows of one side that may still gain a partner, and whether what is not known yet decides about it.

    ``s``, ``n``: S and N of the other side per row, or one for all.  ``open``: its rows that have not ended.
    """
    keys = index(key)
    order, first = in_groups(open_key, open_start, keys)
    numbers = numbers_of(keys, key)
    rows, waits = np.empty(len(key), np.int64), np.empty(len(key), np.int64)
    count = 0
    for i in range(len(key)):
        bounded, last_end, last_start, low, high = _limits(rel, right, start[i], end[i])
        if bounded and n[i if len(n) > 1 else 0] >= last_end:
            continue
        unknown = s[i if len(s) > 1 else 0] < last_start
        if not unknown:
            k = numbers[i]
            p = _first_from(order, open_start, first[k], first[k + 1], low)
            if p == first[k + 1] or open_start[order[p]] > high:
                continue
        rows[count], waits[count] = i, unknown or bounded
        count += 1
    return rows[:count], waits[:count]


@kernel(_OUT(_INTS, _INTS, _INTS, types.int64))
def preferable(group: np.ndarray, start: np.ndarray, end: np.ndarray, new: int) -> np.ndarray:
    """The rows without those that have another one in their group that starts no earlier and ends no later; only groups
    of rows from ``new`` on are looked at."""
    groups = index(group[new:])
    order, _ = in_groups(group, start, groups)
    keep = np.ones(len(group), np.bool_)
    keep[order] = ~dominated(group[order], start[order], end[order])
    return np.flatnonzero(keep)


# -- before: what ends last before a start -----------------------------------------------------------------------------
@kernel(_OUT(_INTS, _INTS, types.int64, _INTS, _INTS))
def concerned(group: np.ndarray, key: np.ndarray, kept: int, waits: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The rows that a call is about: those from ``kept`` on, those that wait, all others of their groups, and those
    of one of the ``keys``.  ``waits``: per row before ``kept``."""
    n = len(group)
    wanted = index(keys)
    count = n - kept
    for i in range(kept):
        count += waits[i] != 0
    moved = np.empty(count, np.int64)
    count = 0
    for i in range(n):
        if i >= kept or waits[i] != 0:
            moved[count] = group[i]
            count += 1
    of_group, of_key = numbers_of(index(moved), group[:kept]), numbers_of(wanted, key[:kept])
    out = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if i >= kept or of_group[i] >= 0 or of_key[i] >= 0:
            out[count] = i
            count += 1
    return out[:count]


@kernel(types.UniTuple(_OUT, 7)(*[_INTS] * 15, types.int64))
def preceding(
    x_key: np.ndarray, x_group: np.ndarray, x_end: np.ndarray, y_key: np.ndarray, y_group: np.ndarray,
    y_start: np.ndarray, open_key: np.ndarray, open_group: np.ndarray, open_start: np.ndarray, begun_group: np.ndarray,
    begun_start: np.ndarray, s_x: np.ndarray, s_y: np.ndarray, s_begun: np.ndarray, n: np.ndarray, kept: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """One call of ``x before y``, see :class:`occurs.operators.interval.relations.Related`.

    x, y: closed rows; the y from ``kept`` on are new.  ``open``: y that have not ended.  ``begun``: starts of y, from
    before this call.  A key is of the variables that both have, a group of all of a side.  ``s``: S of y per row of x,
    of y, of ``begun``; ``n``: N of x, per row of x, then per row of y; if there is only one it is that of all rows.

    Returns rows: the x and the y of each result; the y that are not decided; the x that may still be looked for, and
    if they wait; of ``begun`` and the new y behind them likewise.
    """
    nx, ny, no, nb = len(x_key), len(y_key), len(open_key), len(begun_group)
    # --- y: all starts of a group, to find the last one before another
    n_starts = ny + no + nb
    group = np.empty(n_starts, np.int64)
    start = np.empty(n_starts, np.int64)
    group[:ny], group[ny : ny + nb], group[ny + nb :] = y_group, begun_group, open_group
    start[:ny], start[ny : ny + nb], start[ny + nb :] = y_start, begun_start, open_start
    groups = index(group[: ny + nb])
    order, first = in_groups(group, start, groups)
    last_start = np.full(ny, -_OPEN - 1, np.int64)
    for g in range(groups[3]):
        latest = current = -_OPEN - 1
        for p in range(first[g], first[g + 1]):
            i = order[p]
            if start[i] > current:
                latest, current = current, start[i]
            if i < ny:
                last_start[i] = latest
    # --- x: ends of a group; the groups of a key
    bindings, keys = index(x_group), index(x_key)
    by_end, x_first = in_groups(x_group, x_end, bindings)
    x_number, y_number = numbers_of(keys, x_key), numbers_of(keys, y_key)
    of_key = np.full(keys[3], -1, np.int64)
    link = np.full(bindings[3], -1, np.int64)
    for g in range(bindings[3]):
        k = x_number[by_end[x_first[g]]]
        link[g] = of_key[k]
        of_key[k] = g
    # --- results
    found_x = np.empty(ny + 8, np.int64)
    found_y = np.empty(ny + 8, np.int64)
    pending = np.empty(ny, np.int64)
    found = waiting = 0
    for j in range(ny):
        before = max(y_start[j], -_OPEN) - 1
        if s_y[j if len(s_y) > 1 else 0] < before:
            pending[waiting] = j
            waiting += 1
            continue
        if n[nx + j if len(n) > 1 else 0] < before:
            pending[waiting] = j
            waiting += 1
        k = y_number[j]
        g = of_key[k] if k >= 0 else -1
        while g >= 0:
            lo, hi = x_first[g], x_first[g + 1]
            if n[by_end[lo] if len(n) > 1 else 0] >= before:
                p = (hi if before == _OPEN else _first_from(by_end, x_end, lo, hi, before + 1)) - 1
                if p >= lo and x_end[by_end[p]] >= last_start[j]:
                    greatest = x_end[by_end[p]]
                    while p >= lo and x_end[by_end[p]] == greatest:
                        if found == len(found_x):
                            found_x = np.concatenate((found_x, found_x))
                            found_y = np.concatenate((found_y, found_y))
                        found_x[found], found_y[found] = by_end[p], j
                        found += 1
                        p -= 1
            g = link[g]
    # --- x: of a group the last end before what may come, or before a y that is open or undecided
    wanted_key = np.empty(waiting + no, np.int64)
    wanted_start = np.empty(waiting + no, np.int64)
    is_pending = np.zeros(ny, np.bool_)
    for i in range(waiting):
        wanted_key[i], wanted_start[i] = y_key[pending[i]], y_start[pending[i]]
        is_pending[pending[i]] = True
    wanted_key[waiting:], wanted_start[waiting:] = open_key, open_start
    wanted, w_first = in_groups(wanted_key, wanted_start, keys)
    left = np.empty(nx, np.int64)
    left_waits = np.empty(nx, np.int64)
    count = 0
    for g in range(bindings[3]):
        following = _OPEN
        for p in range(x_first[g + 1] - 1, x_first[g] - 1, -1):
            i = by_end[p]
            if p + 1 < x_first[g + 1] and x_end[by_end[p + 1]] != x_end[i]:
                following = x_end[by_end[p + 1]]
            known = s_x[i if len(s_x) > 1 else 0]
            keep = following > known
            if not keep:
                k = x_number[i]
                q = _first_from(wanted, wanted_start, w_first[k], w_first[k + 1], min(x_end[i], _OPEN - 1) + 1)
                keep = q < w_first[k + 1] and wanted_start[wanted[q]] <= following
            if keep:
                count += 1
                left[nx - count], left_waits[nx - count] = i, x_end[i] > known
    # --- y: starts likewise
    begun = np.empty(nb + ny, np.int64)
    begun_waits = np.empty(nb + ny, np.int64)
    starts = 0
    for g in range(groups[3]):
        following, asked = _OPEN, False
        p = first[g + 1] - 1
        while p >= first[g]:
            # all of one start, from the back; `asked`: one behind it is open or undecided, up to the following
            tick, row, asks = start[order[p]], -1, False
            while p >= first[g] and start[order[p]] == tick:
                i = order[p]
                if kept <= i < ny + nb:
                    row = i
                if i >= ny + nb or (i < ny and is_pending[i]):
                    asks = True
                p -= 1
            if row >= 0:
                if row >= ny:
                    known = s_begun[row - ny if len(s_begun) > 1 else 0]
                else:
                    known = s_y[row if len(s_y) > 1 else 0]
                if following > known or asked:
                    starts += 1
                    begun[nb + ny - starts] = row - ny if row >= ny else nb + row - kept
                    begun_waits[nb + ny - starts] = tick > known
                following, asked = tick, asks
            else:
                asked = asked or asks
    return (
        found_x[:found], found_y[:found], pending[:waiting], left[nx - count :], left_waits[nx - count :],
        begun[nb + ny - starts :], begun_waits[nb + ny - starts :],
    )  # fmt: skip
