"""``occurs follow --window --step`` as a process of its own: stopped and started again, it answers as ``run`` does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .test_follow import figures, move_in
from .test_follow_process import PATIENCE, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]

RULES = """input event stop(Vessel), go(Vessel).
input state in_port(Vessel, Port).
state stopped(V)    : stop(V) ~> go(V).
state moored(V, P)  : stopped(V) ⊓ in_port(V, P).
event mooring(V, P) : start(moored(V, P)).
"""
HEAD = "type,time,end,vessel,port\n"
PARTS = (
    HEAD + "stop,5,,1,\nstop,6,,2,\nin_port,8,12,1,Brest\ngo,20,,1,\n",
    HEAD + "in_port,33,36,1,Brest\nstop,32,,1,\ngo,61,,2,\n",
)
WINDOWS = ("--time-unit", "s", "--events", "in", "--window", "20s", "--step", "10")


def sorted_rows(lines: list[str]) -> list[str]:
    return sorted(repr(json.loads(line)) for line in lines)


def test_stopped_and_started_again_it_has_the_rows_of_run(occurs, here: Path) -> None:
    (here / "states.phen").write_text(RULES)
    (here / "in").mkdir()
    move_in(here / "in", "1.csv", PARTS[0])
    whole = [
        sys.executable,
        "-m",
        "occurs.cli",
        "follow",
        "states.phen",
        "--checkpoint",
        "cp",
        "--out",
        "out",
        *WINDOWS,
    ]
    pipe = subprocess.PIPE

    def start(*more: str) -> subprocess.Popen[str]:
        return subprocess.Popen([*whole, *more], cwd=here, stdout=pipe, stderr=pipe, text=True, start_new_session=True)

    process = start("--metrics", "m.jsonl")
    wait_for(process, lambda: len(figures(here / "m.jsonl")) >= 1)
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, ""), err
    first = [line for p in (here / "out").glob("*.jsonl") for line in p.read_text().splitlines()]
    # a query is answered as soon as its time is final
    assert {json.loads(line)["query"] for line in first} <= {10, 20}
    move_in(here / "in", "2.csv", PARTS[1])
    process = start("--ended")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, ""), err
    found = [line for p in (here / "out").glob("*.jsonl") for line in p.read_text().splitlines()]
    done = occurs("run", "states.phen", *WINDOWS, "--host", "local")
    assert len(found) == 23
    assert sorted_rows(found) == sorted_rows(done.out.splitlines())
