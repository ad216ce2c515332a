"""Reads the wrong rule files of tests/cases/tesla/wrong: rules, what is known of the data, the expected problems.

A case is a Markdown file: a title, ``time: timestamp | integer | UNIT`` if the kind of time is known, and blocks
``inputs`` and ``foreign`` (one ``[lasting | unordered] Type(attribute: type, ...)`` a line), ``tesla`` and ``problems``
(one ``[warning] kind line:column «underlined text» hint: part of the hint`` a line; all that are found, in order).
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from occurs.errors import Problem
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks import analyse
from occurs.languages.tesla.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

FOLDER = Path(__file__).parents[2] / "cases" / "tesla" / "wrong"
LINE = re.compile(r"(?:(warning|notice) )?([a-z-]+) (\d+):(\d+) «(.*?)»(?: hint: (.*))?")


def blocks(text: str) -> dict[str, list[str]]:
    """The lines of each fenced block by its name."""
    return {m[1]: m[2].splitlines() for m in re.finditer(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S)}


def schemas(lines: list[str]) -> dict[str, Schema]:
    """Types as the data or another language shows them."""
    out = {}
    for line in lines:
        flag, _, rest = line.partition(" ")
        if flag not in ("lasting", "unordered"):
            flag, rest = "", line
        file, problems = parse(f"event {rest}")
        assert not problems
        (event,) = file.statements
        assert isinstance(event, syntax.EventSchema)
        schema = Schema(tuple((a.name.text, a.type or Type.NULL) for a in event.attributes))
        out[event.type.text] = replace(schema, ordered=flag != "unordered", lasting=flag == "lasting")
    return out


def time_kind(word: str | None) -> TimeKind | None:
    """The kind of time a case speaks of."""
    if word is None:
        return None
    if word == "timestamp":
        return TimeKind()
    return TimeKind(timestamp=False, unit=None if word == "integer" else word)


def found(
    rules: str, inputs: list[str] | None, foreign: list[str], kind: str | None
) -> tuple[list[tuple[Problem, str]], list[str]]:
    """All problems of the parser and the checks in text order, each with the underlined text."""
    file, problems = parse(rules, "case.tesla")
    observed = None if inputs is None else schemas(inputs)
    analysis = analyse([file], observed, schemas(foreign), time_kind(kind))
    lines = [*rules.split("\n"), ""]
    out = []
    for problem in sorted([*problems, *analysis.problems], key=Problem.sort_key):
        assert problem.span is not None
        line = lines[problem.span.line - 1]
        assert problem.source == line
        stop = problem.span.end_column if problem.span.end_line == problem.span.line else len(line) + 1
        out.append((problem, line[problem.span.column - 1 : stop - 1]))
    return out, lines
