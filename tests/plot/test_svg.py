"""The picture as SVG: valid, safe with any text, in both themes, with nothing over anything else."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pytest

from occurs.model.colours import COLOURS, INPUT, THEMES
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.plot.drawing import Dot, Line, Rect, Text, drawn, shortened, text_width, ticks
from occurs.plot.timeline import Timeline

SVG = "{http://www.w3.org/2000/svg}"
TICKS = TimeKind(False, "min")
HOUR = 3_600_000_000
NASTY = '</style><script>alert(1)</script> & " \x00 \u2028'


def texts(svg: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_picture_has_what_the_timeline_shows(ships, tmp_path):
    line = Timeline.of(ships, TICKS, key="Vessel", title="Ships")
    line.save(tmp_path / "x.svg", width=900)
    root = ElementTree.fromstring((tmp_path / "x.svg").read_text())
    assert (root.get("width"), root.find(f"{SVG}title").text) == ("900", "Ships")
    shown = texts((tmp_path / "x.svg").read_text())
    assert {"Ships", "Vessel 1", "Vessel 2", "no Vessel", "moored", "trip", "goes on", "time (min)"} <= set(shown)
    # six bars, of which each explains itself under the pointer
    bars = [r for r in root.iter(f"{SVG}rect") if r.find(f"{SVG}title") is not None]
    assert len(bars) == 6
    assert "moored\n70 to now (open)\nVessel = 1\nPort = b" in [r.find(f"{SVG}title").text for r in bars]


def test_themes(ships):
    line = Timeline.of(ships, TICKS)
    both, dark = line.svg(), line.svg(theme="dark")
    assert "prefers-color-scheme: dark" in both
    assert "prefers-color-scheme" not in dark
    assert THEMES["dark"]["ink"] in dark
    assert THEMES["light"]["ink"] not in dark
    assert 'class="back"/>' in dark
    assert 'class="back"/>' not in line.svg(theme="dark", ground=False)
    assert line.svg() == both


def test_text_is_text():
    table = pa.table({"time": [1], "end": [90], "n": [NASTY], "k": [NASTY]})
    svg = Timeline.of({NASTY: table, "e": pa.table({"time": [1]})}, TICKS, key="k", title=NASTY).svg(width=3000)
    assert not list(ElementTree.fromstring(svg).iter(f"{SVG}script"))
    assert any("<script>alert(1)</script>" in t for t in texts(svg))


def crowd(seed: int, kind: TimeKind) -> Timeline:
    """Many types, keys, bars, marks and signals."""
    rng = np.random.default_rng(seed)
    unit = HOUR // 60 if kind.timestamp else 1

    def rows(n: int, bars: bool) -> pa.Table:
        start = np.sort(rng.integers(0, 3000, n)) * unit
        columns = {"time": start, "k": rng.integers(1, 4, n), "n": [f"harbour {i}" for i in range(n)]}
        if bars:
            columns["end"] = start + rng.integers(1, 300, n) * unit
        return pa.table(columns)

    tables = {f"detection_{i}": rows(12, i % 2 == 0) for i in range(5)}
    inputs = {
        "Weather": pa.table({"time": np.arange(60) * 50 * unit, "k": np.arange(60) % 3 + 1, "Wind": rng.random(60)})
    }
    return Timeline.of(
        tables, kind, key="k", title="A rather long title " * 3, inputs=inputs | {"Input": rows(30, False)}
    )


@pytest.mark.parametrize("width", [400, 800, 1600])
@pytest.mark.parametrize("kind", [TICKS, TIMESTAMP])
def test_no_text_is_over_other_text_or_leaves_the_picture(kind, width):
    for seed in range(3):
        sheet = drawn(crowd(seed, kind).picture(), width)
        boxes = []
        for t in (s for s in sheet.shapes if isinstance(s, Text)):
            wide = text_width(t.text, t.size, bold=t.bold)
            left = t.x - {"start": 0, "middle": wide / 2, "end": wide}[t.anchor]
            assert left >= 0, t
            assert left + wide <= width + 1, t
            boxes.append((left, t.y - t.size * 0.5, left + wide, t.y + t.size * 0.5, t.text))
        for a, b in combinations(boxes, 2):
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), (a, b)


def test_signals_and_input_events_are_above_detections():
    wind = pa.table({"time": [0, 10, 20, 30], "Wind": [1.0, 5.0, None, 3.0], "Station_id": [1, 1, 2, 2]})
    chart = Timeline.of(
        {"Storm": pa.table({"time": [10]})}, TICKS, inputs={"Weather": wind, "Door": pa.table({"time": [5]})}
    ).picture()
    [group] = chart.groups
    assert [lane.name for lane in group.lanes] == ["Weather.Wind", "Door", "Storm"]
    assert chart.colours == {"Weather": INPUT, "Door": INPUT, "Storm": COLOURS[0]}
    sheet = drawn(chart, 800)
    # null breaks the line, and the ends of the scale stand beside it
    [signal] = [
        s
        for s in sheet.shapes
        if isinstance(s, Line) and s.colour == "signal" and len(s.points) == 4 and None in s.points
    ]
    heights = [p[1] for p in signal.points if p is not None]
    assert heights[1] < heights[2] < heights[0]
    assert len([s for s in sheet.shapes if isinstance(s, Dot)]) == 3
    assert {"5", "1", "input events", "input signals"} <= {s.text for s in sheet.shapes if isinstance(s, Text)}


def test_signals_can_be_named():
    wind = pa.table({"time": [0, 10], "Wind": [1.0, 5.0], "Rain": [0, 1], "Note": ["a", "b"]})
    storm = {"Storm": pa.table({"time": [10]})}

    def lanes(signals):
        line = Timeline.of(storm, TICKS, inputs={"Weather": wind}, signals=signals)
        return [lane.name for lane in line.picture().groups[0].lanes]

    assert lanes(None) == ["Weather.Wind", "Weather.Rain", "Storm"]
    assert lanes(["rain"]) == ["Weather.Rain", "Storm"]
    assert lanes([]) == ["Weather", "Storm"]
    with pytest.raises(Exception, match="did you mean `Rain`"):
        lanes(["Rian"])


def test_very_many_values_are_drawn_by_their_extremes(monkeypatch):
    monkeypatch.setattr("occurs.plot.lanes.MOST_POINTS", 100)
    values = np.sin(np.arange(10_000) / 500)
    values[4321] = 9.0
    wave = pa.table({"time": np.arange(10_000), "v": values})
    chart = Timeline.of({"X": pa.table({"time": [1]})}, TICKS, inputs={"Wave": wave}).picture()
    lane = chart.groups[0].lanes[0]
    assert len(lane.start) <= 102
    assert lane.values.max() == 9.0
    assert chart.notices == (f"10,000 values of Wave.v are drawn as {len(lane.start)}: minimum and maximum per step",)


def test_one_type_has_a_lane_per_key_without_headings():
    table = pa.table({"time": list(range(50)), "end": list(range(1, 51)), "k": [f"k{i}" for i in range(50)]})
    sheet = drawn(Timeline.of({"s": table}, TICKS, key="k").picture(), 900)
    names = [s for s in sheet.shapes if isinstance(s, Text) and s.text.startswith("k k")]
    bars = [s for s in sheet.shapes if isinstance(s, Rect) and s.fill == COLOURS[0] and s.height > 15]
    assert len(names) == len(bars) == 50
    for name, bar in zip(names, bars, strict=True):
        assert bar.y < name.y < bar.y + bar.height


DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("start", "end", "first", "below"),
    [
        (0, 2_000, ["00:00:00.000000", "00:00:00.000500"], "1 Jan 1970"),
        (0, 2_000_000, ["00:00:00.000", "00:00:00.500"], "1 Jan 1970"),
        (0, 10_000_000, ["00:00:00", "00:00:02"], "1 Jan 1970"),
        (0, HOUR, ["00:00", "00:15"], "1 Jan 1970"),
        (HOUR // 3, 2 * DAY, ["12:00", "00:00"], "1 Jan 1970"),
        (0, 12 * DAY, ["5 Jan", "12 Jan"], "1970"),
        (0, 40 * DAY, ["5 Jan", "19 Jan"], "1970"),
        (0, 365 * DAY, ["Jan", "Apr"], "1970"),
        (0, 4000 * DAY, ["1970", "1975"], ""),
    ],
)
def test_marks_of_the_axis_are_at_round_times(start, end, first, below):
    found = ticks(start, end, TIMESTAMP, 5)
    assert len(found) <= 10
    assert all(start <= t.at <= end for t in found)
    assert [t.text for t in found[:2]] == first
    assert found[0].below == below
    belows = [t.below for t in found if t.below]
    assert len(belows) == len(set(belows))


def test_marks_of_numbers_and_of_times_that_no_calendar_has():
    assert [t.text for t in ticks(-7, 33, TICKS, 5)] == ["0", "10", "20", "30"]
    assert ticks(-(2**62), 2**62, TIMESTAMP, 5) == []


def test_text_is_cut_to_its_room():
    assert shortened("harbour", 10, 100) == "harbour"
    cut = shortened("harbour of the north", 10, 50)
    assert cut.endswith("…")
    assert text_width(cut, 10) <= 50


#: what colours look like without one kind of cones (Machado, Oliveira, Fernandes 2009), on linear RGB
BLIND = {
    "nothing": np.eye(3),
    "green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ rgb.clip(0, 1)
    x, y, z = np.cbrt(xyz / [0.9505, 1, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("kind", BLIND)
def test_colour_blind_readers_can_tell_colours_apart(kind):
    seen = [lab(np.array(BLIND[kind]) @ linear(c)) for c in (*COLOURS, INPUT)]
    # a difference of 2.3 can just be noticed side by side
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 7.5


@pytest.mark.parametrize("colour", [*COLOURS, INPUT])
def test_black_text_is_readable_on_colours(colour):
    light = [float(np.dot([0.2126, 0.7152, 0.0722], linear(c))) for c in (colour, THEMES["light"]["on"])]
    assert (light[0] + 0.05) / (light[1] + 0.05) > 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_text_is_readable_on_the_ground(theme):
    own = THEMES[theme]
    light = {name: float(np.dot([0.2126, 0.7152, 0.0722], linear(c))) for name, c in own.items()}
    for name in ("ink", "dim", "warn", "signal"):
        for ground in ("back", "band"):
            low, high = sorted((light[name] + 0.05, light[ground] + 0.05))
            assert high / low > 4.5, (name, ground)
