"""The change log in PostgreSQL: its schema, functions and triggers (temporal-logic.md 5.5).

Row triggers write every change with the number of its transaction.  The first of a transaction queues a trigger that is
deferred to its commit: under a lock that is held until the commit is done, it takes the next position and the time.  So
positions are in the order of commits, which transaction numbers are not, and whoever sees a position sees all before
it.  What is rolled back, to a savepoint or wholly, takes its changes and its mark along.  Position and time are counted
by sequences, which every isolation level sees as they are.

The functions run with the rights of whoever installed them, with a fixed search path: writers need no right on the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.connect.changes.model import Watched

SCHEMA = "occurs"
#: the advisory locks: of commits, and in front of the hash of a watcher's name
COMMITS, WATCHERS = 7_305_812_907_111_264_003, 1_868_788_597
CHANNEL = "occurs"

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


def quoted(name: str) -> str:
    """An identifier."""
    return '"' + name.replace('"', '""') + '"'


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
