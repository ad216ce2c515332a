"""Maps of slices as what has changed from one to the next (pipes.md, 4.4, section 5).

Whole maps are made only for who needs them whole; ``size values sum mean`` are computed from the changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.operators.process import kernels
from occurs.operators.process.columns import Col, Obj, numbers, of_numpy
from occurs.operators.process.values import Bag, Map


class Changes:
    """What became of slices in a call of a slicer with one trace.

    Change j is seen from snapshot ``since[j]`` on (ascending; -1: it was there before): slice ``slot[j]``, which is
    number ``born[j]``, has the key ``keys[j]`` and the value ``values[j]``, or is no more if ``gone[j]``.
    ``count``: snapshots in the call.  ``column``: these columns by name; they are put together when somebody asks.
    """

    def __init__(self, count: int, column: Callable[[str], Any], some_gone: bool = False) -> None:
        self.count = count
        self._column = column
        self._some_gone = some_gone

    @cached_property
    def since(self) -> np.ndarray:
        return self._column("since")

    @cached_property
    def slot(self) -> np.ndarray:
        return self._column("slot")

    @cached_property
    def gone(self) -> np.ndarray:
        return self._column("gone")

    @cached_property
    def born(self) -> np.ndarray:
        return self._column("born")

    @cached_property
    def keys(self) -> Col:
        return self._column("keys")

    @cached_property
    def values(self) -> Col:
        return self._column("values")

    def __len__(self) -> int:
        return len(self.since)

    # --- of each snapshot -------------------------------------------------------------------------------------------

    def sizes(self) -> np.ndarray:
        """How many slices it shows."""
        new = (self._before() < 0).astype(np.int64)
        # what is gone was shown before, or never
        return self._running(np.where(self.gone, new - 1, new) if self._some_gone else new)

    def sums(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The sum of the values that are no nulls, and how many these are; None if they are no ints, or too large."""
        found = numbers(self.values)
        if found is None or not _small(found[0], len(self)):
            return None
        values, valid = found
        before = self._before()
        there = ~self.gone if valid is None else valid & ~self.gone
        mine = np.where(there, values, 0)
        earlier = np.where(before >= 0, mine[before], 0) if len(mine) else mine
        counted = np.where(before >= 0, there[before], False) if len(mine) else there
        return self._running(mine - earlier), self._running(there.astype(np.int64) - counted.astype(np.int64))

    def _before(self) -> np.ndarray:
        """The change of the same slice before each one; -1 if it was not shown then."""
        out = np.empty(len(self), np.int64)
        kernels.previous(self.slot, np.full(int(self.slot.max(initial=-1)) + 1, -1), out)
        if self._some_gone:
            out[(out >= 0) & self.gone[out]] = -1
        return out

    def _running(self, steps: np.ndarray) -> np.ndarray:
        """Sums of ``steps`` (per change) seen by each snapshot."""
        total = np.cumsum(steps)
        seen = np.cumsum(np.bincount(self.since + 1, minlength=self.count + 1))[1 : self.count + 1]
        return np.concatenate([np.zeros(1, steps.dtype), total])[seen]


class OneEach(Changes):
    """Changes of which each snapshot shows one more: the value ``value[i]`` of the slice ``of[i]``.

    ``first``: the slots that were shown before, ``first_value``: their values.
    """

    def __init__(
        self, column: Callable[[str], Any], first: np.ndarray, first_value: Col, of: np.ndarray, value: Col, slots: int
    ) -> None:
        super().__init__(len(of), column)
        self._first, self._first_value, self._of, self._value, self._slots = first, first_value, of, value, slots

    def sizes(self) -> np.ndarray:
        shown, out = np.zeros(self._slots, np.bool_), np.empty(self.count, np.int64)
        shown[self._first] = True
        kernels.distinct(self._of, shown, len(self._first), out)
        return out

    def sums(self) -> tuple[np.ndarray, np.ndarray] | None:
        first, found = numbers(self._first_value), numbers(self._value)
        if first is None or found is None or not all(_small(v, self.count + len(v)) for v in (first[0], found[0])):
            return None
        newest, known = np.zeros(self._slots, np.int64), np.zeros(self._slots, np.int64)
        there = np.ones(len(first[0]), np.bool_) if first[1] is None else first[1]
        newest[self._first], known[self._first] = np.where(there, first[0], 0), there
        out, count = np.empty(self.count, np.int64), np.empty(self.count, np.int64)
        valid = np.zeros(0, np.bool_) if found[1] is None else found[1]
        kernels.newest_sums(self._of, found[0], valid, newest, known, out, count)
        return out, count


def _small(values: np.ndarray, count: int) -> bool:
    """Are these ints of which so many have a sum that fits?"""
    if values.dtype != np.int64:
        return False
    most = max(-float(values.min(initial=0)), float(values.max(initial=0)))
    return most * (count + 1) <= 2.0**61


class Snap(Col):
    """Snapshots number ``rows`` of ``changes`` (None: all of them); ``bags``: only their values."""

    __slots__ = ("_rows", "bags", "changes")

    def __init__(self, changes: Changes, rows: np.ndarray | None = None, bags: bool = False) -> None:
        self.changes = changes
        self._rows = rows
        self.bags = bags

    @property
    def rows(self) -> np.ndarray:
        return np.arange(self.changes.count) if self._rows is None else self._rows

    def __len__(self) -> int:
        return self.changes.count if self._rows is None else len(self._rows)

    def take(self, rows: np.ndarray) -> Col:
        if len(rows) and (not len(self) or rows.min() < 0):
            return Obj.of(self.pylist()).take(rows)
        return Snap(self.changes, rows if self._rows is None else self._rows[rows], self.bags)

    def slice(self, first: int, last: int) -> Col:
        return Snap(self.changes, self.rows[first:last], self.bags)

    def nulls(self) -> np.ndarray:
        return np.zeros(len(self), np.bool_)

    def table(self) -> tuple[str, pa.Table]:
        return Obj.of(self.pylist()).table()

    def pylist(self) -> list[Any]:
        changes = self.changes
        keys, values = changes.keys.pylist(), changes.values.pylist()
        since, slots, gone = changes.since.tolist(), changes.slot.tolist(), changes.gone.tolist()
        born = changes.born.tolist()
        out: dict[int, Any] = {}
        shown: dict[int, tuple[int, Any, Any]] = {}
        at = 0
        for row in np.unique(self.rows).tolist():
            while at < len(since) and since[at] <= row:
                if gone[at]:
                    shown.pop(slots[at], None)
                else:
                    shown[slots[at]] = (born[at], keys[at], values[at])
                at += 1
            # a later change of a slice leaves it at its place
            found = sorted(shown.values(), key=lambda s: s[0])
            out[row] = Bag(tuple(s[2] for s in found)) if self.bags else Map(tuple((s[1], s[2]) for s in found))
        return [out[r] for r in self.rows.tolist()]

    def _seen(self, values: np.ndarray) -> np.ndarray:
        """Of all snapshots those of this column."""
        return values if self._rows is None else values[self._rows]

    def answer(self, name: str) -> Col | None:
        """A function of each, without making it whole; None if that is not possible."""
        changes = self.changes
        if name == "values" and not self.bags:
            return Snap(changes, self._rows, True)
        if name not in ("size", "sum", "mean") or (name != "size" and not self.bags):
            return None
        if name == "size":
            return of_numpy(self._seen(changes.sizes()))
        found = changes.sums()
        if found is None:
            return None
        sums, count = map(self._seen, found)
        return of_numpy(sums) if name == "sum" else of_numpy(sums / np.maximum(count, 1), count > 0)
