"""What a timeline shows, where, and what it says that it leaves out."""

from __future__ import annotations

import builtins
import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

import occurs
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.plot import lanes, timeline
from occurs.plot.lanes import chart
from occurs.plot.timeline import Timeline

TICKS = TimeKind(False, "min")


def test_a_group_per_key_and_a_lane_per_type(ships):
    shown = Timeline.of(ships, TICKS, key="vessel").picture()
    there = {g.name: {lane.type: len(lane.start) for lane in g.lanes} for g in shown.groups}
    assert there == {
        "vessel 1": {"docked": 2, "moored": 2, "trip": 3},
        "vessel 2": {"docked": 1, "moored": 1},
        "no vessel": {"tide": 2},
    }
    assert [g.name for g in shown.groups] == ["no vessel", "vessel 1", "vessel 2"]
    assert (shown.start, shown.end, shown.types, shown.notices) == (0, 90, tuple(ships), ())
    # three names, and the trips in two rows
    assert shown.rows == 3 + 1 + (1 + 1 + 2) + 2


def test_without_a_key_there_is_one_group_without_a_name(ships):
    [group] = Timeline.of(ships, TICKS).picture().groups
    assert group.name == ""
    assert [lane.rows for lane in group.lanes] == [1, 1, 2, 1]


def test_keys_are_in_the_order_of_their_numbers():
    table = pa.table({"time": [1, 2, 3], "k": ["s10", "s9", None]})
    shown = Timeline.of({"e": table}, TICKS, key=["k"]).page()
    assert [g.name for g in shown.groups] == ["k null", "k s9", "k s10"]


def test_bars_that_overlap_stand_below_one_another(ships):
    [group] = [g for g in Timeline.of(ships, TICKS, key="Vessel").picture().groups if g.name == "Vessel 1"]
    trip = group.lanes[-1]
    # the third begins when the first ends
    assert list(zip(trip.start.tolist(), trip.row.tolist())) == [(20, 0), (40, 1), (60, 0)]
    moored = group.lanes[1]
    assert (moored.open.tolist(), moored.end.tolist()) == ([False, True], [20, 90])
    assert moored.label == ["a", "b"]
    assert moored.text[1] == "moored\n70 to now (open)\nVessel = 1\nPort = b"


def test_no_two_bars_of_a_row_overlap():
    rng = np.random.default_rng(1)
    start = np.sort(rng.integers(0, 300, 200))
    end = start + rng.integers(1, 20, 200)
    row = lanes._stacked(start, end)
    for r in range(row.max() + 1):
        assert (start[row == r][1:] >= end[row == r][:-1]).all()
    # no more rows than bars at one instant
    assert row.max() + 1 == max(((start <= t) & (t < end)).sum() for t in range(320))


def test_only_what_is_between_is_shown(ships):
    shown = Timeline.of(ships, TICKS, start=25, end=65).picture()
    assert (shown.start, shown.end) == (25, 65)
    starts = {lane.type: lane.start.tolist() for g in shown.groups for lane in g.lanes}
    assert starts == {"docked": [30], "moored": [30], "trip": [20, 40, 60], "tide": [45]}
    with pytest.raises(UsageProblem, match="--from 5 is not before --to 5"):
        Timeline.of(ships, TICKS, start=5, end=5)


def test_times_are_dates(ships):
    nine = dt.datetime(2024, 1, 5, 9, tzinfo=dt.UTC)
    table = pa.table(
        {"time": pa.array([nine], pa.timestamp("us", tz="UTC")), "end": pa.array([None], pa.timestamp("us"))}
    )
    line = Timeline.of({"s": table}, TIMESTAMP, start="2024-01-05", end="2024-01-06T12:00:00+02:00")
    shown = line.page()
    assert shown.groups[0].lanes[0].text == ["s\n2024-01-05 09:00:00 to now (open)"]
    assert shown.end - shown.start == 34 * 3_600_000_000


def test_an_attribute_that_no_type_has_is_refused(ships):
    with pytest.raises(UsageProblem, match="did you mean `Vessel`"):
        Timeline.of(ships, TICKS, key="vesel").picture()


def test_what_is_left_out_is_said():
    many = pa.table({"time": np.arange(100), "end": np.arange(100) + 1000, "k": np.arange(100) % 7})
    shown = chart({"s": many}, TICKS, key=["k"], most_rows=50, most_lanes=3)
    assert [g.name for g in shown.groups] == ["k 0", "k 1", "k 2"]
    assert sum(len(lane.start) for g in shown.groups for lane in g.lanes) == 44
    assert shown.notices[0] == "3 of 7 keys are shown, the first in their order"
    shown = chart({"s": many}, TICKS, key=["k"], most_rows=20, most_lanes=300)
    assert shown.notices[0] == "20 of 100 rows are shown, those that begin by 19"
    assert sum(len(lane.start) for g in shown.groups for lane in g.lanes) == 20
    shown = chart({"s": many}, TICKS, most_rows=1000, most_lanes=300)
    over = 100 - lanes.MOST_STACKED
    assert shown.notices == (f"{over} overlapping `s` bars share a row; use --key to separate them",)
    [lane] = shown.groups[0].lanes
    assert lane.rows == lanes.MOST_STACKED
    assert lane.crowded.sum() == over + 1
    assert not chart({"s": many.slice(0, 5)}, TICKS, key=["k"], most_rows=5, most_lanes=5).notices


def test_one_group_is_shown_however_many_lanes_it_has():
    tables = {f"t{i}": pa.table({"time": [i]}) for i in range(9)}
    assert len(chart(tables, TICKS, most_rows=99, most_lanes=2).groups[0].lanes) == 9


def test_a_picture_and_a_page_are_written_or_refused(ships, tmp_path, monkeypatch):
    line = Timeline.of(ships, TICKS, key="Vessel", title="Ships")
    line.save(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_text().startswith("<!doctype html>")
    with pytest.raises(UsageProblem, match=r"x\.html: the file already exists") as caught:
        line.save(tmp_path / "x.html")
    assert (caught.value.kind, "overwrite=True" in caught.value.hint) == ("exists", True)
    line.save(tmp_path / "x.html", overwrite=True)
    with pytest.raises(UsageProblem, match=r"unsupported output format `\.pdf`"):
        line.save(tmp_path / "x.pdf")
    with pytest.raises(UsageProblem, match="no directory"):
        line.save(tmp_path / "none" / "x.png")
    (tmp_path / "d.png").mkdir()
    with pytest.raises(ResourceProblem, match="in the way"):
        line.save(tmp_path / "d.png")
    real = builtins.__import__

    def without(name: str, *rest: object) -> object:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ResourceProblem, match=r"pip install 'occurs\[plot\]'"):
        line.save(tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_detections_show_themselves_in_a_notebook(tmp_path):
    program = occurs.parse("define X(K) from A() where K = A.K\ndefine Y(K) from B() where K = B.K", language="tesla")
    found = program.detect({"A": pa.table({"time": [1, 5], "K": [1, 2]}), "B": pa.table({"time": [3], "K": [1]})})
    line = found.timeline("K", title="a < b")
    assert [(g.name, [lane.type for lane in g.lanes]) for g in line.page().groups] == [
        ("K 1", ["X", "Y"]),
        ("K 2", ["X"]),
    ]
    frame = line._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert 'sandbox="allow-scripts"' in frame
    assert frame.count('"') == 6  # of three attributes: nothing of the page gets out of its own
    assert [lane.type for g in found.timeline(only=["Y"]).page().groups for lane in g.lanes] == ["Y"]
    with pytest.raises(UsageProblem, match="`Z` is not reported"):
        found.timeline(only=["Z"])
    assert line.save(tmp_path / "t.html").rows == 5


def test_caps_are_those_of_the_pictures(ships, monkeypatch):
    monkeypatch.setattr(timeline, "PICTURE_LANES", 1)
    line = Timeline.of(ships, TICKS, key="Vessel")
    assert line.picture().notices == ("1 of 3 keys are shown, the first in their order",)
    assert line.page().notices == ()
