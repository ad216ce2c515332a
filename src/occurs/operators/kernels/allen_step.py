"""Kernels of one call of a relation (phenesthe.md, sections 4.5 and 5): its results, its state and its frontiers.

Both take, of either side, the block of the closed rows that are kept (behind it: do they wait?), of those that are new
and of those that are open, and its lags (see :mod:`occurs.operators.kernels.blocks`); ``places``: where each side has
each of all variables, -1 if it has not.  Up to ``few`` kept rows are looked at as they are, of more those alone that
the call is about.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.allen_pairs import CONTAINS, awaiting, concerned, preceding, preferable, related
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
from occurs.operators.kernels.intervals import _INTS, _OUT

#: which interval comes of a pair: from the start of the left one to the end of the right one, or one of the two
HULL, LEFT, RIGHT = range(3)
#: when the lags of what is left are asked for: never, if there are results, always
NEVER, FOUND, ALWAYS = range(3)


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


_TABLES = (_BLOCK,) * 3
_LAGS = (_BLOCK, _OUT)


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
