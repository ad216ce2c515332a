"""``occurs follow`` with temporal triggers: the answer of ``occurs run``, and the notices of what can fire no more."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from .test_follow import interrupt, meanwhile, move_in

OVERLOAD = """
table Traffic (link string key, load int)
trigger overload for each y in (select link from Traffic):
    eventually ([x <- Traffic(y)] eventually within 10 (Traffic(y) >= 2*x))
    notify "{y} has doubled at {time}"
    emit Overload(link = y, load = Traffic(y))
    execute "insert into alarms values (:y, :load)" with load = Traffic(y)
trigger at_once for each y in (select link from Traffic): Traffic(y) = 10 and nexttime Traffic(y) > 15
    on never notify "{y}: no more at {time}"
"""
HEAD = "type,time,link,load\n"
FILES = (
    "Traffic,1,a,10\nTraffic,2,b,7\nTraffic,4,a,20\n",
    "Traffic,5,b,14\nTraffic,9,a,40\nTraffic,12,b,15\nTraffic,13,c,10\n",
    "Traffic,14,b,30\nTraffic,15,c,16\n",
)


def rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for p in sorted(folder.glob("*.jsonl")) for line in p.read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.spark
def test_triggers_and_notices_until_the_end(occurs, here, spark):
    (here / "overload.ftl").write_text(OVERLOAD)
    (here / "in").mkdir()
    for n, text in enumerate(FILES):
        (here / "in" / f"{n}.csv").write_text(HEAD + text)
    shared = ("overload.ftl", "--events", "in", "--time-unit", "s", "--because")
    follow = ("follow", *shared, "--checkpoint", "cp", "--out", "out", "--never", "never")
    done = occurs(*follow, "--ended", "--actions")
    assert (done.status, done.out) == (0, ""), done.err
    assert sorted(line for line in done.err.splitlines() if re.search(r" at \d+$", line)) == [
        "a has doubled at 4", "a: no more at 9", "b has doubled at 14", "b has doubled at 5", "b: no more at 2",
    ]  # fmt: skip
    assert "actions not executed: execute 3 (" in done.err
    found = rows(here / "out")
    whole = occurs("run", *shared, "--host", "local", "--never", "never.jsonl")
    assert whole.status == 0, whole.err
    assert "actions not executed: notify 3, execute 3 (" in whole.err
    assert sorted(map(repr, found)) == sorted(map(repr, map(json.loads, whole.out.splitlines())))
    assert {(r["type"], r["time"]) for r in found} >= {("Overload", 4), ("Overload", 5), ("at_once", 4)}
    told = [json.loads(line) for line in (here / "never.jsonl").read_text().splitlines()]
    assert sorted(map(repr, rows(here / "never"))) == sorted(map(repr, told))
    assert {(r["time"], r["y"]) for r in told} == {(2, "b"), (9, "a")}


@pytest.mark.long
@pytest.mark.spark
def test_what_waits_goes_through_a_restart(occurs, here, spark):
    """`b` and `c` come to their doubles after the restart, with rows that came before it."""
    (here / "overload.ftl").write_text(OVERLOAD)
    (here / "in").mkdir()
    shared = ("overload.ftl", "--events", "in", "--time-unit", "s")
    follow = ("follow", *shared, "--checkpoint", "cp", "--out", "out", "--trigger", "100 ms")
    first = HEAD + "".join(FILES[:2])
    move_in(here / "in", "0.csv", first)
    with meanwhile(here / "m.jsonl", [(first.count("\n") - 1, interrupt)]):
        done = occurs(*follow, "--metrics", "m.jsonl")
    assert (done.status, done.out) == (0, ""), done.err
    before = len(rows(here / "out"))
    move_in(here / "in", "1.csv", HEAD + FILES[2])
    done = occurs(*follow, "--ended")
    assert (done.status, done.out) == (0, ""), done.err
    whole = occurs("run", *shared, "--host", "local")
    found = rows(here / "out")
    assert sorted(map(repr, found)) == sorted(map(repr, map(json.loads, whole.out.splitlines())))
    assert len(found) > before > 0
