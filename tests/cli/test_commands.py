"""The other commands, and what all have in common."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .conftest import RULES


def test_the_commands_are_the_modules(occurs):
    done = occurs("--help")
    assert done.status == 0
    for name in ("check", "explain", "follow", "run", "verify"):
        assert f"\n  {name} " in done.out
        assert occurs(name, "--help").status == 0
    assert occurs("--version").out.startswith("occurs")
    assert occurs("rnu").status == 2


def test_check_names_all_problems(occurs, here):
    done = occurs("check", "fire.tesla")
    assert (done.status, done.out) == (0, "")
    (here / "other.tesla").write_text("define X(V) from Smoke() where V = Smoke.Aera, W = 1")
    (here / "fire.tesla").write_text(RULES.replace("where  Area = $a", "where  Area = $b"))
    done = occurs("check", "fire.tesla", "other.tesla")
    assert (done.status, done.out) == (2, "")
    assert "fire.tesla:" in done.err
    assert "other.tesla:1:" in done.err
    assert "did you mean" in done.err


def test_check_names_what_is_wrong_beside_wrong_syntax(occurs, here):
    (here / "two.tesla").write_text("define X( from A();\ndefine Y(V) from A() where V = B.q\ndefine Z() fro A()\n")
    done = occurs("check", "two.tesla")
    assert done.status == 2
    heads = [line.split(" ")[:2] for line in done.err.splitlines() if line.startswith("two.tesla")]
    assert heads == [
        ["two.tesla:1:16:", "error[syntax]:"],
        ["two.tesla:2:32:", "error[unknown-name]:"],
        ["two.tesla:3:12:", "error[syntax]:"],
    ]


def test_check_with_events_sees_the_schemas(occurs, here):
    (here / "free.tesla").write_text("define X(V) from Smoke() where V = Smoke.Aera")
    assert occurs("check", "free.tesla").status == 0
    done = occurs("check", "free.tesla", "--events", "events.csv")
    assert done.status == 2
    assert "did you mean `Area`?" in done.err


def test_strict_makes_errors_of_warnings(occurs, here):
    (here / "w.tesla").write_text(WARNS)
    assert occurs("check", "w.tesla").status == 0
    done = occurs("check", "w.tesla", "--strict")
    assert done.status == 2
    assert "error[" in done.err


#: `not .. within 0` can never block
WARNS = "define X(V) from A() and not B() within 0 ms from A where V = A.V"


def test_explain_tells_the_plan_on_stdout(occurs):
    done = occurs("explain", "fire.tesla")
    assert done.status == 0
    assert "Fire" in done.out
    assert "Area" in done.out
    assert occurs("explain", "fire.tesla", "--events", "events.csv").status == 0


def test_explain_prints_the_plan_as_json(occurs):
    plan = json.loads(occurs("explain", "fire.tesla", "--json").out)
    assert [group["types"] for group in plan["spark"]] == [["Fire"]]


def test_verify_compares_with_the_reference(occurs):
    done = occurs("verify", "fire.tesla", "--events", "events.csv")
    assert done.status == 0
    assert "agree" in done.out


def test_verify_that_differs_is_status_1(occurs, monkeypatch):
    from occurs.program import Program

    class Differs:
        equal, report = False, "they differ"

    monkeypatch.setattr(Program, "verify", lambda *_, **__: Differs())
    done = occurs("verify", "fire.tesla", "--events", "events.csv")
    assert (done.status, done.out) == (1, "they differ\n")


def test_an_interrupt_is_status_130(occurs, monkeypatch):
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("occurs.load", interrupt)
    assert occurs("check", "fire.tesla").status == 130


def test_a_limit_is_status_1(occurs, monkeypatch):
    from occurs.errors import LimitProblem

    def limited(*_: object, **__: object) -> None:
        raise LimitProblem.of("too-many", "more than 7")

    monkeypatch.setattr("occurs.load", limited)
    done = occurs("check", "fire.tesla")
    assert (done.status, done.err) == (1, "error[too-many]: more than 7\n")


@pytest.mark.slow
def test_a_pipe_that_closes_is_no_error(here):
    events = "type,time,Area,Value\n" + "".join(f"Temp,{i},a,50\nSmoke,{i},a,\n" for i in range(50_000))
    (here / "events.csv").write_text(events)
    command = [sys.executable, "-m", "occurs.cli", "run", "fire.tesla", "--host", "local", "--events", "events.csv"]
    text = " ".join([*command, "--time-unit", "s", "| head -1"])
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {text}"], capture_output=True, text=True, check=False)
    assert done.stdout.startswith('{"type": "Fire"')
    assert "Traceback" not in done.stderr


def test_verify_finds_what_is_different(occurs, monkeypatch):
    from occurs.operators.columns import Column

    honest = Column.output
    monkeypatch.setattr(Column, "output", lambda self, *given: honest(Column.nulls(self.type, len(self)), *given))
    done = occurs("verify", "fire.tesla", "--events", "events.csv")
    assert done.status == 1
    assert "missing (1):\n  Fire@" in done.out
    assert "unexpected (1):\n  Fire@" in done.out
    assert "Value=50" in done.out


def test_verify_takes_no_more_events_than_it_is_told(occurs):
    done = occurs("verify", "fire.tesla", "--events", "events.csv", "--max-events", "3")
    assert done.status == 1
    assert "error[max-events]: 4 events" in done.err


@pytest.mark.parametrize("command", ["run", "check", "explain", "verify"])
def test_facts_are_refused_where_no_definition_reads_them(occurs, here, command):
    (here / "rooms.csv").write_text("Area,Floor\nhall,1\n")
    host = ["--host", "local"] if command == "run" else []
    done = occurs(command, "fire.tesla", "--events", "events.csv", "--facts", "Room=rooms.csv", *host)
    assert (done.status, done.out) == (2, "")
    assert "error[unsupported]: no definition of this program reads facts: `Room`" in done.err
    done = occurs(command, "fire.tesla", "--events", "events.csv", "--facts", "rooms.csv", *host)
    assert done.status == 2
    assert "NAME=PATH" in done.err


@pytest.mark.parametrize("command", ["run", "check", "explain", "verify"])
def test_a_zone_that_is_none_is_refused(occurs, command):
    host = ["--host", "local"] if command == "run" else []
    done = occurs(command, "fire.tesla", "--events", "events.csv", "--zone", "Rome", *host)
    assert (done.status, done.out) == (2, "")
    assert "`Rome` is not a time zone" in done.err


def test_the_zone_is_that_of_the_timers(occurs, here):
    rule = "define Nine() from Timer(H = 9)\ndefine Tokyo() from Timer(H = 9, TZ = 'Asia/Tokyo')"
    (here / "nine.tesla").write_text(rule)
    (here / "a.csv").write_text("type,time\nA,2024-07-01T00:00:00Z\nA,2024-07-01T12:00:00Z\n")
    run = ("run", "nine.tesla", "--host", "local", "--events", "a.csv")
    times = [json.loads(line)["time"][11:13] for line in occurs(*run, "--zone", "Europe/Rome").out.splitlines()]
    assert times == ["00", "07"]
    assert '"2024-07-01T09:00:00Z"' in occurs(*run).out


def test_strict_and_bounds_hold_in_a_run(occurs, here):
    (here / "w.tesla").write_text(WARNS)
    (here / "a.csv").write_text("type,time,V\nA,2024-07-01T00:00:00Z,1\n")
    run = ("run", "w.tesla", "--host", "local", "--events", "a.csv")
    done = occurs(*run)
    assert done.status == 0
    assert "warning[never-blocks]" in done.err
    done = occurs(*run, "--strict")
    assert (done.status, done.out) == (2, "")
    # the state of every TESLA rule is bounded
    assert occurs(*run, "--require-bounds").status == 0


def test_a_table_without_types_is_of_the_only_input_that_no_rule_defines(occurs, here):
    (here / "two.tesla").write_text("define X(V) from A() where V = A.V\ndefine Y(V) from X() where V = X.V")
    (here / "a.csv").write_text("time,V\n1,7\n")
    done = occurs("run", "two.tesla", "--host", "local", "--events", "a.csv")
    assert [json.loads(line) for line in done.out.splitlines()] == [
        {"type": "X", "time": 1, "V": 7},
        {"type": "Y", "time": 1, "V": 7},
    ]


def test_tables_may_be_given_under_the_numbers_of_their_types(occurs, here):
    text = "Assign 1 => A, 2 => B\ndefine X(V) from A() and last B() within 5 ms from A where V = B.V"
    (here / "numbers.tesla").write_text(text)
    (here / "a.csv").write_text("time\n3\n")
    (here / "b.csv").write_text("time,V\n1,7\n")
    for b in ("2", "B"):
        events = ("-e", "1=a.csv", "-e", f"{b}=b.csv", "--time-unit", "ms")
        done = occurs("run", "numbers.tesla", *events, "--host", "local")
        assert (done.status, json.loads(done.out)) == (0, {"type": "X", "time": 3, "V": 7})


def test_check_and_explain_with_bad_events(occurs, here):
    (here / "events.csv").write_text("type,time,Area,Value\nTemp,soon,a,1\n")
    for command in ("check", "explain", "verify"):
        done = occurs(command, "fire.tesla", "--events", "events.csv")
        assert (done.status, done.out) == (2, "")
        assert "events.csv: error[bad-time]: row 1: unreadable time" in done.err
    done = occurs("check", "fire.tesla", "--events", "events.csv", "--bad-rows", "skip")
    assert done.status == 0
    assert "skipped 1 bad row" in done.err
