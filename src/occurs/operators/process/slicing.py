"""What the slicer keeps and what its slices give (pipes.md, 4.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr import tree as expressions
from occurs.operators.keycodes import crowded
from occurs.operators.process.columns import TRUE, Col, Obj, Plain, null_col, truths
from occurs.operators.process.items import Items
from occurs.operators.process.making import concat
from occurs.operators.process.slots import Slots
from occurs.operators.process.snapshots import Changes, OneEach
from occurs.operators.process.state import Counts, Latest, Part, State, renumbered
from occurs.operators.process.tree import EverySlice
from occurs.operators.process.values import key

_NONE = np.zeros(0, np.int64)

#: of all slots: which slice each is (as slices are numbered), of which trace of the slicer
Owners = tuple[np.ndarray, np.ndarray]


class Made:
    """What slices gave: for the item ``row`` slice ``slot``, which is number ``born``, gave ``value``.

    ``owners``: of all slots, or of these rows (``each``); ``trace``: of the slicer.
    """

    def __init__(
        self, row: np.ndarray, slot: np.ndarray, owners: Owners, keys: Col, value: Col, each: bool = False
    ) -> None:
        self.row, self.slot, self.keys, self.value = row, slot, keys, value
        self.owners, self.each = owners, each
        #: one for every item, in their order
        self.ordered = False

    def __len__(self) -> int:
        return len(self.row)

    @property
    def born(self) -> np.ndarray:
        return self.owners[0] if self.each else self.owners[0][self.slot]

    @property
    def trace(self) -> np.ndarray:
        return self.owners[1] if self.each else self.owners[1][self.slot]

    def take(self, rows: np.ndarray) -> Made:
        owners = (self.owners[0][rows], self.owners[1][rows]) if self.each else self.owners
        keys, value = self.keys.take(rows), self.value.take(rows)
        return Made(self.row[rows], self.slot[rows], owners, keys, value, self.each)

    @classmethod
    def join(cls, parts: list[Made]) -> Made:
        parts = [p for p in parts if len(p)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        row, slot, born, trace = (
            np.concatenate([getattr(p, n) for p in parts]) for n in ("row", "slot", "born", "trace")
        )
        keys, value = concat([p.keys for p in parts]), concat([p.value for p in parts])
        return cls(row, slot, (born, trace), keys, value, True)


def apart(key: expressions.Expr) -> tuple[expressions.Expr | None, expressions.Expr]:
    """Of ``if(c, #, k)``: c and k, so that k is a column without ``#``; (None, the key) of others."""
    if isinstance(key, expressions.Call) and key.name == "if" and len(key.args) == 3:
        condition, first, second = key.args
        if isinstance(first, EverySlice) and not any(isinstance(n, EverySlice) for n in condition.walk()):
            return condition, second
    return None, key


def is_true(found: Col) -> np.ndarray:
    """Booleans (n): where a value is true, whatever the others are."""
    known = truths(found) if isinstance(found, Plain) else None
    return known == TRUE if known is not None else np.array([v is True for v in found.pylist()], np.bool_)


def changes_of(parts: list[Made], count: int) -> Changes:
    """The changes that are made of what slices gave, one part after the other: what was there before, what is new."""
    full = [p for p in parts if len(p)]

    def column(name: str) -> Any:
        if name == "gone":
            return np.zeros(sum(map(len, full)), np.bool_)
        found = [getattr(p, {"since": "row", "values": "value"}.get(name, name)) for p in full]
        if name in ("keys", "values"):
            return concat(found) if found else null_col(0)
        return np.concatenate(found) if found else _NONE

    if len(parts) == 2 and parts[1].ordered and len(parts[1]) == count:
        before, now = parts
        return OneEach(column, before.slot, before.value, now.slot, now.value, len(now.owners[0]))
    return Changes(count, column)


def some_of(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[rows]


def groups_of(keys: Col, outer: np.ndarray | None) -> np.ndarray:
    """Numbers that are alike for keys that are equal, of the same trace."""
    if isinstance(keys, Plain) and outer is None:
        array = keys.array
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        return coded.indices.to_numpy().astype(np.int64)
    numbers: dict[Any, int] = {}
    outers = [0] * len(keys) if outer is None else outer.tolist()
    values = [v[1] for v in keys.pylist()] if isinstance(keys, Obj) else keys.pylist()
    return np.array([numbers.setdefault((o, key(v)), len(numbers)) for o, v in zip(outers, values)], np.int64)


class Own(Part):
    """What a slicer keeps: its slices, their newest values, the states of their copies of φ."""

    def __init__(self, inner: State, shared: bool) -> None:
        self.inner = inner
        self.slots = Slots()
        #: slots may change while what slices gave is still looked at
        self.shared = shared
        self.newest = Latest()
        self.count = Counts()
        #: of the last item of each trace of the slicer
        self.about = Counts(spoken=True)
        self.step = Counts()
        self.removed: list[int] = []

    def close_up(self) -> None:
        """Between two calls: numbers the slices anew if most numbers are free."""
        if crowded(self.slots.instances, self.slots.instances - len(self.slots.free)):
            there = self.slots.closed_up()
            self.inner.only(there)
            self.newest.only(there)

    def made(self, row: np.ndarray, out: Items) -> Made:
        """What copies of φ gave for the items ``row``."""
        return Made(row, out.codes, self.owners(), self.slots.keys(out.codes), out.value)

    def owners(self) -> Owners:
        """Who has the slots now; snapshots stay, whatever becomes of these."""
        found = self.slots.born, self.slots.outer
        return (found[0].copy(), found[1].copy()) if self.shared else found

    def _state(self) -> State:
        return State(
            inner=self.inner, slots=self.slots, newest=self.newest, count=self.count, about=self.about, step=self.step
        )

    def forget_newest(self) -> None:
        """Of slices that were removed, unless another one has taken their place."""
        if self.removed:
            removed = np.unique(np.array(self.removed))
            self.newest.drop(removed[~self.slots.alive[removed]])
            self.removed = []

    def tables(self) -> dict[str, pa.Table]:
        return self._state().tables()

    def load(self, tables: Any) -> None:
        self._state().load(tables)

    def drop(self, codes: np.ndarray) -> None:
        there = np.flatnonzero(self.slots.alive & np.isin(self.slots.outer, codes))
        if len(there):
            self.newest.drop(there)
            self.inner.drop(there)
            self.slots.remove(there)
        self.about.drop(codes)
        self.step.drop(codes)

    def only(self, codes: np.ndarray) -> None:
        there, at = renumbered(codes, self.slots.outer)
        self.slots.outer = np.zeros(len(there), np.int64)
        self.slots.outer[there] = at
        self.slots.index_anew()
        self.about.only(codes)
        self.step.only(codes)

    def copy(self) -> Own:
        new = Own(self.inner.copy(), self.shared)
        new.slots, new.newest, new.count = self.slots.copy(), self.newest.copy(), self.count.copy()
        new.about, new.step, new.removed = self.about.copy(), self.step.copy(), list(self.removed)
        return new

    def rows(self) -> int:
        return self.inner.rows() + self.slots.rows() + self.newest.rows()

    def abouts(self) -> np.ndarray:
        return self.about.abouts()
