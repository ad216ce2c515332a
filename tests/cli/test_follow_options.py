"""``occurs follow`` told something that cannot be: a clear error before Spark is started."""

from __future__ import annotations

import fcntl
import json

import pytest

from .conftest import EVENTS, RULES

FOLLOW = ("follow", "fire.tesla", "--checkpoint", "cp")

#: options -> status, what the message says
WRONG = {
    "no such directory": (("--events", "inn"), 2, "did you mean `in`?"),
    "no such file": (("--events", "event.csv"), 2, "did you mean `events.csv`?"),
    "no such file to replay": (("--events", "event.csv", "--speed", "2"), 2, "did you mean `events.csv`?"),
    "a directory and a file": (("-e", "in", "-e", "events.csv"), 2, "--events events.csv is a file, but others are"),
    "a directory twice": (("-e", "Smoke=in", "-e", "Temp=./in"), 2, "--events names in twice"),
    "with and without type": (("-e", "Smoke=in", "-e", "more"), 2, "use the same form for all"),
    "a speed of nothing": (("--events", "events.csv", "--speed", "0"), 2, "--speed 0"),
    "no watermark": (("--events", "in", "--watermark", "soon"), 2, "--watermark must be a duration, not 'soon'"),
    "an unknown unit": (("--events", "in", "--watermark", "3 sekonds"), 2, "did you mean `seconds`"),
    "no trigger": (("--events", "in", "--trigger", "often"), 2, "--trigger must be a duration"),
    "no buckets": (("--events", "in", "--buckets", "0"), 2, "--buckets 0"),
    "a file as output": (("--events", "in", "--out", "o.jsonl"), 2, "a stream writes to a directory"),
    "output over input": (("--events", "in", "--out", "in"), 2, "--out in would overwrite the file named by --events"),
    "output into the input": (("--events", "in", "--out", "in/out"), 2, "--out in/out is inside the directory in"),
    "notes into the input": (("--events", "in", "--metrics", "in/m.jsonl"), 2, "would be read as events"),
    "nowhere to write": (("--events", "in", "--out", "no/where"), 2, "there is no directory no"),
    "output on a file": (("--events", "in", "--out", "fire.tesla"), 2, "error["),
    "a file in the way": (("--events", "in", "--bad", "plain"), 1, "not a directory"),
    "late on stdout": (("--events", "in", "--late", "-"), 2, "stdout is for detections"),
    "metrics nowhere": (("--events", "in", "--metrics", "no/m.jsonl"), 1, "--metrics no/m.jsonl: No such file"),
    "an unknown type": (("--events", "in", "--only", "Fir"), 2, "did you mean `Fire`?"),
    "a clock that ends first": (
        ("--events", "in", "--start", "2024-02-01", "--until", "2024-01-01"), 2, "--start 2024-02-01 is after"
    ),
    "another time unit": (("--events", "in", "--time-unit", "s"), 2, "time unit `s` is for integer times"),
    "no kind of file": (("--events", "in", "--out-format", "xls"), 2, "--out-format"),
    "a topic and files": (("-e", "in", "-e", "kafka://localhost:9092/t"), 2, "Kafka topics cannot be combined"),
    "no address": (("--events", "kafka://localhost/t"), 2, "`localhost` is not HOST:PORT"),
    "a zone that is none": (("--events", "in", "--zone", "Rome"), 2, "`Rome` is not a time zone"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options(occurs, here, name):
    for folder in ("in", "more"):
        (here / folder).mkdir()
        (here / folder / "a.csv").write_text(EVENTS)
    (here / "plain").write_text("")
    arguments, status, message = WRONG[name]
    done = occurs(*FOLLOW, *arguments)
    assert (done.status, done.out) == (status, ""), done.err
    assert message in done.err
    assert not (here / "cp" / "occurs.json").exists()  # what was wrong binds nobody


def test_an_empty_directory_needs_declarations(occurs, here):
    (here / "in").mkdir()
    (here / "fire.tesla").write_text(RULES.replace("event ", "# event "))
    done = occurs(*FOLLOW, "--events", "in")
    assert (done.status, done.out) == (2, "")
    assert "error[missing-schema]: the attributes of `Smoke`, `Temp` are unknown" in done.err
    assert "hint: declare them in the rules, `event Smoke(Name: type, ..)`" in done.err


def test_bad_files_are_refused_before_the_start(occurs, here):
    (here / "in").mkdir()
    (here / "in" / "a.csv").write_text(EVENTS.replace("Value", "Valeu"))
    done = occurs(*FOLLOW, "--events", "in")
    assert (done.status, done.out) == (2, "")
    assert "column `Value` of `Temp` is declared but missing" in done.err
    assert "did you mean `Valeu`?" in done.err


def test_directories_that_are_something_else(occurs, here):
    (here / "in").mkdir()
    (here / "cp").mkdir()
    (here / "cp" / "thesis.txt").write_text("years of work")
    done = occurs(*FOLLOW, "--events", "in")
    assert done.status == 2
    assert "error[bad-checkpoint]: --checkpoint cp: the directory is not an Occurs checkpoint" in done.err
    assert [p.name for p in (here / "cp").iterdir()] == ["thesis.txt"]
    (here / "cp" / "occurs.json").write_text("{")
    done = occurs(*FOLLOW, "--events", "in")
    assert done.status == 2
    assert "occurs.json is damaged" in done.err
    (here / "cp" / "occurs.json").write_text(json.dumps({"version": 99, "id": "x"}))
    done = occurs(*FOLLOW, "--events", "in")
    assert done.status == 2
    assert "has version 99" in done.err
    (here / "out").mkdir()
    (here / "out" / "batch-000000000000.jsonl").write_text("{}")
    done = occurs("follow", "fire.tesla", "--checkpoint", "new", "--events", "in", "--out", "out")
    assert done.status == 2
    assert "files in it would be overwritten" in done.err
    done = occurs("follow", "fire.tesla", "--checkpoint", "fire.tesla", "--events", "in")
    assert done.status == 2
    assert "is a file, not a directory" in done.err


def test_one_follower_at_a_time(occurs, here):
    (here / "in").mkdir()
    (here / "cp").mkdir()
    with open(here / "cp" / "lock", "w") as lock:
        lock.write("4711\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = occurs(*FOLLOW, "--events", "in")
        assert done.status == 1
        assert "error[locked]" in done.err
        assert "is in use by another follower (process 4711)" in done.err
    # one that is left behind by a process that was killed is nobody's: what is refused now is something else
    done = occurs(*FOLLOW, "--events", "in", "--only", "Fir")
    assert "did you mean `Fire`?" in done.err
