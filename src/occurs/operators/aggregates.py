"""Aggregates of a column over ranges of an index, exact, most of them at a cost that does not grow with the range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import inf, ldexp, sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.aggregates import AGGREGATES
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.frame import Index
from occurs.operators.kernels import range_aggregates as kernels

#: raises the error of the range whose number it is given
Overflow = Callable[[int], None]


@dataclass(frozen=True)
class Reduced:
    """What a range of rows becomes: see :class:`occurs.operators.select.pattern.Windowed`."""

    function: str
    attribute: str | None
    type: Type
    percent: float | None = None
    of: Type = Type.NULL


def reduced(
    node: Reduced, column: Column | None, index: Index, lo: np.ndarray, hi: np.ndarray, overflow: Overflow
) -> Column:
    """A value per range [lo, hi) of an index; ``column``: of its rows, None to count them."""
    if column is None:
        return Column(Type.INT, hi - lo, None)
    values = index.cache.get(node.attribute)
    if values is None:
        values = index.cache[node.attribute] = Ordered(index.values(column))
    return Ranges(values, lo, hi, node, overflow).reduced()


class Ranges:
    """Ranges [lo, hi) of a column: what the declarations compute with (:class:`occurs.expr.aggregates.Ranges`)."""

    def __init__(self, values: Ordered, lo: np.ndarray, hi: np.ndarray, node: Reduced, overflow: Overflow) -> None:
        self._values, self._lo, self._hi, self._node, self._overflow = values, lo, hi, node, overflow
        self.number = node.percent
        self.count = values.counts(lo, hi)

    def reduced(self) -> Column:
        """The column of the results."""
        declared, type = AGGREGATES[self._node.function], self._node.type
        if self._values.column.type is not Type.NULL or declared.listing:
            return declared.run(self)
        # nothing but nulls, so there is nothing to order or to add
        if declared.none is None:
            return Column.nulls(type, len(self._lo))
        return Column(Type.INT, np.full(len(self._lo), declared.none), None).cast(type)

    def column(self, found: np.ndarray, type: Type = Type.FLOAT, known: np.ndarray | None = None) -> Column:
        if AGGREGATES[self._node.function].none is not None:
            return Column(type, found, None)
        known = self.count > 0 if known is None else known
        if known.all():
            return Column(type, found, None)
        return Column(type, np.where(known, found, np.zeros(1, found.dtype)), known)

    def end(self, which: str) -> Column:
        at = np.where(self.count > 0, self._values.position(which, self._lo, self._hi), -1)
        return self._values.pick(at).cast(self._node.type)

    def sums(self) -> Column:
        return Column(self._values.column.type, self._sums(wide=False), None).cast(self._node.type)

    def _sums(self, *, wide: bool) -> np.ndarray:
        if self._values.column.type is Type.FLOAT:
            return self._values.moments.sums(self._lo, self._hi)
        return self._values.int_sums(self._lo, self._hi, self._overflow, wide=wide)

    def means(self) -> np.ndarray:
        return _quotient(self._sums(wide=True), self.count)

    def deviations(self) -> Column:
        found = self._values.moments.deviations(self._lo, self._hi, self.count)
        return self.column(found, known=~np.isnan(found))

    def percentiles(self, percent: float) -> Column:
        return self._values.percentile(percent, self._lo, self._hi, self.count)

    def medians(self) -> np.ndarray:
        left, right = self._values.ranked(self._lo, self._hi, (self.count - 1) // 2, self.count // 2)
        return _mean_of_two(self._values.pick(left).values, self._values.pick(right).values)

    def distinct(self) -> np.ndarray:
        return kernels.distinct(self._values.ranks, self._lo, self._hi)

    def lists(self, distinct: bool) -> Column:
        distinct = distinct and self._values.column.type is not Type.NULL
        return self._values.lists(self._lo, self._hi, self._node.of, distinct=distinct)

    def folded(self, run: np.ufunc) -> np.ndarray:
        """``run`` over the values of each range as floats, from first to last, at a cost that grows with the range."""
        number, at = self._values.spread(self._lo, self._hi)
        out = np.zeros(len(self._lo))
        there = self.count > 0
        with np.errstate(all="ignore"):
            starts = np.searchsorted(number, np.flatnonzero(there))
            out[there] = run.reduceat(self._values.column.values[at].astype(np.float64), starts) if len(starts) else 0
        return out


class Ordered:
    """A column in the order of an index, and what aggregates over its ranges share: all made when first needed."""

    def __init__(self, column: Column) -> None:
        self.column, self.valid = column, column.is_valid()
        self._extremes: dict[bool, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    @cached_property
    def _before(self) -> np.ndarray:
        """How many non-null values there are before every position."""
        return kernels.prefix_sums(self.valid.astype(np.int64))

    @cached_property
    def moments(self) -> Moments:
        return Moments(self.column, self.valid)

    @cached_property
    def ranks(self) -> np.ndarray:
        """int64 ranks of the values from 0 on, equal for equal values; -1 for null."""
        ranks = pc.rank(self.column.arrow, sort_keys="ascending", tiebreaker="dense")
        return np.where(self.valid, ranks.to_numpy(zero_copy_only=False).astype(np.int64) - 1, -1)

    def counts(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """How many non-null values each range holds."""
        if self.column.numeric and self.column.valid is None:
            return hi - lo
        return self._before[hi] - self._before[lo]

    # -- sums --------------------------------------------------------------------------------------------------------
    @cached_property
    def _ints(self) -> np.ndarray:
        """int64, 0 for null."""
        values = self.column.values.astype(np.int64, copy=False)
        return values if self.column.valid is None else np.where(self.column.valid, values, 0)

    @cached_property
    def _int_prefix(self) -> np.ndarray:
        return kernels.prefix_sums(self._ints)

    def int_sums(self, lo: np.ndarray, hi: np.ndarray, overflow: Overflow, *, wide: bool) -> np.ndarray:
        """Exact sums: int64, or (``wide``) Python integers where int64 might not hold them."""
        values = self._ints
        if len(values) == 0:
            return np.zeros(len(lo), np.int64)
        total = self._int_prefix[hi] - self._int_prefix[lo]
        widest = int((hi - lo).max()) if len(lo) else 0
        largest = max(abs(int(values.max())), abs(int(values.min())))
        if widest * largest < 2**63:
            return total
        exact = np.array([sum(values[a:b].tolist()) for a, b in zip(lo.tolist(), hi.tolist())], object)
        if wide:
            return exact
        for at, value in enumerate(exact):
            if not -(2**63) <= value < 2**63:
                overflow(at)
        return exact.astype(np.int64)

    # -- values ------------------------------------------------------------------------------------------------------
    def pick(self, at: np.ndarray) -> Column:
        """Values at positions; null where -1."""
        missing, column = at < 0, self.column
        if len(column) == 0:
            return Column.nulls(column.type, len(at))
        if column.numeric:
            return Column(column.type, column.values[np.maximum(at, 0)], ~missing if missing.any() else None)
        return Column(column.type, None, None, column.arrow.take(pa.array(at, mask=missing)))

    @cached_property
    def _next(self) -> np.ndarray:
        return kernels.next_true(self.valid)

    @cached_property
    def _last(self) -> np.ndarray:
        return kernels.last_true(self.valid)

    def position(self, function: str, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """The position of the ``first``, ``last``, ``min`` or ``max`` of each range; anything where it has no value."""
        if function in ("first", "last"):
            at = self._next[lo] if function == "first" else self._last[hi]
            return np.minimum(at, max(len(self.column) - 1, 0))
        levels = max(1, (int((hi - lo).max(initial=0)) // kernels.BLOCK).bit_length())
        least = function == "min"
        found = self._extremes.get(least)
        if found is None or len(found[2]) < levels:
            found = self._extremes[least] = kernels.block_extremes(self.ranks, levels, least)
        before, after, table = found
        return kernels.extremes(before, after, table, self.ranks, lo, hi, least)

    def spread(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The numbers of the ranges, and the positions of their values, one behind another; nulls left out."""
        size = np.maximum(hi - lo, 0)
        number = np.repeat(np.arange(len(lo)), size)
        at = np.arange(len(number)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(lo, size)
        there = self.valid[at]
        return number[there], at[there]

    def lists(self, lo: np.ndarray, hi: np.ndarray, of: Type, *, distinct: bool) -> Column:
        """The values of each range in their order, or the ``distinct`` ones, ascending; ``of``: their type if it is
        known."""
        number, at = self.spread(lo, hi)
        if distinct:
            by = np.lexsort((self.ranks[at], number))
            number, at = number[by], at[by]
            new = np.ones(len(at), np.bool_)
            new[1:] = (number[1:] != number[:-1]) | (self.ranks[at[1:]] != self.ranks[at[:-1]])
            number, at = number[new], at[new]
        values = (self.column if of is Type.NULL else self.column.cast(of)).take(at).arrow
        if pa.types.is_timestamp(values.type):
            values = values.cast(pa.timestamp("us", tz="UTC"))
        offsets = np.searchsorted(number, np.arange(len(lo) + 1))
        return Column(Type.RECORD, None, None, pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values))

    # -- values by their rank ----------------------------------------------------------------------------------------
    @cached_property
    def _wavelet(self) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """A position for every rank, and the wavelet matrix of the ranks."""
        some = np.flatnonzero(self.valid)
        most = int(self.ranks.max(initial=0))
        where = np.zeros(most + 1, np.int64)
        where[self.ranks[some]] = some
        return where, kernels.wavelet(self.ranks[some], max(1, most.bit_length()))

    def ranked(
        self, lo: np.ndarray, hi: np.ndarray, first: np.ndarray, second: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Positions of the values that are ``first`` and ``second`` (from 0) in the order of each range's; -1 where
        there is no such."""
        if int((hi - lo).sum()) <= 8 * (len(self.ranks) + len(lo)):
            return kernels.ranked(self.ranks, lo, hi, first, second)
        where, matrix = self._wavelet
        ranks = [kernels.kth(*matrix, self._before[lo], self._before[hi], k) for k in (first, second)]
        left, right = [np.where(rank >= 0, where[rank], -1) for rank in ranks]
        return left, right

    def percentile(self, percent: float, lo: np.ndarray, hi: np.ndarray, count: np.ndarray) -> Column:
        """In proportion between the two nearest values; null for ranges without values."""
        at = percent * (count - 1) / 100
        first, second = np.floor(at).astype(np.int64), np.ceil(at).astype(np.int64)
        left, right = self.ranked(lo, hi, np.where(count > 0, first, -1), np.where(count > 0, second, -1))
        low, high = (self.pick(p).values.astype(np.float64) for p in (left, right))
        with np.errstate(all="ignore"):
            out = np.where(low == high, low, low + (high - low) * (at - np.floor(at)))
        known = (count > 0) & ~np.isnan(out)
        return Column(Type.FLOAT, np.where(known, out, 0.0), None if known.all() else known)


def _quotient(sums: np.ndarray, count: np.ndarray) -> np.ndarray:
    """sums / count, rounded once; 0 where count is 0."""
    if sums.dtype == object or (sums.dtype == np.int64 and len(sums) and np.abs(sums).max() >= 2**53):
        return np.array([s / c if c else 0.0 for s, c in zip(sums.tolist(), count.tolist())], np.float64)
    return np.divide(sums, count, out=np.zeros(len(sums), np.float64), where=count > 0)


def _mean_of_two(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.dtype == np.float64:
        return a / 2 + b / 2 if len(a) and np.abs(np.concatenate([a, b])).max() > 1e307 else (a + b) / 2
    if len(a) and max(int(np.abs(a).max()), int(np.abs(b).max())) >= 2**52:
        return np.array([(x + y) / 2 for x, y in zip(a.tolist(), b.tolist())], np.float64)
    return (a + b) / 2


# -- sums and deviations -----------------------------------------------------------------------------------------------
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
                self.infinite = np.stack([kernels.prefix_sums((signs == s).astype(np.int64)) for s in (inf, -inf)])
                self._odd = kernels.prefix_sums((self.valid & np.isnan(values)).astype(np.int64))
            self._huge = bool(np.abs(np.where(self._use, values, 0.0)).max(initial=0.0) > HUGE)
            bits = values.view(np.int64)
            self._mantissa, self._shift, self._negative, self._base, self._spread = kernels.decompose(bits, self._use)
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
                table = kernels.exact_prefix(self._mantissa, self._shift, self._negative, limbs, squares)
            self._made[name] = table
        return self._made[name]

    def sums(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """float64: the exact sums of a float column, rounded once."""
        narrow = int((hi - lo).sum()) <= 4 * len(lo)
        table = None if narrow and not self._huge else self._prefix(False)
        if table is not None:
            out = kernels.exact_sums(table, self._base, lo, hi)
        elif self._huge:
            out = np.array([self._sum(a, b) for a, b in zip(lo.tolist(), hi.tolist())], np.float64)
        else:
            out = kernels.float_sums(self.column.values, self._use, lo, hi)
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
            out = kernels.exact_deviations(table, squares, self._base, lo, hi, count)
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
