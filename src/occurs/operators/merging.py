"""The order of rows: the new rows of several types merged into one (common.md, section 2), and rows by several keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from occurs.kernel import CACHED
from occurs.model.time import TimeKind
from occurs.operators.contract import Call
from occurs.operators.kernels.row_index import group_rows, merge
from occurs.operators.rows import Rows

#: places within an instant: before its rows; from 1 on rows of the input; derived when the instant is complete; added
#: by closing (common.md, section 2: phases 0 to 3)
DUE, INSTANT, END = 0, 1 << 62, (1 << 62) + 1


@dataclass(frozen=True)
class Stream:
    """The new rows of one call, merged into one order, and the clock.

    ``rows``: the new rows of every type (``Rows`` without past).  ``types``: their names; ``type``: int32 (n), the
    number of each event's type in ``types``; ``row``: int64 (n), its row in the ``Rows`` of that type; ``time``: int64
    (n) ticks; ``at``: int64 (n), its place among the rows of its instant, over all types: a derived event has that of
    the row it stands behind.  The n events are in their total order.

    ``start``: where the clock starts, None as long as no row has come.  ``since``: the frontier of the call before
    (None: there was none); all instants up to ``frontier`` are here.
    """

    rows: Mapping[str, Rows]
    types: tuple[str, ...]
    type: np.ndarray
    row: np.ndarray
    time: np.ndarray
    at: np.ndarray
    start: int | None
    since: int | None
    frontier: int
    kind: TimeKind

    @property
    def only(self) -> int | None:
        """The number of the one type that all events are of, if that is known: they stand as its rows do."""
        return None


class OfOneType(Stream):
    """A stream with events of one type only, ``number`` in ``types``; what follows from that is made when somebody
    asks for it."""

    def __init__(self, rows: Mapping[str, Rows], types: tuple[str, ...], number: int, call: Call) -> None:
        part = rows[types[number]]
        self.__dict__.update(
            rows=rows, types=types, number=number, time=part.time, at=_places(part),
            start=call.start, since=call.since, frontier=call.frontier, kind=call.kind,
        )  # fmt: skip

    number: int

    @property
    def only(self) -> int:
        return self.number

    @cached_property
    def type(self) -> np.ndarray:
        return np.full(len(self.time), self.number, np.int32)

    @cached_property
    def row(self) -> np.ndarray:
        return np.arange(len(self.time))


def merged(call: Call) -> Stream:
    """The new rows of a call in the order of time, place within the instant, definition that derived them (-1: input)
    and row."""
    types = tuple(sorted(call.rows))
    parts = [call.new(t) for t in types]
    sizes = [len(p) for p in parts]
    rows = dict(zip(types, parts))
    if sum(n > 0 for n in sizes) == 1:
        return OfOneType(rows, types, next(i for i, n in enumerate(sizes) if n), call)
    number = np.repeat(np.arange(len(types), dtype=np.int32), sizes)
    row = np.concatenate([np.arange(n) for n in sizes]) if sizes else np.zeros(0, np.int64)
    time = np.concatenate([p.time for p in parts]) if parts else np.zeros(0, np.int64)
    at = np.concatenate([_places(p) for p in parts]) if parts else np.zeros(0, np.int64)
    if len(time):
        made = np.concatenate([_makers(p) for p in parts])
        order, time = merge(np.cumsum(sizes), time, at, made)
        number, row, at = number[order], row[order], at[order]
    return Stream(rows, types, number, row, time, at, call.start, call.since, call.frontier, call.kind)


def _makers(rows: Rows) -> np.ndarray:
    return constant(-1, len(rows), np.int32) if rows.derived is None else rows.derived


def _places(rows: Rows) -> np.ndarray:
    return constant(INSTANT, len(rows)) if rows.at is None else rows.at


def constant(value: int, n: int, dtype: type = np.int64) -> np.ndarray:
    """``value`` so many times, which takes the memory of one; to be read only."""
    found: np.ndarray = np.ndarray(n, dtype, _one(value, dtype), 0, 0)
    return found


@lru_cache(256)
def _one(value: int, dtype: type) -> bytes:
    return np.array(value, dtype).tobytes()


# -- rows by several keys ----------------------------------------------------------------------------------------------
#: keys with fewer values than so many per row are counted, which is several times as fast as a sort; only among so many
#: rows that kernels are compiled
DENSE, MANY = 4, CACHED
_ALL = np.zeros(0, np.bool_)
#: later than every tick
_OPEN = int(np.iinfo(np.int64).max)


def ordered(keys: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers in the order of int64 keys, the first one first; and which of these rows are alike in all of them
    with a neighbour."""
    one = packed(keys)
    by = np.lexsort(keys[::-1]) if one is None else _by_number(one)
    same = np.ones(max(0, len(by) - 1), np.bool_)
    for key in keys if one is None else [one]:
        here = key[by]
        same &= here[1:] == here[:-1]
    return by, np.append(same, False) | np.append(False, same) if len(by) else same


def stable_order(keys: Sequence[np.ndarray]) -> np.ndarray:
    """Row numbers in the order of int64 keys, the first one first; rows that are alike in all of them stay as they
    stand."""
    one = packed(keys)
    return np.lexsort(keys[::-1]) if one is None else _by_number(one)


def _by_number(key: np.ndarray) -> np.ndarray:
    """Row numbers in the order of a key of at least 0; rows alike in it stay as they stand."""
    greatest, bits = int(key.max(initial=0)), max(1, len(key).bit_length())
    if len(key) >= MANY and greatest < DENSE * len(key):
        return group_rows(key, greatest + 1, _ALL)[0]
    if greatest >= 1 << (63 - bits):
        return np.argsort(key, kind="stable")
    # numbers are sorted several times as fast as rows by them: the row stands in each
    numbers = key << bits
    numbers += np.arange(len(key))
    numbers.sort()
    numbers &= (1 << bits) - 1
    return numbers


def packed(keys: Sequence[np.ndarray]) -> np.ndarray | None:
    """One key in the order of several, by which sorting is several times as fast; None if that takes more bits than
    there are."""
    out, size = np.zeros(0, np.int64), 1
    if not len(keys[0]):
        return out
    for key in keys:
        least, most = int(key.min()), int(key.max())
        open_ = most == _OPEN
        if open_:  # what has no end is taken to be a tick later than all others
            known = key[key != _OPEN]
            most = max(least, int(known.max()) if len(known) else least - 1) + 1
        size *= most - least + 1
        if size >= 1 << 62 or least == _OPEN:
            return None
        if open_:
            key = np.minimum(key, most)
        if not len(out):
            out = key - least
            continue
        out *= most - least + 1
        out += key
        out -= least
    return out
