"""``occurs follow --replay-from``: rules that are new on a stream, with the past they would have had."""

from __future__ import annotations

import json

import pytest

from .test_follow import FOLLOW, HEAD, SECONDS, answer, interrupt, many, meanwhile, move_in, rows

HOT = "define Hot(Area, Value) from Door(Area = $a) and last Temp(Area = $a) within 1 h from Door where "
HOT += "Area = Door.Area, Value = Temp.Value\n"


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_new_rule_learns_the_past(occurs, here, spark):
    lines = many(400)
    (here / "in").mkdir()
    (here / "old.csv").write_text(HEAD + "\n".join(lines[:200]) + "\n")
    (here / "all.csv").write_text(HEAD + "\n".join(lines) + "\n")
    move_in(here / "in", "a.csv", (here / "old.csv").read_text())
    shared = ("--events", "in", "--out", "out", *SECONDS, "--metrics", "m.jsonl")
    with meanwhile(here / "m.jsonl", [(200, interrupt)]):
        done = occurs(*FOLLOW, *shared)
    assert done.status == 0, done.err
    frontier = json.loads((here / "m.jsonl").read_text().splitlines()[-1])["frontier"]

    with (here / "fire.tesla").open("a") as rules:
        rules.write(HOT)
    move_in(here / "in", "b.csv", HEAD + "\n".join(lines[200:]) + "\n")
    done = occurs(*FOLLOW, *shared, "--replay-from", "nothing.csv")
    assert done.status == 2
    assert "nothing.csv" in done.err
    done = occurs(*FOLLOW, *shared, "--replay-from", "old.csv", "--ended")
    assert done.status == 0, done.err
    assert "1 new, which learn from --replay-from; 1 unchanged" in done.err

    expected = answer(occurs, "--events", "all.csv", *SECONDS)
    found = rows(here / "out")
    assert [r for r in found if r["type"] == "Fire"] == [r for r in expected if r["type"] == "Fire"]
    hot = [r for r in expected if r["type"] == "Hot" and r["time"] > frontier]
    assert [r for r in found if r["type"] == "Hot"] == hot
    # the past counts: some detection of the first events looks back at what came before
    assert any(r["time"] <= 1000 + 220 // 4 for r in hot)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_new_stream_begins_with_a_past(occurs, here, spark):
    lines = many(200, seed=3)
    (here / "in").mkdir()
    (here / "old.csv").write_text(HEAD + "\n".join(lines[:100]) + "\n")
    (here / "all.csv").write_text(HEAD + "\n".join(lines) + "\n")
    move_in(here / "in", "b.csv", HEAD + "\n".join(lines[100:]) + "\n")
    done = occurs(*FOLLOW, "--events", "in", "--out", "out", *SECONDS, "--replay-from", "old.csv", "--ended")
    assert done.status == 0, done.err
    last = 1000 + 99 // 4
    expected = answer(occurs, "--events", "all.csv", *SECONDS)
    assert rows(here / "out") == [r for r in expected if r["time"] > last]
