"""Columns of values of items: Arrow where a type of Arrow fits, else truth values of three kinds, tuples, objects.

A column is immutable.  Its kind follows from the values: two columns are put together as the least kind that holds
both (:func:`concat`), so that nothing has to be known of the items of a pipe before they come.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.columnar import floats, ints, nulls_of
from occurs.model.lists import list_type, times_as
from occurs.model.time import TimeKind
from occurs.operators.process.values import Fault, Record, Troolean, decode, encode, number

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

    __slots__ = ("_array", "values")

    def __init__(self, array: pa.Array | None, values: np.ndarray | None = None) -> None:
        """``values``: of int64, float64 or booleans without nulls, instead of an array or beside it."""
        self._array = array
        self.values = values

    @property
    def array(self) -> pa.Array:
        if self._array is None:
            assert self.values is not None
            self._array = packed(self.values) if self.values.dtype == np.bool_ else pa.array(self.values)
        return self._array

    @property
    def bools(self) -> np.ndarray | None:
        """The values of booleans without nulls, if they are at hand."""
        return self.values if self.values is not None and self.values.dtype == np.bool_ else None

    def __len__(self) -> int:
        return len(self.array) if self.values is None else len(self.values)

    def take(self, rows: np.ndarray) -> Col:
        if self.values is not None and not (len(rows) and rows.min() < 0):
            return Plain(None, self.values[rows])
        return Plain(self.array.take(_with_nulls(rows)))

    def filter(self, mask: np.ndarray) -> Col:
        if self.values is not None:
            return Plain(None, self.values[mask])
        return Plain(self.array.filter(packed(mask)))

    def slice(self, first: int, last: int) -> Col:
        if self.values is not None:
            return Plain(None, self.values[first:last])
        return Plain(self.array.slice(first, last - first))

    def pylist(self) -> list[Any]:
        if self.values is not None:
            return self.values.tolist()
        array = self.array.view(pa.int64()) if pa.types.is_timestamp(self.array.type) else self.array
        return array.to_pylist()

    def nulls(self) -> np.ndarray:
        return nulls_of(self.array) if self.values is None else np.zeros(len(self.values), np.bool_)

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


# --- Making columns ---------------------------------------------------------------------------------------------------


def null_col(length: int) -> Plain:
    return Plain(pa.nulls(length))


def of_numpy(values: np.ndarray, valid: np.ndarray | None = None) -> Plain:
    """Of int64, float64 or bool values, null where not ``valid``."""
    if valid is not None and not valid.all():
        return Plain(pa.array(values, mask=~valid))
    return Plain(None, values)


def of_truths(codes: np.ndarray, troolean: bool) -> Col:
    """The column of such truth values."""
    if troolean:
        return Troo(codes.astype(np.int8, copy=False))
    missing = codes == NULL
    return of_numpy(codes == TRUE, ~missing if missing.any() else None)


_ARROW = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string(), bytes: pa.binary()}


def column_of(values: Sequence[Any]) -> Col:
    """The narrowest column of such values."""
    kinds = {type(v) for v in values}
    kinds.discard(type(None))
    if not kinds:
        return null_col(len(values))
    plain = _ARROW.get(next(iter(kinds))) if len(kinds) == 1 else None
    if plain is not None:
        return Plain(pa.array(values, plain, from_pandas=False))
    if kinds == {int, float} and all(abs(v) <= 2**53 for v in values if type(v) is int):
        return Plain(pa.array([None if v is None else float(v) for v in values], pa.float64(), from_pandas=False))
    if kinds <= {bool, Troolean}:
        numbers = {None: NULL, Troolean.FALSE: FALSE, Troolean.TRUE: TRUE, Troolean.UNKNOWN: UNKNOWN}
        return Troo(np.array([(TRUE if v else FALSE) if isinstance(v, bool) else numbers[v] for v in values], np.int8))
    if kinds == {Record}:
        return _records(values)
    return Obj.of(values)


def _records(values: Sequence[Record | None]) -> Col:
    there = [v for v in values if v is not None]
    names = [n for n, _ in there[0].columns]
    alike = all([n for n, _ in v.columns] == names and (v.event is None) == (there[0].event is None) for v in there)
    if not alike or len(set(names)) < len(names):
        return Obj.of(values)
    missing: tuple[Any, ...] = (None,) * len(names)
    rows = [missing if v is None else tuple(c for _, c in v.columns) for v in values]
    columns = {n: column_of([r[i] for r in rows]) for i, n in enumerate(names)}
    valid = None if len(there) == len(values) else np.array([v is not None for v in values], np.bool_)
    event = None
    if there[0].event is not None:
        pairs = [(None, None) if v is None or v.event is None else v.event for v in values]
        event = column_of([p[0] for p in pairs]), column_of([p[1] for p in pairs])
    return Rec(columns, len(values), valid, event)


def from_arrow(column: pa.Array | pa.ChunkedArray) -> Col:
    """Of a column of a table: other widths are cast, nested values become objects, times ints, NaN stays."""
    if isinstance(column, pa.ChunkedArray):
        column = _whole(column)
    t = column.type
    if pa.types.is_dictionary(t) and pa.types.is_string(t.value_type):
        return Plain(column)
    if pa.types.is_dictionary(t):
        return from_arrow(column.dictionary_decode())
    if pa.types.is_integer(t):
        return Plain(column.cast(pa.int64()))
    if pa.types.is_floating(t) or pa.types.is_decimal(t):
        return Plain(column.cast(pa.float64()))
    if pa.types.is_boolean(t) or pa.types.is_null(t) or pa.types.is_string(t):
        return Plain(column)
    if pa.types.is_large_string(t) or pa.types.is_string_view(t):
        return Plain(column.cast(pa.string()))
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        zone = t.tz if pa.types.is_timestamp(t) else None
        return Plain(column.cast(pa.timestamp("us", zone)))
    if pa.types.is_binary(t) or pa.types.is_large_binary(t):
        return Plain(column.cast(pa.binary()))
    if pa.types.is_struct(t):
        parts = {t.field(i).name: from_arrow(column.field(i)) for i in range(t.num_fields)}
        valid = column.is_valid().to_numpy(zero_copy_only=False) if column.null_count else None
        return Rec(parts, len(column), valid)
    lists = list_type(t)
    if lists is not None:
        t = times_as(pa.int64(), lists)
        column = column.cast(lists).cast(t)
    return column_of([_value(v, t) for v in column.to_pylist()])


def _value(value: Any, t: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return tuple(_value(v, t.value_type) for v in value)
    if pa.types.is_struct(t):
        return Record(tuple((n, _value(v, t.field(n).type)) for n, v in value.items()))
    return value


def read_table(what: str, table: pa.Table) -> Col:
    """The column that :meth:`Col.table` has written."""
    column = table.column("v")
    if what == "troolean":
        return Troo(column.to_numpy())
    if what == "objects":
        return column_of([decode(json.loads(t)) for t in column.to_pylist()])
    return Plain(_whole(column))


def _whole(column: pa.ChunkedArray) -> pa.Array:
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


class Pool:
    """A short column from which others are gathered; texts come out as a dictionary."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.column = column_of(values)
        self.texts: pa.Array | None = None
        if isinstance(self.column, Plain) and pa.types.is_string(self.column.array.type) and None not in values:
            coded = self.column.array.dictionary_encode()
            self.texts, self.number = coded.dictionary, coded.indices.to_numpy()
            self.distinct = len(self.texts) == len(values)

    def at(self, numbers: np.ndarray) -> Col:
        """The values at ``numbers`` (int32)."""
        if self.texts is None:
            return self.column.take(numbers.astype(np.int64))
        codes = numbers if self.distinct else np.take(self.number, numbers)
        return Plain(pa.DictionaryArray.from_arrays(codes, self.texts, safe=False))


# --- One column behind another ----------------------------------------------------------------------------------------


def concat(parts: Sequence[Col]) -> Col:
    """One column behind another."""
    parts = [p for p in parts if len(p)] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(p, Plain) for p in parts):
        values = [p.values for p in parts]  # type: ignore[attr-defined]
        if all(v is not None and v.dtype == values[0].dtype for v in values):
            return Plain(None, np.concatenate(values))
        found = _concat_plain([p.array for p in parts])  # type: ignore[attr-defined]
        if found is not None:
            return found
    if all(isinstance(p, Troo) for p in parts):
        return Troo(np.concatenate([p.codes for p in parts]))  # type: ignore[attr-defined]
    if all(isinstance(p, Rec) for p in parts):
        together = _concat_tuples(parts)  # type: ignore[arg-type]
        if together is not None:
            return together
    return column_of([v for p in parts for v in p.pylist()])


def _concat_plain(arrays: list[pa.Array]) -> Plain | None:
    types = {a.type for a in arrays}
    if len(types) == 1 and types <= {pa.int64(), pa.float64(), pa.int32()} and not any(a.null_count for a in arrays):
        # the memory of large arrays of NumPy comes in large pages
        return Plain(pa.array(np.concatenate([a.to_numpy() for a in arrays])))
    if any(pa.types.is_dictionary(t) for t in types):
        if len(types) == 1 and all(a.dictionary.equals(arrays[0].dictionary) for a in arrays[1:]):
            first = arrays[0].dictionary
            codes = _concat_plain([a.indices for a in arrays]) or Plain(pa.concat_arrays([a.indices for a in arrays]))
            return Plain(pa.DictionaryArray.from_arrays(codes.array, first, safe=False))
        if types - {pa.null()} == {t for t in types if pa.types.is_dictionary(t)} and len(types - {pa.null()}) == 1:
            wanted = next(iter(types - {pa.null()}))
            joined = pa.chunked_array([a.cast(wanted) if a.type != wanted else a for a in arrays])
            return Plain(_whole(joined.unify_dictionaries()))
        arrays = [a.dictionary_decode() if pa.types.is_dictionary(a.type) else a for a in arrays]
        types = {a.type for a in arrays}
    types.discard(pa.null())
    if not types:
        return Plain(pa.concat_arrays(arrays))
    if types == {pa.int64(), pa.float64()}:
        wanted = pa.float64()
        if any(a.type == pa.int64() and _beyond(a) for a in arrays):
            return None
    elif len(types) == 1:
        wanted = next(iter(types))
    else:
        return None
    return Plain(pa.concat_arrays([a if a.type == wanted else a.cast(wanted) for a in arrays]))


def _beyond(array: pa.Array) -> bool:
    """Is there an int that no float64 is?"""
    found = pc.min_max(array).as_py()
    return found["min"] is not None and (found["min"] < -(2**53) or found["max"] > 2**53)


def _concat_tuples(parts: Sequence[Rec]) -> Rec | None:
    names = list(parts[0].columns)
    if any(list(p.columns) != names or (p.event is None) != (parts[0].event is None) for p in parts[1:]):
        return None
    columns = {n: concat([p.columns[n] for p in parts]) for n in names}
    valid = None
    if any(p.valid is not None for p in parts):
        valid = np.concatenate([np.ones(len(p), np.bool_) if p.valid is None else p.valid for p in parts])
    event = None
    if parts[0].event is not None:
        event = tuple(concat([p.event[i] for p in parts if p.event is not None]) for i in range(2))
    return Rec(columns, sum(map(len, parts)), valid, event)  # type: ignore[arg-type]


# --- Looking into columns ---------------------------------------------------------------------------------------------


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


def numbers(col: Col) -> tuple[np.ndarray, np.ndarray | None] | None:
    """The int64 or float64 values of a column and which are valid (None: all); None if it has others."""
    if not isinstance(col, Plain):
        return None
    if col.values is not None:
        return None if col.values.dtype == np.bool_ else (col.values, None)
    array = col.array
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64), np.zeros(len(array), np.bool_)
    if array.type not in (pa.int64(), pa.float64()):
        return None
    return (ints if array.type == pa.int64() else floats)(array), validity(array)


def need_numbers(col: Col, first: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
    """Numbers and which are valid (None: all).  Raises Fault at what is none; its row counts from ``first`` on."""
    found = numbers(col)
    if found is not None:
        return found
    values = col.pylist()
    for i, v in enumerate(values):
        if v is not None and not number(v):
            raise Fault("bad-value", "is not a number", v, max(0, i - first))
    valid = np.array([v is not None for v in values], np.bool_)
    return np.array([0.0 if v is None else float(v) for v in values]), valid


def truths(col: Col) -> np.ndarray | None:
    """Truth values as int8 (0 false, 2 true, 3 null; 1: the Troolean ?); None if the column has others."""
    if isinstance(col, Troo):
        return col.codes
    if not isinstance(col, Plain):
        return None
    if col.values is not None:
        return col.values.view(np.int8) << 1 if col.values.dtype == np.bool_ else None
    if pa.types.is_null(col.array.type):
        return np.full(len(col), NULL, np.int8)
    if not pa.types.is_boolean(col.array.type):
        return None
    found = unpacked(col.array).view(np.int8) << 1
    valid = validity(col.array)
    return found if valid is None else np.where(valid, found, np.int8(NULL))


# --- The rows that a function is computed for -------------------------------------------------------------------------


@dataclass
class Env:
    """The rows that a function is computed for: ``inputs`` by number, and the variables (a column of each by name)."""

    inputs: Sequence[Col]
    length: int
    kind: TimeKind
    variables: Mapping[str, Callable[[], Col]] = field(default_factory=dict)

    def variable_rows(self) -> Callable[[int], Mapping[str, Any]]:
        """The values of all variables on a row."""
        lists = {n: v().pylist() for n, v in self.variables.items()}
        return lambda i: {n: values[i] for n, values in lists.items()}

    def take(self, rows: np.ndarray) -> Env:
        """Some of the rows."""
        variables = {n: (lambda v=v: v().take(rows)) for n, v in self.variables.items()}
        return Env([c.take(rows) for c in self.inputs], len(rows), self.kind, variables)

    def binding(self, columns: Mapping[str, Col]) -> Env:
        """With these variables."""
        return replace(self, variables={**self.variables, **{n: _constantly(c) for n, c in columns.items()}})


def _constantly(column: Col) -> Callable[[], Col]:
    return lambda: column
