"""The prose linter: every phrase of its list is found, near misses are not; code is never read."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))
try:
    import prose
finally:
    sys.path.pop(0)

PATTERNS = prose.patterns()
IDS = [re.sub(r"\W+", "-", each.hits[0]) for each in PATTERNS]


def found(text, pattern):
    piece = prose.Piece(prose.without_code(text), [1])
    return [sentence for _, sentence in prose.sentences(piece) if pattern.match.search(sentence)]


def lint(tmp_path, name, text, public=None):
    path = tmp_path / name
    path.write_text(text)
    return [(each.line, each.phrase) for each in prose.lint(path, PATTERNS, {path: public or set()})]


@pytest.mark.parametrize("pattern", PATTERNS, ids=IDS)
def test_a_phrase_is_found_and_its_near_misses_are_not(pattern):
    assert pattern.hits
    assert pattern.misses
    assert [text for text in pattern.hits if not found(text, pattern)] == []
    assert [text for text in pattern.misses if found(text, pattern)] == []


def test_a_row_of_the_list_has_what_is_documented():
    rows = tomllib.loads((ROOT / "tools" / "prose.toml").read_text())["pattern"]
    assert {key for row in rows for key in row} == {"match", "why", "write", "headings", "hits", "misses"}


def test_markdown_is_read_without_code_and_targets(tmp_path):
    page = """# What lasts
# What is guaranteed

A row `that is no event` is [an event](is-no-event.md).
<!-- this is no comment -->
```python
x = "this is no event"
```
- this is
  no event

~~~
this is no event
~~~

| a | this is no cell |
|---|---|
This line is no problem. <!-- prose: ok -->
"""
    assert lint(tmp_path, "page.md", page) == [
        (1, "What lasts"),
        (9, "is no"),
        (16, "is no"),
    ]


def test_python_is_read_by_its_strings(tmp_path):
    code = '''"""This is no public docstring."""

NAME = "is no"  # short
a = f"`{NAME}` is no {NAME:>5}"
b = (
    "this "
    "is no event"
)
c = "this is no event"  # prose: ok


def open_one():
    """It goes on.

    >>> "this is no event"
    """
    raise ValueError("this says so")  # is no comment


def _hidden():
    """This is no event."""


@click.command("x")
def command():
    """This is no event."""


class Thing:
    """A thing."""

    def method(self):
        """Tells what it is."""

    def _method(self):
        """Tells what it is."""
'''
    others = [(4, "is no"), (6, "is no"), (17, "says so")]
    assert sorted(lint(tmp_path, "code.py", code)) == sorted([*others, (26, "is no")])
    public = [(13, "It goes on"), (26, "is no"), (33, "Tells")]
    assert sorted(lint(tmp_path, "code.py", code, {"open_one", "Thing"})) == sorted(others + public)


def test_public_names_are_those_that_users_see():
    public = prose.exported()
    source = ROOT / "src" / "occurs"
    assert "Program" in public[source / "program.py"]
    assert "Pipe" in public[source / "pipes" / "pipe.py"]
    assert public[source / "pipes" / "ltl.py"] == {"*"}
    assert prose.is_public("Program.detect", {"Program"})
    assert prose.is_public(prose.COMMAND, set())
    assert not prose.is_public("Program._stages", {"Program"})
    assert not prose.is_public("Plan", {"Program"})


def test_exit_status_and_lines(tmp_path, capsys):
    bad, good = tmp_path / "bad.md", tmp_path / "good.md"
    bad.write_text("A list\nis no aggregate.\n")
    good.write_text("A list is not an aggregate.\n")
    assert prose.main([str(good)]) == 0
    assert prose.main([str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert f"{bad}:1: A list is no aggregate." in out
    assert 'write "is not a .."' in out
    assert prose.main([str(tmp_path / "missing.md")]) == 2


def test_the_default_paths_are_pages_and_source():
    paths = prose.default_paths()
    assert ROOT / "README.md" in paths
    assert ROOT / "src" / "occurs" in paths
    assert ROOT / "docs" / "spec" / "tesla.md" in paths
