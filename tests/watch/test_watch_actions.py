"""What firings do: told, given out, executed exactly once, sent until somebody takes it."""

from __future__ import annotations

import datetime as dt
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from occurs.connect import sqlite
from occurs.connect.changes.feed import open_feed
from occurs.connect.changes.model import ActionFailed, Fired
from occurs.errors import DefinitionProblem, UsageProblem
from occurs.watch import actions as module
from occurs.watch.actions import Actions, Webhook, filled
from occurs.watch.judging import Judge
from occurs.watch.rules import read_rules
from occurs.watch.watcher import Watcher

HIGH = """trigger high for each y in (select link from traffic): eventually traffic(y) > 10 continue
    notify "{y} is {load} at {time}"
    execute "insert into alarms values (:y, :twice, :time)" with twice = 2 * traffic(y)
"""


class Live:
    """A watched database; ``given`` and ``told`` are what came out."""

    def __init__(self, url, rules, **options):
        self.url, self.lite = url, url.startswith("sqlite:")
        self.connection = self.connect()
        for table in ("traffic (link varchar(9) primary key, load bigint)",
                      "alarms (link varchar(9), load bigint, at varchar(40))"):  # fmt: skip
            self.connection.execute(f"create table {table}")
        self.connection.commit()
        self.given, self.told, self.options, self.text = [], [], options, rules
        self.start()

    def connect(self):
        if self.lite:
            return sqlite.connect(self.url.removeprefix("sqlite:"))
        import psycopg

        return psycopg.connect(self.url)

    def start(self):
        self.feed = open_feed(self.url)
        rules = read_rules([(self.text, "rules.ftl", "ftl")], self.feed.describe, self.feed.refuses)
        self.feed.install(rules.tables, "w", rules.identity)
        assert self.feed.installed(rules.tables, "w")
        self.feed.lock("w")
        self.actions = Actions(self.feed, "w", self.given.append, self.told.append, **self.options)
        self.watcher = Watcher(self.feed, "w", rules, lambda p: Judge(rules, p), self.actions, tell=self.told.append)
        self.watcher.resume()

    def restart(self):
        """As after a kill: nothing is brought to its end."""
        self.feed.close()
        self.start()

    def put(self, *loads):
        """A transaction."""
        for link, load in loads:
            self.connection.execute(f"delete from traffic where link = '{link}'")
            self.connection.execute(f"insert into traffic values ('{link}', {load})")
        self.connection.commit()

    def go(self):
        while self.watcher.step():
            pass

    def alarms(self):
        found = self.connection.execute("select link, load from alarms order by load").fetchall()
        self.connection.commit()
        return [tuple(r) for r in found]

    def left(self):
        """Firings and done actions that are kept."""
        prefix = "occurs_" if self.lite else "occurs."
        count = [
            self.connection.execute(f"select count(*) from {prefix}{t}").fetchone()[0] for t in ("firings", "done")
        ]
        self.connection.commit()
        return tuple(count)

    def close(self):
        self.feed.close()
        self.connection.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "postgresql":
        return request.getfixturevalue("pg_url")
    (tmp_path / "actions.db").touch()
    return f"sqlite:{tmp_path / 'actions.db'}"


@pytest.fixture
def lite(tmp_path):
    (tmp_path / "actions.db").touch()
    return f"sqlite:{tmp_path / 'actions.db'}"


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.001)


@pytest.fixture
def receiver():
    """A web server that gives the answers of a list, then 200; ``taken`` has (key, body)."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.taken.append((self.headers["Idempotency-Key"], body))
            self.send_response(server.answers.pop(0) if server.answers else 200)
            self.end_headers()

        def log_message(self, *_):
            """Quiet."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.answers, server.taken = [], []
    server.url = f"http://127.0.0.1:{server.server_port}/hook?of=test"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_firing_is_told_given_and_executed(url):
    live = Live(url, HIGH)
    live.put(("a", 5), ("b", 11))
    live.put(("a", 20))
    live.go()
    assert live.alarms() == [("b", 22), ("a", 40)]
    assert [(e["type"], e["y"]) for e in live.given] == [("high", "b"), ("high", "a")]
    when = live.given[0]["time"]
    assert isinstance(when, dt.datetime)
    text = when.isoformat().replace("+00:00", "Z")
    assert live.told[0] == f"b is {{load}} at {text}"  # only generic variables and the time are known there
    assert len({e["label"] for e in live.given}) == 2
    assert set(live.given[0]) == {"type", "time", "label", "y"}
    assert live.left() == (0, 0)
    live.close()


def test_what_is_emitted_and_what_is_executed_may_differ(url):
    rules = """
event Alarm(link string, load int)
trigger high for each y in (select link from traffic): eventually traffic(y) > 10
    emit Alarm(link = y, load = traffic(y)) execute "insert into alarms(link, load) values (:y, 1)"
trigger higher for each y in (select link from traffic): eventually traffic(y) > 20
    emit Alarm(link = y, load = -traffic(y))
    execute "insert into alarms(link, load) values (:y, :n)" with n = traffic(y)
trigger again for each y in (select link from traffic): eventually Alarm(link = y)
    notify "again {y}"
"""
    live = Live(url, rules)
    live.put(("a", 30))
    live.go()
    found = [(e["type"], e.get("link", e.get("y")), e.get("load")) for e in live.given]
    assert sorted(found, key=str) == [("Alarm", "a", -30), ("Alarm", "a", 30), ("again", "a", None)]
    assert live.alarms() == [("a", 1), ("a", 30)]
    assert live.told == ["again a"]
    live.close()


def test_a_statement_is_executed_once_whenever_it_is_killed(url, monkeypatch):
    live = Live(url, HIGH)
    live.put(("a", 11), ("b", 12))
    finished = type(live.feed).finished

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(live.feed), "finished", killed)
    with pytest.raises(KeyboardInterrupt):
        live.go()
    assert live.alarms() == [("a", 22), ("b", 24)]
    monkeypatch.setattr(type(live.feed), "finished", finished)
    live.restart()  # they are given out and told again, with the same labels
    live.go()
    assert live.alarms() == [("a", 22), ("b", 24)]
    assert len(live.given) == 4
    assert len({e["label"] for e in live.given}) == 2
    assert live.left() == (0, 0)
    live.close()


def test_killed_before_anything_is_saved_it_is_judged_again(url, monkeypatch):
    live = Live(url, HIGH)
    live.put(("a", 11))
    save = type(live.feed).save

    def killed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(live.feed), "save", killed)
    with pytest.raises(KeyboardInterrupt):
        live.go()
    assert (live.given, live.alarms()) == ([], [])
    monkeypatch.setattr(type(live.feed), "save", save)
    live.restart()
    live.put(("a", 3))
    live.put(("a", 40))
    live.go()
    assert live.alarms() == [("a", 22), ("a", 80)]
    live.close()


def test_a_statement_that_fails_is_told_and_the_others_go_on(url):
    live = Live(url, HIGH.replace(":twice, :time)", ":twice / (:twice - 24), :time)"))
    live.connection.execute("create unique index one on alarms (load)")
    live.connection.commit()
    live.put(("a", 11), ("b", 12))  # by zero, or null
    live.put(("c", 13), ("d", 13))  # twice the same
    live.go()
    assert live.actions.tally.failed >= 1
    assert any(t.startswith("failed: `high` at ") for t in live.told)
    assert len(live.given) == 4
    assert live.actions.tally.failed + live.actions.tally.executed == 4
    assert live.left() == (0, 0)
    live.close()


def test_what_is_executed_on_a_watched_table_makes_a_state(url):
    rules = """
trigger up for each y in (select link from traffic): eventually traffic(y) > 10 continue
    execute "update traffic set load = 1 where link = :y"
trigger low for each y in (select link from traffic): eventually traffic(y) = 1
"""
    live = Live(url, rules)
    live.put(("a", 11))
    live.go()
    assert [e["type"] for e in live.given] == ["up", "low"]
    assert live.given[0]["time"] < live.given[1]["time"]
    live.close()


def test_triggers_that_can_fire_no_more_act(url):
    rules = """
trigger fresh for each y in (select link from traffic): traffic(y) < 10 until traffic(y) = 10
    on never execute "insert into alarms(link, load) values (:y, :n)" with n = -7
    on never notify "{y} is lost"
    notify "{y} is found"
"""
    live = Live(url, rules)
    live.put(("a", 1))
    live.put(("b", 1), ("a", 11))
    live.put(("b", 10))
    live.go()
    assert live.alarms() == [("a", -7)]
    notice, *others = live.told
    assert notice.startswith("never: `fresh` can no longer fire (since ")
    assert notice.endswith(", y = a)")
    assert others == ["a is lost", "b is found"]
    assert [e["y"] for e in live.given] == ["b"]
    live.close()


def test_states_without_changes_come_with_the_clock(lite):
    rules = """trigger quiet observing every 20 ms: eventually (traffic("a") > 10 until[>=50 ms] true)"""
    live = Live(lite, rules)
    live.put(("a", 11))
    for _ in range(200):
        if not live.watcher.step():
            live.watcher.idle(lambda: False)
        if live.given:
            break
    first = live.given[0]["time"]
    assert first.microsecond % 20_000 == 0
    live.close()


def test_a_receiver_that_is_busy_is_tried_again_with_the_same_key(lite, receiver, impatient):
    live = Live(lite, HIGH, webhook=Webhook(receiver.url))
    receiver.answers = [503, 429]
    live.put(("a", 11))
    live.go()
    keys = [key for key, _ in receiver.taken]
    assert len(keys) == 3
    assert set(keys) == {live.given[0]["label"]}
    body = receiver.taken[-1][1]
    assert (body["type"], body["y"], body["label"]) == ("high", "a", keys[0])
    assert body["notify"] == [live.told[0]]
    assert live.actions.tally.failed == 0
    receiver.taken.clear()
    receiver.answers = [400]
    live.put(("a", 12))
    live.go()
    assert len(receiver.taken) == 1
    assert live.actions.tally.failed == 1
    assert "the server answered 400" in live.told[-1]
    live.close()


def test_a_receiver_that_is_not_there_is_given_up_in_the_end(lite, impatient):
    live = Live(lite, HIGH, webhook=Webhook("http://127.0.0.1:9/"))
    live.put(("a", 11))
    live.go()
    assert live.actions.tally.failed == 1
    assert f"(tried {module.RETRIES + 1} times)" in live.told[-1]
    assert live.alarms() == [("a", 22)]
    live.close()


def test_only_web_addresses_are_receivers():
    for address in ("ftp://x/", "http://", "file:///etc/passwd", "x"):
        with pytest.raises(UsageProblem):
            Webhook(address)


def test_nothing_is_interpreted_in_a_text_but_known_names():
    values = {"y": "{time} {y.__class__}", "time": 5}
    assert (
        filled("{y} {time} {z} {{y}} {y!r} %s \\n", values)
        == "{time} {y.__class__} 5 {z} {{time} {y.__class__}} {y!r} %s \\n"
    )


def test_transient_failures_of_statements_are_tried_again(lite, monkeypatch, impatient):
    live = Live(lite, HIGH)
    execute, tries = type(live.feed).execute, []

    def busy(self, *arguments):
        tries.append(arguments)
        if len(tries) < 3:
            raise ActionFailed("busy", transient=True)
        return execute(self, *arguments)

    monkeypatch.setattr(type(live.feed), "execute", busy)
    live.put(("a", 11))
    live.go()
    assert (len(tries), live.alarms()) == (3, [("a", 22)])
    live.close()


def test_statements_are_checked_before_anything_is_watched(url):
    live = Live(url, HIGH)
    rules = """table traffic(link string key, load int)
trigger a: eventually traffic("x") > 1 execute "insert into nowhere values (:time)"
trigger b: eventually traffic("x") > 1 execute "insert into alarms(link, lod) values ('x', 1)"
trigger c: eventually traffic("x") > 1 execute "commit"
trigger d: eventually traffic("x") > 1 execute "selekt 1"
trigger f: traffic("x") > 1 on never execute "insert into alarms(load) values (:n)" with n = traffic("x")
trigger e: eventually traffic("x") > 1 execute "insert into alarms values ('% :: :n', :n, null)" with n = 1
"""
    with pytest.raises(DefinitionProblem) as problem:
        read_rules([(rules, "rules.ftl", "ftl")], live.feed.describe, live.feed.refuses)
    assert [(p.kind, p.line) for p in problem.value.problems] == [
        *(("bad-sql", n) for n in (2, 3, 4, 5)), ("unsupported", 6),
    ]  # fmt: skip
    # and the server has not minded
    live.feed.execute("w", "label", 0, "insert into alarms values ('% :: :n', :n, null)", {"n": 3})
    assert live.alarms() == [("% :: :n", 3)]
    assert not live.feed.execute("w", "label", 0, "insert into alarms values ('again', :n, null)", {"n": 3})
    live.close()


def test_firings_are_kept_with_the_log(lite):
    live = Live(lite, HIGH)
    live.feed.keep = True
    live.put(("a", 11))
    live.go()
    assert live.left() == (1, 1)
    assert live.feed.pending("w") == []
    live.feed.save("w", 9, 9, {}, [Fired("x", 9, "{}")])
    assert [f.label for f in live.feed.pending("w")] == ["x"]
    live.close()
