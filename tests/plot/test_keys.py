"""By what a timeline groups if nobody says so: the program's key, or an attribute that all types have."""

from __future__ import annotations

import pyarrow as pa

import occurs
from occurs.model.time import TimeKind
from occurs.plot.timeline import Timeline, shared

TICKS = TimeKind(False, "min")
RULES = """event Smoke(Room: string, N: int)
event Temp(Place: string, Value: int)
define Fire(Where, Value)
from   Smoke(Room = $a) and last Temp(Place = $a, Value > 45) within 5 min from Smoke
where  Where = $a, Value = Temp.Value
define Cold(Value, Spot) from Temp(Value < 0) where Value = Temp.Value, Spot = Temp.Place
"""
SMOKE = pa.table({"time": [4, 6], "Room": ["kitchen", "hall"], "N": [1, 1]})
TEMP = pa.table({"time": [1, 5, 7], "Place": ["kitchen", "hall", "hall"], "Value": [50, 60, -3]})


def groups(line: Timeline) -> dict[str, list[str]]:
    return {g.name: [lane.name for lane in g.lanes] for g in line.picture().groups}


def test_the_program_s_key_whatever_types_call_it():
    program = occurs.parse(RULES, language="tesla")
    found = program.detect({"Smoke": SMOKE, "Temp": TEMP}, time_unit="min")
    line = found.timeline(events={"Smoke": SMOKE, "Temp": TEMP}, signals=["Value"])
    assert groups(line) == {
        "Where hall": ["Smoke", "Temp.Value", "Fire", "Cold"],
        "Where kitchen": ["Smoke", "Temp.Value", "Fire"],
    }
    # what the caller says counts
    assert groups(found.timeline(key=())) == {"": ["Fire", "Cold"]}
    assert groups(found.timeline(key="Value")) == {
        "Value -3": ["Cold"], "Value 50": ["Fire"], "Value 60": ["Fire"],
    }  # fmt: skip


def test_the_key_of_most_types_with_rows():
    rules = """event A(K: string, L: string)
    event B(K: string, L: string)
    define ByK(K) from A(K = $k) and last B(K = $k) within 5 min from A where K = $k
    define AlsoByK(K) from B(K = $k) and last A(K = $k) within 5 min from B where K = $k
    define ByL(L) from A(L = $l) and last B(L = $l) within 5 min from A where L = $l
    """
    both = pa.table({"time": [1, 2, 3], "K": ["x", "y", "x"], "L": ["p", "p", "q"]})
    found = occurs.parse(rules, language="tesla").detect({"A": both, "B": both}, time_unit="min")
    assert found.timeline().key == ("K",)
    assert found.timeline(only=["ByL"]).key == ("L",)
    # the order that the caller names
    assert list(found.timeline(only=["ByL", "ByK"]).tables) == ["ByL", "ByK"]


def test_an_attribute_that_all_types_have():
    a = pa.table({"time": [1, 2], "n": [1, 2], "Port": ["x", "y"], "v": [0.5, 0.5]})
    b = pa.table({"time": [1, 2], "port": ["x", "x"], "n": [1, 1]})
    assert shared({"a": a, "b": b}) == ("Port",)
    assert shared({"a": a.drop_columns("Port"), "b": b}) == ("n",)
    assert shared({"a": a, "c": pa.table({"time": [1]})}) == ()
    # types without rows do not count, and neither does one value, or a value for every row
    assert shared({"a": a, "b": b, "c": pa.table({"time": pa.array([], pa.int64())})}) == ("Port",)
    assert shared({"a": a}) == ()
    assert shared({"b": b}) == ()
    assert shared({}) == ()


def test_a_guess_is_dropped_if_its_groups_have_no_room(monkeypatch):
    table = pa.table({"time": list(range(20)), "k": [f"k{i % 10}" for i in range(20)]})
    line = Timeline.of({"e": table}, TICKS, key=None)
    assert len(groups(line)) == 10
    monkeypatch.setattr("occurs.plot.timeline.PICTURE_LANES", 5)
    assert groups(line) == {"": ["e"]}
    # a key that the caller names is not
    assert len(groups(Timeline.of({"e": table}, TICKS, key="k"))) == 5


def test_keys_with_detections_are_shown_first(monkeypatch):
    monkeypatch.setattr("occurs.plot.timeline.PICTURE_LANES", 2)
    found = pa.table({"time": [1], "k": ["z"]})
    events = pa.table({"time": list(range(6)), "k": list("abcdez")})
    line = Timeline.of({"X": found}, TICKS, key="k", inputs={"E": events})
    assert list(groups(line)) == ["k z"]
    assert line.picture().notices == ("1 of 6 keys are shown, those with detections first",)
