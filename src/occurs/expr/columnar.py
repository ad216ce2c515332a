"""Between Arrow columns and NumPy: views, validity, and small things that Arrow lacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def ints(x: pa.Array) -> np.ndarray:
    """The int64 values without a copy; anything where ``x`` is null."""
    return _view(x, np.dtype(np.int64))


def floats(x: pa.Array) -> np.ndarray:
    """The float64 values without a copy; anything where ``x`` is null."""
    return _view(x, np.dtype(np.float64))


def _view(x: pa.Array, dtype: np.dtype) -> np.ndarray:
    data = x.buffers()[1]
    if data is None or len(x) == 0:
        return np.zeros(len(x), dtype)
    return np.frombuffer(data, dtype, len(x), x.offset * dtype.itemsize)


def validity(*columns: pa.Array, also: np.ndarray | None = None) -> np.ndarray | None:
    """Booleans (n): rows where no column is null (and ``also`` is true); None if that is all rows."""
    out = also
    for x in columns:
        if x.null_count:
            valid = x.is_valid().to_numpy(zero_copy_only=False)
            out = valid if out is None else out & valid
    return None if out is None or out.all() else out


def nulls_of(x: pa.Array) -> np.ndarray:
    """Booleans (n): the null rows."""
    return x.is_null().to_numpy(zero_copy_only=False) if x.null_count else np.zeros(len(x), np.bool_)


def from_numpy(values: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """A column of ``values``, null where not ``valid``."""
    return pa.array(values) if valid is None else pa.array(values, mask=~valid)


def bools(x: pa.Array) -> np.ndarray:
    """Booleans (n): true where ``x`` is true."""
    return (x.fill_null(False) if x.null_count else x).to_numpy(zero_copy_only=False)


def halves_away(x: pa.Array) -> pa.Array:
    """Floats rounded to whole numbers, halves away from zero."""
    return pc.round(x, ndigits=0, round_mode="half_towards_infinity")


def spread(x: Any, length: int) -> pa.Array:
    """A scalar as a column."""
    return pa.repeat(x, length) if isinstance(x, pa.Scalar) else x


def by_groups(
    run: Callable[..., pa.Array], args: Sequence[pa.Array], literal: frozenset[int], result: pa.DataType
) -> pa.Array:
    """``run`` with the arguments at the positions of ``literal`` (columns) handed over as Python values.

    Rows are grouped by these values, so that there is one call per distinct combination, not per row.
    """
    length = len(args[0])
    group = np.zeros(length, np.int64)
    codes: dict[int, np.ndarray] = {}
    values: dict[int, list[Any]] = {}
    for i in (i for i in range(len(args)) if i in literal):
        column = args[i].dictionary_encode()
        values[i] = [*column.dictionary.to_pylist(), None]
        codes[i] = column.indices.fill_null(len(values[i]) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
        # groups are numbered anew each time, so that the products cannot overflow
        group = np.unique(group * len(values[i]) + codes[i], return_inverse=True)[1]
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1)).tolist()
    columns = {i: a.take(pa.array(order)) for i, a in enumerate(args) if i not in literal}
    parts = [pa.nulls(0, result)]
    for lo, hi in zip(starts, [*starts[1:], length]):
        here = {i: values[i][codes[i][order[lo]]] for i in codes}
        if None in here.values():
            parts.append(pa.nulls(hi - lo, result))
            continue
        given = [here[i] if i in here else columns[i].slice(lo, hi - lo) for i in range(len(args))]
        parts.append(run(*given).cast(result))
    back = np.empty(length, np.int64)
    back[order] = np.arange(length)
    return pa.concat_arrays(parts).take(pa.array(back))
