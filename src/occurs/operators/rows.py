"""Rows: the events of one type that an operator sees in a call, in the total order, with what is kept of the past."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from occurs.model.astext import json_objects
from occurs.model.labels import Labels
from occurs.model.type_table import TypeTable
from occurs.model.types import Type
from occurs.operators.columns import Column

V = TypeVar("V")
#: the least tick that there is
FIRST_TICK = -(2**63)


@dataclass(slots=True)
class Rows:
    """``n`` rows of one type in the total order; those from ``new`` on belong to this call, those before to the past.

    time: int64 (n).  serial: int64 (n), the number of the row among all rows of the type since the beginning: how state
    that outlives a call names a row.  ``labels`` only if wanted.  ``derived``: int32 place of the definition, -1 for
    input.  ``at``: int64 (n), the place of the row within its instant over all types (see
    :func:`occurs.engine.order.placed`); None where nobody asks.  ``cache`` holds what operators of one call share
    (codes, indexes, masks).
    """

    type: str
    time: np.ndarray
    columns: Mapping[str, Column]
    new: int = 0
    serial: np.ndarray | None = None
    labels: Labels | None = None
    derived: np.ndarray | None = None
    at: np.ndarray | None = None
    cache: dict[Any, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)

    def column(self, name: str) -> Column:
        """An attribute, or ``time``."""
        if name == "time":
            return Column(Type.TIMESTAMP, self.time, None)
        if name not in self.columns and not len(self):
            return Column.nulls(Type.NULL, 0)  # of a type that nobody knows there are no rows
        return self.columns[name]

    def slice(self, start: int, stop: int | None = None, new: int = 0) -> Rows:
        return self._only(slice(start, stop), _cut(self.columns, start, stop), new)

    def view(self, start: int, stop: int) -> Rows:
        """Rows ``start`` to before ``stop``; columns are cut when they are asked for."""
        return self._only(slice(start, stop), Window(self, start, stop), 0)

    def take(self, rows: np.ndarray, new: int = 0) -> Rows:
        return self._only(rows, {n: c.take(rows) for n, c in self.columns.items()}, new)

    def _only(self, at: Any, columns: Mapping[str, Column], new: int) -> Rows:
        serial, derived, place = (None if a is None else a[at] for a in (self.serial, self.derived, self.at))
        labels = None if self.labels is None else Labels(self.labels.hi[at], self.labels.lo[at])
        return Rows(self.type, self.time[at], columns, new, serial, labels, derived, place)


def _cut(columns: Mapping[str, Column], start: int, stop: int | None) -> Mapping[str, Column]:
    """Columns from row ``start`` to before ``stop``; those that nobody asked for are made for these rows only."""
    if isinstance(columns, Window):
        last = columns.stop if stop is None else min(columns.stop, columns.start + stop)
        return _cut(columns.of.columns, columns.start + start, last)
    if isinstance(columns, Ordered):
        return columns.cut(start, stop)
    return {n: c.slice(start, stop) for n, c in columns.items()}


class _Asked(Mapping[str, V]):
    """A mapping of which each value is made when it is asked for first."""

    __slots__ = ("_made", "_names")
    _names: Collection[str]
    _made: dict[str, V] | None

    @abstractmethod
    def _value(self, name: str) -> V:
        """The value of a name; called once."""

    def __getitem__(self, name: str) -> V:
        if self._made is None:
            self._made = {}
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._value(name)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Window(_Asked[Column]):
    """The columns of some of the rows ``of`` others, from ``start`` to before ``stop``."""

    __slots__ = ("of", "start", "stop")

    def __init__(self, of: Rows, start: int, stop: int) -> None:
        self.of, self.start, self.stop = of, start, stop
        self._names, self._made = of.columns, None

    def _value(self, name: str) -> Column:
        return self.of.columns[name].slice(self.start, self.stop)


class Ordered(_Asked[Column]):
    """Columns of a ``table`` as the ``types`` say, made when they are asked for; ``order``: its rows (None: as they
    stand)."""

    __slots__ = ("order", "table", "types")

    def __init__(self, table: TypeTable, types: Mapping[str, Type], order: np.ndarray | None) -> None:
        self.table, self.types, self.order = table, types, order
        self._names, self._made = types, None

    def _value(self, name: str) -> Column:
        found = Column.of(self.table.column(name), self.types[name])
        return found if self.order is None else found.take(self.order)

    def cut(self, start: int, stop: int | None) -> dict[str, Column]:
        """The columns of the rows from ``start`` to before ``stop``; unread ones are made for these rows only."""
        rows = slice(start, stop) if self.order is None else self.order[start:stop]
        made = self._made or {}
        return {
            n: made[n].slice(start, stop) if n in made else Column.of(self.table.part(n, rows), kind)
            for n, kind in self.types.items()
        }


class Part(_Asked[Rows]):
    """Some rows of several types, made when they are asked for.

    ``of``: all rows of every type, none of the past; ``spans``: per type that has rows here, the first of these and the
    one behind them.
    """

    __slots__ = ("of", "spans")

    def __init__(self, of: Mapping[str, Rows], spans: Mapping[str, tuple[int, int]]) -> None:
        self.of, self._made = of, None
        self._names = self.spans = spans

    def _value(self, type: str) -> Rows:
        return self.of[type].view(*self.spans[type])

    def span(self, type: str) -> tuple[Rows | None, int, int]:
        """The rows among which those of ``type`` are, from where to before where."""
        return self.of.get(type), *self.spans.get(type, (0, 0))


class Since(Mapping[str, Rows]):
    """The rows of ``tables`` with times after ``born``, as a definition sees them that was added while a stream was
    running; past and new rows stay apart."""

    def __init__(self, tables: Mapping[str, Rows], born: int):
        self._tables = tables
        self._born = born
        self._cut: dict[str, tuple[Rows, Rows]] = {}

    def __getitem__(self, type: str) -> Rows:
        rows = self._tables[type]
        known = self._cut.get(type)
        if known is not None and known[0] is rows:
            return known[1]
        first = int(np.searchsorted(rows.time, self._born, side="right"))
        part = rows if first == 0 else rows.slice(first, None, max(0, rows.new - first))
        self._cut[type] = (rows, part)
        return part

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


#: columns of rows that are not attributes
_SPECIAL = ("end", "sequence")


def attributes_of(rows: Rows, at: np.ndarray, names: Iterable[str] | None = None) -> pa.Array:
    """The attributes of the rows ``at`` as JSON objects without nulls, or those of them that ``names`` has.

    The text of a row that is asked for several times is made once.
    """
    own, number = np.unique(at, return_inverse=True)
    chosen = rows.columns if names is None else [n for n in rows.columns if n in frozenset(names)]
    columns = {n: rows.columns[n].take(own).output() for n in sorted(chosen) if n not in _SPECIAL}
    return json_objects(columns, len(own)).take(pa.array(number))
