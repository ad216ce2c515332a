"""The change log of a PostgreSQL database (temporal-logic.md 5.5); needs the extra `postgresql` (psycopg)."""

from __future__ import annotations

import re
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from occurs.connect.changes.feed import Feed
from occurs.connect.changes.model import ActionFailed, Change, Column, Described, Watched, fitted
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.sqltext import parts, quoted
from occurs.model.types import Type

SCHEMA = "occurs"
#: the advisory locks: of commits, and in front of the hash of a watcher's name
COMMITS, WATCHERS = 7_305_812_907_111_264_003, 1_868_788_597
CHANNEL = "occurs"
#: how long the lock of a watcher that was killed is waited for: its server process may not know it yet, in seconds
PATIENCE = 5.0
_TYPES = {
    **dict.fromkeys(("int2", "int4", "int8"), Type.INT),
    **dict.fromkeys(("float4", "float8", "numeric"), Type.FLOAT),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "uuid", "char"), Type.STRING),
    "bool": Type.BOOL,
    **dict.fromkeys(("timestamp", "timestamptz", "date"), Type.TIMESTAMP),
}
#: classes of SQLSTATE that another try may not meet
_TRANSIENT = ("40", "53", "55", "57")


class PostgresFeed(Feed):
    """The log of the database at ``url``.  ``keep``: firings whose actions are done are kept, as the log is.

    ``role``: who may watch besides whoever installs.
    """

    prefix = f"{SCHEMA}."

    def __init__(self, url: str, *, keep: bool = False, role: str | None = None) -> None:
        self.keep, self.role = keep, role
        try:
            known = conninfo_to_dict(url)
        except psycopg.ProgrammingError as error:
            hint = "use postgresql://user@host:5432/database"
            raise UsageProblem.of("bad-option", f"--database: {error}".strip(), hint=hint) from error
        self.name = f"postgresql://{known.get('host', '')}/{known.get('dbname', '')}"
        try:
            self.connection = psycopg.connect(url, autocommit=True, application_name="occurs watch")
            self.run("set timezone = 'UTC'")
        except psycopg.Error as error:
            raise ResourceProblem.of("database", f"{self.name}: {_told(error)}") from error
        self._notified = True
        self.connection.add_notify_handler(self._notify)
        self._tables: dict[str, Watched] = {}

    def _notify(self, _: object) -> None:
        self._notified = True

    # --- statements ---------------------------------------------------------------------------------------------------

    def run(self, sql: str, **values: Any) -> list[tuple[Any, ...]]:
        try:
            # without values nothing is a parameter, whatever names stand in it
            cursor = self.connection.execute(_ours(sql) if values else sql.encode(), values or None)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            raise self._problem(error) from error

    @contextmanager
    def transaction(self, *, write: bool = True) -> Iterator[None]:
        try:
            with self.connection.transaction():
                yield
        except psycopg.Error as error:
            raise self._problem(error) from error

    def _problem(self, error: psycopg.Error) -> ResourceProblem:
        kind, hint = "database", None
        if error.sqlstate == "42501":
            kind = "no-right"
            hint = "only the owner of the tables can install; --install --role NAME grants the rights to watch"
        return ResourceProblem.of(kind, f"{self.name}: {_told(error)}", hint=hint)

    # --- the catalogue ------------------------------------------------------------------------------------------------

    def _relation(self, name: str) -> tuple[int, str, str] | None:
        """Object id, qualified and quoted name, and kind of a table, a view .."""
        rows = self.run(
            "select c.oid::bigint, format('%%I.%%I', n.nspname, c.relname), c.relkind::text "
            "from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass(:name)",
            name=quoted(name),
        )
        return rows[0] if rows else None

    def describe(self, names: Sequence[str]) -> dict[str, Described]:
        found: dict[str, Described] = {}
        for name in names:
            relation = self._relation(name)
            if relation is None or relation[1].startswith(("pg_catalog.", "information_schema.")):
                continue
            oid, _, kind = relation
            rows = self.run(
                "select a.attname, b.typname, b.typtype::text, format_type(a.atttypid, a.atttypmod) "
                "from pg_attribute a join pg_type t on t.oid = a.atttypid "
                "join pg_type b on b.oid = case when t.typtype = 'd' then t.typbasetype else t.oid end "
                "where a.attrelid = :oid and a.attnum > 0 and not a.attisdropped order by a.attnum",
                oid=oid,
            )
            columns = tuple(Column(n, Type.STRING if how == "e" else _TYPES.get(t), d) for n, t, how, d in rows)
            indexes = self.run(
                "select i.indisprimary, array(select a.attname::text from unnest(i.indkey) with ordinality k(n, at) "
                "join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.n where k.at <= i.indnkeyatts "
                "order by k.at) from pg_index i where i.indrelid = :oid and i.indisunique and i.indisvalid "
                "and i.indpred is null and i.indexprs is null",
                oid=oid,
            )
            primary = next((tuple(c) for is_primary, c in indexes if is_primary), ())
            why = None if kind in ("r", "p") else "it is not a table, and only tables have triggers for each row"
            found[name] = Described(name, columns, tuple(frozenset(c) for _, c in indexes), primary, why)
        return found

    def table_names(self) -> list[str]:
        return [n for (n,) in self.run(
            "select relname::text from pg_class where relkind in ('r', 'p') and pg_table_is_visible(oid)"
        )]  # fmt: skip

    # --- installing ---------------------------------------------------------------------------------------------------

    def install_sql(self, tables: Sequence[Watched], watcher: str) -> list[str]:
        found = []
        for table in tables:
            relation = self._relation(table.name)
            assert relation is not None
            columns = self.describe([table.name])[table.name].columns
            # what another watcher wants is still logged
            left = self._unlogged(relation[0])
            others = [c.name for c in columns if c.name not in table.names and (left is None or c.name in left)]
            found.append((table, relation[1], others))
        return [*log_sql(found), *(grants(self.role) if self.role else ())]

    def _unlogged(self, oid: int) -> set[str] | None:
        """The columns of a table that its trigger leaves out; None if it has none, or they are disabled."""
        rows = self.run(
            "select tgname::text, tgargs from pg_trigger where tgrelid = :oid "
            "and tgname in ('occurs_log', 'occurs_truncate') and tgenabled <> 'D'",
            oid=oid,
        )
        if len(rows) != 2:
            return None
        left = [*bytes(rows[0][1]).decode().split("\0"), ""][1]
        return {n for (n,) in self.run("select unnest(cast(:left as text[]))", left=left or "{}")}

    def uninstall_sql(self) -> list[str]:
        if not self._has_log():
            return []
        out = []
        # of a table that was dropped nothing is left but its number
        there = "exists (select 1 from pg_class c where c.oid = w.relation)"
        for (relation,) in self.run(f"select relation::text from occurs.watched w where {there} order by name"):
            out += [f"drop trigger if exists {t} on {relation}" for t in ("occurs_log", "occurs_truncate")]
        return [*out, "drop schema occurs cascade"]

    def install(self, tables: Sequence[Watched], watcher: str, rules: str) -> None:
        with self.transaction():
            for statement in self.install_sql(tables, watcher):
                self.run(statement)
            if self.entered(watcher):
                return
            self.run(f"select pg_advisory_xact_lock({COMMITS})")
            rows = 0
            for table in tables:
                relation = self._relation(table.name)
                if table.keeps and relation is not None:
                    row = ", ".join(f"{text(n)}, t.{quoted(n)}" for n in table.names)
                    rows += self.connection.execute(
                        "insert into occurs.changes (xid, tab, op, opens, new) select pg_current_xact_id(), "
                        f"{text(table.name)}, 'insert', false, jsonb_build_object({row}) from {relation[1]} t"
                    ).rowcount  # fmt: skip
            if rows:
                (place,) = self.run("select occurs.place(pg_current_xact_id(), 1, :watcher)", watcher=watcher)[0]
                self.enter(watcher, place - 1, rules)
            else:
                (place,) = self.run("select case when is_called then last_value else 0 end from occurs.position")[0]
                self.enter(watcher, place, rules)

    def _has_log(self) -> bool:
        return bool(self.run("select to_regclass('occurs.watchers') is not null")[0][0])

    def installed(self, tables: Sequence[Watched], watcher: str) -> bool:
        if not self._has_log() or not self.entered(watcher):
            return False
        for table in tables:
            relation = self._relation(table.name)
            left = None if relation is None else self._unlogged(relation[0])
            if left is None or left & set(table.names):
                return False
        self._tables = {t.name: t for t in tables}
        self.run(f"listen {CHANNEL}")
        return True

    # --- one at a time ------------------------------------------------------------------------------------------------

    def lock(self, watcher: str) -> None:
        """The lock is of the session, which ends with the process, however that ends."""
        until = time.monotonic() + PATIENCE
        while not self.run(f"select pg_try_advisory_lock({WATCHERS}, hashtext(:watcher))", watcher=watcher)[0][0]:
            if time.monotonic() > until:
                raise self.taken(watcher)
            time.sleep(0.1)

    def close(self) -> None:
        self.connection.close()

    # --- following ----------------------------------------------------------------------------------------------------

    def changes(self, after: int, last: int, watcher: str) -> Iterator[tuple[int, Change]]:
        rows = self.run(
            "select p.position, c.tab, c.op, c.old, c.new from occurs.commits p join occurs.changes c on c.xid = p.xid "
            "where p.position > :after and p.position <= :last and coalesce(p.watcher, :watcher) = :watcher "
            "order by p.position, c.id",
            after=after, last=last, watcher=watcher,
        )  # fmt: skip
        for position, name, op, old, new in rows:
            table = self._tables.get(name)
            if table is not None:
                yield position, Change(name, op, fitted(table, old), fitted(table, new))

    def wait(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        connection = self.connection.pgconn
        try:
            while not self._notified:
                left = until - time.monotonic()
                if left <= 0 or not select.select([connection.socket], [], [], left)[0]:
                    return False
                connection.consume_input()
                while connection.notifies() is not None:
                    self._notified = True
        except psycopg.Error as error:
            raise self._problem(error) from error
        self._notified = False
        return True

    def tick(self, time: int) -> None:
        self.run("select occurs.tick(:time)", time=time)

    # --- actions ------------------------------------------------------------------------------------------------------

    def refuses(self, statement: str, names: Sequence[str]) -> str | None:
        out, end = [], 0
        for part in parts(statement):
            if part.kind == "parameter":
                out += [statement[end : part.start], f"${names.index(part.text[1:]) + 1}"]
                end = part.end
        done = self.connection.pgconn.prepare(b"", "".join([*out, statement[end:]]).encode())
        if done.status == psycopg.pq.ExecStatus.COMMAND_OK:
            return None
        told = done.error_field(psycopg.pq.DiagnosticField.MESSAGE_PRIMARY) or b"it is refused"
        return told.decode(errors="replace")

    def execute(self, watcher: str, label: str, action: int, statement: str, values: Mapping[str, Any]) -> bool:
        try:
            with self.connection.transaction():
                if not self.noted(watcher, label, action):
                    return False
                self.connection.execute(_theirs(statement), values or None)
        except psycopg.Error as error:
            if self.connection.closed:
                raise self._problem(error) from error
            transient = (error.sqlstate or "").startswith(_TRANSIENT)
            raise ActionFailed(_told(error), transient=transient) from error
        return True

    def prune(self) -> None:
        with self.transaction():
            (until,) = self.run("select min(position) from occurs.watchers")[0]
            self.run(
                "delete from occurs.changes c using occurs.commits p where p.xid = c.xid and p.position <= :until",
                until=until,
            )
            self.run("delete from occurs.commits where position <= :until", until=until)
            self.run("delete from occurs.merged where last <= :until", until=until)


@lru_cache(maxsize=200)
def _ours(sql: str) -> bytes:
    """A statement of ours as the driver wants it: ``:name`` is ``%(name)s``."""
    return re.sub(r"(?<![:\w]):([a-z_]+)\b", r"%(\1)s", sql).encode()


@lru_cache(maxsize=200)
def _theirs(statement: str) -> bytes:
    """A user's statement as the driver wants it: parameters outside of quotes and comments are bound."""
    out, end = [], 0
    for part in parts(statement):
        if part.kind == "parameter":
            out += [statement[end : part.start].replace("%", "%%"), f"%({part.text[1:]})s"]
            end = part.end
    return "".join([*out, statement[end:].replace("%", "%%")]).encode()


def _told(error: psycopg.Error) -> str:
    """What the server says, in one line."""
    return error.diag.message_primary or str(error).strip().replace("\n", " ")


# --- the schema, the functions and the triggers -----------------------------------------------------------------------
# Row triggers write every change with the number of its transaction.  The first of a transaction queues a trigger that
# is deferred to its commit: under a lock that is held until the commit is done, it takes the next position and the
# time.  So positions are in the order of commits, which transaction numbers are not, and whoever sees a position sees
# all before it.  What is rolled back, to a savepoint or wholly, takes its changes and its mark along.  Position and
# time are counted by sequences, which every isolation level sees as they are.  The functions run with the rights of
# whoever installed them, with a fixed search path: writers need no right on the log.

_TABLES = (
    "create schema if not exists occurs",
    "create sequence if not exists occurs.position",
    # the time of the last commit, in microseconds since 1970
    "create sequence if not exists occurs.clock minvalue -1 start -1",
    "create table if not exists occurs.commits (position bigint primary key, xid xid8, time bigint not null, "
    "transactions integer not null, raised integer not null, watcher text)",
    "create table if not exists occurs.changes (id bigint generated always as identity, xid xid8 not null, "
    "tab text not null, op text not null, opens boolean not null, old jsonb, new jsonb, primary key (xid, id))",
    "create table if not exists occurs.watched (name text primary key, relation regclass not null)",
    "create table if not exists occurs.watchers "
    "(name text primary key, position bigint not null, time bigint, rules text not null)",
    "create table if not exists occurs.merged (watcher text not null, after bigint not null, last bigint not null, "
    "primary key (watcher, after))",
    "create table if not exists occurs.state "
    "(watcher text not null, piece text not null, content bytea not null, primary key (watcher, piece))",
    "create table if not exists occurs.firings (watcher text not null, label text not null, position bigint not null, "
    "number integer not null, content text not null, done integer not null default 0, primary key (watcher, label))",
    "create index if not exists firings_open on occurs.firings (watcher, position, number) where done = 0",
    "create table if not exists occurs.done (watcher text not null, label text not null, action integer not null, "
    "primary key (watcher, label, action))",
)

_HEAD = "language plpgsql security definer set search_path = pg_catalog, pg_temp"
#: position, time and mark of a commit, under the lock, and a word to who listens
_PLACE = f"""
  perform pg_advisory_xact_lock({COMMITS});
  select last_value into last from occurs.clock;
  at := occurs.now();
  insert into occurs.commits values
    (nextval('occurs.position'), %s, setval('occurs.clock', greatest(at, last + 1)), %s, (at < last)::integer, %s);
  notify {CHANNEL};"""
_FUNCTIONS = (
    # the one place that asks for the time
    "create or replace function occurs.now() returns bigint language sql volatile as "
    "'select pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::pg_catalog.int8'",
    f"""create or replace function occurs.place(of_xid xid8, many integer, who text) returns bigint {_HEAD} as $$
declare
  last bigint;
  at bigint;
begin
  {_PLACE % ("of_xid", "many", "who")}
  return currval('occurs.position');
end $$""",
    # the same once more: a call of a function with a search path of its own costs as much as what it does
    f"""create or replace function occurs.seal() returns trigger {_HEAD} as $$
declare
  last bigint;
  at bigint;
begin
  {_PLACE % ("new.xid", "1", "null")}
  return null;
end $$""",
    # rows of a partition have the name of the table that is watched, which is the first argument; the second, if there
    # is one, has the columns that nobody asked for
    f"""create or replace function occurs.log() returns trigger {_HEAD} as $$
declare
  this xid8 := pg_current_xact_id();
  opens boolean := current_setting('occurs.xid', true) is distinct from this::text;
  old_row jsonb;
  new_row jsonb;
begin
  if tg_op = 'UPDATE' then
    old_row := to_jsonb(old);
    new_row := to_jsonb(new);
  elsif tg_op = 'INSERT' then
    new_row := to_jsonb(new);
  elsif tg_op = 'DELETE' then
    old_row := to_jsonb(old);
  end if;
  if tg_nargs > 1 then
    old_row := old_row - tg_argv[1]::text[];
    new_row := new_row - tg_argv[1]::text[];
  end if;
  if opens then
    perform set_config('occurs.xid', this::text, true);
  end if;
  insert into occurs.changes (xid, tab, op, opens, old, new)
    values (this, tg_argv[0], lower(tg_op), opens, old_row, new_row);
  return null;
end $$""",
    f"""create or replace function occurs.tick(until bigint) returns void {_HEAD} as $$
declare
  last bigint;
begin
  perform pg_advisory_xact_lock({COMMITS});
  select last_value into last from occurs.clock;
  if last < until and until <= occurs.now() then
    perform occurs.place(null, 0, null);
  end if;
end $$""",
    "revoke all on all functions in schema occurs from public",
)

_SEAL = (
    "drop trigger if exists occurs_seal on occurs.changes",
    "create constraint trigger occurs_seal after insert on occurs.changes deferrable initially deferred "
    "for each row when (new.opens) execute function occurs.seal()",
)


def text(value: str) -> str:
    """A string constant; backslashes mean themselves."""
    return "'" + value.replace("'", "''") + "'"


def log_sql(tables: Sequence[tuple[Watched, str, Sequence[str]]]) -> Iterator[str]:
    """Everything but the snapshot: per table also its qualified, quoted name, and the columns that are not watched."""
    yield from _TABLES
    yield from _FUNCTIONS
    yield from _SEAL
    for table, relation, others in tables:
        name = text(table.name)
        left = "{" + ",".join('"' + o.replace("\\", "\\\\").replace('"', '\\"') + '"' for o in others) + "}"
        yield f"lock table {relation} in share row exclusive mode"
        yield f"drop trigger if exists occurs_log on {relation}"
        yield f"drop trigger if exists occurs_truncate on {relation}"
        arguments = f"{name}, {text(left)}" if others else name
        yield (
            f"create trigger occurs_log after insert or update or delete on {relation} "
            f"for each row execute function occurs.log({arguments})"
        )
        yield (
            f"create trigger occurs_truncate after truncate on {relation} "
            f"for each statement execute function occurs.log({arguments})"
        )
        yield (
            f"insert into occurs.watched values ({name}, {text(relation)}::regclass) "
            "on conflict (name) do update set relation = excluded.relation"
        )


def grants(role: str) -> list[str]:
    """What a role needs to watch, and no more."""
    who = quoted(role)
    return [
        f"grant usage on schema occurs to {who}",
        f"grant select, delete on occurs.commits, occurs.changes to {who}",
        f"grant select on occurs.watched to {who}",
        f"grant select, update on occurs.watchers to {who}",
        f"grant select, insert, update, delete on occurs.merged, occurs.state, occurs.firings, occurs.done to {who}",
        f"grant execute on function occurs.tick(bigint) to {who}",
    ]
