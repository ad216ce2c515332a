"""The machine for sequential rules against their column-wise evaluation: same detections, same labels, same state."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pyarrow as pa
import pytest
from tests.generators.random_tesla import random_program
from tests.laws.contract import Answer, Subject, agree, random_frontiers

import occurs
from occurs.operators.kernels import rule_machine as machine
from occurs.operators.select.sequential import MachineRun, Waves
from occurs.testing.cases import Case, load_cases

FOLDER = Path(__file__).parents[2] / "cases" / "tesla"
CASES = [c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path) if c.error is None]


def stepwise(subject: Subject) -> bool:
    """Does the machine run any rule?"""
    return any(operator.stepwise for operator in subject.stage.operators)


SEQUENTIAL = [c for c in CASES if stepwise(Subject(c))]
PROGRAMS = 250 if os.environ.get("CI") else 60


def both(case: Case, frontiers: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[Answer, Answer]:
    subject = Subject(case)
    one = subject.answer(frontiers, restart=True)
    with monkeypatch.context() as patch:
        patch.setattr(Waves, "_by_machine", lambda self: False)
        other = subject.answer(frontiers, restart=True)
    return one, other


@pytest.mark.parametrize("case", SEQUENTIAL, ids=lambda c: c.name)
def test_text_cases(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    agree(*both(case, random_frontiers(Subject(case), random.Random(case.name)), monkeypatch), case.name)


def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for seed in range(PROGRAMS):
        case = random_program(random.Random(seed))
        if not stepwise(Subject(case)):
            continue
        seen += 1
        agree(*both(case, random_frontiers(Subject(case), random.Random(seed)), monkeypatch), f"seed {seed}")
    assert seen > PROGRAMS // 10


def test_most_rules_are_for_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the tests above compare anything: at most rules with aggregates are left to the columns."""
    done: list[bool] = []
    run = Waves._by_machine

    def noted(self: Waves) -> bool:
        done.append(run(self))
        return done[-1]

    monkeypatch.setattr(Waves, "_by_machine", noted)
    for case in SEQUENTIAL:
        subject = Subject(case)
        subject.answer([] if subject.clock is None else [subject.clock[1]])
    assert sum(done) > 0.8 * len(done)


SUM = """
define Sum(S) from A(v = $v) where S = $v
define Sum(S) from A(v = $v) and last Sum() within 1000 from A where S = Sum.S + $v
"""


def test_near_the_ends_of_int64_the_columns_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: list[int] = []
    run = machine.run

    def noted(*args: object) -> object:
        got = run(*args)
        outcomes.append(got[0])
        return got

    monkeypatch.setattr("occurs.operators.select.sequential.machine.run", noted)
    big = 2**62
    table = pa.table({"time": [1, 2, 3], "type": ["A"] * 3, "v": [big - 1, big, -5]})
    found = occurs.parse(SUM).detect(table, time_unit="ms")["Sum"]
    assert found.column("S").to_pylist() == [big - 1, big, 2 * big - 1, -5, 2 * big - 6]
    assert machine.GIVE_UP in outcomes
    with pytest.raises(occurs.OccursError) as caught:
        occurs.parse(SUM).detect(pa.table({"time": [1, 2], "type": ["A"] * 2, "v": [2**62, 2**62]}), time_unit="ms")
    assert caught.value.kind == "overflow"


def test_a_history_longer_than_any_first_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of the machine grow: matches, rows, candidates."""
    n = 300
    text = "define P(X, Y) from A(v = $a) and each B(v != $a) within 1000 from A where X = $a, Y = B.v consuming B\n"
    text += "define Chain(N) from A() where N = 0\n"
    text += "define Chain(N) from A() and each Chain() within 2 from A where N = Chain.N + 1"
    times = list(range(n + 12))
    table = pa.table({"time": times, "type": ["B"] * n + ["A"] * 12, "v": [i % 7 for i in times]})
    program = occurs.parse(text)
    one = program.detect(table, time_unit="ms")
    with monkeypatch.context() as patch:
        patch.setattr(MachineRun, "run", lambda self: False)
        other = program.detect(table, time_unit="ms")
    for name in ("P", "Chain"):
        assert one[name].equals(other[name])
    assert len(one["P"]) == n  # the first A takes all that differ from it, the second the others
    assert len(one["Chain"]) > 300
