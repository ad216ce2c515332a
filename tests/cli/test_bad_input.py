"""Files that are not what they should be, through the command, on both hosts: a clear error, or counted."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .conftest import EVENTS, FIRE

HOSTS = ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.long])]
LINES = (
    '{"type": "Temp", "time": "2024-01-05T09:00:00Z", "Area": "kitchen", "Value": 50}\n'
    '{"type": "Smoke", "time": "2024-01-05T09:04:00Z", "Area": "kitchen"}\n'
)
START = 1_704_445_200_000_000
UTC = pa.timestamp("us", "UTC")


def table(**changed: pa.Array | list) -> pa.Table:
    columns = {
        "type": ["Temp", "Smoke"],
        "time": pa.array([START, START + 240_000_000], UTC),
        "Area": ["kitchen", "kitchen"],
        "Value": pa.array([50, None], pa.int64()),
    }
    return pa.table(columns | changed)


def parquet(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink)
    return sink.getvalue().to_pybytes()


TWICE = pa.Table.from_arrays([*table().columns, table()["Value"]], ["type", "time", "Area", "Value", "Value"])
WHOLE = parquet(table())
PACKED = gzip.compress((EVENTS * 99).encode())

#: file name, content, kind, what the message says
FILES = {
    "a column that is missing": ("e.csv", EVENTS.replace("Value", "Valeu"), "missing-column", "did you mean `Valeu`?"),
    "no time column": ("e.csv", EVENTS.replace("time", "when"), "missing-column", "there is no time column `time`"),
    "no type column": ("e.csv", EVENTS.replace("type", "kind"), "missing-column", "there is no type column `type`"),
    "a value of the wrong type": ("e.csv", EVENTS.replace(",50", ",warm"), "bad-value", "row 1: string value in"),
    "a time that is none": ("e.csv", EVENTS.replace("2024-01-05T09:01", "soon"), "bad-time", "row 2: unreadable time"),
    "a row without type": ("e.csv", EVENTS + ",2024-01-05T09:00:00Z,x,1\n", "bad-value", "row 6: null type"),
    "a row without time": ("e.csv", EVENTS + "Temp,,x,1\n", "bad-time", "row 6: null time"),
    "an empty file": ("e.csv", "", "missing-column", "the file is empty"),
    "an empty archive": ("e.csv.gz", gzip.compress(b""), "missing-column", "the file is empty"),
    "a column twice": ("e.csv", EVENTS.replace("Area,V", "Value,V"), "duplicate-name", "are called `Value`"),
    "rows too short and too long": ("e.csv", EVENTS + "Smoke\nA,1,2,3,4\n", "bad-value", "row 6: this line cannot be"),
    "bytes that are no text": ("e.csv", EVENTS.encode().replace(b"hall", b"h\xff", 1), "bad-value", "not UTF-8"),
    "a torn archive": ("e.csv.gz", PACKED[: len(PACKED) // 2], "bad-value", "e.csv.gz cannot be read"),
    "no archive": ("e.csv.gz", EVENTS, "bad-value", "e.csv.gz cannot be read"),
    "a torn line": ("e.jsonl", LINES + '{"type": "Te', "bad-value", "row 3: this line cannot be read"),
    "a line that is no text": ("e.jsonl", LINES.encode().replace(b"kit", b"\xff"), "bad-value", "row 1: this line"),
    "a torn archive of lines": ("e.jsonl.gz", gzip.compress(LINES.encode())[:-12], "bad-value", "cannot be read"),
    "a torn array": ("e.json", '[{"type": "Temp"}, {', "bad-value", "e.json cannot be read"),
    "a value of the wrong type in a line": ("e.jsonl", LINES.replace("50", '"warm"'), "bad-value", "row 1: string"),
    "a torn Parquet file": ("e.parquet", WHOLE[: len(WHOLE) // 2], "bad-value", "e.parquet cannot be read"),
    "a Parquet file with a torn page": ("e.parquet", WHOLE[:9] + b"\xff" * 50 + WHOLE[59:], "bad-value", "cannot be r"),
    "an empty Parquet file": ("e.parquet", b"", "bad-value", "e.parquet cannot be read"),
    "a Parquet column twice": ("e.parquet", parquet(TWICE), "duplicate-name", "two columns are called `Value`"),
    "no Parquet column": ("e.parquet", parquet(table().drop_columns("Value")), "missing-column", "is declared but mi"),
    "the wrong type in Parquet": ("e.parquet", parquet(table(Value=["warm", None])), "bad-value", "e.parquet: error"),
    "a half in Parquet": ("e.parquet", parquet(table(Value=[50.5, None])), "bad-value", "row 1: "),
    "no time in Parquet": (
        "e.parquet", parquet(table(time=pa.array([START, None], UTC))), "bad-time", "row 2: null time in column `time`"
    ),
    "a time that is none in Parquet": (
        "e.parquet", parquet(table(time=["soon", "2024-01-05T09:04:00Z"])), "bad-time", "column `time`: 'soon'"
    ),
    "a time that is too fine": (
        "e.parquet", parquet(table(time=pa.array([1, 2000], pa.timestamp("ns", "UTC")))), "bad-time", "row 1: unreadab"
    ),
}  # fmt: skip


def put(path: Path, content: str | bytes) -> None:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


#: of those, what Spark's own readers meet in a way of their own (all of them with --long)
ON_SPARK = (
    "a column that is missing", "a value of the wrong type", "rows too short and too long", "a torn archive",
    "a torn line", "a torn array", "a torn Parquet file", "a Parquet file with a torn page", "no Parquet column",
    "a half in Parquet",
)  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_what_cannot_be_read_is_refused_with_its_place(occurs, here, request, host):
    if host == "spark":
        request.getfixturevalue("spark")
    fewer = host == "spark" and not request.config.getoption("--long")
    for name in ON_SPARK if fewer else FILES:
        file, content, kind, message = FILES[name]
        put(here / file, content)
        done = occurs("run", "fire.tesla", "--host", host, "--events", file)
        assert (done.status, done.out) == (2, ""), name
        assert f"error[{kind}]" in done.err, (name, done.err)
        assert message in done.err, (name, done.err)
        if (host, name) != ("spark", "no Parquet column"):  # Spark says it of all files together
            assert f"{file}: error" in done.err, (name, done.err)
        (here / file).unlink()


@pytest.mark.parametrize("host", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.long])])
def test_files_that_are_not_there(occurs, here, request, host):
    if host == "spark":
        request.getfixturevalue("spark")
    (here / "empty").mkdir()
    (here / "x.txt").write_text("")
    (here / ".hidden").write_text("")
    for events, message in {
        "event.csv": "event.csv: error[missing-file]: there is no file event.csv\n  hint: did you mean `events.csv`?",
        "no/events.csv": "the directory no does not exist either",
        "empty": "there are no event files in empty",
        "x.txt": "error[unknown-format]",
        "q" * 300 + ".csv": "error[missing-file]: qqq",
        "zzz.jsonl": "files in .: `empty`, `events.csv`, `fire.tesla`, `x.txt`",
    }.items():
        done = occurs("run", "fire.tesla", "--host", host, "--events", events)
        assert (done.status, done.out) == (2, "")
        assert message in done.err


@pytest.mark.parametrize("host", HOSTS)
def test_bad_rows_are_left_out_counted_and_kept(occurs, here, request, host):
    if host == "spark":
        request.getfixturevalue("spark")
    more = "Temp,soon,hall,1\nTemp,2024-01-05T09:00:00Z,hall,warm\nSmoke\n"
    put(here / "events.csv", (EVENTS + more).encode() + b"Temp,2024-01-05T09:00:00Z,\xff,1\n")
    run = ("run", "fire.tesla", "--host", host, "--events")
    done = occurs(*run, "events.csv", "--bad", "bad.jsonl")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "skipped 4 bad rows (value does not fit: 2, unreadable time: 1, unreadable line: 1)" in done.err
    rows = [json.loads(line) for line in (here / "bad.jsonl").read_text().splitlines()]
    assert sorted((r["row"], r["reason"], r["file"], r["column"]) for r in rows if r["column"]) == [
        (6, "unreadable time", "events.csv", "time"),
        (7, "value does not fit", "events.csv", "Value"),
        (9, "value does not fit", "events.csv", "Area"),
    ]
    late = table(time=["soon", "2024-01-05T09:04:00Z"])
    first = table(time=["2024-01-05T09:00:00Z"] * 2).slice(0, 1)
    pq.write_table(pa.concat_tables([late, first]), here / "a b+%.parquet")
    done = occurs(*run, "a b+%.parquet", "--bad", "bad.csv")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    assert "skipped 1 bad row (unreadable time: 1)" in done.err
    head, row = (here / "bad.csv").read_text().splitlines()
    assert head == "reason,file,row,column,value,data"
    assert row.startswith("unreadable time,")
    assert 'a b+%.parquet,1,time,soon,"{""type"":' in row.replace('": "', '":"').replace('"": ""', '"":""')
    done = occurs(*run, "events.csv", "--bad-rows", "skip", "--only", "Fire")
    assert (done.status, json.loads(done.out)) == (0, FIRE)
    put(here / "events.csv", EVENTS)
    done = occurs(*run, "events.csv", "--bad", "none.jsonl")
    assert (done.status, (here / "none.jsonl").read_text()) == (0, "")


@pytest.mark.parametrize("host", ["local", pytest.param("spark", marks=[pytest.mark.spark, pytest.mark.long])])
def test_parquet_that_only_this_process_reads(occurs, here, request, host):
    if host == "spark":
        request.getfixturevalue("spark")
    fine = table(time=pa.array([START * 1000, (START + 240_000_000) * 1000], pa.timestamp("ns", "UTC")))
    pq.write_table(fine.append_column("value", pa.array([1, 2])), here / "e.parquet")
    done = occurs("run", "fire.tesla", "--host", host, "--events", "e.parquet")
    assert (done.status, json.loads(done.out)) == (0, FIRE)


def test_nothing_is_overwritten(occurs, here):
    run = ("run", "fire.tesla", "--host", "local", "--events")
    for options, message in {
        (
            "events.csv",
            "--out",
            "./events.csv",
        ): "--out ./events.csv would overwrite the file named by --events events.csv",
        ("Temp=t.csv", "--bad", "t.csv"): "--bad t.csv would overwrite the file named by --events Temp=t.csv",
        ("events.csv", "--out", "o.csv", "--bad", "o.csv"): "--bad o.csv would overwrite the file named by --out o.csv",
        ("events.csv", "--bad", "-"): "--bad - is not allowed: stdout is for detections",
    }.items():
        done = occurs(*run, *options)
        assert (done.status, done.out) == (2, "")
        assert message in done.err
    assert (here / "events.csv").read_text() == EVENTS


def command(here: Path, *arguments: str, **how: object) -> subprocess.Popen[str]:
    whole = [sys.executable, "-m", "occurs.cli", "run", "fire.tesla", "--host", "local", *arguments]
    return subprocess.Popen(whole, cwd=here, stderr=subprocess.PIPE, text=True, **how)  # type: ignore[call-overload]


def test_a_full_disk_is_status_1(here):
    lines = "".join(f"Temp,{i},a,50\nSmoke,{i},a,\n" for i in range(5000))
    (here / "events.csv").write_text("type,time,Area,Value\n" + lines)
    given = ("--events", "events.csv", "--time-unit", "s")
    with open("/dev/full", "w") as full, command(here, *given, stdout=full) as done:
        assert "error[cannot-write]: stdout: No space left on device" in done.communicate()[1]
    assert done.returncode == 1

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    before = sorted(os.listdir(here))
    for name in ("o.csv", "o.jsonl", "o.parquet"):
        with command(here, *given, "--out", name, preexec_fn=little) as done:
            assert f"error[cannot-write]: {name}: File too large" in done.communicate()[1]
        assert done.returncode == 1
    assert sorted(os.listdir(here)) == before  # nothing half-written stays


def test_ctrl_c_is_status_130(here):
    os.mkfifo(here / "slow.csv")
    with command(here, "--events", "slow.csv", stdout=subprocess.PIPE) as running:
        for _ in range(600):
            try:
                writer = os.open(here / "slow.csv", os.O_WRONLY | os.O_NONBLOCK)
                break
            except OSError:  # nobody reads yet
                time.sleep(0.1)
        os.write(writer, b"type,time\n")
        running.send_signal(signal.SIGINT)
        time.sleep(0.1)
        os.close(writer)
        out, err = running.communicate()
    assert (running.returncode, out, err) == (130, "", "interrupted\n")


#: names that no file can have
NO_PATHS = [
    "loop.csv",
    "self/x.csv",
    "nul\0.csv",
    "\ud800.csv",
    "x" * 300 + ".csv",
    "x" * 5_000 + ".csv",
    "~nobody-is/x.csv",
]


@pytest.mark.parametrize("path", NO_PATHS, ids=lambda p: ascii(p)[:20])
def test_names_that_no_file_can_have(occurs, here, path):
    (here / "loop.csv").symlink_to("loop.csv")
    (here / "self").symlink_to("self")
    put(here / "e.csv", EVENTS)
    rules = path.replace(".csv", ".tesla")
    (here / "loop.tesla").symlink_to("loop.tesla")
    for arguments in (
        ("run", "fire.tesla", "--host", "local", "--events", path),
        ("run", "fire.tesla", "--host", "local", "--events", f"Smoke={path}"),
        ("run", "fire.tesla", "--host", "local", "--events", "e.csv", "--facts", f"f={path}"),
        ("run", "fire.tesla", "--host", "local", "--events", "e.csv", "--out", path),
        ("run", "fire.tesla", "--host", "local", "--events", "e.csv", "--bad", path),
        ("run", rules, "--host", "local", "--events", "e.csv"),
        ("check", rules),
        ("explain", rules),
        ("follow", "fire.tesla", "--events", path, "--checkpoint", "ck", "--out", "out"),
        ("follow", "fire.tesla", "--events", "e.csv", "--checkpoint", path, "--out", "out"),
        ("net", rules.replace(".tesla", ".epl")),
        ("epl", rules.replace(".tesla", ".epl")),
        ("plot", path, "-o", "x.png"),
        ("simulate", "fire.tesla", "--events", path),
    ):
        done = occurs(*arguments)
        assert done.status == 2, arguments
        assert "error[" in done.err, arguments
        assert "error[internal]" not in done.err, (arguments, done.err)


@pytest.mark.parametrize("out", [(), ("--out", "o.csv"), ("--out", "o.jsonl"), ("--out", "o.parquet"), ("--because",)])
def test_times_at_the_ends_of_what_64_bits_hold(occurs, here, out):
    times = pa.array([2**63 - 1, -(2**63), 0], pa.timestamp("us", "UTC"))
    events = table(type=["Temp", "Smoke", "Temp"], time=times, Area=["a"] * 3, Value=pa.array([50, None, 1]))
    put(here / "e.parquet", parquet(events))
    (here / "all.tesla").write_text(
        "event Temp(Area: string, Value: int)\ndefine X(v: int) from Temp() where v = Temp.Value\n"
    )
    done = occurs("run", "all.tesla", "--host", "local", "--events", "e.parquet", *out)
    assert (done.status, "(X: 2)" in done.err) == (0, True), done.err


def test_partitions_without_spark(occurs, here):
    run = ("run", "fire.tesla", "--events", "events.csv", "--host", "local")
    done = occurs(*run, "--partitions", "4")
    assert (done.status, done.out) == (2, "")
    assert "--partitions 4: this run is not on Spark" in done.err
    assert occurs(*run, "--partitions", "0").status == 2
