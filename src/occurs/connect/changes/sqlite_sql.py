"""The change log in SQLite: its tables and triggers, and how a transaction gets its number and its time.

SQLite tells a trigger nothing of its transaction.  So the number of the open one stands in a table; whoever commits
with :mod:`occurs.connect.sqlite` seals it, and else the watcher does, when it reads: then all that was committed in
between is one state.  Per watched table there is one of changes, whose columns keep the values as they are (JSON would
round floats).  Everything is called ``occurs_..``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from occurs.connect.changes.model import DELETE, INSERT, UPDATE, Watched
from occurs.model.sqltext import quoted

PREFIX = "occurs_"

TABLES = (
    # last: the time of the last state; clock: a time for what is written now, else that of the system's clock
    "create table if not exists occurs_open "
    "(one integer primary key check (one = 1), tx integer not null, last integer not null, clock integer)",
    "insert or ignore into occurs_open (one, tx, last) values (1, 1, -1)",
    # watcher: for which alone it is
    "create table if not exists occurs_commits (position integer primary key, time integer not null, "
    "transactions integer not null, raised integer not null, watcher text)",
    "create table if not exists occurs_watched (name text primary key) without rowid",
    "create table if not exists occurs_watchers "
    "(name text primary key, position integer not null, time integer, rules text not null) without rowid",
    "create table if not exists occurs_merged (watcher text not null, after integer not null, last integer not null, "
    "primary key (watcher, after)) without rowid",
    "create table if not exists occurs_state "
    "(watcher text not null, piece text not null, content blob not null, primary key (watcher, piece))",
    "create table if not exists occurs_firings (watcher text not null, label text not null, position integer not null, "
    "number integer not null, content text not null, done integer not null default 0, primary key (watcher, label))",
    "create index if not exists occurs_firings_open on occurs_firings (watcher, position, number) where done = 0",
    "create table if not exists occurs_done (watcher text not null, label text not null, action integer not null, "
    "primary key (watcher, label, action)) without rowid",
)

#: microseconds since 1970, of the system's clock in milliseconds
NOW = "cast((julianday('now') - 2440587.5) * 86400000.0 + 0.5 as integer) * 1000"
CLOCK = f"coalesce((select clock from occurs_open), {NOW})"


def changes_of(table: str) -> str:
    """The table of the changes of a table, quoted."""
    return quoted(f"occurs_changes_{table}")


def log_sql(table: Watched) -> Iterator[str]:
    """The table of changes and the triggers that write into it."""
    columns = [quoted(f"{when}_{n}") for when in ("old", "new") for n in table.names]
    head = "id integer primary key, tx integer not null, at integer not null, op text not null"
    log = changes_of(table.name)
    yield f"create table if not exists {log} ({', '.join([head, *columns])})"
    yield f"create index if not exists {quoted(f'occurs_index_{table.name}')} on {log} (tx)"
    text = table.name.replace("'", "''")
    yield f"insert or ignore into occurs_watched values ('{text}')"
    for op, names in ((INSERT, ("new",)), (UPDATE, ("old", "new")), (DELETE, ("old",))):
        into = ", ".join(["tx", "at", "op", *(quoted(f"{when}_{n}") for when in names for n in table.names)])
        values = ", ".join([f"'{op}'", *(f"{when}.{quoted(n)}" for when in names for n in table.names)])
        name = quoted(f"occurs_{op}_{table.name}")
        yield (
            f"create trigger if not exists {name} after {op} on {quoted(table.name)} begin "
            f"insert into {log} ({into}) select tx, coalesce(clock, {NOW}), {values} from occurs_open; end"
        )


def traces(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """(kind, name) of everything that installing has made: triggers first."""
    rows = connection.execute(
        r"select type, name from sqlite_master where name like 'occurs\_%' escape '\' and type in ('trigger', 'table') "
        "order by type desc, name"
    )
    return [(str(kind), str(name)) for kind, name in rows]


def has_log(connection: sqlite3.Connection | sqlite3.Cursor) -> bool:
    """Is there a log in this database?"""
    return bool(connection.execute("select 1 from sqlite_master where name = 'occurs_open'").fetchone())


def seal(connection: sqlite3.Connection | sqlite3.Cursor, commits: int = 1) -> bool:
    """Close the open transaction's number: it has its position and time; False if nothing was logged under it.

    ``commits``: as many transactions were committed meanwhile; those without a change are not known from those with
    one.  To be called inside a transaction that may write.
    """
    names = [str(n) for (n,) in connection.execute("select name from occurs_watched")]
    logs = " union all ".join(f"select max(at) at, count(*) n from {changes_of(n)} where tx = open.tx" for n in names)
    if not names:
        return False
    tx, last, at, rows = connection.execute(
        f"select tx, last, (select max(at) from ({logs})), (select sum(n) from ({logs})) from occurs_open open"
    ).fetchone()
    if at is None:
        return False
    enter(connection, tx, last, at, max(1, min(commits, rows)))
    return True


def enter(
    connection: sqlite3.Connection | sqlite3.Cursor,
    tx: int,
    last: int,
    at: int,
    transactions: int,
    watcher: str | None = None,
) -> None:
    """The open number becomes a position, at the clock's ``at`` or later."""
    time = max(at, last + 1)
    # the clock counts milliseconds: in the same one it has not gone back
    raised = int(at // 1000 < last // 1000)
    connection.execute("insert into occurs_commits values (?, ?, ?, ?, ?)", (tx, time, transactions, raised, watcher))
    connection.execute("update occurs_open set tx = tx + 1, last = ?", (time,))
