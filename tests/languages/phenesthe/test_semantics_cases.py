"""The reference semantics of Phenesthe against the text cases."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from tests.textcases.phenesthe import LastingCase, Line, Loaded, Written, load_lasting_cases, parse_rows

from occurs.errors import OccursError
from occurs.languages.phenesthe.checks import analyse
from occurs.model.types import Schema, from_arrow

CASES = load_lasting_cases(Path(__file__).parents[2] / "cases" / "phenesthe")
IDS = [f"{Path(c.file).stem}: {c.name}" for c in CASES]


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
        queries = loaded.windows()
        assert list(queries) == list(case.expected)
        for at, rows in case.expected.items():
            check(case, loaded.lines(rows), queries[int(at or 0)])
    else:
        # a stream: what is final, at closing at the latest, is the answer over the whole history
        final = [r for at, rows in case.expected.items() for r in rows if at in (None, "closing") or not still_open(r)]
        assert len(final) == len(loaded.lines(final))
        check(case, loaded.lines(final), loaded.batch())


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_checks_find_what_the_reference_refuses_and_nothing_else(case: LastingCase) -> None:
    loaded = Loaded(case)
    seen = {}
    for name, table in {**loaded.tables(), **loaded.fact_tables()}.items():
        columns = ((f.name, from_arrow(f.type)) for f in table.schema if f.name not in ("time", "end"))
        seen[name] = Schema(tuple((n, t) for n, t in columns if t is not None))
    problems = analyse([loaded.file], seen, kind=case.kind, windows=case.mode == "window").problems
    found = {p.kind for p in problems if p.severity == "error"}
    # an overflow is known when the row is
    assert found == ({case.error} - {None, "overflow"}), [p.render() for p in problems]


def still_open(row: Written) -> bool:
    return row.lasting and row.end is None


def test_there_are_all_worked_examples_that_are_no_data() -> None:
    names = {c.name.split()[0] for c in CASES if Path(c.file).stem == "worked"}
    assert {str(n) for n in range(1, 24)} <= names


def test_cases_as_tables() -> None:
    (case,) = [c for c in CASES if c.name == "facts from outside, with names; null binds nothing"]
    assert Loaded(case).fact_tables()["limit"].to_pydict() == {"k": [1, 2, None], "most": [10, None, 3]}
    (case,) = [c for c in CASES if c.name == "timestamps"]
    (case2,) = [c for c in CASES if c.name == "a null in a state"]
    assert Loaded(case).tables()["a"].schema.field("time").type == pa.timestamp("us", tz="UTC")
    table = Loaded(case2).tables()["p"]
    assert table.column_names == ["time", "end", "k", "l"]
    assert table.to_pylist()[0] == {"time": 1, "end": 5, "k": "v", "l": None}


def test_all_cases_are_distinct_and_have_tables() -> None:
    for case in CASES:
        loaded = Loaded(case)
        assert sum(t.num_rows for t in loaded.tables().values()) == len(case.rows), case.name
    assert len({(c.file, c.name) for c in CASES}) == len(CASES)


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
        with pytest.raises(ValueError, match=r"no (row|time|value)|not a (row|time|value)"):
            parse_rows(wrong)


def test_a_case_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    for body in ("```in\na@1\n```", "```phen\n```\n```out\na@1\n```\n```options\nmode: window\n```"):
        file = tmp_path / "case.md"
        file.write_text(f"## one\n{body}\n", encoding="utf-8")
        with pytest.raises(ValueError, match=r"case\.md:1"):
            load_lasting_cases(file)
