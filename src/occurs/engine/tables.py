"""Rows of one type put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.merging import INSTANT
from occurs.operators.rows import Rows


def empty_rows(type: str, schema: Schema, labelled: bool) -> Rows:
    columns = {n: Column.nulls(t, 0) for n, t in schema}
    nothing = np.zeros(0, np.uint64)
    return Rows(type, np.zeros(0, np.int64), columns, 0, None, Labels(nothing, nothing) if labelled else None)


def concat_rows(parts: Sequence[Rows], new: int) -> Rows:
    """Rows of one type behind one another; columns are those of the first."""
    if len(parts) == 1:
        return replace(parts[0], new=new, cache={})
    first = parts[0]
    columns = {}
    for name, column in first.columns.items():
        columns[name] = Column.concat([column, *(_like(p, name, column) for p in parts[1:])])
    serial = None
    if all(p.serial is not None for p in parts):
        serial = np.concatenate([p.serial for p in parts if p.serial is not None])
    labels = None
    if all(p.labels is not None for p in parts):
        labels = Labels.concat([p.labels for p in parts if p.labels is not None])
    at = derived = None
    if any(p.at is not None for p in parts):
        # what has no place of its own was derived when its instant was complete
        at = np.concatenate([np.full(len(p), INSTANT, np.int64) if p.at is None else p.at for p in parts])
    if any(p.derived is not None for p in parts):
        derived = np.concatenate([np.full(len(p), -1, np.int32) if p.derived is None else p.derived for p in parts])
    return Rows(first.type, np.concatenate([p.time for p in parts]), columns, new, serial, labels, derived, at)


def _like(rows: Rows, name: str, column: Column) -> Column:
    found = rows.columns.get(name)
    if found is None and column.type is Type.RECORD:
        return Column(column.type, None, None, pa.nulls(len(rows), column.arrow.type))
    return Column.nulls(column.type, len(rows)) if found is None else found.cast(column.type)
