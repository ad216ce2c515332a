"""Columns as text for CSV and JSON lines, whole columns at a time."""

from __future__ import annotations

import datetime as dt
import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.values import python_values


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as text: timestamps in ISO 8601 with Z, whole floats with ``.0``, nested ones as JSON, bytes in base64;
    null stays."""
    t = column.type
    if pa.types.is_dictionary(t):
        return plain_text(column.cast(t.value_type))
    if pa.types.is_string(t):
        return column
    if pa.types.is_timestamp(t):
        zoned = column.cast(pa.timestamp("us", tz="UTC"))
        text = pc.strftime(zoned, format="%Y-%m-%dT%H:%M:%S")
        return pc.binary_join_element_wise(_trim(text), "Z", "")
    if pa.types.is_floating(t):
        text = column.cast(pa.float64()).cast(pa.string())
        return pc.replace_substring_regex(text, r"^(-?\d+)$", r"\1.0")
    if pa.types.is_integer(t) or pa.types.is_boolean(t) or pa.types.is_null(t) or pa.types.is_decimal(t):
        return column.cast(pa.string())
    if is_because(t):
        return _because_text(column)
    values = python_values(column)
    if pa.types.is_union(t):  # each value as what it is
        values = [v if v is None or isinstance(v, str) else dumps(v) for v in values]
    elif pa.types.is_binary(t):
        values = [None if v is None else b64encode(v).decode() for v in values]
    else:
        values = [None if v is None else dumps(v) for v in values]
    return pa.chunked_array([pa.array(values, pa.string())])


def json_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Values as JSON: like :func:`plain_text`, with text and times quoted; null, NaN and infinities are ``null``."""
    t = column.type
    if pa.types.is_dictionary(t):
        return json_text(column.cast(t.value_type))
    if pa.types.is_floating(t):
        column = pc.if_else(pc.is_finite(column), column, None)
    if pa.types.is_union(t):
        return pa.chunked_array([pa.array(["null" if v is None else dumps(v) for v in python_values(column)])])
    text = plain_text(column)
    if pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_timestamp(t) or pa.types.is_binary(t):
        text = _quoted(text)
    return pc.fill_null(text, "null")


def json_objects(columns: Mapping[str, pa.Array], n: int) -> pa.Array:
    """Per row a JSON object of the values of ``columns``, without those that are null: n texts."""
    members = []
    for name, column in columns.items():
        if pa.types.is_null(column.type) or not n:
            continue
        text = json_text(pa.chunked_array([column])).combine_chunks()
        member = pc.binary_join_element_wise(f", {dumps(name)}: ", text, "")
        members.append(pc.if_else(pc.equal(text, "null"), "", member))
    if not members:
        return pa.array(["{}"] * n, pa.string())
    joined = pc.utf8_slice_codeunits(pc.binary_join_element_wise(*members, ""), 2)
    return pc.binary_join_element_wise("{", joined, "}", "")


#: the parts of a constituent, in the column ``because``; its attributes are the text of a JSON object
CONSTITUENT = ("role", "type", "time", "end", "label", "attributes")


def is_because(t: pa.DataType) -> bool:
    """Is it the type of the column ``because``?"""
    return pa.types.is_list(t) and pa.types.is_struct(t.value_type) and tuple(t.value_type.names) == CONSTITUENT


def _because_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of constituents as JSON, their attributes as objects."""
    return pa.chunked_array([_lists_of_constituents(chunk) for chunk in column.chunks], pa.string())


def _lists_of_constituents(lists: pa.ListArray) -> pa.Array:
    parts: list[Any] = []
    for name, values in zip(CONSTITUENT, lists.flatten().flatten(), strict=True):
        text = values if name == "attributes" else json_text(pa.chunked_array([values])).combine_chunks()
        parts += [f"{', ' if parts else '{'}{dumps(name)}: ", text]
    objects = pc.binary_join_element_wise(*parts, "}", "") if len(lists) else pa.array([], pa.string())
    sizes = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    own = pa.ListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(sizes)]), pa.int32()), objects)
    text = pc.binary_join_element_wise("[", pc.binary_join(own, ", "), "]", "")
    return pc.if_else(lists.is_valid(), text, pa.scalar(None, pa.string()))


def _quoted(text: pa.ChunkedArray) -> pa.ChunkedArray:
    if pc.any(pc.match_substring_regex(text, r'[\x00-\x1f"\\]')).as_py():
        # each distinct value once, by the standard library's rules
        coded = text.dictionary_encode().unify_dictionaries().combine_chunks()
        coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
        words = pa.array([json.dumps(v, ensure_ascii=False) for v in coded.dictionary.to_pylist()], pa.string())
        return pa.chunked_array([pc.take(words, coded.indices)])
    return pc.binary_join_element_wise('"', text, '"', "")


def _trim(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """No fraction of a second where it is zero."""
    return pc.replace_substring_regex(pc.replace_substring_regex(text, r"(\.\d*?)0+$", r"\1"), r"\.$", "")


def dumps(value: Any) -> str:
    """JSON of a nested value; times in ISO 8601."""
    return json.dumps(value, ensure_ascii=False, default=_other)


def _other(value: Any) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, dt.datetime):
        return value.isoformat().replace("+00:00", "Z")
    return str(value)
