"""``occurs watch``: the command, its words and its exit status."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from occurs.cli import main
from occurs.connect import sqlite

RULES = """table traffic(link string key, load int)
trigger high for each y in (select link from traffic): eventually traffic(y) > 10 continue
    notify "{y} is high" emit High(link = y, load = traffic(y))
"""


class Here:
    """A directory with rules and a database, and the command there."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "high.ftl").write_text(RULES)
        self.connection = sqlite.connect(folder / "x.db")
        self.connection.execute("create table traffic (link text primary key, load int, speed float)")
        self.connection.execute("create table other (a int)")
        self.connection.execute("create view seen as select * from traffic")
        self.put("a", 5)

    def put(self, link, load):
        self.connection.execute("insert or replace into traffic values (?, ?, 1.5)", (link, load))
        self.connection.commit()

    def watch(self, *arguments, rules="high.ftl", database="sqlite:x.db"):
        words = ["watch", *([rules] if rules else []), "--database", database, *arguments]
        done = CliRunner().invoke(main, words)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "Traceback" not in done.stderr
        return done

    def rules(self, text):
        (self.folder / "other.ftl").write_text(text)
        return "other.ftl"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = Here(tmp_path)
    yield found
    found.connection.close()


def test_installed_watched_stopped_and_gone_on(here):
    done = here.watch("--install")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "changes of traffic are now logged for `watch`" in done.stderr
    here.put("a", 20)
    here.put("b", 30)
    done = here.watch("--once")
    assert done.exit_code == 0
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["type"], r["link"], r["load"]) for r in rows] == [("High", "a", 20), ("High", "b", 30)]
    assert rows[0]["time"].endswith("Z")
    assert "label" not in rows[0]
    assert "a is high\nb is high\n" in done.stderr
    assert "3 states read (3 transactions), 2 detections (High: 2)" in done.stderr
    assert here.watch("--once").stdout == ""
    here.put("a", 40)
    done = here.watch("--once", "--out", "found.jsonl", "--label", database="sqlite:///x.db")
    assert (done.exit_code, done.stdout) == (0, "")
    (line,) = (here.folder / "found.jsonl").read_text().splitlines()
    assert len(json.loads(line)["label"]) == 32
    done = here.watch("--uninstall", rules=None)
    assert "the change log was removed" in done.stderr
    names = [n for (n,) in here.connection.execute("select name from sqlite_master where name like '%occurs%'")]
    assert names == []
    assert {p.name for p in here.folder.iterdir()} == {"high.ftl", "x.db", "found.jsonl"}
    assert "no change log is installed" in here.watch("--uninstall", rules=None).stderr


def test_it_installs_by_itself_what_is_not_there(here):
    here.put("a", 20)
    done = here.watch("--once")
    assert [json.loads(r)["load"] for r in done.stdout.splitlines()] == [20]


def test_all_sql_is_printed_before_anything_runs(here):
    done = here.watch("--print-sql")
    assert done.exit_code == 0
    assert here.connection.execute("select count(*) from sqlite_master where name like 'occurs%'").fetchone() == (0,)
    again = sqlite3.connect(here.folder / "x.db")
    again.executescript(done.stdout)
    again.close()
    printed = {n for (n,) in here.connection.execute("select name from sqlite_master")}
    assert here.watch("--install").exit_code == 0
    assert {n for (n,) in here.connection.execute("select name from sqlite_master")} == printed
    here.connection.executescript(here.watch("--uninstall", "--print-sql", rules=None).stdout)
    assert here.connection.execute("select count(*) from sqlite_master where name like 'occurs%'").fetchone() == (0,)


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ('trigger a: eventually nowhere("x") > 1', "unknown-function", "nowhere"),
        ("table nowhere(a int key, b int) trigger a: eventually nowhere(1) > 1", "unknown-name", "no table `nowhere`"),
        ('table traffic(link string key, lod int) trigger a: eventually traffic("x") > 1', "missing-column", "`load`"),
        (
            'table traffic(link string key, load string) trigger a: eventually traffic("x") = "1"',
            "type-mismatch",
            "INT",
        ),
        (
            "table traffic(load int key, link string) trigger a: eventually traffic(1) = 'x'",
            "schema-conflict",
            "(load)",
        ),
        ('table seen(link string key, load int) trigger a: eventually seen("x") > 1', "unsupported", "a view"),
        ("trigger a: eventually (1 > ", "syntax", "other.ftl:1:"),
        (
            "event E(a int) trigger a observing all: hour(time) >= 5 emit E(a = 1)",
            "never-completes",
            "nothing to watch",
        ),
    ],
)
def test_rules_that_do_not_fit_the_database(here, text, kind, words):
    done = here.watch("--once", rules=here.rules(text))
    assert done.exit_code == 2
    assert f"error[{kind}]" in done.stderr
    assert words in done.stderr


def test_tables_need_not_be_declared(here):
    here.put("a", 20)
    rules = here.rules('trigger fast: eventually (traffic("a").speed > 1 and exists (select 1 from other))')
    done = here.watch("--once", rules=rules)
    # `other` has no key, so it has to be declared
    assert done.exit_code == 2
    assert "other" in done.stderr
    rules = here.rules('trigger fast: eventually (traffic("a").speed > 1 and traffic("a").load = 20)')
    done = here.watch("--once", rules=rules)
    assert (done.exit_code, json.loads(done.stdout)["type"]) == (0, "fast")


def test_nothing_is_said_of_spark_and_warnings_may_be_errors(here):
    rules = here.rules('trigger a: eventually (traffic("a").load > 6 and previously traffic("b").load > 6)')
    done = here.watch("--once", "--strict", rules=rules)
    assert (done.exit_code, "Spark" in done.stderr) == (0, False)
    rules = here.rules('trigger a: eventually [x <- traffic("a").load] eventually traffic("a").load > x')
    done = here.watch("--once", "--name", "b", "--require-bounds", rules=rules)
    assert (done.exit_code, "error[unbounded-state]" in done.stderr) == (2, True)
    done = here.watch("--once", "--name", "b", "--max-formula", "1", rules=rules)
    assert (done.exit_code, "2 subformulas have free variables; the limit is 1" in done.stderr) == (2, True)


def test_a_table_that_is_spelt_otherwise_and_a_path_from_the_root(here):
    rules = here.rules('trigger a: eventually Trafic("a").load > 6')
    done = here.watch("--once", rules=rules, database=f"sqlite://{here.folder / 'x.db'}")
    assert done.exit_code == 2
    assert "other.ftl:1:23: error[unknown-name]" in done.stderr
    assert "hint: did you mean `traffic`, a table of the database?" in done.stderr


def test_other_rules_under_the_same_name_are_refused(here):
    here.watch("--install")
    rules = here.rules(RULES.replace("> 10", "> 11"))
    for option in ("--once", "--install"):
        done = here.watch(option, rules=rules)
        assert done.exit_code == 2
        assert "changed-program" in done.stderr
        assert "--name" in done.stderr
    assert here.watch("--once", "--name", "second", rules=rules).exit_code == 0
    # what only looks otherwise is the same
    spaced = here.rules("# a comment\n" + RULES.replace(" > ", "   > "))
    assert here.watch("--once", rules=spaced).exit_code == 0


def test_what_waits_beyond_a_number_is_one_state_and_said(here):
    here.watch("--install")
    for load in (20, 3, 30, 4, 40):
        here.put("a", load)
    done = here.watch("--once", "--coalesce-above", "3", "--keep-log")
    assert [json.loads(r)["load"] for r in done.stdout.splitlines()] == [40]
    assert "6 transactions were merged into one state" in done.stderr
    assert "merged 6 transactions into 1 state" in done.stderr
    assert here.connection.execute("select count(*) from occurs_commits").fetchone() == (6,)


def test_a_value_that_does_not_fit_stops_it_with_the_position_saved(here):
    here.watch("--install")
    here.put("a", 20)
    here.put("b", "many")
    here.put("c", 30)
    for _ in range(2):
        done = here.watch("--once")
        assert done.exit_code == 2
        assert "traffic.load: 'many' is not a valid int" in done.stderr
        assert "a is high" in done.stderr or done.stdout == ""
    assert here.connection.execute("select position from occurs_watchers").fetchone() == (2,)


def test_a_failed_action_is_exit_status_1(here):
    here.connection.execute("create unique index one on other (a)")
    here.connection.execute("insert into other values (1)")
    here.put("a", 20)
    rules = here.rules(RULES.replace("notify", 'execute "insert into other values (1)" notify'))
    done = here.watch("--once", rules=rules)
    assert done.exit_code == 1
    assert "failed: `high` at" in done.stderr
    assert "1 action failed" in done.stderr
    assert json.loads(done.stdout)["load"] == 20


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("--database", "oracle:x"), 2, "sqlite:PATH"),
        (("--database", "sqlite:none.db"), 1, "there is no database none.db"),
        (("--database", "postgresql://nobody@127.0.0.1:9/none"), 1, "127.0.0.1"),
        (("--database", "postgresql://x?y=z"), 2, "postgresql://user@host"),
        (("--name", "a/../b"), 2, "letters"),
        (("--role", "r"), 2, "no roles"),
        (("--webhook", "ftp://x"), 2, "http://"),
        (("--out", "none/x.jsonl"), 1, "none/x.jsonl"),
        (("--coalesce-above", "0"), 2, "coalesce-above"),
    ],
)
def test_options_that_do_not_go(here, arguments, status, words):
    done = here.watch("--once", *arguments)
    assert done.exit_code == status
    assert words in done.stderr


def test_rules_are_needed_to_watch(here):
    assert "missing argument RULES" in here.watch("--once", rules=None).stderr


def test_other_languages_go_on_from_what_triggers_find(here):
    (here.folder / "twice.tesla").write_text(
        "define Twice(link) from High(link = $x) as h and last High(link = $x) as g within 1 min from h where link = $x"
    )
    words = ["watch", "high.ftl", "twice.tesla", "--database", "sqlite:x.db"]
    assert CliRunner().invoke(main, [*words, "--install"]).exit_code == 0
    for load in (50, 5, 20):
        here.put("a", load)
    done = CliRunner().invoke(main, [*words, "--once"])
    assert done.exit_code == 0, done.stderr
    found = [json.loads(r) for r in done.stdout.splitlines()]
    assert [(r["type"], r["link"]) for r in found] == [("High", "a"), ("High", "a"), ("Twice", "a")]


def test_the_guide_has_the_rights_that_are_granted():
    from occurs.connect.changes.postgres import grants

    guide = (Path(__file__).parents[2] / "docs" / "guides" / "databases.md").read_text()
    assert "".join(f"{statement};\n" for statement in grants("watcher")) in guide


def test_on_postgresql(tmp_path, monkeypatch, pg_url):
    import psycopg

    monkeypatch.chdir(tmp_path)
    here = Here(tmp_path)
    with psycopg.connect(pg_url) as connection:
        connection.execute("create table traffic (link text primary key, load int, speed float)")
        connection.execute("create role of_watch")
        connection.commit()
        printed = here.watch("--print-sql", "--role", "of_watch", database=pg_url)
        assert "grant usage on schema occurs" in printed.stdout
        assert here.watch("--install", "--role", "of_watch", database=pg_url).exit_code == 0
        for load in (5, 20):
            connection.execute(
                "insert into traffic values ('a', %s) on conflict (link) do update set load = %s", [load] * 2
            )
            connection.commit()
        connection.execute("update traffic set load = 30")
        connection.rollback()
        done = here.watch("--once", database=pg_url)
        assert [json.loads(r)["load"] for r in done.stdout.splitlines()] == [20]
        # of a table that was dropped there is nothing to remove
        connection.execute("drop table traffic")
        connection.commit()
        assert here.watch("--uninstall", rules=None, database=pg_url).exit_code == 0
        assert connection.execute("select to_regnamespace('occurs')").fetchone() == (None,)
        connection.execute("drop role of_watch")
        connection.commit()
    here.connection.close()
