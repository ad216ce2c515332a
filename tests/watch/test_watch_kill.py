"""A watcher that is killed again and again, while others write, finds what the log holds."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter

import load
import pytest

from occurs.cli.watch import command

NAME = "killed"


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    if request.param == "sqlite":
        (tmp_path / "load.db").touch()
        return f"sqlite:{tmp_path / 'load.db'}"
    return request.getfixturevalue("pg_url")


def watching(folder, url, *more):
    """The command, with its words in files."""
    with open(folder / "out.log", "ab") as out, open(folder / "err.log", "ab") as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
    rules = str(folder / "load.ftl")
    out = str(folder / "found.jsonl")
    command.main(
        [rules, "--database", url, "--name", NAME, "--keep-log", "--label", "--out", out, *more], standalone_mode=True
    )


def started(folder, url, *more):
    process = load.fork.Process(target=watching, args=(folder, url, *more))
    process.start()
    return process


def killed_while_written(folder, url, *, many, links, seconds, rate, kills, seed):
    """Writers write for some seconds; the watcher is killed so often in between, then goes to the end."""
    draw = random.Random(seed)
    (folder / "load.ftl").write_text(load.RULES)
    load.prepare(url, many, links)
    first = started(folder, url, "--install")
    first.join(60)
    assert first.exitcode == 0, (folder / "err.log").read_text()
    writers = load.writers(url, many, links, seconds, rate, seed)
    died = 0
    for _ in range(kills):
        watcher = started(folder, url)
        time.sleep(draw.uniform(0.3, 2 * seconds / kills - 0.3) if seconds / kills > 0.6 else draw.uniform(0.1, 0.6))
        assert watcher.is_alive(), (folder / "err.log").read_text()[-2000:]
        os.kill(watcher.pid, signal.SIGKILL)
        watcher.join(60)
        died += watcher.exitcode == -signal.SIGKILL
    for writer in writers:
        writer.join(seconds + 60)
        assert writer.exitcode == 0
    last = started(folder, url, "--once")
    last.join(300)
    assert last.exitcode == 0, (folder / "err.log").read_text()[-2000:]
    assert died == kills
    return compared(folder, url, many)


def compared(folder, url, many):
    """The log is whole, and what was found, executed and given is what the log holds."""
    rules, commits = load.log_of(url, NAME)
    load.check_log(url, commits, many)
    expected = load.batch(rules, commits)
    assert not [e for e in expected if e[0] == "skipped"]
    assert load.fired(url, NAME) == expected
    alarms = Counter(values for type_, _, values in expected if type_ == "Overload")
    assert load.executed(url) == alarms
    found = load.given(folder / "found.jsonl")
    assert Counter(f["type"] for f in found) == Counter(e[0] for e in expected)
    return len(commits), len(expected)


def test_killed_in_the_middle_nothing_is_lost_or_doubled(tmp_path, url):
    states, found = killed_while_written(
        tmp_path, url, many=2, links=5, seconds=2, rate=20, kills=2, seed=1
    )  # fmt: skip
    assert states >= 2 * load.LEAST
    assert found > 10


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_killed_twenty_times(tmp_path, url, seed):
    """Every one of the runs is another, with a kill in it somewhere."""
    killed_while_written(tmp_path, url, many=3, links=10, seconds=2, rate=50, kills=2, seed=seed)


@pytest.mark.long
def test_two_minutes_of_writers(tmp_path, url):
    """As many transactions as go, for two minutes, the watcher killed in the middle."""
    states, found = killed_while_written(
        tmp_path, url, many=4, links=100, seconds=120, rate=0, kills=2, seed=7
    )  # fmt: skip
    print(f"{url.partition(':')[0]}: {states} states, {found} found")
    assert states > 10_000
