"""Elements of columns of lists and maps, as columns of their own: ``list[2]``, ``map('k')``, ``a.list[0].c``.

An element is named by its path: attributes with dots before all but the first, indexes of lists from 0, keys of maps
and of records.  A list that is too short and a map without the key have null there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.lists import is_list
from occurs.model.types import Schema, Type, from_arrow

#: names of attributes and keys, and indexes
Path = tuple[str | int, ...]
T = TypeVar("T")

_STEP = re.compile(r"\.?(?P<name>[^.\[\]()']+)|\[(?P<index>\d{1,9})\]|\('(?P<key>(?:[^'\\]|\\.)*)'\)")


def index_step(index: int) -> str:
    """The step to an element of a list, as text.

    >>> "list" + index_step(2)
    'list[2]'
    """
    return f"[{index}]"


def key_step(key: str) -> str:
    """The step to the value of a key, as text.

    >>> "map" + key_step("k")
    "map('k')"
    """
    quoted = key.replace("\\", "\\\\").replace("'", "\\'")
    return f"('{quoted}')"


@lru_cache(4096)
def path_of(name: str) -> Path | None:
    """The path of an element; None if it is the name of no element.

    >>> path_of("a.list[0].c"), path_of("map('k')"), path_of("a.b")
    (('a', 'list', 0, 'c'), ('map', 'k'), None)
    """
    out: list[str | int] = []
    at, special = 0, False
    while at < len(name):
        found = _STEP.match(name, at)
        dot = found is not None and name[at] == "."
        if found is None or (found["name"] is None and at == 0) or (found["name"] is not None and dot is (at == 0)):
            return None
        if found["name"] is not None:
            out.append(found["name"])
        else:
            special = True
            index, key = found["index"], found["key"]
            out.append(re.sub(r"\\(.)", r"\1", key) if index is None else int(index))
        at = found.end()
    return tuple(out) if special else None


def last_name(name: str) -> str:
    """The last name, or key, in that of an attribute or of an element.

    >>> [last_name(n) for n in ("at.lat", "list[2]", "map('x.y')", "list[0].c")]
    ['lat', 'list', 'x.y', 'c']
    """
    path = path_of(name)
    return name.rpartition(".")[2] if path is None else [s for s in path if isinstance(s, str)][-1]


def reached(name: str, columns: Mapping[str, T], inside: Callable[[T, str | int], T | None]) -> T | None:
    """What an element is, found from one of ``columns``; None if there is no such.  ``inside``: one step further."""
    path = path_of(name)
    if path is None:
        return None
    for long in range(len(path), 0, -1):
        first = path[:long]
        column = columns.get(".".join(map(str, first))) if all(isinstance(s, str) for s in first) else None
        if column is None:
            continue
        found: T | None = column
        for step in path[long:]:
            found = None if found is None else inside(found, step)
        return found
    return None


def _type_inside(t: pa.DataType, step: str | int) -> pa.DataType | None:
    if isinstance(step, int):
        return t.value_type if is_list(t) else None
    if pa.types.is_struct(t):
        return t.field(step).type if t.get_field_index(step) >= 0 else None
    keyed = pa.types.is_map(t) and from_arrow(t.key_type) is Type.STRING
    return t.item_type if keyed else None


def with_elements(table: pa.Table, names: Collection[str]) -> pa.Table:
    """The table with a column more for each of the ``names`` that is a value in one of its lists or maps."""
    kinds = dict(zip(table.column_names, table.schema.types, strict=True))
    for name in sorted(n for n in names if n not in kinds):
        kind = reached(name, kinds, _type_inside)
        if kind is not None and from_arrow(kind) is not None:
            column = reached(name, {c: table.column(c) for c in kinds}, _inside)
            table = table.append_column(name, column)
    return table


def with_elements_of(schema: Schema, names: Collection[str]) -> Schema:
    """A schema with the elements of its lists and maps among ``names`` as attributes behind the others."""
    kinds = {n: schema.arrow_of(n, t) for n, t in schema}
    found = {n: reached(n, kinds, _type_inside) for n in sorted(names) if n not in schema}
    typed = [(n, from_arrow(k)) for n, k in found.items() if k is not None]
    return replace(schema, attributes=(*schema.attributes, *((n, t) for n, t in typed if t is not None)))


def without(schema: Schema, names: Collection[str]) -> Schema:
    """A schema without the attributes of some names."""
    if not any(n in schema for n in names):
        return schema
    return replace(schema, attributes=tuple((n, t) for n, t in schema if n not in names))


def element_of(given: Mapping[str, Any], name: str) -> Any:
    """The value of an element in an event of Python's values: null where something on the way is not there.

    >>> element_of({"list": [1, 2], "m": {"k": 5}}, "list[1]"), element_of({"list": [1, 2]}, "list[2]")
    (2, None)
    """
    return reached(name, given, _value_inside)


def _value_inside(value: Any, step: str | int) -> Any:
    if isinstance(step, int):
        listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
        return value[step] if (listed or hasattr(value, "tolist")) and step < len(value) else None
    return value.get(step) if isinstance(value, Mapping) else None


def _inside(column: pa.ChunkedArray, step: str | int) -> pa.ChunkedArray:
    kind = _type_inside(column.type, step)
    assert kind is not None
    return pa.chunked_array(list(_parts(column, step)), kind)


def _parts(column: pa.ChunkedArray, step: str | int) -> Iterator[pa.Array]:
    for chunk in column.chunks:
        if pa.types.is_struct(chunk.type):
            yield pc.struct_field(chunk, [step])
        elif isinstance(step, int):
            plain = chunk.cast(pa.list_(chunk.type.value_type)) if pa.types.is_fixed_size_list(chunk.type) else chunk
            starts, sizes = _extents(plain)
            yield plain.values.take(pa.array(starts + step, mask=sizes <= step))
        else:
            starts, sizes = _extents(chunk)
            hits = np.flatnonzero(pc.fill_null(pc.equal(chunk.keys, step), False).to_numpy(zero_copy_only=False))
            # of equal keys the last one counts
            behind = np.searchsorted(hits, starts + sizes) - 1
            at = hits[np.maximum(behind, 0)] if len(hits) else np.zeros(len(chunk), np.int64)
            missing = (behind < 0) | (at < starts) | (sizes == 0)
            yield chunk.items.take(pa.array(at, mask=missing))


def _extents(lists: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Where the values of each list begin, and how many there are; none of null."""
    offsets = lists.offsets.to_numpy().astype(np.int64)
    sizes = np.where(lists.is_valid().to_numpy(zero_copy_only=False), np.diff(offsets), 0)
    return offsets[:-1], sizes
