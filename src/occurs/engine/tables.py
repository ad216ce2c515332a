"""Rows of one type put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Schema, Type
from occurs.operators.columns import Column
from occurs.operators.growing import behind
from occurs.operators.merging import INSTANT
from occurs.operators.rows import Rows


def empty_rows(type: str, schema: Schema, labelled: bool) -> Rows:
    columns = {n: Column.nulls(t, 0) for n, t in schema}
    nothing = np.zeros(0, np.uint64)
    return Rows(type, np.zeros(0, np.int64), columns, 0, None, Labels(nothing, nothing) if labelled else None)


def concat_rows(parts: Sequence[Rows]) -> Rows:
    """Rows of one type behind one another, all of them new; columns are those of the first."""
    return replace(parts[0], new=0, cache={}) if len(parts) == 1 else _joined(parts, np.concatenate, Column.concat)


def behind_past(past: Rows, new: Rows) -> Rows:
    """New rows of a type behind those of the past, which are not copied if they have room; columns are theirs."""
    out = _joined([past, new], lambda two: behind(*two), lambda two: two[1].behind(two[0]))
    out.new = len(past)
    return out


def _joined(
    parts: Sequence[Rows], join: Callable[[list[np.ndarray]], np.ndarray], columns: Callable[[list[Column]], Column]
) -> Rows:
    first = parts[0]
    made = {n: columns([column, *(_like(p, n, column) for p in parts[1:])]) for n, column in first.columns.items()}
    serial = None
    if all(p.serial is not None for p in parts):
        serial = join([p.serial for p in parts if p.serial is not None])
    labels = None
    if all(p.labels is not None for p in parts):
        some = [p.labels for p in parts if p.labels is not None]
        labels = Labels(join([p.hi for p in some]), join([p.lo for p in some]))
    at = derived = None
    if any(p.at is not None for p in parts):
        # what has no place of its own was derived when its instant was complete
        at = join([np.full(len(p), INSTANT, np.int64) if p.at is None else p.at for p in parts])
    if any(p.derived is not None for p in parts):
        derived = join([np.full(len(p), -1, np.int32) if p.derived is None else p.derived for p in parts])
    return Rows(first.type, join([p.time for p in parts]), made, 0, serial, labels, derived, at)


def _like(rows: Rows, name: str, column: Column) -> Column:
    found = rows.columns.get(name)
    if found is None and column.type is Type.RECORD:
        return Column(column.type, None, None, pa.nulls(len(rows), column.arrow.type))
    return Column.nulls(column.type, len(rows)) if found is None else found.cast(column.type)
