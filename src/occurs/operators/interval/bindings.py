"""Bindings of variables as keys, and rows that are found, grouped and joined by them: index arithmetic on columns.

A *key* is one int64 per row that stands for its binding (:func:`occurs.operators.interval.bindings.joint`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from occurs.operators.codes import IntTable
from occurs.operators.interval.signals import NEVER, OPEN, Codes, Intervals, Points, Signal, Spans, stacked
from occurs.operators.kernels.blocks import keys
from occurs.operators.kernels.intervals import ascending, extremes, index, numbers_of
from occurs.operators.kernels.intervals import member as member
from occurs.operators.kernels.range_scan import first_marks
from occurs.operators.kernels.row_index import find_ranges, group_rows, spread


def pick(codes: Codes, of: Sequence[str], wanted: Sequence[str]) -> Codes:
    """The codes of the variables ``wanted``, out of those of the variables ``of``."""
    return codes if wanted == of else tuple([codes[at] for at in _places(tuple(of), tuple(wanted))])


@cache
def _places(of: tuple[str, ...], wanted: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(of.index(v) for v in wanted)


@cache
def shared(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    """The variables of ``left`` that are among those of ``right``."""
    return tuple(v for v in left if v in right)


def union(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """All variables of both, sorted."""
    return tuple(sorted({*left, *right}))


@cache
def places(left: tuple[str, ...], right: tuple[str, ...], variables: tuple[str, ...]) -> np.ndarray:
    """int64 (2, variables): where either side has each of them, -1 if it has not."""
    found = [[side.index(v) if v in side else -1 for v in variables] for side in (left, right)]
    return np.array(found, np.int64).reshape(2, -1)


@dataclass(frozen=True)
class OfBoth:
    """Base class of operators over two operands, with the variables ``left`` and ``right``; the result has both."""

    left: tuple[str, ...]
    right: tuple[str, ...]

    @property
    def variables(self) -> tuple[str, ...]:
        return union(self.left, self.right)


@dataclass(frozen=True)
class OfLeft(OfBoth):
    """Base class of operators over two operands; the variables of the right one are among those of the left one."""

    @property
    def variables(self) -> tuple[str, ...]:
        return self.left


def joined(
    variables: tuple[str, ...],
    left: tuple[tuple[str, ...], Codes, np.ndarray],
    right: tuple[tuple[str, ...], Codes, np.ndarray],
) -> Codes:
    """The codes of ``variables`` for pairs of rows; a side is its variables, its codes and its row per pair."""
    names, codes, i = left
    others, more, j = right
    return tuple(codes[names.index(v)][i] if v in names else more[others.index(v)][j] for v in variables)


# --- keys -------------------------------------------------------------------------------------------------------------


def joint(sides: Sequence[tuple[Codes, int]]) -> list[np.ndarray]:
    """One int64 per row for each side's codes (with the number of its rows), equal where all codes are equal.

    The numbers mean something among the sides of one call only.
    """
    width = len(sides[0][0])
    if width == 0:
        return [np.zeros(n, np.int64) for _, n in sides]
    if width == 1:
        return [codes[0] for codes, _ in sides]
    columns = [column for k in range(width) for column in [codes[k] for codes, _ in sides]]
    key = keys(stacked(columns, width), width)
    if len(sides) == 1:
        return [key]
    parts, at = [], 0
    for codes, _ in sides:
        parts.append(key[at : at + len(codes[0])])
        at += len(codes[0])
    return parts


def instants(sides: Sequence[tuple[Codes, *tuple[np.ndarray, ...]]]) -> list[np.ndarray]:
    """Keys of the bindings and ticks (instants, or starts and ends) of each side."""
    return joint([((*codes, *ticks), len(ticks[0])) for codes, *ticks in sides])


# --- finding ----------------------------------------------------------------------------------------------------------


class Numbers:
    """Equal keys as equal numbers 0 <= number < ``size``: of the keys given (``given``), or any (:meth:`of`)."""

    def __init__(self, keys: np.ndarray) -> None:
        self._index: tuple[int, np.ndarray, np.ndarray, int] | None = None
        low, high = extremes(keys)
        if low >= 0 and high < 4 * len(keys) + 256:
            # small keys are their own numbers; not every number has a row then
            self.given, self.size = keys, high + 1
        else:
            self._index = index(keys)
            self.given, self.size = numbers_of(self._index, keys), self._index[3]

    def of(self, keys: np.ndarray) -> np.ndarray:
        """The numbers of ``keys``, -1 for what was not given."""
        if self._index is None:
            return np.where((keys >= 0) & (keys < self.size), keys, -1)
        return numbers_of(self._index, keys)


def find(keys: np.ndarray, among: np.ndarray) -> np.ndarray:
    """For every key a row of ``among`` that is equal to it (the last), -1 if there is none."""
    if not len(among) or not len(keys):
        return np.full(len(keys), -1, np.int64)
    numbers = Numbers(among)
    row = np.full(numbers.size + 1, -1, np.int64)  # one more, for the number -1
    row[numbers.given] = np.arange(len(among))
    return row[numbers.of(keys)]


def firsts(keys: np.ndarray) -> np.ndarray:
    """Booleans (n): the first row of every key."""
    codes, _ = IntTable().encode(keys, None, 0)
    out = np.ones(len(keys), np.bool_)
    # codes are given in the order of appearance: a new one is greater than all before it
    out[1:] = codes[1:] > np.maximum.accumulate(codes)[:-1]
    return out


def unseen(given: Intervals, rows: Intervals) -> np.ndarray:
    """The numbers of the rows that are not among ``given``, without repetitions."""
    if len(rows) < 2 and not len(given):
        return np.arange(len(rows))
    both = instants([(given.codes, given.start, given.end), (rows.codes, rows.start, rows.end)])
    return np.flatnonzero(firsts(np.concatenate(both))[len(given) :])


def distinct(points: Points) -> Points:
    """The instants without repetitions."""
    if len(points) < 2:
        return points
    if ascending(points.time):
        # rows in order of time: it is enough to look at the one before of the same binding
        new, again = first_marks(joint([(points.codes, len(points))])[0], points.time)
        return points.take(new) if again else points
    new = firsts(instants([(points.codes, points.time)])[0])
    return points if new.all() else points.take(new)


# --- grouping and joining ---------------------------------------------------------------------------------------------


_ALL = np.zeros(0, np.bool_)


class Groups:
    """Rows grouped by key, within a key by time, ties in the given order.

    ``order``: row numbers (n), grouped.  ``time``: their times.  ``start``: where each group begins (and the last
    ends).  ``number``: of the group of every row, in the given order.
    """

    def __init__(self, key: np.ndarray, time: np.ndarray) -> None:
        self._numbers = Numbers(key)
        self.number = self._numbers.given
        if not ascending(time):
            by_time = np.argsort(time, kind="stable")
            order, self.start = group_rows(self.number[by_time], self._numbers.size, _ALL)
            self.order = by_time[order]
        else:
            self.order, self.start = group_rows(self.number, self._numbers.size, _ALL)
        self.time = time[self.order]

    def between(self, key: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per request the places [lo, hi) in ``order`` of the rows of ``key`` with ``low <= time <= high``."""
        return find_ranges(self._numbers.of(key), low, high, self.start[:-1], self.start[1:], self.time)


def pairs(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The row numbers of all pairs with equal keys, in the order of ``left``."""
    if not len(left) or not len(right):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    numbers = Numbers(right)
    order, start = group_rows(numbers.given, numbers.size, _ALL)
    start = np.append(start, start[-1])  # of the number -1: nothing
    number = numbers.of(left)
    number[number < 0] = numbers.size
    return spread(start[number], start[number + 1], order)


# --- signals and ticks ------------------------------------------------------------------------------------------------


def as_points(signal: Signal) -> Points:
    """The signal of an event formula."""
    assert isinstance(signal, Points)
    return signal


def as_spans(signal: Signal) -> Spans:
    """The signal of a state formula."""
    assert isinstance(signal, Spans)
    return signal


def shifted(time: int, ticks: int) -> int:
    """``time`` plus ``ticks``, without overflow; ``NEVER`` and ``OPEN`` stay what they are."""
    return time if time in (NEVER, OPEN) else max(NEVER, min(time + ticks, OPEN))


def earlier(ticks: np.ndarray) -> np.ndarray:
    """The ticks before; ``NEVER`` has none."""
    return np.maximum(ticks, NEVER + 1) - 1


def later(ticks: np.ndarray) -> np.ndarray:
    """The ticks after; ``OPEN`` has none."""
    return np.minimum(ticks, OPEN - 1) + 1
