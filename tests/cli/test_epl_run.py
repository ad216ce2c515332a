"""``occurs run`` and ``occurs follow`` with rules in EPL: guards, absence, chains, side outputs, limits, restarts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .test_follow import interrupt, meanwhile, move_in

RULES = """
create schema Smoke(area string);
create schema Temp(area string, value double);
insert into Risk select s.area as area, t.value as value
from pattern [every s=Smoke -> t=Temp(area = s.area, value > 45) where timer:within(5 min)];
insert into Silent select t.area as area
from pattern [every t=Temp -> (timer:interval(4 min) and not Temp(area = t.area))];
insert into Alarm select r1.area as area, r2.value as value
from pattern [every r1=Risk -> r2=Risk(area = r1.area) where timer:within(20 min)];
"""
EVENTS = [
    ("Smoke", 0, "hall", None),
    ("Temp", 1, "hall", 60.0),
    ("Smoke", 2, "yard", None),
    ("Temp", 3, "hall", 20.0),
    ("Temp", 7, "yard", 70.0),
    ("Smoke", 8, "hall", None),
    ("Door", 9, "hall", None),
    ("Temp", 10, "hall", 50.0),
    ("Temp", 12, "yard", 30.0),
    ("Door", 40, "hall", None),
]
FOUND = {
    ("Risk", 1, "hall", 60.0),
    ("Risk", 10, "hall", 50.0),
    ("Silent", 7, "hall", None),
    ("Silent", 11, "yard", None),
    ("Silent", 14, "hall", None),
    ("Silent", 16, "yard", None),
    ("Alarm", 10, "hall", 50.0),
}
#: statement, minute, the event that waited
ENDED = {
    ("Risk", 7, "s", "yard"),
    ("Alarm", 30, "r1", "hall"),
}


def csv(events: list[tuple[str, int, str, float | None]]) -> str:
    rows = [f"{t},2024-01-05T09:{m:02}:00Z,{area},{'' if v is None else v}" for t, m, area, v in events]
    return "\n".join(["type,time,area,value", *rows]) + "\n"


def minute(row: dict[str, Any]) -> int:
    return int(row["time"][14:16])


def found(lines: list[str]) -> set[tuple[Any, ...]]:
    rows = [json.loads(line) for line in lines]
    out = {(r["type"], minute(r), r["area"], r.get("value")) for r in rows}
    assert len(out) == len(rows)
    return out


def ended(lines: list[str]) -> set[tuple[Any, ...]]:
    rows = [json.loads(line) for line in lines]
    out = set()
    for r in rows:
        events = {n: e for n, e in r.items() if n not in ("type", "time") and e is not None}
        ((tag, event),) = events.items()
        out.add((r["type"], minute(r), tag, event["area"]))
    assert len(out) == len(rows)
    return out


def lines_in(folder: Path) -> list[str]:
    return [line for p in sorted(folder.glob("*.jsonl")) for line in p.read_text().splitlines()]


@pytest.fixture
def fire(here: Path) -> Path:
    (here / "fire.epl").write_text(RULES)
    (here / "minutes.csv").write_text(csv(EVENTS))
    return here


def test_run_writes_what_guards_have_ended(occurs, fire):
    done = occurs("run", "fire.epl", "--events", "minutes.csv", "--host", "local", "--timeouts", "ended.jsonl")
    assert done.status == 0, done.err
    assert found(done.out.splitlines()) == FOUND
    assert ended((fire / "ended.jsonl").read_text().splitlines()) == ENDED
    assert done.err.splitlines()[-1] == "timed-out partial matches: Risk: 1, Alarm: 1"
    # other formats, with labels; one file a statement in a directory
    for target in ("ended.csv", "ended"):
        done = occurs("run", "fire.epl", "--events", "minutes.csv", "--host", "local", "--label", "--timeouts", target)
        assert done.status == 0, done.err
    head, *rows = (fire / "ended.csv").read_text().splitlines()
    assert head == "type,time,s,t,r1,r2,label"
    assert len(rows) == 2
    assert sorted(p.name for p in (fire / "ended").iterdir()) == ["Alarm.parquet", "Risk.parquet"]


def test_programs_without_guards(occurs, fire):
    (fire / "plain.epl").write_text("create schema A(k string); select a.k as k from pattern [every a=A];")
    (fire / "a.csv").write_text("type,time,k\nA,2024-01-05T09:00:00Z,x\n")
    done = occurs("run", "plain.epl", "--events", "a.csv", "--host", "local", "--timeouts", "out.jsonl")
    assert (done.status, done.out) == (2, "")
    assert "timeouts: no definition of this program can time out" in done.err
    assert "EPL patterns with `timer:within`" in done.err
    assert not (fire / "out.jsonl").exists()


@pytest.mark.parametrize("many", ["1", "2"])
def test_more_partial_matches_than_allowed(occurs, fire, many):
    (fire / "wait.epl").write_text(
        "create schema Smoke(area string); create schema Bell(area string);"
        "@Name('wait') insert into Wait select s.area as area from pattern [every s=Smoke -> b=Bell];"
    )
    (fire / "smoke.csv").write_text(csv([("Smoke", m, "hall", None) for m in range(2)]))
    options = ("--events", "smoke.csv", "--host", "local", "--max-instances", many)
    done = occurs("run", "wait.epl", *options)
    if many == "2":
        assert done.status == 0, done.err
        return
    assert (done.status, done.out) == (1, "")
    assert "error[max-instances]: `Wait`: more than 1 partial matches" in done.err
    assert "--max-instances" in done.err
    assert occurs("run", "wait.epl", *options[:-1], "0").status == 2


@pytest.mark.spark
@pytest.mark.long
def test_follow_gives_what_run_gives_over_a_restart(occurs, fire, spark):
    """Guards, absence by a timer, a chain; the checkpoint is taken up again in the middle, while all of them wait."""
    (fire / "in").mkdir()
    shared = ("follow", "fire.epl", "--events", "in", "--out", "out", "--timeouts", "ended", "--checkpoint", "cp")
    move_in(fire / "in", "1.csv", csv(EVENTS[:6]))
    with meanwhile(fire / "m.jsonl", [(6, interrupt)]):
        done = occurs(*shared, "--buckets", "2", "--metrics", "m.jsonl", "--trigger", "200 ms")
    assert done.status == 0, done.err
    assert found(lines_in(fire / "out")) == {f for f in FOUND if f[1] < 8}
    assert ended(lines_in(fire / "ended")) == {e for e in ENDED if e[1] < 8}
    assert "timed-out partial matches: Risk: 1, Alarm: 0" in done.err
    move_in(fire / "in", "2.csv", csv(EVENTS[6:]))
    done = occurs(*shared, "--buckets", "2", "--ended")
    assert done.status == 0, done.err
    assert found(lines_in(fire / "out")) == FOUND
    assert ended(lines_in(fire / "ended")) == ENDED
