"""Texts that repeat: a column of few different values in runs, written at once."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel


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
