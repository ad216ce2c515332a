"""How much work the search does, and what it gives up: classes of conditions, steps per row, limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.amount import amount

import occurs
from occurs.errors import LimitProblem
from occurs.model.time import TimeKind
from occurs.operators.kernels import row_tables as T
from occurs.operators.rowpattern import run
from occurs.operators.rowpattern.conditions import OF_MAPPING, OF_ROW, SETTLED
from occurs.operators.rowpattern.definition import RowPatternDefinition

ROWS = {"time": [1, 2, 3, 4, 5, 6], "p": [3.0, 2.0, 4.0, 1.0, 5.0, 9.0]}


def program(pattern: str, define: str, more: str = "", measures: str = "COUNT(*) AS k") -> occurs.Program:
    clause = f"ORDER BY time MEASURES {measures} {more} PATTERN ({pattern}) DEFINE {define}"
    text = f"SELECT * FROM Q MATCH_RECOGNIZE ({clause})"
    return occurs.parse(text, language="match_recognize")


def definition(given: occurs.Program) -> tuple[RowPatternDefinition, Any]:
    checked = given.checked
    history = checked.history({"Q": pa.table(ROWS)}, occurs.model.history.InputOptions())
    stage = checked.plan(history.schemas, history.kind)
    (found,) = stage.definitions
    assert isinstance(found, RowPatternDefinition)
    return found, found.operator(stage.schemas, TimeKind(False, None))


@pytest.mark.parametrize(
    ("pattern", "define", "highest"),
    [
        ("A B*", "B AS p > PREV(p)", OF_ROW),
        ("A B* C", "B AS B.p > A.p", SETTLED),
        ("A+ B* C", "B AS SUM(A.p) > 3", OF_MAPPING),
        ("A+ B", "B AS SUM(A.p) > 3", SETTLED),
        ("A+ B", "A AS SUM(A.p) < 30", SETTLED),
        ("A+ B* C", "C AS C.p > FIRST(p)", SETTLED),
        ("A+ B* C", "C AS C.p > LAST(A.p)", OF_MAPPING),
        ("A B* C", "C AS MATCH_NUMBER() = 1", SETTLED),
        ("A B* C", "C AS PREV(CLASSIFIER()) = 'A'", OF_MAPPING),
    ],
)
def test_classes_of_conditions(pattern: str, define: str, highest: int) -> None:
    _, operator = definition(program(pattern, define))
    assert operator.conditions.highest == highest


def steps(monkeypatch: pytest.MonkeyPatch, given: occurs.Program, rows: int) -> int:
    """How many steps the search takes over so many rows."""
    total = []
    plain = run.search

    def counted(*arguments: Any) -> int:
        status: int = plain(*arguments)
        total.append(int(arguments[-1][0][T.R_TOTAL]))
        return status

    with monkeypatch.context() as patch:
        patch.setattr(run, "search", counted)
        table = pa.table({"time": np.arange(rows), "p": np.ones(rows)})
        given.detect({"Q": table})
    return total[-1]


@pytest.mark.parametrize("pattern", ["A* A* A* B", "(A+)+ B", "(A | A A)* B", "(A{2,5})* B", "(A* $)* B"])
def test_a_catastrophic_pattern_takes_so_many_steps_per_row(monkeypatch: pytest.MonkeyPatch, pattern: str) -> None:
    given = program(pattern, "A AS p > 0, B AS p < 0", "AFTER MATCH SKIP TO NEXT ROW")
    few, many = (steps(monkeypatch, given, n) / n for n in (500, 2000))
    assert many < few * 1.1 + 1


def test_a_condition_on_the_mapping_has_a_limit() -> None:
    given = program("(A | B)* C", "A AS PREV(CLASSIFIER()) IS NULL OR p > 0, B AS p > 0, C AS p < 0")
    table = pa.table({"time": np.arange(40), "p": np.ones(40)})
    with pytest.raises(LimitProblem, match="the search for a match took more than 1000 steps") as caught:
        given.detect({"Q": table}, max_steps=1000)
    assert caught.value.kind == "max-steps"


def test_one_match_over_many_rows() -> None:
    n = amount(10_000, 100_000)
    table = pa.table({"time": np.arange(n), "p": np.arange(n) / 7})
    given = program("A+", "A AS p >= 0", measures="COUNT(*) AS k, SUM(p) AS s, FIRST(p, 2) AS f, LAST(p, 3) AS l")
    (row,) = given.detect({"Q": table})["matches"].to_pylist()
    assert row["k"] == n
    assert row["f"] == 2 / 7
    assert row["l"] == (n - 4) / 7
    assert row["s"] == pytest.approx(sum(range(n)) / 7)


def test_a_program_of_many_states_remembers_what_it_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given = program("A{1,200} (B | A)* C", "A AS p > 0, B AS p > 1, C AS p < 0")
    table = pa.table({"time": np.arange(60), "p": [1.0] * 58 + [2.0, -1.0]})
    wanted = given.detect({"Q": table})["matches"].to_pylist()
    assert [row["k"] for row in wanted] == [60]
    monkeypatch.setattr(run, "MOST_WORDS", 1)
    assert given.detect({"Q": table})["matches"].to_pylist() == wanted
    _, operator = definition(given)
    code = operator.conditions.within_memory(1).code
    remembered = code[:, T.THREE][code[:, T.OP] == T.SPLIT] != T.NEVER
    assert remembered.sum() == 64


def test_loops_of_a_program() -> None:
    from occurs.operators.rowpattern import tree
    from occurs.operators.rowpattern.program import program_loops, program_of

    a, b = tree.Variable("A"), tree.Variable("B")
    straight = program_of(tree.Sequence((a, tree.Repeat(b, 0, 3))), ("A", "B"))
    assert not program_loops(straight.code).any()
    again = program_of(tree.Sequence((a, tree.Repeat(tree.Sequence((a, b)), 0, None))), ("A", "B"))
    assert program_loops(again.code).sum() == 3


def test_overlapping_matches_share_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 4_000
    table = pa.table({"time": np.arange(n), "p": np.arange(n) / 8})
    measures = "COUNT(*) AS k, SUM(A.p) AS s, LAST(B.p) AS b, FIRST(A.p) AS f, MAX(A.p) AS m, COUNT(B.*) AS bs"
    given = program("A+ B", "A AS p >= 0, B AS p >= 1", "AFTER MATCH SKIP TO NEXT ROW", measures)
    found = given.detect({"Q": table}, because=True, until=50)["matches"].to_pylist()
    assert [len(row["because"]) for row in found] == list(range(51, 1, -1))
    assert [c["role"] for c in found[0]["because"]][-2:] == ["A", "B"]
    rows = given.detect({"Q": table})["matches"].to_pylist()
    assert len(rows) == n - 1
    for start, row in enumerate(rows):
        size = n - start
        assert row["k"] == size
        assert row["b"] == (n - 1) / 8
        assert row["f"] == start / 8
        assert row["m"] == (n - 2) / 8
        assert row["bs"] == 1
        assert row["s"] == sum(range(start, n - 1)) / 8
    few, many = (steps(monkeypatch, given, m) / m for m in (500, 4_000))
    assert many < few * 1.2 + 1


LINEAR = [
    "COUNT(DISTINCT A.p) < 999999", "COUNT(DISTINCT q) < 999999", "SUM(DISTINCT A.p) < 99999999",
    "AVG(DISTINCT p) < 1e9", "MIN_BY(q, p) <> 'z'", "MAX_BY(A.p, A.p) >= 0.0",
    "COUNT(DISTINCT A.p) + COUNT(DISTINCT B.p) < 999999",
]  # fmt: skip


@pytest.mark.share(4)
@pytest.mark.parametrize("condition", LINEAR)
def test_a_running_value_takes_as_long_per_row_in_a_long_match(monkeypatch: pytest.MonkeyPatch, condition: str) -> None:
    n = 20_000
    values = np.arange(n) % 7_000 / 4
    table = pa.table({"time": np.arange(n), "p": values, "q": [f"t{k % 30}" for k in range(n)]})
    given = program("(A | B)+", f"A AS {condition} AND p < 1500.0, B AS {condition}")

    def asked(*_: Any) -> None:
        raise AssertionError("the condition is evaluated anew for a row")

    monkeypatch.setattr(run.Run, "_answer", asked)
    assert [row["k"] for row in given.detect({"Q": table})["matches"].to_pylist()] == [n]


def test_distinct_values_of_a_variable() -> None:
    p = [1.0, 2.0, 1.0, -0.0, 0.0, 2.0, 3.0, None, 3.0, 4.0]
    table = pa.table({"time": np.arange(10), "p": p, "q": ["a"] * 10})
    # of rows of B: 1.0, 0.0, 2.0 are the values so far; a fourth one ends it
    given = program("(A | B)+", "A AS p = 2.0 AND PREV(p) = 1.0 OR p IS NULL, B AS COUNT(DISTINCT B.p) <= 3")
    assert [row["k"] for row in given.detect({"Q": table})["matches"].to_pylist()] == [6, 4]
