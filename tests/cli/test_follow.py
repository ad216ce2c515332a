"""``occurs follow``: files in, files out, the same answer as ``occurs run``."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from occurs.errors import ResourceProblem
from occurs.follow import sources
from occurs.follow.checkpoint import Checkpoint
from occurs.follow.sinks import Files

from .conftest import EVENTS, FIRE, RULES

FOLLOW = ("follow", "fire.tesla", "--checkpoint", "cp")


def rows(folder: Path) -> list[dict[str, Any]]:
    """All detections of a directory, by time."""
    return sorted(rows_of(folder), key=lambda r: (r["time"], str(r)))


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for p in sorted(folder.glob("*.jsonl")) for line in p.read_text().splitlines()]


def figures(path: Path) -> list[dict[str, Any]]:
    """What ``--metrics`` has so far."""
    return (
        [json.loads(line) for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")]
        if path.exists()
        else []
    )


def answer(occurs: Any, *arguments: str) -> list[dict[str, Any]]:
    """What ``occurs run`` says."""
    done = occurs("run", "fire.tesla", "--host", "local", *arguments)
    assert done.status == 0, done.err
    return sorted(map(json.loads, done.out.splitlines()), key=lambda r: (r["time"], str(r)))


def move_in(folder: Path, name: str, text: str) -> None:
    """A file that appears whole."""
    (folder / f".{name}").write_text(text)
    os.replace(folder / f".{name}", folder / name)


@pytest.mark.spark
def test_files_to_files_and_closing(occurs, here, spark):
    (here / "in").mkdir()
    move_in(here / "in", "a.csv", EVENTS)
    done = occurs(*FOLLOW, "--events", "in", "--out", "out", "--ended", "--metrics", "m.jsonl")
    assert (done.status, done.out) == (0, ""), done.err
    assert rows(here / "out") == [FIRE] == answer(occurs, "--events", "in")
    assert "5 events read, 1 detection (Fire: 1) in " in done.err
    told = figures(here / "m.jsonl")
    assert [f["batch"] for f in told] == [0, 1]
    assert sum(f["rows"] for f in told) == 5
    assert sum(f["found"]["Fire"] for f in told) == 1
    assert told[-1]["frontier"] == told[-1]["newest"]
    assert all(f["limit"] >= 64_000_000 and f["backlog"] == 0 for f in told)
    assert set(told[0]) >= {"wall", "seconds", "late", "bad", "waiting", "kept", "size", "lag"}
    before = {p.name: p.read_bytes() for p in (here / "out").iterdir()}
    done = occurs(*FOLLOW, "--events", "in", "--out", "out", "--ended")
    assert (done.status, done.out) == (0, "")
    assert "this stream was already read to its end" in done.err
    assert {p.name: p.read_bytes() for p in (here / "out").iterdir()} == before


def test_rules_with_typos_are_refused_first(occurs, here):
    (here / "fire.tesla").write_text(RULES.replace("Temp.Value", "Temp.Valeu"))
    done = occurs(*FOLLOW, "--events", "in")
    assert (done.status, done.out) == (2, "")
    assert "did you mean `Value`?" in done.err
    assert not (here / "cp").exists()


def many(count: int, seed: int = 7) -> list[str]:
    """Events in order of time, four a second, as lines of CSV."""
    draw = random.Random(seed)
    out = []
    for n in range(count):
        kind, area = draw.choice(["Smoke", "Temp", "Temp", "Door"]), draw.choice("abc")
        out.append(f"{kind},{1000 + n // 4},{area},{draw.randint(30, 60) if kind == 'Temp' else ''}")
    return out


HEAD = "type,time,Area,Value\n"
SECONDS = ("--time-unit", "s")


@contextmanager
def meanwhile(metrics: Path, steps: list[tuple[int, Callable[[], object]]]) -> Iterator[None]:
    """While the body runs: as soon as so many rows have been judged, according to ``--metrics``, do the next step."""
    over = threading.Event()

    def watch() -> None:
        for wanted, step in steps:
            while sum(f["rows"] for f in figures(metrics)) < wanted:
                if over.wait(0.05):
                    return
            step()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def interrupt() -> None:
    """Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_files_come_while_it_runs_and_after_a_restart(occurs, here, spark):
    lines = many(400)
    (here / "all.csv").write_text(HEAD + "\n".join(lines) + "\n")
    expected = answer(occurs, "--events", "all.csv", *SECONDS)
    assert len(expected) > 20
    for at in range(0, 400, 40):  # disorder that the watermark allows
        part = lines[at : at + 40]
        random.Random(at).shuffle(part)
        lines[at : at + 40] = part

    def come(name: str, some: list[str]) -> Callable[[], object]:
        return lambda: move_in(here / "in", name, HEAD + "\n".join(some) + "\n")

    (here / "in").mkdir()
    (here / "in" / "unfinished.csv.tmp").write_text("not for us")
    (here / "in" / "_SUCCESS").write_text("")
    come("first one.csv", lines[:70])()
    shared = (
        "--events",
        "in",
        "--out",
        "out",
        *SECONDS,
        "--watermark",
        "10 s",
        "--trigger",
        "100 ms",
        "--late",
        "late",
    )
    late = "Temp,1000,a,59"
    steps = [(70, come("b+%.csv", lines[70:200])), (200, come("c.csv", [late, *lines[200:220]])), (221, interrupt)]
    with meanwhile(here / "m.jsonl", steps):
        done = occurs(*FOLLOW, *shared, "--metrics", "m.jsonl")
    assert (done.status, done.out) == (0, ""), done.err
    assert "skipped 1 late row" in done.err
    assert rows_of(here / "late") == [{"type": "Temp", "time": 1000, "Area": "a", "Value": 59}]
    come("d.csv", lines[220:])()
    done = occurs(*FOLLOW, *shared, "--ended")
    assert done.status == 0, done.err
    assert rows(here / "out") == expected


@pytest.mark.long
@pytest.mark.spark
def test_a_record_is_replayed_to_its_end(occurs, here, spark, monkeypatch):
    monkeypatch.setattr(sources, "CHUNK", 70)
    (here / "all.csv").write_text(HEAD + "\n".join(many(200)) + "\n")
    expected = answer(occurs, "--events", "all.csv", *SECONDS, "--because")
    done = occurs(*FOLLOW, "--events", "all.csv", *SECONDS, "--because", "--metrics", "m.jsonl")
    assert done.status == 0, done.err
    found = sorted(map(json.loads, done.out.splitlines()), key=lambda r: (r["time"], str(r)))
    assert found == expected
    assert [f["rows"] for f in figures(here / "m.jsonl")] == [70, 70, 60, 0]
    # at 50 seconds a second: the same, in about a second
    fast = ("--speed", "50", "--checkpoint", "fast", "--out", "fast-out", "--out-format", "csv", "--trigger", "200ms")
    done = occurs("follow", "fire.tesla", "--events", "all.csv", *SECONDS, *fast)
    assert done.status == 0, done.err
    head, *lines = [line for p in sorted((here / "fast-out").glob("*.csv")) for line in p.read_text().splitlines()]
    assert head == "type,time,Area,Value"
    assert sorted(line for line in lines if line != head) == sorted(
        f"Fire,{r['time']},{r['Area']},{r['Value']}" for r in expected
    )


@pytest.mark.spark
@pytest.mark.long
def test_bad_rows_are_kept_or_refused(occurs, here, spark):
    (here / "in").mkdir()
    move_in(here / "in", "a.jsonl", '{"type": "Temp", "time": 100, "Area": "x", "Value": 50}\n')
    shared = (*FOLLOW, "--events", "in", "--out", "out", *SECONDS, "--bad", "bad")
    lines = [
        '{"type": "Smoke", "time": 101, "Area": "x", "Value": null}',
        '{"type": "Smoke", "time": "soon", "Area": "x"}',
        "{torn",
    ]
    move_in(here / "in", "b.jsonl", "\n".join(lines) + "\n")
    done = occurs(*shared, "--ended")
    assert done.status == 0, done.err
    assert rows(here / "out") == [FIRE | {"time": 101, "Area": "x"}]
    found = rows_of(here / "bad")
    assert sorted((Path(r["file"]).name, r["row"], r["reason"]) for r in found) == [
        ("b.jsonl", 2, "unreadable time"),
        ("b.jsonl", 3, "unreadable line"),
    ]
    assert "skipped 2 bad rows (unreadable time: 1, unreadable line: 1)" in done.err
    # without --bad they are refused, as `occurs run` does, and nothing is lost
    (here / "out2").mkdir()
    done = occurs("follow", "fire.tesla", "--checkpoint", "cp2", "--events", "in", "--out", "out2", *SECONDS, "--ended")
    assert done.status == 2
    assert "b.jsonl: error[bad-time]: row 2: " in done.err
    assert "b.jsonl: error[bad-value]: row 3: this line cannot be read: '{torn'" in done.err
    assert rows(here / "out2") == []


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_a_sink_that_fails_loses_nothing_and_rules_may_change(occurs, here, spark):
    (here / "in").mkdir()
    move_in(here / "in", "a.csv", HEAD + "Temp,1,a,50\nSmoke,2,a,\nDoor,3,a,\n")
    shared = ("--events", "in", "--out", "out", *SECONDS, "--trigger", "100 ms")

    def away() -> None:
        os.rename(here / "out", here / "away")
        move_in(here / "in", "b.csv", HEAD + "Smoke,4,a,\nTemp,5,b,60\nDoor,6,a,\n")

    with meanwhile(here / "m.jsonl", [(3, away)]):
        done = occurs(*FOLLOW, *shared, "--metrics", "m.jsonl")
    assert (done.status, done.out) == (1, "")
    assert "error[cannot-write]: --out out: No such file or directory" in done.err
    os.rename(here / "away", here / "out")
    with (here / "fire.tesla").open("a") as rules:
        rules.write("define Hot(Value) from Temp(Value > 40) where Value = Temp.Value\n")
    move_in(here / "in", "c.csv", HEAD + "Smoke,7,b,\nTemp,8,c,70\n")
    done = occurs(*FOLLOW, *shared, "--ranges", "2")
    assert done.status == 2
    assert "error[other-options]" in done.err
    assert "--ranges cannot change: it was " in done.err
    done = occurs(*FOLLOW, *shared, "--ended", "--buckets", "5")  # the micro-batch that failed is repeated before
    assert done.status == 0, done.err
    assert "to 5 buckets" in done.err
    assert "1 new, which read only later events; 1 unchanged" in done.err
    fires = [
        {"type": "Fire", "time": t, "Area": a, "Value": v} for t, a, v in ((2, "a", 50), (4, "a", 50), (7, "b", 60))
    ]
    found = rows(here / "out")
    assert [r for r in found if r["type"] == "Fire"] == fires
    assert {"type": "Hot", "time": 8, "Value": 70} in found
    assert not any(r["type"] == "Hot" and r["time"] < 4 for r in found)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.long
def test_stopped_at_any_point_of_closing_it_closes_at_the_next_start(occurs, here, spark, monkeypatch):
    (here / "in").mkdir()
    # the last instant has the detection: only closing judges it
    move_in(here / "in", "a.csv", HEAD + "Temp,1,a,50\nSmoke,2,a,\n")
    whole = (*FOLLOW, "--events", "in", "--out", "out", *SECONDS, "--ended")

    def full(*_: object) -> None:
        raise ResourceProblem.of("cannot-write", "the disk is full")

    for owner, name, written in ((Files, "write", 0), (Checkpoint, "tell_closing", 0), (Checkpoint, "note_closed", 1)):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, full)
            done = occurs(*whole)
        assert done.status == 1
        assert "the disk is full" in done.err
        assert len(rows(here / "out")) == written
        assert not (here / "cp" / "closed").exists()
    done = occurs(*whole)
    assert done.status == 0, done.err
    assert (here / "cp" / "closed").exists()
    assert rows(here / "out") == answer(occurs, "--events", "in", *SECONDS)
