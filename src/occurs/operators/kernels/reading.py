"""Columns where they are in memory, read as the codes of their values: none is copied or put together before.

A *source* is a row of int64 per column, see ``KIND`` ..; whoever has made it holds the columns while a kernel reads.
"""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np

from occurs.kernel import Later, kernel, types
from occurs.operators.codes import _slot
from occurs.operators.kernels.intervals import _OUT
from occurs.operators.kernels.texts import _STORE

#: what a column has; the address of its values, of texts that of their 32-bit offsets; of texts that of their bytes
KIND, VALUES, BYTES = range(3)
#: codes or times, which are taken as they are; numbers and texts, of which there are dictionaries
PLAIN, NUMBERS, TEXTS = range(3)


def _loading(bits: int) -> Any:
    """A function of (address, i): the i-th of the whole numbers of so many bits that begin there, as int64."""
    kind = {64: ctypes.c_int64, 32: ctypes.c_int32, 8: ctypes.c_uint8}[bits]

    def plain(address: int, at: int) -> int:
        return kind.from_address(int(address + at * bits // 8)).value

    return Later(partial(_made, bits), plain, text="loading")


def _made(bits: int) -> Any:
    from llvmlite import ir
    from numba.extending import intrinsic

    @intrinsic  # type: ignore[untyped-decorator, unused-ignore]
    def loaded(context: Any, address: Any, at: Any) -> Any:
        def made(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            start = builder.inttoptr(given[0], ir.IntType(bits).as_pointer())
            value = builder.load(builder.gep(start, [given[1]]))
            if bits == 64:
                return value
            widened = builder.zext if bits == 8 else builder.sext
            return widened(value, ir.IntType(64))

        return types.int64(types.int64, types.int64).real(), made

    return loaded


_int64, _int32, _byte = _loading(64), _loading(32), _loading(8)


# A function that is called for every value would cost more than it does: references to all arrays are counted.


@kernel(types.void(_OUT, types.int64, types.int64, types.int64, types.int64))
def _plain(marks: np.ndarray, at: int, values: int, first: int, n: int) -> None:
    """``n`` values as they are, from ``first`` on, into ``marks``, from ``at`` on."""
    for i in range(n):
        marks[at + i] = _int64(values, first + i)


@kernel(types.int64(_OUT, *[types.int64] * 4, *[_OUT] * 4))
def _numbers(
    marks: np.ndarray, at: int, values: int, first: int, n: int, keys: np.ndarray, codes: np.ndarray,
    numbers: np.ndarray, used: np.ndarray,
) -> int:  # fmt: skip
    """The codes of numbers; -1 where there is no room for a new one: how many these are."""
    size = len(keys)
    missing = 0
    for i in range(n):
        value = _int64(values, first + i)
        s = _slot(value, size)
        while codes[s] >= 0 and keys[s] != value:
            s = (s + 1) & (size - 1)
        if codes[s] < 0:
            code = used[0]
            if 2 * (code + 1) <= size and code < len(numbers):
                keys[s], codes[s], numbers[code] = value, code, value
                used[0] = code + 1
            else:
                missing += 1
        marks[at + i] = codes[s]
    return missing


@kernel(types.int64(_OUT, *[types.int64] * 5, _OUT, _OUT, _STORE, _OUT))
def _texts(
    marks: np.ndarray, at: int, offsets: int, data: int, first: int, n: int, slots: np.ndarray, ends: np.ndarray,
    store: np.ndarray, used: np.ndarray,
) -> int:  # fmt: skip
    """The numbers of texts (see :mod:`occurs.operators.kernels.texts`); -1 where there is no room for a new one: how
    many these are."""
    size = len(slots)
    missing = 0
    for i in range(n):
        begin = _int32(offsets, first + i)
        length = _int32(offsets, first + i + 1) - begin
        h = np.uint64(0xCBF29CE484222325)
        for k in range(length):
            h = (h ^ np.uint64(_byte(data, begin + k))) * np.uint64(0x100000001B3)
        s = np.int64((h ^ (h >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF)) & (size - 1)
        while slots[s] >= 0:
            there = ends[slots[s]]
            if ends[slots[s] + 1] - there == length:
                k = 0
                while k < length and store[there + k] == _byte(data, begin + k):
                    k += 1
                if k == length:
                    break
            s = (s + 1) & (size - 1)
        if slots[s] < 0:
            code = used[1]
            there = ends[code]
            if 2 * (code + 1) <= size and code + 2 <= len(ends) and there + length <= len(store):
                for k in range(length):
                    store[there + k] = _byte(data, begin + k)
                slots[s], ends[code + 1] = code, there + length
                used[1] = code + 1
            else:
                missing += 1
        marks[at + i] = slots[s]
    return missing


@kernel(_OUT(_OUT, *[types.int64] * 6))
def _unknown(marks: np.ndarray, at: int, kind: int, source: int, values: int, first: int, n: int) -> np.ndarray:
    """What :func:`read_all` says of the values that have no code."""
    out = np.empty(3 * n, np.int64)
    count = 0
    for i in range(n):
        if marks[at + i] < 0:
            out[count], out[count + 1] = kind, source
            out[count + 2] = _int64(values, first + i) if kind == NUMBERS else first + i
            count += 3
    return out[:count].copy()


@kernel(types.UniTuple(_OUT, 3)(*[_OUT] * 8, _STORE, _OUT))
def read_all(
    widths: np.ndarray, spans: np.ndarray, sources: np.ndarray, keys: np.ndarray, codes: np.ndarray,
    numbers: np.ndarray, slots: np.ndarray, ends: np.ndarray, store: np.ndarray, used: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The marks of several tables: of each as many columns as its width says, and then times; and how many each has.

    ``spans``: of each table its first row and how many from there on; ``sources``: of each one its columns and times.
    ``keys``, ``codes``: of numbers (see :class:`occurs.operators.codes.IntTable`); ``numbers``: by code, no place if
    there are others than ints; ``slots``, ``ends``, ``store``: of texts; ``used``: how many there are of either.  New
    values are added.  Last come three numbers for every value that has no code and for which there is no room: its
    kind, the number of its source; and the number that it is, or the row of the text.
    """
    counts = spans[1::2].copy()
    marks, unknown = np.empty(((widths + 1) * counts).sum(), np.int64), np.empty(0, np.int64)
    at = source = 0
    for k in range(len(widths)):
        first, n = spans[2 * k], counts[k]
        for _ in range(widths[k] + 1):
            kind, values, data = sources[source + KIND], sources[source + VALUES], sources[source + BYTES]
            missing = 0
            if kind == PLAIN:
                _plain(marks, at, values, first, n)
            elif kind == NUMBERS:
                missing = _numbers(marks, at, values, first, n, keys, codes, numbers, used)
            else:
                missing = _texts(marks, at, values, data, first, n, slots, ends, store, used)
            if missing:
                unknown = np.concatenate((unknown, _unknown(marks, at, kind, source // 3, values, first, n)))
            at += n
            source += 3
    return marks, counts, unknown
