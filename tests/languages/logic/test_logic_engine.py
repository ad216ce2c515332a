"""Every text case of temporal triggers through the engine: what it gives, and the laws; random ones, too."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from tests.generators.random_logic import random_core, random_logic
from tests.laws.logic import Subject, all_laws
from tests.textcases.logic import LogicCase, load_cases

from occurs.errors import OccursError
from occurs.languages.logic import define
from occurs.loading import parse
from occurs.model.occurrence import Occurrence
from occurs.operators.temporal import sql
from occurs.operators.temporal.general import General
from occurs.operators.temporal.values import Relation
from occurs.verify.compare import difference

pytestmark = pytest.mark.usefixtures("general")
CASES = load_cases(Path(__file__).parents[2] / "cases" / "logic")
RIGHT = [c for c in CASES if c.error is None]


@pytest.fixture
def general(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All by the operator that goes state by state, unless a test asks for the one that is as users call it."""
    if getattr(request, "param", True):
        monkeypatch.setattr(define, "operator_of", General)


@pytest.mark.parametrize("general", [True, False], ids=["state by state", "as called"], indirect=True)
@pytest.mark.parametrize("case", RIGHT, ids=lambda c: f"{Path(c.file or '').stem}-{c.name}")
def test_case(case: LogicCase) -> None:
    subject = Subject(case)
    found = subject.answer([] if subject.clock is None else [subject.clock[1]])
    assert not isinstance(found, str)
    for event in found:
        del event.attributes["label"]  # type: ignore[attr-defined]
    assert difference(case.expected or (), found) is None


@pytest.mark.parametrize("general", [True, False], ids=["state by state", "as called"], indirect=True)
@pytest.mark.parametrize("case", [c for c in CASES if c.error is not None], ids=str)
def test_what_is_wrong_is_refused(case: LogicCase) -> None:
    assert told(case) == case.error


def told(case: LogicCase) -> object:
    """The kind of the error that the engine, or what comes before it, raises."""
    try:
        subject = Subject(case)
    except OccursError as error:
        return error.kind
    assert subject.clock is not None
    return subject.answer([subject.clock[1]])


@pytest.mark.share(4)
@pytest.mark.parametrize("case", RIGHT[::4], ids=str)
def test_laws(case: LogicCase) -> None:
    all_laws(case, random.Random(case.name))


@pytest.mark.share(4)
@pytest.mark.parametrize("make", [random_core, random_logic])
@pytest.mark.parametrize("seed", range(20))
def test_random_triggers_keep_the_laws(make, seed: int) -> None:
    all_laws(make(random.Random(seed)), random.Random(seed))


@pytest.mark.long
@pytest.mark.parametrize("make", [random_core, random_logic])
@pytest.mark.parametrize("block", range(20))
def test_many_random_triggers_keep_the_laws(make, block: int) -> None:
    for seed in range(20_000 + block * 500, 20_500 + block * 500):
        all_laws(make(random.Random(seed)), random.Random(seed))


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        ("eventually ([x <- a] nexttime a > x)", [("x", "1", 2), ("state", "state", 3)]),
        ("eventually (a = 3 and eventually a = 2)", [("state", "state", 3), ("state", "state", 4)]),
        ("eventually [t0 <- time] [x <- a] eventually (a = x + 1 and time <= t0 + 1)",
         [("t0", "2", 2), ("x", "1", 2), ("state", "state", 3)]),
        # all states at which the left side held
        ("a > 0 until a = 2", [("state", "state", t) for t in (1, 2, 3, 4)]),
        ("eventually (a = 1 and (not a = 4 until a = 2))", [("state", "state", t) for t in (2, 3, 4)]),
    ],
)  # fmt: skip
def test_why(formula: str, wanted: list[tuple[str, str, int]]) -> None:
    table = pa.table({"time": [1, 2, 3, 4], "a": [4, 1, 3, 2]})
    if "x + 1" in formula:
        table = pa.table({"time": [1, 2, 3, 4], "a": [4, 1, 2, 9]})
    found = parse(f"trigger t: {formula}", language="ftl").detect(table, time_unit="s", because=True)
    reasons = [(b["role"], b["type"], b["time"]) for b in found["t"].to_pylist()[0]["because"]]
    assert reasons == [("activation", "state", 1), *wanted]


def test_why_a_past_trigger_fires() -> None:
    table = pa.table({"time": [1, 2], "a": [1, 3]})
    found = parse("trigger t: [x <- a] lasttime a < x", language="ptl").detect(table, time_unit="s", because=True)
    reasons = [(b["role"], b["type"], b["time"]) for b in found["t"].to_pylist()[0]["because"]]
    assert reasons == [("activation", "state", 1), ("state", "state", 1), ("x", "3", 2), ("state", "state", 2)]


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        # the latest state at which it was so
        ("a = 2 and previously a = 1", [2, 6]),
        ("a = 2 and previously[<= 2] a = 3", [5, 6]),
        ("a = 2 and previously[>= 3] a = 3", [3, 6]),
        ("a = 2 and not previously[<= 2] a = 9", [4, 5, 6]),
        ("a = 2 and throughout[<= 3] a > 0", [3, 4, 5, 6]),
        ("a = 2 and (a > 0 since a = 1)", [2, 3, 4, 5, 6]),
        ("a = 9 or a = 2 and lasttime lasttime a = 4", [4, 6]),
        ("[x <- a] (x = 2 and previously a > x + 1)", [4, 6]),
        ("[x <- a] (x = 2 and previously (a = 1 and [y <- a] lasttime a > x + y))", [1, 2, 6]),
        ("a = 2 and sum of a within 2 = 9", [4, 5, 6]),
        ("a = 2 and 3 = count of a from (a = 4)", [4, 5, 6]),
        ("a = 2 and (previously a = 77 or previously a = 3)", [5, 6]),
    ],
)
@pytest.mark.parametrize("live", [False, True])
def test_the_states_that_a_past_trigger_has_read(formula: str, wanted: list[int], live: bool) -> None:
    a = [9, 1, 3, 4, 3, 2]
    wanted_values = [json.dumps({"a": a[t - 1]}) for t in wanted]
    program = parse(f"state s(a int)\ntrigger t: {formula} continue", language="ptl")
    table = pa.table({"time": range(1, 7), "a": a})
    if not live:
        rows = program.detect({"s": table}, time_unit="s", because=True)["t"].to_pylist()
    else:
        pushed = program.live(time_unit="s", because=True)
        rows = []
        for time, value in enumerate(a, 1):
            rows += pushed.on_event("s", time, {"a": value})
        rows += pushed.close()
    (row,) = [row for row in rows if row["time"] == 6]
    states = [b for b in row["because"] if b["role"] == "state"]
    assert [b["time"] for b in states] == wanted
    assert [b["attributes"] for b in states] == wanted_values


def test_a_past_trigger_remembers_no_more_states_than_it_may(monkeypatch) -> None:
    monkeypatch.setattr("occurs.operators.temporal.general.STATES", 3)
    program = parse("state s(a int)\ntrigger t: a = 0 and previously a = 9 continue", language="ptl")
    table = pa.table({"time": range(1, 7), "a": [9, 1, 1, 1, 1, 0]})
    (row,) = program.detect({"s": table}, time_unit="s", because=True)["t"].to_pylist()
    assert [b["time"] for b in row["because"]] == [1, 6]


@pytest.mark.parametrize("op", ["<=", ">="])
def test_a_time_that_is_too_large_is_refused(op: str) -> None:
    text = f"eventually [t0 <- time] eventually (a > 0 and time {op} t0 + 9223372036854775807)"
    for until in ("", "nexttime "):
        case = LogicCase("m", f"state s(a int)\ntrigger m: {until}({text})", (Occurrence("s", 1, {"a": 1}),) * 2)
        rows = (*case.events, Occurrence("s", 3, {"a": 1}))
        assert told(replace(case, events=rows)) == "overflow"


def test_relations_that_are_remembered_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite has a few of them at once, however many are asked for."""
    monkeypatch.setattr(sql, "MOST_HELD", 2)
    database = sql.Database({}, {})
    some = [Relation(("a",), tuple((n * k,) for n in range(3))) for k in range(5)]
    for one in (*some, *reversed(some)):
        for other in some:
            found = database.select(TWO, {"x": one, "y": other}, {})
            assert found.rows == ((sum(r[0] for r in one.rows), max(r[0] for r in other.rows)),)
            assert len(database._held) <= 2
    assert database._made <= 3


TWO = "select (select sum(a) from x), (select max(a) from y)"
