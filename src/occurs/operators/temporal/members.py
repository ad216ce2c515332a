"""The instances that `for each .. in (SELECT ..)` asks for, where it looks at one row of one table at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from occurs.operators.temporal.rule import Plain, Query
from occurs.operators.temporal.sql import Database
from occurs.operators.temporal.tables import TRUNCATE, Row, Table, Written, old_row

#: the values of the generic variables
Key = tuple[Any, ...]


class Members:
    """Which values the rows of the table give: ``of`` by the key of the row, ``count`` how many rows give them."""

    def __init__(self, query: Query, plain: Plain, sql: Database) -> None:
        self.query, self.plain = query, plain
        self.of: dict[Any, Key] = {}
        self.count: Counter[Key] = Counter()
        self.without = 0
        #: the same table with one row
        self._one = Database({plain.table: sql.types[plain.table]}, {}) if plain.filtered else None
        self._single: Table | None = None
        self._known = False

    def change(self, table: Table, rows: Sequence[Written], time: int) -> tuple[list[Key], list[Key]]:
        """What comes in and what goes with the rows of one time, after these were written; all at the first time."""
        if not self._known or any(w.op == TRUNCATE for w in rows):
            self._known = True
            keys = {**dict.fromkeys(self.of), **dict.fromkeys(table.rows)}
        else:
            keys = dict.fromkeys(table.key(w.row) for w in rows)
            keys |= {table.key(old_row(table.shape, w.old, time)): None for w in rows if w.old is not None}
        touched: dict[Key, bool] = {}
        for key in keys:
            found = table.rows.get(key)
            now = None if found is None else self._given(table, found[1])
            was = self.of.get(key)
            if now == was:
                continue
            for one, by in ((was, -1), (now, 1)):
                if one is not None:
                    touched.setdefault(one, self.count[one] > 0)
                    self.count[one] += by
            if now is None:
                self.of.pop(key, None)
            else:
                self.of[key] = now
        for one in touched:
            if not self.count[one]:
                del self.count[one]
        come = [one for one, there in touched.items() if not there and one in self.count]
        go = [one for one, there in touched.items() if there and one not in self.count]
        return come, go

    def know(self, table: Table) -> None:
        """The table as it is, after it was read from saved state."""
        self.change(table, (), 0)

    def _given(self, table: Table, row: Row) -> Key | None:
        """The values that a row gives, None if it gives none."""
        if self._one is not None and not self._passes(table, row):
            return None
        key = tuple(row[i] for i in self.plain.columns)
        if None in key:
            self.without += 1
            return None
        return tuple(int(v) if type(v) is bool else v for v in key)

    def _passes(self, table: Table, row: Row) -> bool:
        assert self._one is not None
        if self._single is None:
            self._single = Table(table.shape)
        self._single.clear()
        self._single.put(table.key(row), row)
        return bool(self._one.select(self.query.sql, self.query.constants, {self.plain.table: self._single}).rows)
