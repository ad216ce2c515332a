"""Whole numbers and their codes: a dictionary that kernels read, and write as long as it has room."""

from __future__ import annotations

import numpy as np

from occurs.operators.codes import IntTable


class Ints:
    """Equal numbers have equal codes 0, 1, ..., in the order in which they first come.

    ``table``: codes by number; ``values``: numbers by code, with room behind them; ``used``: int64 (1), how many there
    are.

    >>> ints = Ints()
    >>> ints.encode(np.array([7, -2, 7]), None).tolist()
    [0, 1, 0]
    >>> ints.values[:2].tolist()
    [7, -2]
    """

    def __init__(self, used: np.ndarray | None = None) -> None:
        self.table = IntTable()
        self.values = np.empty(16, np.int64)
        self.used = np.zeros(1, np.int64) if used is None else used

    def encode(self, values: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
        """int64 codes (n) of int64 values, -1 where they are not ``valid``."""
        before = int(self.used[0])
        self.table.used = before  # kernels may have added some
        codes, after = self.table.encode(values, valid, before)
        if after > before:
            if 2 * after > len(self.values):
                self.values = np.concatenate([self.values[:before], np.empty(2 * after - before, np.int64)])
            new = codes >= before
            self.values[codes[new]] = values[new]
            self.used[0] = after
        return codes
