"""Tables that change a little from call to call, saved as the rows that were removed and those that were added.

An operator that keeps a row per key hands out a new table in each call, most rows of which are those of the table
before.  The first piece of a table has all its rows.  A later piece is a *change*: the columns of the table and
``\\0place`` (int64) and ``\\0gone`` (bool).  A row that is gone has its place in the table before, and nulls in the
columns; a row that was added has its place in the new table.  All other rows stay, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.operators.kernels.same_rows import equal_rows, mix, numbers_of_lists, same_rows

#: the columns of a change beside those of the table
PLACE, GONE = "\0place", "\0gone"
#: a table of fewer rows is written whole
FEW = 256

_MIX = np.uint64(0x9E3779B97F4A7C15)


def change(before: pa.Table, after: pa.Table, was: np.ndarray, now: np.ndarray) -> pa.Table | None:
    """The change from one table to the next; None if it is not much smaller than the table.

    ``was``, ``now``: the numbers of their rows by :func:`numbers`.
    """
    if len(was) < FEW or len(now) < FEW or before.schema != after.schema:
        return None
    stays, stayed = max(_same_places(was, now), same_rows(was, now), key=lambda found: int(found[0].sum()))
    gone, added = np.flatnonzero(~stays), np.flatnonzero(~stayed)
    if 2 * (len(gone) + len(added)) > len(after):
        return None
    # two unequal rows may have one number
    if not all(_same(a, b, stays, stayed) for a, b in zip(before.columns, after.columns, strict=True)):
        return None
    columns = after.take(pa.array(added))
    rows = pa.concat_tables([columns, after.schema.empty_table().take(pa.nulls(len(gone), pa.int64()))])
    place = np.concatenate([added, gone])
    return rows.append_column(PLACE, pa.array(place)).append_column(GONE, pa.array(np.arange(len(place)) >= len(added)))


def _same_places(was: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows stay where they are: bool per row of each table.  Where many rows are equal, it finds more than
    :func:`same_rows`."""
    n = min(len(was), len(now))
    stays, stayed = np.zeros(len(was), np.bool_), np.zeros(len(now), np.bool_)
    stays[:n] = stayed[:n] = was[:n] == now[:n]
    return stays, stayed


def _same(one: pa.ChunkedArray, other: pa.ChunkedArray, stays: np.ndarray, stayed: np.ndarray) -> bool:
    """Are the chosen values of two columns equal?  Floats are if their bits are: NaN and NaN, but not 0.0 and -0.0."""
    one, other = one.combine_chunks(), other.combine_chunks()
    a, b = _words(one), _words(other)
    if a is not None and b is not None and a.shape[1:] == b.shape[1:]:
        return equal_rows(a, b, stays, stayed)
    if pa.types.is_float64(one.type):
        one, other = one.view(pa.int64()), other.view(pa.int64())
    same: bool = one.filter(pa.array(stays)).equals(other.filter(pa.array(stayed)))
    return same


def _words(column: pa.Array) -> np.ndarray | None:
    """int64 (n, 1) of numbers, (n, length) of lists of as many numbers; None for other columns."""
    if column.null_count:
        return None
    if pa.types.is_list(column.type):
        items, length = _words(column.flatten()), column.value_lengths().to_numpy()
        if items is None or items.shape[1] != 1 or not len(length) or (length != length[0]).any():
            return None
        return items.reshape(len(column), int(length[0]))
    if pa.types.is_integer(column.type):
        return column.to_numpy().astype(np.int64, copy=False).reshape(-1, 1)
    return column.view(pa.int64()).to_numpy().reshape(-1, 1) if pa.types.is_float64(column.type) else None


def assembled(pieces: Sequence[pa.Table]) -> pa.Table:
    """The table of a first piece and the changes that followed.  Raises ValueError if they do not fit."""
    first, *changes = pieces
    if not changes:
        return first
    parts, base = [first], len(first)
    at = np.arange(base)
    for found in changes:
        place, gone = found.column(PLACE).to_numpy(), found.column(GONE).to_numpy()
        added = found.filter(pa.array(~gone)).drop_columns([PLACE, GONE])
        stays = np.ones(len(at), np.bool_)
        stays[place[gone]] = False
        kept, new = at[stays], np.empty(int(stays.sum()) + len(added), np.int64)
        stayed = np.ones(len(new), np.bool_)
        stayed[place[~gone]] = False
        new[place[~gone]] = base + np.arange(len(added))
        new[stayed] = kept
        parts.append(added)
        base += len(added)
        at = new
    return pa.concat_tables(parts).take(pa.array(at)).combine_chunks()


def numbers(table: pa.Table) -> np.ndarray:
    """uint64 per row: equal rows have equal numbers in this process, and others most likely not.  None at all for a
    short table, and for one with values that are not compared (structs)."""
    mixed = np.zeros(len(table) if len(table) >= FEW else 0, np.uint64)
    for column in table.columns if len(mixed) else ():
        values = _numbers(column.combine_chunks())
        if values is None:
            return np.zeros(0, np.uint64)
        mix(mixed, values)
    return mixed


def _numbers(column: pa.Array) -> np.ndarray | None:
    """uint64 that are equal where values are, and most likely not elsewhere."""
    if pa.types.is_list(column.type):
        values = _of_lists(column)
        if values is None:
            return None
    elif pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        texts = column.dictionary_encode()
        each = np.array([hash(text) for text in texts.dictionary.to_pylist()] or [0], np.int64)
        values = each[pc.fill_null(texts.indices, 0).to_numpy()].view(np.uint64)
    else:
        if pa.types.is_boolean(column.type):
            column = column.cast(pa.int8())
        elif pa.types.is_timestamp(column.type):
            column = column.cast(pa.int64())
        elif not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            return None
        values = (pc.fill_null(column, 0) if column.null_count else column).to_numpy()
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64, copy=False).view(np.uint64)
    if column.null_count:
        values = values.copy()
        values[column.is_null().to_numpy(zero_copy_only=False)] = ~_MIX
    return values


def _of_lists(column: pa.ListArray) -> np.ndarray | None:
    items = _numbers(column.flatten())
    if items is None:
        return None
    ends = np.cumsum(pc.fill_null(column.value_lengths(), 0).to_numpy(), dtype=np.int64)
    return numbers_of_lists(items, np.concatenate([np.zeros(1, np.int64), ends]))
