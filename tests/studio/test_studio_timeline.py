"""The timeline of a result against a count of plain Python: points, intervals, open ones, ranges, lanes by a value."""

from __future__ import annotations

import json
import re
import tempfile
import time
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from occurs.studio import timeline as module
from occurs.studio.job_results import Writer
from occurs.studio.results import END, LABEL, MANIFEST, TIME, Results, UnknownNameError
from occurs.studio.timeline import timeline
from studio.jobcases import result

TICKS = st.integers(-30, 30) | st.integers(-(2**62), 2**62)
VALUES = st.sampled_from(["a", "b10", "b9", None])


@st.composite
def points(draw):
    return [{"time": draw(TICKS), "v": draw(VALUES)} for _ in range(draw(st.integers(1, 12)))]


@st.composite
def intervals(draw):
    out = []
    for _ in range(draw(st.integers(1, 12))):
        start = draw(TICKS)
        end = draw(st.none() | st.integers(1, 40).map(lambda n, start=start: start + n))
        out.append({"time": start, "end": end, "v": draw(VALUES)})
    return out


def overlaps(row, begin, stop):
    """Is a row in a range, both ends included?"""
    end = row.get("end", row["time"])
    return row["time"] <= stop and (end is None or end >= begin)


def lanes_of(types, by):
    """(name, type, rows in the order of time) of the lanes, in their order."""
    rows = {t: sorted(enumerate(sorted(r, key=lambda r: r["time"])), key=lambda e: e[1]["time"])
            for t, (_, r) in types.items()}  # fmt: skip
    if not by:
        return [(t, t, r) for t, r in rows.items()]
    names = {"null" if r["v"] is None else r["v"] for some in rows.values() for _, r in some}

    def natural(name):
        return [int(p) if p.isdecimal() else p for p in re.split(r"(\d+)", name)]

    out = []
    for name in sorted(names, key=natural):
        for t, some in rows.items():
            mine = [e for e in some if ("null" if e[1]["v"] is None else e[1]["v"]) == name]
            out += [(name, t, mine)] if mine else []
    return out


@settings(max_examples=100, deadline=None)
@given(points(), intervals(), points(), TICKS, TICKS, st.integers(1, 40), st.booleans(), st.booleans())
def test_a_timeline_counts_what_plain_python_counts(some, lasting, seen, one, other, width, by, exact):
    types = {"Seen": ("input", seen), "Point": ("derived", some), "Lasting": ("derived", lasting)}
    begin, stop = min(one, other), max(one, other)
    module.MARKS, before = 100 if exact else -1, module.MARKS
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = timeline(result(Path(folder), types), begin, stop, width, "v" if by else None)
    finally:
        module.MARKS = before
    edges = [begin + ceil(Fraction(p * (stop - begin), width)) for p in range(width)]
    pixels = [*zip(edges, [e - 1 for e in edges[1:]] + [stop], strict=True)]
    wanted = []
    for name, type, rows in lanes_of(types, by):
        there = [(i, r) for i, r in rows if overlaps(r, begin, stop)]
        lane = {"name": name, "type": type, "input": type == "Seen", "count": len(there)}
        if exact:
            marks = [[r["time"], r.get("end", r["time"]), i] for i, r in there]
            lane["marks"] = [[str(v) if v is not None and abs(v) >= 2**53 else v for v in m] for m in marks]
        else:
            lane["counts"] = [sum(overlaps(r, *pixel) for _, r in rows) for pixel in pixels]
        wanted.append(lane)
    assert found["lanes"] == wanted
    assert found["total"] == len(some) + len(lasting)
    assert found["count"] == sum(lane["count"] for lane in wanted if not lane["input"])
    assert found["exact"] is exact


def test_the_range_of_everything_ends_where_the_last_interval_does(tmp_path):
    rows = [{"time": 5, "end": 90}, {"time": 50, "end": None}, {"time": 60, "end": 70}]
    found = timeline(result(tmp_path, {"Seen": ("input", [{"time": 2}]), "L": ("derived", rows)}))
    assert (found["from"], found["to"], found["count"]) == (2, 90, 3)


def test_many_input_events_do_not_make_few_detections_a_count(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MARKS", 3)
    types = {"Seen": ("input", [{"time": t} for t in range(9)]), "Point": ("derived", [{"time": 4}])}
    found = timeline(result(tmp_path, types), width=3)
    assert found["exact"]
    assert [sorted(lane.keys() & {"marks", "counts"}) for lane in found["lanes"]] == [["counts"], ["marks"]]
    assert found["lanes"][0]["counts"] == [3, 3, 3]


def test_names_that_are_not_there_are_refused(tmp_path):
    found = result(tmp_path, {"Point": ("derived", [{"time": 4, "v": 1}])})
    with pytest.raises(UnknownNameError, match="`Nix`"):
        timeline(found, types=["Nix"])
    with pytest.raises(UnknownNameError, match="`nix`"):
        timeline(found, by="nix")


def test_no_more_lanes_than_a_picture_has(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LANES", 3)
    types = {"Seen": ("input", [{"time": 4, "v": 0}]), "Point": ("derived", [{"time": 4, "v": v} for v in range(5)])}
    found = timeline(result(tmp_path, types), by="v")
    assert [(lane["name"], lane["type"]) for lane in found["lanes"]] == [("0", "Point"), ("1", "Point"), ("2", "Point")]
    assert (found["more"], found["count"]) == (3, 5)


def test_a_million_detections_are_one_fast_small_answer(tmp_path):
    rng = np.random.default_rng(7)
    writer = Writer(tmp_path, None, None, [], [])
    for number in range(5):
        time_ = np.sort(rng.integers(0, 2**50, 200_000))
        label = pa.array([bytes(16)] * len(time_), pa.binary(16))
        special = {TIME: pa.array(time_), LABEL: label}
        special |= {END: pa.array(time_ + rng.integers(1, 2**40, len(time_)))} if number % 2 else {}
        writer._put(f"T{number}", "derived", special, pa.table({"v": rng.integers(0, 5, len(time_))}), ())
    (tmp_path / MANIFEST).write_text(json.dumps({"time": {"timestamp": True}, "files": [], "types": writer._types}))
    found = Results(tmp_path)
    taken = []
    for begin, stop in [(None, None), (None, None), (2**40, 2**49), (2**45, 2**45 + 2**38)]:
        began = time.process_time()
        answer = timeline(found, begin, stop, 1_400)
        taken.append(time.process_time() - began)
        assert len(json.dumps(answer)) < 200_000
    assert sorted(taken)[1] < 0.06, taken
