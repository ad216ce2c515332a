"""What a row pattern keeps between calls (match-recognize.md, section 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.kernels.row_index import group_rows
from occurs.operators.keys import Keys
from occurs.operators.layers import Layers, positions
from occurs.operators.merging import INSTANT
from occurs.operators.rows import Rows

_ALL = np.zeros(0, np.bool_)
_NONE = np.zeros(0, np.int64)


@dataclass(eq=False)
class Waiting:
    """What is kept of some partitions.

    ``code``: of the partitions, ascending; ``number``: how many matches each had, -1 if none of its rows is gone.
    ``rows``: in the total order, with their serial numbers, None if there are none; ``of``: the partition of each;
    ``before``: does it stand before the one that waits in its partition; ``covered``: is it in a match?
    """

    code: np.ndarray
    number: np.ndarray
    rows: Rows | None
    of: np.ndarray
    before: np.ndarray
    covered: np.ndarray

    @classmethod
    def none(cls) -> Waiting:
        return cls(_NONE, _NONE, None, _NONE, _ALL, _ALL)

    @cached_property
    def size(self) -> int:
        return len(self.of) + int((self.number >= 0).sum())

    @cached_property
    def waits(self) -> tuple[np.ndarray, np.ndarray]:
        """The times of the rows that do not stand before, ascending, and their partitions."""
        if self.rows is None:
            return _NONE, _NONE
        there = np.flatnonzero(~self.before)
        return self.rows.time[there], self.of[there]

    def take(self, which: np.ndarray) -> Waiting:
        """The partitions at these places."""
        if len(which) == len(self.code):
            return self
        code, number = self.code[which], self.number[which]
        if self.rows is None or not len(which):
            return Waiting(code, number, None, _NONE, _ALL, _ALL)
        order, start = self._by_partition
        size = start[which + 1] - start[which]
        end = np.cumsum(size)
        row = np.sort(order[np.repeat(start[which] - end + size, size) + np.arange(end[-1])])
        rows = self.rows.take(row) if len(row) else None
        return Waiting(code, number, rows, self.of[row], self.before[row], self.covered[row])

    @cached_property
    def _by_partition(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows, partition by partition, and where each begins."""
        found: tuple[np.ndarray, np.ndarray] = group_rows(positions(self.code, self.of), len(self.code), _ALL)
        return found

    def over(self, below: Waiting) -> Waiting:
        """With the partitions ``below`` that it has not."""
        if not len(below.code) or not len(self.code):
            return self if len(self.code) else below
        other = np.flatnonzero(positions(self.code, below.code) < 0)
        code, number = (np.concatenate(x) for x in ((below.code[other], self.code), (below.number[other], self.number)))
        order = np.argsort(code, kind="stable")
        row = np.flatnonzero(positions(self.code, below.of) < 0)
        if below.rows is None or not len(row):
            return Waiting(code[order], number[order], self.rows, self.of, self.before, self.covered)
        rows = below.rows.take(row)
        of, before, covered = below.of[row], below.before[row], below.covered[row]
        if self.rows is not None:
            rows = joined(rows, self.rows)
            assert rows.serial is not None
            by = np.argsort(rows.serial, kind="stable")
            rows, of = rows.take(by), np.concatenate((of, self.of))[by]
            before, covered = np.concatenate((before, self.before))[by], np.concatenate((covered, self.covered))[by]
        return Waiting(code[order], number[order], rows, of, before, covered)

    def between(self, after: int, until: int) -> np.ndarray:
        """The partitions in which a row waits that is later than ``after``, but not than ``until``, ascending."""
        time, of = self.waits
        begin, end = np.searchsorted(time, (after, until), "right")
        return np.unique(of[begin:end])


def first_that_waits(layers: Layers[Waiting]) -> int | None:
    """The time of the first row that waits in a partition; None if none does.

    A partition waits for the first of its rows that does not stand before, and rows are in the order of time."""
    found = layers.top.waits[0][:1].tolist()
    if layers.below is not None:
        time, of = layers.below.waits
        hidden, at, many = layers.below.code[layers.hidden], 0, 64
        while at < len(of):  # most of the oldest ones have not changed
            same = positions(hidden, of[at : at + many]) < 0
            if same.any():
                found.append(int(time[at + int(np.argmax(same))]))
                break
            at, many = at + many, 2 * many
    return min(found, default=None)


def joined(old: Rows, new: Rows) -> Rows:
    """New rows behind others; columns are theirs."""
    columns = {}
    for name, column in new.columns.items():
        before = old.columns.get(name)
        columns[name] = Column.widened([Column.nulls(column.type, len(old)) if before is None else before, column])
    labels = new.labels
    if labels is not None and old.labels is not None:
        labels = Labels.concat([old.labels, labels])
    # what has no place of its own was derived when its instant was complete
    at = _both(old.at, len(old), new.at, len(new), INSTANT)
    derived = _both(old.derived, len(old), new.derived, len(new), -1)
    serial = _both(old.serial, len(old), new.serial, len(new), -1)
    return Rows(new.type, np.concatenate([old.time, new.time]), columns, 0, serial, labels, derived, at)


def _both(a: np.ndarray | None, n: int, b: np.ndarray | None, m: int, missing: int) -> np.ndarray | None:
    """One array behind the other; ``missing`` stands for values that are not there."""
    known = a if a is not None else b
    if known is None:
        return None
    parts = [np.full(size, missing, known.dtype) if x is None else x for x, size in ((a, n), (b, m))]
    return np.concatenate(parts)


@dataclass(eq=False)
class Kept:
    """``keys``: the codes of partitions; ``layers``: what is kept of them; ``arrived``: how many rows there were.
    ``names``: of the columns of PARTITION BY."""

    names: tuple[str, ...]
    keys: Keys
    layers: Layers[Waiting]
    arrived: int = 0

    @classmethod
    def fresh(cls, names: tuple[str, ...]) -> Kept:
        """Nothing has happened."""
        return cls(names, Keys([Type.NULL] * len(names), nulls=True), Layers(Waiting.none()))

    @property
    def size(self) -> int:
        """How many rows, and partitions of which rows are gone."""
        return self.layers.size

    def copy(self) -> Kept:
        """Nothing in it changes."""
        return self

    def renewed(self) -> Kept:
        """Without the codes of partitions that are gone, if these are many."""
        if not self.keys.renewal.due(self.keys.size, lambda: self.layers.count):
            return self
        whole = self.layers.whole()
        code = np.arange(len(whole.code))
        of = positions(whole.code, whole.of)
        layers = Layers.of(Waiting(code, whole.number, whole.rows, of, whole.before, whole.covered))
        return Kept(self.names, self.keys.only(whole.code), layers, self.arrived)

    def saved(self) -> Mapping[str, pa.Table]:
        """Its tables; always the same objects."""
        return self._tables

    @cached_property
    def _tables(self) -> dict[str, pa.Table]:
        out, whole = {}, self.layers.whole()
        if whole.rows is not None:
            rows = whole.rows
            columns = {"time": rows.time, "before": whole.before, "covered": whole.covered}
            if rows.labels is not None:
                columns |= {"hi": rows.labels.hi, "lo": rows.labels.lo}
            if rows.at is not None:
                columns["at"] = rows.at
            if rows.derived is not None:
                columns["derived"] = rows.derived
            out["rows"] = pa.table({**columns, **{f".{n}": c.arrow for n, c in sorted(rows.columns.items())}})
        begun = np.flatnonzero(whole.number >= 0)
        if len(begun):
            keys = {f".{n}": v.take(whole.code[begun]).arrow for n, v in zip(self.names, self.keys.values, strict=True)}
            out["partitions"] = pa.table({"number": whole.number[begun], **keys})
        return out


def restored(tables: Mapping[str, pa.Table], source: str, partition: tuple[str, ...], schema: Schema) -> Kept:
    """What :meth:`Kept.saved` has saved."""
    kept = Kept.fresh(partition)
    rows, of, before, covered = None, _NONE, _ALL, _ALL
    if "rows" in tables:
        table = tables["rows"]
        names, n = table.column_names, table.num_rows
        labels = Labels(_numpy(table, "hi"), _numpy(table, "lo")) if "hi" in names else None
        derived = _numpy(table, "derived") if "derived" in names else None
        at = _numpy(table, "at") if "at" in names else None
        columns, serial = _columns(table, schema), np.arange(n)
        rows = Rows(source, _numpy(table, "time"), columns, serial=serial, labels=labels, derived=derived, at=at)
        of = kept.keys.encode([rows.column(name) for name in partition], n)
        before, covered = _numpy(table, "before"), _numpy(table, "covered")
    begun = number = _NONE
    if "partitions" in tables:
        table = tables["partitions"]
        columns, number = _columns(table, schema), _numpy(table, "number")
        begun = kept.keys.encode([columns[name] for name in partition], len(number))
    code = np.union1d(of, begun)
    numbers = np.full(len(code), -1)
    numbers[positions(code, begun)] = number
    return Kept(partition, kept.keys, Layers.of(Waiting(code, numbers, rows, of, before, covered)), len(of))


def _columns(table: pa.Table, schema: Schema) -> dict[str, Column]:
    out = {}
    for name in table.column_names:
        if name.startswith("."):
            array = table.column(name)
            known = Type.TIMESTAMP if name == ".time" else schema.get(name[1:]) or Type.NULL
            out[name[1:]] = Column.of(array, Type.NULL if pa.types.is_null(array.type) else known)
    return out


def _numpy(table: pa.Table, name: str) -> np.ndarray:
    return table.column(name).to_numpy()
