"""Maps of slices as what has changed from one to the next (pipes.md, 4.4, section 5).

Whole maps are made only for who needs them whole; ``size values sum mean`` are computed from the changes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.pipes.engine import kernels
from occurs.pipes.engine.columns import Col, Obj, numbers, of_numpy
from occurs.pipes.engine.values import Bag, Map


class Changes:
    """What became of slices in a call of a slicer with one trace.

    Change j is seen from snapshot ``since[j]`` on (ascending; -1: it was there before): slice ``slot[j]``, which is
    number ``born[j]``, has the key ``keys[j]`` and the value ``values[j]``, or is no more if ``gone[j]``.
    ``count``: snapshots in the call.  The last three are put together when somebody asks.
    """

    def __init__(
        self,
        since: np.ndarray,
        slot: np.ndarray,
        gone: np.ndarray,
        count: int,
        born: Callable[[], np.ndarray],
        keys: Callable[[], Col],
        values: Callable[[], Col],
    ) -> None:
        self.since, self.slot, self.gone, self.count = since, slot, gone, count
        self._born, self._keys, self._values = born, keys, values
        self._some_gone = bool(gone.any())
        #: the numbers of all snapshots
        self.all = np.arange(count)

    @cached_property
    def born(self) -> np.ndarray:
        return self._born()

    @cached_property
    def keys(self) -> Col:
        return self._keys()

    @cached_property
    def values(self) -> Col:
        return self._values()

    def __len__(self) -> int:
        return len(self.since)

    def before(self) -> np.ndarray:
        """The change of the same slice before each one; -1 if it was not shown then."""
        out = np.empty(len(self), np.int64)
        kernels.previous(self.slot, np.full(int(self.slot.max(initial=-1)) + 1, -1), out)
        if self._some_gone:
            out[(out >= 0) & self.gone[out]] = -1
        return out

    def shown(self, before: np.ndarray) -> np.ndarray:
        """How many more slices each change shows; ``before``: what :meth:`before` gives."""
        new = (before < 0).astype(np.int64)
        # what is gone was shown before, or never
        return np.where(self.gone, new - 1, new) if self._some_gone else new

    def running(self, steps: np.ndarray) -> np.ndarray:
        """Sums of ``steps`` (per change) seen by each snapshot."""
        total = np.cumsum(steps)
        before = len(self) - self.count
        if before >= 0 and np.array_equal(self.since[before:], self.all):  # one change each
            return total[before:]
        seen = np.cumsum(np.bincount(self.since + 1, minlength=self.count + 1))[1 : self.count + 1]
        return np.concatenate([np.zeros(1, steps.dtype), total])[seen]


class Snap(Col):
    """Snapshots number ``rows`` of ``changes``; ``bags``: only their values."""

    __slots__ = ("bags", "changes", "rows")

    def __init__(self, changes: Changes, rows: np.ndarray, bags: bool = False) -> None:
        self.changes = changes
        self.rows = changes.all if len(rows) == changes.count and np.array_equal(rows, changes.all) else rows
        self.bags = bags

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, rows: np.ndarray) -> Col:
        if len(rows) and (not len(self.rows) or rows.min() < 0):
            return Obj.of(self.pylist()).take(rows)
        return Snap(self.changes, self.rows[rows], self.bags)

    def slice(self, first: int, last: int) -> Col:
        return Snap(self.changes, self.rows[first:last], self.bags)

    def nulls(self) -> np.ndarray:
        return np.zeros(len(self.rows), np.bool_)

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
        return values if self.rows is self.changes.all else values[self.rows]

    def answer(self, name: str) -> Col | None:
        """A function of each, without making it whole; None if that is not possible."""
        changes = self.changes
        if name == "values" and not self.bags:
            return Snap(changes, self.rows, True)
        if name not in ("size", "sum", "mean") or (name != "size" and not self.bags):
            return None
        if name == "size":
            return of_numpy(self._seen(changes.running(changes.shown(changes.before()))))
        found = numbers(changes.values)
        if found is None or found[0].dtype != np.int64:
            return None
        values, valid = found
        before = changes.before()
        there = ~changes.gone if valid is None else valid & ~changes.gone
        mine = np.where(there, values, 0)
        if len(mine) and np.abs(mine.astype(np.float64)).max() * (len(mine) + 1) > 2.0**62:
            return None
        earlier = np.where(before >= 0, mine[before], 0) if len(mine) else mine
        sums = self._seen(changes.running(mine - earlier))
        if name == "sum":
            return of_numpy(sums)
        counted = np.where(before >= 0, there[before], False) if len(mine) else there
        count = self._seen(changes.running(there.astype(np.int64) - counted.astype(np.int64)))
        return of_numpy(sums / np.maximum(count, 1), count > 0)
