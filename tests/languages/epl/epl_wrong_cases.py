"""Reads the wrong rule files of tests/cases/epl/wrong: statements, what is known of the data, the expected problems.

A case is a Markdown file: a title, ``time: timestamp | integer | UNIT`` if the kind of time is known,
``values: NAME=VALUE, ..`` if values are given, and blocks
``inputs`` and ``foreign`` (one ``[lasting | unordered] Type(attribute type, ...)`` a line), ``reads`` (one ``Type: the
types it is made of``), ``epl`` and ``problems`` (one ``[warning] kind line:column «underlined text» hint: part of the
hint see: line:column`` a line; all that are found, in order).  A case may have several pairs of ``epl`` and
``problems``: each is a program of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from occurs.errors import Problem
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import Analysis, analyse
from occurs.languages.epl.parser import parse
from occurs.languages.kit.language import Written
from occurs.model.time import TimeKind
from occurs.model.types import Schema

FOLDER = Path(__file__).parents[2] / "cases" / "epl" / "wrong"
LINE = re.compile(r"(?:(warning|notice) )?([a-z-]+) (\d+):(\d+) «(.*?)»(?: hint: (.*?))?(?: see: ([\d:, ]+))?")


@dataclass(frozen=True)
class Wrong:
    """One program with its problems, and what is known of the data."""

    name: str
    text: str
    expected: list[str]
    inputs: dict[str, Schema] | None
    foreign: dict[str, Schema]
    reads: dict[str, frozenset[str]]
    kind: TimeKind | None
    values: dict[str, Written]

    def analysed(self) -> tuple[Analysis, list[Problem]]:
        """What the checks make of it, and all problems of parser and checks in text order."""
        file, problems = parse(self.text, "case.epl")
        analysis = analyse([file], self.inputs, self.foreign, self.kind, foreign_reads=self.reads, values=self.values)
        return analysis, sorted([*problems, *analysis.problems], key=Problem.sort_key)


def wrong_cases() -> list[Wrong]:
    """All of them."""
    return [case for path in sorted(FOLDER.glob("*.md")) for case in _read(path)]


def _read(path: Path) -> list[Wrong]:
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)
    time = next((line.removeprefix("time: ") for line in text.splitlines() if line.startswith("time: ")), None)
    given = next((line.removeprefix("values: ") for line in text.splitlines() if line.startswith("values: ")), "")
    values = {n: Written(v) for n, v in (part.split("=") for part in given.split(", ") if part)}
    known = {name: body.splitlines() for name, body in blocks if name not in ("epl", "problems")}
    reads = {line.split(": ")[0]: frozenset(line.split(": ")[1].split(", ")) for line in known.get("reads", [])}
    inputs = schemas(known["inputs"]) if "inputs" in known else None
    foreign = schemas(known.get("foreign", []))
    out: list[Wrong] = []
    for name, body in blocks:
        if name == "epl":
            kind = time_kind(time)
            out.append(Wrong(f"{path.stem}-{len(out) + 1}", body[:-1], [], inputs, foreign, reads, kind, values))
        elif name == "problems":
            out[-1].expected.extend(body.splitlines())
    return out


def schemas(lines: list[str]) -> dict[str, Schema]:
    """Types as the data or another language shows them."""
    out = {}
    for line in lines:
        flag, _, rest = line.partition(" ")
        if flag not in ("lasting", "unordered"):
            flag, rest = "", line
        file, problems = parse(f"create schema {rest};")
        assert not problems, rest
        (made,) = file.statements
        assert isinstance(made, syntax.CreateSchema)
        schema = Schema(tuple((a.name.text, a.type) for a in made.attributes))
        out[made.name.text] = replace(schema, ordered=flag != "unordered", lasting=flag == "lasting")
    return out


def time_kind(word: str | None) -> TimeKind | None:
    """The kind of time a case speaks of."""
    if word is None:
        return None
    return TimeKind() if word == "timestamp" else TimeKind(False, None if word == "integer" else word)


def shown(problem: Problem, text: str) -> str:
    """A problem as the cases write it, without its hint."""
    lines = [*text.split("\n"), ""]
    assert problem.span is not None
    line = lines[problem.span.line - 1]
    assert problem.source == line.rstrip("\r")
    stop = problem.span.end_column if problem.span.end_line == problem.span.line else len(line) + 1
    severity = "" if problem.severity == "error" else f"{problem.severity} "
    return f"{severity}{problem.kind} {problem.line}:{problem.column} «{line[problem.span.column - 1 : stop - 1]}»"
