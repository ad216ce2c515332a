"""Rows as tables of Arrow, with the columns that users see (common.md, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.astext import CONSTITUENT
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.blocks import Reasons
from occurs.operators.columns import Column
from occurs.operators.kernels.texts import repeated
from occurs.operators.merging import ordered


def type_column(text: np.ndarray, lengths: np.ndarray, counts: np.ndarray) -> pa.Array | None:
    """Names of types, one behind the other in ``text``, each as often as ``counts`` says; None if Arrow could not
    address so much text."""
    if int(counts @ lengths) >= 2**31:
        return None
    data, offsets = repeated(text, lengths, counts)
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(data))


def no_reasons(n: int, kind: TimeKind) -> pa.Array:
    """No constituents, ``n`` times."""
    return pa.array([[]] * n, because_type(kind))


def time_array(ticks: np.ndarray, kind: TimeKind, null: np.ndarray | None = None) -> pa.Array:
    """Ticks as users see them: timestamps, or the integers they are; null where ``null`` is true."""
    array = pa.array(ticks, pa.int64(), mask=null)
    return array.cast(pa.timestamp("us", tz="UTC")) if kind.timestamp else array


def because_array(reasons: Reasons, kind: TimeKind) -> pa.ListArray:
    """The column ``because``: per row the list of its constituents (common.md, section 3).

    A constituent has its role in the definition, its type, time and end, its label, and its attributes as the text of a
    JSON object: so one column holds constituents of all types, on every host.  Attributes without a value are left out.
    """
    time = time_array(reasons.time, kind, None if reasons.known is None else ~reasons.known)
    if reasons.end is None or reasons.ends is None:
        end = pa.nulls(len(reasons.time), time.type)
    else:
        end = time_array(reasons.end, kind, ~reasons.ends)
    fields = list(because_type(kind).value_type)
    arrays = [reasons.role, reasons.type, time, end, reasons.label, reasons.attributes]
    struct = pa.StructArray.from_arrays([a.cast(f.type) for a, f in zip(arrays, fields)], fields=fields)
    return pa.ListArray.from_arrays(pa.array(reasons.offsets.astype(np.int32)), struct)


def because_type(kind: TimeKind) -> pa.DataType:
    time = pa.timestamp("us", tz="UTC") if kind.timestamp else pa.int64()
    return pa.list_(pa.struct([(n, time if n in ("time", "end") else pa.string()) for n in CONSTITUENT]))


@lru_cache(256)
def empty_table(schema: Schema, kind: TimeKind, label: bool, because: bool) -> pa.Table:
    time = pa.timestamp("us", tz="UTC") if kind.timestamp else pa.int64()
    fields = [pa.field("type", pa.string()), pa.field("time", time)]
    fields += [pa.field("end", time)] if schema.lasting else []
    fields += schema.arrow()
    fields += [pa.field("label", pa.string())] if label else []
    fields += [pa.field("because", because_type(kind))] if because else []
    # Arrow makes no empty tables with unions by itself
    return pa.Table.from_arrays([pa.nulls(0, f.type) for f in fields], schema=pa.schema(fields))


def table_of(
    type: str | pa.Array,
    time: np.ndarray,
    columns: Mapping[str, Column],
    schema: Schema,
    kind: TimeKind,
    labels: Labels | None,
    reasons: pa.Array | None,
) -> pa.Table:
    """Rows with the columns of the output (common.md, section 4)."""
    n = len(time)
    names = ["type", "time", *(["end"] if schema.lasting else []), *schema.names]
    arrays = [_repeated(type, n) if isinstance(type, str) else type, time_array(time, kind)]
    if schema.lasting:
        end = columns["end"]
        arrays.append(time_array(end.values, kind, None if end.valid is None else ~end.valid))
    for name, t in schema:
        column = columns.get(name)
        arrays.append(pa.nulls(n, schema.arrow_of(name, t)) if column is None else column.cast(t).output())
    if labels is not None:
        names.append("label")
        arrays.append(labels.hex())
    if reasons is not None:
        names.append("because")
        arrays.append(reasons)
    return pa.Table.from_arrays(arrays, names=names)


def records_of(
    type: str, time: np.ndarray, columns: Mapping[str, Column], schema: Schema, kind: TimeKind
) -> list[dict[str, Any]]:
    """The rows of :func:`table_of` as Arrow gives them out, each a dict."""
    n = len(time)
    names = ["type", "time", *(["end"] if schema.lasting else []), *schema.names]
    values = [(type,) * n, time_array(time, kind).to_pylist() if kind.timestamp else time.tolist()]
    if schema.lasting:
        end = columns["end"]
        null = None if end.valid is None else ~end.valid
        ticks = Column(Type.INT, end.values, end.valid)
        values.append(time_array(end.values, kind, null).to_pylist() if kind.timestamp else _plain(ticks))
    for name, t in schema:
        column = columns.get(name)
        values.append((None,) * n if column is None else _plain(column.cast(t)))
    return [dict(zip(names, row)) for row in zip(*values, strict=True)]


def _plain(column: Column) -> list[Any]:
    """The values of a column as Python has them."""
    if not column.numeric or column.type is Type.TIMESTAMP:
        found: list[Any] = column.output().to_pylist()
        return found
    values, valid = column.values.tolist(), column.valid
    return values if valid is None else [v if there else None for v, there in zip(values, valid.tolist())]


def table_of_arrays(type: str, arrays: Mapping[str, pa.Array], schema: Schema, kind: TimeKind) -> pa.Table:
    """The same of columns that are in Arrow already, in the types of the schema; times as ticks."""
    times = ["time", "end"] if schema.lasting else ["time"]
    made = [_repeated(type, len(arrays["time"]))]
    for name in times:
        made.append(arrays[name].cast(pa.timestamp("us", tz="UTC")) if kind.timestamp else arrays[name])
    made += [arrays[name] for name in schema.names]
    return pa.Table.from_arrays(made, names=["type", *times, *schema.names])


def _repeated(text: str, n: int) -> pa.Array:
    """A text so many times."""
    if n <= _OFTEN:
        return _often(text).slice(0, n)
    data = text.encode()
    if n * len(data) >= 2**31:
        return pa.repeat(text, n)
    offsets = np.arange(n + 1, dtype=np.int32)
    offsets *= len(data)
    return pa.StringArray.from_buffers(n, pa.py_buffer(offsets), pa.py_buffer(data * n))


#: texts that are repeated at most so often are parts of one array
_OFTEN = 256


@lru_cache(256)
def _often(text: str) -> pa.Array:
    return pa.repeat(text, _OFTEN)


#: later than every tick
_LAST = np.iinfo(np.int64).max


def in_order(table: pa.Table, schema: Schema) -> np.ndarray:
    """Row numbers of an output in the order of time, end (what has none is last) and attributes (nulls first)."""
    keys = [table.column("time").cast(pa.int64()).to_numpy()]
    if schema.lasting:
        keys.append(pc.fill_null(table.column("end").cast(pa.int64()), _LAST).to_numpy())
    # mostly these and whole numbers behind them tell all rows apart
    for name, type in schema:
        if type is not Type.INT or table.column(name).null_count:
            break
        keys.append(table.column(name).to_numpy())
    by, tied = ordered(keys)
    if tied.any():
        by[tied] = by[tied][pc.sort_indices(*_sorting(table.take(by[tied]), schema)).to_numpy()]
    return by


def _sorting(table: pa.Table, schema: Schema) -> tuple[pa.Table, list[tuple[str, str]]]:
    """What Arrow is to sort, and by which columns."""
    keys: dict[str, pa.ChunkedArray] = {"time": table.column("time")}
    if schema.lasting:
        keys["open"], keys["end"] = table.column("end").is_null(), table.column("end")
    for number, name in enumerate(schema.names):
        keys[f"valid {number}"], keys[f"value {number}"] = table.column(name).is_valid(), table.column(name)
    return pa.table(keys), [(name, "ascending") for name in keys]
