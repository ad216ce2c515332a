"""SQL over the tables of a state: SQLite in this process, kept in step with the tables (temporal-logic.md 2, *SQL*).

Only reading is allowed.  Booleans are 0 and 1, times are ticks.
"""

from __future__ import annotations

import re
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.model.sqltext import quoted
from occurs.model.types import Type
from occurs.operators.temporal.tables import Row, Table
from occurs.operators.temporal.values import Relation

_READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_AFFINITY = {Type.FLOAT: "real", Type.STRING: "text"}
_ROWID = ("rowid", "oid", "_rowid_")
#: relations, and rows of them, that SQLite has at once
MOST_HELD, MOST_ROWS = 200, 100_000


def plain(value: Any) -> Any:
    """A value as SQLite has it."""
    return int(value) if type(value) is bool else value


class Database:
    """``types``: per table those of its columns.  ``views``: name to SELECT, of those without parameters."""

    def __init__(self, types: Mapping[str, Mapping[str, Type]], views: Mapping[str, str]) -> None:
        self.types, self.views = types, views
        self.connection: sqlite3.Connection | None = None
        self.writing = False
        self.inserts: dict[str, str] = {}
        self.deletes: dict[str, str] = {}
        self.texts: dict[str, list[str]] = {}
        self._frozen: tuple[dict[str, Table], Database] | None = None
        #: relations with the tables that have their rows, the last one that was asked for last; tables without rows
        self._held: OrderedDict[Relation, str] = OrderedDict()
        self._free: dict[tuple[str, ...], list[str]] = {}
        self._held_rows = self._made = 0

    def frozen(self, tables: Mapping[str, Table]) -> tuple[dict[str, Table], Database]:
        """The tables as they are now, for good, with a database of their own."""
        now = {name: tables[name].frozen() for name in self.types}
        if self._frozen is None or any(self._frozen[0][n] is not t for n, t in now.items()):
            self._frozen = now, Database(self.types, self.views)
        return self._frozen

    def select(self, sql: str, values: Mapping[str, Any], tables: Mapping[str, Table]) -> Relation:
        """What a SELECT gives over ``tables`` as they are.  ``values`` of what may stand behind a colon; those that
        are relations are tables.  DefinitionProblem (``bad-sql``) if SQLite rejects it."""
        if self.connection is None:
            self._open(tables)
        assert self.connection is not None
        for table in tables.values():
            if table.log:
                self._follow(table)
        relations = [(n, v) for n, v in values.items() if type(v) is Relation]
        scalars = {n: plain(v) for n, v in values.items() if type(v) is not Relation}
        held = [(n, self._held_in(v, keep)) for keep, (n, v) in enumerate(relations)]
        try:
            cursor = self.connection.execute(self._text(sql, held), scalars)
            rows = tuple(cursor.fetchall())
            return Relation(tuple(d[0] for d in cursor.description), rows)
        except sqlite3.Error as problem:
            raise DefinitionProblem.of("bad-sql", f"SQLite rejects `{sql.strip()}`: {problem}") from problem

    def _held_in(self, relation: Relation, keep: int) -> str:
        """The table that has the rows of a relation; the ``keep`` last ones that were asked for stay."""
        found = self._held.get(relation)
        if found is not None:
            self._held.move_to_end(relation)
            return found
        n = len(relation.rows)
        while len(self._held) > keep and (len(self._held) >= MOST_HELD or self._held_rows + n > MOST_ROWS):
            old, table = self._held.popitem(last=False)
            self._write(f"delete from {quoted(table)}")
            self._held_rows -= len(old.rows)
            self._free.setdefault(old.columns, []).append(table)
        free, rows = self._free.get(relation.columns), list(enumerate(relation.rows))
        if free:
            name = free.pop()
            self._insert(name, rows)
        else:
            name = f"occurs relation {self._made}"
            self._made += 1
            self._create(name, [(c, "") for c in relation.columns], rows)
        self._held[relation] = name
        self._held_rows += n
        return name

    def _open(self, tables: Mapping[str, Table]) -> None:
        # an engine may go from thread to thread, one at a time
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.connection.set_authorizer(self._authorize)
        for name, types in self.types.items():
            columns = [(c, _AFFINITY.get(t, "integer")) for c, t in types.items()]
            self._create(name, columns, list(tables[name].entries()))
            keys = ", ".join(quoted(tables[name].shape.columns[i]) for i in tables[name].shape.keys)
            if keys:
                self._write(f"create index {quoted(f'occurs key of {name}')} on {quoted(name)} ({keys})")
            tables[name].log = []

    def _create(self, name: str, columns: Sequence[tuple[str, str]], rows: Sequence[tuple[int, Row]]) -> None:
        text = ", ".join(f"{quoted(n)} {affinity}" for n, affinity in columns)
        self._write(f"create table {quoted(name)} ({text})")
        taken = {n.lower() for n, _ in columns}
        number = next(n for n in _ROWID if n not in taken)
        names = ", ".join([number, *(quoted(n) for n, _ in columns)])
        marks = ", ".join("?" * (len(columns) + 1))
        self.inserts[name] = f"insert into {quoted(name)} ({names}) values ({marks})"
        self.deletes[name] = f"delete from {quoted(name)} where {number} = ?"
        self._insert(name, rows)

    def _insert(self, name: str, rows: Sequence[tuple[int, Row]]) -> None:
        if rows:
            self._write(self.inserts[name], *[(n, *map(plain, row)) for n, row in rows])

    def _follow(self, table: Table) -> None:
        """Do what has happened to a table since the last time."""
        name = table.shape.name
        for number, row in table.log or ():
            if row is None:
                self._write(self.deletes[name], (number,))
            else:
                self._write(self.inserts[name], (number, *map(plain, row)))
        table.log = []

    def _text(self, sql: str, held: Sequence[tuple[str, str]]) -> str:
        """The SELECT with the relations that it may mean, the views, and those that these may mean before it."""
        views = self.texts.get(sql)
        if views is None:
            needed: dict[str, str] = {}
            waiting = [sql]
            while waiting:
                words = {w.lower() for w in re.findall(r"\w+", waiting.pop())}
                new = {n: v for n, v in self.views.items() if n.lower() in words and n not in needed}
                needed |= new
                waiting += new.values()
            views = self.texts[sql] = [f"{quoted(n)} as ({text}\n)" for n, text in needed.items()]
        head = ", ".join([*(f"{quoted(n)} as (select * from {quoted(table)})" for n, table in held), *views])
        return f"with {head} select * from ({sql}\n)" if head else f"select * from ({sql}\n)"

    def _write(self, text: str, *rows: Sequence[Any]) -> None:
        """A statement, once per row of values; once if there are none."""
        assert self.connection is not None
        self.writing = True
        try:
            if len(rows) > 1:
                self.connection.executemany(text, rows)
            else:
                self.connection.execute(text, *rows)
        finally:
            self.writing = False

    def _authorize(self, action: int, *_: str | None) -> int:
        """A SELECT of the user's may read, and call functions."""
        return sqlite3.SQLITE_OK if self.writing or action in _READING else sqlite3.SQLITE_DENY
