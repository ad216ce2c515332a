"""The worked examples for contributors: an aggregate, a timer and a processor are put into a copy, and do as it says.

The operator and the language of the page are those of ``tests/operators/test_stranger.py``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pages import blocks

ROOT = Path(__file__).parent.parent.parent
PAGE = blocks((ROOT / "docs/about/extending.md").read_text())


@pytest.fixture
def copied(tmp_path):
    shutil.copytree(ROOT / "src/occurs", tmp_path / "src/occurs", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize("name", ["spread", "next"])
def test_an_aggregate_and_a_timer_are_added(name, copied):
    (change,) = (b.code for b in PAGE if b.title == f"{name}.diff")
    subprocess.run(["git", "apply", "--unidiff-zero", "-"], input=change, text=True, check=True, cwd=copied)
    does_what_the_page_says(name, copied)


def test_a_processor_is_added(copied):
    (block,) = (b for b in PAGE if b.title == "skip_while.py")
    shutil.copy(ROOT / block.code.split('"')[1], copied / "src/occurs/operators/process/further")
    does_what_the_page_says("skipping", copied)


def does_what_the_page_says(name, tmp_path):
    code, out = (next(b.code for b in PAGE if b.title == f"{name}.{end}") for end in ("py", "out"))
    settings = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "OCCURS_KERNELS": "plain"}
    settings["OCCURS_CACHE"] = str(tmp_path / "cache")
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (out, "")


@pytest.mark.parametrize("name", ["family.py", "define.py", "__init__.py"])
def test_the_files_of_the_operator_and_the_language_are_those_that_are_tested(name):
    (block,) = (b for b in PAGE if b.title == name)
    included = block.code.split('"')[1]
    assert included == f"tests/operators/stranger/summits/{name}"
    assert (ROOT / included).is_file()
