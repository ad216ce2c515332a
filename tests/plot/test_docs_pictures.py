"""The pictures of the documentation are those that their scripts draw, in both themes, with nothing over other text."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import gettempdir
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "pictures"
NAMES = (
    "timeline", "architecture", "life-of-an-event", "net", "net-full", "explain", "concept-event", "concept-interval",
    "concept-frontier", "concept-label", "concept-retention", "concept-partition-key",
)  # fmt: skip


@cache
def checked() -> str:
    """What ``python docs/pictures --check`` says, and that it does not fail for another reason."""
    pytest.importorskip("matplotlib", reason="the PNG needs the extra `plot`")
    command = [sys.executable, str(FOLDER), "--check"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stderr


def test_the_files_are_what_the_scripts_draw():
    assert checked() == ""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_picture_is_there_in_both_themes(name, theme):
    text = (FOLDER / f"{name}-{theme}.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.get("width") == "800"
    assert root.find("{http://www.w3.org/2000/svg}title").text
    # it needs nothing from anywhere, and names no place of this machine
    assert not re.search(r"href|url\((?!#)|@import", text)
    assert not any(str(place) in text for place in (ROOT, gettempdir()))
    other = (FOLDER / f"{name}-{'dark' if theme == 'light' else 'light'}.svg").read_text(encoding="utf-8")
    assert text != other


def test_the_picture_of_the_front_page_is_small():
    assert len((FOLDER / "studio.png").read_bytes()) < 300_000
