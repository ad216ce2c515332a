"""The ships that do not exist: what the events promise, and that they do what the maritime definitions are about."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from examples.maritime import ais

from occurs.languages.phenesthe.checks import analyse
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.semantics import Result, Row, evaluate
from occurs.model.time import TIMESTAMP
from occurs.model.types import Schema, from_arrow

RULES = Path(__file__).parents[2] / "examples" / "maritime" / "maritime.phen"


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    return ais.maritime(8, 2, seed=4, every=600, gaps=1.0)


def rows(tables: dict[str, pa.Table]) -> list[Row]:
    out = []
    for name, table in tables.items():
        ticks = table.set_column(0, "time", table["time"].cast(pa.int64()))
        out += [Row(name, row.pop("time"), row) for row in ticks.to_pylist()]
    return out


def test_a_seed_gives_the_same_ships(tables):
    again = ais.maritime(8, 2, seed=4, every=600, gaps=1.0)
    assert all(again[name].equals(tables[name]) for name in tables)
    other = ais.maritime(8, 2, seed=5, every=600, gaps=1.0)
    assert not other["fast"].equals(tables["fast"])
    assert set(ais.vessel_types(40)["kind"].to_pylist()) == set(ais.KINDS)
    assert ais.vessel_types(8)["vessel"].to_pylist() == sorted(set(tables["ais"]["vessel"].to_pylist()))


def test_tables_are_in_order_and_of_their_types(tables):
    for name, table in tables.items():
        times = table["time"].cast(pa.int64()).to_numpy()
        assert (np.diff(times) >= 0).all(), name
        assert table.schema.field("time").type == pa.timestamp("us", tz="UTC")
        places = list(zip(times.tolist(), *(table[c].to_pylist() for c in table.column_names[1:])))
        assert len(set(places)) == len(places), name
        assert len(places) > 0, name
    assert tables["ais"].column_names == ["time", "vessel", "speed", "lon", "lat"]


def test_speeds_tell_who_has_stopped_and_who_is_under_way(tables):
    reports = tables["ais"]
    slow = pc.less_equal(reports["speed"], ais.STOPPED)
    assert reports.filter(slow).select(["time", "vessel"]).equals(tables["stop_start"])
    assert reports.filter(pc.invert(slow)).select(["time", "vessel"]).equals(tables["stop_end"])
    for vessel in reports["vessel"].unique().to_pylist():
        mine = reports.filter(pc.equal(reports["vessel"], vessel))
        under_way = pc.greater(mine["speed"], ais.UNDERWAY).to_pylist()
        times = mine["time"].to_pylist()
        begins = [t for t, now, before in zip(times, under_way, [False, *under_way]) if now and not before]
        ends = [t for t, now, before in zip(times, under_way, [False, *under_way]) if before and not now]
        for name, found in (("fast", begins), ("slow", ends)):
            assert tables[name].filter(pc.equal(tables[name]["vessel"], vessel))["time"].to_pylist() == found


@pytest.mark.parametrize("place", ["Port", "FishingArea"])
def test_zones_are_entered_and_left_by_turns(tables, place):
    entered, left = tables[f"enters{place}"], tables[f"leaves{place}"]
    marks = sorted(
        [(v, a, t, "in") for t, v, a in zip(*(entered[c].to_pylist() for c in ("time", "vessel", "area")))]
        + [(v, a, t, "out") for t, v, a in zip(*(left[c].to_pylist() for c in ("time", "vessel", "area")))]
    )
    for before, after in zip([(None, None, None, "out"), *marks], marks):
        expected = {"in": "out", "out": "in"}[before[3]] if before[:2] == after[:2] else "in"
        assert after[3] == expected


def test_positions_are_on_the_chart_and_no_ship_jumps(tables):
    reports = tables["ais"]
    assert pc.min(reports["lon"]).as_py() > -6
    assert pc.max(reports["lon"]).as_py() < -3
    for vessel in reports["vessel"].unique().to_pylist():
        mine = reports.filter(pc.equal(reports["vessel"], vessel))
        hours = np.diff(mine["time"].cast(pa.int64()).to_numpy()) / 3.6e9
        north = np.diff(mine["lat"].to_numpy()) * 60
        east = np.diff(mine["lon"].to_numpy()) * 60 * np.cos(np.radians(48))
        assert (np.hypot(north, east) / hours < 30).all()


def test_gaps_are_silent(tables):
    reports = tables["ais"]
    begins, ends = (
        tables[f"gap_{side}"].sort_by([("vessel", "ascending"), ("time", "ascending")]) for side in ("start", "end")
    )
    assert len(begins) == len(ends) > 5
    for v, begin, w, end in zip(*(t[c].to_pylist() for t in (begins, ends) for c in ("vessel", "time"))):
        assert v == w
        assert (end - begin).total_seconds() >= ais.SILENCE
        inside = pc.and_(pc.greater(reports["time"], pa.scalar(begin)), pc.less(reports["time"], pa.scalar(end)))
        assert v not in reports.filter(inside)["vessel"].to_pylist()


def test_the_maritime_definitions_find_all_they_are_about(tables):
    file, problems = parse(RULES.read_text(), str(RULES))
    assert not problems
    schemas = {
        name: Schema(tuple((f.name, from_arrow(f.type)) for f in t.schema if f.name != "time"))
        for name, t in tables.items()
    }
    assert not analyse([file], schemas, kind=TIMESTAMP).problems
    found: dict[str, set[Result]] = evaluate(file, rows(tables), kind=TIMESTAMP)
    counts = {name: len(r) for name, r in found.items()}
    assert min(counts.values()) >= 3, counts
    # the ships that lie in port at the end are still moored
    assert any(row[-1] is None for row in found["moored"])
    # a ship that hauls its nets is under way twice: such visits are in trips only
    visits = {(dict(r[0])["Vessel"], dict(r[0])["Area"]) for r in found["trip_f"]}
    assert visits - {(dict(r[0])["Vessel"], dict(r[0])["Area"]) for r in found["fishing_trip"]}


def test_raw_speeds_stop_ships_as_the_events_do(tables):
    rules = """input event ais(vessel, speed, ...).
    event stop_start(V) : ais(V, S, ...) ∧ S <= 0.5.
    event stop_end(V) : ais(V, S, ...) ∧ S > 0.5.
    state stopped(V) : stop_start(V) ~> stop_end(V)."""
    file, _ = parse(rules)
    raw = evaluate(file, rows({"ais": tables["ais"]}), kind=TIMESTAMP)["stopped"]
    file, _ = parse("input event stop_start(V), stop_end(V). state stopped(V) : stop_start(V) ~> stop_end(V).")
    made = {n: tables[n].rename_columns(["time", "V"]) for n in ("stop_start", "stop_end")}
    assert raw == evaluate(file, rows(made), kind=TIMESTAMP)["stopped"]


def test_a_million_events_take_seconds():
    began = time.perf_counter()
    tables = ais.maritime(120, 5, seed=1, every=60)
    seconds = time.perf_counter() - began
    assert sum(len(t) for t in tables.values()) > 1_000_000
    assert seconds < 30
