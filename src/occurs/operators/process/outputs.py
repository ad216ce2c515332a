"""Items of pipes as rows of a type: which columns they have, and their values in them (common.md, section 4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem
from occurs.model.types import Schema, Type, arrow_type
from occurs.operators.columns import Column
from occurs.operators.process.columns import Col, Plain, Rec, Troo
from occurs.operators.process.documents import exact, text
from occurs.operators.process.kinds import Kind
from occurs.operators.process.values import Bag, Document, Json, Map, Record, Set, Troolean

#: the column of items that are no tuples
VALUE = "value"

_TYPES = {"int": Type.INT, "number": Type.FLOAT, "text": Type.STRING, "bool": Type.BOOL, "time": Type.TIMESTAMP,
          "duration": Type.DURATION, "troolean": Type.STRING, "xml": Type.STRING, "json": Type.STRING,
          "null": Type.NULL}  # fmt: skip
_DTYPES = {Type.INT: np.int64, Type.FLOAT: np.float64, Type.BOOL: np.bool_}
#: values of which it is not known what they are: each as what it is, what has parts as text in JSON
ANYTHING = pa.dense_union(
    [pa.field("bool", pa.bool_()), pa.field("int", pa.int64()), pa.field("number", pa.float64()),
     pa.field("text", pa.string()), pa.field("bytes", pa.binary())]
)  # fmt: skip


def columns_of(kind: Kind) -> tuple[tuple[str, Kind], ...]:
    """The columns of items: those of a tuple, else one that is called ``value``."""
    return ((VALUE, kind),) if kind.columns is None else kind.columns


def schema_of(kind: Kind, about: bool, timestamps: bool) -> Schema:
    """The schema of the type whose rows are items of this type; ``about``: they say what event they speak of."""
    attributes: list[tuple[str, Type]] = []
    records: list[tuple[str, pa.DataType]] = []
    for name, of in columns_of(kind):
        attributes.append((name, _TYPES.get(of.name, Type.RECORD)))
        if attributes[-1][1] is Type.RECORD:
            records.append((name, arrow_of(of)))
    if about:
        attributes.append(("about", Type.TIMESTAMP if timestamps else Type.INT))
    return Schema(tuple(attributes), records=tuple(records))


def arrow_of(kind: Kind) -> pa.DataType:
    """The type of a column in tables; sets and bags are lists, Trooleans and documents texts, images bytes."""
    if kind.collection:
        return pa.list_(_within(kind.args[0]))
    if kind.name == "map":
        return pa.map_(_within(kind.args[0]), _within(kind.args[1]))
    if kind.columns is not None:
        return pa.struct([(n, _within(k)) for n, k in kind.columns])
    if kind.name in ("image", "bytes"):
        return pa.binary()
    return arrow_type(_TYPES[kind.name]) if kind.name in _TYPES else ANYTHING


def _within(kind: Kind) -> pa.DataType:
    """Inside of another value what is not known is text: few readers know unions there."""
    found = arrow_of(kind)
    return pa.string() if found == ANYTHING or pa.types.is_null(found) else found


# --- values ---------------------------------------------------------------------------------------------------------


def columns(items: Col, kind: Kind) -> dict[str, Column]:
    """The values of items in the columns that :func:`columns_of` names."""
    if kind.columns is None:
        return {VALUE: column(items, kind)}
    if isinstance(items, Rec):
        return {n: column(_unless_null(items, items.get(n)), k) for n, k in kind.columns}
    given = [v if isinstance(v, Record) else None for v in items.pylist()]
    out = {}
    for n, k in kind.columns:
        out[n] = _from_values([None if v is None else v.get(n) for v in given], k)
    return out


def _unless_null(tuples: Rec, column: Col) -> Col:
    """A column of tuples, null where the tuple is."""
    gone = tuples.nulls()
    if not gone.any() or not isinstance(column, Plain):
        return column
    return Plain(column.array.take(pa.array(np.arange(len(gone)), mask=gone)))


def column(items: Col, kind: Kind) -> Column:
    """A column of values of one type."""
    t = _TYPES.get(kind.name)
    if kind.name == "troolean" and isinstance(items, Troo):
        return Column.of(items.array, Type.STRING)
    if t is not None and isinstance(items, Plain) and kind.name not in ("xml", "json", "troolean"):
        dtype, values = _DTYPES.get(t), items.values
        if values is not None and dtype is not None and (values.dtype == np.bool_) == (t is Type.BOOL):
            return Column(t, values.astype(dtype, copy=False), None)
        array = items.array
        if t is Type.FLOAT:
            array = array.cast(pa.float64(), safe=False)
        elif t is Type.DURATION and not pa.types.is_null(array.type):
            array = array.cast(pa.int64())
        return Column.of(array, t)
    return _from_values(items.pylist(), kind)


def _from_values(values: list[Any], kind: Kind) -> Column:
    t = _TYPES.get(kind.name)
    found = [_plain(v, kind) for v in values]
    if t is not None and t is not Type.NULL:
        return Column.of(pa.array(found, pa.int64() if t is Type.TIMESTAMP else arrow_type(t)), t)
    if t is Type.NULL:
        return Column.nulls(Type.NULL, len(found))
    wanted = arrow_of(kind)
    return Column(Type.RECORD, None, None, _union(found) if wanted == ANYTHING else pa.array(found, wanted))


def _plain(value: Any, kind: Kind) -> Any:
    """A value as Arrow takes it."""
    if value is None:
        return None
    if kind.name == "any":
        return value
    if kind.name == "number" and isinstance(value, int):
        return float(value)
    if isinstance(value, (tuple, Set, Bag)):
        of = kind.args[0] if kind.args else Kind("any")
        parts = [(v, _inside(v, of)) for v in value]
        if isinstance(value, Set):
            # a number that is written as text stands where numbers stand
            parts.sort(key=lambda p: _ascending(p[0] if isinstance(p[0], (int, float)) else p[1]))
        return [inside for _, inside in parts]
    if isinstance(value, Map):
        if any(a is None for a, _ in value.items):
            raise InputProblem.of("bad-value", "a map with a null key cannot be written to a table")
        k, v = kind.args if kind.args else (Kind("any"), Kind("any"))
        return [(_inside(a, k), _inside(b, v)) for a, b in value.items]
    if isinstance(value, Record) and kind.columns is None:
        return text(value)
    if isinstance(value, Record):
        return {n: _inside(value.get(n), k) for n, k in kind.columns or ()}
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, bool) and kind.name == "troolean":
        return "T" if value else "F"
    return value.source if isinstance(value, (Document, Json)) else value


def _inside(value: Any, kind: Kind) -> Any:
    if kind.name in ("any", "tuple") and kind.columns is None:
        return None if value is None else text(value)
    return _plain(value, kind)


def _union(values: list[Any]) -> pa.Array:
    """Values of several types; nulls are null texts."""
    kinds: list[int] = []
    offsets: list[int] = []
    parts: list[list[Any]] = [[] for _ in range(ANYTHING.num_fields)]
    for v in map(exact, values):
        which = _CODES.get(type(v), 3)
        kinds.append(which)
        offsets.append(len(parts[which]))
        parts[which].append(v if v is None or which != 3 or isinstance(v, str) else text(v))
    children = [pa.array(p, ANYTHING.field(i).type) for i, p in enumerate(parts)]
    names = [ANYTHING.field(i).name for i in range(ANYTHING.num_fields)]
    return pa.UnionArray.from_dense(pa.array(kinds, pa.int8()), pa.array(offsets, pa.int32()), children, names)


_CODES: Mapping[type, int] = {bool: 0, int: 1, float: 2, bytes: 4}


def _ascending(value: Any) -> tuple[Any, ...]:
    """Null least, then false, true, numbers, texts, the rest as it is written."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, (int, float)):
        return (2, -math.inf) if value != value else (2, value)
    return (3, value) if isinstance(value, str) else (4, str(value))
