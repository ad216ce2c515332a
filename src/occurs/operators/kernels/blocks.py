"""Tables as kernels take them: blocks, int64 (columns, rows); their bindings as single numbers, and what lags behind.

A block of intervals has the codes of a binding first, then start and end.  A block of *lags* says per row, for all
bindings that agree with it, up to where starts and ends are known (two last columns); ``ANY`` stands where it says
nothing of a variable.  Lags come in segments that leave open the same variables; ``cuts`` are where these begin, and
the end of the last.
"""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types
from occurs.operators.kernels.intervals import (
    _INTS,
    _OPEN,
    _OUT,
    _first_from,
    combined,
    in_groups,
    index,
    lower,
    numbers_of,
)

#: before everything, and the code that stands for all
ANY = -_OPEN - 1
_BLOCK = types.Array(types.int64, 2, "C")


@kernel(types.int64(types.int64))
def earlier(tick: int) -> int:
    """The tick before; what never comes or never was stays so."""
    return tick if tick == _OPEN else max(tick, ANY + 1) - 1


@kernel(types.void(_BLOCK, types.int64, types.int64, _BLOCK, types.int64, types.int64, types.int64))
def copy(out: np.ndarray, to: int, at: int, block: np.ndarray, column: int, first: int, last: int) -> None:
    """Writes a piece of a column into the column ``to``, from ``at`` on."""
    # places that cannot be negative are not looked at one by one
    there, here = out[np.uint64(to)], block[np.uint64(column)]
    begin, source = np.uint64(at), np.uint64(first)
    for i in range(np.uint64(max(0, last - first))):
        there[begin + i] = here[source + i]


@kernel(_BLOCK(_BLOCK, _BLOCK, types.int64))
def behind_another(first: np.ndarray, second: np.ndarray, width: int) -> np.ndarray:
    """The rows of both, their first ``width`` columns."""
    n, m = first.shape[1], second.shape[1]
    out = np.empty((width, n + m), np.int64)
    for k in range(width):
        copy(out, k, 0, first, k, 0, n)
        copy(out, k, n, second, k, 0, m)
    return out


@kernel(_BLOCK(_BLOCK, _INTS))
def taken(block: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """These rows."""
    width = block.shape[0]
    out = np.empty((width, len(rows)), np.int64)
    for k in range(width):
        here, there = block[k], out[k]
        for i in range(np.uint64(len(rows))):
            there[i] = here[np.uint64(rows[i])]
    return out


@kernel(types.boolean(_BLOCK, _BLOCK))
def alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether they have the same rows."""
    if one.shape[1] != other.shape[1]:
        return False
    for k in range(one.shape[0]):
        for i in range(one.shape[1]):
            if one[k, i] != other[k, i]:
                return False
    return True


@kernel(_OUT(_INTS))
def _dense(values: np.ndarray) -> np.ndarray:
    """The same numbers in few bits."""
    return numbers_of(index(values), values)


@kernel(_OUT(_BLOCK, types.int64))
def keys(block: np.ndarray, width: int) -> np.ndarray:
    """One number per row, equal where the first ``width`` columns are."""
    n = block.shape[1]
    if width == 0:
        return np.zeros(n, np.int64)
    out = block[0]
    for k in range(1, width):
        both = combined(out, block[k])
        if len(both) < n:
            few = _dense(out)
            both = combined(few, block[k])
            if len(both) < n:
                both = combined(few, _dense(block[k]))
        out = both
    return out


@kernel(_OUT(_BLOCK, _BLOCK, types.int64, _BLOCK))
def shared_keys(places: np.ndarray, left: np.ndarray, rows: int, right: np.ndarray) -> np.ndarray:
    """Keys of the variables that both sides have: of the left rows, and of the right ones behind them.  ``rows``: so
    many of these."""
    n, common = left.shape[1], 0
    for v in range(places.shape[1]):
        common += places[0, v] >= 0 and places[1, v] >= 0
    codes = np.empty((common, n + rows), np.int64)
    at = 0
    for v in range(places.shape[1]):
        if places[0, v] >= 0 and places[1, v] >= 0:
            copy(codes, at, 0, left, places[0, v], 0, n)
            copy(codes, at, n, right, places[1, v], 0, rows)
            at += 1
    return keys(codes, common)


@kernel(_OUT(_BLOCK, types.int64, types.int64))
def across(places: np.ndarray, one: int, other: int) -> np.ndarray:
    """For every variable of one side where it is on the other, -1 if it is not.  ``places``: per side (0 left, 1
    right) where it has each variable of both, -1 if it has not."""
    count = 0
    for v in range(places.shape[1]):
        count += places[one, v] >= 0
    out = np.empty(count, np.int64)
    for v in range(places.shape[1]):
        if places[one, v] >= 0:
            out[places[one, v]] = places[other, v]
    return out


@kernel(_OUT(_BLOCK, types.int64))
def outward(places: np.ndarray, side: int) -> np.ndarray:
    """For every variable of a side where it is among those of both."""
    count = 0
    for v in range(places.shape[1]):
        count += places[side, v] >= 0
    out = np.empty(count, np.int64)
    for v in range(places.shape[1]):
        if places[side, v] >= 0:
            out[places[side, v]] = v
    return out


@kernel(types.boolean(_BLOCK, types.int64, types.int64, types.int64))
def tells(lags: np.ndarray, row: int, first: int, last: int) -> bool:
    """Whether a segment says something, of starts or of ends."""
    for i in range(first, last):  # noqa: SIM110 - numba
        if lags[row, i] != _OPEN:
            return True
    return False


@kernel(_BLOCK(_BLOCK, types.int64, types.int64, _BLOCK, _OUT, types.int64))
def _common(lags: np.ndarray, first: int, last: int, block: np.ndarray, to: np.ndarray, common: int) -> np.ndarray:
    """The ``common`` variables of the rows of a block, and of a segment of lags behind them."""
    n = block.shape[1]
    both = np.empty((common, n + last - first), np.int64)
    at = 0
    for k in range(lags.shape[0] - 2):
        if lags[k, first] != ANY and to[k] >= 0:
            copy(both, at, 0, block, to[k], 0, n)
            copy(both, at, n, lags, k, first, last)
            at += 1
    return both


@kernel(_OUT(types.int64, _BLOCK, _OUT, types.int64, _BLOCK, _OUT))
def least(
    complete: int, lags: np.ndarray, cuts: np.ndarray, ends: int, block: np.ndarray, to: np.ndarray
) -> np.ndarray:
    """S (``ends`` = 0) or N (1) per row of ``block``: ``complete``, or less where ``lags`` that agree with it say so.

    ``to``: for every variable of the lags the column that has it, -1 if there is none.
    """
    n, width = block.shape[1], lags.shape[0] - 2
    out = np.full(n, complete, np.int64)
    if n == 0:
        return out
    row = width + ends
    for c in range(len(cuts) - 1):
        first, last = cuts[c], cuts[c + 1]
        if not tells(lags, row, first, last):
            continue
        common, some = 0, 0
        for k in range(width):
            if lags[k, first] != ANY and to[k] >= 0:
                common, some = common + 1, k
        if common == 0:
            tick = lags[row, first:last].min()
            for i in range(n):
                out[i] = min(out[i], tick)
        elif common == 1:
            lower(out, block[to[some]], lags[some, first:last], lags[row, first:last])
        else:
            both = _common(lags, first, last, block, to, common)
            key = keys(both, common)
            lower(out, key[:n], key[n:], lags[row, first:last])
    return out


@kernel(
    types.UniTuple(_OUT, 3)(_BLOCK, _OUT, _BLOCK, _OUT, _OUT),
)
def late_for(
    lags: np.ndarray, cuts: np.ndarray, block: np.ndarray, limit: np.ndarray, to: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pairs (row of ``block``, row of ``lags``) that agree and where N, which the lag says, is before ``limit``,
    segment by segment, and where the pairs of each begin (and the last end)."""
    n, width = block.shape[1], lags.shape[0] - 2
    i, j = np.empty(8, np.int64), np.empty(8, np.int64)
    out = np.zeros(len(cuts), np.int64)
    count = 0
    for c in range(len(cuts) - 1):
        first, last = cuts[c], cuts[c + 1]
        if n and tells(lags, width + 1, first, last):
            common = 0
            for k in range(width):
                common += lags[k, first] != ANY and to[k] >= 0
            key = keys(_common(lags, first, last, block, to, common), common)
            known = index(key[n:])
            ends = lags[width + 1, first:last]
            order, begin = in_groups(key[n:], ends, known)
            numbers = numbers_of(known, key[:n])
            for row in range(n):
                k = numbers[row]
                if k < 0:
                    continue
                stop = _first_from(order, ends, begin[k], begin[k + 1], limit[row])
                for p in range(begin[k], stop):
                    if count == len(i):
                        i, j = np.concatenate((i, i)), np.concatenate((j, j))
                    i[count], j[count] = row, first + order[p]
                    count += 1
        out[c + 1] = count
    return i[:count], j[:count], out


@kernel(types.void(_BLOCK, types.int64, _BLOCK, types.int64, types.int64, _OUT))
def put(out: np.ndarray, at: int, block: np.ndarray, first: int, last: int, to: np.ndarray) -> None:
    """Writes rows of a block as lags that say nothing yet: ``to``: the column of every variable there."""
    width = out.shape[0]
    for k in range(width):
        for i in range(at, at + last - first):
            out[k, i] = ANY if k < width - 2 else _OPEN
    for k in range(len(to)):
        copy(out, to[k], at, block, k, first, last)
