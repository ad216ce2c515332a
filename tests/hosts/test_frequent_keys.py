"""A key that has a large part of the rows of a stream is found, and reported with what could be done."""

from __future__ import annotations

import random
from collections import Counter
from statistics import median
from typing import Any

import pyarrow as pa
import pytest
from hostcases import labelled
from instream import How, InStream

import occurs
from occurs.follow.metrics import Totals
from occurs.hosts.stream import frequent
from occurs.hosts.stream.batches import MicroBatch
from occurs.hosts.stream.detect import found_in
from occurs.hosts.stream.records import ROWS, from_blob
from occurs.model.history import InputOptions

KEYED = "define L(k, v) from A(k = $k, g = $g) and last B(k = $k, h = $g) within 5 ms from A where k = A.k, v = B.v"
USING = KEYED.replace("define L(k, v)", "define U(k, v)") + " consuming B"


def tables(n: int, part: float) -> dict[str, pa.Table]:
    """Of n rows of two types ``part`` have the key (7, "x")."""
    rng = random.Random(1)
    rows: dict[str, list[Any]] = {"A": [], "B": []}
    for time in range(n):
        k, g = (7, "x") if rng.random() < part else (rng.randrange(10_000) + 10, "y")
        one = {"A": {"k": k, "g": g}, "B": {"h": g, "k": k, "v": time % 5}}
        type = "AB"[time % 2]
        rows[type].append({"time": time, **one[type]})
    return {t: pa.Table.from_pylist(found) for t, found in rows.items()}


def stream(rules: str, part: float, n: int = 4_000, **how: int) -> InStream:
    made = How(**{"buckets": 3, "size": None, "because": False, "divide": 1, **how})
    return InStream(occurs.parse(rules), tables(n, part), InputOptions(time_unit="ms"), made)


def micro_batch(rules: str, part: float, n: int = 4_000, **how: int) -> MicroBatch:
    given = stream(rules, part, n, **how)
    return given.query.read(given.micro_batch(given.rows))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequent, "LEAST", 500)


def test_key_of_eighty_percent_is_named() -> None:
    done = micro_batch(KEYED, 0.8)
    (key,) = done.frequent
    assert key.values == ("x", 7)
    assert key.text() == 'A.g = B.h = "x", A.k = B.k = 7'
    assert key.types == ("L",)
    assert abs(key.rows / 4_000 - 0.8) < 0.05
    totals = Totals()
    assert list(totals.add(0, 1.0, done, buckets=3)["frequent"]) == [key.text()]
    (problem,) = totals.heavy(done, 3)
    assert problem.kind == "frequent-key"
    assert 'A.k = B.k = 7: one of 3 buckets evaluates them all' in problem.message
    assert "could be divided by time" in str(problem.hint)
    assert totals.heavy(done, 3) == []  # once
    assert Totals().heavy(done, 1) == []


def test_rules_that_consume_say_why_a_key_is_not_divided() -> None:
    (key,) = micro_batch(USING, 0.8).frequent
    assert key.split.startswith("it cannot be divided: ")
    assert len(key.split) > 40


def test_key_of_a_tenth_is_in_the_metrics_alone() -> None:
    done = micro_batch(KEYED, 0.1)
    totals = Totals()
    ((_, part),) = totals.add(0, 1.0, done, buckets=3)["frequent"].items()
    assert 0.05 < part < 0.2
    assert totals.heavy(done, 3) == []


@pytest.mark.parametrize(("part", "n"), [(0.0, 4_000), (0.8, 400)])
def test_even_keys_and_few_rows_have_none(part: float, n: int) -> None:
    assert micro_batch(KEYED, part, n).frequent == []


def test_independent_rules_could_be_divided() -> None:
    two = KEYED + "\n" + USING.replace("define U", "define V")
    plan = occurs.parse(two).explain().data
    (said,) = {group["frequent_key"] for group in plan["spark"]}
    assert said == "it could be divided by rules, in 2 independent parts"


#: rules that do not read one another
MANY = "\n".join(KEYED.replace("define L", f"define L{n}").replace("5 ms", f"{n + 3} ms") for n in range(24))


def test_rules_of_a_key_of_eighty_percent_are_divided() -> None:
    """Greatest and median work of a bucket, in rows times the rules that read them."""
    ratios, answers = {}, []
    for divide in (1, 4):
        given = stream(MANY, 0.8, 1_000, buckets=4, divide=divide, grouped=0, because=True)
        rules = {p.lane.number: len(p.lane.group.stage.definitions) for p in given.layout.paths}
        assert sum(rules.values()) == 24
        work: Counter[int] = Counter()
        for r in given._packed(0, given.rows, None, False):
            if r.kind == ROWS:
                assert r.blob is not None
                work[r.bucket] += len(from_blob(r.blob)) * rules[r.lane]
        ratios[divide] = max(work.values()) / median(work.values())
        answers.append(labelled(given.run().found))
    assert answers[0] == answers[1] != []
    assert ratios[1] > 10
    assert ratios[4] <= 2


def test_hint_names_the_option_and_a_divided_key_is_no_burden() -> None:
    (key,) = micro_batch(MANY, 0.8).frequent
    (problem,) = Totals().heavy(micro_batch(MANY, 0.8), 3)
    assert str(problem.hint).endswith("in a new checkpoint, --divide N (Python: divide=N) divides its rules")
    done = micro_batch(MANY, 0.8, divide=3)
    assert {k.text() for k in done.frequent} == {key.text()}
    assert {k.split for k in done.frequent} == {"its rules are divided into 3 parts, each in a bucket"}
    totals = Totals()
    assert totals.heavy(done, 3) == []
    (problem,) = totals.heavy(done, 7)
    assert "3 of 7 buckets evaluate them all" in problem.message
    assert 0.7 < totals.add(0, 1.0, done, buckets=3)["frequent"][key.text()] < 0.9


def test_a_new_rule_moves_no_other() -> None:
    def places(rules: str) -> dict[str, int]:
        paths = stream(rules, 0.1, 10, divide=3).layout.paths
        return {d: path.lane.part for path in paths for d in path.lane.places}

    more = places(MANY)
    assert set(more.values()) == {0, 1, 2}
    fewer = places("\n".join(MANY.splitlines()[::2]))
    assert len(fewer) == 12
    assert fewer.items() <= more.items()


@pytest.mark.parametrize("number", [0, -1])
def test_numbers_that_cannot_be(number: int) -> None:
    with pytest.raises(occurs.UsageProblem, match=f"divide: {number}"):
        found_in(occurs.parse(KEYED).checked, lambda late: None, divide=number)  # type: ignore[arg-type, return-value]
