"""Rules and events in a directory of their own, and a way to run the command there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from occurs.cli import main

RULES = """event Smoke(Area: string)
event Temp(Area: string, Value: int)
define Fire(Area, Value)
from   Smoke(Area = $a) and last Temp(Area = $a, Value > 45) within 5 min from Smoke
where  Area = $a, Value = Temp.Value
"""

EVENTS = """type,time,Area,Value
Temp,2024-01-05T09:00:00Z,kitchen,50
Temp,2024-01-05T09:01:00Z,hall,20
Smoke,2024-01-05T09:04:00Z,kitchen,
Smoke,2024-01-05T09:10:00Z,hall,
Door,2024-01-05T09:20:00Z,hall,
"""

FIRE = {"type": "Fire", "time": "2024-01-05T09:04:00Z", "Area": "kitchen", "Value": 50}


@dataclass
class Done:
    status: int
    out: str
    err: str


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fire.tesla").write_text(RULES)
    (tmp_path / "events.csv").write_text(EVENTS)
    return tmp_path


@pytest.fixture
def occurs(here: Path) -> Callable[..., Done]:
    """``occurs("run", "fire.tesla", ..)``: never a traceback."""

    def call(*arguments: str) -> Done:
        done = CliRunner().invoke(main, list(arguments))
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        assert "Traceback" not in done.stderr
        return Done(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> sqlite3.Connection:
    """A database whose rules, `high.ftl`, find links with much traffic."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "high.ftl").write_text(
        "table traffic(link string key, load int)\n"
        "trigger high for each y in (select link from traffic): eventually traffic(y) > 10 continue\n"
        '    notify "{y} is high" emit High(link = y, load = traffic(y))\n'
    )
    found = sqlite3.connect(tmp_path / "x.db")
    found.execute("create table traffic (link text primary key, load int)")
    found.commit()
    return found
