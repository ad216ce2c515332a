"""The change log of both databases: what is a state, in which order, and what is left when it goes."""

from __future__ import annotations

import math
import sqlite3
import threading
import time

import pytest

from occurs.connect import sqlite
from occurs.connect.changes.feed import open_feed
from occurs.connect.changes.model import TABLE, Watched
from occurs.errors import InputProblem, ResourceProblem, UsageProblem
from occurs.model.types import Type

ODD = 'odd "name\'s" %s :x'
TRAFFIC = Watched("traffic", (("link", Type.STRING), ("load", Type.INT)), ("link",))
EMPTY = Watched(ODD, (('a "b"', Type.INT),), (), TABLE)


class Place:
    """A database with one table, whichever it is."""

    def __init__(self, url):
        self.url, self.feeds, self.connections = url, [], []
        self.lite = url.startswith("sqlite:")
        writer = self.connect()
        writer.execute("create table traffic (link varchar(9) primary key, load bigint, more varchar(9))")
        writer.execute("insert into traffic values ('a', 1, 'x')")
        writer.commit()

    def connect(self, *, helper=True):
        if self.lite:
            path = self.url.removeprefix("sqlite:")
            found = sqlite.connect(path, timeout=30) if helper else sqlite3.connect(path, timeout=30)
        else:
            import psycopg

            found = psycopg.connect(self.url)
        self.connections.append(found)
        return found

    def feed(self, *tables, name="w", **options):
        """A feed that follows the tables."""
        feed = open_feed(self.url, **options)
        self.feeds.append(feed)
        feed.install(tables, name, "rules")
        assert feed.installed(tables, name)
        return feed

    def traces(self):
        """What there is beside the tables of the test."""
        connection = self.connect(helper=False)
        if self.lite:
            return {n for (n,) in connection.execute("select name from sqlite_master")}
        sql = (
            "select 'relation ' || c.oid::regclass from pg_class c join pg_namespace n on n.oid = c.relnamespace "
            "where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast') union "
            "select 'function ' || oid::regprocedure from pg_proc where pronamespace > 16000 union "
            "select 'trigger ' || tgname from pg_trigger union select 'schema ' || nspname from pg_namespace"
        )
        return {n for (n,) in connection.execute(sql)}

    def close(self):
        for one in [*self.feeds, *self.connections]:
            one.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        (tmp_path / "log.db").touch()
        found = Place(f"sqlite:{tmp_path / 'log.db'}")
    else:
        found = Place(request.getfixturevalue("pg_url"))
    yield found
    found.close()


@pytest.fixture
def lite(tmp_path):
    (tmp_path / "log.db").touch()
    found = Place(f"sqlite:{tmp_path / 'log.db'}")
    yield found
    found.close()


@pytest.fixture
def pg(pg_url):
    found = Place(pg_url)
    yield found
    found.close()


def seen(feed, after=0, name="w"):
    """The states as (op, old, new) of their changes, rows as tuples."""

    def row(r):
        return None if r is None else tuple(r.values())

    return [[(c.op, row(c.old), row(c.new)) for c in s.changes] for s in feed.read(after, name, 1000)]


def test_what_is_there_is_the_first_state_and_each_commit_is_one_more(place):
    feed = place.feed(TRAFFIC)
    writer = place.connect()
    writer.execute("update traffic set load = 2, more = 'y'")
    writer.execute("insert into traffic values ('b', null, null)")
    writer.commit()
    writer.execute("update traffic set link = 'c' where link = 'b'")
    writer.commit()
    writer.execute("delete from traffic where link = 'a'")
    writer.commit()
    assert seen(feed) == [
        [("insert", None, ("a", 1))],
        [("update", ("a", 1), ("a", 2)), ("insert", None, ("b", None))],
        [("update", ("b", None), ("c", None))],
        [("delete", ("a", 2), None)],
    ]
    states = feed.read(0, "w", 1000)
    assert [s.transactions for s in states] == [1, 1, 1, 1]
    times = [s.time for s in states]
    assert times == sorted(set(times))
    assert abs(times[-1] / 1e6 - time.time()) < 60
    assert feed.read(states[1].position, "w", 1000) == states[2:]
    assert feed.read(0, "w", 2) == states[:2]


def test_what_is_rolled_back_leaves_no_trace(place):
    feed = place.feed(TRAFFIC)
    writer = place.connect()
    if place.lite:
        writer.execute("begin")
    writer.execute("savepoint one")
    writer.execute("update traffic set load = 10")
    writer.execute("rollback to savepoint one")
    writer.execute("insert into traffic values ('b', 5, null)")
    writer.execute("savepoint two")
    writer.execute("update traffic set load = 20")
    writer.execute("rollback to savepoint two")
    writer.commit()
    writer.execute("update traffic set load = 30")
    writer.rollback()
    writer.execute("savepoint three")
    writer.execute("update traffic set load = 40")
    writer.execute("rollback to savepoint three")
    writer.commit()
    assert seen(feed)[1:] == [[("insert", None, ("b", 5))]]


def test_uninstalling_leaves_nothing_and_installing_twice_is_once(place):
    before = place.traces()
    feed = place.feed(TRAFFIC)
    inside = place.traces()
    assert len(inside) > len(before)
    feed.install([TRAFFIC], "w", "rules")
    assert place.traces() == inside
    assert seen(feed) == [[("insert", None, ("a", 1))]]
    assert feed.uninstall()
    feed.close()
    place.feeds.clear()
    assert place.traces() == before
    with open_feed_of(place) as again:
        assert not again.uninstall()
        assert not again.installed([TRAFFIC], "w")
    writer = place.connect()
    writer.execute("update traffic set load = 2")  # no trigger is left that would miss its log
    writer.commit()


def open_feed_of(place):
    from contextlib import closing

    return closing(open_feed(place.url))


def test_names_are_quoted_and_values_come_as_they_are(place):
    writer = place.connect()
    quoted = '"' + ODD.replace('"', '""').replace("%", "%%" if not place.lite else "%") + '"'
    bare = '"' + ODD.replace('"', '""') + '"'
    writer.execute(f'create table {bare} ("a ""b""" bigint)')
    columns = "(i bigint, x double precision, s text, b boolean, t timestamp, id integer primary key)"
    writer.execute(f"create table kinds {columns}")
    writer.commit()
    columns = (("i", Type.INT), ("x", Type.FLOAT), ("s", Type.STRING), ("b", Type.BOOL), ("t", Type.TIMESTAMP))
    kinds = Watched("kinds", columns)
    feed = place.feed(EMPTY, kinds)
    mark = "?" if place.lite else "%s"
    values = [2**63 - 1, 0.1 + 0.2, 'it\'s \\ "q" \n\t €\U0001f600 ; -- :x', True, "2024-02-29T12:30:00.123456"]
    writer.execute(f"insert into kinds values ({', '.join([mark] * 6)})", (*values, 1))
    writer.execute(f"insert into kinds values ({', '.join([mark] * 6)})", (-(2**63), math.inf, "", False, None, 2))
    if not place.lite:  # SQLite has no such number: it is null
        writer.execute(f"insert into kinds values ({', '.join([mark] * 6)})", (None, math.nan, None, None, None, 3))
    writer.execute(f"insert into {quoted} values ({mark})", (7,))
    writer.commit()
    stamp = 1709209800123456
    found = [new for _, _, new in seen(feed)[0]]
    assert (7,) in found
    rows = [r for r in found if len(r) == 5]
    assert rows[:2] == [(*values[:4], stamp), (-(2**63), math.inf, "", False, None)]
    assert rows[2:] in ([], [(None,) * 5])


def test_what_all_watchers_have_judged_is_deleted(place):
    feed = place.feed(TRAFFIC)
    other = place.feed(TRAFFIC, name="other")
    writer = place.connect()
    for n in range(3):
        writer.execute(f"update traffic set load = {n}")
        writer.commit()
    states = feed.read(0, "w", 1000)
    assert [len(s.changes) for s in states] == [1] * 4
    # the other began with a state of its own, that the first does not see
    assert seen(other, other.saved("other").position, "other") == seen(feed)
    feed.save("w", states[-1].position, states[-1].time, {}, [])
    feed.prune()
    assert seen(other, other.saved("other").position, "other")[1:] == seen(feed, states[0].position)
    other.save("other", states[2].position, states[2].time, {}, [])
    feed.prune()
    assert feed.read(0, "w", 1000) == states[3:]
    # time goes on from the last one, also when nothing is left of it
    feed.prune()
    assert feed.saved("w").time == states[-1].time


def test_many_that_wait_are_one_state_and_stay_so(place):
    feed = place.feed(TRAFFIC)
    writer = place.connect()
    for n in range(5):
        writer.execute(f"update traffic set load = {n}")
        writer.commit()
    assert feed.waiting(0, "w") == 6
    assert feed.coalesce(1, "w") == 5
    writer.execute("update traffic set load = 9")
    writer.commit()
    for _ in range(2):  # also if it is read again, after a crash
        first, several, last = feed.read(0, "w", 1000)
        assert (first.transactions, several.transactions, last.transactions) == (1, 5, 1)
        assert [c.new["load"] for c in several.changes] == [0, 1, 2, 3, 4]
        assert feed.read(0, "w", 1) == [first]
        assert feed.read(first.position, "w", 1) == [several]
        assert feed.read(several.position, "w", 1) == [last]


def test_the_second_of_a_name_is_refused_until_the_first_is_gone(place, monkeypatch):
    import occurs.connect.changes.postgres as postgres

    monkeypatch.setattr(postgres, "PATIENCE", 0.2)
    first, second = place.feed(TRAFFIC), place.feed(TRAFFIC)
    first.lock("w")
    second.lock("another")
    with pytest.raises(ResourceProblem) as problem:
        second.lock("w")
    assert problem.value.kind == "locked"
    first.close()
    place.feeds.remove(first)
    second.lock("w")


def test_a_clock_that_goes_back_is_raised_and_counted(place):
    feed = place.feed(TRAFFIC)
    writer = place.connect()
    last = feed.read(0, "w", 10)[-1].time
    if place.lite:
        writer.execute("update occurs_open set clock = 5000")
    else:
        writer.execute("create or replace function occurs.now() returns bigint language sql as 'select 5000::bigint'")
    writer.commit()
    for n in range(2):
        writer.execute(f"update traffic set load = {n}")
        writer.commit()
    states = feed.read(0, "w", 10)[1:]
    assert [s.time for s in states] == [last + 1, last + 2]
    assert [s.raised for s in states] == [1, 1]


def test_time_goes_on_without_changes_when_it_is_due(place):
    feed = place.feed(TRAFFIC)
    (first,) = feed.read(0, "w", 10)
    feed.tick(first.time)  # it is so late already
    feed.tick(first.time + 3_600_000_000)  # and this is to come
    assert feed.read(0, "w", 10) == [first]
    time.sleep(0.01)
    feed.tick(first.time + 2000)
    _, tick = feed.read(0, "w", 10)
    assert (tick.changes, tick.transactions) == ((), 0)
    assert tick.time >= first.time + 2000


def test_a_change_wakes_a_watcher(place):
    feed = place.feed(TRAFFIC)
    feed.read(0, "w", 10)
    feed.wait(0.01)
    assert not feed.wait(0.05)
    writer = place.connect()

    def write():
        time.sleep(0.1)
        writer.execute("update traffic set load = 7")
        writer.commit()

    if place.lite:  # its connections stay in their threads
        writer.close()
        place.connections.remove(writer)
        writer = sqlite.connect(place.url.removeprefix("sqlite:"), check_same_thread=False)
        place.connections.append(writer)
    thread = threading.Thread(target=write)
    thread.start()
    began = time.monotonic()
    assert feed.wait(20)
    assert time.monotonic() - began < 10
    thread.join()
    assert len(seen(feed)) == 2


def test_a_watcher_of_more_columns_makes_the_log_wider(place):
    feed = place.feed(Watched("traffic", (("link", Type.STRING),), ("link",)))
    wider = Watched("traffic", (("link", Type.STRING), ("more", Type.STRING)), ("link",))
    assert not feed.installed([wider], "w")
    other = place.feed(wider, name="other")
    writer = place.connect()
    writer.execute("update traffic set more = 'z'")
    writer.commit()
    assert seen(other, other.saved("other").position, "other")[-1] == [("update", ("a", "x"), ("a", "z"))]
    assert feed.installed([Watched("traffic", (("link", Type.STRING),), ("link",))], "w")
    assert seen(feed)[-1] == [("update", ("a",), ("a",))]
    third = place.feed(TRAFFIC, name="third")  # it wants other columns, and the first two go on
    writer.execute("update traffic set load = 3")
    writer.commit()
    assert seen(third, third.saved("third").position, "third")[-1] == [("update", ("a", 1), ("a", 3))]
    assert seen(other, other.saved("other").position, "other")[-1] == [("update", ("a", "z"), ("a", "z"))]
    assert seen(feed)[-1] == [("update", ("a",), ("a",))]


# --- SQLite -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_transactions_without_the_helper_are_one_state_that_says_how_many(lite, mode):
    lite.connect().execute(f"pragma journal_mode = {mode}")
    feed = lite.feed(TRAFFIC)
    feed.read(0, "w", 10)
    plain = lite.connect(helper=False)
    for n in range(3):
        plain.execute("update traffic set load = ?", (n,))
        plain.execute("update traffic set load = ?", (n + 10,))
        plain.commit()
    (several,) = feed.read(1, "w", 10)
    assert (several.transactions, len(several.changes)) == (3, 6)
    plain.execute("update traffic set load = 1")
    plain.execute("update traffic set load = 2")
    plain.commit()
    (_, one) = feed.read(1, "w", 10)
    assert (one.transactions, len(one.changes)) == (1, 2)


def test_every_way_to_commit_with_the_helper_is_a_state(lite):
    feed = lite.feed(TRAFFIC)
    connection = lite.connect()
    with connection:
        connection.execute("update traffic set load = 2")
    with pytest.raises(sqlite3.OperationalError), connection:  # noqa: PT012
        connection.execute("update traffic set load = 3")
        connection.execute("update nothing")
    connection.execute("begin")
    connection.execute("update traffic set load = 4")
    connection.execute("-- so it is\n commit;")
    connection.cursor().executemany("update traffic set load = ?", [(5,), (6,)])
    connection.commit()
    connection.executescript("update traffic set load = 6; update traffic set load = load + 1")
    alone = sqlite.connect(lite.url.removeprefix("sqlite:"), isolation_level=None)
    lite.connections.append(alone)
    alone.execute("update traffic set load = 8")
    alone.execute("insert into traffic values ('b', 8, null)")
    with pytest.raises(sqlite3.IntegrityError):
        alone.execute("insert into traffic values ('b', 9, null)")
    assert not alone.in_transaction
    found = [[new[1] for _, _, new in state] for state in seen(feed)]
    assert found == [[1], [2], [4], [5, 6], [6, 7], [8], [8]]
    assert {s.transactions for s in feed.read(0, "w", 10)} == {1}


def test_replacing_a_row_is_known_by_the_helper(lite):
    other = Watched("traffic", (("link", Type.STRING), ("load", Type.INT)), ())
    feed = lite.feed(other)
    connection = lite.connect()
    connection.execute("insert or replace into traffic values ('a', 2, null)")
    connection.commit()
    assert seen(feed)[-1] == [("delete", ("a", 1), None), ("insert", None, ("a", 2))]


def test_the_helper_is_a_plain_connection_without_a_log(tmp_path):
    connection = sqlite.connect(tmp_path / "plain.db")
    connection.execute("create table t (a)")
    connection.execute("insert into t values (1)")
    connection.commit()
    assert connection.execute("select * from t").fetchall() == [(1,)]
    connection.close()


def test_what_is_no_database_is_said_so(tmp_path):
    (tmp_path / "text.db").write_text("This is no database at all, but long enough to look like one. " * 20)
    for name, kind in (("none.db", "missing-file"), ("text.db", "database")):
        with pytest.raises(ResourceProblem) as problem:
            open_feed(f"sqlite:{tmp_path / name}")
        assert problem.value.kind == kind
    for url in ("mysql://x", "sqlite:", "x.db", "postgresql:x"):
        with pytest.raises(UsageProblem):
            open_feed(url)


# --- PostgreSQL -------------------------------------------------------------------------------------------------------


def test_positions_are_in_the_order_of_commits(pg):
    feed = pg.feed(TRAFFIC)
    early, late = pg.connect(), pg.connect()
    early.execute("insert into traffic values ('early', 1, null)")  # it begins first
    late.execute("insert into traffic values ('late', 1, null)")
    late.commit()
    assert [c[0][2][0] for c in seen(feed)] == ["a", "late"]  # what is not committed is not seen
    early.commit()
    assert [c[0][2][0] for c in seen(feed)] == ["a", "late", "early"]


def test_nobody_commits_between_a_position_and_its_commit(pg):
    writer = pg.connect()
    writer.execute("create table slow (n int)")
    writer.execute(
        "create function dawdle() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end'"
    )
    writer.execute("create constraint trigger dawdle after insert on slow deferrable initially deferred "
                   "for each row execute function dawdle()")  # fmt: skip
    writer.commit()
    feed = pg.feed(TRAFFIC)
    first, second = pg.connect(), pg.connect()
    first.execute("insert into traffic values ('first', 1, null)")
    first.execute("insert into slow values (1)")
    second.execute("insert into traffic values ('second', 1, null)")
    thread = threading.Thread(target=first.commit)
    thread.start()
    time.sleep(0.3)  # it has its position, and dawdles
    second.commit()
    found = [c[0][2][0] for c in seen(feed)]
    thread.join()
    assert found == ["a", "first", "second"]


@pytest.mark.parametrize("level", ["REPEATABLE_READ", "SERIALIZABLE"])
def test_transactions_that_see_the_past_get_positions_of_the_present(pg, level):
    import psycopg

    feed = pg.feed(TRAFFIC)
    first, second = pg.connect(), pg.connect()
    for c in (first, second):
        c.isolation_level = psycopg.IsolationLevel[level]
    first.execute("select count(*) from pg_class")  # its snapshot is taken
    for n in range(3):
        second.execute(f"insert into traffic values ('s{n}', 1, null)")
        second.commit()
    first.execute("insert into traffic values ('first', 1, null)")
    first.commit()
    assert [c[0][2][0] for c in seen(feed)] == ["a", "s0", "s1", "s2", "first"]


def test_constraints_that_are_checked_at_once_change_nothing(pg):
    feed = pg.feed(TRAFFIC)
    writer = pg.connect()
    writer.execute("update traffic set load = 2")
    writer.execute("set constraints all immediate")
    writer.execute("update traffic set load = 3")
    writer.commit()
    assert [[c[2][1] for c in s] for s in seen(feed)] == [[1], [2, 3]]


def test_a_commit_that_fails_in_the_end_leaves_no_trace(pg):
    import psycopg

    writer = pg.connect()
    writer.execute("create table later (n int unique deferrable initially deferred)")
    writer.commit()
    feed = pg.feed(TRAFFIC, Watched("later", (("n", Type.INT),)))
    writer.execute("update traffic set load = 2")
    writer.execute("insert into later values (1), (1)")  # found when the position has been taken
    with pytest.raises(psycopg.errors.UniqueViolation):
        writer.commit()
    writer.execute("update traffic set load = 3")
    writer.commit()
    states = feed.read(0, "w", 10)
    assert [[c.new["load"] for c in s.changes] for s in states] == [[1], [3]]
    assert states[1].time > states[0].time


def test_truncating_and_partitions_are_logged(pg):
    writer = pg.connect()
    writer.execute("create table parted (id int primary key, n int) partition by range (id)")
    writer.execute("create table parted_1 partition of parted for values from (0) to (10)")
    writer.execute("create table parted_2 partition of parted for values from (10) to (20)")
    writer.commit()
    parted = Watched("parted", (("id", Type.INT), ("n", Type.INT)), ("id",))
    feed = pg.feed(TRAFFIC, parted)
    writer.execute("truncate traffic")
    writer.execute("insert into parted values (1, 1)")
    writer.execute("update parted set id = 11")
    writer.commit()
    changes = feed.read(0, "w", 10)[-1].changes
    assert [(c.table, c.op) for c in changes] == [
        ("traffic", "truncate"), ("parted", "insert"), ("parted", "delete"), ("parted", "insert"),
    ]  # fmt: skip


def test_roles_need_no_more_than_is_said(pg):
    import psycopg

    owner = pg.connect()
    for role in ("writer", "watcher"):
        owner.execute(f"drop role if exists {role}")
        owner.execute(f"create role {role} login")
    owner.execute("grant select, insert, update on traffic to writer")
    owner.commit()
    as_watcher = pg.url.replace("postgres@", "watcher@")
    beside = open_feed(as_watcher)
    with pytest.raises(ResourceProblem) as problem:
        beside.install([TRAFFIC], "w", "rules")
    assert problem.value.kind == "no-right"
    beside.close()
    pg.feed(TRAFFIC, role="watcher")
    with psycopg.connect(pg.url.replace("postgres@", "writer@")) as writer:
        writer.execute("update traffic set load = 5")
        writer.commit()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            writer.execute("delete from occurs.changes")
        writer.rollback()
        for name in ("now()", "place(null, 1, null)", "tick(0)"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                writer.execute(f"select occurs.{name}")
            writer.rollback()
    feed = open_feed(as_watcher)
    pg.feeds.append(feed)
    assert feed.installed([TRAFFIC], "w")
    feed.lock("w")
    states = feed.read(0, "w", 10)
    assert [c.new["load"] for s in states for c in s.changes] == [1, 5]
    feed.save("w", states[-1].position, states[-1].time, {"piece": b"x"}, [])
    assert feed.saved("w").pieces == {"piece": b"x"}
    feed.tick(states[-1].time + 1)
    feed.coalesce(states[-1].position, "w")
    feed.prune()
    with pytest.raises(ResourceProblem):
        feed.uninstall()
    feed.close()
    pg.feeds.remove(feed)
    for role in ("writer", "watcher"):
        owner.execute(f"drop owned by {role}")
        owner.execute(f"drop role {role}")
    owner.commit()


def test_writers_go_on_when_a_column_is_dropped_and_the_watcher_says_it(pg):
    feed = pg.feed(TRAFFIC)
    writer = pg.connect()
    writer.execute("alter table traffic drop column load")
    writer.execute("update traffic set more = 'q'")
    writer.commit()
    with pytest.raises(InputProblem) as problem:
        feed.read(0, "w", 10)
    assert problem.value.kind == "missing-column"
    assert "`load`" in problem.value.message
