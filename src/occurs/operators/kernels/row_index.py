"""Kernels of indexes: rows grouped by key code, and look-ups in the groups by time or by place."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, over_ranges

_LAST_TICK = 2**63 - 1


@kernel
def group_rows(code: np.ndarray, n_codes: int, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Counting sort of rows by code; rows with code < 0, or not ``keep`` (if it has rows), are left out.

    Returns ``order`` (row numbers, grouped by code, in row order within) and ``start`` (n_codes + 1).
    """
    n = len(code)
    all_rows = len(keep) == 0
    start = np.zeros(n_codes + 1, np.int64)
    for i in range(n):
        if code[i] >= 0 and (all_rows or keep[i]):
            start[code[i] + 1] += 1
    for c in range(n_codes):
        start[c + 1] += start[c]
    order = np.empty(start[n_codes], np.int64)
    put = start[:-1].copy()
    for i in range(n):
        c = code[i]
        if c >= 0 and (all_rows or keep[i]):
            order[put[c]] = i
            put[c] += 1
    return order, start


@kernel
def repack(
    order: np.ndarray, time: np.ndarray, start: np.ndarray, end: np.ndarray, more: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """The groups [start, end) of an index in a new order, each with room for as many entries again, and room behind
    them for ``more`` entries of other groups, at least.

    Returns the order and times, and per group where its room begins, where its entries start and end, and where its
    room ends; and how many places the groups take.
    """
    groups = len(start)
    begin = np.empty(groups, np.int64)
    ends = np.empty(groups, np.int64)
    limit = np.empty(groups, np.int64)
    used = 0
    held = 0
    for c in range(groups):
        width = end[c] - start[c]
        begin[c] = used
        ends[c] = used + width
        if width > 0:
            used += 2 * width + 2
        limit[c] = used
        held += width
    room = used + held // 2 + 2 * more + 16
    out, times = np.empty(room, np.int64), np.empty(room, np.int64)
    for c in range(groups):
        k = begin[c]
        for p in range(start[c], end[c]):
            out[k] = order[p]
            times[k] = time[p]
            k += 1
    return out, times, begin, begin.copy(), ends, limit, used


@kernel
def extend(
    order: np.ndarray, time: np.ndarray, begin: np.ndarray, start: np.ndarray, end: np.ndarray, limit: np.ndarray,
    used: int, base: int, gone: np.ndarray, first: int, code: np.ndarray, keep: np.ndarray, later: np.ndarray,
    done: int,
) -> tuple[int, int]:  # fmt: skip
    """Put new rows into the groups of an index that has room, in place, and take those that are gone from their start.

    ``order``, ..: see :func:`repack`.  ``base``: the number of the first row that is left; ``gone``: the codes of rows
    before it.  ``first``: the number of the first new row; ``code``, ``keep``, ``later``: codes, choice and times of
    the new rows, of which ``done`` are there already.  Returns how many places are used, and how many rows are done:
    fewer than all if there is no room left.
    """
    for i in range(len(gone)):
        c = gone[i]
        if c >= 0:
            while start[c] < end[c] and order[start[c]] < base:
                start[c] += 1
    all_rows = len(keep) == 0
    for i in range(done, len(code)):
        c = code[i]
        if c < 0 or not (all_rows or keep[i]):
            continue
        if end[c] == limit[c]:
            a, width = start[c], end[c] - start[c]
            to = begin[c]
            if a - to < width or a == to:  # not as much room before the entries as they take
                room = 2 * width + 2
                if used + room > len(order):
                    return used, i
                to = used
                used += room
                begin[c] = to
                limit[c] = used
            for k in range(width):
                order[to + k] = order[a + k]
                time[to + k] = time[a + k]
            start[c] = to
            end[c] = to + width
        order[end[c]] = first + i
        time[end[c]] = later[i]
        end[c] += 1
    return used, len(code)


@kernel
def _lower(time: np.ndarray, lo: int, hi: int, t: int) -> int:
    """The first position in [lo, hi) whose time is at least ``t``."""
    while lo < hi:
        mid = (lo + hi) >> 1
        if time[mid] < t:
            lo = mid + 1
        else:
            hi = mid
    return lo


@kernel
def find_ranges(
    code: np.ndarray, low: np.ndarray, high: np.ndarray, start: np.ndarray, stop: np.ndarray, time: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each request the positions [lo, hi) of its code's group, [start, stop), with ``low <= time <= high``.

    Requests in time order cost a step of two moving pointers; others, and few for many groups, a binary search.
    """
    n = len(code)
    groups = len(start)
    lo = np.zeros(n, np.int64)
    hi = np.zeros(n, np.int64)
    moving = n >= groups >> 4
    at_low = start.copy() if moving else lo
    at_high = start.copy() if moving else hi
    for i in range(n):
        c = code[i]
        if c < 0 or c >= groups:
            continue
        first = start[c]
        end = stop[c]
        if first == end:
            continue
        for side in range(2):
            t = low[i] if side == 0 else min(high[i], _LAST_TICK - 1) + 1
            if not moving:
                p = _lower(time, first, end, t)
                if side == 0:
                    lo[i] = p
                else:
                    hi[i] = p
                continue
            p = at_low[c] if side == 0 else at_high[c]
            if p > first and time[p - 1] >= t:
                p = _lower(time, first, p, t)
            else:
                # a few steps at once: how many there are cannot be predicted
                if p + 4 <= end:
                    p += int(time[p] < t) + int(time[p + 1] < t) + int(time[p + 2] < t) + int(time[p + 3] < t)
                step = 0
                while p < end and time[p] < t and step < 8:
                    p += 1
                    step += 1
                if step == 8 and p < end and time[p] < t:
                    # galloping, so that a rare request over many rows stays cheap
                    width = 16
                    while p + width < end and time[p + width] < t:
                        p += width
                        width *= 2
                    p = _lower(time, p, min(end, p + width + 1), t)
            if side == 0:
                at_low[c] = p
                lo[i] = p
            else:
                at_high[c] = p
                hi[i] = p
        if high[i] == _LAST_TICK:
            hi[i] = end
        if hi[i] < lo[i]:
            hi[i] = lo[i]
    return lo, hi


@kernel
def is_sorted(time: np.ndarray) -> bool:
    n, first = len(time), 1
    while first < n:  # blocks without a branch inside: the processor compares several rows at a time
        stop = min(n, first + 1024)
        down = 0
        for i in range(first, stop):
            down += time[i] < time[i - 1]
        if down > 0:
            return False
        first = stop
    return True


@kernel
def is_strictly_sorted(time: np.ndarray) -> bool:
    n, first = len(time), 1
    while first < n:
        stop = min(n, first + 1024)
        ties = 0
        for i in range(first, stop):
            ties += time[i] <= time[i - 1]
        if ties > 0:
            return False
        first = stop
    return True


@kernel
def settle_ties(time: np.ndarray, order: np.ndarray, key: np.ndarray, most: int) -> int:
    """Bring rows of one time into the order of ``key``; those alike stay as they stand.

    ``time`` (n): in order.  ``order`` (n): row numbers, changed.  ``key``: of each row.  Returns 1 if something was
    changed, else 0; -1 if more than ``most`` rows have one time, for which another way is faster: then some are in
    order.
    """
    changed, first = 0, 0
    for i in range(1, len(time)):
        if time[i] != time[i - 1]:
            first = i
            continue
        if i - first >= most:
            return -1
        row = order[i]
        own = key[row]
        at = i
        while at > first and key[order[at - 1]] > own:
            order[at] = order[at - 1]
            at -= 1
        if at < i:
            order[at] = row
            changed = 1
    return changed


@kernel
def merge(
    stops: np.ndarray, time: np.ndarray, at: np.ndarray, made: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rows of several runs, each of them in order, in one order: by time, ``at``, ``made`` and row.

    ``stops``: where each run ends, the last one at n.  ``at`` and ``made`` have n entries, or none.  Returns the rows
    (int64, n) and their times.
    """
    n = len(time)
    tied = len(at) > 0
    row = np.arange(n)
    put = np.empty(n, np.int64)
    tick = time.copy()
    put_tick = np.empty(n, np.int64)
    ends = stops.copy()
    runs = len(ends)
    while runs > 1:
        begin = 0
        k = 0
        for r in range(0, runs, 2):
            middle = ends[r]
            end = ends[r + 1] if r + 1 < runs else middle
            i = begin
            j = middle
            while i < middle and j < end:
                # numbers in place of a branch, as nobody can foresee which run is next
                a = tick[i]
                b = tick[j]
                first = np.int64(a <= b)
                if tied and a == b:
                    x = row[i]
                    y = row[j]
                    first = np.int64(at[x] < at[y] or (at[x] == at[y] and made[x] <= made[y]))
                put_tick[i + j - middle] = min(a, b)
                put[i + j - middle] = row[j + int(first) * (i - j)]
                i += int(first)
                j += 1 - int(first)
            out = i + j - middle
            put[out : out + middle - i] = row[i:middle]
            put_tick[out : out + middle - i] = tick[i:middle]
            put[j:end] = row[j:end]
            put_tick[j:end] = tick[j:end]
            ends[k] = end
            k += 1
            begin = end
        runs = k
        row, put = put, row
        tick, put_tick = put_tick, tick
    return row, tick


@kernel
def first_after(
    code: np.ndarray, low: np.ndarray, limit: np.ndarray, start: np.ndarray, at: np.ndarray, time: np.ndarray
) -> np.ndarray:
    """int64 (n): where the first event of group ``code[i]`` is that is not before place ``low[i]``, -1 if there is none
    with a time before ``limit[i]``.

    ``at``: the places of the events, group by group (``start``: groups + 1), ascending in each; ``time``: of every
    place.  ``limit`` has no entries, or n.  Asked in the order of places, a look-up costs a step of a moving pointer.
    """
    n = len(code)
    groups = len(start) - 1
    bounded = len(limit) > 0
    out = np.full(n, -1, np.int64)
    moving = start[:-1].copy()
    for i in range(n):
        c = code[i]
        if c < 0 or c >= groups:
            continue
        end = start[c + 1]
        p = moving[c]
        place = low[i]
        if p > start[c] and at[p - 1] >= place:
            p = _lower(at, start[c], p, place)
        else:
            step = 0
            while p < end and at[p] < place and step < 8:
                p += 1
                step += 1
            if step == 8 and p < end and at[p] < place:
                # galloping, so that few questions about many events stay cheap
                width = 16
                while p + width < end and at[p + width] < place:
                    p += width
                    width *= 2
                p = _lower(at, p, min(end, p + width + 1), place)
        moving[c] = p
        if p < end and (not bounded or time[at[p]] < limit[i]):
            out[i] = at[p]
    return out


@kernel
def in_groups(code: np.ndarray, start: np.ndarray, out: np.ndarray) -> None:
    """Sets ``out`` (n booleans) where the group of a code (-1: none) has entries; ``start``: groups + 1."""
    groups = len(start) - 1
    for i in range(len(code)):
        c = code[i]
        if c >= 0 and c < groups and start[c] < start[c + 1]:
            out[i] = True


@kernel(work=over_ranges)
def spread(lo: np.ndarray, hi: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All entries of the ranges [lo[i], hi[i]) of ``at``, range by range: (i, entry)."""
    total = 0
    for i in range(len(lo)):
        total += max(0, hi[i] - lo[i])
    which = np.empty(total, np.int64)
    entry = np.empty(total, np.int64)
    k = 0
    for i in range(len(lo)):
        for p in range(lo[i], hi[i]):
            which[k] = i
            entry[k] = at[p]
            k += 1
    return which, entry


@kernel
def in_order(keys: np.ndarray) -> bool:
    """Are the columns of ``keys`` (keys, n) in lexicographic order, the first key first?"""
    for i in range(1, keys.shape[1]):
        for k in range(keys.shape[0]):
            a = keys[k, i - 1]
            b = keys[k, i]
            if a < b:
                break
            if a > b:
                return False
    return True
