"""Making columns of values of items: of Python values, of Arrow, one behind another."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.lists import list_type, times_as
from occurs.operators.process.columns import FALSE, NULL, TRUE, UNKNOWN, Col, Obj, Plain, Rec, Troo, null_col
from occurs.operators.process.values import Record, Troolean, decode


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


def column_of(values: Sequence[Any]) -> Col:
    """The narrowest column of such values."""
    kinds = {type(v) for v in values}
    kinds.discard(type(None))
    if not kinds:
        return null_col(len(values))
    if kinds == {bool}:
        return Plain(pa.array(values, pa.bool_()))
    if kinds == {int}:
        return Plain(pa.array(values, pa.int64()))
    if kinds == {float}:
        return Plain(pa.array(values, pa.float64(), from_pandas=False))
    if kinds == {int, float} and all(abs(v) <= 2**53 for v in values if type(v) is int):
        return Plain(pa.array([None if v is None else float(v) for v in values], pa.float64(), from_pandas=False))
    if kinds == {str}:
        return Plain(pa.array(values, pa.string()))
    if kinds == {bytes}:
        return Plain(pa.array(values, pa.binary()))
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


def concat(parts: Sequence[Col]) -> Col:
    """One column behind another."""
    parts = [p for p in parts if len(p)] or list(parts[:1])
    if len(parts) == 1:
        return parts[0]
    if all(isinstance(p, Plain) for p in parts):
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
    if any(pa.types.is_dictionary(t) for t in types):
        if len(types) == 1 and all(a.dictionary.equals(arrays[0].dictionary) for a in arrays[1:]):
            first = arrays[0].dictionary
            return Plain(pa.DictionaryArray.from_arrays(pa.concat_arrays([a.indices for a in arrays]), first))
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
