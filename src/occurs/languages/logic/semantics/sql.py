"""Views and ``exists``: SQLite on the tables of one state (temporal-logic.md 2, *SQL*).

Views without parameters are put in front of a SELECT as common table expressions, so that they, too, see ``:time``.
Only reading is allowed; booleans are 0 and 1, times are ticks (of timestamps: microseconds since 1970 UTC).
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.values import Relation
from occurs.model.types import Type

_ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE)
_AFFINITY = {Type.FLOAT: "real", Type.STRING: "text"}


def plain(value: Any) -> Any:
    """A value as SQLite has it: booleans are ints."""
    return int(value) if isinstance(value, int) else value


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


class Tables:
    """The tables of a state in a database of their own.

    ``rows``: per table its rows, values by column.  ``views``: those of the program.
    """

    def __init__(
        self,
        tables: Sequence[syntax.Table],
        rows: Mapping[str, Iterable[Mapping[str, Any]]],
        views: Iterable[syntax.View],
    ) -> None:
        self.connection = sqlite3.connect(":memory:")
        self.views = {v.name.text: v for v in views if not v.parameters}
        for table in tables:
            columns = [(c.name.text, _AFFINITY.get(c.type, "integer")) for c in table.columns]
            self._create(table.name.text, columns, [[r.get(n) for n, _ in columns] for r in rows[table.name.text]])

    def _create(self, name: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[Any]]) -> None:
        text = ", ".join(f"{quoted(n)} {affinity}" for n, affinity in columns)
        self.connection.execute(f"create table {quoted(name)} ({text})")
        marks = ", ".join("?" for _ in columns)
        self.connection.executemany(f"insert into {quoted(name)} values ({marks})", [[*map(plain, r)] for r in rows])

    def select(self, sql: str, values: Mapping[str, Any]) -> Relation:
        """What a SELECT gives.  ``values`` of all names that may stand behind a colon; those that are relations are
        tables.  DefinitionProblem (``bad-sql``) if SQLite rejects it."""
        relations = {n: v for n, v in values.items() if isinstance(v, Relation)}
        for name, relation in relations.items():
            self._create(name, [(c, "") for c in relation.columns], relation.rows)
        views = self._needed(sql)
        head = ", ".join(f"{quoted(n)} as ({v.sql.text}\n)" for n, v in views.items())
        text = f"select * from ({sql}\n)"
        self.connection.set_authorizer(_reading)
        try:
            cursor = self.connection.execute(f"with {head} {text}" if head else text, _bound(values))
            rows = tuple(tuple(r) for r in cursor.fetchall())
            return Relation(tuple(d[0] for d in cursor.description), rows)
        except sqlite3.Error as problem:
            raise DefinitionProblem.of("bad-sql", f"SQLite rejects `{sql.strip()}`: {problem}") from problem
        finally:
            self.connection.set_authorizer(None)
            for name in relations:
                self.connection.execute(f"drop table {quoted(name)}")

    def _needed(self, sql: str) -> dict[str, syntax.View]:
        """The views a SELECT may mean, and those that they may mean."""
        found: dict[str, syntax.View] = {}
        texts = [sql]
        while texts:
            words = {w.lower() for w in re.findall(r"\w+", texts.pop())}
            new = {n: v for n, v in self.views.items() if n.lower() in words and n not in found}
            found |= new
            texts += [v.sql.text for v in new.values()]
        return found


def _bound(values: Mapping[str, Any]) -> dict[str, Any]:
    return {n: plain(v) for n, v in values.items() if not isinstance(v, Relation)}


def _reading(action: int, *_: str | None) -> int:
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY
