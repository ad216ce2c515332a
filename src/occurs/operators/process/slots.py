"""Which slice an item belongs to: keys and their slots (pipes.md, 4.4)."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.operators.process import kernels
from occurs.operators.process.columns import Col, Plain, of_numpy
from occurs.operators.process.making import column_of
from occurs.operators.process.state import Part, Tables
from occurs.operators.process.values import decode, encode, key

#: the widest range of ints that are looked up in a table
WIDEST = 1 << 22
_NONE = np.zeros(0, np.int64)


class Slots(Part):
    """The slices that exist: ``outer`` is the trace of the slicer that each belongs to, ``born`` orders them."""

    def __init__(self) -> None:
        self.alive = np.zeros(0, np.bool_)
        self.outer = _NONE
        self.born = _NONE
        self.free: list[int] = []
        #: keys by slot: ints while all are, then any values
        self.ints: np.ndarray | None = _NONE
        self.values = np.zeros(0, object)
        #: slots that have been in use; there is room for more
        self._size = 0
        self._least = 0
        self._table = _NONE
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
            return _NONE
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
        self._table = _NONE

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
        self.free, self._table, self._size = [], _NONE, len(there)
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
