"""The rows of a call, partition by partition, each in the order in which its rows are matched (match-recognize.md,
section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.row_index import group_rows
from occurs.operators.rowpattern import tree

NO_KEEP = np.zeros(0, np.bool_)


@dataclass(frozen=True)
class Partitions:
    """``order``: the rows, partition by partition (None: as they are); ``low``, ``high``: of each partition the rows in
    this order; ``code``: of each, ascending."""

    order: np.ndarray | None
    low: np.ndarray
    high: np.ndarray
    code: np.ndarray


def partitions(of: np.ndarray, size: int, order: np.ndarray | None) -> Partitions:
    """``of``: the codes of rows, less than ``size``.  ``order``: of the rows if they were in one partition; None: as
    they are."""
    if size == 1:
        some = np.arange(int(len(of) > 0))
        return Partitions(order, some * 0, np.full(len(some), len(of)), some)
    codes = None
    if size > max(1024, 4 * len(of)):
        codes, of = np.unique(of, return_inverse=True)
        size = len(codes)
    by, start = group_rows(of if order is None else of[order], size, NO_KEEP)
    there = np.flatnonzero(start[1:] > start[:-1])
    return Partitions(
        by if order is None else order[by], start[there], start[there + 1], there if codes is None else codes[there]
    )


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
