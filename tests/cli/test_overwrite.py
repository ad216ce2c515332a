"""No command replaces a file without being told to."""

from __future__ import annotations

import pytest

EPL = """create schema Smoke(Area string);
create schema Temp(Area string, Value int);
@Name('Fire') insert into Fire select s.Area as Area
from pattern [every (s=Smoke -> Temp) where timer:within(1 sec)];
"""
FTL = "event Smoke(Area string)\ntrigger t: eventually Smoke emit X(n = 1)\n"
OUT = {
    "run --out": ("run", "fire.tesla", "-e", "events.csv", "--host", "local", "--out"),
    "run --bad": ("run", "fire.tesla", "-e", "events.csv", "--host", "local", "--bad"),
    "run --late": ("run", "fire.tesla", "-e", "events.csv", "--host", "local", "--late"),
    "run --timeouts": ("run", "fire.epl", "-e", "events.csv", "--host", "local", "--timeouts"),
    "run --never": ("run", "fire.ftl", "-e", "events.csv", "--host", "local", "--never"),
    "simulate": ("simulate", "fire.epl", "-e", "events.csv", "--out"),
    "net": ("net", "fire.epl", "--time-unit", "s", "--out"),
    "epl": ("epl", "fire.epl", "--out"),
    "plot": ("plot", "events.csv", "--out"),
}
NAMES = {"net": "x.net.json", "epl": "x.epl", "plot": "x.html"}


@pytest.fixture
def rules(here):
    (here / "fire.epl").write_text(EPL)
    (here / "fire.ftl").write_text(FTL)
    return here


@pytest.mark.parametrize("command", OUT)
def test_a_file_that_exists_is_refused_and_with_overwrite_replaced(occurs, rules, command):
    name = NAMES.get(command, "x.jsonl")
    (rules / name).write_text("mine")
    done = occurs(*OUT[command], name)
    option = OUT[command][-1]
    assert (done.status, done.out) == (2, "")
    assert f"error[exists]: {option} {name}: the file already exists\n  hint: " in done.err
    assert "--overwrite" in done.err
    assert (rules / name).read_text() == "mine"
    done = occurs(*OUT[command], name, "--overwrite")
    assert done.status == 0, done.err
    assert (rules / name).read_text() != "mine"


@pytest.mark.parametrize("option", ["--out", "--bad"])
def test_a_directory_with_parquet_files_is_refused(occurs, here, option):
    given = ("run", "fire.tesla", "-e", "events.csv", "--host", "local", option, "folder")
    (here / "folder").mkdir()
    (here / "folder" / "notes.txt").write_text("mine")
    assert occurs(*given).status == 0
    before = {p.name: p.read_bytes() for p in (here / "folder").iterdir()}
    assert len(before) == 2
    done = occurs(*given)
    assert done.status == 2
    assert f"error[exists]: {option} folder: the directory already has Parquet files" in done.err
    assert {p.name: p.read_bytes() for p in (here / "folder").iterdir()} == before
    assert occurs(*given, "--overwrite").status == 0
    assert set(before) == {p.name for p in (here / "folder").iterdir()}


def test_a_directory_in_the_way_of_a_file_is_never_replaced(occurs, here):
    (here / "x.parquet").mkdir()
    done = occurs("run", "fire.tesla", "-e", "events.csv", "--host", "local", "--out", "x.parquet", "--overwrite")
    assert done.status == 1
    assert "error[cannot-write]: --out x.parquet: a directory of that name exists" in done.err


def test_input_and_other_output_are_never_replaced(occurs, here):
    given = ("run", "fire.tesla", "-e", "events.csv", "--host", "local", "--overwrite")
    assert "would overwrite the file named by --events events.csv" in occurs(*given, "--out", "events.csv").err
    done = occurs(*given, "--out", "x.csv", "--bad", "x.csv")
    assert "--bad x.csv would overwrite the file named by --out x.csv" in done.err
