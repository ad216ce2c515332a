"""The change log of an SQLite database (temporal-logic.md 5.5)."""

from __future__ import annotations

import datetime as dt
import fcntl
import os
import sqlite3
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from occurs.connect.changes import sqlite_sql
from occurs.connect.changes.feed import Feed
from occurs.connect.changes.model import (
    DELETE,
    INSERT,
    UPDATE,
    ActionFailed,
    Change,
    Column,
    Described,
    Watched,
    fitted,
)
from occurs.connect.changes.sqlite_sql import changes_of
from occurs.connect.places import user_path
from occurs.errors import ResourceProblem
from occurs.model.sqltext import quoted
from occurs.model.types import Type

#: how long a lock of the database is waited for, in seconds
PATIENCE = 60.0
#: between two tries, in seconds
PAUSE = 0.001
#: how often a watcher asks whether something was committed, in seconds
POLL = 0.005
#: declared types by what is in them, in the order of SQLite's own rules
_TYPES = (
    ("BOOL", Type.BOOL),
    ("DATE", Type.TIMESTAMP),
    ("TIME", Type.TIMESTAMP),
    ("INT", Type.INT),
    ("CHAR", Type.STRING),
    ("CLOB", Type.STRING),
    ("TEXT", Type.STRING),
    ("REAL", Type.FLOAT),
    ("FLOA", Type.FLOAT),
    ("DOUB", Type.FLOAT),
    ("NUMERIC", Type.FLOAT),
    ("DECIMAL", Type.FLOAT),
)


class SQLiteFeed(Feed):
    """The log of the database at ``path``.  ``keep``: firings whose actions are done are kept, as the log is."""

    prefix = sqlite_sql.PREFIX

    def __init__(self, path: str | Path, *, keep: bool = False) -> None:
        self.path = user_path(path)
        self.name = f"sqlite:{self.path}"
        self.keep = keep
        if not self.path.is_file():
            text = f"there is no database {self.path}"
            raise ResourceProblem.of("missing-file", text, hint="name an existing SQLite file, such as sqlite:shop.db")
        uri = f"{self.path.resolve().as_uri()}?mode=rw"
        try:
            self.connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0)
        except sqlite3.Error as error:
            raise self._problem(error) from error
        self.run("select 1 from sqlite_master")
        self._commits = Commits(self.path)
        self._own = 0
        self._lock: IO[str] | None = None
        self._version: int | None = None
        #: written by ourselves, which the version does not tell
        self._touched = True
        self._tables: dict[str, Watched] = {}

    # --- statements ---------------------------------------------------------------------------------------------------

    def run(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return self.connection.execute(sql, values).fetchall()
            except sqlite3.Error as error:
                # SQLite itself would wait longer and longer, so that whoever writes all the time is always first;
                # we never hold a lock that another waits for while we wait for his
                if not _busy(error) or time.monotonic() > until:
                    raise self._problem(error) from error
            time.sleep(PAUSE)

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        self.run("begin immediate" if write else "begin")
        before = self.connection.total_changes
        try:
            yield
            self.run("commit")
            self._own += self.connection.total_changes != before
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("rollback")
            raise

    def _problem(self, error: sqlite3.Error) -> ResourceProblem:
        code = getattr(error, "sqlite_errorcode", None)
        kind, hint = "database", None
        if _busy(error):
            kind, hint = "locked", f"another connection has held a write transaction for more than {PATIENCE:.0f} s"
        elif code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
            kind, hint = "no-right", "the log is in the database itself, which must be writable"
        elif code == sqlite3.SQLITE_NOTADB:
            hint = "the file is not an SQLite database"
        return ResourceProblem.of(kind, f"{self.name}: {error}", hint=hint)

    # --- the catalogue ------------------------------------------------------------------------------------------------

    def describe(self, names: Sequence[str]) -> dict[str, Described]:
        found: dict[str, Described] = {}
        for name in names:
            rows = self.run("select type, sql from sqlite_master where name = :name and type in ('table', 'view')",
                            name=name)  # fmt: skip
            if not rows or name.startswith("sqlite_"):
                continue
            kind, sql = rows[0]
            # `pragma table_xinfo` also has what is computed; what is hidden (2, 3) is computed, too
            info = self.run("select name, type, pk from pragma_table_xinfo(:name) order by cid", name=name)
            columns = tuple(Column(n, _type(t), t or "any") for n, t, _ in info)
            primary = tuple(n for n, _, pk in sorted(info, key=lambda c: c[2]) if pk)
            why = "a view has no rows of its own" if kind == "view" else None
            if kind == "table" and str(sql).lstrip().lower().startswith("create virtual"):
                why = "a virtual table has no triggers"
            unique = [frozenset(primary)] if primary else []
            for index, partial in self.run(
                'select name, partial from pragma_index_list(:name) where "unique" = 1', name=name
            ):
                of = [n for (n,) in self.run("select name from pragma_index_info(:index)", index=index)]
                if not partial and None not in of:
                    unique.append(frozenset(of))
            found[name] = Described(name, columns, tuple(unique), primary, why)
        return found

    def table_names(self) -> list[str]:
        return [n for (n,) in self.run("select name from sqlite_master where type = 'table'")]

    # --- installing ---------------------------------------------------------------------------------------------------

    def install_sql(self, tables: Sequence[Watched], watcher: str) -> list[str]:
        return [*sqlite_sql.TABLES, *(s for t in tables for s in sqlite_sql.log_sql(t))]

    def uninstall_sql(self) -> list[str]:
        return [f"drop {kind} {quoted(name)}" for kind, name in sqlite_sql.traces(self.connection)]

    def install(self, tables: Sequence[Watched], watcher: str, rules: str) -> None:
        with self.transaction():
            if sqlite_sql.has_log(self.connection):
                self._outdated(tables)
            for statement in self.install_sql([self._wider(t) for t in tables], watcher):
                self.run(statement)
            if self.entered(watcher):
                return
            sqlite_sql.seal(self.connection)
            tx, last = self.run("select tx, last from occurs_open")[0]
            (at,) = self.run(f"select {sqlite_sql.CLOCK}")[0]
            before = self.connection.total_changes
            for table in tables:
                if table.keeps:
                    names = ", ".join(quoted(n) for n in table.names)
                    into = ", ".join(quoted(f"new_{n}") for n in table.names)
                    self.run(
                        f"insert into {changes_of(table.name)} (tx, at, op, {into}) "
                        f"select :tx, :at, '{INSERT}', {names} from {quoted(table.name)}",
                        tx=tx, at=at,
                    )  # fmt: skip
            rows = self.connection.total_changes - before
            self.enter(watcher, tx - 1, rules)
            if rows:
                sqlite_sql.enter(self.connection, tx, last, at, 1, watcher)

    def _logged(self, table: str) -> list[str]:
        """The columns of a table that are logged already."""
        rows = self.run("select name from pragma_table_info(:log)", log=f"occurs_changes_{table}")
        return [n.removeprefix("new_") for (n,) in rows if n.startswith("new_")]

    def _wider(self, table: Watched) -> Watched:
        """A table with what another watcher wants of it, too."""
        more = tuple((n, Type.NULL) for n in self._logged(table.name) if n not in table.names)
        return replace(table, columns=(*table.columns, *more))

    def _outdated(self, tables: Sequence[Watched]) -> None:
        """Triggers that log fewer columns than are wanted now go; the table of changes gets the others."""
        for table in tables:
            have = self._logged(table.name)
            there = table.name in (n for (n,) in self.run("select name from occurs_watched"))
            new = [f"{when}_{n}" for n in table.names for when in ("old", "new") if n not in have]
            if not there or not new:
                continue
            for name in new:
                self.run(f"alter table {changes_of(table.name)} add column {quoted(name)}")
            for op in (INSERT, UPDATE, DELETE):
                self.run(f"drop trigger if exists {quoted(f'occurs_{op}_{table.name}')}")

    def installed(self, tables: Sequence[Watched], watcher: str) -> bool:
        if not sqlite_sql.has_log(self.connection) or not self.entered(watcher):
            return False
        there = {n for _, n in sqlite_sql.traces(self.connection)}
        wanted = {f"occurs_{op}_{t.name}" for t in tables for op in (INSERT, UPDATE, DELETE)}
        if not wanted <= there:
            return False
        for table in tables:
            if not set(table.names) <= set(self._logged(table.name)):
                return False
        self._tables = {t.name: t for t in tables}
        return True

    # --- one at a time ------------------------------------------------------------------------------------------------

    def lock(self, watcher: str) -> None:
        """The lock is the system's on a file beside the database: it ends with the process, however that ends."""
        path = self.path.with_name(f"{self.path.name}-occurs-{watcher}")
        try:
            lock = open(path, "a+")  # noqa: SIM115  it stays open
        except OSError as error:
            raise ResourceProblem.of("no-right", f"{path}: {error.strerror or error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            pid = lock.read().strip()
            lock.close()
            raise self.taken(watcher, f" (process {pid})" if pid else "") from None
        if not path.exists() or path.stat().st_ino != os.fstat(lock.fileno()).st_ino:
            lock.close()  # whoever had it took the file away in between
            self.lock(watcher)
            return
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        self._lock = lock

    def close(self) -> None:
        self.connection.close()
        self._commits.close()
        if self._lock is not None:
            Path(self._lock.name).unlink(missing_ok=True)
            self._lock.close()
            self._lock = None

    # --- following ----------------------------------------------------------------------------------------------------

    def sealed(self) -> int:
        if not any(
            self.run(f"select 1 from {changes_of(n)} where tx = (select tx from occurs_open) limit 1")
            for n in self._tables
        ):
            return 0
        with self.transaction():
            # those of others since the last look; whoever uses the helper has positions of his own
            commits = self._commits.since() - self._own
            self._own = 0
            return int(sqlite_sql.seal(self.connection, commits))

    def changes(self, after: int, last: int, watcher: str) -> Iterator[tuple[int, Change]]:
        found: list[tuple[int, Change]] = []
        for table in self._tables.values():
            olds, news = (", ".join(quoted(f"{w}_{n}") for n in table.names) or "null" for w in ("old", "new"))
            rows = self.run(
                f"select tx, op, {olds}, {news} from {changes_of(table.name)} where tx > :after and tx <= :last "
                "order by tx, id",
                after=after, last=last,
            )  # fmt: skip
            n = max(1, len(table.names))
            for tx, op, *values in rows:
                old = None if op == INSERT else dict(zip(table.names, values[:n]))
                new = None if op == DELETE else dict(zip(table.names, values[n:]))
                found.append((tx, Change(table.name, op, fitted(table, old), fitted(table, new))))
        yield from sorted(found, key=lambda c: c[0])

    def wait(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            version = int(self.run("pragma data_version")[0][0])
            if version != self._version or self._touched:
                self._version, self._touched = version, False
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(min(POLL, seconds))

    def tick(self, time: int) -> None:
        with self.transaction():
            sqlite_sql.seal(self.connection)
            tx, last = self.run("select tx, last from occurs_open")[0]
            (at,) = self.run(f"select {sqlite_sql.CLOCK}")[0]
            if last < time <= at:
                sqlite_sql.enter(self.connection, tx, last, at, 0)

    # --- actions ------------------------------------------------------------------------------------------------------

    def refuses(self, statement: str, names: Sequence[str]) -> str | None:
        try:
            self.connection.execute(f"explain {statement}", dict.fromkeys(names)).fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            return str(error)
        return None

    def execute(self, watcher: str, label: str, action: int, statement: str, values: Mapping[str, Any]) -> bool:
        with self.transaction():
            if not self.noted(watcher, label, action):
                return False
            try:
                self.connection.execute(statement, {n: _given(v) for n, v in values.items()}).fetchall()
            except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
                raise ActionFailed(str(error), transient=_busy(error)) from error
        self._touched = True
        return True

    def prune(self) -> None:
        with self.transaction():
            (until,) = self.run("select min(position) from occurs_watchers")[0]
            names = [n for (n,) in self.run("select name from occurs_watched")]
            for statement in (
                *(f"delete from {changes_of(n)} where tx <= :until" for n in names),
                "delete from occurs_commits where position <= :until",
                "delete from occurs_merged where last <= :until",
            ):
                self.run(statement, until=until)


def _busy(error: sqlite3.Error | sqlite3.Warning | OverflowError) -> bool:
    """Has somebody else the lock?"""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _type(declared: str | None) -> Type | None:
    upper = (declared or "").upper()
    return next((t for word, t in _TYPES if word in upper), None)


def _given(value: Any) -> Any:
    """A value as SQLite has it: times as ISO 8601 text, booleans as numbers."""
    if isinstance(value, dt.datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return int(value) if isinstance(value, bool) else value


# --- how many transactions were committed: what no statement tells ----------------------------------------------------
# With a rollback journal the header of the file counts them; with a write-ahead log every transaction ends with a frame
# that says so.  To be asked while nobody else can write.

_HEADER, _FRAME = 32, 24


class Commits:
    """Of the database at ``path``.  It keeps the file open until :meth:`close`, which has to come after that of the
    connection: closing a file lets go of the locks that this process has on it."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = open(path, "rb", buffering=0)  # noqa: SIM115  it stays open
        self._wal = path.with_name(f"{path.name}-wal")
        self._counter = self._count()
        self._salt, self._frames = b"", 0
        self._of_wal()

    def since(self) -> int:
        """How many since this was asked last."""
        counter = self._count()
        before, self._counter = self._counter, counter
        return (counter - before) % 2**32 + self._of_wal()

    def close(self) -> None:
        self._file.close()

    def _count(self) -> int:
        self._file.seek(24)
        return int.from_bytes(self._file.read(4), "big")

    def _of_wal(self) -> int:
        """The commits among the frames that were not seen yet."""
        try:
            log = open(self._wal, "rb", buffering=0)  # noqa: SIM115  locks are on another file
        except FileNotFoundError:
            self._salt, self._frames = b"", 0
            return 0
        with log:
            header = log.read(_HEADER)
            if len(header) < _HEADER:
                return 0
            (page,) = struct.unpack(">I", header[8:12])
            if header[16:24] != self._salt:
                self._salt, self._frames = header[16:24], 0
            found = 0
            while True:
                log.seek(_HEADER + self._frames * (_FRAME + page))
                frame = log.read(_FRAME)
                if len(frame) < _FRAME or frame[8:16] != self._salt:
                    return found
                found += frame[4:8] != b"\0\0\0\0"
                self._frames += 1
