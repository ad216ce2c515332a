"""The total order of rows (common.md, section 2): within a type by time, sequence and attribute values."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.labels import Labels, input_labels
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.kernels.sorting import is_sorted
from occurs.operators.rows import Rows


def sorted_rows(table: pa.Table) -> np.ndarray | None:
    """Row numbers of ``table`` (time, sequence, attributes) in the total order; None if it is in order already."""
    time = table.column("time").combine_chunks()
    ticks = (time.chunk(0) if isinstance(time, pa.ChunkedArray) else time).to_numpy(zero_copy_only=False)
    order: np.ndarray | None = None
    if not is_sorted(ticks):
        order = np.argsort(ticks, kind="stable")
        ticks = ticks[order]
    tied = np.zeros(len(ticks), np.bool_)
    equal = ticks[1:] == ticks[:-1]
    if not equal.any():
        return order
    tied[1:] |= equal
    tied[:-1] |= equal
    at = np.flatnonzero(tied)
    rows = at if order is None else order[at]
    names = ["time", *(["sequence"] if "sequence" in table.column_names else [])]
    names += sorted(n for n in table.column_names if n not in ("time", "sequence", "label", "end"))
    part = table.select(names).take(pa.array(rows))
    columns: dict[str, pa.ChunkedArray] = {}
    for name in names:
        column = _comparable(part.column(name))
        if column.null_count:
            # nulls are least
            columns[f"valid {len(columns)}"] = column.is_valid()
        columns[f"value {len(columns)}"] = column
    by = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    by = by.to_numpy(zero_copy_only=False)
    if order is None:
        if (by == np.arange(len(by), dtype=by.dtype)).all():
            return None
        order = np.arange(len(ticks))
    order[at] = rows[by]
    return order


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return column.cast(pa.int64())
    return column


def input_rows(type: str, table: pa.Table, schema: Schema, labelled: bool) -> Rows:
    """A table of the intake as rows in the total order; labels of the input are computed from all its attributes."""
    order = sorted_rows(table)
    if order is not None:
        table = table.take(pa.array(order))
    time = Column.of(table.column("time"), Type.INT).values
    labels: Labels | None = None
    if labelled:
        if "label" in table.column_names:
            labels = Labels.from_column(table.column("label"))
        else:
            special = ("time", "sequence", "label", "end")
            values = {n: table.column(n) for n in table.column_names if n not in special}
            sequence = table.column("sequence").combine_chunks() if "sequence" in table.column_names else None
            labels = input_labels(type, time, sequence, values)
    columns = {n: Column.of(table.column(n), t) for n, t in schema if n in table.column_names}
    if schema.lasting:  # ticks; null: still holds
        columns["end"] = Column.of(table.column("end"), Type.TIMESTAMP)
    return Rows(type, time, columns, 0, None, labels)


