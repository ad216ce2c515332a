"""Columns that no rule reads are not gathered, and are there when somebody asks."""

from __future__ import annotations

import pyarrow as pa
import pytest

import occurs
from occurs.model import type_table
from occurs.model.history import normalise

EVENTS = pa.table(
    {
        "type": ["A", "B", "A", "B"],
        "time": [1, 2, 3, 4],
        "k": [1, 1, 2, 2],
        "v": [1.0, float("nan"), 3.0, 4.0],
        "note": ["w", "x", "y", None],
    }
)
RULE = "define Found(k) from B(k = $k) and last A(k = $k) within 1 ms from B where k = $k"


@pytest.fixture
def gathered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The names of the columns that were gathered, one after the other, and of how many rows."""
    out: list[tuple[str, int]] = []
    names = {str(EVENTS[name]): name for name in EVENTS.column_names}

    def picked(column: pa.ChunkedArray, index: pa.Array | None) -> pa.ChunkedArray:
        found = plain(column, index)
        out.append((names[str(column)], len(found)))
        return found

    plain = type_table.picked
    monkeypatch.setattr(type_table, "picked", picked)
    return out


def test_only_what_a_rule_reads_is_gathered(gathered: list[tuple[str, int]]) -> None:
    found = occurs.parse(RULE).detect(EVENTS, time_unit="ms")
    assert found["Found"].to_pydict()["k"] == [1, 2]
    assert [name for name, size in gathered if size] == ["k", "k"]


def test_a_table_of_a_type_has_all_columns_and_each_is_gathered_once(gathered: list[tuple[str, int]]) -> None:
    history = normalise({None: EVENTS})
    for _ in range(2):
        assert history.tables["B"].to_pydict() == {"time": [2, 4], "k": [1, 2], "v": [None, 4.0], "note": ["x", None]}
    assert history.rows("B").column("k") is history.rows("B").column("k")
    assert gathered == [("k", 2), ("v", 2), ("note", 2)]


def test_equal_times_are_seen() -> None:
    assert normalise({None: EVENTS}).distinct
    assert not normalise({None: EVENTS.set_column(1, "time", pa.array([1, 2, 2, 3]))}).distinct
    assert not normalise({"A": EVENTS.drop_columns("type"), "B": EVENTS.drop_columns("type")}).distinct


def test_rows_in_order_and_shuffled_give_the_same() -> None:
    """Rows of different times get their places without a look at the other types, if they come in order."""
    rule = "@Name('Found') select a.k as k from pattern [every a=A -> b=B(k = a.k)];"
    program, shuffled = occurs.parse(rule, "epl"), EVENTS.take([3, 1, 0, 2])
    found = [program.detect(table, time_unit="ms")["Found"].to_pydict() for table in (EVENTS, shuffled)]
    assert found[0] == found[1]
    assert found[0]["k"] == [1, 2]
