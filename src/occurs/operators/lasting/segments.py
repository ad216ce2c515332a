"""Rows of intervals in groups: sorted, searched by ranges, paired and told apart, whole columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from occurs.operators.lasting.codes import joint
from occurs.operators.lasting.signals import NEVER, OPEN, Codes, Intervals

#: pairs that are looked at together, at most (unless one row alone has more)
BLOCK = 1 << 22


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
    return tuple(codes[own.index(v)] for v in variables)


def shared(left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    return tuple(v for v in left if v in right)


def member(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Which of ``values`` (n booleans) are in ``among``; linear where the numbers lie close."""
    if not (len(among) and len(values)):
        return np.zeros(len(values), np.bool_)
    least, greatest = int(among.min()), int(among.max())
    if greatest - least <= 8 * (len(among) + len(values)) + 1024:
        table = np.zeros(greatest - least + 1, np.bool_)
        table[among - least] = True
        return table[np.clip(values, least, greatest) - least] & (values >= least) & (values <= greatest)
    table = np.sort(among)
    return table[np.minimum(np.searchsorted(table, values), len(table) - 1)] == values


class Sorted:
    """Rows in the order of (group, value), to be searched by ranges of values in a group.

    ``order``: the row at every place; ``group``, ``value``: what stands there.  Both are put into one number: as they
    are if they fit, else by their ranks.
    """

    def __init__(self, group: np.ndarray, value: np.ndarray) -> None:
        self._groups: np.ndarray | None = None
        self._values: np.ndarray | None = None
        groups, ticks = group, value
        if len(group):
            width = int(value.max()) - int(value.min()) + 2
            if (int(group.max()) - int(group.min()) + 1) * width >= 1 << 62:
                self._groups, groups = np.unique(group, return_inverse=True)
                if len(self._groups) * width >= 1 << 62:
                    self._values, ticks = np.unique(value, return_inverse=True)
        self._first = int(groups.min(initial=OPEN))
        self._last = int(groups.max(initial=NEVER))
        self._least, self._greatest = int(ticks.min(initial=OPEN)), int(ticks.max(initial=NEVER))
        self._width = self._greatest - self._least + 2
        places = (groups - self._first) * self._width + (ticks - self._least) if len(group) else group
        self.order = np.argsort(places)
        self._places = places[self.order]
        self.group, self.value = group[self.order], value[self.order]

    def range(
        self, group: np.ndarray, low: np.ndarray | None, high: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The places of the values in [low, high] of a group, from the first to before the second; None: no limit."""
        if not len(self.order):
            return np.zeros(len(group), np.int64), np.zeros(len(group), np.int64)
        if self._groups is None:
            there = (group >= self._first) & (group <= self._last)
            at = np.where(there, group - self._first, 0)
        else:
            at = np.minimum(np.searchsorted(self._groups, group), len(self._groups) - 1)
            there = self._groups[at] == group
        begin = at * self._width
        end = begin + (self._width - 1)
        if high is not None:
            end = begin + self._offset(high, "right")
        if low is not None:
            begin = begin + self._offset(low, "left")
        first, last = np.searchsorted(self._places, begin), np.searchsorted(self._places, end)
        return first, np.where(there, np.maximum(last, first), first)

    def _offset(self, ticks: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
        """How many steps above the least value the first is that is not less ("right": that is greater)."""
        if self._values is not None:
            return np.searchsorted(self._values, ticks, side=side)
        if side == "left":
            return np.clip(ticks, self._least, self._greatest + 1) - self._least
        return np.clip(ticks, max(self._least - 1, NEVER), self._greatest) + 1 - self._least

    def any(self, group: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether a group has a value in [low, high]."""
        first, last = self.range(group, low, high)
        return last > first

    def following(self) -> np.ndarray:
        """For every place the next greater value of the group, ``OPEN`` behind the last."""
        n = len(self.order)
        out = np.full(n, OPEN, np.int64)
        step = np.flatnonzero((self._places[1:] != self._places[:-1]) & (self.group[1:] == self.group[:-1]))
        out[step] = self.value[step + 1]
        heads = np.flatnonzero(np.concatenate([[True], self._places[1:] != self._places[:-1]])) if n else step
        ends = np.append(heads[1:], n) - 1
        return np.repeat(out[ends], ends - heads + 1) if n else out


def pairs(first: np.ndarray, last: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every row i with every place in [first[i], last[i]), in blocks of bounded size."""
    counts = last - first
    total = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        done = int(total[begin - 1]) if begin else 0
        end = max(int(np.searchsorted(total, done + BLOCK, side="right")), begin + 1)
        part = counts[begin:end]
        rows = np.repeat(np.arange(begin, end), part)
        within = np.arange(len(rows)) - np.repeat(total[begin:end] - part - done, part)
        if len(rows):
            yield rows, first[rows] + within
        begin = end


def containing(
    x: Intervals, x_key: np.ndarray, y: Intervals, y_key: np.ndarray, y_group: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every x and every group of y of the same key, the y of the group that starts after x and ends first (row
    numbers): if x contains any of them, then that one.  As many pairs as x meet groups, however many y there are."""
    table = Sorted(y_group, y.start)
    heads = np.flatnonzero(np.concatenate([[True], table.group[1:] != table.group[:-1]]))
    first_end = _first_to_end(table, y.end)
    of_key = Sorted(y_key[table.order[heads]], np.arange(len(heads)))
    for i, place in pairs(*of_key.range(x_key, None, None)):
        group = table.group[heads[of_key.order[place]]]
        begin, end = table.range(group, later(x.start[i]), None)
        some = end > begin
        yield i[some], first_end[begin[some]]


def _first_to_end(table: Sorted, end: np.ndarray) -> np.ndarray:
    """For every place the row that ends first of those from there on in its group."""
    by_end = np.argsort(end)
    rank = np.empty(len(end), np.int64)
    rank[by_end] = np.arange(len(end))
    number = np.cumsum(np.concatenate([[True], table.group[1:] != table.group[:-1]])) * len(end)
    # from the back; numbers fall from group to group, so that a running least begins anew with each
    least = np.minimum.accumulate((rank[table.order] + number)[::-1])[::-1] - number
    return by_end[least]


def unseen(given: Intervals, rows: Intervals) -> np.ndarray:
    """The rows that are not among ``given``, every one once: their numbers."""
    if not len(rows):
        return np.zeros(0, np.int64)
    binding = np.concatenate(joint([(given.codes, len(given)), (rows.codes, len(rows))]))
    start, end = np.concatenate([given.start, rows.start]), np.concatenate([given.end, rows.end])
    order = np.lexsort((end, start, binding))  # stable: what was given comes before its like
    b, s, e = binding[order], start[order], end[order]
    head = np.concatenate([[True], (b[1:] != b[:-1]) | (s[1:] != s[:-1]) | (e[1:] != e[:-1])])
    found = order[head] - len(given)
    return np.sort(found[found >= 0])
