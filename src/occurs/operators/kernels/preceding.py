"""Kernels of ``before`` (phenesthe.md, section 4.5): what ends last before a start, under one key."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.intervals import _INTS, _OPEN, _OUT
from occurs.operators.kernels.stretches import _INDEX, index, numbers_of

_INSERTED = 24


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


@kernel(types.UniTuple(_OUT, 2)(_INTS, _INTS, _INDEX))
def in_groups(
    group: np.ndarray, tick: np.ndarray, groups: tuple[int, np.ndarray, np.ndarray, int]
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of numbered groups in the order of (number, tick), and where each group begins (and the last ends)."""
    n = len(group)
    # a place further on, so that where a group is filled is where the next one begins when all is done
    start = np.zeros(groups[3] + 2, np.int64)
    numbers = numbers_of(groups, group)
    for i in range(n):
        if numbers[i] >= 0:
            start[numbers[i] + 2] += 1
    for g in range(groups[3]):
        start[g + 2] += start[g + 1]
    order = np.empty(start[-1], np.int64)
    for i in range(n):
        if numbers[i] >= 0:
            order[start[numbers[i] + 1]] = i
            start[numbers[i] + 1] += 1
    start = start[:-1]
    # rows mostly come in the order of time
    for g in range(groups[3]):
        first, last = start[g], start[g + 1]
        if last - first > _INSERTED:
            ascends = True
            for p in range(first + 1, last):
                if tick[order[p]] < tick[order[p - 1]]:
                    ascends = False
                    break
            if not ascends:
                rows = order[first:last].copy()
                by = np.argsort(tick[rows], kind="mergesort")
                for p in range(last - first):
                    order[first + p] = rows[by[p]]
        else:
            for p in range(first + 1, last):
                row = order[p]
                q = p
                while q > first and tick[order[q - 1]] > tick[row]:
                    order[q] = order[q - 1]
                    q -= 1
                order[q] = row
    return order, start


@kernel(types.int64(_OUT, _INTS, types.int64, types.int64, types.int64))
def _first_from(order: np.ndarray, ticks: np.ndarray, lo: int, hi: int, tick: int) -> int:
    """The first place in [lo, hi) whose tick is not less."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if ticks[order[mid]] < tick:
            lo = mid + 1
        else:
            hi = mid
    return lo


@kernel(types.UniTuple(_OUT, 7)(*[_INTS] * 15, types.int64))
def preceding(
    x_key: np.ndarray,
    x_group: np.ndarray,
    x_end: np.ndarray,
    y_key: np.ndarray,
    y_group: np.ndarray,
    y_start: np.ndarray,
    open_key: np.ndarray,
    open_group: np.ndarray,
    open_start: np.ndarray,
    begun_group: np.ndarray,
    begun_start: np.ndarray,
    s_x: np.ndarray,
    s_y: np.ndarray,
    s_begun: np.ndarray,
    n: np.ndarray,
    kept: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One call of ``x before y``, see :mod:`occurs.operators.lasting.before`.

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
        found_x[:found],
        found_y[:found],
        pending[:waiting],
        left[nx - count :],
        left_waits[nx - count :],
        begun[nb + ny - starts :],
        begun_waits[nb + ny - starts :],
    )
