"""The intake of what lasts: ends, changes, columns found ignoring case, tables without time."""

from __future__ import annotations

import pyarrow as pa
import pytest

from occurs.errors import InputProblem
from occurs.model.history import History, InputOptions, normalise
from occurs.model.source import fact_table
from occurs.model.types import Schema, Type

MOORED = Schema((("Vessel", Type.INT), ("Port", Type.STRING)), lasting=True, loose=True)
AIS = Schema((("Vessel", Type.NULL), ("Speed", Type.NULL)), rest=True, loose=True)
IN_PORT = Schema((("Vessel", Type.INT), ("holds", Type.BOOL)), changes=True, loose=True)


def read(type: str, schema: Schema, columns: dict[str, list[object]], **options: object) -> History:
    return normalise({type: pa.table(columns)}, schemas={type: schema}, options=InputOptions(**options))


def moored(**columns: list[object]) -> dict[str, list[object]]:
    return {"time": [1, 5, 8], "end": [4, 5, None], "vessel": [1, 1, 2], "PORT": ["a", "b", "a"], **columns}


def test_rows_that_last_have_ends_and_those_without_length_are_dropped() -> None:
    history = read("moored", MOORED, moored())
    assert history.tables["moored"].to_pylist() == [
        {"time": 1, "end": 4, "Vessel": 1, "Port": "a"},
        {"time": 8, "end": None, "Vessel": 2, "Port": "a"},
    ]
    assert history.counts["empty"] == 1
    assert history.schemas["moored"] == MOORED
    assert history.clock == (1, 8)


def test_an_end_before_the_time_is_a_bad_row() -> None:
    with pytest.raises(InputProblem, match="end before time"):
        read("moored", MOORED, moored(end=[4, 3, None]))
    history = read("moored", MOORED, moored(end=[4, 3, None]), bad_rows="skip")
    assert len(history.tables["moored"]) == 2
    assert history.counts["bad: end before time"] == 1


def test_an_end_after_the_clock_is_not_known() -> None:
    history = read("moored", MOORED, moored(end=[4, 30, 9]), until=10)
    assert history.tables["moored"].column("end").to_pylist() == [4, None, 9]
    assert history.clock == (1, 10)


def test_a_finite_end_moves_the_clock() -> None:
    assert read("moored", MOORED, moored(end=[4, 30, None])).clock == (1, 30)


def test_what_lasts_needs_a_column_with_the_end_which_may_be_empty() -> None:
    columns = moored()
    del columns["end"]
    with pytest.raises(InputProblem, match="`moored` has intervals, but there is no column `end`"):
        read("moored", MOORED, columns)
    history = read("moored", MOORED, moored(end=[None, None, None]))
    assert history.tables["moored"].column("end").to_pylist() == [None] * 3


def test_one_table_of_events_and_of_what_lasts() -> None:
    table = pa.table({
        "type": ["moored", "fire", "moored"],
        "time": [1, 2, 3],
        "end": pa.array([None, None, None], pa.int64()),
        "vessel": [1, None, 2],
        "port": ["a", None, "b"],
    })  # fmt: skip
    history = normalise({None: table}, schemas={"moored": MOORED, "fire": Schema()})
    assert history.tables["moored"].column_names == ["time", "Vessel", "Port", "end"]
    assert history.tables["fire"].column_names == ["time"]


def test_changes_say_whether_it_holds() -> None:
    history = read("in_port", IN_PORT, {"time": [1, 2], "vessel": [7, 7], "holds": [True, False]})
    assert history.tables["in_port"].to_pylist() == [
        {"time": 1, "Vessel": 7, "holds": True}, {"time": 2, "Vessel": 7, "holds": False},
    ]  # fmt: skip


def test_a_change_that_does_not_say_is_a_bad_row() -> None:
    columns: dict[str, list[object]] = {"time": [1, 2], "vessel": [7, 7], "holds": [True, None]}
    with pytest.raises(InputProblem, match="null holds"):
        read("in_port", IN_PORT, columns)
    history = read("in_port", IN_PORT, columns, bad_rows="skip")
    assert history.tables["in_port"].column("time").to_pylist() == [1]
    assert history.counts["bad: null holds"] == 1


def test_columns_ignore_case_if_one_fits_and_further_ones_are_kept() -> None:
    history = read("ais", AIS, {"time": [1], "vessel": [3], "SPEED": [0.5], "lat": [48.1]})
    assert history.tables["ais"].to_pylist() == [{"time": 1, "Vessel": 3, "Speed": 0.5, "lat": 48.1}]
    assert history.schemas["ais"].attributes == (
        ("Vessel", Type.INT), ("Speed", Type.FLOAT), ("lat", Type.FLOAT),
    )  # fmt: skip


def test_the_column_of_the_very_name_wins_and_two_others_are_none() -> None:
    history = read("ais", AIS, {"time": [1], "vessel": [3], "Vessel": [4], "speed": [0.5]})
    assert history.tables["ais"].column("Vessel").to_pylist() == [4]
    with pytest.raises(InputProblem, match="column `Vessel` of `ais` is declared but missing"):
        read("ais", AIS, {"time": [1], "vessel": [3], "VESSEL": [4], "speed": [0.5]})


def test_declarations_of_others_match_columns_exactly() -> None:
    with pytest.raises(InputProblem, match="column `Vessel` of `ais` is declared but missing"):
        read("ais", Schema((("Vessel", Type.INT),)), {"time": [1], "vessel": [3]})


def test_facts_have_their_declared_columns() -> None:
    schema = Schema((("Id", Type.NULL), ("Kind", Type.STRING), ("Length", Type.FLOAT)))
    table = pa.table({"kind": ["fishing"], "id": [7], "length": [30], "flag": ["F"]})
    assert fact_table("type", table, schema).to_pylist() == [{"Id": 7, "Kind": "fishing", "Length": 30.0}]
    with pytest.raises(InputProblem, match="column `Kind` of the fact `type` is declared but missing"):
        fact_table("type", table.drop_columns(["kind"]), schema)
    with pytest.raises(InputProblem, match="`Kind` is declared as string"):
        fact_table("type", table.set_column(0, "kind", [[1]]), schema)
