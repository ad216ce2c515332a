"""``occurs follow``: files in, files out, the same answer as ``occurs run``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .conftest import EVENTS, FIRE, RULES

FOLLOW = ("follow", "fire.tesla", "--checkpoint", "cp")


def rows(folder: Path) -> list[dict[str, Any]]:
    """All detections of a directory, by time."""
    lines = [line for path in sorted(folder.glob("batch-*.jsonl")) for line in path.read_text().splitlines()]
    return sorted((json.loads(line) for line in lines), key=lambda r: (r["time"], str(r)))


def answer(occurs: Any, *arguments: str) -> list[dict[str, Any]]:
    """What ``occurs run`` says."""
    done = occurs("run", "fire.tesla", "--host", "local", *arguments)
    assert done.status == 0, done.err
    return sorted(map(json.loads, done.out.splitlines()), key=lambda r: (r["time"], str(r)))


def move_in(folder: Path, name: str, text: str) -> None:
    """A file that appears whole."""
    (folder / f".{name}").write_text(text)
    os.replace(folder / f".{name}", folder / name)


@pytest.mark.spark
def test_files_to_files_and_closing(occurs, here, spark):
    (here / "in").mkdir()
    move_in(here / "in", "a.csv", EVENTS)
    done = occurs(*FOLLOW, "--events", "in", "--out", "out", "--ended", "--metrics", "m.jsonl")
    assert (done.status, done.out) == (0, ""), done.err
    assert rows(here / "out") == [FIRE] == answer(occurs, "--events", "in")
    assert "found in 5 rows: Fire 1 (" in done.err
    figures = [json.loads(line) for line in (here / "m.jsonl").read_text().splitlines()]
    assert [f["batch"] for f in figures] == [0, 1]
    assert sum(f["rows"] for f in figures) == 5
    assert sum(f["found"]["Fire"] for f in figures) == 1
    assert figures[-1]["frontier"] == figures[-1]["newest"]
    assert set(figures[0]) >= {"wall", "seconds", "late", "bad", "waiting", "kept", "size", "lag"}
    before = {p.name: p.read_bytes() for p in (here / "out").iterdir()}
    done = occurs(*FOLLOW, "--events", "in", "--out", "out", "--ended")
    assert (done.status, done.out) == (0, "")
    assert "this stream has been read to its end" in done.err
    assert {p.name: p.read_bytes() for p in (here / "out").iterdir()} == before


def test_rules_with_typos_are_refused_first(occurs, here):
    (here / "fire.tesla").write_text(RULES.replace("Temp.Value", "Temp.Valeu"))
    done = occurs(*FOLLOW, "--events", "in")
    assert (done.status, done.out) == (2, "")
    assert "did you mean `Value`?" in done.err
    assert not (here / "cp").exists()
