"""The other commands, and what all have in common."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import RULES


def test_the_commands_are_the_modules(occurs):
    done = occurs("--help")
    assert done.status == 0
    for name in ("check", "explain", "run", "verify"):
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
    assert "warning[" in done.err


#: `not .. within 0` can never block
WARNS = "define X(V) from A() and not B() within 0 ms from A where V = A.V"


def test_explain_tells_the_plan_on_stdout(occurs):
    done = occurs("explain", "fire.tesla")
    assert done.status == 0
    assert "Fire" in done.out
    assert "Area" in done.out
    assert occurs("explain", "fire.tesla", "--events", "events.csv").status == 0


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
