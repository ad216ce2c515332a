"""Stubs: type checkers see of the processors what their declarations say."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import pipes_stubs  # noqa: E402


def test_the_stubs_of_pipes_are_what_the_tool_makes_of_the_declarations():
    assert {path.name: path.read_text() for path in pipes_stubs.FOLDER.glob("*.pyi")} == pipes_stubs.stubs()
