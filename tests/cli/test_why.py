"""``occurs why`` and ``occurs why-not``: what they print and write, and their exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from occurs.cli import main

RULES = """define Fire(Area, Value)
from   Smoke(Area = $a)
   and last Temp(Area = $a, Value > 45) within 5 min from Smoke
   and not Rain(Area = $a) between Temp and Smoke
where  Area = $a, Value = Temp.Value
"""
EVENTS = """type,time,Area,Value
Temp,2024-01-05T09:01:00Z,hall,50
Rain,2024-01-05T09:02:00Z,hall,
Smoke,2024-01-05T09:03:00Z,hall,
Temp,2024-01-05T09:12:00Z,hall,51
Smoke,2024-01-05T09:13:00Z,hall,
"""
AT = "2024-01-05T09:03Z"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "fire.tesla").write_text(RULES)
    (tmp_path / "events.csv").write_text(EVENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, [arguments[0], "fire.tesla", "-e", "events.csv", "--host", "local", *arguments[1:]])
    return done.exit_code, done.stdout, done.stderr


def test_why_not_prints_the_reasons(here):
    code, out, _ = call("why-not", "--type", "Fire", "--where", "Area=hall", "--at", AT)
    assert code == 0
    assert "1  fire.tesla:4:8  not Rain" in out
    assert "it is found if line 4 is left out" in out


def test_why_not_of_a_detection_prints_its_why(here):
    code, out, _ = call("why-not", "--type", "Fire", "--where", "Value=51")
    assert code == 1
    assert "it was detected (1 row)" in out
    assert "Temp.Value = 51 > 45" in out


def test_why_prints_a_tree_per_detection(here):
    code, out, _ = call("why", "--type", "Fire")
    assert code == 0
    assert out.startswith('Fire  2024-01-05T09:13:00Z  Area = "hall", Value = 51\n  Smoke')


def test_why_of_nothing_asks_for_why_not(here):
    code, _, err = call("why", "--type", "Fire", "--where", "Area=hall", "--at", AT)
    assert code == 1
    assert "why-not" in err
    code, _, err = call("why", "--label", "0" * 32)
    assert code == 1
    assert "why-not" in err


def test_a_wrong_question_is_an_error_of_use(here):
    assert call("why-not", "--type", "Fir")[0] == 2
    assert call("why-not", "--type", "Fire", "--where", "Area")[0] == 2
    assert call("why-not", "--type", "Fire", "--edits", "7")[0] == 2
    assert call("why")[0] == 2
    assert call("why-not", "--type", "Fire", "--out", "a.xlsx")[0] == 2


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.json", "a.png", "a.html"])
def test_answers_are_written(here, name):
    code, out, _ = call("why-not", "--type", "Fire", "--at", AT, "--out", name)
    assert (code, out) == (0, "")
    if name.endswith(".json"):
        assert len(json.loads((here / name).read_text())["reasons"]) == 2
    elif name.endswith(".jsonl"):
        assert [json.loads(line)["kind"] for line in (here / name).read_text().splitlines()] == ["absence", "missing"]
    elif name.endswith(".parquet"):
        assert pq.read_table(here / name)["kind"].to_pylist() == ["absence", "missing"]
    else:
        assert (here / name).stat().st_size > 300


def test_a_repair_is_written(here):
    code, _, _ = call("why-not", "--type", "Fire", "--at", AT, "--repair", "2", "--into", "repaired")
    assert code == 0
    assert (here / "repaired/fire.tesla").read_text() == RULES
    assert json.loads((here / "repaired/added.jsonl").read_text())["type"] == "Temp"


def test_null_is_asked_for_with_nothing(here):
    code, out, _ = call("why-not", "--type", "Fire", "--where", "Value=", "--at", AT)
    assert code == 0
    assert "Value null" in out


def test_why_not_of_a_row_pattern(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rules = """CREATE VIEW Falls AS SELECT * FROM Tick MATCH_RECOGNIZE (
  ORDER BY time MEASURES LAST(B.price) AS low PATTERN (A B{2}) DEFINE B AS B.price < PREV(B.price) AND B.price >= 5);
"""
    (tmp_path / "falls.sql").write_text(rules)
    (tmp_path / "ticks.csv").write_text("type,time,price\nTick,1,12\nTick,2,11\nTick,3,4\n")
    question = ["--time-unit", "s", "--host", "local", "--type", "Falls", "--at", "3", "--edits", "1"]
    done = CliRunner().invoke(main, ["why-not", "falls.sql", "-e", "ticks.csv", *question])
    assert done.exit_code == 0, done.stderr
    assert "  B.price >= 5\n   B.price = 4 at 3, needed >= 5" in done.stdout


def test_late_rows_of_a_file_are_let_in(here):
    rows = EVENTS.splitlines(keepends=True)
    (here / "events.csv").write_text("".join((rows[0], *rows[3:])))
    (here / "late.csv").write_text(rows[0] + rows[1])
    code, out, _ = call("why-not", "--type", "Fire", "--at", AT, "--late", "late.csv")
    assert code == 0
    assert "Temp at 2024-01-05T09:01:00Z came late and was dropped" in out
    assert "it is found if the late row is let in" in out
    code, out, _ = call("why-not", "--type", "Fire", "--at", AT, "--edits", "1")
    assert (code, "came late" in out) == (0, False)
