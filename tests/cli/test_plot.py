"""``occurs plot``: timelines of what ``occurs run`` has written."""

from __future__ import annotations

import json
import re

import pytest

from .conftest import EVENTS

LINES = [
    {"type": "moored", "time": "2024-06-01T08:00:00Z", "end": "2024-06-01T10:00:00Z", "Vessel": 1, "Port": "a"},
    {"type": "docked", "time": "2024-06-01T08:00:00Z", "Vessel": 1, "Port": "a"},
    {"type": "moored", "time": "2024-06-01T12:00:00Z", "end": None, "Vessel": 2, "Port": "a"},
    {"type": "late", "time": "2024-06-01T13:00:00Z", "end": None, "Vessel": 2},
]


def page(text: str) -> dict:
    """Type -> (does it last, how many rows) of every group."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    names = [t["name"] for t in data["types"]]
    return {
        g["name"]: {names[lane["type"]]: (lane["lasting"], len(lane["start"])) for lane in g["lanes"]}
        for g in data["groups"]
    }


@pytest.fixture
def lines(here):
    (here / "found.jsonl").write_text("".join(json.dumps(line) + "\n" for line in LINES))
    return here


@pytest.mark.parametrize("suffix", ["jsonl", "csv", "parquet", "folder"])
def test_what_a_run_writes_is_drawn(occurs, here, suffix):
    name = "folder" if suffix == "folder" else f"found.{suffix}"
    assert occurs("run", "fire.tesla", "--host", "local", "--events", "events.csv", "--out", name).status == 0
    done = occurs("plot", name, "--out", "t.html", "--key", "Area", "--title", "Fires")
    assert (done.status, done.out) == (0, "")
    assert done.err == "t.html: 1 of 1 rows drawn\n"
    text = (here / "t.html").read_text()
    assert page(text) == {"Area kitchen": {"Fire": (False, 1)}}
    assert "<title>Fires</title>" in text


def test_a_picture_is_drawn(occurs, lines):
    pytest.importorskip("matplotlib")
    done = occurs("plot", "found.jsonl", "--out", "t.png", "--key", "vessel")
    assert done.status == 0
    assert (lines / "t.png").read_bytes().startswith(b"\x89PNG")


def test_events_and_what_lasts(occurs, lines):
    assert occurs("plot", "found.jsonl", "-o", "t.html", "--key", "Vessel").status == 0
    assert page((lines / "t.html").read_text()) == {
        "Vessel 1": {"moored": (True, 1), "docked": (False, 1)},
        "Vessel 2": {"moored": (True, 1), "late": (False, 1)},
    }
    given = ("plot", "found.jsonl", "-o", "t.html", "--overwrite")
    assert occurs(*given, "--key", "Vessel", "--lasting", "late").status == 0
    assert page((lines / "t.html").read_text())["Vessel 2"] == {"moored": (True, 1), "late": (True, 1)}


def test_some_types_and_some_time(occurs, lines):
    assert occurs("plot", "found.jsonl", "-o", "t.html", "--only", "docked,moored", "--key", "").status == 0
    assert page((lines / "t.html").read_text()) == {"": {"docked": (False, 1), "moored": (True, 2)}}
    given = ("plot", "found.jsonl", "-o", "t.html", "--overwrite", "--key", "")
    done = occurs(*given, "--from", "2024-06-01T09:00:00Z", "--to", "2024-06-01T11:00:00Z")
    assert done.err == "t.html: 1 of 4 rows drawn\n"
    assert page((lines / "t.html").read_text()) == {"": {"moored": (True, 1)}}


def test_several_files_and_ticks(occurs, here):
    (here / "a.csv").write_text("type,time,end,K\ns,1,5,x\ns,7,,x\n")
    (here / "b.csv").write_text("type,time,K\ne,3,y\n")
    assert occurs("plot", "a.csv", "b.csv", "-o", "t.html", "--key", "K", "--time-unit", "s", "--to", "6").status == 0
    text = (here / "t.html").read_text()
    assert page(text) == {"K x": {"s": (True, 1)}, "K y": {"e": (False, 1)}}
    assert '"unit":"s"' in text


def names(text: str) -> dict:
    """Group -> its lanes, with the attributes of signals."""
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    types = [t["name"] for t in data["types"]]
    return {
        g["name"]: [types[lane["type"]] + f".{lane['signal']}" * bool(lane["signal"]) for lane in g["lanes"]]
        for g in data["groups"]
    }


def test_input_events_and_signals_stand_beside_the_detections(occurs, here):
    assert occurs("run", "fire.tesla", "--host", "local", "-e", "events.csv", "-o", "found.jsonl").status == 0
    done = occurs("plot", "found.jsonl", "-o", "t.html", "--events", "events.csv", "--rules", "fire.tesla")
    assert (done.status, done.err) == (0, "t.html: 6 of 6 rows drawn\n")
    assert names((here / "t.html").read_text()) == {
        "Area hall": ["Temp.Value", "Smoke", "Door"],
        "Area kitchen": ["Temp.Value", "Smoke", "Fire"],
    }
    given = ("plot", "found.jsonl", "-o", "t.html", "--overwrite", "-e", "events.csv")
    assert occurs(*given, "--key", "", "--signals", "").status == 0
    assert names((here / "t.html").read_text()) == {"": ["Temp", "Smoke", "Door", "Fire"]}
    # without the rules, an attribute that all types have
    assert occurs(*given).status == 0
    assert list(names((here / "t.html").read_text())) == ["Area hall", "Area kitchen"]


def test_events_with_columns_of_other_names_and_files_of_one_type(occurs, here):
    (here / "found.csv").write_text("type,time,K\nX,5,a\n")
    (here / "wind.csv").write_text("at,K,Speed\n1,a,3.5\n2,b,4\n")
    given = ("plot", "found.csv", "-o", "t.html", "--time-unit", "s", "-e", "Wind=wind.csv", "--time-column", "at")
    assert occurs(*given, "--type-column", "").status == 0
    assert names((here / "t.html").read_text()) == {"K a": ["Wind.Speed", "X"], "K b": ["Wind.Speed"]}


def test_times_of_another_kind_are_refused(occurs, lines):
    (lines / "ticks.csv").write_text("type,time\nX,5\n")
    done = occurs("plot", "found.jsonl", "-o", "t.html", "-e", "ticks.csv")
    assert done.status == 2
    assert "the times of the events are integers, those of the detections are timestamps" in done.err


@pytest.mark.parametrize("theme", [None, "light", "dark"])
def test_svg_needs_no_matplotlib(occurs, lines, monkeypatch, theme):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    more = () if theme is None else ("--theme", theme)
    assert occurs("plot", "found.jsonl", "-o", "t.svg", "--width", "640", *more).status == 0
    text = (lines / "t.svg").read_text()
    assert text.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="640"')
    assert ("prefers-color-scheme" in text) is (theme is None)


def test_overlapping_bars_name_the_option_that_separates_them(occurs, here):
    rows = "".join(f"stopped,{k},{k + 500},ship{k}\n" for k in range(40))
    (here / "found.csv").write_text("type,time,end,Ship\n" + rows)
    done = occurs("plot", "found.csv", "-o", "t.svg", "--time-unit", "s")
    assert done.err == (
        "t.svg: 40 of 40 rows drawn\n30 overlapping `stopped` bars share a row; use --key to separate them\n"
    )
    assert occurs("plot", "found.csv", "-o", "t.svg", "--overwrite", "--time-unit", "s", "--key", "Ship").err == (
        "t.svg: 40 of 40 rows drawn\n"
    )


def test_what_is_not_shown_is_said(occurs, lines, monkeypatch):
    monkeypatch.setattr("occurs.plot.timeline.PAGE_ROWS", 2)
    done = occurs("plot", "found.jsonl", "-o", "t.html")
    assert done.status == 0
    assert "t.html: 2 of 4 rows drawn\n" in done.err
    assert "2 of 4 rows are shown, those that begin by 2024-06-01 08:00:00" in done.err
    assert "2 of 4 rows are shown" in (lines / "t.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("found.jsonl", "-o", "t.pdf"), 2, "`.pdf`\n  hint: use .png, .svg or .html"),
        (("found.jsonl", "-o", "none/t.png"), 2, "no directory"),
        (("fund.jsonl", "-o", "t.html"), 2, "did you mean `found.jsonl`?"),
        (("found.jsonl", "-o", "t.html", "--key", "Vesel"), 2, "did you mean `Vessel`?"),
        (("found.jsonl", "-o", "t.html", "--only", "mored"), 2, "did you mean `moored`?"),
        (("found.jsonl", "-o", "t.html", "--lasting", "mored"), 2, "did you mean `moored`?"),
        (("found.jsonl", "-o", "t.html", "--from", "noon"), 2, "--from 'noon'"),
        (("found.jsonl", "-o", "t.html", "--from", "2024-06-02", "--to", "2024-06-01"), 2, "is not before"),
        (("events.csv", "-o", "t.html", "--time-unit", "weeks"), 2, "one of us, ms, s, min, h, d"),
        (("found.jsonl",), 2, "--out"),
    ],
)
def test_wrong_options(occurs, lines, arguments, status, message):
    done = occurs("plot", *arguments)
    assert (done.status, done.out) == (status, "")
    assert message in done.err
    assert not (lines / "t.html").exists()


def test_no_matplotlib_is_status_1(occurs, lines, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = occurs("plot", "found.jsonl", "--out", "t.png")
    assert (done.status, done.out) == (1, "")
    assert "error[not-installed]: PNG is drawn with matplotlib" in done.err
    assert "occurs[plot]" in done.err


def test_rows_that_cannot_be_read_are_named(occurs, here):
    (here / "bad.csv").write_text(EVENTS.replace("2024-01-05T09:01:00Z", "at nine"))
    done = occurs("plot", "bad.csv", "-o", "t.html")
    assert done.status == 2
    assert "row 2: unreadable time" in done.err
