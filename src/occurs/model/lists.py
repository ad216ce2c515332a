"""Columns of lists: the one Arrow type in which they are read, whoever brings them (common.md, sections 1, 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from occurs.model.nesting import DEEPEST
from occurs.model.types import Type, arrow_type, from_arrow, widen
from occurs.model.values import python_values


def is_list(t: pa.DataType) -> bool:
    """Is it a type of lists?  Not of views of lists: Arrow 26 loses elements when it casts them."""
    return any(test(t) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def list_type(t: pa.DataType) -> pa.DataType | None:
    """The type in which a column of lists is read: ``list`` of int64, double, string, bool, timestamp[us, UTC], null,
    of such lists, or of structs of all these.  None if it is no list, nested deeper than ``DEEPEST``, or of anything
    else (maps, bytes, ..): such a column is left out, as all that Occurs has no type for."""
    return _part(t, DEEPEST) if is_list(t) else None


def _part(t: pa.DataType, depth: int) -> pa.DataType | None:
    if depth == 0:
        return None
    if is_list(t):
        inner = _part(t.value_type, depth - 1)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_struct(t):
        fields = [(f.name, _part(f.type, depth - 1)) for f in t]
        return None if any(k is None for _, k in fields) else pa.struct(fields)
    found = from_arrow(t)
    return None if found is None else arrow_type(found)


def fit_lists(column: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """A column as lists of the type ``wanted``, null where something in a list does not fit."""
    if column.type == wanted:
        return column
    try:
        return column.cast(wanted)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.chunked_array([one_by_one(python_values(column), wanted)], wanted)


def one_by_one(values: Sequence[Any], wanted: pa.DataType) -> pa.Array:
    """Values as lists of the type ``wanted``, null where something in a list does not fit."""
    out = []
    for value in values:
        try:
            out.append(pa.array([value], wanted))
        except (ValueError, TypeError, OverflowError):  # errors of Arrow among them
            out.append(pa.nulls(1, wanted))
    return pa.concat_arrays(out) if out else pa.array([], wanted)


def joint(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """The least of the types of :func:`list_type` (or inside of them) that holds both, or None."""
    if a == b:
        return a
    if pa.types.is_null(a) or pa.types.is_null(b):
        return b if pa.types.is_null(a) else a
    if is_list(a) and is_list(b):
        inner = joint(a.value_type, b.value_type)
        return None if inner is None else pa.list_(inner)
    one, other = from_arrow(a), from_arrow(b)
    both = widen(one, other) if one is not None and other is not None else None
    return None if both is None else arrow_type(both)


def times_as(by: pa.DataType, t: pa.DataType) -> pa.DataType:
    """A type with ``by`` for timestamps, in its parts, too."""
    if is_list(t):
        return pa.list_(times_as(by, t.value_type))
    if pa.types.is_struct(t):
        return pa.struct([(f.name, times_as(by, f.type)) for f in t])
    return by if pa.types.is_timestamp(t) else t


def named_list(name: str) -> pa.DataType | None:
    """The type of ``list<int>``, ``list<list<string>>``, ..; None if the name is of another form."""
    if not (name.startswith("list<") and name.endswith(">")):
        return None
    inner = name[len("list<") : -1].strip()
    if name.count("<") > DEEPEST:
        return None
    plain = {str(t): t for t in (Type.INT, Type.FLOAT, Type.STRING, Type.BOOL, Type.TIMESTAMP)}
    of = arrow_type(plain[inner]) if inner in plain else named_list(inner)
    return None if of is None else pa.list_(of)


def in_order(value: Any) -> tuple[Any, ...]:
    """What values of such a column are sorted by: null least, then element by element."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return (0,)
    if isinstance(value, dict):
        return (1, tuple(map(in_order, value.values())))
    return (1, tuple(map(in_order, value))) if isinstance(value, list) else (1, value)
