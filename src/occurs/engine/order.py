"""The total order of rows (common.md, section 2): within a type by time, sequence and attribute values."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.labels import Labels, input_labels
from occurs.model.lists import in_order
from occurs.model.type_table import TypeTable
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.kernels.row_index import is_sorted, is_strictly_sorted, merge, settle_ties
from occurs.operators.merging import MANY, constant, packed, stable_order
from occurs.operators.rows import Ordered, Rows

#: up to so many rows of one time are put in order by insertion
FEW = 32
#: rows of one time stay in the order of their types
_NO_TIES = np.zeros(0, np.int64)


def sorted_rows(table: TypeTable, loose: bool = False) -> np.ndarray | None:
    """Row numbers of ``table`` (time, sequence, attributes) in the total order; None if it is in order already.

    ``loose``: rows of one time and sequence stay as they came.
    """
    if len(table) < 2:
        return None
    time = table.column("time")
    ticks = time.chunk(0).to_numpy(zero_copy_only=False) if time.num_chunks == 1 else time.to_numpy()
    if table.increasing or is_strictly_sorted(ticks):
        return None
    order: np.ndarray | None = None
    if not is_sorted(ticks):
        order = stable_order([ticks])
        ticks = ticks[order]
    if loose and "sequence" not in table.column_names:
        return order
    equal = ticks[1:] == ticks[:-1]
    ties = int(np.count_nonzero(equal))
    if not ties:
        return order
    names = ["time", *(["sequence"] if "sequence" in table.column_names else [])]
    if not loose:
        names += sorted(set(table.column_names) - {"time", "sequence", "label", "end"})
    part = table.select(names)
    if len(table) >= MANY and part.num_columns > 1 and _whole(part):
        key = packed([Column.of(c, Type.INT).values for c in part.columns[1:]])
        rows = np.arange(len(ticks)) if order is None else order
        changed = -1 if key is None else settle_ties(ticks, rows, key, FEW)
        if changed >= 0:
            return rows if changed else order
    if 2 * ties > len(table):  # to sort all rows is less than to tell which of them
        by = _by_whole_numbers(part)
        if by is not None:
            return None if is_sorted(by) else by
    tied = np.zeros(len(ticks), np.bool_)
    tied[1:] |= equal
    tied[:-1] |= equal
    at = np.flatnonzero(tied)
    rows = at if order is None else order[at]
    if len(rows) < len(table) or order is not None:
        part = part.take(pa.array(rows))
    by = _by_whole_numbers(part)
    if by is None:
        by = _by_columns(part)
    if order is None:
        if is_sorted(by):
            return None
        order = np.arange(len(ticks))
    order[at] = rows[by]
    return order


def _by_whole_numbers(part: pa.Table) -> np.ndarray | None:
    """Row numbers in the order of all columns, if these are whole numbers without nulls."""
    if not _whole(part):
        return None
    return stable_order([Column.of(c, Type.INT).values for c in part.columns])


def _whole(part: pa.Table) -> bool:
    """Are all columns whole numbers without nulls?"""
    kinds = (pa.types.is_integer(c.type) or pa.types.is_timestamp(c.type) for c in part.columns)
    return all(kinds) and not any(c.null_count for c in part.columns)


def _by_columns(part: pa.Table) -> np.ndarray:
    """Row numbers in the order of all columns."""
    columns: dict[str, pa.ChunkedArray] = {}
    for name in part.column_names:
        column = _comparable(part.column(name))
        if column.null_count:
            # nulls are least
            columns[f"valid {len(columns)}"] = column.is_valid()
        columns[f"value {len(columns)}"] = column
    by = pc.sort_indices(pa.table(columns), sort_keys=[(name, "ascending") for name in columns])
    return by.to_numpy(zero_copy_only=False).astype(np.int64)


def _told(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as labels take it: lists as text."""
    if not pa.types.is_nested(column.type):
        return column
    return pa.chunked_array([pa.array([None if v is None else repr(v) for v in column.to_pylist()], pa.string())])


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_null(column.type):
        return column.cast(pa.int64())
    if pa.types.is_nested(column.type):
        values = [None if v is None else in_order(v) for v in column.to_pylist()]
        number = {v: n for n, v in enumerate(sorted({v for v in values if v is not None}))}
        return pa.chunked_array([pa.array([None if v is None else number[v] for v in values], pa.int64())])
    return column


def input_rows(
    type: str, table: TypeTable, schema: Schema, labelled: bool, *, numbered: bool = False, loose: bool = False
) -> Rows:
    """A table of the intake as rows in the total order; labels of the input are computed from all its attributes.

    ``numbered``: with a column ``sequence`` if there is one, for the order over several types (:func:`placed`).
    ``loose``: rows of one time and sequence may stand in any order.
    """
    order = sorted_rows(table, loose)
    time = Column.of(table.column("time"), Type.INT).values
    labels: Labels | None = None
    if order is not None:
        time = time[order]
    if labelled:
        whole = table.table()
        if order is not None:
            whole, order = whole.take(pa.array(order)), None
            table = TypeTable.of(whole)
        labels = row_labels(type, whole, time)
    given = set(table.column_names)
    types = {n: t for n, t in schema if n in given}
    if schema.lasting:  # ticks; null: still holds
        types["end"] = Type.TIMESTAMP
    if numbered and "sequence" in given:
        types["sequence"] = Type.INT
    return Rows(type, time, Ordered(table, types, order), 0, None, labels)


def row_labels(type: str, table: pa.Table, time: np.ndarray) -> Labels:
    """The labels of a table of the intake whose rows are in the total order; ``time``: its ticks."""
    if "label" in table.column_names:
        return Labels.from_column(table.column("label"))
    special = ("time", "sequence", "label", "end")
    values = {f.name: _told(table.column(f.name)) for f in table.schema if f.name not in special}
    sequence = table.column("sequence").combine_chunks() if "sequence" in table.column_names else None
    return input_labels(type, time, sequence, values)


def placed(rows: Mapping[str, Rows], keep: Collection[str] = ()) -> dict[str, Rows]:
    """Input rows of several types, each type in the total order, with ``at``: 1, 2, .. within each instant in the order
    over all types (sequence, null least; name of the type; attribute values).  A column ``sequence`` is used up, unless
    the type is one of ``keep``."""
    types = sorted(t for t, r in rows.items() if len(r))
    out = {t: alone(r, keep) for t, r in rows.items()}
    if not types or (len(types) == 1 and len(rows[types[0]]) == 1):
        return out
    time = rows[types[0]].time if len(types) == 1 else np.concatenate([rows[t].time for t in types])
    order, ticks = None, time
    if len(types) > 1 and not is_sorted(time):
        order, ticks = merge(np.cumsum([len(rows[t]) for t in types]), time, _NO_TIES, _NO_TIES)
    if is_strictly_sorted(ticks):
        return out
    new = np.ones(len(ticks), np.bool_)
    new[1:] = ticks[1:] != ticks[:-1]
    number = np.arange(len(ticks))
    if any("sequence" in rows[t].columns for t in types):
        order = number if order is None else order
        tied = ~new
        tied[:-1] |= ~new[1:]
        among = order[tied]
        sequence, known = _sequences([rows[t] for t in types])
        order = order.copy()
        order[tied] = among[np.lexsort((sequence[among], known[among], time[among]))]
    place = number - np.maximum.accumulate(np.where(new, number, 0)) + 1
    at = place
    if order is not None:
        at = np.empty(len(time), np.int64)
        at[order] = place
    first = 0
    for t in types:
        out[t] = _with_places(rows[t], at[first : first + len(rows[t])], keep)
        first += len(rows[t])
    return out


def alone(rows: Rows, keep: Collection[str] = ()) -> Rows:
    """Input rows each of which is the only one of its instant, with ``at`` as :func:`placed` has it."""
    return _with_places(rows, constant(1, len(rows)), keep)


def _with_places(rows: Rows, at: np.ndarray, keep: Collection[str]) -> Rows:
    columns = rows.columns
    if "sequence" in columns and rows.type not in keep:
        columns = {n: c for n, c in columns.items() if n != "sequence"}
    derived = constant(-1, len(at), np.int32)
    return Rows(rows.type, rows.time, columns, rows.new, rows.serial, rows.labels, derived, at)


def _sequences(parts: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    """The sequence numbers of rows (0 where there is none), and whether there is one."""
    values, known = [], []
    for rows in parts:
        column = rows.columns.get("sequence")
        valid = np.zeros(len(rows), np.bool_) if column is None else column.is_valid()
        values.append(np.zeros(len(rows), np.int64) if column is None else np.where(valid, column.values, 0))
        known.append(valid)
    return np.concatenate(values), np.concatenate(known)
