"""The public docstrings: their examples run, and they have the sections that the reference is made of."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import occurs

#: the functions and methods of the reference
CALLABLES = [
    occurs.load, occurs.parse, occurs.changes, occurs.Program.check, occurs.Program.detect, occurs.Program.live,
    occurs.Program.stream, occurs.Program.explain, occurs.Program.verify, occurs.Live.on_event, occurs.Live.push_many,
    occurs.Live.advance, occurs.Live.stream, occurs.Detections.timeline,
]  # fmt: skip


@pytest.mark.parametrize(
    "module", ["program", "hosts.detections", "loading", "errors", "connect.debezium", "hosts.live"]
)
def test_examples_run(module):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    done = doctest.testmod(importlib.import_module(f"occurs.{module}"), optionflags=flags)
    assert done.failed == 0


@pytest.mark.parametrize("called", CALLABLES, ids=lambda c: c.__qualname__)
def test_every_argument_is_explained(called):
    text = inspect.getdoc(called)
    section = text.split("Args:\n")[1].split("\n\n")[0]
    named = [line.split(":")[0].strip() for line in section.split("\n") if line.startswith("    ") and line[4] != " "]
    assert named == [n for n in inspect.signature(called).parameters if n != "self"]
    assert "\n\nReturns:\n" in text
    assert "\n\nRaises:\n" in text or called is occurs.Program.check


@pytest.mark.parametrize("name", [n for n in occurs.__all__ if n != "__version__"])
def test_the_first_line_stands_alone(name):
    first = inspect.getdoc(getattr(occurs, name)).split("\n")[0]
    assert first.endswith((".", ":")), first


def test_spark_sessions_too():
    """Their module is read, not imported: PySpark may be missing."""
    path = Path(occurs.__file__).parent / "connect" / "spark.py"
    tree = ast.parse(path.read_text())
    (text,) = [ast.get_docstring(n) for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "local_session"]
    assert all(f"\n\n{section}:\n" in text for section in ("Args", "Returns", "Raises", "Examples"))
