"""Every text case on the local host: at once, cut between instants, event by event."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import occurs
from occurs.engine.engine import Engine
from occurs.hosts.detections import LocalDetections
from occurs.hosts.local import calls, history_rows
from occurs.model.history import InputOptions
from occurs.testing.cases import Case, load_cases
from occurs.verify.compare import difference
from occurs.verify.reference import detected

FOLDER = Path(__file__).parents[2] / "cases" / "tesla"
CASES = [c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path)]


def options(case: Case) -> InputOptions:
    unit = None if case.kind.timestamp else case.kind.unit
    return InputOptions(time_unit=unit, start=case.start, until=case.until)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
@pytest.mark.parametrize("budget", [1, 3, 10**6])
def test_case(case: Case, budget: int) -> None:
    program_text = case.rules
    if case.error is not None:
        with pytest.raises(occurs.OccursError) as caught:
            run(program_text, case, budget)
        assert caught.value.kind == case.error
        return
    assert difference(case.expected, run(program_text, case, budget)) is None


def run(text: str, case: Case, budget: int):  # type: ignore[no-untyped-def]
    program = occurs.parse(text)
    history = program.checked.history(case.tables(), options(case))
    stage = program.checked.plan(history.schemas, history.kind)
    engine = Engine(stage)
    done = []
    if history.clock is not None:
        rows = history_rows(stage, history, False)
        for frontier, part in calls(rows, history.clock[1], budget):
            done.append(engine.advance(part, frontier, history.clock[0]))
    return detected(LocalDetections(stage, done, history, None, False, False, None))


@pytest.mark.parametrize("condition", ["", "V < X.V"], ids=["plain", "tested"])
def test_lists_of_times_are_of_the_type_of_the_times(condition: str) -> None:
    listed = f"LIST(B({condition}).time) within 5 s from X"
    rules = f"define CE(L, S, T) from X() where L = {listed}, S = SET{listed[4:]}, T = LAST{listed[4:]}"
    tables = {"B": pa.table({"time": [1, 2], "V": [0, 0]}), "X": pa.table({"time": [3, 9], "V": [1, 1]})}
    row = occurs.parse(rules).detect(tables, time_unit="s").arrow("CE").to_pylist()[0]
    assert (row["L"], row["S"], row["T"]) == ([1, 2], [1, 2], 2)
    stamped = {t: table.set_column(0, "time", table["time"].cast(pa.timestamp("s"))) for t, table in tables.items()}
    row = occurs.parse(rules).detect(stamped).arrow("CE").to_pylist()[0]
    assert row["L"] == row["S"] == [row["T"].replace(second=1), row["T"]]


def test_messages_name_a_list_a_list() -> None:
    with pytest.raises(occurs.OccursError) as caught:
        occurs.parse("define A(L: int) from X() where L = LIST(X().V) within 5 s from X")
    assert "`L` of `A` is int, but this value is a list" in str(caught.value)


def test_the_counts_of_a_verification_are_singular_for_one() -> None:
    program = occurs.parse("define A() from X()")
    assert program.verify({"X": pa.table({"time": [1]})}, time_unit="s").report.endswith(": 1 event, 1 detection")
