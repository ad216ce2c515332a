"""Typical mistakes of new users, through the real command line: what it prints, and that its hint works.

A case is a section of a file in ``tests/cases/mistakes``, in fenced blocks.  A block whose word is the name of a file
is that file.  ``run`` is a command and ``says`` is all that it prints on stderr, with its exit status in the last line.
``then`` is what the hint leads to: a command with status 0.  ``then NAME`` is the file NAME as the hint wants it, with
which the same command has status 0.  ``without`` names a package that is not installed.  The section "Files" has files
that all cases of its page may use.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from inspect import ismodule
from pathlib import Path

import pytest
from click.testing import CliRunner

from occurs.cli import main
from occurs.testing.cases import sections

FOLDER = Path(__file__).parent / "cases" / "mistakes"


@dataclass(frozen=True)
class Mistake:
    name: str
    blocks: dict[str, str]
    files: dict[str, str]

    @property
    def mended(self) -> dict[str, str]:
        """The files as the hint wants them."""
        return {word.removeprefix("then "): text for word, text in self.blocks.items() if word.startswith("then ")}


def mistakes() -> list[Mistake]:
    out = []
    for page in sorted(FOLDER.glob("*.md")):
        found = list(sections(page.read_text()))
        shared = next((blocks for name, _, _, blocks in found if name == "Files"), {})
        for name, _, _, blocks in found:
            if name != "Files":
                own = {word: text for word, text in blocks.items() if " " not in word and "." in word}
                out.append(Mistake(name, blocks, shared | own))
    return out


MISTAKES = mistakes()


def put(files: dict[str, str]) -> None:
    for name, text in files.items():
        encoding = "latin-1" if "latin" in name else "utf-8"
        Path(name).write_text(text + "\n", encoding=encoding)


def call(command: str) -> tuple[str, int]:
    """What a command line prints on stderr, and its exit status."""
    line, _, piped = command.partition("<")
    words = shlex.split(line)
    assert words[0] == "occurs"
    if words[1] == "run" and "--host" not in words:
        words += ["--host", "local"]
    given = Path(piped.strip()).read_bytes() if piped else None
    done = CliRunner().invoke(main, words[1:], input=given, prog_name="occurs")
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return re.sub(r" in \d+\.\d s\b", " in 0.0 s", done.stderr), done.exit_code


class Missing(MetaPathFinder):
    """Finds no package of these names."""

    def __init__(self, names: list[str]):
        self.names = names

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def hide(names: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """As if packages were not installed: modules of Occurs that import them have to be imported again."""
    hidden = [m for m in sys.modules if m.split(".")[0] in names]
    lacking = [sys.modules[m] for m in hidden]
    for name, module in list(sys.modules.items()):
        if name.startswith("occurs.") and any(value in lacking for value in vars(module).values() if ismodule(value)):
            hidden.append(name)
    for name in hidden:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing(names), *sys.meta_path])


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.name)
def test_a_mistake_is_told_with_the_hint_that_mends_it(mistake, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(mistake.files)
    with monkeypatch.context() as hidden:
        hide(mistake.blocks.get("without", "").split(), hidden)
        told, status = call(mistake.blocks["run"])
    assert "Traceback" not in told
    assert "error[internal]" not in told
    assert f"{told.rstrip()}\n[{status}]" == mistake.blocks["says"]
    if mistake.mended or "then" in mistake.blocks:
        put(mistake.mended)
        told, status = call(mistake.blocks.get("then", mistake.blocks["run"]))
        assert status == 0, told


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: m.name)
def test_every_problem_has_its_place_and_a_hint(mistake):
    """In the texts of the cases: rules have a line, a column and a caret; whatever fails, something helps."""
    says = mistake.blocks["says"]
    assert "hint:" in says or "Did you mean" in says or "Try 'occurs" in says
    for line, below in re.findall(r"^(\S+\.(?:tesla|epl|phen|ftl|ptl|esql)):\d+:\d+: .*\n((?:  .*\n)*)", says, re.M):
        assert re.search(r"^  +\^+$", below, re.M), line
    if says.endswith("[0]"):
        assert re.search(r"\b(warning|notice)\[", says)


def test_there_are_many():
    assert len(MISTAKES) >= 40
