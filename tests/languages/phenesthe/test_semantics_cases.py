"""The reference semantics of Phenesthe against the text cases."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from occurs.errors import OccursError
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.semantics import Result, Row, evaluate
from occurs.languages.phenesthe.semantics_window import windows
from occurs.testing.lasting import LastingCase, Written, load_lasting_cases, parse_rows

CASES = load_lasting_cases(Path(__file__).parents[2] / "cases" / "phenesthe")
IDS = [f"{Path(c.file).stem}: {c.name}" for c in CASES]

Line = tuple[Any, ...]


class Loaded:
    """A case, parsed: its statements, its rows by the names of attributes."""

    def __init__(self, case: LastingCase) -> None:
        file, problems = parse(case.rules)
        errors = [p.render() for p in problems if p.severity == "error"]
        assert not errors, "\n".join([f"{case.file}:{case.line}", *errors])
        self.file, self.case = file, case
        self.names: dict[str, list[str]] = {}
        for s in file.statements:
            if isinstance(s, syntax.Declaration):
                self.names[s.name.text] = [a.name.text for a in s.attributes]
            elif isinstance(s, syntax.Definition):
                self.names[s.name.text] = [a.name.text for a in s.head]

    def attributes(self, row: Written) -> dict[str, Any]:
        return row.attributes(self.names.get(row.type, [f"a{i + 1}" for i in range(len(row.values))]))

    @property
    def history(self) -> list[Row]:
        rows = []
        for r in self.case.rows:
            assert r.time is not None
            rows.append(Row(r.type, r.time, self.attributes(r), r.end))
        return rows

    @property
    def facts(self) -> dict[str, list[dict[str, Any]]]:
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.case.facts:
            found.setdefault(row.type, []).append(self.attributes(row))
        return found

    def lines(self, rows: Iterable[Written]) -> set[Line]:
        out = set()
        for r in rows:
            when = (r.time, r.end) if r.lasting else (r.time,)
            out.add(line(r.type, self.attributes(r).items(), when))
        return out

    def batch(self) -> set[Line]:
        ends = {k: v for k, v in self.case.times.items() if k in ("start", "until")}
        return shown(evaluate(self.file, self.history, kind=self.case.kind, facts=self.facts, **ends))


def line(type_: str, attributes: Iterable[tuple[str, Any]], when: Line) -> Line:
    """A row as a value that tells true from 1, but not 1 from 1.0."""
    return (type_, *when, tuple(sorted((n, isinstance(v, bool), v) for n, v in attributes)))


def shown(found: dict[str, set[Result]]) -> set[Line]:
    return {line(name, row[0], row[1:]) for name, rows in found.items() for row in rows}


def check(case: LastingCase, expected: set[Line], found: set[Line]) -> None:
    missing, extra = sorted(expected - found, key=repr), sorted(found - expected, key=repr)
    assert (missing, extra) == ([], []), f"{case.file}:{case.line}\nmissing: {missing}\nnot expected: {extra}"


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_cases(case: LastingCase) -> None:
    loaded = Loaded(case)
    if case.error is not None:
        with pytest.raises(OccursError) as caught:
            loaded.batch()
        assert caught.value.kind == case.error
        return
    assert case.expected is not None
    if case.mode == "window":
        queries = windows(loaded.file, loaded.history, kind=case.kind, facts=loaded.facts, **case.times)
        assert list(queries) == list(case.expected)
        for at, rows in case.expected.items():
            check(case, loaded.lines(rows), shown(queries[int(at or 0)]))
    else:
        # a stream: what is final, at closing at the latest, is the answer over the whole history
        final = [r for at, rows in case.expected.items() for r in rows if at in (None, "closing") or not still_open(r)]
        assert len(final) == len(loaded.lines(final))
        check(case, loaded.lines(final), loaded.batch())


def still_open(row: Written) -> bool:
    return row.lasting and row.end is None


def test_there_are_all_worked_examples_that_are_no_data() -> None:
    names = {c.name.split()[0] for c in CASES if Path(c.file).stem == "worked"}
    assert {str(n) for n in range(1, 24)} <= names


def test_the_notation_of_rows() -> None:
    rows = parse_rows("a@3 -4 p(v, 'x y', n=1.5, t=@1970-01-01T00:00:01Z)@[1,7] [2,∞)\n# b@1\nc(null, true)@0")
    named = {"n": 1.5, "t": 1_000_000}
    assert rows == [
        Written("a", time=3),
        Written("a", time=-4),
        Written("p", ("v", "x y"), named, 1, 7, True),
        Written("p", ("v", "x y"), named, 2, None, True),
        Written("c", (None, True), {}, 0),
    ]
    for wrong in ("a", "a@", "a@[1", "a(1", "a(n=1, 2)@3", "@3"):
        with pytest.raises(ValueError, match=r"no (row|time|value)"):
            parse_rows(wrong)


def test_a_case_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    for body in ("```in\na@1\n```", "```phen\n```\n```out\na@1\n```\n```options\nmode: window\n```"):
        file = tmp_path / "case.md"
        file.write_text(f"## one\n{body}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"case\.md:1"):
            load_lasting_cases(file)
