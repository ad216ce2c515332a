"""The middle values of ranges of a column, at a cost per range that does not grow with it."""

from __future__ import annotations

import numpy as np

from occurs.operators.kernels import aggregating
from occurs.operators.kernels.ranking import kth, wavelet


class Middles:
    """``ranks``: int64 (n) from 0 on, equal for equal values; -1 for null."""

    def __init__(self, ranks: np.ndarray):
        self.ranks = ranks
        self._matrix: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def find(self, lo: np.ndarray, hi: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the two middle values of each range (equal for odd counts); -1 where ``count``, the number of
        its values, is 0."""
        if int((hi - lo).sum()) <= 8 * (len(self.ranks) + len(lo)):
            return aggregating.middles(self.ranks, self.ranks >= 0, lo, hi)
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
        for k in ((count - 1) // 2, count // 2):
            rank = kth(words, ones, zeros, a, b, np.where(count > 0, k, -1))
            out.append(np.where(rank >= 0, self._where[rank], -1))
        return out[0], out[1]
