"""Rows of intervals in groups: sorted, searched by ranges and told apart, whole columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from occurs.operators.kernels.intervals import extremes, ranges, sorted_few
from occurs.operators.lasting.codes import joint
from occurs.operators.lasting.signals import NEVER, OPEN, Codes, Intervals

__all__ = ["Sorted", "earlier", "groups", "later", "pick", "places", "shared", "unseen"]

#: rows that are put in order by insertion, at most
_FEW = 48
_UNLIMITED = np.zeros(0, np.int64)


def earlier(ticks: np.ndarray) -> np.ndarray:
    """The tick before; before everything there is none."""
    return np.maximum(ticks, NEVER + 1) - 1


def later(ticks: np.ndarray) -> np.ndarray:
    """The tick after, as long as there is one."""
    return np.minimum(ticks, OPEN - 1) + 1


def groups(variables: Sequence[str], sides: Sequence[tuple[tuple[str, ...], Codes, int]]) -> list[np.ndarray]:
    """One number per row of each side (its variables, codes, number of rows): its binding of ``variables``."""
    return joint([(pick(variables, own, codes), rows) for own, codes, rows in sides])


def pick(variables: Sequence[str], own: Sequence[str], codes: Codes) -> Codes:
    """The codes of some of the variables."""
    return codes if variables == own else tuple([codes[at] for at in _places(tuple(variables), tuple(own))])


@cache
def _places(variables: tuple[str, ...], own: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(own.index(v) for v in variables)


@cache
def shared(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    """The variables of ``left`` that are among those of ``right``."""
    return tuple(v for v in left if v in right)


@cache
def places(left: tuple[str, ...], right: tuple[str, ...], variables: tuple[str, ...]) -> np.ndarray:
    """int64 (2, variables): where either side has each of them, -1 if it has not."""
    found = [[side.index(v) if v in side else -1 for v in variables] for side in (left, right)]
    return np.array(found, np.int64).reshape(2, -1)


class Sorted:
    """Rows in the order of (group, value), to be searched by ranges of values in a group.

    ``order``: the row at every place; ``group``, ``value``: what stands there.
    """

    def __init__(self, group: np.ndarray, value: np.ndarray) -> None:
        self.order = _order(group, value)
        self.group, self.value = group[self.order], value[self.order]

    def range(
        self, group: np.ndarray, low: np.ndarray | None, high: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The places of the values in [low, high] of a group, from the first to before the second; None: no limit."""
        low, high = _UNLIMITED if low is None else low, _UNLIMITED if high is None else high
        return ranges(self.group, self.value, group, low, high)

    def any(self, group: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether a group has a value in [low, high]."""
        first, last = self.range(group, low, high)
        return last > first


def _order(group: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The rows in the order of (group, value)."""
    if len(group) <= _FEW:
        return sorted_few(group, value)
    (first, last), (least, greatest) = extremes(group), extremes(value)
    width = greatest - least + 1
    if (last - first + 1) * width < 1 << 63:
        # both in one number, if that is possible
        return np.argsort((group - first) * width + (value - least))
    return np.lexsort((value, group))


def unseen(given: Intervals, rows: Intervals) -> np.ndarray:
    """The rows that are not among ``given``, every one once: their numbers."""
    if len(rows) < 2 and not len(given):
        return np.arange(len(rows))
    binding = np.concatenate(joint([(given.codes, len(given)), (rows.codes, len(rows))]))
    start, end = np.concatenate([given.start, rows.start]), np.concatenate([given.end, rows.end])
    order = np.lexsort((end, start, binding))  # stable: what was given comes before its like
    b, s, e = binding[order], start[order], end[order]
    head = np.concatenate([[True], (b[1:] != b[:-1]) | (s[1:] != s[:-1]) | (e[1:] != e[:-1])])
    found = order[head] - len(given)
    return np.sort(found[found >= 0])
