"""Which slice an item belongs to, and maps of slices as changes from one to the next (pipes.md, 4.4, section 5).

Whole maps are made only for who needs them whole; ``size values sum mean`` are computed from the changes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.operators.process import kernels
from occurs.operators.process.columns import Col, Obj, Plain, column_of, numbers, of_numpy
from occurs.operators.process.items import NO_ROWS
from occurs.operators.process.state import Part, Tables
from occurs.operators.process.values import Bag, Map, decode, encode, key


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


#: the widest range of ints that are looked up in a table
WIDEST = 1 << 22


class Slots(Part):
    """The slices that exist: ``outer`` is the trace of the slicer that each belongs to, ``born`` orders them."""

    def __init__(self) -> None:
        self.alive = np.zeros(0, np.bool_)
        self.outer = NO_ROWS
        self.born = NO_ROWS
        self.free: list[int] = []
        #: keys by slot: ints while all are, then any values
        self.ints: np.ndarray | None = NO_ROWS
        self.values = np.zeros(0, object)
        #: slots that have been in use; there is room for more
        self._size = 0
        self._least = 0
        self._table = NO_ROWS
        self._index: dict[tuple[int, Hashable], int] = {}

    @property
    def instances(self) -> int:
        """All slots are less."""
        return self._size

    def keys(self, slots: np.ndarray) -> Col:
        """The keys of slots."""
        if self.ints is not None:
            return of_numpy(self.ints[slots])
        return column_of(self.values[slots].tolist())

    # --- looking up -------------------------------------------------------------------------------------------------

    def find(self, keys: Col, outer: np.ndarray | None, rows: np.ndarray, base: int) -> np.ndarray:
        """The slots of keys that are not null; new ones are made.  ``rows``: where in the call they come."""
        if self.ints is not None and outer is None and isinstance(keys, Plain) and pa.types.is_int64(keys.array.type):
            found = self._find_ints(keys.array.to_numpy(), rows, base)
            if found is not None:
                return found
        if self.ints is not None:
            self._to_values()
        if isinstance(keys, Plain) and outer is None:
            array = keys.array
            coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
            codes = coded.indices.to_numpy()
            # in the order in which they come
            first, mine = _firsts(codes, len(coded.dictionary))
            some = np.full(len(coded.dictionary), -1, np.int64)
            values = Plain(coded.dictionary).take(mine).pylist()
            some[mine] = [self._slot(0, v, int(rows[f]), base, 0) for v, f in zip(values, first.tolist())]
            return some[codes]
        outers = [0] * len(keys) if outer is None else outer.tolist()
        found_ = [self._slot(o, v, r, base, 0) for o, v, r in zip(outers, keys.pylist(), rows.tolist())]
        return np.array(found_, np.int64)

    def _find_ints(self, keys: np.ndarray, rows: np.ndarray, base: int) -> np.ndarray | None:
        if not len(keys):
            return NO_ROWS
        assert self.ints is not None
        low, high = int(keys.min()), int(keys.max())
        if low < self._least or high - self._least >= len(self._table):
            # as wide as the keys of slices that exist now, not of all that ever did
            there = np.flatnonzero(self.alive)
            ints = self.ints[there]
            low, high = int(ints.min(initial=low)), int(ints.max(initial=high))
            if high - low >= WIDEST:
                return None
            width = high - low + 1
            self._table = np.full(width + (width >> 1 if len(self._table) else 0), -1)
            self._least = low
            self._table[ints - low] = there
        out, new = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        free = np.array(self.free, np.int64)
        made = kernels.slots(self._least, keys, self._table, free, self.instances, out, new)
        new = new[:made]
        del self.free[: min(made, len(free))]
        self._grow(max(self.instances, int(out.max()) + 1))
        at = out[new]
        self.ints[at] = keys[new]
        self.alive[at] = True
        self.outer[at] = 0
        self.born[at] = (base + rows[new]) << 20
        return out

    def slot(self, outer: int, value: Any, row: int, base: int, place: int) -> int:
        """The slot of one key; ``place``: its number among those that come with the same item."""
        if self.ints is not None:
            self._to_values()
        return self._slot(outer, value, row, base, place)

    def _slot(self, outer: int, value: Any, row: int, base: int, place: int) -> int:
        wanted = (outer, key(value))
        found = self._index.get(wanted)
        if found is None:
            found = self.free.pop() if self.free else self.instances
            self._grow(found + 1)
            self._index[wanted] = found
            self.values[found] = value
            self.alive[found] = True
            self.outer[found] = outer
            self.born[found] = ((base + row) << 20) + place
        return found

    def _to_values(self) -> None:
        assert self.ints is not None
        self.values = np.zeros(len(self.alive), object)
        for s in np.flatnonzero(self.alive).tolist():
            self.values[s] = int(self.ints[s])
            self._index[(int(self.outer[s]), self.values[s])] = s
        self.ints = None
        self._table = NO_ROWS

    def _grow(self, count: int) -> None:
        self._size = max(self._size, count)
        if count <= len(self.alive):
            return
        count = max(count, 2 * len(self.alive))
        self.alive = _longer(self.alive, count)
        self.outer = _longer(self.outer, count)
        self.born = _longer(self.born, count)
        if self.ints is not None:
            self.ints = _longer(self.ints, count)
        else:
            self.values = _longer(self.values, count)

    def of(self, outer: int) -> np.ndarray:
        """The slots of a trace of the slicer, in the order in which they were made."""
        there = np.flatnonzero(self.alive & (self.outer == outer))
        return there[np.argsort(self.born[there], kind="stable")]

    def remove(self, slots: np.ndarray) -> None:
        """These slices are no more."""
        for s in slots.tolist():
            if self.ints is not None:
                if len(self._table):
                    self._table[int(self.ints[s]) - self._least] = -1
            else:
                self._index.pop((int(self.outer[s]), key(self.values[s])), None)
                self.values[s] = None
        self.alive[slots] = False
        self.free += slots.tolist()

    def closed_up(self) -> np.ndarray:
        """Numbers the slots in use anew, in their order: 0, 1, ...  Returns what they were."""
        there = np.flatnonzero(self.alive)
        self.alive, self.outer, self.born = self.alive[there], self.outer[there], self.born[there]
        if self.ints is not None:
            self.ints = self.ints[there]
        else:
            self.values = self.values[there]
        self.free, self._table, self._size = [], NO_ROWS, len(there)
        self.index_anew()
        return there

    def index_anew(self) -> None:
        """Finds the slots by their traces and keys, of which some have got other numbers."""
        if self.ints is None:
            there = np.flatnonzero(self.alive)
            outer, values = self.outer[there].tolist(), self.values[there].tolist()
            self._index = {(o, key(v)): s for o, v, s in zip(outer, values, there.tolist())}

    # --- a part of a state ------------------------------------------------------------------------------------------

    def tables(self) -> Tables:
        there = np.flatnonzero(self.alive)
        columns: dict[str, Any] = {"slot": there, "outer": self.outer[there], "born": self.born[there]}
        if self.ints is not None:
            columns["ints"] = self.ints[there]
        else:
            columns["key"] = pa.array([json.dumps(encode(v)) for v in self.values[there].tolist()], pa.string())
        return {"v": pa.table(columns)}

    def load(self, tables: Mapping[str, pa.Table]) -> None:
        table = tables["v"]
        self.__init__()  # type: ignore[misc]
        there = table.column("slot").to_numpy()
        whole = "ints" in table.column_names
        if not whole:
            self.ints = None
        self._grow(int(there.max(initial=-1)) + 1)
        self.alive[there] = True
        self.outer[there], self.born[there] = table.column("outer").to_numpy(), table.column("born").to_numpy()
        if self.ints is not None:
            self.ints[there] = table.column("ints").to_numpy()
        else:
            for s, o, text in zip(there.tolist(), self.outer[there].tolist(), table.column("key").to_pylist()):
                self.values[s] = decode(json.loads(text))
                self._index[(o, key(self.values[s]))] = s
        self.free = np.flatnonzero(~self.alive[: self._size]).tolist()

    def drop(self, codes: np.ndarray) -> None:
        """Not to be asked: the slicer removes the slots of its traces itself."""
        raise AssertionError  # pragma: no cover

    def only(self, codes: np.ndarray) -> None:
        """Not to be asked: the slicer numbers its slots anew itself."""
        raise AssertionError  # pragma: no cover

    def copy(self) -> Slots:
        new = Slots()
        for name, v in vars(self).items():
            setattr(new, name, v.copy() if hasattr(v, "copy") else v)
        return new

    def rows(self) -> int:
        return int(self.alive.sum())


def _longer(values: np.ndarray, count: int) -> np.ndarray:
    out = np.zeros(count, values.dtype)
    out[: len(values)] = values
    return out


def _firsts(codes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows at which codes come for the first time, ascending, and these codes."""
    at = np.full(size, -1)
    at[codes[::-1]] = np.arange(len(codes))[::-1]
    mine = np.flatnonzero(at >= 0)
    order = np.argsort(at[mine], kind="stable")
    return at[mine][order], mine[order]
