"""The plugin for pytest, as pytest finds it by its entry point, in a directory outside the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CASES = """## A hot room
```tesla
define Hot(v) from Temp(value > 45) where v = Temp.value
```
```in
Temp@1(value=50) Temp@2(value=40)
```
```out
Hot@1(v=50)
```
## A wrong expectation
```tesla
define Hot(v) from Temp(value > 45) where v = Temp.value
```
```in
Temp@1(value=50)
```
```out
Hot@1(v=51)
```
"""

REPLAY = """import occurs
import pyarrow as pa


def test_replay(replay):
    rules = occurs.parse("define Hot(v) from Temp(value > 45) where v = Temp.value")
    events = pa.table({"type": ["Temp"] * 9, "time": range(9), "value": [50] * 9})
    done = replay(rules, events, time_unit="s", disorder="3 s")
    assert done.difference is None
    assert len(done.found["Hot"]) == 9
"""


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory with cases, and an installation of the entry points that the project declares."""
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    info = tmp_path / "installed" / "occurs_entry_points-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: occurs-entry-points\nVersion: 1\n")
    lines = "".join(f"{name} = {module}\n" for name, module in points.items())
    (info / "entry_points.txt").write_text(f"[pytest11]\n{lines}")
    rules = tmp_path / "rules"
    rules.mkdir()
    (rules / "hot.case").write_text(CASES)
    (rules / "test_replay.py").write_text(REPLAY)
    return rules


def run(folder: Path, *arguments: str) -> tuple[int, str]:
    paths = [str(ROOT / "src"), str(folder.parent / "installed")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_cases_are_collected_outside_the_repository(outside: Path) -> None:
    status, text = run(outside, "--case-coverage")
    assert status == 1, text
    assert "1 failed, 2 passed" in text
    assert f"{outside / 'hot.case'}:11: A wrong expectation\nexpected 1, detected 1" in text
    assert "      v: expected 51, detected 50\n" in text
    assert "FAILED hot.case::A wrong expectation" in text
    assert "75 % covered: 1 of 2 clauses decide a case, 2 of 2 rules detect something" in text
    assert "Traceback" not in text


def test_cases_are_updated(outside: Path) -> None:
    (outside / "broken.case").write_text("## Broken\n```in\n```\n")
    options = ("--update-cases", "--continue-on-collection-errors", "--ignore", "test_replay.py")
    status, text = run(outside, *options)
    assert status == 1
    assert "2 passed, 1 error" in text
    assert "broken.case:1: Broken: no rules" in text
    assert f"updated 1 case in {outside / 'hot.case'}" in text
    assert (outside / "hot.case").read_text() == CASES.replace("v=51", "v=50")
