"""``occurs follow`` with definitions of what lasts: rows with ends, facts, restarts."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import occurs as occurs_package
from occurs.cli.follow import _summary
from occurs.connect.files import read_sources
from occurs.errors import InputProblem
from occurs.follow.metrics import Totals
from occurs.follow.wide import Expected, Pinned, wide
from occurs.model.history import InputOptions

STATES = """input event stop(Vessel), go(Vessel).
input state in_port(Vessel, Port).
input state watch(Vessel) as changes.
input fact kind(Vessel, Kind).
state stopped(V)    : stop(V) ~> go(V) where kind(V, 'cargo').
state moored(V, P)  : stopped(V) ⊓ in_port(V, P).
state alone(V)      : stopped(V) \\ watch(V).
event mooring(V, P) : start(moored(V, P)).
"""
QUICK = """event stop(Vessel: int)
define Quick(V, P)
from mooring(V = $v, P = $p) and last stop(Vessel = $v) within 10 s from mooring
where V = $v, P = $p
"""
EVENTS = """type,time,end,vessel,port,holds
stop,5,,1,,
stop,6,,2,,
in_port,8,12,1,Brest,
watch,10,,1,,true
watch,14,,1,,false
go,20,,1,,
in_port,30,,1,Brest,
stop,32,,1,,
in_port,33,33,1,Brest,
buoy,33,60,,,
"""
BAD = """type,time,end,vessel,port,holds
stop,34,36,1,,
watch,35,,1,,
stopped,36,40,1,,
in_port,37,31,1,Brest,
"""
GIVEN = ("--time-unit", "s", "--facts", "kind=kinds.csv")


@pytest.fixture
def sea(here: Path) -> Path:
    (here / "states.phen").write_text(STATES)
    (here / "quick.tesla").write_text(QUICK)
    (here / "kinds.csv").write_text("vessel,kind\n1,cargo\n2,tug\n")
    (here / "in").mkdir()
    (here / "in" / "1.csv").write_text(EVENTS)
    return here


def expected(until: int | None = None, bad_rows: Any = "error") -> tuple[Expected, Any]:
    program, options = occurs_package.load("states.phen"), InputOptions(time_unit="s", bad_rows=bad_rows)
    sources = read_sources(["in/1.csv"], schemas=program.declared)
    pinned = Pinned.of(program.checked, program.checked.history(sources, options), sources, options)
    assert Pinned.load(json.loads(json.dumps(pinned.entry()))) == pinned
    return Expected.of(program.checked, pinned, options, (None, until), False), sources


def test_rows_have_their_ends_and_what_ends_after_the_clock_still_holds(sea):
    rows, sources = expected()
    assert rows.pinned.end
    found = {(r["__type"], r["__time"]): r["__end"] for r in wide(sources, rows).to_pylist()}
    assert (found["in_port", 8], found["in_port", 30], found["stop", 5], found["buoy", 33]) == (12, None, None, 60)
    rows, _ = expected(until=50)
    found = {(r["__type"], r["__time"]): r["__end"] for r in wide(sources, rows).to_pylist()}
    assert (found["in_port", 8], found["buoy", 33]) == (12, None)


def test_what_only_definitions_make_and_events_that_end_are_bad(sea):
    (sea / "bad.csv").write_text(BAD)
    rows, _ = expected(bad_rows="skip")
    sources = read_sources(["bad.csv"], schemas=occurs_package.load("states.phen").declared)
    bad = [json.loads(r["__bad"]) for r in wide(sources, rows).to_pylist() if r["__state"] == 2]
    assert sorted((b["row"], b["found"][0]["r"]) for b in bad) == [
        (1, "interval of a type that is declared as an event"), (2, "null holds"),
        (3, "row of a type that the rules derive"),
        (4, "end before time"),
    ]  # fmt: skip
    with pytest.raises(InputProblem, match="row of a type that the rules derive"):
        wide(sources, replace(rows, options=replace(rows.options, bad_rows="error")))


def test_late_rows_may_be_those_that_are_delivered_at_their_ends(capsys):
    totals = Totals()
    totals.counts["late"] = 3
    _summary(totals, 1.0, ["in_port"])
    told = capsys.readouterr().err
    assert "skipped 3 late rows" in told
    assert "an interval of `in_port` belongs to its start" in told
    _summary(totals, 1.0, [])
    assert "hint" not in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.spark
def test_two_languages_until_the_end(occurs, sea, spark):
    rules = ("states.phen", "quick.tesla")
    follow = ("follow", *rules, *GIVEN, "--events", "in", "--checkpoint", "cp", "--out", "out", "--ended")
    done = occurs(*follow, "--metrics", "m.jsonl")
    assert (done.status, done.out) == (0, ""), done.err
    found = [json.loads(line) for p in sorted((sea / "out").glob("*.jsonl")) for line in p.read_text().splitlines()]
    done = occurs("run", *rules, *GIVEN, "--events", "in", "--host", "local")
    wanted = [json.loads(line) for line in done.out.splitlines()]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    assert {"type": "moored", "time": 32, "end": None, "V": 1, "P": "Brest"} in found
    assert {"type": "Quick", "time": 8, "V": 1, "P": "Brest"} in found
    told = [json.loads(line) for line in (sea / "m.jsonl").read_text().splitlines()]
    # the end of a row that nobody reads is the end of the clock
    assert [t["frontier"] for t in told] == [32, 60]
    assert sum(t["empty"] for t in told) == 1
    # what was derived with other facts cannot be taken back
    os.remove(sea / "cp" / "closed")
    (sea / "kinds.csv").write_text("vessel,kind\n1,cargo\n2,cargo\n")
    done = occurs(*follow)
    assert done.status == 2
    assert "--facts cannot change: it was kind (2 rows" in done.err


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.spark
def test_what_still_holds_is_told_beforehand(occurs, sea, spark):
    rules = ("states.phen", "quick.tesla")
    follow = ("follow", *rules, *GIVEN, "--events", "in", "--checkpoint", "cp", "--out", "out", "--ended")
    done = occurs(*follow, "--provisional")
    assert (done.status, done.out) == (0, ""), done.err
    found = [json.loads(line) for p in sorted((sea / "out").glob("*.jsonl")) for line in p.read_text().splitlines()]
    final = [{n: v for n, v in row.items() if n != "final"} for row in found if row["final"]]
    done = occurs("run", *rules, *GIVEN, "--events", "in", "--host", "local")
    assert sorted(map(repr, final)) == sorted(map(repr, map(json.loads, done.out.splitlines())))
    assert {(row["type"], row["time"], row["end"]) for row in found if not row["final"]} == {
        ("stopped", 32, None), ("moored", 32, None),
    }  # fmt: skip
    os.remove(sea / "cp" / "closed")
    done = occurs(*follow)
    assert (done.status, "--provisional cannot change" in done.err) == (2, True), done.err
    done = occurs(*follow, "--window", "10", "--step", "10")
    assert (done.status, "error[unsupported]" in done.err) == (2, True), done.err
