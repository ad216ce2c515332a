"""The commands with definitions of what lasts, alone and beside rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

STATES = """input event stop(Vessel), go(Vessel).
input state in_port(Vessel, Port).
input fact kind(Vessel, Kind).
state stopped(V)   : stop(V) ~> go(V) where kind(V, 'cargo').
state moored(V, P) : stopped(V) ⊓ in_port(V, P).
event mooring(V, P) : start(moored(V, P)).
"""
RULES = """define Quick(V, P)
from mooring(V = $v, P = $p) and last stop(Vessel = $v) within 10 s from mooring
where V = $v, P = $p
"""
EVENTS = """type,time,end,vessel,port
stop,5,,1,
stop,6,,2,
in_port,8,12,1,Brest
go,20,,1,
in_port,30,,1,Brest
stop,32,,1,
in_port,33,33,1,Brest
"""


@pytest.fixture
def sea(here: Path) -> Path:
    (here / "states.phen").write_text(STATES)
    (here / "rules.tesla").write_text("event stop(Vessel: int)\n" + RULES)
    (here / "sea.csv").write_text(EVENTS)
    (here / "kinds.csv").write_text("vessel,kind\n1,cargo\n2,tug\n")
    return here


GIVEN = ("--events", "sea.csv", "--facts", "kind=kinds.csv", "--time-unit", "s")


def test_run_gives_what_lasts_with_its_end(occurs, sea):
    done = occurs("run", "states.phen", "rules.tesla", *GIVEN, "--host", "local")
    assert done.status == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [r for r in rows if r["type"] == "moored"] == [
        {"type": "moored", "time": 8, "end": 12, "V": 1, "P": "Brest"},
        {"type": "moored", "time": 32, "end": None, "V": 1, "P": "Brest"},
    ]
    assert [r for r in rows if r["type"] == "Quick"] == [
        {"type": "Quick", "time": 8, "V": 1, "P": "Brest"}, {"type": "Quick", "time": 32, "V": 1, "P": "Brest"},
    ]  # fmt: skip
    assert "skipped 1 interval of length 0" in done.err


def test_an_open_history_leaves_out_what_still_holds(occurs, sea):
    done = occurs("run", "states.phen", *GIVEN, "--host", "local", "--open", "--only", "moored,stopped")
    assert [json.loads(line)["end"] for line in done.out.splitlines()] == [20, 12]


def test_what_lasts_into_every_kind_of_file(occurs, sea):
    for suffix in ("jsonl", "csv", "parquet"):
        done = occurs("run", "states.phen", *GIVEN, "--host", "local", "--out", f"found.{suffix}", "--because")
        assert done.status == 0, done.err
        assert (sea / f"found.{suffix}").stat().st_size > 0
    assert '"end": null' in (sea / "found.jsonl").read_text() or '"end":null' in (sea / "found.jsonl").read_text()


def test_check_explain_and_verify(occurs, sea):
    done = occurs("check", "states.phen", "rules.tesla", *GIVEN)
    assert done.status == 0, done.err
    done = occurs("explain", "states.phen", "rules.tesla", *GIVEN)
    assert "moored: disjoint intervals, from " in done.out
    done = occurs("verify", "states.phen", "rules.tesla", *GIVEN)
    assert done.status == 0, done.out + done.err
    assert "engine and reference agree: 6 events" in done.out


def test_problems_have_their_place_in_the_file(occurs, sea):
    (sea / "wrong.phen").write_text("input event a(X).\nstate s(X) : a(X).\n")
    done = occurs("check", "wrong.phen")
    assert done.status == 2
    assert "wrong.phen:2:14: error[sort]" in done.err


def test_facts_have_a_declared_name(occurs, sea):
    done = occurs("run", "states.phen", "--events", "sea.csv", "--facts", "kinds=kinds.csv", "--host", "local")
    assert (done.status, done.out) == (2, "")
    assert "no definition of this program reads facts: `kinds`" in done.err
    assert "did you mean `kind`?" in done.err


def test_an_end_before_the_time_is_named(occurs, sea):
    (sea / "sea.csv").write_text(EVENTS + "in_port,40,39,1,Brest\n")
    done = occurs("run", "states.phen", *GIVEN, "--host", "local")
    assert done.status == 2
    assert "end before time" in done.err
    done = occurs("run", "states.phen", *GIVEN, "--host", "local", "--bad-rows", "skip")
    assert done.status == 0
    assert "skipped 1 bad row (end before time: 1)" in done.err


def test_windows(occurs, sea):
    given = ("run", "states.phen", *GIVEN, "--only", "moored,stopped", "--window", "20s", "--step", "10")
    done = occurs(*given, "--host", "local")
    assert done.status == 0, done.err
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [(r["query"], r["type"], r["time"], r["end"]) for r in rows] == [
        (10, "stopped", 5, None), (10, "moored", 8, None), (20, "stopped", 5, 20), (20, "moored", 8, 12),
        (30, "stopped", 5, 20), (30, "moored", 8, 12),
        (40, "stopped", 32, None), (40, "moored", 32, None),
    ]  # fmt: skip
    done = occurs("run", "states.phen", "rules.tesla", *given[2:], "--host", "local")
    assert (done.status, "error[unsupported]" in done.err) == (2, True), done.err


@pytest.mark.spark
@pytest.mark.slow
def test_windows_on_spark_write_the_same(occurs, sea, spark):
    """What nobody reads moves the clock, and that it begins somewhere is no start that was asked for."""
    (sea / "sea.csv").write_text(EVENTS + "in_port,30,,1,\nin_port,30,34,1,Ouessant\nother,3,,,\nother,61,,,\n")
    given = ("run", "states.phen", *GIVEN, "--window", "20s", "--step", "10", "--because")
    written = []
    for host in ("local", "spark"):
        done = occurs(*given, "--host", host, "--out", f"{host}.csv")
        assert done.status == 0, done.err
        written.append((sea / f"{host}.csv").read_text())
    assert written[0] == written[1]
    first = written[0].splitlines()[1].split(",")
    assert (first[0], first[5]) == ("stopped", "10")
