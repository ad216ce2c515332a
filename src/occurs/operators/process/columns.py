"""Columns of values of items: Arrow where a type of Arrow fits, else truth values of three kinds, tuples, objects.

A column is immutable.  Its kind follows from the values: two columns are put together as the least kind that holds
both (:func:`concat`), so that nothing has to be known of the items of a pipe before they come.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.operators.process.values import Record, Troolean, encode

#: the numbers of Trooleans in a column of them; NULL: null
FALSE, UNKNOWN, TRUE, NULL = 0, 1, 2, 3
_TROOLEANS = (Troolean.FALSE, Troolean.UNKNOWN, Troolean.TRUE, None)


@cache
def _texts() -> pa.Array:
    """The texts of Trooleans; Arrow imports pandas with the first array that it makes of a list."""
    return pa.array([t.value for t in _TROOLEANS if t is not None])


class Col(ABC):
    """A column."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def take(self, rows: np.ndarray) -> Col:
        """The values at ``rows``; -1: null."""

    @abstractmethod
    def slice(self, first: int, last: int) -> Col:
        """The rows from ``first`` up to, but without ``last``."""

    @abstractmethod
    def pylist(self) -> list[Any]:
        """The values (see :mod:`occurs.operators.process.values`)."""

    @abstractmethod
    def nulls(self) -> np.ndarray:
        """Booleans (n): the nulls."""

    def filter(self, mask: np.ndarray) -> Col:
        return self.take(np.flatnonzero(mask))

    @abstractmethod
    def table(self) -> tuple[str, pa.Table]:
        """What it is, and its values, to be saved."""


def _with_nulls(rows: np.ndarray) -> pa.Array:
    missing = rows < 0
    return pa.array(rows, mask=missing) if missing.any() else pa.array(rows)


class Plain(Col):
    """An Arrow array: int64, float64, bool, text (also as a dictionary), bytes, timestamps in microseconds, null."""

    __slots__ = ("_array", "bools")

    def __init__(self, array: pa.Array | None, bools: np.ndarray | None = None) -> None:
        """``bools``: the values of booleans without nulls, instead of an array or beside it."""
        self._array = array
        self.bools = bools

    @property
    def array(self) -> pa.Array:
        if self._array is None:
            assert self.bools is not None
            self._array = packed(self.bools)
        return self._array

    def __len__(self) -> int:
        return len(self.array) if self.bools is None else len(self.bools)

    def take(self, rows: np.ndarray) -> Col:
        return Plain(self.array.take(_with_nulls(rows)))

    def filter(self, mask: np.ndarray) -> Col:
        return Plain(self.array.filter(packed(mask)))

    def slice(self, first: int, last: int) -> Col:
        if self.bools is not None:
            return Plain(None, self.bools[first:last])
        return Plain(self.array.slice(first, last - first))

    def pylist(self) -> list[Any]:
        array = self.array.view(pa.int64()) if pa.types.is_timestamp(self.array.type) else self.array
        return array.to_pylist()

    def nulls(self) -> np.ndarray:
        if not self.array.null_count:
            return np.zeros(len(self.array), np.bool_)
        return self.array.is_null().to_numpy(zero_copy_only=False)

    def table(self) -> tuple[str, pa.Table]:
        return "plain", pa.table({"v": self.array})


class Troo(Col):
    """Trooleans as int8: 0 F, 1 ?, 2 T, 3 null."""

    __slots__ = ("codes",)

    def __init__(self, codes: np.ndarray) -> None:
        self.codes = codes

    @property
    def array(self) -> pa.Array:
        """As text."""
        missing = self.codes == NULL
        if missing.any():
            return pa.DictionaryArray.from_arrays(np.where(missing, np.int8(0), self.codes), _texts(), mask=missing)
        return pa.DictionaryArray.from_arrays(self.codes, _texts(), safe=False)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: np.ndarray) -> Col:
        if not len(self.codes):
            return Troo(np.full(len(rows), NULL, np.int8))
        return Troo(np.where(rows < 0, np.int8(NULL), self.codes[rows]))

    def slice(self, first: int, last: int) -> Col:
        return Troo(self.codes[first:last])

    def pylist(self) -> list[Any]:
        return [_TROOLEANS[c] for c in self.codes.tolist()]

    def nulls(self) -> np.ndarray:
        return self.codes == NULL

    def table(self) -> tuple[str, pa.Table]:
        return "troolean", pa.table({"v": self.codes})


class Rec(Col):
    """Tuples: a column per name; ``valid`` (n) None: none is null.  ``event``: ``type`` and ``time`` of events."""

    __slots__ = ("columns", "event", "length", "valid")

    def __init__(
        self,
        columns: dict[str, Col],
        length: int,
        valid: np.ndarray | None = None,
        event: tuple[Col, Col] | None = None,
    ) -> None:
        self.columns = columns
        self.length = length
        self.valid = valid
        self.event = event

    def __len__(self) -> int:
        return self.length

    def has(self, name: str) -> bool:
        return name in self.columns or (self.event is not None and name in ("type", "time"))

    def get(self, name: str) -> Col:
        """A column; null if there is none."""
        found = self.columns.get(name)
        if found is None and self.event is not None and name in ("type", "time"):
            found = self.event[0 if name == "type" else 1]
        if found is None:
            return null_col(self.length)
        return found if self.valid is None else found.take(np.where(self.valid, np.arange(self.length), -1))

    def take(self, rows: np.ndarray) -> Col:
        valid = None
        if self.valid is not None or (len(rows) and rows.min() < 0):
            there = rows >= 0
            valid = there if self.valid is None or not self.length else there & self.valid[rows]
        event = None if self.event is None else (self.event[0].take(rows), self.event[1].take(rows))
        return Rec({n: c.take(rows) for n, c in self.columns.items()}, len(rows), valid, event)

    def slice(self, first: int, last: int) -> Col:
        valid = None if self.valid is None else self.valid[first:last]
        event = None if self.event is None else (self.event[0].slice(first, last), self.event[1].slice(first, last))
        return Rec({n: c.slice(first, last) for n, c in self.columns.items()}, last - first, valid, event)

    def pylist(self) -> list[Any]:
        names = list(self.columns)
        parts = [c.pylist() for c in self.columns.values()]
        events: list[Any] = [None] * self.length
        if self.event is not None:
            events = list(zip(self.event[0].pylist(), self.event[1].pylist()))
        rows = [tuple(zip(names, row)) for row in zip(*parts)] if parts else [()] * self.length
        found: list[Any] = [Record(r, e) for r, e in zip(rows, events)]
        if self.valid is not None:
            found = [f if ok else None for f, ok in zip(found, self.valid.tolist())]
        return found

    def nulls(self) -> np.ndarray:
        return np.zeros(self.length, np.bool_) if self.valid is None else ~self.valid

    def table(self) -> tuple[str, pa.Table]:
        return Obj.of(self.pylist()).table()


class Obj(Col):
    """Any values, one by one."""

    __slots__ = ("values",)

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @classmethod
    def of(cls, values: Sequence[Any]) -> Obj:
        out = np.empty(len(values), object)
        for i, v in enumerate(values):
            out[i] = v
        return cls(out)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: np.ndarray) -> Col:
        if not len(self.values):
            return Obj.of([None] * len(rows))
        found = self.values[rows]
        missing = rows < 0
        if missing.any():
            found = found.copy()
            found[missing] = None
        return Obj(found)

    def slice(self, first: int, last: int) -> Col:
        return Obj(self.values[first:last])

    def pylist(self) -> list[Any]:
        return self.values.tolist()

    def nulls(self) -> np.ndarray:
        return np.fromiter((v is None for v in self.values), np.bool_, len(self.values))

    def table(self) -> tuple[str, pa.Table]:
        texts = [json.dumps(encode(v), ensure_ascii=False) for v in self.values]
        return "objects", pa.table({"v": pa.array(texts, pa.string())})


# --- making columns ---------------------------------------------------------------------------------------------------


def null_col(length: int) -> Plain:
    return Plain(pa.nulls(length))


def of_numpy(values: np.ndarray, valid: np.ndarray | None = None) -> Plain:
    """Of int64, float64 or bool values, null where not ``valid``."""
    if valid is not None and not valid.all():
        return Plain(pa.array(values, mask=~valid))
    return Plain(None, values) if values.dtype == np.bool_ else Plain(pa.array(values))


def packed(values: np.ndarray) -> pa.Array:
    """Booleans as an Arrow array: several times as fast as Arrow does it."""
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])


def unpacked(array: pa.Array) -> np.ndarray:
    """The values of an Arrow array of booleans; anything where it is null."""
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), np.bool_)
    first, rest = divmod(array.offset, 8)
    size = (rest + len(array) + 7) // 8
    bits = np.frombuffer(data, np.uint8, size, first)
    return np.unpackbits(bits, count=rest + len(array), bitorder="little")[rest:].view(np.bool_)


def validity(array: pa.Array) -> np.ndarray | None:
    """Which rows are not null; None: all."""
    return None if not array.null_count else unpacked(array.is_valid())


# --- looking into columns ---------------------------------------------------------------------------------------------


def numbers(col: Col) -> tuple[np.ndarray, np.ndarray | None] | None:
    """The int64 or float64 values of a column and which are valid (None: all); None if it has others."""
    if not isinstance(col, Plain):
        return None
    array = col.array
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64), np.zeros(len(array), np.bool_)
    if array.type not in (pa.int64(), pa.float64()):
        return None
    dtype = np.dtype(np.int64) if array.type == pa.int64() else np.dtype(np.float64)
    return _view(array, dtype), validity(array)


def _view(array: pa.Array, dtype: np.dtype) -> np.ndarray:
    data = array.buffers()[1]
    if data is None or not len(array):
        return np.zeros(len(array), dtype)
    return np.frombuffer(data, dtype, len(array), array.offset * dtype.itemsize)


def truths(col: Col) -> np.ndarray | None:
    """Truth values as int8 (0 false, 2 true, 3 null; 1: the Troolean ?); None if the column has others."""
    if isinstance(col, Troo):
        return col.codes
    if not isinstance(col, Plain):
        return None
    if col.bools is not None:
        return col.bools.view(np.int8) << 1
    if pa.types.is_null(col.array.type):
        return np.full(len(col), NULL, np.int8)
    if not pa.types.is_boolean(col.array.type):
        return None
    found = unpacked(col.array).view(np.int8) << 1
    valid = validity(col.array)
    return found if valid is None else np.where(valid, found, np.int8(NULL))


def of_truths(codes: np.ndarray, troolean: bool) -> Col:
    """The column of such truth values."""
    if troolean:
        return Troo(codes.astype(np.int8, copy=False))
    missing = codes == NULL
    return of_numpy(codes == TRUE, ~missing if missing.any() else None)
