"""Attribute columns in the types of Occurs, declared or observed (common.md, section 1: null, NaN, lossless casts)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.ticks import cast_what_fits, numbers_in_text, parse_timestamps, timestamps, whole_numbers
from occurs.model.types import Type, arrow_type, from_arrow


def clean(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionaries decoded, NaN read as null."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        nan = pc.is_nan(column)
        if pc.any(nan).as_py():
            column = pc.if_else(nan, None, column)
    return column


#: distinct texts are few if they come so often, on an average
FEW = 4


def few_texts(column: pa.ChunkedArray) -> bool:
    """Is a column a dictionary of few texts, none of them null?"""
    if not (pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type)):
        return False
    texts = [chunk.dictionary for chunk in column.chunks]
    return FEW * sum(map(len, texts)) <= len(column) and not any(t.null_count for t in texts)


def fit(column: pa.ChunkedArray, wanted: Type | None, *, text: bool = False) -> pa.ChunkedArray | None:
    """A cleaned column as ``wanted`` (None: as it is), null where a value does not fit without loss.

    So a value does not fit where the result is null and ``column`` is not.  Text becomes a timestamp if it is ISO 8601;
    numbers and booleans are read from it only if the source is ``text`` (CSV).  None if Occurs has no such type.
    """
    observed = from_arrow(column.type)
    if observed is None:
        return None
    wanted = wanted or observed
    t = arrow_type(wanted)
    if column.type == t:
        return column
    if observed is Type.NULL:
        return column.cast(t)
    if wanted is observed:
        return _same(column, wanted)
    if wanted is Type.FLOAT and observed is Type.INT:
        return _exact_floats(whole_numbers(column))
    if wanted is Type.INT and observed is Type.FLOAT:
        return whole_numbers(column)
    if observed is Type.STRING:
        plain = column.cast(pa.string())
        if wanted is Type.TIMESTAMP:
            return parse_timestamps(plain)
        if text and wanted.numeric:
            return numbers_in_text(plain, t)
        if text and wanted is Type.BOOL:
            return _booleans(plain)
    return pa.chunked_array([pa.nulls(len(column), t)])


def _same(column: pa.ChunkedArray, kind: Type) -> pa.ChunkedArray:
    if kind is Type.INT:
        return whole_numbers(column)
    if kind is Type.TIMESTAMP:
        return timestamps(column)
    return cast_what_fits(column, arrow_type(kind))


def _exact_floats(column: pa.ChunkedArray) -> pa.ChunkedArray:
    out = column.cast(pa.float64(), safe=False)
    ends = pc.min_max(column).as_py()
    if ends["min"] is None or max(-ends["min"], ends["max"]) <= 2**53:
        return out
    inside = pc.less(out, 2.0**63)
    back = pc.if_else(inside, out, None).cast(pa.int64(), safe=False)
    return pc.if_else(pc.equal(back, column), out, None)


def _booleans(text: pa.ChunkedArray) -> pa.ChunkedArray:
    low = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    true = pc.equal(low, "true")
    return pc.if_else(pc.or_(true, pc.equal(low, "false")), true, None)
