"""Test cases that users keep beside their rules: files, verdicts, differences, updates, `occurs test`."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import occurs
from occurs.cli import main
from occurs.errors import UsageProblem
from occurs.model.occurrence import Occurrence
from occurs.testing.cases import KINDS, Time, parse_events
from occurs.testing.coverage import coverage
from occurs.testing.replay import replay
from occurs.testing.rules import difference, load, verdict, written

RULES = """event Smoke(room: string)
event Temp(room: string, celsius: float)
define Fire(room, celsius)
from   Smoke(room = $r) and last Temp(room = $r, celsius > 45) within 5 min from Smoke
where  room = $r, celsius = Temp.celsius
"""

CASES = """# Fires
```options
unit: s
```
## A hot room
```in
Temp@0(room='a', celsius=50) Smoke@4m(room='a')
```
```out
Fire@240(room='a', celsius=50)
```
## Another room
```in
Temp@0(room='a', celsius=50) Smoke@4m(room='b')
```
```out
(nothing)
```
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fire.tesla").write_text(RULES)
    (tmp_path / "fire.case").write_text(CASES)
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, ["test", *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "A@5(k='a\\'b\\\\c\\nd', v=1, w=1.5, x=null, y=true, z=false)",
        "A@5#2(v=-1)\nA@5#3",
        "S@[1,5](k='x')\nS@[7,∞)",
        "A@1(l=[1|2|x], t=@2024-03-01T08:00:00.500000Z)",
        "(nothing)",
    ],
)
def test_written_rows_are_read_back(text: str) -> None:
    events = parse_events(text, KINDS["s"])
    assert written(events, KINDS["s"]) == text
    assert parse_events(written(events, KINDS["s"]), KINDS["s"]) == events


def test_an_interval_has_its_end_as_an_attribute() -> None:
    one, two = parse_events("S@[2024-01-01T00:00:00Z,2024-01-01T00:00:01Z] S@[3,∞)(k=1)", KINDS["timestamp"])
    assert one.attributes == {"end": one.time + 1_000_000}
    assert two == Occurrence("S", 3, {"end": None, "k": 1})
    assert isinstance(parse_events("A@1(t=@2024-01-01)")[0].attributes["t"], Time)


def test_the_rules_beside_a_file_are_its_rules(here: Path) -> None:
    first, second = load(here / "fire.case")
    assert [c.line for c in (first, second)] == [5, 12]
    assert (first.kind, first.texts[0][1:]) == (KINDS["s"], (str(here / "fire.tesla"), "tesla"))
    assert verdict(first).failure is None
    assert verdict(second).failure is None


def test_a_difference_names_what_differs() -> None:
    expected = parse_events("A@1(k='x', v=1) A@2(k='y', v=2) B@9")
    found = parse_events("A@1(k='x', v=1) A@2(k='y', v=3) A@4(k='z', v=9)")
    assert difference(expected, found, KINDS["ms"]) == (
        "expected 3, detected 3 (- 2 missing, + 2 not expected)\n"
        "    A@1(k='x', v=1)\n"
        "  - A@2(k='y', v=2)\n"
        "  + A@2(k='y', v=3)\n"
        "      v: expected 2, detected 3\n"
        "  + A@4(k='z', v=9)\n"
        "  - B@9"
    )
    assert difference(expected, expected, KINDS["ms"]) is None


def test_failures_are_printed_and_updated(here: Path) -> None:
    (here / "fire.case").write_text(CASES.replace("celsius=50)\n```\n## A", "celsius=51)\n```\n## A") + "## New\n")
    text = (here / "fire.case").read_text() + "```in\nSmoke@1(room='x')\n```\n"
    (here / "fire.case").write_text(text)
    status, out, err = run(".")
    assert status == 1
    assert "FAILED fire.case:5: A hot room" in out
    assert "celsius: expected 51, detected 50.0" in out
    assert "the case has no expected detections" in out
    assert "3 cases: 1 passed, 2 failed in" in err
    status, out, err = run("fire.case", "--update-cases")
    assert (status, out) == (0, "updated 2 cases in fire.case\n")
    changed = text.replace("celsius=51", "celsius=50.0") + "```out\n(nothing)\n```\n"
    assert (here / "fire.case").read_text() == changed
    assert run(".")[0] == 0


def test_expected_errors_and_wrong_files(here: Path) -> None:
    (here / "bad.case").write_text(
        "## Unknown\n```tesla\ndefine A(x) from B() where x = C.x\n```\n```error\nunknown-name\n```\n"
        "## Not this one\n```tesla\ndefine A(x) from B() where x = C.x\n```\n```error\nsyntax\n```\n"
        "## None at all\n```tesla\ndefine A() from B()\n```\n```in\nB@1\n```\n```error\nsyntax\n```\n"
    )
    status, out, _ = run("bad.case")
    assert status == 1
    assert "FAILED bad.case:1:" not in out
    assert "expected error[syntax], but the run stopped with\nbad.case:8:1:32: error[unknown-name]" in out
    assert "expected error[syntax], but the run has no error and detects\n    A@1" in out
    (here / "worse.case").write_text("## One\n```tesla\n```\n```in\nB@x\n```\n")
    status, _, err = run(".")
    assert status == 2
    assert "error[bad-case]: worse.case:1: not an event: 'B@x'" in err
    assert run("nowhere")[0] == 2
    (here / "empty").mkdir()
    assert "no *.case files in empty" in run("empty")[2]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("## A\n```in\n```\n", "no rules; add a block `rules`"),
        ("## A\n```tesla\n```\n```inn\n```\n", "unknown blocks ['inn']"),
        ("## A\n```tesla\n```\n```options\nunits: s\n```\n", "unknown options ['units']"),
        ("## A\n```tesla\n```\n```options\nended: no\n```\n", "ended: no; use true or false"),
        ("## A\n```tesla\n```\n```out\n```\n```error\nsyntax\n```\n", "one of them can be expected"),
    ],
)
def test_a_wrong_case_names_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "x.case").write_text(text)
    with pytest.raises(ValueError, match=r"x\.case:1: A: ") as error:
        load(tmp_path / "x.case")
    assert words in str(error.value)


def test_options_and_intervals(tmp_path: Path) -> None:
    (tmp_path / "x.case").write_text(
        "```phen\ninput event stop(Ship), go(Ship).\nstate stopped(Ship) : stop(Ship) ~> go(Ship).\n"
        "event seen(Ship) : stop(Ship) or go(Ship).\n```\n"
        "## At the end\n```options\nonly: stopped\n```\n```in\nstop@1(Ship='a') go@5(Ship='a') stop@7(Ship='b')\n```\n"
        "```out\nstopped@[1,5](Ship='a') stopped@[7,∞)(Ship='b')\n```\n"
        "## Before the end\n```options\nonly: stopped\nended: false\n```\n```in\nstop@1(Ship='a') go@5(Ship='a') "
        "stop@7(Ship='b')\n```\n```out\nstopped@[1,5](Ship='a')\n```\n"
    )
    assert [verdict(c).failure for c in load(tmp_path / "x.case")] == [None, None]


def test_coverage_names_the_clauses_that_decide_nothing(here: Path) -> None:
    found = coverage(load(here / "fire.case"))
    assert [p.text for p, ok in found.clauses.items() if not ok] == ["last", "celsius > 45", "5 min"]
    assert list(found.rules.values()) == [True]
    with (here / "fire.case").open("a") as file:
        file.write(
            "## A cold room, an old one, and the last of two\n"
            "```in\nTemp@0(room='a', celsius=60) Temp@1(room='a', celsius=50) Temp@2(room='b', celsius=20)\n"
            "Smoke@200(room='a') Smoke@201(room='b') Smoke@302(room='a')\n```\n"
            "```out\nFire@200(room='a', celsius=50)\n```\n"
        )
    status, out, _ = run(".", "--fail-under", "100")
    assert (status, out.splitlines()) == (
        0, ["100 % covered: 4 of 4 clauses decide a case, 1 of 1 rules detect something"],
    )  # fmt: skip
    (here / "fire.case").write_text(CASES.replace("Fire@240(room='a', celsius=50)", "(nothing)", 1))
    status, out, err = run(".", "--fail-under", "90")
    assert status == 1
    assert "fire.tesla:4:71: `5 min`: no case changes without this clause" in out
    assert "is below --fail-under 90" in err


EVENTS = pa.table(
    {
        "type": ["Temp", "Temp", "Smoke", "Temp", "Smoke", "Smoke"] * 10,
        "time": [t + 400 * n for n in range(10) for t in (0, 10, 30, 200, 240, 399)],
        "room": ["a", "b", "a", "a", "b", "a"] * 10,
        "celsius": [50.0, 60.0, None, 70.0, None, None] * 10,
    }
)


def test_a_replay_with_disorder_and_restarts_changes_nothing() -> None:
    program = occurs.parse(RULES)
    whole = program.detect(EVENTS, time_unit="s")["Fire"]
    assert len(whole) > 20
    for seed in range(3):
        done = replay(program, EVENTS, time_unit="s", disorder="2 min", restarts=5, seed=seed)
        assert (done.difference, done.late, done.restarts) == (None, 0, 5)
        assert done.found["Fire"].to_pylist() == whole.to_pylist()


def test_a_replay_skips_what_is_later_than_the_watermark() -> None:
    done = replay(occurs.parse(RULES), EVENTS, time_unit="s", disorder="5 min", watermark=0)
    assert done.late > 0
    assert done.difference is not None
    assert "missing" in done.difference
    with pytest.raises(UsageProblem, match="batches"):
        replay(occurs.parse(RULES), EVENTS, time_unit="s", batches=0)


MIXED = """```epl
insert into Pair select a.k as k, b.v as v from pattern [every a=A -> b=B(k = a.k)];
```
## Both
```in
A@1(k='x') B@2(k='x', v=1)
```
```out
Pair@2(k='x', v=1)
```
## No B, and so no v
```in
A@1(k='x')
```
```out
(nothing)
```
## A broken v
```in
A@1(k='x') B@2(k='x', v=1.5)
```
```out
Pair@2(k='x', v=1.5)
```
"""


def test_the_cases_of_a_file_have_the_same_types_and_one_program(tmp_path: Path) -> None:
    (tmp_path / "pair.case").write_text(MIXED)
    both, without, broken = load(tmp_path / "pair.case")
    assert [verdict(c).failure for c in (both, without, broken)] == [None, None, None]
    assert both.program() is without.program() is broken.program()
    assert str(without.inputs["B"]) == str(both.inputs["B"])
    assert both.events_for(both.program())["B"].schema.field("v").type == pa.float64()
    assert both.program().checked is broken.program().checked


def test_a_case_that_expects_an_error_has_its_own_types(tmp_path: Path) -> None:
    (tmp_path / "pair.case").write_text(MIXED.replace("```out\n(nothing)", "```error\nunknown-name"))
    assert [verdict(c).failure for c in load(tmp_path / "pair.case")] == [None, None, None]


def test_types_on_which_cases_disagree_are_those_of_each_case(tmp_path: Path) -> None:
    (tmp_path / "pair.case").write_text(MIXED.replace("v=1.5", "v='one'"))
    assert [verdict(c).failure is None for c in load(tmp_path / "pair.case")] == [True, False, True]


def test_a_case_whose_values_have_different_types_is_wrong(tmp_path: Path) -> None:
    wrong = MIXED.replace("A@1(k='x') B@2(k='x', v=1)", "B@1(k='x', v=1) B@2(k='x', v='y')")
    (tmp_path / "pair.case").write_text(wrong)
    with pytest.raises(ValueError, match=r"pair\.case:4: Both: B\.v has values of different types"):
        load(tmp_path / "pair.case")


def test_a_thousand_cases_are_parsed_and_planned_once(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "fire.case").write_text(
        "```options\nunit: s\n```\n"
        + "".join(
            f"## Case {n}\n```in\nTemp@0(room='a', celsius={n % 90}) Smoke@{n}(room='a')\n```\n```out\n"
            + (f"Fire@{n}(room='a', celsius={n % 90})" if n % 90 > 45 and n <= 300 else "")
            + "\n```\n"
            for n in range(1, 1001)
        )
    )
    planned = []
    plan = occurs.program.CheckedProgram._planned
    monkeypatch.setattr(occurs.program.CheckedProgram, "_planned", lambda *a: planned.append(1) or plan(*a))
    status, _, err = run(".")
    assert status == 0
    assert err.startswith("1,000 cases: 1000 passed, 0 failed")
    assert len(planned) == 1
