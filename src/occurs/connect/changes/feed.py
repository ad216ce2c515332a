"""Change logs of databases: what each database provides, and positions, saved state and firings, kept in tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from occurs.connect.changes.model import ANEW, Change, Commit, Described, Fired, Saved, Watched
from occurs.errors import CheckpointProblem, ResourceProblem, UsageProblem


class Feed(ABC):
    """The change log of a database, and what a watcher keeps there: positions, the monitors' state, firings.

    A feed is used by one thread.  Names of the log's tables begin with ``prefix``.  ``keep``: firings whose actions are
    done are kept, as the log is.  ResourceProblem: no such server or file, a missing right, a lock; UsageProblem: there
    is no log, or not for this watcher.
    """

    prefix: str
    keep: bool
    #: how to say where it is, without secrets
    name: str

    # --- what each database does in its own way -----------------------------------------------------------------------

    @abstractmethod
    def run(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        """A statement of ours, parameters written ``:name``; its rows, if any.  ResourceProblem."""

    @abstractmethod
    def transaction(self, *, write: bool = True) -> AbstractContextManager[None]:
        """All or nothing; if nothing is written, all that is read is of one moment."""

    @abstractmethod
    def describe(self, names: Sequence[str]) -> dict[str, Described]:
        """Those of the tables that exist."""

    @abstractmethod
    def table_names(self) -> list[str]:
        """The tables of the database, by the names that rules give them."""

    @abstractmethod
    def install_sql(self, tables: Sequence[Watched], watcher: str) -> list[str]:
        """The statements of :meth:`install`."""

    @abstractmethod
    def uninstall_sql(self) -> list[str]:
        """The statements of :meth:`uninstall`."""

    @abstractmethod
    def install(self, tables: Sequence[Watched], watcher: str, rules: str) -> None:
        """Make the log and its triggers, as far as they are not there; enter the watcher with the present content of
        its tables as the first state it will see.  All in one transaction."""

    @abstractmethod
    def installed(self, tables: Sequence[Watched], watcher: str) -> bool:
        """Is everything there that :meth:`install` makes?"""

    @abstractmethod
    def lock(self, watcher: str) -> None:
        """No other watcher of this name, until :meth:`close`.  ResourceProblem (``locked``)."""

    @abstractmethod
    def changes(self, after: int, last: int, watcher: str) -> Iterator[tuple[int, Change]]:
        """The changes at positions in (after, last], with their positions, by position and order of writing."""

    @abstractmethod
    def wait(self, seconds: float) -> bool:
        """Until something may have been committed, or so long; was there something?"""

    @abstractmethod
    def tick(self, time: int) -> None:
        """An entry in the log without changes, so that time goes on to at least ``time``, if the clock is so far."""

    @abstractmethod
    def execute(self, watcher: str, label: str, action: int, statement: str, values: Mapping[str, Any]) -> bool:
        """Run a statement with bound values, and note that it is done, in one transaction; False if it was done.

        Raises ActionFailed.
        """

    @abstractmethod
    def refuses(self, statement: str, names: Sequence[str]) -> str | None:
        """Why a statement with these parameters cannot be run; None if nothing is known against it."""

    @abstractmethod
    def prune(self) -> None:
        """Delete what all watchers have judged."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the lock and the connection."""

    def sealed(self) -> int:
        """Give positions to what was committed and has none; how many transactions that may have been."""
        return 0

    # --- the same SQL everywhere --------------------------------------------------------------------------------------

    def table(self, name: str) -> str:
        """One of the tables of the log."""
        return f"{self.prefix}{name}"

    def uninstall(self) -> bool:
        """Remove every trace; False if there was none."""
        with self.transaction():
            statements = self.uninstall_sql()
            for statement in statements:
                self.run(statement)
        return bool(statements)

    # --- reading ------------------------------------------------------------------------------------------------------

    def waiting(self, after: int, watcher: str) -> int:
        """How many transactions are behind a position; those that no position was given yet are given one."""
        self.sealed()
        sql = f"select count(*) from {self.table('commits')} where position > :after"
        return int(self.run(f"{sql} and coalesce(watcher, :watcher) = :watcher", after=after, watcher=watcher)[0][0])

    def coalesce(self, after: int, watcher: str) -> int:
        """Make all that waits one state, in the log; how many transactions they are."""
        with self.transaction():
            last, count = self.run(
                f"select max(position), count(*) from {self.table('commits')} "
                "where position > :after and coalesce(watcher, :watcher) = :watcher",
                after=after, watcher=watcher,
            )[0]  # fmt: skip
            if count > 1:
                self.run(
                    f"insert into {self.table('merged')} values (:watcher, :after, :last)",
                    watcher=watcher, after=after, last=last,
                )  # fmt: skip
        return int(count)

    def read(self, after: int, watcher: str, limit: int) -> list[Commit]:
        """The next states behind a position, in order."""
        self.sealed()
        with self.transaction(write=False):
            merged = self.run(
                f"select after, last from {self.table('merged')} where watcher = :watcher and last > :after "
                "order by last limit 1000",
                watcher=watcher, after=after,
            )  # fmt: skip
            commits = self.run(
                f"select position, time, transactions, raised from {self.table('commits')} "
                "where position > :after and coalesce(watcher, :watcher) = :watcher "
                "and (position <= :until or :until is null) order by position limit :limit",
                after=after, watcher=watcher, limit=_rows(merged, after, limit), until=_until(merged, after),
            )  # fmt: skip
            if not commits:
                return []
            by_position: dict[int, list[Change]] = {}
            for position, change in self.changes(after, commits[-1][0], watcher):
                by_position.setdefault(position, []).append(change)
        states: list[Commit] = []
        group: list[tuple[int, int, int, int]] = []
        changes: list[Change] = []
        for position, time, transactions, raised in commits:
            group.append((position, time, transactions, raised))
            changes += by_position.get(position, ())
            inside = any(a < position < last for a, last in merged)
            if not inside:
                many, up = sum(g[2] for g in group), sum(g[3] for g in group)
                states.append(Commit(position, time, tuple(changes), many, up))
                group, changes = [], []
        return states

    # --- watchers -----------------------------------------------------------------------------------------------------

    def enter(self, watcher: str, position: int, rules: str) -> None:
        """A new watcher, in an open transaction: what is behind the position is before it."""
        self.run(
            f"insert into {self.table('watchers')} values (:watcher, :position, null, :rules)",
            watcher=watcher, position=position, rules=rules,
        )  # fmt: skip

    def entered(self, watcher: str) -> bool:
        """Is a watcher of this name known?"""
        return bool(self.run(f"select 1 from {self.table('watchers')} where name = :watcher", watcher=watcher))

    def saved(self, watcher: str) -> Saved | None:
        """Where a watcher stopped.  Raises CheckpointProblem (``bad-checkpoint``)."""
        with self.transaction(write=False):
            rows = self.run(
                f"select position, time, rules from {self.table('watchers')} where name = :watcher", watcher=watcher
            )
            pieces = self.run(
                f"select piece, content from {self.table('state')} where watcher = :watcher", watcher=watcher
            )
        if not rows:
            return None
        position, time, rules = rows[0]
        numbers = isinstance(position, int) and isinstance(time, int | None)
        if not numbers or not isinstance(rules, str) or not all(isinstance(c, bytes | memoryview) for _, c in pieces):
            text = f"{self.name}: the saved state of the watcher `{watcher}`"
            raise CheckpointProblem.damaged(text, "a value does not have the type that was written", ANEW)
        return Saved(position, time, rules, {str(n): bytes(c) for n, c in pieces})

    def save(
        self,
        watcher: str,
        position: int,
        time: int,
        pieces: Mapping[str, bytes | None],
        fired: Sequence[Fired],
    ) -> None:
        """In one transaction: the position, the pieces that have changed (None: gone), new firings."""
        with self.transaction():
            self.run(
                f"update {self.table('watchers')} set position = :position, time = :time where name = :watcher",
                position=position, time=time, watcher=watcher,
            )  # fmt: skip
            for piece, content in pieces.items():
                if content is None:
                    self.run(
                        f"delete from {self.table('state')} where watcher = :watcher and piece = :piece",
                        watcher=watcher, piece=piece,
                    )  # fmt: skip
                    continue
                self.run(
                    f"insert into {self.table('state')} values (:watcher, :piece, :content) "
                    "on conflict (watcher, piece) do update set content = excluded.content",
                    watcher=watcher, piece=piece, content=content,
                )  # fmt: skip
            for number, one in enumerate(fired):
                self.run(
                    f"insert into {self.table('firings')} (watcher, label, position, number, content) "
                    "values (:watcher, :label, :position, :number, :content) on conflict do nothing",
                    watcher=watcher, label=one.label, position=one.position, number=number, content=one.content,
                )  # fmt: skip

    # --- actions ------------------------------------------------------------------------------------------------------

    def pending(self, watcher: str) -> list[Fired]:
        """Firings whose actions are not all done, in order."""
        rows = self.run(
            f"select label, position, content from {self.table('firings')} where watcher = :watcher and done = 0 "
            "order by position, number",
            watcher=watcher,
        )
        return [Fired(*row) for row in rows]

    def noted(self, watcher: str, label: str, action: int) -> bool:
        """Note, in an open transaction, that an action is done; False if it was."""
        rows = self.run(
            f"insert into {self.table('done')} values (:watcher, :label, :action) on conflict do nothing returning 1",
            watcher=watcher, label=label, action=action,
        )  # fmt: skip
        return bool(rows)

    def finished(self, watcher: str, fired: Sequence[Fired]) -> None:
        """All actions of these are done; they are kept, marked, or go."""
        with self.transaction():
            for one in fired:
                found = "watcher = :watcher and label = :label"
                values = {"watcher": watcher, "label": one.label}
                if self.keep:
                    self.run(f"update {self.table('firings')} set done = 1 where {found}", **values)
                else:
                    self.run(f"delete from {self.table('firings')} where {found}", **values)
                    self.run(f"delete from {self.table('done')} where {found}", **values)

    # --- checks -------------------------------------------------------------------------------------------------------

    def taken(self, watcher: str, who: str = "") -> ResourceProblem:
        """Somebody else has the lock."""
        text = f"{self.name}: another watcher called `{watcher}` is running{who}"
        return ResourceProblem.of("locked", text, hint="stop that watcher, or install this one under another --name")


def _until(merged: Sequence[tuple[int, int]], after: int) -> int | None:
    """Where a state of several transactions ends that begins right behind a position: it is read by itself."""
    return next((last for a, last in merged if a <= after < last), None)


def _rows(merged: Sequence[tuple[int, int]], after: int, limit: int) -> int:
    """A state of several transactions is read whole; before one reading stops."""
    return 2**62 if _until(merged, after) is not None else limit


# --- addresses --------------------------------------------------------------------------------------------------------


_HINT = "use sqlite:PATH or postgresql://user@host:5432/database"


def open_feed(url: str, *, keep: bool = False, role: str | None = None) -> Feed:
    """The change log of the database at ``url``: ``sqlite:PATH`` (also ``sqlite:///PATH``) or ``postgresql://..``.

    ``keep``: what is done is kept, as the log is; ``role``: of PostgreSQL, who may watch.  Raises UsageProblem,
    ResourceProblem.
    """
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite" and rest:
        from occurs.connect.changes.sqlite import SQLiteFeed

        if role is not None:
            text = f"--role {role}: SQLite has no roles"
            raise UsageProblem.of("bad-option", text, hint="everyone with write access to the file can watch it")
        # three strokes as in the addresses of other libraries: a fourth begins an absolute path; it may be forgotten
        if rest.startswith("///"):
            rest = rest[3:] if Path(rest[3:]).is_file() or not Path(rest[2:]).is_file() else rest[2:]
        return SQLiteFeed(rest, keep=keep)
    if scheme in ("postgresql", "postgres") and rest.startswith("//"):
        try:
            from occurs.connect.changes.postgres import PostgresFeed
        except ImportError as error:
            text = f"PostgreSQL needs a driver that is not installed: {error}"
            raise UsageProblem.of("missing-package", text, hint="pip install 'occurs[postgresql]'") from error
        return PostgresFeed(url, keep=keep, role=role)
    raise UsageProblem.of("bad-option", f"--database {url}: unsupported database", hint=_HINT)
