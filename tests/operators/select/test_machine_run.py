"""The machine for sequential rules by its own code, and by what columns answer: same detections, labels and state."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.amount import amount
from tests.generators.random_tesla import random_program
from tests.laws.contract import Answer, Subject, agree, random_frontiers

import occurs
from many import check_all
from occurs.operators.rule_bytecode import Coder, Unsupported
from occurs.operators.select.sequential import Instants
from occurs.testing.cases import Case, load_cases

FOLDER = Path(__file__).parents[2] / "cases" / "tesla"
CASES = [c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path) if c.error is None]


def stepwise(subject: Subject) -> bool:
    """Does the machine run any rule?"""
    return any(operator.stepwise for operator in subject.stage.operators)


@cache
def sequential() -> list[Case]:
    """The cases that the machine answers; they are planned when tests run, not in each process that collects them."""
    return [c for c in CASES if stepwise(Subject(c))]


PROGRAMS = amount(40, 150)


def asking(patch: pytest.MonkeyPatch) -> None:
    """Nothing is coded: the machine asks for every expression."""

    def refused(*args: object) -> object:
        raise Unsupported

    patch.setattr(Coder, "condition", refused)
    patch.setattr(Coder, "value", refused)


def questions(patch: pytest.MonkeyPatch) -> list[int]:
    """How many questions the machine asks at a time."""
    asked: list[int] = []
    answers = Instants._answers

    def noted(self: Instants, questions: np.ndarray, *rest: object) -> np.ndarray:
        asked.append(len(questions))
        return answers(self, questions, *rest)  # type: ignore[arg-type]

    patch.setattr(Instants, "_answers", noted)
    return asked


def both(case: Case, frontiers: list[int], monkeypatch: pytest.MonkeyPatch) -> tuple[Answer, Answer]:
    subject = Subject(case)
    one = subject.answer(frontiers, restart=True)
    with monkeypatch.context() as patch:
        asking(patch)
        other = subject.answer(frontiers, restart=True)
    return one, other


def test_text_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(case: Case) -> None:
        agree(*both(case, random_frontiers(Subject(case), random.Random(case.name)), monkeypatch), case.name)

    check_all(sequential(), check, lambda case: case.name)


def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for seed in range(PROGRAMS):
        case = random_program(random.Random(seed))
        if not stepwise(Subject(case)):
            continue
        seen += 1
        agree(*both(case, random_frontiers(Subject(case), random.Random(seed)), monkeypatch), f"seed {seed}")
    assert seen > PROGRAMS // 10


def test_most_rules_are_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    """That the tests above compare anything."""
    asked = questions(monkeypatch)
    silent = []
    for case in sequential():
        asked.clear()
        subject = Subject(case)
        subject.answer([] if subject.clock is None else [subject.clock[1]])
        silent.append(not asked)
    assert sum(silent) > 0.8 * len(silent)


MANY_KEYS = """
define P(k, s) from A(k = $k) and each B(k = $k, concat(s, A.s) != 'xy') within 5 from A
  where k = $k, s = concat(B.s, A.s) consuming B
"""


def test_lanes_ask_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key has instants of its own: there are as many rounds as the busiest key has instants with questions."""
    asked = questions(monkeypatch)
    n, keys = 600, 100
    rows = {"k": [i // 2 % keys for i in range(n)], "s": ["xyz"[i % 3] for i in range(n)]}
    types = ["BA"[i % 2] for i in range(n)]
    table = pa.table({"time": [i // 400 for i in range(n)], "type": types, **rows})
    found = occurs.parse(MANY_KEYS).detect(table, time_unit="ms")["P"]
    assert 0 < len(asked) <= 3
    assert sum(asked) >= keys
    one = pa.concat_tables([found.slice(0, 0)] + [
        occurs.parse(MANY_KEYS).detect(table.filter(pc.equal(table["k"], k)), time_unit="ms")["P"] for k in range(keys)
    ])  # fmt: skip
    order = [("time", "ascending"), ("k", "ascending"), ("s", "ascending")]
    assert one.sort_by(order).equals(found.sort_by(order))


SUM = """
define Sum(S) from A(v = $v) where S = $v
define Sum(S) from A(v = $v) and last Sum() within 1000 from A where S = Sum.S + $v
"""


def test_near_the_ends_of_int64_the_columns_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = questions(monkeypatch)
    big = 2**62
    table = pa.table({"time": [1, 2, 3], "type": ["A"] * 3, "v": [big - 1, big, -5]})
    found = occurs.parse(SUM).detect(table, time_unit="ms")["Sum"]
    assert found.column("S").to_pylist() == [big - 1, big, 2 * big - 1, -5, 2 * big - 6]
    assert asked
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
        asking(patch)
        other = program.detect(table, time_unit="ms")
    for name in ("P", "Chain"):
        assert one[name].equals(other[name])
    assert len(one["P"]) == n  # the first A takes all that differ from it, the second the others
    assert len(one["Chain"]) > 300
