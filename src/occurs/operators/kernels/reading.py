"""Columns where they are in memory, read as the codes of their values: none is copied or put together before.

A *source* is a row of int64 per column, see ``KIND`` ..; whoever has made it holds the columns while a kernel reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from occurs.operators.kernels.intervals import _OUT
from occurs.operators.kernels.texts import _STORE
from occurs.operators.keycodes import _slot

#: what a column has; the address of its values, of texts that of their 32-bit offsets; of texts that of their bytes
KIND, VALUES, BYTES = range(3)
#: codes or times, which are taken as they are; numbers and texts, of which there are dictionaries
PLAIN, NUMBERS, TEXTS = range(3)


def _loading(bits: int) -> Any:
    """A function of (address, i): the i-th of the whole numbers of so many bits that begin there, as int64."""

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def loaded(context: Any, address: Any, at: Any) -> Any:
        def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            start = builder.inttoptr(given[0], ir.IntType(bits).as_pointer())
            value = builder.load(builder.gep(start, [given[1]]))
            if bits == 64:
                return value
            widened = builder.zext if bits == 8 else builder.sext
            return widened(value, ir.IntType(64))

        return types.int64(types.int64, types.int64), made

    return loaded


_int64, _int32, _byte = _loading(64), _loading(32), _loading(8)


@njit(types.int64(_OUT, _OUT, _STORE, types.int64, types.int64, types.int64), cache=True, nogil=True)
def _text(slots: np.ndarray, ends: np.ndarray, store: np.ndarray, data: int, begin: int, end: int) -> int:
    """The number of a text of which the bytes are at ``data``, -1 if it has none: as in
    :mod:`occurs.operators.kernels.texts`."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        h = (h ^ np.uint64(_byte(data, i))) * np.uint64(0x100000001B3)
    size = len(slots)
    s = np.int64((h ^ (h >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF)) & (size - 1)
    while slots[s] >= 0:
        first = ends[slots[s]]
        if ends[slots[s] + 1] - first == end - begin:
            i = 0
            while i < end - begin and store[first + i] == _byte(data, begin + i):
                i += 1
            if i == end - begin:
                return slots[s]
        s = (s + 1) & (size - 1)
    return -1


@njit(
    types.boolean(_OUT, types.int64, _OUT, types.int64, types.int64, types.int64, *[_OUT] * 4, _STORE),
    cache=True,
    nogil=True,
)
def read(
    marks: np.ndarray, at: int, sources: np.ndarray, source: int, first: int, n: int,
    keys: np.ndarray, codes: np.ndarray, slots: np.ndarray, ends: np.ndarray, store: np.ndarray,
) -> bool:  # fmt: skip
    """Writes the codes of ``n`` values of a column, from ``first`` on, into ``marks``, from ``at`` on; whether all of
    them have codes.  ``source``: where that of the column is.  ``keys``, ``codes``: of numbers (see
    :class:`occurs.operators.keycodes.IntTable`); ``slots``, ``ends``, ``store``: of texts."""
    kind, values = sources[source + KIND], sources[source + VALUES]
    if kind == PLAIN:
        for i in range(n):
            marks[at + i] = _int64(values, first + i)
    elif kind == NUMBERS:
        size = len(keys)
        for i in range(n):
            value = _int64(values, first + i)
            s = _slot(value, size)
            while codes[s] >= 0 and keys[s] != value:
                s = (s + 1) & (size - 1)
            if codes[s] < 0:
                return False
            marks[at + i] = codes[s]
    else:
        data = sources[source + BYTES]
        for i in range(n):
            code = _text(slots, ends, store, data, _int32(values, first + i), _int32(values, first + i + 1))
            if code < 0:
                return False
            marks[at + i] = code
    return True


@njit(types.Tuple((_OUT, types.boolean))(_OUT, _OUT, _OUT, _OUT, *[_OUT] * 4, _STORE), cache=True, nogil=True)
def read_all(
    widths: np.ndarray, firsts: np.ndarray, counts: np.ndarray, sources: np.ndarray,
    keys: np.ndarray, codes: np.ndarray, slots: np.ndarray, ends: np.ndarray, store: np.ndarray,
) -> tuple[np.ndarray, bool]:  # fmt: skip
    """The marks of several tables: of each as many columns as its width says, and then times, ``counts`` from
    ``firsts`` on; and whether all values have codes.  Tables without rows have no sources."""
    size = 0
    for k in range(len(counts)):
        size += (widths[k] + 1) * counts[k]
    marks = np.empty(size, np.int64)
    at = source = 0
    for k in range(len(counts)):
        if counts[k] == 0:
            continue
        for _ in range(widths[k] + 1):
            if not read(marks, at, sources, source, firsts[k], counts[k], keys, codes, slots, ends, store):
                return marks, False
            at += counts[k]
            source += 3
    return marks, True
