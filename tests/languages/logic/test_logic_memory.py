"""Memory of triggers state by state: what is kept of bounded ones does not grow with the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pytest
from benchmarks import logic_memory
from tests.amount import some

import occurs
from occurs.model.types import Type
from occurs.operators.temporal import future as r
from occurs.operators.temporal import vectorised
from occurs.operators.temporal.past import SinceWithin
from occurs.operators.temporal.sql import Database
from occurs.operators.temporal.tables import MOST, Shape, State, Table
from occurs.operators.temporal.times import Ages
from occurs.operators.temporal.values import OVERFLOW

SOME = (
    "6, continue",
    "two bounds at once, continue",
    "two bounds at once, reactivate",
    "always, then, continue",
    "3 PAST-OVERLOAD, continue at most every 5",
    "18 for each link in Chicago, continue",
    "21 triggers over triggers",
    "coming and going, continue",
)


def flat(name: str, program: occurs.Program, history: logic_memory.History, states: int) -> None:
    """From the first half to the second nothing grows."""
    *_, half, end = logic_memory.measured(program, history, states, (0.1, 0.5, 1))
    assert end.size <= half.size + 8, name
    assert end.saved <= half.saved + 600, name
    assert end.blocks <= half.blocks + 400, name
    assert half.size > 0
    # none is that of columns, which keeps other things
    assert half.states < end.states


@pytest.mark.share(4)
@pytest.mark.parametrize("name", some(SOME, 3))
def test_nothing_grows(name: str) -> None:
    ((_, program, history),) = logic_memory.histories(200, [name])
    flat(name, program, history, 2000)


@pytest.mark.long
def test_nothing_grows_of_all() -> None:
    number = 0
    for name, program, history in logic_memory.histories(500):
        flat(name, program, history, 10_000)
        number += 1
    assert number > 120


@pytest.mark.slow
def test_what_is_unbounded_is_seen_to_grow() -> None:
    text = "state s(a int)\ntrigger m: eventually [t <- time][x <- a] eventually (a = x + 9999 and time > t) continue"
    rows = {"time": list(range(1, 101)), "a": [7 * n % 1000 for n in range(100)]}
    history = logic_memory.History({"s": pa.table(rows)}, {}, 100)
    # long enough for the saved state, which is compressed, to grow with the instances
    tenth, end = logic_memory.measured(occurs.parse(text, language="ftl"), history, 3000, (0.1, 1))
    assert end.size > 3 * tenth.size
    assert end.saved > 3 * tenth.saved


def test_the_table() -> None:
    (row,) = logic_memory.memory(1000, ["6, continue"]).rows
    assert row[0] == "6, continue"
    assert all(str(cell).count("/") == 2 for cell in row[1:])


def test_what_is_not_known_is_kept_once() -> None:
    one, other = (r.combined(True, [r.Unknown(OVERFLOW, False), (0, True, ())]) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert r.Unknown(OVERFLOW) != r.Unknown(OVERFLOW, False)


def test_changes_that_sql_does_not_look_at_are_forgotten() -> None:
    """They come and go between two questions; what SQL sees then is right."""
    table = Table(Shape("T", ("k", "v"), (0,)))
    database = Database({"T": {"k": Type.STRING, "v": Type.INT}}, {})

    def seen() -> list[Any]:
        return sorted(database.select("select k, v from T", {}, {"T": table}).rows)

    table.put("a", ("a", -1))
    assert seen() == [("a", -1)]
    for n in range(5000):
        key = f"k{n % 7}"
        table.drop(key)
        table.put(key, (key, n))
        if n == 2000:
            table.drop("a")
        assert len(table.log or ()) <= MOST
    wanted = sorted(row for _, row in table.rows.values())
    assert seen() == wanted
    assert len(wanted) == 7
    assert not table.log


def test_what_is_not_known_is_kept_once_by_since() -> None:
    truths: list[Any] = [OVERFLOW, OVERFLOW, True, OVERFLOW, True]
    step = SinceWithin(lambda s, r: True, lambda s, r: truths[s.time], Ages(2))
    kept: Any = step.fresh()
    found = []
    for time in range(5):
        kept, now = step.advance(kept, State(time, {}, {}, {}, None), {})
        found.append(now)
        assert len(kept) <= 2
    assert found == [False, False, OVERFLOW, OVERFLOW, True]


def test_what_one_trigger_has_made_of_rows_serves_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def counted(*given: Any) -> Any:
        made.append(given)
        return before(*given)

    before = vectorised.Columns._made
    monkeypatch.setattr(vectorised.Columns, "_made", counted)
    text = "state s(a int)\n" + "".join(f"trigger m{k}: eventually a > {k}\n" for k in range(5))
    table: Mapping[str, Any] = {"time": [1, 2, 3], "a": [1, 2, 3]}
    found = occurs.parse(text, language="ftl").detect({"s": pa.table(table)}, time_unit="s")
    assert [found[f"m{k}"].num_rows for k in range(5)] == [3, 2, 1, 0, 0]
    assert len(made) == 1
