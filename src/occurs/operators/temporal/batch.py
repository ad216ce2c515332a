"""The states of all instances in a call, and what they see (temporal-logic.md 4.1)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type, arrow_type
from occurs.operators.kernels.temporal_states import epochs, firsts, latest
from occurs.operators.temporal.evaluation import Leaves, plain_array, positions
from occurs.operators.temporal.instance_keys import Keys
from occurs.operators.temporal.rows import EVENT, Ordered, Reader, Stream
from occurs.operators.temporal.tree import Generic, Happens, Last, Time

_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Seen:
    """Where the leaves of a trigger come from: per leaf its stream and column.

    ``streams``: all of them; ``query``: the number of the one whose rows activate instances, ``split``: those whose
    rows begin them.  ``every``: the ticks of `observing every`, 0 without.
    """

    streams: tuple[Stream, ...]
    leaves: Mapping[Expr, tuple[int, str]]
    query: int | None = None
    split: tuple[int, ...] = ()
    every: int = 0

    @cached_property
    def alike(self) -> Hashable:
        """Equal for triggers that read the same rows alike."""
        every = tuple(self.columns(i) for i in range(len(self.streams)))
        return self.streams, every, self.query, self.split, self.every

    def columns(self, stream: int) -> tuple[tuple[str, Type], ...]:
        """The columns of a stream whose last values are kept."""
        if self.streams[stream].kind == EVENT:
            return ()
        found = {c: getattr(leaf, "type", None) or Type.NULL for leaf, (s, c) in self.leaves.items() if s == stream}
        return tuple(sorted(found.items()))


@dataclass(frozen=True)
class Carried:
    """The last rows of a stream by ``code`` (ascending), null where there is none."""

    code: np.ndarray
    columns: Mapping[str, pa.Array]


@dataclass(frozen=True)
class Batch:
    """States sorted by (code, time), and what they see; ``where``: per leaf its stream and column; ``names``: the
    generic variables."""

    streams: tuple[Stream, ...]
    where: dict[Expr, tuple[int, str]]
    kind: TimeKind
    keys: Keys
    names: tuple[str, ...]
    readers: Mapping[str, Reader]
    ordered: Sequence[Ordered]
    carried: Sequence[Carried]
    code: np.ndarray
    time: np.ndarray
    found: dict[Expr, pa.Array] = field(default_factory=dict)
    at: dict[int, np.ndarray] = field(default_factory=dict)

    def column(self, leaf: Expr) -> pa.Array:
        """The values of a leaf at all states."""
        if leaf not in self.found:
            self.found[leaf] = self._column(leaf)
        return self.found[leaf]

    def some(self, which: np.ndarray) -> Leaves:
        """The columns of some of the states."""
        at = pa.array(which)
        return lambda leaf: self.column(leaf).take(at)

    def _column(self, leaf: Expr) -> pa.Array:
        if isinstance(leaf, Time):
            return pa.array(self.time).cast(pa.timestamp("us")) if self.kind.timestamp else pa.array(self.time)
        if isinstance(leaf, Generic):
            place = self.names.index(leaf.name)
            return self.keys.values[place].arrow.take(pa.array(self.code))
        stream, name = self.where[leaf]
        at = self.last_rows(stream)
        if isinstance(leaf, Happens):
            return pa.array(self.present(stream, at))
        type_ = getattr(leaf, "type", None) or Type.NULL
        return self.values(stream, at, name, type_, only_now=isinstance(leaf, Last))

    def last_rows(self, stream: int) -> np.ndarray:
        """Per state the last row of a stream up to it, -1 if there is none in this call."""
        if stream not in self.at:
            rows = self.ordered[stream]
            self.at[stream] = latest(rows.code, rows.time, self.code, self.time)
        return self.at[stream]

    def present(self, stream: int, at: np.ndarray) -> np.ndarray:
        """Is there a row at the time of the state itself?"""
        rows = self.ordered[stream]
        return (at >= 0) & (rows.time[at] == self.time) if len(rows) else np.zeros(len(at), np.bool_)

    def values(self, stream: int, at: np.ndarray, name: str, type_: Type, only_now: bool) -> pa.Array:
        """A column of the last rows; of what was kept where this call has none."""
        rows = self.ordered[stream]
        reader = self.readers.get(self.streams[stream].shape.name)
        there = self.present(stream, at) if only_now else at >= 0
        row = rows.row[at] if len(rows) else np.full(len(at), -1)
        there = there & (row >= 0) & (rows.put[at] if len(rows) else False)
        column = plain_array(reader.column(name, type_).arrow) if reader is not None else pa.nulls(0, _physical(type_))
        carried = self.carried[stream]
        if only_now or not len(carried.code) or not (at < 0).any():
            if there.all():
                return column.take(pa.array(row))
            return column.take(pa.array(np.where(there, row, 0), mask=~there))
        old = carried.columns[name]
        if pa.types.is_null(column.type):
            column = column.cast(old.type)
        both = pa.concat_arrays([column, old.cast(column.type)])
        kept = positions(carried.code, self.code)
        where = np.where(there, row, np.where((at < 0) & (kept >= 0), len(column) + kept, -1))
        return both.take(pa.array(np.maximum(where, 0), mask=where < 0))

    def kept(self, stream: int, names: tuple[tuple[str, Type], ...]) -> Carried:
        """The last rows of a stream after this call, with these columns."""
        rows, before = self.ordered[stream], self.carried[stream]
        if not names or not len(rows):
            return before
        end = np.flatnonzero(np.append(rows.code[1:] != rows.code[:-1], True))
        keep = positions(rows.code[end], before.code) < 0
        end = end[rows.put[end] & (rows.row[end] >= 0)]
        code, row = rows.code[end], rows.row[end]
        order = np.argsort(np.concatenate((before.code[keep], code)), kind="stable")
        columns = {}
        for name, type_ in names:
            reader = self.readers[self.streams[stream].shape.name]
            new = plain_array(reader.column(name, type_).arrow).take(pa.array(row))
            new = new.cast(_physical(type_)) if pa.types.is_null(new.type) else new
            old = before.columns[name].filter(pa.array(keep)) if len(before.code) else new.slice(0, 0)
            columns[name] = pa.concat_arrays([old.cast(new.type), new]).take(pa.array(order))
        return Carried(np.concatenate((before.code[keep], code))[order], columns)


def _physical(type_: Type) -> pa.DataType:
    """The Arrow type of a column; times are in microseconds or ticks."""
    return pa.timestamp("us") if type_ is Type.TIMESTAMP else arrow_type(type_)


@dataclass(frozen=True)
class Chosen:
    """States of instances; ``active``: per code, is it active afterwards; ``left``: codes that have left once."""

    code: np.ndarray
    time: np.ndarray
    epoch: np.ndarray
    active: np.ndarray
    left: np.ndarray


@dataclass(frozen=True)
class Span:
    """The time of a call: later than ``since`` (None: from the beginning), up to ``until``.  ``started``: per code, has
    the instance had a state before?"""

    since: int | None
    until: int
    started: np.ndarray


def chosen(seen: Seen, ordered: Sequence[Ordered], active: np.ndarray, span: Span) -> Chosen:
    """The states of histories: where a row is written that is read, and where instances enter; while they are there.
    With `observing every` those of its ticks, too.

    ``active``: per code, is it active before?
    """
    active = active.copy()
    parts = [(o.code, o.time) for s, o in zip(seen.streams, ordered, strict=True) if s.wakes and len(o)]
    if seen.query is None:
        code, time = _united(parts)
        for number in seen.split:
            rows = ordered[number]
            code, time = _since(code, time, rows, active, [ordered[i] for i in seen.split])
        found = Chosen(code, time, np.zeros(len(code), np.int64), active, _NONE)
        return _ticked(seen.every, found, *_begun(found, span)) if seen.every else found
    rows = ordered[seen.query]
    before = active.copy()
    last, there, entered, gone, epoch = epochs(rows.code, rows.time, rows.put, active)
    rows_code, rows_time, there, epoch = rows.code[last], rows.time[last], there[last], epoch[last]
    code, time = _united(parts)
    new_all = new_code, new_time = rows.code[entered], rows.time[entered]
    if len(code):
        same = latest(code, time, new_code, new_time)
        missing = (same < 0) | (time[same] != new_time)
        new_code, new_time = new_code[missing], new_time[missing]
    if len(new_code):
        code, time = _united([(code, time), (new_code, new_time)])
    at = latest(rows_code, rows_time, code, time)
    inside = np.where(at >= 0, there[at], before[code]) if len(rows_code) else before[code]
    rounds = np.where(at >= 0, epoch[at], 0) if len(rows_code) else np.zeros(len(code), np.int64)
    found = Chosen(code[inside], time[inside], rounds[inside], active, np.unique(rows_code[~there]))
    if not seen.every:
        return found
    # of each instance the times at which it enters and leaves take turns
    on, off = np.flatnonzero(before), np.flatnonzero(active)
    begins = np.concatenate((on, rows.code[entered])), np.concatenate((on * 0 + (span.since or 0), new_all[1]))
    ends = np.concatenate((off, rows.code[gone])), np.concatenate((off * 0 + span.until, rows.time[gone] - 1))
    first, end = np.lexsort((begins[1], begins[0])), np.lexsort((ends[1], ends[0]))
    of = begins[0][first]
    again = np.arange(len(of)) - np.searchsorted(of, of)
    return _ticked(seen.every, found, of, begins[1][first], ends[1][end], again)


def _begun(found: Chosen, span: Span) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(codes, begins, ends, activation) of instances that never leave: from their first states on."""
    started = np.flatnonzero(span.started)
    first = np.append(True, found.code[1:] != found.code[:-1]) if len(found.code) else np.zeros(0, np.bool_)
    new_code, new_time = found.code[first], found.time[first]
    new = ~span.started[new_code]
    code = np.concatenate((started, new_code[new]))
    begin = np.concatenate((started * 0 + (span.since or 0), new_time[new]))
    return code, begin, code * 0 + span.until, code * 0


def _ticked(
    every: int, found: Chosen, code: np.ndarray, begin: np.ndarray, end: np.ndarray, epoch: np.ndarray
) -> Chosen:
    """With a state at each multiple of ``every`` in (begin, end] of some activations."""
    first = (begin // every + 1) * every
    count = np.maximum((end - first) // every + 1, 0)
    if not count.any():
        return found
    at = np.repeat(np.arange(len(code)), count)
    step = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
    codes = np.concatenate((found.code, code[at]))
    times = np.concatenate((found.time, first[at] + step * every))
    rounds = np.concatenate((found.epoch, epoch[at]))
    order = np.lexsort((times, codes))
    codes, times, rounds = codes[order], times[order], rounds[order]
    new = firsts(codes, times)
    return Chosen(codes[new], times[new], rounds[new], found.active, found.left)


def _since(
    code: np.ndarray, time: np.ndarray, rows: Ordered, active: np.ndarray, every: Sequence[Ordered]
) -> tuple[np.ndarray, np.ndarray]:
    """Without the states before an instance begins."""
    begins = np.full(len(active), np.iinfo(np.int64).max)
    for o in every:
        new = firsts(o.code, np.zeros(len(o), np.int64))
        np.minimum.at(begins, o.code[new], o.time[new])
    inside = active[code] | (time >= begins[code])
    active |= begins < np.iinfo(np.int64).max
    return code[inside], time[inside]


def _united(parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """(code, time) of several parts that are sorted by it, each once."""
    if not parts:
        return _NONE, _NONE
    code, time = parts[0]
    if len(parts) > 1:
        code = np.concatenate([c for c, _ in parts])
        time = np.concatenate([t for _, t in parts])
        order = np.lexsort((time, code))
        code, time = code[order], time[order]
    first = firsts(code, time)
    return (code, time) if first.all() else (code[first], time[first])
