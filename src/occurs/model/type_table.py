"""The rows of one type as the intake leaves them: a table whose columns are taken from the source when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from occurs.model.attribute_types import clean
from occurs.model.values import taken


def picked(column: pa.ChunkedArray, index: pa.Array | None) -> pa.ChunkedArray:
    """The values at some indices; None: all."""
    return column if index is None else taken(column, index)


class TypeTable:
    """The rows of one type.

    Rules often read a few of many columns, and to gather the values of a type from a table of all types costs more than
    to evaluate a simple rule on them.  So a column that needs no check is gathered when it is asked for.

    ``increasing``: every row is known to be later than the one before it.
    """

    __slots__ = ("_columns", "_index", "_later", "_size", "increasing")

    def __init__(
        self, columns: dict[str, pa.ChunkedArray | None], later: Mapping[str, pa.ChunkedArray], index: pa.Array | None,
        increasing: bool = False,
    ) -> None:  # fmt: skip
        """``columns``: in their order; None for those that are made of ``later``, the columns of the source, of which
        ``index`` has the rows (None: all).  One column at least is there."""
        self._columns, self._later, self._index, self.increasing = columns, later, index, increasing
        self._size = len(next(c for c in columns.values() if c is not None))

    @classmethod
    def of(cls, table: pa.Table) -> TypeTable:
        """A table that is there."""
        return cls(dict(zip(table.column_names, table.columns, strict=True)), {}, None)

    def __len__(self) -> int:
        return self._size

    @property
    def column_names(self) -> list[str]:
        """The names of all columns, in their order."""
        return list(self._columns)

    def column(self, name: str) -> pa.ChunkedArray:
        """A column by its name; KeyError if there is none."""
        found = self._columns[name]
        if found is None:
            found = self._columns[name] = clean(picked(self._later[name], self._index))
        return found

    def part(self, name: str, rows: slice | np.ndarray) -> pa.ChunkedArray:
        """Some rows of a column, in their order; a column that nobody asked for is not gathered for the others."""
        made = self._columns[name]
        column, index = (self._later[name], self._index) if made is None else (made, None)
        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self._size)
            size = max(0, stop - start)
            part = column.slice(start, size) if index is None else picked(column, index.slice(start, size))
        else:
            at = pa.array(rows)
            part = picked(column, at if index is None else index.take(at))
        return clean(part) if made is None else part

    def rows(self, at: slice | np.ndarray) -> TypeTable:
        """Some of the rows, in their order; columns that nobody asked for are not gathered."""
        columns, later, index = self._columns, self._later, self._index
        if isinstance(at, slice):
            start, stop, _ = at.indices(self._size)
            size = max(0, stop - start)
            if index is None:
                later = {n: c.slice(start, size) for n, c in later.items()}
            else:
                index = index.slice(start, size)
            return TypeTable({n: None if c is None else c.slice(start, size) for n, c in columns.items()}, later, index)
        which = pa.array(at)
        index = which if index is None else index.take(which)
        return TypeTable({n: None if c is None else picked(c, which) for n, c in columns.items()}, later, index)

    def fitted(self, schema: pa.Schema) -> TypeTable:
        """The columns of a schema, in its types and its order; those that are missing are null."""
        columns: dict[str, pa.ChunkedArray | None] = {}
        for f in schema:
            if f.name not in self._columns:
                columns[f.name] = pa.chunked_array([pa.nulls(self._size, f.type)])
            elif self._columns[f.name] is None and self._later[f.name].type == f.type:
                columns[f.name] = None
            else:
                columns[f.name] = self.column(f.name).cast(f.type)
        return TypeTable(columns, self._later, self._index)

    def select(self, names: list[str]) -> pa.Table:
        """A table of some columns."""
        return pa.table([self.column(name) for name in names], names)

    def table(self) -> pa.Table:
        """The table of all columns."""
        return self.select(self.column_names)


class TypeTables(Mapping[str, pa.Table]):
    """The rows of every type; a table is made when it is asked for.  ``distinct``: no two rows have the same time."""

    def __init__(self, types: Mapping[str, TypeTable], distinct: bool) -> None:
        self.types, self.distinct = types, distinct
        self._made: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self.types[name].table()
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.types)

    def __len__(self) -> int:
        return len(self.types)
