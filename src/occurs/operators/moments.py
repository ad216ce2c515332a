"""Sums and deviations of a column over ranges of an index: exact, at a cost per range that does not grow with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, ldexp, sqrt

import numpy as np

from occurs.operators.columns import Column
from occurs.operators.kernels import aggregating, exactsums
from occurs.operators.kernels.aggregating import prefix_sums

#: more limbs of 32 bits per row than this are not worth it: values differ by too many powers of two
MOST_LIMBS = 20
#: partial sums of values up to this cannot overflow
HUGE = 1e290


@dataclass
class Moments:
    """Of a numeric column (n) in index order; ``valid``: booleans (n).  Infinite values count as such."""

    column: Column
    valid: np.ndarray
    _made: dict[str, np.ndarray | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        values = self.column.values
        self._use = self.valid
        self._huge = False
        self.infinite: np.ndarray | None = None
        if values.dtype == np.float64:
            finite = np.isfinite(values)
            if not finite.all():
                self._use = self.valid & finite
                signs = np.where(self.valid & ~finite, values, 0.0)
                self.infinite = np.stack([prefix_sums((signs == s).astype(np.int64)) for s in (inf, -inf)])
                self._odd = prefix_sums((self.valid & np.isnan(values)).astype(np.int64))
            self._huge = bool(np.abs(np.where(self._use, values, 0.0)).max(initial=0.0) > HUGE)
            bits = values.view(np.int64)
            self._mantissa, self._shift, self._negative, self._base, self._spread = exactsums.decompose(
                bits, self._use
            )
        else:
            ints = np.where(self.valid, values, 0).astype(np.int64)
            self._negative = ints < 0
            self._mantissa = np.where(self._negative, -ints, ints).view(np.uint64)
            self._shift = np.zeros(len(ints), np.int64)
            self._base = self._spread = 0

    def _limbs(self, squares: bool) -> int:
        """How many limbs hold every sum, its sign included."""
        twice = 2 if squares else 1
        bits = twice * (self._spread + 64) + len(self._mantissa).bit_length() + 1
        return -(-bits // 32)

    def _prefix(self, squares: bool) -> np.ndarray | None:
        """The prefix sums; None if they would be too wide."""
        name = "squares" if squares else "sums"
        if name not in self._made:
            limbs = self._limbs(squares)
            table = None
            if limbs <= MOST_LIMBS:
                table = exactsums.prefix(self._mantissa, self._shift, self._negative, limbs, squares)
            self._made[name] = table
        return self._made[name]

    def sums(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """float64: the exact sums of a float column, rounded once."""
        narrow = int((hi - lo).sum()) <= 4 * len(lo)
        table = None if narrow and not self._huge else self._prefix(False)
        if table is not None:
            out = exactsums.sums(table, self._base, lo, hi)
        elif self._huge:
            out = np.array([self._sum(a, b) for a, b in zip(lo.tolist(), hi.tolist())], np.float64)
        else:
            out = aggregating.float_sums(self.column.values, self._use, lo, hi)
        return self._with_infinite(out, lo, hi)

    def _sum(self, lo: int, hi: int) -> float:
        """One of them, with fractions."""
        exact = sum((Fraction(v) for v in self.column.values[lo:hi][self._use[lo:hi]].tolist()), Fraction(0))
        try:
            return float(exact)
        except OverflowError:
            return inf if exact > 0 else -inf

    def deviations(self, lo: np.ndarray, hi: np.ndarray, count: np.ndarray) -> np.ndarray:
        """float64: sample standard deviations from exact moments; NaN below two values or with an infinite one."""
        table, squares = self._prefix(False), self._prefix(True)
        if table is not None and squares is not None:
            out = exactsums.deviations(table, squares, self._base, lo, hi, count)
        else:
            exact = zip(lo.tolist(), hi.tolist(), count.tolist())
            out = np.array([self._deviation(a, b, n) for a, b, n in exact], np.float64)
        out[count < 2] = np.nan
        if self.infinite is not None:
            some = (self.infinite[:, hi] - self.infinite[:, lo]).sum(axis=0) + self._odd[hi] - self._odd[lo]
            out[some > 0] = np.nan
        return out

    def _deviation(self, lo: int, hi: int, n: int) -> float:
        """One of them, with fractions."""
        if n < 2:
            return 0.0
        used = np.flatnonzero(self._use[lo:hi]) + lo
        values = [Fraction(v) for v in self.column.values[used].tolist()]
        total = len(values) * sum(v * v for v in values) - sum(values) ** 2
        # rounded as the kernel does it: the integer in units of 2**(2 base), then the quotient
        units = total / Fraction(2) ** (2 * self._base)
        whole = int(units)
        below = max(0, whole.bit_length() - 53)
        try:
            return sqrt(ldexp(float(Fraction(whole, 2**below)) / (n * float(n - 1)), below + 2 * self._base))
        except OverflowError:  # the variance is beyond doubles
            return inf

    def _with_infinite(self, out: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        if self.infinite is None:
            return out
        more = self.infinite[:, hi] - self.infinite[:, lo]
        out = np.where(more[0] > 0, inf, np.where(more[1] > 0, -inf, out))
        return np.where(((more[0] > 0) & (more[1] > 0)) | (self._odd[hi] > self._odd[lo]), np.nan, out)
