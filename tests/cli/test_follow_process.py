"""``occurs follow`` as a process of its own: killed at any point, interrupted, started twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .test_follow import HEAD, SECONDS, answer, figures, many, move_in, rows

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.long]
#: seconds after which a process that does nothing is given up
PATIENCE = 600


def start(here: Path, *arguments: str) -> subprocess.Popen[str]:
    """In a process group of its own, so that its Java can be killed with it."""
    whole = [sys.executable, "-m", "occurs.cli", "follow", "fire.tesla", "--checkpoint", "cp", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(whole, cwd=here, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


def wait_for(process: subprocess.Popen[str], what: Callable[[], bool]) -> None:
    for _ in range(PATIENCE * 20):
        if what():
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail(f"it did not come to it: {process.communicate()}")


def test_killed_and_restarted_it_ends_with_the_answer_of_run(occurs, here):
    lines = many(800)
    (here / "all.csv").write_text(HEAD + "\n".join(lines) + "\n")
    expected = answer(occurs, "--events", "all.csv", *SECONDS)
    assert len(expected) > 40
    parts = [HEAD + "\n".join(lines[at : at + 100]) + "\n" for at in range(0, 800, 100)]
    (here / "in").mkdir()

    def come(number: int) -> None:
        move_in(here / "in", f"{number}.csv", parts[number])

    shared = ("--events", "in", "--out", "out", *SECONDS, "--trigger", "100ms")
    draw = random.Random()
    come(0)
    for kill in (1, 2):
        before = len(figures(here / "m.jsonl"))
        process = start(here, *shared, "--metrics", "m.jsonl")
        come(2 * kill - 1)
        wait_for(process, lambda before=before: len(figures(here / "m.jsonl")) > before)
        come(2 * kill)
        time.sleep(draw.uniform(0, 3))  # anywhere in the micro-batch that follows
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    for number in (5, 6, 7):
        come(number)
    process = start(here, *shared, "--ended")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, ""), err
    assert rows(here / "out") == expected


def test_sigterm_ends_it_after_the_micro_batch_and_no_second_one_starts(occurs, here):
    (here / "in").mkdir()
    process = start(here, "--events", "in", *SECONDS)
    wait_for(process, lambda: (here / "cp" / "occurs.json").exists())
    done = occurs("follow", "fire.tesla", "--checkpoint", "cp", "--events", "in", *SECONDS)
    assert done.status == 1
    assert f"is in use by another follower (process {process.pid})" in done.err
    (here / "in" / "a.csv").write_text(HEAD + "Temp,1,a,50\nSmoke,2,a,\nDoor,3,a,\n")
    assert process.stdout is not None
    assert json.loads(process.stdout.readline()) == {"type": "Fire", "time": 2, "Area": "a", "Value": 50}
    process.terminate()
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, ""), err
    assert "3 events read, 1 detection (Fire: 1) in 1 micro-batch," in err
