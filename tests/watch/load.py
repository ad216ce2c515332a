"""Writers that commit and roll back side by side, and what a watcher of them must have found in the end.

Every committed transaction counts its writer up in `tally`, so that whoever reads the log can see that none is missing
and that the order is kept.
"""

from __future__ import annotations

import json
import multiprocessing
import random
import sqlite3
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from occurs.connect import sqlite
from occurs.connect.changes.feed import open_feed
from occurs.program import Program
from occurs.watch.rules import read_rules

fork = multiprocessing.get_context("fork")

#: transactions that every writer commits, however slow the machine is
LEAST = 12

RULES = """
trigger overload for each y in (select link from Traffic):
    eventually ([x <- Traffic(y)] eventually within 2 s (Traffic(y) >= 2*x))
    emit Overload(link = y, load = Traffic(y))
    execute "insert into alarms (link, load, at) values (:y, :load, :time)" with load = Traffic(y)
past trigger halved for each y in (select link from Traffic):
    [x <- Traffic(y)] previously within 1 s (Traffic(y) >= 2*x) continue
past trigger skipped for each w in (select writer from tally):
    [m <- tally(w)] lasttime tally(w) != m - 1
"""
TABLES = (
    "create table Traffic (link varchar(20) primary key, load integer)",
    "create table tally (writer integer primary key, n integer)",
    "create table alarms (link varchar(20), load integer, at varchar(40))",
)


def connect(url: str) -> Any:
    """A writer's connection."""
    if url.startswith("sqlite:"):
        connection = sqlite.connect(url.removeprefix("sqlite:"), timeout=60)
        connection.execute("pragma synchronous = off")
        return connection
    import psycopg

    return psycopg.connect(url)


def prepare(url: str, writers: int, links: int) -> None:
    connection = connect(url)
    for statement in TABLES:
        # names are written as PostgreSQL keeps them
        connection.execute(statement.replace("Traffic", '"Traffic"'))
    for i in range(links):
        connection.execute(f"""insert into "Traffic" values ('l{i}', 100)""")
    for w in range(writers):
        connection.execute(f"insert into tally values ({w}, 0)")
    connection.commit()
    if url.startswith("sqlite:"):
        connection.execute("pragma journal_mode = wal")
    connection.close()


def write(url: str, number: int, links: int, seconds: float, rate: float, seed: int) -> None:
    """Transactions of one writer; about a third are rolled back, some to a savepoint only.

    They go on for the seconds, and on a slow machine until LEAST of them are committed.
    """
    draw = random.Random(seed * 1000 + number)
    connection = connect(url)
    until = time.monotonic() + seconds
    committed = 0
    while time.monotonic() < until or committed < LEAST:
        try:
            committed += transact(connection, number, links, draw)
        except Exception as error:  # a deadlock, a busy database: as if it had been rolled back
            if not _passing(error):
                raise
            connection.rollback()
        if rate:
            time.sleep(draw.expovariate(rate))
    connection.close()


def transact(connection: Any, number: int, links: int, draw: random.Random) -> bool:
    """One transaction; says whether it was committed."""
    if isinstance(connection, sqlite3.Connection):
        connection.execute("begin immediate")
    # in one order, so that few wait for one another in a circle
    for link in sorted(draw.sample(range(links), min(links, draw.randint(1, 3)))):
        factor = draw.choice((0.5, 0.8, 1.25, 2))
        connection.execute(
            f"""update "Traffic" set load = cast(load * {factor} as integer) % 100000 + 1 where link = 'l{link}'"""
        )
    if draw.random() < 0.2:
        connection.execute("savepoint s")
        connection.execute(f"""update "Traffic" set load = 1000000 where link = 'l{link}'""")
        connection.execute("rollback to savepoint s")
    connection.execute(f"update tally set n = n + 1 where writer = {number}")
    if draw.random() < 0.3:
        connection.rollback()
        return False
    connection.commit()
    return True


def _passing(error: Exception) -> bool:
    state = getattr(error, "sqlstate", None)
    return state in ("40001", "40P01") or isinstance(error, sqlite3.OperationalError)


def writers(url: str, many: int, links: int, seconds: float, rate: float, seed: int) -> list[Any]:
    """Processes that write."""
    out = [fork.Process(target=write, args=(url, n, links, seconds, rate, seed)) for n in range(many)]
    for process in out:
        process.start()
    return out


# --- what must have been found ----------------------------------------------------------------------------------------


def log_of(url: str, name: str) -> tuple[Any, list[Any]]:
    """The rules as they were read, and all states of the log."""
    feed = open_feed(url)
    rules = read_rules([(RULES, "load.ftl", "ftl")], feed.describe)
    assert feed.installed(rules.tables, name)
    commits = []
    while True:
        found = feed.read(commits[-1].position if commits else 0, name, 10_000)
        if not found:
            break
        commits += found
    feed.close()
    return rules, commits


def check_log(url: str, commits: list[Any], many: int) -> None:
    """No transaction is missing, none is there twice, the order is kept; replayed, the log gives the tables."""
    assert all(a.position < b.position and a.time < b.time for a, b in pairwise(commits))
    tables: dict[str, dict[Any, Any]] = {"Traffic": {}, "tally": {}}
    counted: Counter[int] = Counter()
    for commit in commits:
        for change in commit.changes:
            row = list(change.new.values())
            tables[change.table][row[0]] = row[1]
            if change.table == "tally" and change.op == "update":
                assert row[1] == counted[row[0]] + 1
                counted[row[0]] += 1
    connection = connect(url)
    for name, rows in tables.items():
        assert dict(connection.execute(f'select * from "{name}"').fetchall()) == rows
    connection.close()
    assert len(counted) == many


def batch(rules: Any, commits: list[Any]) -> list[tuple[Any, ...]]:
    """What the rules find in the log as a history, in one go: (type, time, values)."""
    from occurs.languages.logic.render import render

    program = Program([("\n".join(map(render, rules.definitions)), None, "ftl")])
    tables = {}
    for table in rules.tables:
        rows = [
            {"time": c.time, "sequence": n, "op": x.op, **x.new}
            for c in commits for n, x in enumerate(c.changes) if x.table == table.name
        ]  # fmt: skip
        found = pa.Table.from_pylist(rows)
        times = found.column("time").cast(pa.timestamp("us", tz="UTC"))
        tables[table.name] = found.set_column(0, "time", times)
    out = []
    for name, found in program.detect(tables).items():
        for row in found.to_pylist():
            out.append((name, row.pop("time"), tuple(v for n, v in row.items() if n != "type")))
    return sorted(out)


def fired(url: str, name: str) -> list[tuple[Any, ...]]:
    """What the watcher has saved as found: once each, as labels are."""
    prefix = "occurs_" if url.startswith("sqlite:") else "occurs."
    connection = connect(url)
    rows = connection.execute(f"select content from {prefix}firings where watcher = '{name}'").fetchall()
    connection.close()
    out = []
    for (content,) in rows:
        entry = json.loads(content, object_hook=_times)
        if "type" in entry:
            values = tuple(v for n, v in entry["attributes"].items())
            out.append((entry["type"], entry["time"], values))
    return sorted(out)


def _times(value: dict[str, Any]) -> Any:
    import datetime as dt

    return dt.datetime.fromisoformat(value["$time"]) if set(value) == {"$time"} else value


def executed(url: str) -> Counter[Any]:
    """What the statements have written."""
    connection = connect(url)
    rows = connection.execute("select link, load from alarms").fetchall()
    connection.close()
    return Counter(tuple(r) for r in rows)


def given(path: Path) -> list[tuple[Any, ...]]:
    """The events in a file, those that were given twice once; a killed watcher may leave a line without end."""
    out: dict[str, Any] = {}
    for line in path.read_text().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        label = row.pop("label")
        assert out.setdefault(label, row) == row
    return list(out.values())
