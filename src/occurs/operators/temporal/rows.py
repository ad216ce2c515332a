"""The rows of a call as columns: which instance they belong to, what they leave behind (temporal-logic.md 4.1, 8)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.expr.dialect import LOGIC
from occurs.expr.evaluate import select
from occurs.expr.tree import Binary, Literal, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.sorting import group_rows
from occurs.operators.rows import Rows
from occurs.operators.temporal.instance_keys import Keys
from occurs.operators.temporal.tables import (
    OPS,
    PUT,
    TRUNCATE,
    Shape,
    Table,
    changed,
    last_of,
    old_row,
    written,
)

TABLE, STATE, EVENT = "table", "state", "event"


@dataclass(frozen=True)
class Stream:
    """Rows of one type that belong to instances.

    ``keyed``: per generic variable the column that has its value; ``fixed``: (column, literal) that rows must have;
    ``where``: (column, operator, literal) of rows that count, all others are as if they were gone.  ``wakes``: do they
    make states of a history?
    """

    kind: str
    shape: Shape
    keyed: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Literal], ...] = ()
    where: tuple[tuple[str, str, Literal], ...] = ()
    wakes: bool = False


@dataclass(frozen=True)
class Ordered:
    """The rows of a stream, sorted by (code, time), those of one time in their order.

    ``row``: the number of the row in the call, -1 if it is none of them; ``put``: is there a row afterwards?
    """

    code: np.ndarray
    time: np.ndarray
    row: np.ndarray
    put: np.ndarray

    def __len__(self) -> int:
        return len(self.code)


class Reader:
    """The rows of one type in a call."""

    def __init__(self, shape: Shape, kind: str, rows: Rows, keys: Keys, time: TimeKind) -> None:
        self.shape, self.kind, self.rows, self.keys, self.time_kind = shape, kind, rows, keys, time
        self.ops = self._ops() if kind == TABLE else None
        self._codes: dict[tuple[str, ...], np.ndarray] = {}
        self._ordered: dict[Stream, Ordered] = {}

    def codes(self, columns: tuple[str, ...]) -> np.ndarray:
        """The instance of each row by the values of its columns, -1 where one is null."""
        found = self._codes.get(columns)
        if found is None:
            found = self.keys.encode([self.column(c) for c in columns], len(self.rows))
            self._codes[columns] = found
        return found

    def column(self, name: str, type_: Type | None = None) -> Column:
        """A column; a declared one that is missing is null."""
        found = self.rows.columns.get(name)
        return Column.nulls(type_ or Type.NULL, len(self.rows)) if found is None else found

    def _ops(self) -> np.ndarray | None:
        """What each row does to its table, None if all are put."""
        column = self.rows.columns.get("op")
        if column is None or not len(self.rows) or column.type is Type.NULL:
            return None
        encoded = column.arrow.dictionary_encode()
        if not len(encoded.dictionary):
            return None
        names = [*encoded.dictionary.to_pylist(), None]
        found = np.array([OPS.get(n, "") for n in names])
        of = found[encoded.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)]
        if "" in found:
            at = int(np.flatnonzero(of == "")[0])
            text = f"{self.shape.name} at {self.rows.time[at]}: {column.arrow[at].as_py()!r} is not a valid op"
            raise InputProblem.of("bad-value", text, value=column.arrow[at].as_py())
        return None if (of == PUT).all() else of

    def ordered(self, stream: Stream) -> Ordered:
        """The rows of a stream."""
        stream = replace(stream, wakes=False)
        found = self._ordered.get(stream)
        if found is None:
            found = self._ordered[stream] = self._sorted(stream)
        return found

    def _sorted(self, stream: Stream) -> Ordered:
        n = len(self.rows)
        code = self.codes(stream.keyed)
        keep = self._kept(stream, n)
        put = np.ones(n, np.bool_) if self.ops is None else self.ops == PUT
        for name, op, value in stream.where:
            put = put & self._holds(name, op, value)
        whole = None if self.ops is None else self.ops == TRUNCATE
        moved = self._moved(stream)
        if (whole is None or not whole.any()) and not len(moved[0]):
            order, _ = group_rows(code, self.keys.size, keep)
            return Ordered(code[order], self.rows.time[order], order, put[order])
        return self._with_more(code, keep, put, whole, moved)

    def without_key(self, stream: Stream) -> int:
        """How many rows of a stream belong to no instance."""
        without = self.codes(stream.keyed) < 0
        return int((without if self.ops is None else without & (self.ops == PUT)).sum())

    def _kept(self, stream: Stream, n: int) -> np.ndarray:
        """Which rows have the fixed values; empty: all."""
        if not stream.fixed:
            return np.zeros(0, np.bool_)
        keep = np.ones(n, np.bool_)
        for name, value in stream.fixed:
            keep &= self._holds(name, "=", value)
        if self.ops is not None:
            keep |= self.ops == TRUNCATE
        return keep

    def _holds(self, name: str, op: str, value: Literal) -> np.ndarray:
        """In which rows a column compares with a literal."""
        column = self.column(name).arrow
        test = Binary(op, Ref(None, name), value)
        return select(test, lambda _: column, len(self.rows), kind=self.time_kind, dialect=LOGIC)[0]

    def _moved(self, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
        """(rows, codes before) of rows whose ``old`` has another key."""
        none = np.zeros(0, np.int64)
        column = self.rows.columns.get("old")
        if self.kind != TABLE or column is None or column.type is Type.NULL or not self.shape.keys:
            return none, none
        there = np.flatnonzero(column.is_valid())
        if not len(there):
            return none, none
        one = self.rows.take(there)
        table, own = Table(self.shape), written(one, self.shape)
        olds = [old_row(self.shape, w.old or "", int(t)) for w, t in zip(own, one.time, strict=True)]
        at = [i for i, (old, w) in enumerate(zip(olds, own, strict=True)) if table.key(old) != table.key(w.row)]
        columns = []
        for name in stream.keyed:
            place = self.shape.columns.index(name)
            values = [olds[i][place] for i in at]
            columns.append(Column.of(pa.array(values, self.column(name).arrow.type), self.column(name).type))
        codes = self.keys.encode(columns, len(at))
        for name, value in stream.fixed:
            place = self.shape.columns.index(name)
            codes = np.where([olds[i][place] == value.value for i in at], codes, -1)
        return there[at], codes

    def _with_more(
        self,
        code: np.ndarray,
        keep: np.ndarray,
        put: np.ndarray,
        whole: np.ndarray | None,
        moved: tuple[np.ndarray, np.ndarray],
    ) -> Ordered:
        """With the rows that go: all of a table that is truncated, those whose key changes."""
        mine = code >= 0
        if len(keep):
            mine &= keep
        if whole is not None:
            mine &= ~whole
        row = np.flatnonzero(mine)
        codes, places, rows, puts = [code[row]], [row], [row], [put[row]]
        for at in np.flatnonzero(whole) if whole is not None else ():
            codes.append(np.arange(self.keys.size))
            places.append(np.full(self.keys.size, at))
        codes.append(moved[1][moved[1] >= 0])
        places.append(moved[0][moved[1] >= 0])
        rows += [np.full(len(c), -1) for c in codes[1:]]
        puts += [np.zeros(len(c), np.bool_) for c in codes[1:]]
        all_codes, place = np.concatenate(codes), np.concatenate(places)
        order = np.lexsort((np.concatenate(rows) >= 0, place, all_codes))
        time = self.rows.time[place[order]]
        return Ordered(all_codes[order], time, np.concatenate(rows)[order], np.concatenate(puts)[order])

    # --- conflicts ----------------------------------------------------------------------------------------------------

    def agree(self, found: Ordered, stream: Stream) -> None:
        """Rows of one time write the same values, or a sequence orders them.  Raises InputProblem."""
        if self.kind == EVENT or len(found) < 2:
            return
        same = np.flatnonzero((found.code[1:] == found.code[:-1]) & (found.time[1:] == found.time[:-1])) + 1
        if not len(same):
            return
        sequence = self.rows.columns.get("sequence")
        a, b = found.row[same - 1], found.row[same]
        if sequence is not None and sequence.type is not Type.NULL:
            both = (a >= 0) & (b >= 0)
            known = sequence.is_valid()
            equal = (sequence.values[a] == sequence.values[b]) & (known[a] == known[b])
            same = same[~both | equal]
        for time in dict.fromkeys(found.time[same].tolist()):
            group = self.rows.take(np.flatnonzero(self.rows.time == time))
            own = written(group, self.shape)
            if self.kind == TABLE:
                changed(Table(self.shape), own, time)
                continue
            places = [self.shape.columns.index(c) for c in stream.keyed]
            by_key: dict[tuple[Any, ...], list[Any]] = {}
            for w in own:
                by_key.setdefault(tuple(w.row[i] for i in places), []).append(w)
            for rows in by_key.values():
                last_of(self.shape, rows, time)
