"""Arrays that grow, and hashes of their rows, for machines that are compiled."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def mixed(h: int, word: int) -> int:
    """The hash of a word behind what ``h`` is the hash of: for one ``h`` different words give different results."""
    z = (np.uint64(h) ^ np.uint64(word)) * _GOLDEN
    return np.int64(z ^ (z >> _SHIFT))  # type: ignore[return-value]


@kernel
def longer(a: np.ndarray, size: int) -> np.ndarray:
    """A copy of a vector with room for ``size`` values."""
    out = np.zeros(size, a.dtype)
    out[: len(a)] = a
    return out


@kernel
def higher(a: np.ndarray, size: int) -> np.ndarray:
    """A copy of a matrix with room for ``size`` rows."""
    out = np.zeros((size, a.shape[1]), a.dtype)
    out[: len(a)] = a
    return out
