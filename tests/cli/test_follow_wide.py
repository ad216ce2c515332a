"""What a stream makes of a file is what ``occurs run`` makes of it; without Spark."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

import occurs
from occurs.connect.files import read_sources
from occurs.errors import InputProblem
from occurs.follow.metrics import Totals, shown_span, shown_time
from occurs.follow.wide import Expected, Pinned, wide
from occurs.hosts.stream.batches import MicroBatch
from occurs.model.history import InputOptions
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import Schema, Type

from .conftest import EVENTS, RULES
from .test_bad_input import FILES, put


def expected_of(program, options=None, sources=None, ends=(None, None), labelled=False):
    options = options or InputOptions()
    pinned = Pinned(program.declared, TIMESTAMP, False, False)
    if sources is not None:
        history = program.checked.history(sources, replace(options, bad_rows="skip"))
        pinned = Pinned.of(program.checked, history, sources, options)
    return Expected.of(program.checked, pinned, options, ends, labelled)


@pytest.mark.parametrize("name", FILES)
def test_what_cannot_be_read_is_refused_in_the_same_words(here, name):
    file, content, kind, _ = FILES[name]
    put(here / file, content)
    program = occurs.load("fire.tesla")
    with pytest.raises(InputProblem) as here_:
        program.checked.history(read_sources([file], schemas=program.declared), InputOptions())
    with pytest.raises(InputProblem) as there:
        wide(read_sources([file], schemas=program.declared), expected_of(program))
    assert there.value.kind == kind
    assert str(there.value) == str(here_.value)


def test_bad_rows_that_are_left_out(here):
    more = "Temp,soon,hall,1\nTemp,2024-01-05T09:00:00Z,hall,warm\nSmoke\n"
    put(here / "e.csv", EVENTS + more)
    program, options = occurs.load("fire.tesla"), InputOptions(bad_rows="skip")
    sources = read_sources(["e.csv"], schemas=program.declared)
    rows = wide(sources, expected_of(program, options)).to_pylist()
    assert [r["__state"] for r in rows].count(0) == 5
    bad = [json.loads(r["__bad"]) for r in rows if r["__state"] == 2]
    assert sorted((b["row"], b["found"][0]["r"], b["found"][0]["n"]) for b in bad[:2]) == [
        (6, "unreadable time", "time"),
        (7, "value does not fit", "Value"),
    ]
    assert bad[2] == {
        "file": "e.csv", "row": 8, "data": "Smoke", "found": [{"r": "unreadable line", "n": None, "v": "Smoke"}]
    }  # fmt: skip


def test_rows_of_all_types_move_the_clock_and_those_outside_are_told_apart(here):
    program = occurs.load("fire.tesla")
    put(here / "e.csv", EVENTS)
    sources = read_sources(["e.csv"], schemas=program.declared)
    minute, first = 60_000_000, 1_704_445_200_000_000
    expected = expected_of(program, ends=(first + minute, first + 10 * minute)).with_late()
    rows = sorted(wide(sources, expected).to_pylist(), key=lambda r: r["__time"])
    assert [(r["__type"], r["__state"]) for r in rows] == [
        ("Temp", 1), ("Temp", 0), ("Smoke", 0), ("Smoke", 0), ("Door", 1)
    ]  # fmt: skip
    value, area = (expected.physical[("Temp", n)] for n in ("Value", "Area"))
    assert [(r[area], r[value]) for r in rows] == [
        (None, None), ("hall", 20), ("kitchen", None), ("hall", None), (None, None)
    ]  # fmt: skip
    assert json.loads(rows[1]["__data"]) == {
        "type": "Temp", "time": "2024-01-05T09:01:00Z", "Area": "hall", "Value": 20
    }  # fmt: skip


def test_types_are_those_of_the_first_look(here):
    """Undeclared: a column keeps the type it had, and a later file must fit it."""
    (here / "free.tesla").write_text("".join(RULES.splitlines(keepends=True)[2:]))
    program = occurs.load("free.tesla")
    put(here / "a.csv", EVENTS.replace(",50", ",50.5"))
    first = read_sources(["a.csv"])
    expected = expected_of(program, sources=first)
    assert dict(expected.pinned.schemas["Temp"])["Value"] is Type.FLOAT
    put(here / "b.csv", "Value,time,type,Area\n7,2024-01-06T09:00:00Z,Temp,\n")
    [row] = wide(read_sources(["b.csv"], schemas=expected.pinned.schemas), expected).to_pylist()
    assert row[expected.physical[("Temp", "Value")]] == 7.0
    put(here / "b.csv", "type,time,Value\nTemp,2024-01-06T09:00:00Z,warm\n")
    with pytest.raises(InputProblem, match="row 1: string value in column `Value` of `Temp`, which is float: 'warm'"):
        wide(read_sources(["b.csv"], schemas=expected.pinned.schemas), expected)
    put(here / "b.csv", "type,time,Value\nTemp,17,1\n")
    with pytest.raises(InputProblem, match="the times are integers, but timestamps were expected"):
        wide(read_sources(["b.csv"], schemas=expected.pinned.schemas), expected)
    assert Pinned.load(json.loads(json.dumps(expected.pinned.entry()))) == expected.pinned


def test_a_column_without_values_at_first_has_no_type_later(here):
    (here / "free.tesla").write_text("".join(RULES.splitlines(keepends=True)[2:]))
    program = occurs.load("free.tesla")
    head = "type,time,Area,Value,Other\n"
    put(here / "a.csv", head + "Temp,2024-01-06T09:00:00Z,x,50,\nSmoke,2024-01-06T09:00:00Z,x,,\n")
    expected = expected_of(program, sources=read_sources(["a.csv"]), labelled=True)
    put(here / "b.csv", head + "Temp,2024-01-06T09:00:00Z,x,50,7\n")
    with pytest.raises(InputProblem, match="column `Other` of `Temp` had no values at the start"):
        wide(read_sources(["b.csv"]), expected)


def test_only_columns_that_matter_are_handed_on():
    program = occurs.parse("define X(V) from A(K = 1) where V = A.V")
    schema = Schema((("K", Type.INT), ("V", Type.INT), ("W", Type.STRING)))
    pinned = Pinned({"A": schema}, TimeKind(False, "s"), False, False)
    plain, labelled = (Expected.of(program.checked, pinned, InputOptions(), (None, None), w) for w in (False, True))
    assert {n for n, _ in plain.columns} == {"K", "V"}
    assert {n for n, _ in labelled.columns} == {"K", "V", "W"}


def test_the_status_line():
    totals = Totals()
    assert totals.line(TIMESTAMP) == "waiting for events"
    figures = {"rows": 1500, "bad": 0, "outside": 0, "empty": 0, "late": 2, "waiting": 7, "kept": 9, "size": 100}
    figures |= {"read": 0, "frontier": 1_704_445_200_000_000, "newest": 1_704_445_210_000_000}
    done = MicroBatch({"Fire": pa.table({"time": [1, 2]})}, figures=figures)
    entry = totals.add(3, 0.5, done)
    assert (entry["batch"], entry["lag"], entry["found"]) == (3, 10_000_000, {"Fire": 2})
    line = totals.line(TIMESTAMP)
    assert line.startswith("1,500 events (")
    text = "/s), 2 detections, frontier 2024-01-05 09:00:00 (lag 10.0 s), 7 buffered, 9 rows of state, 2 late"
    assert line.endswith(text)
    totals.add(4, 0.5, done)
    assert totals.line(TIMESTAMP).startswith("3,000 events (")
    assert totals.rate > 0
    assert (shown_time(1500, TimeKind(False, None)), shown_time(None, TIMESTAMP)) == ("1,500", "not yet")
    assert shown_span(90, TimeKind(False, "min")) == "5,400.0 s"
    assert shown_span(90, TimeKind(False, None)) == "90 ticks"
