"""The page: whole in itself, safe with any text, and its script does what it says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from occurs.model.time import TIMESTAMP, TimeKind
from occurs.plot.timeline import Timeline, page

TICKS = TimeKind(False, "s")
NASTY = "</script><script>alert(1)</script><!-- \u2028 & \" ' @@data@@"


class Read(HTMLParser):
    """The scripts and the title of a page, and every address in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.title = ""
        self.addresses: list[str] = []
        self._tag = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._tag = tag
        self.addresses += [v or "" for n, v in attrs if n in ("src", "href", "srcset", "action")]
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    def handle_data(self, data: str) -> None:
        if self._tag == "script":
            self.scripts[-1] += data
        elif self._tag == "title":
            self.title += data


def read(text: str) -> dict[str, Any]:
    return json.loads(Read(text).scripts[0])


def test_the_page_needs_nothing_else(ships):
    text = page(Timeline.of(ships, TICKS, key="Vessel").page())
    found = Read(text)
    assert len(found.scripts) == 2
    assert found.addresses == []
    assert not re.search(r"https?:|@import|url\(", text)
    assert "default-src 'none'" in text


def test_the_page_has_what_the_timeline_shows(ships):
    data = read(page(Timeline.of(ships, TICKS, key="Vessel", title="Ships").page()))
    assert (data["title"], data["unit"], data["stamped"], data["base"], data["span"]) == ("Ships", "s", False, "0", 90)
    assert [t["name"] for t in data["types"]] == list(ships)
    [one] = [g for g in data["groups"] if g["name"] == "Vessel 1"]
    moored = one["lanes"][1]
    assert (moored["start"], moored["end"], moored["open"], moored["label"]) == ([0, 70], [20, 90], [1], ["a", "b"])


def test_text_is_text_wherever_it_stands():
    tables = {NASTY: pa.table({"time": [1], "end": [2], NASTY: [NASTY], "k": [NASTY]})}
    text = page(Timeline.of(tables, TICKS, key="k", title=NASTY).page())
    found = Read(text)
    assert len(found.scripts) == 2
    assert found.title == NASTY
    data = json.loads(found.scripts[0])
    assert data["types"][0]["name"] == data["title"] == NASTY
    assert NASTY in data["groups"][0]["lanes"][0]["text"][0]
    assert "alert(1)</script>" not in text
    # what a user wrote becomes markup nowhere
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|Function\(", found.scripts[1])


def test_times_beyond_the_whole_numbers_of_a_float_are_exact():
    first = 2**62
    data = read(page(Timeline.of({"e": pa.table({"time": [first, first + 3]})}, TICKS).page()))
    assert int(data["base"]) == first
    assert data["groups"][0]["lanes"][0]["start"] == [0, 3]


DRIVER = Path(__file__).with_name("page_driver.js")


@pytest.mark.skipif(shutil.which("node") is None, reason="the script of the page runs in node")
@pytest.mark.parametrize("kind", [TICKS, TIMESTAMP])
def test_the_script_draws_moves_and_tells(ships, kind, tmp_path):
    if kind.timestamp:
        times = {n: [c for c in ("time", "end") if c in t.column_names] for n, t in ships.items()}
        for name, columns in times.items():
            for c in columns:
                ticks = pa.array(
                    [None if v is None else v * 60_000_000 for v in ships[name][c].to_pylist()], pa.int64()
                )
                at = ships[name].column_names.index(c)
                ships[name] = ships[name].set_column(at, c, ticks.cast(pa.timestamp("us", tz="UTC")))
    (tmp_path / "page.json").write_text(json.dumps(Read(page(Timeline.of(ships, kind, key="Vessel").page())).scripts))
    command = ["node", str(DRIVER), str(tmp_path / "page.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    # three docked, three moored, three trips, two tides; marks are no rectangles
    assert told["bars"] == 6
    assert told["shown"] == "11 in view"
    assert {"Vessel 1", "Vessel 2", "no Vessel", "moored", "trip"} <= set(told["texts"])
    assert "moored" in told["tip"]
    assert "Port = a" in told["tip"]
    # near the first instant there is one ship in port and one tide; far to the right only what still holds
    assert told["near"] == "1 in view"
    assert told["far"] == "1 in view"
    assert told["without trips"] == "8 in view"
    assert told["ticks"] >= 4


@pytest.mark.skipif(shutil.which("node") is None, reason="the script of the page runs in node")
def test_the_script_draws_signals(ships, tmp_path):
    height = pa.table({"time": [5, 25, 45], "Height": [1.5, None, 3.0], "Vessel": [1, 1, 1]})
    line = Timeline.of(ships, TICKS, key="Vessel", inputs={"Sea": height, "Buoy": height}, signals=["Height"])
    text = page(line.page())
    [sea] = [lane for g in read(text)["groups"] for lane in g["lanes"] if lane["signal"] and lane["type"] == 0]
    assert sea["values"] == [1.5, None, 3.0]
    (tmp_path / "page.json").write_text(json.dumps(Read(text).scripts))
    command = ["node", str(DRIVER), str(tmp_path / "page.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    # eleven rows as without signals, and two known values of each
    assert told["shown"] == "15 in view"
    assert {"Sea.Height", "Buoy.Height", "1.5", "3"} <= set(told["texts"])
