"""Rows in the order of several whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: later than every tick
_OPEN = int(np.iinfo(np.int64).max)


def ordered(keys: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers in the order of int64 keys, the first one first; and which of these rows are alike in all of them
    with a neighbour."""
    packed = _packed(keys)
    by = np.lexsort(keys[::-1]) if packed is None else np.argsort(packed)
    same = np.ones(max(0, len(by) - 1), np.bool_)
    for key in keys if packed is None else [packed]:
        here = key[by]
        same &= here[1:] == here[:-1]
    return by, np.append(same, False) | np.append(False, same) if len(by) else same


def _packed(keys: Sequence[np.ndarray]) -> np.ndarray | None:
    """One key in the order of several; None if that takes more bits than there are."""
    out, size = np.zeros(len(keys[0]), np.int64), 1
    if not len(out):
        return out
    for key in keys:
        least, most = int(key.min()), int(key.max())
        if most == _OPEN:  # what has no end is taken to be a tick later than all others
            known = key[key != _OPEN]
            most = max(least, int(known.max()) if len(known) else least - 1) + 1
        size *= most - least + 1
        if size >= 1 << 62 or least == _OPEN:
            return None
        out *= most - least + 1
        out += np.minimum(key, most) - least
    return out
