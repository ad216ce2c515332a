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


# value by value: to assign a slice brings Numba's wording of errors along, seconds of compiling for each caller


@kernel
def longer(a: np.ndarray, size: int) -> np.ndarray:
    """A copy of a vector with room for ``size`` values."""
    out = np.zeros(size, a.dtype)
    for i in range(len(a)):
        out[i] = a[i]
    return out


@kernel
def higher(a: np.ndarray, size: int) -> np.ndarray:
    """A copy of a matrix with room for ``size`` rows."""
    out = np.zeros((size, a.shape[1]), a.dtype)
    for i in range(len(a)):
        for k in range(a.shape[1]):
            out[i, k] = a[i, k]
    return out
