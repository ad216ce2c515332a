"""Instances as codes: equal values of the generic variables have one code, from call to call."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.keycodes import KeyCodes, Renewal


class Keys:
    """Codes count from 0.  ``values``: per generic variable its values by code.  ``codes``: None if a successor has
    them; then they are made anew from the values.  ``renewal``: when codes that no instance has any more are freed."""

    def __init__(self, types: Sequence[Type]) -> None:
        self.types = tuple(types)
        self.codes: KeyCodes | None = KeyCodes()
        self.renewal = Renewal()
        self.values = [Column.nulls(t, 0) for t in types]
        self._names = [str(i) for i in range(len(types))]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.values[0]) if self.types else 1

    def encode(self, columns: Sequence[Column], n: int) -> np.ndarray:
        """int64 (n): the codes of rows, -1 if a value is null; new ones get the next."""
        if not self.types:
            return np.zeros(n, np.int64)
        if self.codes is None:
            self.codes = KeyCodes()
            self._codes(self.codes, self.values, self.size)
        found = self._codes(self.codes, columns, n)
        before = self.size
        if not n or int(found.max()) < before:
            return found
        first = np.full(int(found.max()) + 1 - before, -1, np.int64)
        new = np.flatnonzero(found >= before)
        first[found[new[::-1]] - before] = new[::-1]
        for i, (column, type_) in enumerate(zip(columns, self.types, strict=True)):
            self.values[i] = Column.concat([self.values[i], _cast(column.take(first), type_)])
        return found

    def _codes(self, codes: KeyCodes, columns: Sequence[Column], n: int) -> np.ndarray:
        parts = [codes.encode(name, c) for name, c in zip(self._names, columns, strict=True)]
        return codes.join(self._names, parts, n)

    def successor(self) -> Keys:
        """The same codes, which goes on by itself; this one stays as it is."""
        made = Keys(self.types)
        made.values = list(self.values)
        made.codes, self.codes = self.codes, None
        made.renewal = Renewal(self.renewal.seen)
        return made

    def only(self, codes: np.ndarray) -> Keys:
        """The values of ``codes`` alone, which are numbered anew in their order."""
        made = Keys(self.types)
        made.values = [v.take(codes) for v in self.values]
        made.codes = None
        return made

    def saved(self) -> pa.Table:
        """By :meth:`restored` again."""
        return pa.table({f"key{i}": c.arrow for i, c in enumerate(self.values)})

    @classmethod
    def restored(cls, types: Sequence[Type], table: pa.Table) -> Keys:
        made = cls(types)
        if types and table.num_rows:
            made.encode([Column.of(table[f"key{i}"], t) for i, t in enumerate(types)], table.num_rows)
        return made


def _cast(column: Column, type_: Type) -> Column:
    """A value as its variable has it: a column may have floats where another has ints."""
    if column.type is type_:
        return column
    if column.type is Type.FLOAT and type_ is Type.INT:
        return Column(type_, column.values.astype(np.int64), column.valid)
    if type_ is Type.NULL:
        return Column.nulls(type_, len(column))
    return column.cast(type_)
