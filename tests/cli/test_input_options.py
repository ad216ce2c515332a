"""The input options on the command line, on every host: what one host reads, the others read too, or say why not."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from click.testing import CliRunner

from occurs.cli import _input, main

from .conftest import EVENTS, FIRE

#: the events of the other tests as people write them: options that read them
OTHERWISE = EVENTS.replace(",", ";").replace("2024-01-05T", "05/01/2024 ").replace("Z;", ";").replace("hall", "Flür")
OPTIONS = ("--delimiter", ";", "--encoding", "latin-1", "--time-format", "%d/%m/%Y %H:%M:%S")
SMOKE = "time,Area\n2024-01-05T09:04:00Z,kitchen\n"
TEMP = "time,Area,Value\n2024-01-05T09:00:00Z,kitchen,50\n"
HOSTS = ["local", pytest.param("spark", marks=pytest.mark.spark)]


def fires(done) -> list[dict]:
    assert done.status == 0, done.err
    return [json.loads(line) for line in done.out.splitlines()]


@pytest.fixture
def hosted(request):
    def start(host: str) -> None:
        if host == "spark":
            request.getfixturevalue("spark")

    return start


@pytest.mark.parametrize("host", HOSTS)
def test_files_that_are_written_otherwise(occurs, here, hosted, host):
    hosted(host)
    run = ("run", "fire.tesla", "--host", host)
    (here / "e.txt").write_text(OTHERWISE, encoding="latin-1")
    assert fires(occurs(*run, "-e", "e.txt", "--format", "csv", *OPTIONS)) == [FIRE]
    (here / "e.csv.zst").write_bytes(pa.compress(OTHERWISE.encode("latin-1"), "zstd", asbytes=True))
    assert fires(occurs(*run, "-e", "e.csv.zst", *OPTIONS)) == [FIRE]


@pytest.mark.spark
@pytest.mark.slow
def test_text_that_spark_reads_itself_is_read_alike(occurs, here, spark, monkeypatch):
    monkeypatch.setattr(_input, "SPARK_READS", 0)  # as if it were larger
    run = ("run", "fire.tesla", "--host", "spark")
    (here / "e.csv").write_text(OTHERWISE, encoding="latin-1")
    assert fires(occurs(*run, "-e", "e.csv", *OPTIONS)) == [FIRE]
    # Spark would take it for a date with another reading
    (here / "e.csv").write_text(EVENTS.replace("2024-01-05T", "2024-05-01 "))
    assert fires(occurs(*run, "-e", "e.csv", "--time-format", "%Y-%d-%m %H:%M:%SZ")) == [FIRE]
    done = occurs(*run, "-e", "e.csv", "--encoding", "cp1252")
    assert (done.status, "Spark cannot read this encoding" in done.err, "--host local" in done.err) == (2, True, True)
    (here / "e.csv").write_text(EVENTS.replace("2024-01-05T", "05/01/2024 "))
    done = occurs(*run, "-e", "e.csv")
    assert (done.status, done.out) == (2, "")
    assert "3 rows" not in done.err
    assert "if the day comes first" in done.err
    (here / "e.csv.zst").write_bytes(pa.compress(EVENTS.encode(), "zstd", asbytes=True))
    done = occurs(*run, "-e", "e.csv.zst")
    assert (done.status, "Spark cannot read .zst files" in done.err) == (2, True)


@pytest.mark.parametrize("host", HOSTS)
def test_standard_input(here, hosted, host):
    hosted(host)
    arguments = ["run", "fire.tesla", "--host", host, "-e", "-", "--format", "csv"]
    done = CliRunner().invoke(main, arguments, input=EVENTS.encode())
    assert (done.exit_code, json.loads(done.stdout)) == (0, FIRE)


def test_one_type_for_files_that_name_none(occurs, here):
    (here / "smoke.csv").write_text(SMOKE)
    (here / "temp.csv").write_text(TEMP)
    run = ("run", "fire.tesla", "--host", "local")
    assert fires(occurs(*run, "-e", "smoke.csv", "--type", "Smoke", "-e", "Temp=temp.csv")) == [FIRE]
    done = occurs("check", "fire.tesla", "-e", "smoke.csv", "--type", "Smok")
    assert "no rule reads events of type `Smok`" in done.err
    assert "did you mean `Smoke`?" in done.err


def test_files_of_events_among_the_rules_are_events(occurs, here):
    """`-e *.csv` is `-e a.csv b.csv` by the time that the command sees it."""
    for name, text in {"a.csv": SMOKE, "b.csv": TEMP}.items():
        lines = text.splitlines()
        kind = "Smoke" if name == "a.csv" else "Temp"
        (here / name).write_text("\n".join([f"type,{lines[0]}", f"{kind},{lines[1]}"]) + "\n")
    run = ("run", "fire.tesla", "--host", "local")
    assert fires(occurs(*run, "-e", "a.csv", "b.csv")) == [FIRE]
    assert fires(occurs(*run, "a.csv", "b.csv")) == [FIRE]
    assert fires(occurs(*run, "-e", "[ab].csv")) == [FIRE]
    assert occurs("verify", "fire.tesla", "a.csv", "-e", "b.csv").status == 0


@pytest.mark.spark
@pytest.mark.slow
def test_a_stream_reads_what_a_history_reads(occurs, here, spark):
    (here / "in").mkdir()
    (here / "in" / "a.txt").write_text(OTHERWISE, encoding="latin-1")
    follow = ("follow", "fire.tesla", "--checkpoint", "cp", "--out", "out", "--ended", "-e", "in")
    done = occurs(*follow, "--format", "csv", *OPTIONS)
    assert done.status == 0, done.err
    assert [json.loads(line) for p in (here / "out").glob("*.jsonl") for line in p.read_text().splitlines()] == [FIRE]


def test_a_stream_says_what_it_does_not_read(occurs, here):
    done = occurs("follow", "fire.tesla", "--checkpoint", "cp", "--events", "-", "--format", "csv")
    assert (done.status, done.out) == (2, "")
    assert "standard input is a history and cannot be followed" in done.err
    assert "use `occurs run`, which reads it to its end" in done.err
