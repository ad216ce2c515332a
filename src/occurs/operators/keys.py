"""Codes of keys that outlive a call, and the values of each key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.codes import KeyCodes, Renewal
from occurs.operators.columns import Column


class Keys:
    """Codes count from 0.  ``values``: per part of a key its values by code.  ``codes``: None if a successor has them;
    then new ones are made of the values, and ``own`` has the code here by the one there (None: the same).
    ``renewal``: when codes that nobody has any more are freed.  ``nulls``: is null a value like others?  Else a key
    with a null has no code.

    ``types``: of the values; ``Type.NULL``: as they come, ints and floats together are floats."""

    def __init__(self, types: Sequence[Type], nulls: bool = False) -> None:
        self.types, self.nulls = tuple(types), nulls
        self.codes: KeyCodes | None = KeyCodes()
        self.renewal = Renewal()
        self.values = [Column.nulls(t, 0) for t in types]
        self.own: np.ndarray | None = None
        self._null = -1  # the code of a null that is the only part of a key

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.values[0]) if self.types else 1

    def encode(self, columns: Sequence[Column], n: int) -> np.ndarray:
        """int64 (n): the codes of rows, -1 for those that have none; new ones get the next."""
        if not self.types:
            return np.zeros(n, np.int64)
        before = self.size
        if self.codes is None:
            self.codes, self.own = KeyCodes(), None
            there = self._codes(self.codes, self.values, before)
            if (there[1:] < there[:-1]).any():  # floats that are whole numbers get their codes before others
                self.own = np.empty(before, np.int64)
                self.own[there] = np.arange(before)
        found = self._codes(self.codes, columns, n)
        if self.own is not None:
            known = (found >= 0) & (found < len(self.own))
            found = np.where(known, self.own[np.where(known, found, 0)], found)
        if not n or int(found.max()) < before:
            return found
        first = np.full(int(found.max()) + 1 - before, -1, np.int64)
        new = np.flatnonzero(found >= before)
        first[found[new[::-1]] - before] = new[::-1]
        for i, (column, type_) in enumerate(zip(columns, self.types, strict=True)):
            held, more = self.values[i], _cast(column.take(first), type_)
            self.values[i] = more.behind(held) if held.type is more.type else Column.widened([held, more])
        return found

    def _codes(self, codes: KeyCodes, columns: Sequence[Column], n: int) -> np.ndarray:
        names = [str(i) for i in range(len(columns))]
        parts = [codes.encode(name, c) for name, c in zip(names, columns, strict=True)]
        if not self.nulls:
            return codes.join(names, parts, n)
        if len(parts) > 1:
            return codes.join(names, [part + 1 for part in parts], n)
        (found,) = parts
        if self._null < 0 and (not n or int(found.min()) >= 0):
            return found
        if self._null < 0:
            self._null = codes.size(names)
        return np.where(found < 0, self._null, found + (found >= self._null))

    def successor(self) -> Keys:
        """The same codes, which goes on by itself; this one stays as it is."""
        made = object.__new__(Keys)  # nothing is made that would be replaced at once: this runs in every call
        made.types, made.nulls = self.types, self.nulls
        made.values, made.own, made._null = list(self.values), self.own, self._null
        made.codes, self.codes = self.codes, None
        made.renewal = Renewal(self.renewal.seen)
        return made

    def only(self, codes: np.ndarray) -> Keys:
        """The values of ``codes`` alone, which are numbered anew in their order."""
        made = Keys(self.types, self.nulls)
        made.values = [v.take(codes) for v in self.values]
        made.codes = None
        if self._null >= 0:
            made._null = int(np.append(np.flatnonzero(codes == self._null), -1)[0])
        return made

    def saved(self) -> pa.Table:
        """By :meth:`restored` again."""
        return pa.table({f"key{i}": c.arrow for i, c in enumerate(self.values)})

    @classmethod
    def restored(cls, types: Sequence[Type], table: pa.Table) -> Keys:
        """Keys without nulls."""
        made = cls(types)
        if types and table.num_rows:
            made.values = [Column.of(table[f"key{i}"], t) for i, t in enumerate(types)]
            made.codes = None
        return made


def _cast(column: Column, type_: Type) -> Column:
    """A value as its part of the key has it: a column may have floats where another has ints."""
    if column.type is type_ or type_ is Type.NULL:
        return column
    if column.type is Type.FLOAT and type_ is Type.INT:
        return Column(type_, column.values.astype(np.int64), column.valid)
    return column.cast(type_)
