"""Aggregates of a column over ranges of an index, exact, most of them at a cost that does not grow with the range."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, ldexp, sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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


def _ordered(index: Index, column: Column, name: str) -> tuple[Column, np.ndarray]:
    """The column in index order, and its validity."""
    found = index.cache.get(("column", name))
    if found is None:
        ordered = column.take(index.order)
        found = (ordered, ordered.is_valid())
        index.cache[("column", name)] = found
    return found


def reduced(
    node: Reduced, column: Column | None, index: Index, lo: np.ndarray, hi: np.ndarray, overflow: Overflow
) -> Column:
    """A value per range [lo, hi) of an index; ``column``: of its rows, None to count them."""
    if column is None:
        return Column(Type.INT, hi - lo, None)
    assert node.attribute is not None
    ordered, valid = _ordered(index, column, node.attribute)
    count = _counts(index, node.attribute, ordered, lo, hi)
    name = node.function
    if name == "count":
        return Column(Type.INT, count, None)
    if name in ("list", "set"):
        ranks = _ranks(index, node.attribute, ordered) if name == "set" and column.type is not Type.NULL else None
        return _lists(ordered if node.of is Type.NULL else ordered.cast(node.of), ranks, lo, hi)
    if column.type is Type.NULL:  # nothing but nulls, so there is nothing to order or to add
        return Column(node.type, count, None) if name == "sum" else Column.nulls(node.type, len(lo))
    some = count > 0
    if name == "count distinct":
        return Column(Type.INT, kernels.distinct(_ranks(index, node.attribute, ordered), lo, hi), None)
    if name in ("first", "last", "min", "max"):
        at = _position(name, index, node.attribute, ordered, valid, lo, hi)
        return _pick(ordered, np.where(some, at, -1)).cast(node.type)
    if name == "median":
        left, right = _ranked(index, node.attribute, ordered, lo, hi, (count - 1) // 2, count // 2)
        middle = _mean_of_two(_pick(ordered, left).values, _pick(ordered, right).values)
        return Column(Type.FLOAT, np.where(some, middle, 0.0), None if some.all() else some)
    if node.percent is not None:
        return _percentile(index, node, ordered, lo, hi, count)
    if name == "stddev":
        spread = _moments(index, node.attribute, ordered, valid).deviations(lo, hi, count)
        known = ~np.isnan(spread)
        return Column(Type.FLOAT, np.where(known, spread, 0.0), None if known.all() else known)
    if ordered.type is not Type.FLOAT:
        sums = _int_sums(overflow, index, node.attribute, ordered, lo, hi, wide=name != "sum")
    else:
        sums = _moments(index, node.attribute, ordered, valid).sums(lo, hi)
    if name == "sum":
        return Column(node.type, sums, None).cast(node.type)
    return Column(Type.FLOAT, _quotient(sums, count), None if some.all() else some)


def _moments(index: Index, name: str, ordered: Column, valid: np.ndarray) -> Moments:
    found = index.cache.get(("moments", name))
    if found is None:
        found = index.cache[("moments", name)] = Moments(ordered, valid)
    return found


def _counts(index: Index, name: str, ordered: Column, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """How many non-null values each range holds."""
    if ordered.numeric and ordered.valid is None:
        return hi - lo
    sums = index.cache.get(("valid", name))
    if sums is None:
        sums = kernels.prefix_sums(ordered.is_valid().astype(np.int64))
        index.cache[("valid", name)] = sums
    return sums[hi] - sums[lo]


def _int_sums(
    overflow: Overflow, index: Index, name: str, ordered: Column, lo: np.ndarray, hi: np.ndarray, wide: bool
) -> np.ndarray:
    """Exact sums: int64, or (``wide``) Python integers where int64 might not hold them."""
    values = ordered.values.astype(np.int64, copy=False)
    if len(values) == 0:
        return np.zeros(len(lo), np.int64)
    if ordered.valid is not None:
        values = np.where(ordered.valid, values, 0)
    sums = index.cache.get(("sums", name))
    if sums is None:
        sums = kernels.prefix_sums(values)
        index.cache[("sums", name)] = sums
    total = sums[hi] - sums[lo]
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


def _ranks(index: Index, name: str, ordered: Column) -> np.ndarray:
    """int64 ranks of the values from 0 on, equal for equal values; -1 for null."""
    found = index.cache.get(("ranks", name))
    if found is None:
        ranks = pc.rank(ordered.arrow, sort_keys="ascending", tiebreaker="dense")
        found = np.where(ordered.is_valid(), ranks.to_numpy(zero_copy_only=False).astype(np.int64) - 1, -1)
        index.cache[("ranks", name)] = found
    return found


def _lists(ordered: Column, ranks: np.ndarray | None, lo: np.ndarray, hi: np.ndarray) -> Column:
    """The values of each range in their order, or (``ranks``) the different ones, ascending."""
    size = np.maximum(hi - lo, 0)
    number = np.repeat(np.arange(len(lo)), size)
    at = np.arange(len(number)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(lo, size)
    there = ordered.is_valid()[at]
    number, at = number[there], at[there]
    if ranks is not None:
        by = np.lexsort((ranks[at], number))
        number, at = number[by], at[by]
        new = np.ones(len(at), np.bool_)
        new[1:] = (number[1:] != number[:-1]) | (ranks[at[1:]] != ranks[at[:-1]])
        number, at = number[new], at[new]
    values = ordered.take(at).arrow
    if pa.types.is_timestamp(values.type):
        values = values.cast(pa.timestamp("us", tz="UTC"))
    offsets = np.searchsorted(number, np.arange(len(lo) + 1))
    return Column(Type.RECORD, None, None, pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values))


def _percentile(
    index: Index, node: Reduced, ordered: Column, lo: np.ndarray, hi: np.ndarray, count: np.ndarray
) -> Column:
    """In proportion between the two nearest values; null for ranges without values."""
    assert node.attribute is not None
    assert node.percent is not None
    at = node.percent * (count - 1) / 100
    first, second = np.floor(at).astype(np.int64), np.ceil(at).astype(np.int64)
    first, second = np.where(count > 0, first, -1), np.where(count > 0, second, -1)
    left, right = _ranked(index, node.attribute, ordered, lo, hi, first, second)
    low, high = (_pick(ordered, p).values.astype(np.float64) for p in (left, right))
    with np.errstate(all="ignore"):
        out = np.where(low == high, low, low + (high - low) * (at - np.floor(at)))
    known = (count > 0) & ~np.isnan(out)
    return Column(Type.FLOAT, np.where(known, out, 0.0), None if known.all() else known)


def _ranked(
    index: Index, name: str, ordered: Column, lo: np.ndarray, hi: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the values that are ``first`` and ``second`` (from 0) in the order of each range's; -1 where there
    is no such."""
    found = index.cache.get(("ranked", name))
    if found is None:
        found = index.cache[("ranked", name)] = Ranked(_ranks(index, name, ordered))
    return found.find(lo, hi, first, second)


def _position(
    function: str, index: Index, name: str, ordered: Column, valid: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> np.ndarray:
    """The position in the index of the value asked for; anything where the range has none."""
    found = index.cache.get((function, name))
    if function in ("first", "last"):
        if found is None:
            found = kernels.next_true(valid) if function == "first" else kernels.last_true(valid)
            index.cache[(function, name)] = found
        at = found[lo if function == "first" else hi]
        return np.minimum(at, max(len(ordered) - 1, 0))
    ranks = _ranks(index, name, ordered)
    widest = int((hi - lo).max(initial=0))
    levels = max(1, (widest // kernels.BLOCK).bit_length())
    least = function == "min"
    if found is None or len(found[2]) < levels:
        found = index.cache[(function, name)] = kernels.block_extremes(ranks, levels, least)
    before, after, table = found
    return kernels.extremes(before, after, table, ranks, lo, hi, least)


def _pick(ordered: Column, at: np.ndarray) -> Column:
    """Values at positions; null where -1."""
    missing = at < 0
    if len(ordered) == 0:
        return Column.nulls(ordered.type, len(at))
    if ordered.numeric:
        return Column(ordered.type, ordered.values[np.maximum(at, 0)], ~missing if missing.any() else None)
    taken = ordered.arrow.take(pa.array(at, mask=missing))
    return Column(ordered.type, None, None, taken)


# -- values by their rank ----------------------------------------------------------------------------------------------
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
            return kernels.ranked(self.ranks, lo, hi, first, second)
        if self._matrix is None:
            some = np.flatnonzero(self.ranks >= 0)
            most = int(self.ranks.max(initial=0))
            self._where = np.zeros(most + 1, np.int64)
            self._where[self.ranks[some]] = some
            self._before = kernels.prefix_sums((self.ranks >= 0).astype(np.int64))
            self._matrix = kernels.wavelet(self.ranks[some], max(1, most.bit_length()))
        words, ones, zeros = self._matrix
        a, b = self._before[lo], self._before[hi]
        out = []
        for k in (first, second):
            rank = kernels.kth(words, ones, zeros, a, b, k)
            out.append(np.where(rank >= 0, self._where[rank], -1))
        return out[0], out[1]


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
            self._mantissa, self._shift, self._negative, self._base, self._spread = kernels.decompose(
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
