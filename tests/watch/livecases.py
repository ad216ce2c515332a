"""Text cases as real transactions: every instant is one, and between them are some that are rolled back."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from occurs.connect import sqlite
from occurs.connect.changes.sqlite import SQLiteFeed
from occurs.languages.logic import syntax
from occurs.languages.logic.render import render
from occurs.model.types import Type
from occurs.watch.actions import Actions
from occurs.watch.judging import Judge
from occurs.watch.rules import read_rules
from occurs.watch.watcher import Watcher

if TYPE_CHECKING:
    from occurs.connect.changes.postgres import PostgresFeed

TYPES = {Type.INT: "bigint", Type.FLOAT: "double precision", Type.STRING: "text", Type.BOOL: "boolean"}
CASES = Path(__file__).parents[1] / "cases" / "logic"


class SQLite:
    """A database in a file, its clock in our hands."""

    mark = "?"

    def __init__(self, folder: Path):
        self.path = folder / "case.db"
        self.connection = sqlite.connect(self.path)
        self.connection.execute("pragma journal_mode = wal")
        self.connection.execute("pragma synchronous = off")

    def feed(self) -> SQLiteFeed:
        return SQLiteFeed(self.path)

    def run(self, sql: str, *values: Any) -> int:
        return self.connection.execute(sql, values).rowcount

    def take_clock(self) -> None:
        """It stands in the log."""

    def set_clock(self, time: int) -> None:
        """For the rest of the transaction."""
        self.run("update occurs_open set clock = ?", time)

    def close(self) -> None:
        self.connection.close()


class Postgres:
    """A database of a server, its clock in our hands."""

    mark = "%s"

    def __init__(self, url: str):
        import psycopg

        self.url = url
        self.connection = psycopg.connect(url)

    def feed(self) -> PostgresFeed:
        from occurs.connect.changes.postgres import PostgresFeed

        return PostgresFeed(self.url)

    def run(self, sql: str, *values: Any) -> int:
        return self.connection.execute(sql, values).rowcount

    def take_clock(self) -> None:
        self.run(
            "create or replace function occurs.now() returns bigint language sql as "
            "'select current_setting(''our.clock'')::bigint'"
        )
        self.connection.commit()

    def set_clock(self, time: int) -> None:
        """For the rest of the transaction."""
        self.run(f"set local our.clock = '{time}'")

    def close(self) -> None:
        """Everything that a case has made goes."""
        rows = self.connection.execute("select tablename from pg_tables where schemaname = 'public'").fetchall()
        gone = ", ".join(quoted(n) for (n,) in rows)
        self.run(f"drop table {gone}")
        self.run("drop schema occurs cascade")
        self.connection.commit()
        self.connection.close()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def create(database: Any, declared: list[syntax.Definition]) -> None:
    """The tables of declarations; a table also has a column that no rule knows."""
    for d in declared:
        if isinstance(d, syntax.Table | syntax.Event | syntax.State):
            columns = [f"{quoted(c.name.text)} {TYPES[c.type]}" for c in d.columns]
            keys = [quoted(c.name.text) for c in d.columns if c.key]
            columns += ["occurs_less integer"] + ([f"primary key ({', '.join(keys)})"] if keys else [])
            database.run(f"create table {quoted(d.name.text)} ({', '.join(columns)})")
    database.connection.commit()


def write(database: Any, event: Any, declared: dict[str, syntax.Definition]) -> None:
    """One row of a case as a statement."""
    table, values = quoted(event.type), {n: v for n, v in event.attributes.items() if n not in ("op", "old")}
    d = declared[event.type]
    op = event.attributes.get("op") or "upsert"
    keys = [c.name.text for c in d.columns if getattr(c, "key", False)]
    if op == "truncate":
        database.run(f"delete from {table}")
        return
    where = keys or list(values)
    if event.attributes.get("old"):
        old = json.loads(event.attributes["old"])
        found = [old[n] for n in (keys or old)]
        where = list(keys or old)
    else:
        found = [values[n] for n in where]
    test = " and ".join(f"{quoted(n)} = {database.mark}" for n in where)
    if op == "delete":
        database.run(f"delete from {table} where {test}", *found)
        return
    if isinstance(d, syntax.Table) and keys:
        setting = ", ".join(f"{quoted(n)} = {database.mark}" for n in values)
        if database.run(f"update {table} set {setting} where {test}", *values.values(), *found):
            return
    if not values:
        database.run(f"insert into {table} default values")
        return
    names, marks = ", ".join(map(quoted, values)), ", ".join([database.mark] * len(values))
    database.run(f"insert into {table} ({names}) values ({marks})", *values.values())


def watched(database: Any, case: Any, make: Any = Judge, *, restart: bool = False) -> tuple[list, list]:
    """What a watcher finds: events and notices, as (type or trigger, time, attributes).

    ``restart``: after every transaction there is a new one.
    """
    declared = list(case.definitions)
    known = {d.name.text for d in declared}
    for name, schema in case.inputs.items():
        if name not in known:
            kind = syntax.State if name == "state" else syntax.Event
            columns = tuple(syntax.Column(syntax.Name(n), t) for n, t in schema)
            declared.insert(0, kind(syntax.Name(name), columns))
    create(database, declared)
    by_name = {d.name.text: d for d in declared}
    feed = database.feed()
    rules = read_rules([("\n".join(map(render, declared)), None, "ftl")], feed.describe)
    feed.install(rules.tables, "case", rules.identity)
    events: list[dict[str, Any]] = []
    told: list[str] = []
    never: list[tuple[Any, ...]] = []

    def started(feed: Any) -> Watcher:
        assert feed.installed(rules.tables, "case")
        feed.lock("case")
        actions = Actions(feed, "case", lambda e: events.append(dict(e)), told.append)
        watcher = Watcher(feed, "case", rules, lambda p: make(rules, p, case.kind), actions, kind=case.kind)
        watcher.resume()
        return watcher

    watcher = started(feed)
    database.take_clock()
    for time, rows in groupby(sorted(case.events, key=lambda e: (e.time, e.sequence or 0)), key=lambda e: e.time):
        group = list(rows)
        database.set_clock(time)
        for event in group[::-1]:  # what is rolled back leaves no trace
            write(database, event, by_name)
        database.connection.rollback()
        database.set_clock(time)
        for event in group:
            write(database, event, by_name)
        database.connection.commit()
        if restart:
            watcher.step()
            feed.close()
            feed = database.feed()
            watcher = started(feed)
    while watcher.step():
        pass
    feed.close()
    never = [t for t in told if t.startswith("never: ")]
    found = [(e.pop("type"), e.pop("time"), e) for e in events]
    for _, _, attributes in found:
        attributes.pop("label")
    return found, never
