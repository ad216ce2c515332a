"""Numbers as int64 keys, so that one kernel compares ints, floats and both (exactly: temporal-logic.md 4.2)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_LEAST, _GREATEST = -(2**63), 2**63 - 1
_SIGN = np.int64(0x7FFFFFFFFFFFFFFF)


def floats(array: pa.Array) -> bool:
    """Is it a column of floats?"""
    return bool(pa.types.is_floating(array.type))


def plain(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """(keys, where there is one) of values that are compared only with such of the same kind."""
    known = _known(array)
    if pa.types.is_null(array.type):
        return np.zeros(len(array), np.int64), known
    if floats(array):
        return of_floats(filled(array)), known
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", array.type.tz)).cast(pa.int64())
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int64())
    return np.asarray(filled(array), np.int64), known


def filled(array: pa.Array) -> np.ndarray:
    """Numbers, 0 for null."""
    found = array.fill_null(0) if array.null_count else array
    return found.to_numpy(zero_copy_only=False)


def of_floats(values: np.ndarray) -> np.ndarray:
    """int64 in the order of floats, equal for equal ones."""
    bits = (values + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, bits ^ _SIGN)


def pair(
    left: pa.Array, op: str, right: pa.Array
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Keys of both sides of ``left op right``, rows of either side against rows of the other."""
    if floats(left) == floats(right) or pa.types.is_null(left.type) or pa.types.is_null(right.type):
        return plain(left), plain(right)
    if floats(left):
        return rounded(left, op, down=op in (">=", "<")), plain(right)
    return plain(left), rounded(right, op, down=op in ("<=", ">"))


def rounded(array: pa.Array, op: str, down: bool) -> tuple[np.ndarray, np.ndarray]:
    """Floats as the ints that compare alike with all ints.

    One that is no int is rounded, ``down`` for ``f >= i`` and ``f < i``, else up; where equality is asked for it
    becomes the least int64, which no count and hardly any other number is.
    """
    values = np.asarray(filled(array), np.float64)
    near = np.floor(values) if down else np.ceil(values)
    inside = (near >= -(2.0**63)) & (near < 2.0**63)
    keys = np.where(inside, near, 0.0).astype(np.int64)
    keys = np.where(inside, keys, np.where(near > 0, _GREATEST, _LEAST))
    if op in ("=", "!="):
        keys = np.where(inside & (near == values), keys, _LEAST)
    return keys, _known(array)


def beside_floats(op: str, array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Keys of the right side of ``f op right`` where ``f`` are keys of floats."""
    if floats(array) or pa.types.is_null(array.type):
        return plain(array)
    ints = np.asarray(filled(array), np.int64)
    near = ints.astype(np.float64)
    for i in np.flatnonzero(np.abs(near) > 2.0**53):
        exact, found = int(ints[i]), float(near[i])
        if int(found) == exact:
            continue
        if op in (">=", "<"):
            near[i] = found if int(found) > exact else np.nextafter(found, np.inf)
        elif op in ("<=", ">"):
            near[i] = found if int(found) < exact else np.nextafter(found, -np.inf)
        else:
            near[i] = np.nan
    return np.where(np.isnan(near), _LEAST, of_floats(near)), _known(array)


def _known(array: pa.Array) -> np.ndarray:
    if floats(array):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False))
