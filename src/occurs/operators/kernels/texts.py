"""Kernels over texts as Arrow keeps them: bytes, and offsets into them; numbered by what they say."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel, types

_BYTES = types.Array(types.uint8, 1, "C", readonly=True)
_OFFSETS = types.Array(types.int32, 1, "C", readonly=True)
_CODES = types.Array(types.int64, 1, "A", readonly=True)
_INTS = types.Array(types.int64, 1, "C")
_STORE = types.Array(types.uint8, 1, "C")
_SHORT = types.Array(types.int32, 1, "C")
#: slots with the number of a text or -1, where each text ends (before the first: 0), the bytes of all, how many texts
_TABLE = types.Tuple((_INTS, _INTS, _STORE, types.int64))


@kernel(types.int64(_BYTES, types.int64, types.int64))
def _hash(data: np.ndarray, begin: np.int64, end: np.int64) -> np.int64:
    """FNV-1a, its upper half mixed in."""
    h = np.uint64(0xCBF29CE484222325)
    for i in range(begin, end):
        h = (h ^ np.uint64(data[i])) * np.uint64(0x100000001B3)
    return np.int64((h ^ (h >> np.uint64(32))) & np.uint64(0x7FFFFFFFFFFFFFFF))


@kernel(types.int64(_INTS, _INTS, _STORE, _BYTES, types.int64, types.int64))
def _slot_of(
    slots: np.ndarray, ends: np.ndarray, store: np.ndarray, data: np.ndarray, begin: np.int64, end: np.int64
) -> np.int64:
    """The slot that has the text, or the empty one for it."""
    size = len(slots)
    s = _hash(data, begin, end) & (size - 1)
    while slots[s] >= 0:
        first = ends[slots[s]]
        if ends[slots[s] + 1] - first == end - begin:
            i = 0
            while i < end - begin and store[first + i] == data[begin + i]:
                i += 1
            if i == end - begin:
                return s
        s = (s + 1) & (size - 1)
    return s


@kernel(
    types.Tuple((_INTS, _INTS, _INTS, _STORE, types.int64))(
        _INTS, _INTS, _STORE, types.int64, _BYTES, _OFFSETS, _BYTES, types.int64, types.int64
    ),
)
def numbered(
    slots: np.ndarray, ends: np.ndarray, store: np.ndarray, used: int, data: np.ndarray, offsets: np.ndarray,
    valid: np.ndarray, first: int, n: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """The numbers of texts ``first`` to before ``first + n``, -1 for null; and the table, in which new ones are.

    ``slots``: numbers of texts or -1, a power of two of them; text k is bytes ends[k] to before ends[k + 1] of
    ``store``; ``used``: how many there are.  ``valid``: the bits of Arrow, none if there are no nulls.
    """
    out = np.empty(n, np.int64)
    for i in range(n):
        at = first + i
        if len(valid) and not (valid[at >> 3] >> (at & 7)) & 1:
            out[i] = -1
            continue
        begin, end = np.int64(offsets[at]), np.int64(offsets[at + 1])
        s = _slot_of(slots, ends, store, data, begin, end)
        if slots[s] < 0:
            if 2 * (used + 1) > len(slots):
                more = np.full(2 * len(slots), -1, np.int64)
                for k in range(used):
                    more[_slot_of(more, ends, store, store, ends[k], ends[k + 1])] = k
                slots = more
                s = _slot_of(slots, ends, store, data, begin, end)
            if used + 2 > len(ends):
                longer = np.zeros(2 * len(ends), np.int64)
                longer[: used + 1] = ends[: used + 1]
                ends = longer
            last = ends[used] + end - begin
            if last > len(store):
                larger = np.empty(2 * last, np.uint8)
                larger[: ends[used]] = store[: ends[used]]
                store = larger
            store[ends[used] : last] = data[begin:end]
            slots[s] = used
            ends[used + 1] = last
            used += 1
        out[i] = slots[s]
    return out, slots, ends, store, used


@kernel(types.Tuple((_INTS, types.boolean))(_INTS, _INTS, _STORE, _BYTES, _OFFSETS, types.int64, types.int64))
def known(
    slots: np.ndarray, ends: np.ndarray, store: np.ndarray, data: np.ndarray, offsets: np.ndarray, first: int, n: int,
) -> tuple[np.ndarray, bool]:  # fmt: skip
    """The numbers of texts that are all in the table; or that they are not."""
    out = np.empty(n, np.int64)
    for i in range(n):
        s = _slot_of(slots, ends, store, data, offsets[first + i], offsets[first + i + 1])
        if slots[s] < 0:
            return out, False
        out[i] = slots[s]
    return out, True


@kernel(types.Tuple((_SHORT, _STORE))(_INTS, _STORE, _CODES))
def written(ends: np.ndarray, store: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The texts of ``codes`` as offsets and bytes; no offsets if Arrow could not address so many bytes."""
    n = len(codes)
    total = 0
    for i in range(n):
        total += ends[codes[i] + 1] - ends[codes[i]]
    if total >= 1 << 31:
        return np.empty(0, np.int32), np.empty(0, np.uint8)
    offsets = np.empty(n + 1, np.int32)
    data = np.empty(total, np.uint8)
    at = 0
    offsets[0] = 0
    for i in range(n):
        for k in range(ends[codes[i]], ends[codes[i] + 1]):
            data[at] = store[k]
            at += 1
        offsets[i + 1] = at
    return offsets, data


@kernel
def repeated(text: np.ndarray, lengths: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(bytes, int32 offsets) of the column in which text ``i`` stands ``counts[i]`` times, one text after the other.

    text: the bytes of all texts, one behind the other.  The caller sees to it that int32 suffices.
    """
    rows, size = 0, 0
    for i in range(len(lengths)):
        rows += counts[i]
        size += counts[i] * lengths[i]
    out = np.empty(size, np.uint8)
    offsets = np.empty(rows + 1, np.int32)
    offsets[0] = 0
    row, put, begin = 0, 0, 0
    for i in range(len(lengths)):
        length = lengths[i]
        stop = put + counts[i] * length
        if counts[i] > 0:
            out[put : put + length] = text[begin : begin + length]
        done = length
        while put + done < stop:  # what is there is copied behind itself: few long copies
            part = min(done, stop - put - done)
            out[put + done : put + done + part] = out[put : put + part]
            done += part
        for k in range(counts[i]):
            row += 1
            offsets[row] = put + (k + 1) * length
        put = stop
        begin += length
    return out, offsets
