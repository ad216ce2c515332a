"""Live databases: what a change log costs its writers, and how soon after a commit a trigger fires."""

from __future__ import annotations

import importlib
import multiprocessing
import re
import subprocess
import sys
import tempfile
import time as clock
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from benchmarks.report import Report
from occurs.connect import sqlite
from occurs.connect.changes.feed import open_feed
from occurs.connect.changes.model import Watched
from occurs.model.types import Type
from occurs.watch.actions import Actions
from occurs.watch.judging import Judge
from occurs.watch.rules import read_rules
from occurs.watch.watcher import Watcher

#: the tests have the one way to a server
_TESTS = Path(__file__).resolve().parent.parent / "tests"
_TABLE = "create table {name} (link varchar(20) primary key, load bigint)"
_RULES = """table hot(link string key, load int)
trigger overload for each y in (select link from hot):
    eventually ([x <- hot(y)] eventually within 10 min (hot(y) >= 2*x))
"""
_FORK = multiprocessing.get_context("fork")


def reports(quick: bool) -> Iterator[Report]:
    """What it costs to be watched, what is logged per second, and how long a firing takes."""
    server = _server()
    try:
        if server is not None:
            yield cost(server, 4 if quick else 9, 3 if quick else 8)
        yield logged(5 if quick else 9)
        yield delay(server, 40 if quick else 200)
    finally:
        if server is not None:
            server.stop()


def _server() -> Any:
    """A PostgreSQL server with the settings that it comes with (a commit is on the disk); None if there is none."""
    sys.path.insert(0, str(_TESTS))
    module = importlib.import_module("pgserver")
    try:
        server = module.Server(durable=True)
    except module.Unavailable:
        return None
    server.start()
    return server


# --- what a watched table costs its writers ---------------------------------------------------------------------------


def cost(server: Any, repetitions: int, seconds: int) -> Report:
    """pgbench, two clients, one hot row; the two tables take turns."""
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection:
        for name in ("plain", "hot"):
            connection.execute(f"drop table if exists {name}")
            connection.execute(_TABLE.format(name=name))
            connection.execute(f"insert into {name} values ('a', 1)")
    feed = open_feed(server.url())
    feed.install([Watched("hot", (("link", Type.STRING), ("load", Type.INT)), ("link",))], "bench", "rules")
    columns = [("commits", ""), ("unwatched, tx/s", ",.0f"), ("watched, tx/s", ",.0f"), ("cost", ".2f")]
    report = Report(
        "PostgreSQL: an update of a watched table beside one of an unwatched", [*columns, ("target", ".1f")]
    )
    for name, setting in (("on the disk", "on"), ("not waited for", "off")):
        found: dict[str, list[float]] = {"plain": [], "hot": []}
        for _ in range(repetitions):
            for table, speeds in found.items():
                speeds.append(_pgbench(server, table, seconds, setting))
        ratios = [a / b for a, b in zip(found["plain"], found["hot"], strict=True)]
        report.add(name, median(found["plain"]), median(found["hot"]), median(ratios), 2.5)
    report.notes.append(f"one row, 2 clients, {repetitions} times {seconds} s each, in turn; the median of the ratios")
    feed.uninstall()
    feed.close()
    return report


def _pgbench(server: Any, table: str, seconds: int, synchronous: str) -> float:
    """Transactions per second."""
    script = server.folder / "update.sql"
    script.write_text(f"update {table} set load = load + 1 where link = 'a';\n")
    command = [server.bin / "pgbench", "-n", "-c", "2", "-T", str(seconds), "-f", script, "-h", server.folder]
    done = subprocess.run(
        [*command, "-U", "postgres", "postgres"], capture_output=True, text=True, check=True, cwd=server.folder,
        env={"PGOPTIONS": f"-c synchronous_commit={synchronous}"},
    )  # fmt: skip
    found = re.search(r"tps = ([\d.]+)", done.stdout)
    assert found is not None, done.stdout
    return float(found[1])


def logged(repetitions: int) -> Report:
    """SQLite with its helper: transactions of 100 changes."""
    report = Report(
        "SQLite: changes logged per second, in transactions of 100",
        [("table", ""), ("changes/s", ",.0f"), ("target", ",.0f")],
    )
    speeds: dict[str, list[float]] = {"unwatched": [], "watched": []}
    for _ in range(repetitions):
        for name, found in speeds.items():
            with tempfile.TemporaryDirectory() as folder:
                found.append(_changes(Path(folder) / "log.db", name == "watched"))
    report.add("unwatched", median(speeds["unwatched"]), None)
    report.add("watched", median(speeds["watched"]), 10_000)
    return report


def _changes(path: Path, watched: bool) -> float:
    connection = sqlite.connect(path)
    connection.execute(_TABLE.format(name="hot"))
    connection.executemany("insert into hot values (?, 1)", [(f"l{i}",) for i in range(1000)])
    connection.commit()
    connection.execute("pragma journal_mode = wal")
    if watched:
        feed = open_feed(f"sqlite:{path}")
        feed.install([Watched("hot", (("link", Type.STRING), ("load", Type.INT)), ("link",))], "bench", "rules")
        feed.close()
    transactions, size = 100, 100
    start = clock.perf_counter()
    for t in range(transactions):
        for i in range(size):
            connection.execute("update hot set load = ? where link = ?", (t, f"l{(t * size + i) % 1000}"))
        connection.commit()
    seconds = clock.perf_counter() - start
    connection.close()
    return transactions * size / seconds


# --- how soon ---------------------------------------------------------------------------------------------------------


def delay(server: Any, times: int) -> Report:
    """From the commit in one process to the firing in another, whose position and state are saved by then."""
    report = Report(
        "From a commit to the firing, in ms",
        [("database", ""), ("median", ".1f"), ("95 %", ".1f"), ("target (median)", ".0f")],
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "delay.db"
        path.touch()
        urls = {"SQLite, polled": f"sqlite:{path}"}
        if server is not None:
            urls["PostgreSQL"] = server.url()
        for name, url in urls.items():
            found = [1000 * d for d in _delays(url, times)]
            report.add(name, median(found), quantiles(found, n=20)[-1], 50)
    return report


def _connect(url: str) -> Any:
    if url.startswith("sqlite:"):
        return sqlite.connect(url.removeprefix("sqlite:"), timeout=60)
    import psycopg

    return psycopg.connect(url)


def _delays(url: str, times: int) -> list[float]:
    connection = _connect(url)
    connection.execute("drop table if exists hot")
    connection.execute(_TABLE.format(name="hot"))
    for i in range(times):
        connection.execute(f"insert into hot values ('l{i}', 1)")
    connection.commit()
    ours, theirs = _FORK.Pipe()
    process = _FORK.Process(target=_watch, args=(url, theirs))
    process.start()
    ours.recv()  # it is ready
    out = []
    for i in range(times):
        connection.execute(f"update hot set load = 2 where link = 'l{i}'")
        connection.commit()
        start = clock.monotonic()
        if not ours.poll(60):
            raise RuntimeError("no firing came")
        out.append(ours.recv() - start)
        clock.sleep(0.02)
    process.kill()
    process.join()
    connection.close()
    feed = open_feed(url)
    feed.uninstall()
    feed.close()
    return out


def _watch(url: str, pipe: Any) -> None:
    """A watcher that sends the time of every firing."""
    feed = open_feed(url)
    rules = read_rules([(_RULES, None, "ftl")], feed.describe, feed.refuses)
    feed.install(rules.tables, "bench", rules.identity)
    assert feed.installed(rules.tables, "bench")
    feed.lock("bench")
    actions = Actions(feed, "bench", lambda event: pipe.send(clock.monotonic()), lambda text: None)
    watcher = Watcher(feed, "bench", rules, lambda pieces: Judge(rules, pieces), actions)
    while watcher.step():
        pass
    pipe.send("ready")
    while True:
        if not watcher.step():
            watcher.idle(lambda: False)
