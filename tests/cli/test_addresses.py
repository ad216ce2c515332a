"""Events at addresses: Spark reaches them, and the answer is that of the same files on this machine."""

from __future__ import annotations

import gzip
import json

import pytest

from occurs.follow.addresses import _first

from .conftest import EVENTS, FIRE
from .test_follow import rows

LATER = {**FIRE, "time": "2024-01-05T10:01:00Z", "Value": 60}


@pytest.mark.spark
def test_a_history_at_an_address(occurs, here, spark):
    done = occurs("run", "fire.tesla", "-e", f"file://{here}/events.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE), done.err
    assert f"running on Spark: file://{here}/events.csv is an address that Spark reads" in done.err
    assert "5 events read" in done.err
    (here / "temps").mkdir()
    (here / "temps" / "a.jsonl").write_text('{"time": "2024-01-05T09:00:00Z", "Area": "kitchen", "Value": 50}\n')
    (here / "smokes.csv").write_text("time,Area\n2024-01-05T09:04:00Z,kitchen\n")
    done = occurs("run", "fire.tesla", "-e", f"Temp=file://{here}/temps/*.jsonl", "-e", "Smoke=smokes.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE), done.err
    done = occurs("run", "fire.tesla", "-e", f"file://{here}/events.csv", "--host", "local")
    assert (done.status, json.loads(done.out)) == (0, FIRE), done.err


@pytest.mark.slow
@pytest.mark.spark
def test_a_stream_at_an_address(occurs, here, spark):
    (here / "in" / "day").mkdir(parents=True)
    (here / "in" / "a.csv.gz").write_bytes(gzip.compress(EVENTS.encode()))
    follow = ("follow", "fire.tesla", "-e", f"file://{here}/in", "--checkpoint", "cp", "--out", "out", "--bad", "bad")
    later = [{"type": "Temp", "time": "2024-01-05T10:00:00Z", "Area": "kitchen", "Value": 60}]
    later.append({"type": "Smoke", "time": LATER["time"], "Area": "kitchen"})
    (here / "in" / "day" / "b [1] %20.jsonl").write_text("\n".join(map(json.dumps, later)) + "\nno row\n")
    (here / "in" / ".c.jsonl").write_text("nor this\n")
    done = occurs(*follow, "--ended")
    assert done.status == 0, done.err
    assert rows(here / "out") == [FIRE, LATER]
    [bad] = [json.loads(p.read_text()) for p in (here / "bad").glob("*.jsonl")]
    assert (bad["reason"], bad["row"]) == ("unreadable line", 3)
    assert bad["file"].endswith(f"{here}/in/day/b [1] %20.jsonl")


def test_the_first_look_fetches_some_bytes_and_at_least_one_file():
    files = [("a", 5), ("b", 3), ("c", 9), ("d", 0)]
    assert _first(files, 8) == ["a", "b"]
    assert _first(files, 4) == ["a"]
    assert _first([], 4) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "-e", "s3a://b/events"), "--events s3a://b/events: the format of these files is not known"),
        (("run", "-e", "s3a://b/events.csv.zst"), "s3a://b/events.csv.zst: Spark cannot read .zst files"),
        (("follow", "-e", "s3a://b/events.csv"), "--events s3a://b/events.csv is a file; `occurs follow` reads"),
        (("follow", "-e", "s3a://b/x", "-e", "s3a://b/x/"), "--events names s3a://b/x twice"),
        (("follow", "-e", "s3a://b/x", "-e", "A=s3a://b/y"), "some --events have a type column, others are given as"),
        (("follow", "-e", "s3a://b/x", "-e", "events.csv"), "addresses cannot be combined with files on this machine"),
    ],
)
def test_what_an_address_must_say(occurs, arguments, message):
    command, *more = arguments
    done = occurs(command, "fire.tesla", *more, *(["--checkpoint", "cp"] if command == "follow" else []))
    assert done.status != 0
    assert message in done.err


@pytest.mark.spark
@pytest.mark.parametrize("command", ["run", "follow"])
def test_an_address_without_files(occurs, here, spark, command):
    more = ["--checkpoint", "cp"] if command == "follow" else ["--format", "csv"]
    done = occurs(command, "fire.tesla", "-e", f"file://{here}/nothing", *more)
    assert done.status != 0
    assert "error[missing-file]: there are no " in done.err
    done = occurs(command, "fire.tesla", "-e", "nowhere://b/events", *more)
    assert done.status != 0
    assert "error[spark-failed]: --events nowhere://b/events: the Spark job failed: No FileSystem" in done.err
