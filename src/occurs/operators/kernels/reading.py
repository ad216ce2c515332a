"""Columns where they are in memory, read as the codes of their values: none is copied or put together before.

A *source* is a row of int64 per column, see ``KIND`` ..; whoever has made it holds the columns while a kernel reads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from occurs.operators.kernels.intervals import _INTS, _OUT
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


@njit(inline="always")
def _text(slots: np.ndarray, ends: np.ndarray, store: np.ndarray, data: int, begin: int, end: int) -> int:
    """The slot of a text of which the bytes are at ``data``, or the empty one for it: as in
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
                break
        s = (s + 1) & (size - 1)
    return s


# What is called for every value is put into its caller before that is compiled: a call counts references to all arrays.


@njit(inline="always")
def _text_code(
    slots: np.ndarray, ends: np.ndarray, store: np.ndarray, used: np.ndarray, data: int, begin: int, end: int
) -> int:
    """The number of a text, which may be new; -1 if there is no room for it."""
    s = _text(slots, ends, store, data, begin, end)
    if slots[s] < 0:
        code = used[TEXTS - NUMBERS]
        first = ends[code]
        last = first + end - begin
        if 2 * (code + 1) <= len(slots) and code + 2 <= len(ends) and last <= len(store):
            for i in range(begin, end):
                store[first + i - begin] = _byte(data, i)
            slots[s], ends[code + 1] = code, last
            used[TEXTS - NUMBERS] += 1
    return slots[s]


@njit(inline="always")
def _number_code(keys: np.ndarray, codes: np.ndarray, numbers: np.ndarray, used: np.ndarray, value: int) -> int:
    """The code of a number, which may be new; -1 if there is no room for it."""
    size = len(keys)
    s = _slot(value, size)
    while codes[s] >= 0 and keys[s] != value:
        s = (s + 1) & (size - 1)
    if codes[s] < 0 and 2 * (used[0] + 1) <= size and used[0] < len(numbers):
        keys[s], codes[s], numbers[used[0]] = value, used[0], value
        used[0] += 1
    return codes[s]


@njit(
    types.Tuple((_OUT, types.int64))(
        _OUT, types.int64, _INTS, types.int64, types.int64, types.int64, types.int64, *[_OUT] * 5, _STORE, _OUT, _OUT,
        types.int64,
    ),
    cache=True,
    nogil=True,
)
def _read(
    marks: np.ndarray, at: int, sources: np.ndarray, place: int, source: int, first: int, n: int, keys: np.ndarray,
    codes: np.ndarray, numbers: np.ndarray, slots: np.ndarray, ends: np.ndarray, store: np.ndarray, used: np.ndarray,
    unknown: np.ndarray, count: int,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """Writes the codes of ``n`` values of a column, from ``first`` on, into ``marks``, from ``at`` on; what has none
    and for which there is no room is added to what is ``unknown``, see :func:`read_all`.  ``place``, ``source``: where
    the source is, and its number."""
    kind, values, data = sources[place + KIND], sources[place + VALUES], sources[place + BYTES]
    if kind == PLAIN:
        for i in range(n):
            marks[at + i] = _int64(values, first + i)
        return unknown, count
    for i in range(n):
        if kind == NUMBERS:
            value = _int64(values, first + i)
            code = _number_code(keys, codes, numbers, used, value)
        else:
            value = first + i
            code = _text_code(slots, ends, store, used, data, _int32(values, value), _int32(values, value + 1))
        if code < 0:
            if 3 * (count + 1) > len(unknown):
                unknown = np.concatenate((unknown, np.empty(len(unknown) + 48, np.int64)))
            unknown[3 * count], unknown[3 * count + 1], unknown[3 * count + 2] = kind, source, value
            count += 1
        marks[at + i] = code
    return unknown, count


@njit(types.UniTuple(_OUT, 3)(_OUT, _INTS, *[_OUT] * 5, _STORE, _OUT), cache=True, nogil=True)
def read_all(
    widths: np.ndarray, sources: np.ndarray, keys: np.ndarray, codes: np.ndarray, numbers: np.ndarray,
    slots: np.ndarray, ends: np.ndarray, store: np.ndarray, used: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The marks of several tables: of each as many columns as its width says, and then times; and how many each has.

    ``sources``: of each table its first row and how many from there on, and if there are any the sources.  ``keys``,
    ``codes``: of numbers (see :class:`occurs.operators.keycodes.IntTable`); ``numbers``: by code, no place if there are
    others than ints; ``slots``, ``ends``, ``store``: of texts; ``used``: how many there are of either.  New values are
    added.  Last come three numbers for every value that has no code and for which there is no room: its kind, the
    number of its source; and the number that it is, or the row of the text.
    """
    counts = np.empty(len(widths), np.int64)
    size = place = 0
    for k in range(len(widths)):
        counts[k] = sources[place + 1]
        size += (widths[k] + 1) * counts[k]
        place += 2 + (3 * (widths[k] + 1) if counts[k] else 0)
    marks, unknown = np.empty(size, np.int64), np.empty(0, np.int64)
    at = place = source = count = 0
    for k in range(len(widths)):
        first = sources[place]
        place += 2
        if counts[k] == 0:
            continue
        for _ in range(widths[k] + 1):
            unknown, count = _read(
                marks, at, sources, place, source, first, counts[k], keys, codes, numbers, slots, ends, store, used,
                unknown, count,
            )  # fmt: skip
            at += counts[k]
            place += 3
            source += 1
    return marks, counts, unknown[: 3 * count].copy()
