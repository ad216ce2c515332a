"""Connections to SQLite whose every transaction is a state of its own for `occurs watch` (temporal-logic.md 5.5).

>>> from occurs.connect import sqlite
>>> connection = sqlite.connect("shop.db")       # doctest: +SKIP

They are those of the module :mod:`sqlite3`, and do the same.  Where a log of changes is installed, a commit gives what
was written its own position in the log; transactions of other connections that are committed between two looks of the
watcher are one state.
"""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

from occurs.connect.changes.sqlite_sql import has_log, seal

_ENDS = ("COMMIT", "END")
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


def connect(database: str | Path, **options: Any) -> Connection:
    """A connection; ``options`` are those of :func:`sqlite3.connect`.

    Triggers fire for rows that ``insert or replace`` takes away, too (``recursive_triggers``).
    """
    connection = sqlite3.connect(database, factory=Connection, **options)
    connection.execute("pragma recursive_triggers = on")
    return connection


class Connection(sqlite3.Connection):
    """Seals what it has written when it commits."""

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or Cursor)

    # the module goes past a cursor of ours in these
    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Any:
        return self.cursor().executemany(sql, parameters)

    def executescript(self, script: str, /) -> Any:
        """What a script commits is one state."""
        self.seal()
        found = super().executescript(script)
        if not self.in_transaction:
            plain = sqlite3.Cursor(self)
            plain.execute("begin immediate")
            self.seal()
            plain.execute("commit")
        return found

    def commit(self) -> None:
        self.seal()
        super().commit()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        if kind is None:
            try:
                self.seal()
            except sqlite3.Error:
                self.rollback()
                raise
        return super().__exit__(kind, error, trace)

    def seal(self) -> None:
        """The open transaction gets its position, if it has written to a watched table."""
        if self.in_transaction:
            plain = sqlite3.Cursor(self)
            plain.row_factory = None
            if has_log(plain):
                seal(plain)


class Cursor(sqlite3.Cursor):
    """Knows a commit that is written as a statement, and statements that commit by themselves.

    One of these that returns rows is sealed by the next commit, or by the watcher.
    """

    def execute(self, sql: str, parameters: Any = ()) -> Cursor:
        word = _first_word(sql)
        if word in _ENDS:
            self._seal()
        alone = self.connection.isolation_level is None and not self.connection.in_transaction
        if not alone or word not in _WRITES or "returning" in sql.lower():
            super().execute(sql, parameters)
            return self
        super().execute("begin immediate")
        try:
            super().execute(sql, parameters)
            self._seal()
        except BaseException:
            sqlite3.Cursor(self.connection).execute("rollback")
            raise
        sqlite3.Cursor(self.connection).execute("commit")
        return self

    def _seal(self) -> None:
        assert isinstance(self.connection, Connection)
        self.connection.seal()


def _first_word(sql: str) -> str:
    """The first word of a statement behind comments, in capitals."""
    found = re.match(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*([A-Za-z]*)", sql, re.DOTALL)
    return found.group(1).upper() if found else ""
