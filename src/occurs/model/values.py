"""Values: columns of Arrow in plain layouts, single values as Python and as people see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.nesting import DEEPEST

#: what Arrow and Python raise where one has no form for a value of the other, or no function for a type
_NO_VALUE = (ValueError, OverflowError, RecursionError, NotImplementedError)


#: the types with other layouts, and those that may have such inside
_ODD = frozenset(
    t.id
    for t in (
        pa.string_view(), pa.binary_view(), pa.run_end_encoded(pa.int32(), pa.int64()), pa.struct([]),
        pa.dictionary(pa.int32(), pa.string()),
    )
)  # fmt: skip


def plain_layout(table: pa.Table) -> pa.Table:
    """The table with views of text and bytes as text and bytes, run-end encodings decoded, and the fields of structs as
    columns of their own, called ``a.b``.

    Arrow has only a few functions for these layouts.  Other columns are not copied.
    """
    if _ODD.isdisjoint([t.id for t in table.schema.types]):
        return table
    for _ in range(DEEPEST):
        if not any(pa.types.is_struct(t) for t in table.schema.types):
            break
        table = table.flatten()
    for at, field in enumerate(table.schema):
        column = _plain(table.column(at))
        if column.type != field.type:
            table = table.set_column(at, field.name, column)
    return table


def flattened(item: Mapping[str, Any], whole: Collection[str] = ()) -> dict[str, Any]:
    """An object with the values of the objects in it as its own, called ``a.b``, in the order in which they stand.

    ``whole``: names that are no objects elsewhere: what is an object there stays one, too, and fits nowhere.
    """
    out: dict[str, Any] = {}
    stack = [("", iter(item.items()))]
    while stack:
        prefix, items = stack[-1]
        for name, value in items:
            path = f"{prefix}{name}" if prefix else name
            if not isinstance(value, dict) or path in whole:
                out[path] = value
            if isinstance(value, dict):
                stack.append((f"{path}.", iter(value.items())))
                break
        else:
            stack.pop()
    return out


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    t = column.type
    if pa.types.is_string_view(t):
        return column.cast(pa.string())
    if pa.types.is_binary_view(t):
        return column.cast(pa.binary())
    if pa.types.is_run_end_encoded(t):
        return _plain(pc.run_end_decode(column))
    if pa.types.is_dictionary(t):
        values = _plain(pa.chunked_array([pa.nulls(0, t.value_type)])).type
        if values != t.value_type:
            chunks = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary.cast(values)) for c in column.chunks]
            return pa.chunked_array(chunks, pa.dictionary(t.index_type, values, t.ordered))
    return column


def taken(column: pa.ChunkedArray, index: pa.Array) -> pa.ChunkedArray:
    """The values at some indices, of any type."""
    try:
        return column.take(index)
    except NotImplementedError:  # a slice is possible for every type
        chunks = [chunk for at in index.to_pylist() for chunk in column.slice(at, 1).chunks]
        return pa.chunked_array(chunks, column.type)


def python_value(column: pa.ChunkedArray, at: int) -> Any:
    """The value at an index as Python has it; as text where Python has none (a time beyond its calendar)."""
    try:
        return column[at].as_py()
    except _NO_VALUE:
        text = column.slice(at, 1).combine_chunks().to_string(skip_new_lines=True)
        return str(text).removeprefix("[").removesuffix("]")


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """All values of a column, in the same way."""
    try:
        return column.to_pylist()
    except _NO_VALUE:
        return [python_value(column, at) for at in range(len(column))]


def python_rows(table: pa.Table, at: np.ndarray) -> list[dict[str, Any]]:
    """The rows at some indices as dictionaries, in the same way."""
    try:
        return table.take(pa.array(at)).to_pylist()
    except _NO_VALUE:  # one by one: a slice is possible for every type
        return [{n: python_value(table[n], i) for n in table.column_names} for i in at.tolist()]


def is_text(value: str) -> bool:
    """Can the text be encoded?  One with half of a surrogate pair cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def short(value: Any) -> str:
    """A value as a message shows it, cut if it is long."""
    try:
        text = repr(value) if isinstance(value, str) else str(value)
    except ValueError:  # Python writes no integers of thousands of digits
        return f"a number of {value.bit_length():,} bits"
    return text if len(text) <= 80 else text[:77] + "..."
