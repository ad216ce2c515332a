"""The rows of a call, partition by partition, each in the order in which its rows are matched (match-recognize.md,
section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from occurs.model.types import Type
from occurs.operators.codes import KeyCodes
from occurs.operators.columns import Column
from occurs.operators.kernels.row_index import group_rows
from occurs.operators.rowpattern import tree

NO_KEEP = np.zeros(0, np.bool_)


@dataclass(frozen=True)
class Partitions:
    """``order``: the rows, partition by partition (None: as they are); ``low``, ``high``: of each partition the rows in
    this order.  ``of``: per further row, which partition it belongs to; -1: none that has rows."""

    order: np.ndarray | None
    low: np.ndarray
    high: np.ndarray
    of: np.ndarray


def codes_of(columns: Sequence[Column], names: Sequence[str], codes: KeyCodes, n: int) -> tuple[np.ndarray, int]:
    """One code per row, equal for equal values (null is equal to null), and how many codes there may be."""
    out, size = None, 1
    for name, column in zip(names, columns, strict=True):
        code, more = codes.encode(name, column), codes.size([name])
        if len(code) and code.min() < 0:  # null
            code, more = code + 1, more + 1
        if out is not None and size * more >= 1 << 62:
            out, size = _dense(out)
        out = code if out is None else out * more + code
        size *= more
    if out is None:
        return np.zeros(n, np.int64), 1
    return (out, size) if size <= max(1024, 4 * n) else _dense(out)


def _dense(code: np.ndarray) -> tuple[np.ndarray, int]:
    values, number = np.unique(code, return_inverse=True)
    return number.reshape(-1).astype(np.int64), len(values)


def partitions(code: np.ndarray, size: int, rows: int, order: np.ndarray | None) -> Partitions:
    """``code``: of ``rows`` rows, and of further ones behind these.  ``order``: of the rows if they were in one
    partition; None: as they are."""
    own, more = code[:rows], code[rows:]
    if size == 1:
        some = np.arange(int(rows > 0))
        of = np.where(more == 0, 0 if rows else -1, -1)
        return Partitions(order, np.zeros(len(some), np.int64), np.full(len(some), rows), of)
    by, start = group_rows(own if order is None else own[order], size, NO_KEEP)
    there = np.flatnonzero(start[1:] > start[:-1])
    number = np.full(size, -1, np.int64)
    number[there] = np.arange(len(there))
    return Partitions(by if order is None else order[by], start[there], start[there + 1], number[more])


def ordered(keys: Sequence[tree.Key], columns: Sequence[Column], time: np.ndarray) -> np.ndarray | None:
    """The order of rows by the columns of ORDER BY, ties as they are; None: as they are.

    Rows are in the order of time, so that alone needs no sorting."""
    if all(k.column == "time" and not k.descending for k in keys[:1]) and len(keys) == 1:
        return None
    by: list[np.ndarray] = []
    for key, column in zip(keys, columns, strict=True):
        valid = column.is_valid()
        if not valid.all():
            by.append(valid if key.nulls_first else ~valid)
        by.append(_ascending(column, valid, key.descending))
    return np.lexsort(by[::-1])


def _ascending(column: Column, valid: np.ndarray, descending: bool) -> np.ndarray:
    """Numbers in the order of the values, 0 for null."""
    if column.type is Type.NULL:
        return np.zeros(len(column), np.int64)
    if column.numeric:
        values = column.values.astype(np.int64) if column.type is not Type.FLOAT else column.values
        values = np.where(valid, values, values.dtype.type(0))
    else:
        rank = pc.rank(column.arrow, sort_keys="ascending", tiebreaker="dense")
        values = np.where(valid, rank.to_numpy(zero_copy_only=False).astype(np.int64), 0)
    if not descending:
        return values
    return ~values if values.dtype == np.int64 else -values
