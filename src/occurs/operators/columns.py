"""Columns: the values of one attribute for many rows, as NumPy arrays where that is possible, else as Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.types import Type, widen
from occurs.operators.growing import SHORT, Texts, behind

_NUMPY = {
    Type.INT: np.dtype(np.int64),
    Type.FLOAT: np.dtype(np.float64),
    Type.BOOL: np.dtype(np.bool_),
    Type.TIMESTAMP: np.dtype(np.int64),
    Type.DURATION: np.dtype(np.int64),
}
_ARROW = {type: pa.from_numpy_dtype(dtype) for type, dtype in _NUMPY.items()}


class Column:
    """Values of one type.  Numbers, booleans and times: ``values`` (n) with ``valid`` (n booleans, None = no nulls);
    strings: an Arrow array, which may be a dictionary, and ``texts`` if they have grown.  Never changed in place."""

    __slots__ = ("_arrow", "_decoded", "_texts", "_valid", "_values", "type")

    def __init__(
        self, type: Type, values: np.ndarray | None, valid: np.ndarray | None, arrow: pa.Array | None = None,
        texts: Texts | None = None,
    ):  # fmt: skip
        self.type = type
        self._values = values
        self._valid = valid
        self._arrow: Any = arrow
        self._decoded: Any = None
        self._texts = texts

    @classmethod
    def of(cls, array: pa.Array | pa.ChunkedArray, type: Type) -> Column:
        """From an Arrow array of ``type`` (timestamps become int64 microseconds)."""
        if isinstance(array, pa.ChunkedArray):
            if pa.types.is_dictionary(array.type):
                array = array.unify_dictionaries()
            array = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
        if type in _NUMPY:
            if pa.types.is_null(array.type):
                n = len(array)
                return cls(type, np.zeros(n, _NUMPY[type]), np.zeros(n, np.bool_) if n else None)
            if pa.types.is_timestamp(array.type):
                array = array.cast(pa.timestamp("us", tz=array.type.tz)).cast(pa.int64())
            valid = None
            if array.null_count:
                valid = array.is_valid().to_numpy(zero_copy_only=False)
                array = pc.fill_null(array, False if type is Type.BOOL else 0)
            values = array.to_numpy(zero_copy_only=False)
            return cls(type, values.astype(_NUMPY[type], copy=False), valid)
        if pa.types.is_dictionary(array.type):
            if type is Type.STRING and pa.types.is_string(array.type.value_type) and not array.dictionary.null_count:
                return cls(type, None, None, array)
            array = array.dictionary_decode()
        if type is Type.STRING and array.type != pa.string():
            array = array.cast(pa.string())
        return cls(type, None, None, array)

    @classmethod
    def computed(cls, array: pa.Array, type: Type) -> Column:
        """The values of an expression as a column of ``type``: ints become floats."""
        return cls.of(array, Type.INT if type.numeric and pa.types.is_integer(array.type) else type).cast(type)

    @classmethod
    def nulls(cls, type: Type, n: int) -> Column:
        if type in _NUMPY:
            return cls(type, np.zeros(n, _NUMPY[type]), np.zeros(n, np.bool_))
        return cls(type, None, None, pa.nulls(n, pa.string() if type is Type.STRING else pa.null()))

    def __len__(self) -> int:
        return len(self._values) if self._values is not None else len(self._arrow)

    @property
    def numeric(self) -> bool:
        """Are ``values`` and ``valid`` to be had?"""
        return self._values is not None

    @property
    def values(self) -> np.ndarray:
        assert self._values is not None
        return self._values

    @property
    def valid(self) -> np.ndarray | None:
        return self._valid

    def is_valid(self) -> np.ndarray:
        """Booleans (n)."""
        if self._values is None:
            return self._arrow.is_valid().to_numpy(zero_copy_only=False)
        return np.ones(len(self), np.bool_) if self._valid is None else self._valid

    @property
    def arrow(self) -> pa.Array:
        """As Arrow: int64, double, bool, string, timestamp[us]; durations as int64."""
        if self._arrow is None:
            assert self._values is not None
            mask = None if self._valid is None else ~self._valid
            plain = pa.array(self._values, _ARROW.get(self.type), mask=mask)
            self._arrow = plain.view(pa.timestamp("us")) if self.type is Type.TIMESTAMP else plain
        elif pa.types.is_dictionary(self._arrow.type):
            if self._decoded is None:
                self._decoded = self._arrow.dictionary_decode()
            return self._decoded
        return self._arrow

    @property
    def texts(self) -> pa.Array:
        """The same; texts may be a dictionary (without nulls in it), as they came in."""
        return self.arrow if self._arrow is None else self._arrow

    def plain(self) -> Column:
        """The same; texts not as a dictionary."""
        return self if self._values is not None else Column(self.type, None, None, self.arrow)

    def output(self, timestamp: pa.DataType | None = None) -> pa.Array:
        """As Arrow in the type that users see."""
        if self.type is Type.TIMESTAMP:
            return self.arrow.cast(timestamp or pa.timestamp("us", tz="UTC"))
        return self.arrow

    def take(self, rows: np.ndarray) -> Column:
        if self._values is None:
            return Column(self.type, None, None, self._arrow.take(pa.array(rows)))
        return Column(self.type, self._values.take(rows), None if self._valid is None else self._valid.take(rows))

    def picked(self, rows: np.ndarray) -> Column:
        """These rows; null for -1."""
        none = rows < 0
        if not none.any():
            return self.take(rows)
        if self._values is None:
            return Column(self.type, None, None, self._arrow.take(pa.array(rows, mask=none)))
        if not len(self._values):
            return Column.nulls(self.type, len(rows))
        rows = np.where(none, 0, rows)
        return Column(self.type, self._values[rows], ~none if self._valid is None else ~none & self._valid[rows])

    def slice(self, start: int, stop: int | None = None) -> Column:
        if self._values is None:
            end = len(self._arrow) if stop is None else stop
            texts = None if self._texts is None else self._texts.slice(start, stop)
            return Column(self.type, None, None, self._arrow.slice(start, max(0, end - start)), texts)
        valid = None if self._valid is None else self._valid[start:stop]
        return Column(self.type, self._values[start:stop], valid)

    def cast(self, type: Type) -> Column:
        """Int to float (exact to rounding), null to anything; times and durations are ints of ticks, and back."""
        if type is self.type:
            return self
        if self.type is Type.NULL:
            return Column.nulls(type, len(self))
        ticks = (Type.INT, Type.TIMESTAMP, Type.DURATION)
        if type in ticks and self.type in ticks:
            return Column(type, self.values, self._valid)
        if type is Type.FLOAT and self.type is Type.INT:
            return Column(type, self.values.astype(np.float64), self._valid)
        raise AssertionError(f"no cast from {self.type} to {type}")

    @staticmethod
    def concat(parts: Sequence[Column]) -> Column:
        first = parts[0]
        if len(parts) == 1:
            return first
        if first._values is None:
            return Column(first.type, None, None, pa.concat_arrays([p.arrow for p in parts]))
        valid = None
        if any(p._valid is not None for p in parts):
            valid = np.concatenate([p.is_valid() for p in parts])
        return Column(first.type, np.concatenate([p.values for p in parts]), valid)

    def behind(self, past: Column) -> Column:
        """The same values behind those of the past, which are not copied if there is room (:mod:`.growing`)."""
        if past._values is not None:
            valid = None
            if past._valid is not None or self._valid is not None:
                valid = behind(past.is_valid(), self.is_valid())
            return Column(past.type, behind(past._values, self.values), valid)
        if past.type is Type.STRING and len(past) >= SHORT:
            texts = (past._texts or Texts.of(past.arrow)).behind(Texts.of(self.arrow))
            if texts is not None:
                return Column(past.type, None, None, texts.array(), texts)
        return Column.concat([past, self])

    @staticmethod
    def widened(parts: Sequence[Column]) -> Column:
        """Columns of one attribute behind one another; nulls take any type, ints and floats together are floats."""
        held = parts[0].type
        for p in parts[1:]:
            held = widen(held, p.type) or held
        return Column.concat([p.cast(held) for p in parts])
