"""Texts and their codes: a dictionary that reads and writes the buffers of Arrow, so that few texts cost little."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.kernels.texts import known, numbered, written

_NO_BYTES = np.zeros(0, np.uint8)


class Texts:
    """Equal texts have equal codes 0, 1, ..., in the order in which they first come.

    ``slots``, ``ends``, ``store``: see :mod:`occurs.operators.kernels.texts`; ``used``: int64 (1), how many there are.

    >>> texts = Texts()
    >>> texts.encode(Column.of(pa.array(["b", "a", None, "b"]), Type.STRING)).tolist()
    [0, 1, -1, 0]
    >>> texts.decode(np.array([1, 0]), Type.STRING).arrow.to_pylist()
    ['a', 'b']
    """

    def __init__(self, used: np.ndarray | None = None) -> None:
        self.slots = np.full(16, -1, np.int64)
        #: where each text ends in ``store`` (before the first: 0)
        self.ends = np.zeros(16, np.int64)
        self.store = np.empty(256, np.uint8)
        self.used = np.zeros(1, np.int64) if used is None else used

    @property
    def size(self) -> int:
        """The number of codes."""
        return int(self.used[0])

    def encode(self, column: Column) -> np.ndarray:
        """int64 codes (n), -1 for null."""
        array = column.arrow
        n, first = len(array), array.offset
        bits, ends, text = array.buffers()
        if not n or ends is None:
            return np.full(n, -1, np.int64)
        offsets = np.frombuffer(ends, np.int32)
        data = _NO_BYTES if text is None else np.frombuffer(text, np.uint8)
        if bits is None or not array.null_count:
            codes, all_known = known(self.slots, self.ends, self.store, data, offsets, first, n)
            if all_known:
                return codes
            valid = _NO_BYTES
        else:
            valid = np.frombuffer(bits, np.uint8)
        codes, self.slots, self.ends, self.store, self.used[0] = numbered(
            self.slots, self.ends, self.store, int(self.used[0]), data, offsets, valid, first, n
        )
        return codes

    def decode(self, codes: np.ndarray, type: Type) -> Column:
        """The texts of ``codes``, all of them of texts that were encoded.  Raises ArrowInvalid for 2 GB of them."""
        offsets, data = written(self.ends, self.store, codes)
        if not len(offsets):
            raise pa.ArrowInvalid("a column has 2 GB of text or more")
        return Column(
            type, None, None, pa.StringArray.from_buffers(len(codes), pa.py_buffer(offsets), pa.py_buffer(data))
        )

    def columns(self, codes: np.ndarray) -> list[tuple[Column, np.ndarray]]:
        """The texts of ``codes`` as columns, here one, and where each belongs."""
        return [(self.decode(codes, Type.STRING), np.arange(len(codes)))]
