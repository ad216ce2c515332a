"""Kernels of Allen's relations (phenesthe.md, sections 4.5 and 5): pairs of rows, and one call of a relation with its
results, its state and its frontiers.

:func:`before` and :func:`beside` take, of either side, the block of the closed rows that are kept (behind it: do they
wait?), of those that are new and of those that are open, and its lags (see :mod:`occurs.operators.kernels.blocks`);
``places``: where each side has each of all variables, -1 if it has not.  Up to ``few`` kept rows are looked at as they
are, of more those alone that the call is about.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.blocks import (
    _BLOCK,
    across,
    alike,
    behind_another,
    copy,
    earlier,
    keys,
    late_for,
    least,
    outward,
    put,
    shared_keys,
    taken,
    tells,
)
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
#: which interval comes of a pair: from the start of the left one to the end of the right one, or one of the two
HULL, LEFT, RIGHT = range(3)
#: when the lags of what is left are asked for: never, if there are results, always
NEVER, FOUND, ALWAYS = range(3)
_NEVER = -_OPEN - 1
_PAIRS = types.Tuple((_OUT, _OUT, types.int64))
_ROWS = (_INTS, _INTS, _INTS)
_LIMITS = types.Tuple((types.boolean, types.int64, types.int64, types.int64, types.int64))
_TABLES = (_BLOCK,) * 3
_LAGS = (_BLOCK, _OUT)


@kernel(types.int64(types.int64))
def _earlier(tick: int) -> int:
    return max(tick, -_OPEN) - 1


@kernel(types.int64(types.int64))
def _later(tick: int) -> int:
    return min(tick, _OPEN - 1) + 1


# --- pairs ------------------------------------------------------------------------------------------------------------


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


@kernel(_BLOCK(_BLOCK, _BLOCK, _BLOCK, _INTS, _INTS, types.int64))
def results(places: np.ndarray, x: np.ndarray, y: np.ndarray, i: np.ndarray, j: np.ndarray, result: int) -> np.ndarray:
    """The results of pairs of rows."""
    width, n = places.shape[1], len(i)
    out = np.empty((width + 2, n), np.int64)
    for v in range(width):
        if places[0, v] >= 0:
            for p in range(n):
                out[v, p] = x[places[0, v], i[p]]
        else:
            for p in range(n):
                out[v, p] = y[places[1, v], j[p]]
    xs, ys = x.shape[0] - 2, y.shape[0] - 2
    for p in range(n):
        out[width, p] = y[ys, j[p]] if result == RIGHT else x[xs, i[p]]
        out[width + 1, p] = x[xs + 1, i[p]] if result == LEFT else y[ys + 1, j[p]]
    return out


# --- rows that still await a partner ----------------------------------------------------------------------------------


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


# --- before: what ends last before a start ----------------------------------------------------------------------------


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
    for g in range(bindings[3] - 1, -1, -1):  # from the back: the rows of a table stay in their order
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
    for g in range(groups[3] - 1, -1, -1):
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


# --- one call of a relation -------------------------------------------------------------------------------------------


@kernel(_BLOCK(_BLOCK, _INTS, _BLOCK, _INTS))
def _kept(before: np.ndarray, some: np.ndarray, rows: np.ndarray, waits: np.ndarray) -> np.ndarray:
    """A table of state: what it had but for the rows ``some`` (those beyond it do not count), and others, which wait or
    not."""
    old, width = before.shape[1], rows.shape[0]
    stays = np.ones(old, np.bool_)
    rest = old
    for i in some:
        if i < old:
            stays[i] = False
            rest -= 1
    out = np.empty((width + 1, rest + len(waits)), np.int64)
    for k in range(width + 1):
        at = 0
        if rest:
            for i in range(old):
                if stays[i]:
                    out[k, at] = before[k, i]
                    at += 1
        if k < width:
            copy(out, k, rest, rows, k, 0, len(waits))
        else:
            for i in range(len(waits)):
                out[k, rest + i] = waits[i]
    return out


@kernel(_OUT(_BLOCK, types.int64, _INTS))
def _come(kept: np.ndarray, column: int, known: np.ndarray) -> np.ndarray:
    """Which rows have waited for S and need not any more: 0 or 1.  ``column``: the tick that they wait for; whether
    they do is behind it."""
    out = np.zeros(kept.shape[1], np.int64)
    for i in range(kept.shape[1]):
        out[i] = kept[-1, i] != 0 and known[i] >= kept[column, i]
    return out


@kernel(
    types.Tuple((types.int64, types.int64))(
        _BLOCK, _OUT, types.int64, _BLOCK, _OUT, _OUT, types.boolean, types.boolean
    ),
)
def _carried(
    out: np.ndarray, cuts: np.ndarray, segment: int, lags: np.ndarray, before: np.ndarray, to: np.ndarray,
    starts: bool, ends: bool,
) -> tuple[int, int]:  # fmt: skip
    """Writes what the lags of an operand say of starts, of ends; the next segment and where it begins."""
    at, width = cuts[segment], lags.shape[0] - 2
    for c in range(len(before) - 1):
        first, last = before[c], before[c + 1]
        told = starts and tells(lags, width, first, last)
        if not told and not (ends and tells(lags, width + 1, first, last)):
            continue
        put(out, at, lags, first, last, to)
        n = last - first
        if starts:
            copy(out, out.shape[0] - 2, at, lags, width, first, last)
        if ends:
            copy(out, out.shape[0] - 1, at, lags, width + 1, first, last)
        at += n
        segment += 1
        cuts[segment] = at
    return segment, at


@kernel(
    types.Tuple((types.int64, types.int64))(
        _BLOCK, _OUT, types.int64, _BLOCK, types.int64, _OUT, types.boolean, types.boolean
    ),
)
def _behind(
    out: np.ndarray, cuts: np.ndarray, segment: int, rows: np.ndarray, width: int, to: np.ndarray,
    starts: bool, ends: bool,
) -> tuple[int, int]:  # fmt: skip
    """Writes that results may begin where these rows do, or end where they do; one segment."""
    at, n = cuts[segment], rows.shape[1]
    put(out, at, rows, 0, n, to)
    for i in range(n):
        if starts:
            out[-2, at + i] = earlier(rows[width, i])
        if ends:
            out[-1, at + i] = earlier(rows[width + 1, i])
    if n:
        segment += 1
        cuts[segment] = at + n
    return segment, at + n


@kernel(
    types.Tuple((*[_BLOCK] * 5, _OUT, types.int64))(
        *_TABLES, *_TABLES, _BLOCK, *_LAGS, *_LAGS, _BLOCK, types.int64, types.int64, types.int64, types.int64
    ),
)
def before(
    left_kept: np.ndarray, left_new: np.ndarray, left_open: np.ndarray,
    right_kept: np.ndarray, right_new: np.ndarray, right_open: np.ndarray, begun: np.ndarray,
    left_lags: np.ndarray, left_cuts: np.ndarray, right_lags: np.ndarray, right_cuts: np.ndarray,
    places: np.ndarray, left_complete: int, right_complete: int, few: int, told: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """One call of ``x before y``, see :class:`occurs.operators.interval.relations.Related`.

    Returns the results that are final; ``left``, ``right`` and ``begun`` after the call; the lags of what is left and
    their cuts; and which of the three tables are not as they were (1, 2 and 4).  ``right_kept`` has no rows that wait.
    ``told``: whether lags are asked for, see ``NEVER`` ..
    """
    wl, wr, width = left_new.shape[0] - 2, right_new.shape[0] - 2, places.shape[1]
    old_x, old_y, no, nb = left_kept.shape[1], right_kept.shape[1], right_open.shape[1], begun.shape[1]
    x, y = behind_another(left_kept, left_new, wl + 2), behind_another(right_kept, right_new, wr + 2)
    ny = y.shape[1]
    right = behind_another(behind_another(y, right_open, wr), begun, wr)
    x_group, group = keys(x, wl), keys(right, wr)
    key = shared_keys(places, x, ny + no, right)
    x_key, y_key, open_key = key[: x.shape[1]], key[x.shape[1] : x.shape[1] + ny], key[x.shape[1] + ny :]
    y_group, open_group, begun_group = group[:ny], group[ny : ny + no], group[ny + no :]
    # --- S of y, and the rows that the call is about: of those that wait, the ones that S has come to (all others
    #     still do, as S is before them and before what follows them)
    to_left, to_right, own_left, own_right = across(places, 1, 0), across(places, 0, 1), np.arange(wl), np.arange(wr)
    s_x = least(right_complete, right_lags, right_cuts, 0, x, to_left)
    some = np.arange(x.shape[1])
    if old_x > few:
        some = concerned(x_group, x_key, old_x, _come(left_kept, wl + 1, s_x), y_key)
        x, x_group, x_key, s_x = taken(x, some), x_group[some], x_key[some], s_x[some]
    s_begun = least(right_complete, right_lags, right_cuts, 0, begun, own_right)
    starts, among = begun, np.arange(nb)
    if nb > few:
        among = concerned(begun_group, begun_group, nb, _come(begun, wr, s_begun), y_group)
        starts, begun_group, s_begun = taken(begun, among), begun_group[among], s_begun[among]
    s_y = least(right_complete, right_lags, right_cuts, 0, y, own_right)
    n = np.concatenate(
        (
            least(left_complete, left_lags, left_cuts, 1, x, own_left),
            least(left_complete, left_lags, left_cuts, 1, y, to_right),
        )
    )
    i, j, undecided, last, last_waits, first, first_waits = preceding(
        x_key, x_group, x[wl + 1], y_key, y_group, y[wr], open_key, open_group, right_open[wr],
        begun_group, starts[wr], s_x, s_y, s_begun, n, old_y,
    )  # fmt: skip
    found = results(places, x, y, i, j, HULL)
    # --- what is kept
    left_after = _kept(left_kept, some, taken(x, last), last_waits)
    right_after = taken(y, undecided)
    firsts = behind_another(starts, right_new, wr + 1)
    begun_after = _kept(begun, among, taken(firsts, first), first_waits)
    changed = (not alike(left_kept, left_after)) + 2 * (not alike(right_kept, right_after))
    changed += 4 * (not alike(begun, begun_after))
    if told == NEVER or (told == FOUND and found.shape[1] == 0):
        nothing, no_cuts = np.empty((width + 2, 0), np.int64), np.zeros(1, np.int64)
        return found, left_after, right_after, begun_after, nothing, no_cuts, changed
    # --- where results that are known are not final: under the whole binding of a y before which another may start,
    #     else where the x that lag agree with it
    pending, limit = right_after.shape[1], np.empty(right_after.shape[1], np.int64)
    alone, joint = np.empty(pending, np.int64), np.empty(pending, np.int64)
    whole = rest = 0
    for p in range(pending):
        tick = earlier(right_after[wr, p])
        if s_y[undecided[p]] < tick:
            alone[whole] = p
            whole += 1
        else:
            joint[rest], limit[rest] = p, tick
            rest += 1
    waiting, later = taken(right_after, alone[:whole]), taken(right_after, joint[:rest])
    row, late, parts = late_for(left_lags, left_cuts, later, limit[:rest], to_right)
    # --- frontiers
    total = left_lags.shape[1] + right_lags.shape[1] + whole + len(row) + left_open.shape[1] + left_after.shape[1]
    lags = np.empty((width + 2, total), np.int64)
    cuts = np.zeros(2 * len(left_cuts) + len(right_cuts) + 4, np.int64)
    out_left, out_right = outward(places, 0), outward(places, 1)
    segment, at = _carried(lags, cuts, 0, left_lags, left_cuts, out_left, True, False)
    segment, at = _carried(lags, cuts, segment, right_lags, right_cuts, out_right, False, True)
    segment, at = _behind(lags, cuts, segment, waiting, wr, out_right, False, True)
    for c in range(len(parts) - 1):
        if parts[c] == parts[c + 1]:
            continue
        for p in range(parts[c], parts[c + 1]):
            put(lags, at, left_lags, late[p], late[p] + 1, out_left)
            for k in range(wr):
                lags[out_right[k], at] = later[k, row[p]]
            lags[width + 1, at] = earlier(later[wr + 1, row[p]])
            at += 1
        segment += 1
        cuts[segment] = at
    both = behind_another(left_open, left_after, wl + 1)
    segment, at = _behind(lags, cuts, segment, both, wl, out_left, True, False)
    return found, left_after, right_after, begun_after, lags[:, :at].copy(), cuts[: segment + 1], changed


@kernel(
    _BLOCK(
        types.int64, types.boolean, _BLOCK, _BLOCK, _INTS, _INTS, _INTS, _INTS, *_LAGS, _OUT, types.int64, types.int64
    ),
)
def _awaiting(
    rel: int, right: bool, before: np.ndarray, rows: np.ndarray, key: np.ndarray, new: np.ndarray,
    open: np.ndarray, open_start: np.ndarray, lags: np.ndarray, cuts: np.ndarray, to: np.ndarray, complete: int,
    few: int,
) -> np.ndarray:  # fmt: skip
    """The closed rows of one side that may still gain a partner on the other; ``rows``: the old and the new ones.
    ``key``, ``new``, ``open``: keys of the rows, and of the new and the open ones of the other side, of which are the
    lags."""
    old, width = before.shape[1], rows.shape[0] - 2
    some = np.arange(rows.shape[1])
    if old > few:
        some = concerned(key, key, old, before[width + 2], new)
        rows, key = taken(rows, some), key[some]
    s = least(complete, lags, cuts, 0, rows, to)
    n = least(complete, lags, cuts, 1, rows, to)
    at, waits = awaiting(rel, right, key, rows[width], rows[width + 1], s, n, open, open_start)
    out = _kept(before, some, taken(rows, at), waits)
    if rel == CONTAINS and right and len(some):
        # without rows to which another one is preferable, as it starts no earlier and is surely inside whatever the
        # first is inside of: what may come ends later than what is known
        known = least(complete, lags, cuts, 1, out, to)
        stays = preferable(keys(out, width), out[width], np.maximum(out[width + 1], known), out.shape[1] - len(at))
        if len(stays) < out.shape[1]:
            out = taken(out, stays)
    return out


@kernel(
    types.Tuple((*[_BLOCK] * 4, _OUT, types.int64))(
        types.int64, types.int64, *_TABLES, *_TABLES, *_LAGS, *_LAGS, _BLOCK, *[types.int64] * 4
    ),
)
def beside(
    rel: int, result: int,
    left_kept: np.ndarray, left_new: np.ndarray, left_open: np.ndarray,
    right_kept: np.ndarray, right_new: np.ndarray, right_open: np.ndarray,
    left_lags: np.ndarray, left_cuts: np.ndarray, right_lags: np.ndarray, right_cuts: np.ndarray,
    places: np.ndarray, left_complete: int, right_complete: int, few: int, told: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """One call of a relation that needs pairs alone, see :class:`occurs.operators.interval.relations.Related`.

    Returns the results that are final; ``left`` and ``right`` after the call; the lags of what is left and their cuts;
    and which of the two tables are not as they were (1 and 2).  ``told``: whether lags are asked for, see ``NEVER`` ..
    """
    wl, wr, width = left_new.shape[0] - 2, right_new.shape[0] - 2, places.shape[1]
    x, y = behind_another(left_kept, left_new, wl + 2), behind_another(right_kept, right_new, wr + 2)
    nx, ny, old_x, old_y = x.shape[1], y.shape[1], left_kept.shape[1], right_kept.shape[1]
    left, right = behind_another(x, left_open, wl), behind_another(y, right_open, wr)
    key = shared_keys(places, left, right.shape[1], right)
    x_key, left_open_key = key[:nx], key[nx : left.shape[1]]
    y_key, right_open_key = key[left.shape[1] : left.shape[1] + ny], key[left.shape[1] + ny :]
    i, j = related(
        rel, x_key, x[wl], x[wl + 1], old_x, y_key, y[wr], y[wr + 1], keys(y, wr) if rel == CONTAINS else y_key, old_y
    )
    found = results(places, x, y, i, j, result)
    to_left, to_right = across(places, 1, 0), across(places, 0, 1)
    left_after = _awaiting(
        rel, False, left_kept, x, x_key, y_key[old_y:], right_open_key, right_open[wr],
        right_lags, right_cuts, to_left, right_complete, few,
    )  # fmt: skip
    right_after = _awaiting(
        rel, True, right_kept, y, y_key, x_key[old_x:], left_open_key, left_open[wl],
        left_lags, left_cuts, to_right, left_complete, few,
    )  # fmt: skip
    changed = (not alike(left_kept, left_after)) + 2 * (not alike(right_kept, right_after))
    if told == NEVER or (told == FOUND and found.shape[1] == 0):
        return found, left_after, right_after, np.empty((width + 2, 0), np.int64), np.zeros(1, np.int64), changed
    # --- frontiers: of the side that gives the start, S and the starts of what may still gain a partner; of the side
    #     that gives the end, N and the ends of these
    total = left_lags.shape[1] + right_lags.shape[1] + left_open.shape[1] + right_open.shape[1]
    lags = np.empty((width + 2, total + left_after.shape[1] + right_after.shape[1]), np.int64)
    cuts = np.zeros(len(left_cuts) + len(right_cuts) + 4, np.int64)
    out_left, out_right = outward(places, 0), outward(places, 1)
    segment = at = 0
    if result != RIGHT:
        segment, at = _carried(lags, cuts, segment, left_lags, left_cuts, out_left, True, result == LEFT)
    if result != LEFT:
        segment, at = _carried(lags, cuts, segment, right_lags, right_cuts, out_right, result == RIGHT, True)
    if result == RIGHT:
        rows = behind_another(right_open, right_after, wr + 2)
        segment, at = _behind(lags, cuts, segment, rows, wr, out_right, True, True)
    else:
        rows = behind_another(left_open, left_after, wl + 2)
        segment, at = _behind(lags, cuts, segment, rows, wl, out_left, True, result == LEFT)
        if result == HULL:
            segment, at = _behind(lags, cuts, segment, right_after, wr, out_right, False, True)
    return found, left_after, right_after, lags[:, :at].copy(), cuts[: segment + 1], changed


# --- a result once, although several pairs of rows derive it ----------------------------------------------------------


@kernel(_OUT(_BLOCK, _BLOCK, _BLOCK, types.int64))
def _of_pending(rows: np.ndarray, pending: np.ndarray, places: np.ndarray, side: int) -> np.ndarray:
    """Per row whether one of the rows ``pending`` of a side has its binding and its end: 0 or 1."""
    n, m, width, own = rows.shape[1], pending.shape[1], places.shape[1], pending.shape[0] - 2
    both = np.empty((own + 1, n + m), np.int64)
    for v in range(width):
        if places[side, v] >= 0:
            copy(both, places[side, v], 0, rows, v, 0, n)
            copy(both, places[side, v], n, pending, places[side, v], 0, m)
    copy(both, own, 0, rows, width + 1, 0, n)
    copy(both, own, n, pending, own + 1, 0, m)
    key = keys(both, own + 1)
    known = index(key[n:])
    out = numbers_of(known, key[:n])
    for i in range(n):
        out[i] = out[i] >= 0
    return out


@kernel(
    types.UniTuple(_BLOCK, 2)(_BLOCK, _BLOCK, types.int64, _BLOCK, _OUT, _BLOCK, _BLOCK),
)
def once(
    given: np.ndarray, rows: np.ndarray, complete: int, lags: np.ndarray, cuts: np.ndarray, pending: np.ndarray,
    places: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The rows that are not among ``given``, each once; and of both what could be derived again.

    A row can be derived again only from something that is not known yet, hence only as long as something can still
    appear under its binding at its start and at its end: ``complete``, ``lags`` and ``cuts`` are of the results.  Or
    from a row of the right side that is ``pending``; ``places`` as for relations.
    """
    old, width = given.shape[1], rows.shape[0] - 2
    every = behind_another(given, rows, width + 2)
    key = keys(every, width + 2)
    known = index(key)
    seen = np.zeros(known[3], np.bool_)
    some, numbers = np.empty(every.shape[1], np.int64), numbers_of(known, key)
    count = fresh = 0
    for i in range(every.shape[1]):
        k = numbers[i]
        if not seen[k]:
            seen[k] = True
            some[count] = i
            count += 1
            fresh += i >= old
    some = some[:count]
    every = taken(every, some)
    own = np.arange(width)
    s, n = least(complete, lags, cuts, 0, every, own), least(complete, lags, cuts, 1, every, own)
    stays = np.zeros(count, np.int64)
    if pending.shape[1]:
        stays = _of_pending(every, pending, places, 1)
    kept = np.empty(count, np.int64)
    keeps = 0
    for i in range(count):
        if stays[i] or (n[i] < every[width + 1, i] and s[i] < every[width, i]):
            kept[keeps] = i
            keeps += 1
    return taken(every, np.arange(count - fresh, count)), taken(every, kept[:keeps])
