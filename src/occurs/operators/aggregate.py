"""Aggregates over the events of a window (paper section 4.5; tesla.md, section 4): closed at both ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import Span
from occurs.expr.tree import Expr, _span
from occurs.model.types import Type
from occurs.operators.candidates import DIRECT
from occurs.operators.columns import Column
from occurs.operators.frame import NO_BOUND, NO_MASK, Index
from occurs.operators.kernels import aggregating as kernel
from occurs.operators.kernels.ranking import distinct
from occurs.operators.kernels.selecting import expand
from occurs.operators.moments import Moments
from occurs.operators.orderstats import Ranked
from occurs.operators.windows import Between, KeyPart, Source, Within

if TYPE_CHECKING:
    from occurs.operators.pattern import Matches
    from occurs.operators.run import Run

#: raises the error of the range whose number it is given
Overflow = Callable[[int], None]


@dataclass(frozen=True)
class Windowed(Expr):
    """``function`` (count sum avg min max stddev median percentile first last list set, or ``count distinct``) of
    ``attribute`` over the rows of a window.

    ``attribute`` None counts rows.  ``type``: of the result.  ``percent``: of a percentile.  ``of``: the type of the
    values of a list, NULL if nothing is known of it.
    """

    function: str
    attribute: str | None
    type: Type
    source: Source
    interval: Within | Between
    keys: tuple[KeyPart, ...]
    residual: tuple[Expr, ...] = ()
    percent: float | None = None
    of: Type = Type.NULL
    span: Span | None = _span()

    @property
    def children(self) -> tuple[Expr, ...]:
        return (*self.source.filters, *self.residual)

    def with_children(self, new: tuple[Expr, ...]) -> Expr:
        from dataclasses import replace

        n = len(self.source.filters)
        return replace(self, source=replace(self.source, filters=tuple(new[:n])), residual=tuple(new[n:]))


@dataclass(frozen=True)
class Reduced:
    """What a range of rows becomes: see :class:`Windowed`."""

    function: str
    attribute: str | None
    type: Type
    percent: float | None = None
    of: Type = Type.NULL


def aggregate(run: Run, matches: Matches, node: Windowed) -> Column:
    """One value per match."""
    from occurs.operators.run import blocks

    found = run.finder.find(matches, node.source, node.keys, node.interval)
    rows, index, mask, left = found.rows, found.index, found.mask, found.left
    lo, hi = found.ranges()
    column = None if node.attribute is None else rows.column(node.attribute)
    if mask is NO_MASK and not node.residual and not left:
        return reduced(node, column, index, lo, hi, partial(run.overflow, matches))
    parts = []
    for block in blocks(lo, hi):
        part = matches.take(block)
        match, row = expand(lo[block], hi[block], DIRECT, index.order, run.rule_of(part), mask, NO_BOUND)
        pairs = part.take(match)
        passed = run.keep(pairs, node.residual + left, rows, row)
        if passed is not None:
            match, row = match[passed], row[passed]
        # the rows that passed, match by match, are an index of their own
        cut = np.searchsorted(match, np.arange(len(block) + 1))
        own = Index(row, cut, rows.time[row])
        parts.append(reduced(node, column, own, cut[:-1], cut[1:], partial(run.overflow, part)))
    return Column.concat(parts)


def _ordered(index: Index, column: Column, name: str) -> tuple[Column, np.ndarray]:
    """The column in index order, and its validity."""
    found = index.cache.get(("column", name))
    if found is None:
        ordered = column.take(index.order)
        found = (ordered, ordered.is_valid())
        index.cache[("column", name)] = found
    return found


def reduced(
    node: Windowed | Reduced, column: Column | None, index: Index, lo: np.ndarray, hi: np.ndarray, overflow: Overflow
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
        return Column(Type.INT, distinct(_ranks(index, node.attribute, ordered), lo, hi), None)
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
        sums = kernel.prefix_sums(ordered.is_valid().astype(np.int64))
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
        sums = kernel.prefix_sums(values)
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
    index: Index, node: Windowed | Reduced, ordered: Column, lo: np.ndarray, hi: np.ndarray, count: np.ndarray
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
            found = kernel.next_true(valid) if function == "first" else kernel.last_true(valid)
            index.cache[(function, name)] = found
        at = found[lo if function == "first" else hi]
        return np.minimum(at, max(len(ordered) - 1, 0))
    ranks = _ranks(index, name, ordered)
    widest = int((hi - lo).max(initial=0))
    levels = max(1, (widest // kernel.BLOCK).bit_length())
    least = function == "min"
    if found is None or len(found[2]) < levels:
        found = index.cache[(function, name)] = kernel.block_extremes(ranks, levels, least)
    before, after, table = found
    return kernel.extremes(before, after, table, ranks, lo, hi, least)


def _pick(ordered: Column, at: np.ndarray) -> Column:
    """Values at positions; null where -1."""
    missing = at < 0
    if len(ordered) == 0:
        return Column.nulls(ordered.type, len(at))
    if ordered.numeric:
        return Column(ordered.type, ordered.values[np.maximum(at, 0)], ~missing if missing.any() else None)
    taken = ordered.arrow.take(pa.array(at, mask=missing))
    return Column(ordered.type, None, None, taken)
