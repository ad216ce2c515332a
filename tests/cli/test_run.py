"""``occurs run``: what comes out, where, and with which exit status."""

from __future__ import annotations

import json
import sys

import pyarrow.parquet as pq
import pytest

from occurs.cli import _input
from occurs.connect import spark as sparks

from .conftest import EVENTS, FIRE, RULES

LOCAL = ("run", "fire.tesla", "--host", "local", "--events")


def test_detections_on_stdout_and_counts_on_stderr(occurs):
    done = occurs(*LOCAL, "events.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "5 events read, 1 detection (Fire: 1) in " in done.err


@pytest.mark.parametrize("name", ["o.csv", "o.jsonl", "o.parquet", "folder"])
def test_detections_in_a_file(occurs, here, name):
    done = occurs(*LOCAL, "events.csv", "--out", name)
    assert (done.status, done.out) == (0, "")
    if name == "o.csv":
        assert (here / name).read_text() == "type,time,Area,Value\nFire,2024-01-05T09:04:00Z,kitchen,50\n"
    elif name == "o.jsonl":
        assert json.loads((here / name).read_text()) == FIRE
    else:
        [row] = pq.read_table(here / name).to_pylist()
        assert [*row] == ["type", "time", "Area", "Value"]
        assert row["Value"] == 50


def test_because_names_the_constituents(occurs):
    done = occurs(*LOCAL, "events.csv", "--because")
    row = json.loads(done.out)
    assert [(p["role"], p["time"]) for p in row["because"]] == [
        ("Smoke", "2024-01-05T09:04:00Z"),
        ("Temp", "2024-01-05T09:00:00Z"),
    ]
    assert len(row["label"]) == 32
    assert json.loads(occurs(*LOCAL, "events.csv", "--label").out) == FIRE | {"label": row["label"]}


def test_one_file_per_type_and_other_column_names(occurs, here):
    (here / "s.jsonl").write_text('{"ts": 240, "Area": "kitchen"}\n')
    (here / "t.csv").write_text("ts,Area,Value\n0,kitchen,50\n")
    done = occurs(*LOCAL, "Smoke=s.jsonl", "--events", "Temp=t.csv", "--time-column", "ts", "--time-unit", "s")
    assert json.loads(done.out) == FIRE | {"time": 240}


def test_only_some_types(occurs, here):
    (here / "more.tesla").write_text("define Hot(V) from Temp(Value > 10) where V = Temp.Value")
    done = occurs(*LOCAL, "events.csv", "--only", "Fire")
    assert done.out.count("\n") == 1
    done = occurs("run", "fire.tesla", "more.tesla", "--host", "local", "--events", "events.csv")
    assert [json.loads(line)["type"] for line in done.out.splitlines()] == ["Hot", "Hot", "Fire"]
    done = occurs(*LOCAL, "events.csv", "--only", "Fir")
    assert done.status == 2
    assert "did you mean `Fire`?" in done.err


def test_the_clock(occurs):
    done = occurs(*LOCAL, "events.csv", "--start", "2024-01-05T09:00:30Z", "--until", "2024-01-05T09:15:00Z")
    assert (done.status, done.out) == (0, "")
    assert "skipped 2 rows outside the clock" in done.err


BAD_EVENTS = {
    "missing column": (EVENTS.replace("Value", "Valeu"), "error[missing-column]: column `Value` of `Temp`", "`Valeu`"),
    "no time": (EVENTS.replace("time", "when"), "error[missing-column]: there is no time column `time`", "`when`"),
    "wrong type": (
        EVENTS.replace(",50", ",warm"),
        "events.csv: error[bad-value]: row 1: string value in column `Value` of `Temp`, which is int: 'warm'",
        "--bad-rows skip",
    ),
    "unparsable time": (
        EVENTS.replace("2024-01-05T09:01:00Z", "at nine"),
        "events.csv: error[bad-time]: row 2: unreadable time in column `time`: 'at nine'",
        "--bad-rows skip",
    ),
    "torn line": (EVENTS + "Smoke\n", "events.csv: error[bad-value]: row 6: this line cannot be read", "skip"),
    "empty file": ("", "events.csv: error[missing-column]: the file is empty", "header line"),
}


@pytest.mark.parametrize("name", BAD_EVENTS)
def test_bad_input_is_refused_with_its_place(occurs, here, name):
    text, message, hint = BAD_EVENTS[name]
    (here / "events.csv").write_text(text)
    done = occurs(*LOCAL, "events.csv")
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert hint in done.err


def test_bad_rows_may_be_left_out_counted_and_kept(occurs, here):
    (here / "events.csv").write_text(EVENTS + "Temp,soon,hall,1\nTemp,2024-01-05T09:00:00Z,hall,warm\nSmoke\n")
    done = occurs(*LOCAL, "events.csv", "--bad-rows", "skip")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "skipped 3 bad rows (unreadable time: 1, value does not fit: 1, unreadable line: 1)" in done.err
    done = occurs(*LOCAL, "events.csv", "--bad", "bad.jsonl")
    assert done.status == 0
    rows = [json.loads(line) for line in (here / "bad.jsonl").read_text().splitlines()]
    assert [(r["reason"], r["row"]) for r in rows] == [
        ("unreadable time", 6),
        ("value does not fit", 7),
        ("unreadable line", 8),
    ]


def test_nulls_in_a_parameter_match_nothing(occurs, here):
    (here / "events.csv").write_text(EVENTS.replace("kitchen", ""))
    done = occurs(*LOCAL, "events.csv")
    assert (done.status, done.out) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--events", "event.csv"), "did you mean `events.csv`?"),
        (("--events", "events.csv", "--time-unit", "weeks"), "one of us, ms, s, min, h, d"),
        (("--events", "events.csv", "--start", "noon"), "--start 'noon'"),
        (("--events", "events.csv", "--out", "o.xls"), "--out o.xls"),
        (("--events", "events.csv", "--bad-rows", "maybe"), "--bad-rows"),
        ((), "--events"),
    ],
)
def test_wrong_options(occurs, arguments, message):
    done = occurs("run", "fire.tesla", "--host", "local", *arguments)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_wrong_rules(occurs, here):
    (here / "fire.tesla").write_text(RULES.replace("Temp.Value", "Temp.Valeu"))
    done = occurs(*LOCAL, "events.csv")
    assert (done.status, done.out) == (2, "")
    assert "fire.tesla:5:" in done.err
    assert "error[unknown-attribute]" in done.err
    assert "^" in done.err
    done = occurs("run", "fir.tesla", "--events", "events.csv")
    assert done.status == 2
    assert "did you mean `fire.tesla`?" in done.err


def test_an_output_that_cannot_be_written_is_status_1(occurs, here):
    (here / "o.csv").mkdir()
    done = occurs(*LOCAL, "events.csv", "--out", "o.csv")
    assert done.status == 1
    assert "error[cannot-write]" in done.err


@pytest.fixture
def alone(monkeypatch):
    """No Spark is set up, and no session runs."""
    for name in ("SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(_input, "runs_spark", lambda: False)


def test_a_small_history_runs_in_this_process(occurs, here, alone):
    done = occurs("run", "fire.tesla", "--events", "events.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "running in this process: 193 bytes of events (--host)" in done.err


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("SPARK_REMOTE", "sc://localhost", "SPARK_REMOTE is set"),
        ("PYSPARK_GATEWAY_PORT", "1", "spark-submit started this process"),
    ],
)
def test_a_spark_that_is_set_up_is_used(occurs, here, alone, monkeypatch, variable, value, why):
    asked = []
    monkeypatch.setenv(variable, value)
    monkeypatch.setattr(_input, "on_spark", lambda *given, **more: asked.append(1) or sys.exit(7))
    done = occurs("run", "fire.tesla", "--events", "events.csv")
    assert (done.status, asked) == (7, [1])
    assert f"running on Spark: {why} (--host)" in done.err


def test_large_files_run_on_spark_if_it_is_installed(occurs, here, alone, monkeypatch):
    monkeypatch.setattr(_input, "LOCAL_READS", 10)
    monkeypatch.setattr(_input, "has_pyspark", lambda: False)
    done = occurs("run", "fire.tesla", "--events", "events.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "in this process: 193 bytes of events, but PySpark is not installed (pip install" in done.err
    monkeypatch.setattr(_input, "has_pyspark", lambda: True)
    monkeypatch.setattr(_input, "on_spark", lambda *given, **more: sys.exit(7))
    assert occurs("run", "fire.tesla", "--events", "events.csv").status == 7


def test_without_pyspark_its_host_says_what_to_install(occurs, here, monkeypatch):
    monkeypatch.setattr(sparks, "has_pyspark", lambda: False)
    done = occurs("run", "fire.tesla", "--events", "events.csv", "--host", "spark")
    assert done.status == 1
    assert "error[no-spark]: PySpark is not installed" in done.err
    assert 'hint: pip install "occurs[spark,java]"; to run without Spark, use --host local' in done.err


@pytest.mark.spark
def test_spark_finds_the_same(occurs, here, usual_spark):
    done = occurs("run", "fire.tesla", "--host", "spark", "--events", "events.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    (here / "events.csv").write_text(EVENTS.replace("2024-01-05T09:01:00Z", "at nine"))
    done = occurs("run", "fire.tesla", "--host", "spark", "--events", "events.csv")
    assert done.status == 2
    assert "row 2: unreadable time" in done.err
    done = occurs("run", "fire.tesla", "--host", "spark", "--events", "events.csv", "--bad-rows", "skip")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "skipped 1 bad row" in done.err


@pytest.mark.slow
@pytest.mark.spark
def test_spark_reads_parquet_itself(occurs, here, spark):
    from occurs.connect.files import read_sources

    [source] = read_sources(["events.csv"])
    pq.write_table(source.table, here / "events.parquet")
    done = occurs("run", "fire.tesla", "--host", "spark", "--events", "events.parquet")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
