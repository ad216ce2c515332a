"""Values of ranges of a column by their rank, at a cost per range that does not grow with it."""

from __future__ import annotations

import numpy as np

from occurs.operators.kernels import aggregating
from occurs.operators.kernels.ranking import kth, wavelet


class Ranked:
    """``ranks``: int64 (n) from 0 on, equal for equal values; -1 for null."""

    def __init__(self, ranks: np.ndarray):
        self.ranks = ranks
        self._matrix: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def find(
        self, lo: np.ndarray, hi: np.ndarray, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the values that are ``first`` and ``second`` (from 0) in the order of each range's; -1 where
        there is no such."""
        if int((hi - lo).sum()) <= 8 * (len(self.ranks) + len(lo)):
            return aggregating.ranked(self.ranks, lo, hi, first, second)
        if self._matrix is None:
            some = np.flatnonzero(self.ranks >= 0)
            most = int(self.ranks.max(initial=0))
            self._where = np.zeros(most + 1, np.int64)
            self._where[self.ranks[some]] = some
            self._before = aggregating.prefix_sums((self.ranks >= 0).astype(np.int64))
            self._matrix = wavelet(self.ranks[some], max(1, most.bit_length()))
        words, ones, zeros = self._matrix
        a, b = self._before[lo], self._before[hi]
        out = []
        for k in (first, second):
            rank = kth(words, ones, zeros, a, b, k)
            out.append(np.where(rank >= 0, self._where[rank], -1))
        return out[0], out[1]
