"""Jobs over nets: verifications, state spaces and random streams as data, with progress, limits and an end."""

from __future__ import annotations

import asyncio
import json
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jobcases import ran
from msgspec import to_builtins
from test_job_routes import ended
from test_net_routes import fits

import occurs.studio
from occurs.errors import DefinitionProblem, OccursError
from occurs.services.net_analysis import histogram
from occurs.studio.jobs import Jobs, Request
from occurs.studio.shapes import JobNet
from occurs.studio.spawning import Processes

LABOR = Path(occurs.studio.__file__).parent / "examples" / "labor"
UNIT = {"time_unit": "min"}
STREAM = {
    "rows": 20,
    "gap": 2,
    "types": {"A": {"attributes": {"k": {"values": ["p", "q"]}, "v": {"distribution": "poisson", "mean": 5}}}},
}
TOML = """
rows = 20
gap = 2
[types.A.attributes]
k = {values = ["p", "q"]}
v = {distribution = "poisson", mean = 5}
"""
RULES = (
    "create schema A(k string, v int);"
    "@Name('High') insert into High select a.v as v from pattern [every a=A(v > 4)];"
    "@Name('Never') insert into Never select a.v as v from pattern [a=A(v < 0)];"
)
#: case 5 of Table 1 of the paper
CASE_5 = (
    "create schema A(tm int, ma int); create schema B(tm int, mb int); create schema C(tm int, mc int);"
    "insert into Found select a.ma as ma, b.mb as mb from pattern [every a=A(ma > 10) -> b=B(mb > 2)];"
)
EVENTS = "A23@1 A55@1 C0@1 B25@2 A50@2 C5@3 B12@3 C10@4 A0@4 B1@5 B5@6 A15@7 C8@7"


def rows() -> str:
    out = []
    for number, word in enumerate(EVENTS.split()):
        value, at = word[1:].split("@")
        values = {"tm": int(at), f"m{word[0].lower()}": int(value)}
        out.append(json.dumps({"type": word[0], "time": int(at), "sequence": number, **values}))
    return "\n".join(out)


# --- verify


@pytest.mark.slow
def test_the_example_is_verified_with_its_nets(studio):
    job = ended(studio, {"kind": "verify"})
    fits(studio, job, "Job")
    result = job["result"]
    assert (job["state"], result["equal"], result["without"]) == ("done", True, None)
    assert result["sides"] == ["engine", "reference", "BPCPN", "PCPN"]
    assert result["table"] == [
        {"type": "Duration", "counts": [3, 3, 3, 3]}, {"type": "TimeOnLabor", "counts": [9, 9, 9, 9]},
    ]  # fmt: skip
    assert (result["differences"], result["firings"]) == ([], {"BPCPN": 67, "PCPN": 262})
    assert "12 events; BPCPN: 67 firings, PCPN: 262 firings" in result["report"]
    assert job["progress"] == {"done": 4, "total": 4, "at": None, "ticks": None, "found": 0}
    assert ended(studio, {"kind": "verify", "net": {"first": 1}})["result"]["firings"]["PCPN"] < 262
    limited = ended(studio, {"kind": "verify", "net": {"rows": 5}})
    assert (limited["state"], [p["kind"] for p in limited["problems"] if p["severity"] == "error"]) == (
        "failed", ["max-events"],
    )  # fmt: skip
    assert "--" not in limited["problems"][0]["hint"]


def test_a_program_without_a_net_is_verified_without_one(studio):
    text = "create schema Patient(name string, contrDuration int, ts int);"
    text += "@Name('U') insert into U select b.ts as ts from pattern [every (a=Patient until b=Patient(ts > 20))];"
    result = ended(studio, {"kind": "verify", "texts": {"labor.epl": text}})["result"]
    assert (result["sides"], result["firings"]) == (["engine", "reference"], {})
    assert result["without"].startswith("`until` cannot be translated into a net")


def test_differences_are_told_with_their_instant(tmp_path, monkeypatch):
    from occurs.program import Program
    from occurs.verify.reference import Difference, Verification

    (tmp_path / "rows.csv").write_text("type,time,v\nA,0,1\nA,86400,2\n")
    monkeypatch.chdir(tmp_path)
    found = Verification(
        False, "text", ("engine", "reference"), {"P": (1, 2)}, (Difference("P", "engine", 7, "missing", ("why",)),)
    )
    monkeypatch.setattr(Program, "verify", lambda self, *of, **more: found)
    text = "create schema A(v int); insert into P select a.v as v from pattern [every a=A];"
    done, _ = ran(tmp_path, {"a.epl": text}, ["rows.csv"], "verify", options={"time_unit": "s"})
    assert done["done"]["table"] == [{"type": "P", "counts": [1, 2]}]
    assert done["done"]["differences"] == [
        {"type": "P", "side": "engine", "time": 7, "ticks": 7, "text": "missing", "why": ["why"]}
    ]


# --- space


def test_the_state_space_of_a_case_of_the_paper(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.jsonl").write_text(rows())
    told: list[Any] = []
    net = {"black": False, "first": 1}
    done, _ = ran(tmp_path, {"case.epl": CASE_5}, ["rows.jsonl"], "space", told, {"time_unit": "s"}, net)
    found = done["done"]
    assert (found["nodes"], found["arcs"], found["dead_markings"], found["complete"]) == (99, 212, 2, True)
    assert found["home_markings"] == 0
    assert "Nodes:  99" in found["report"]
    assert told[-1]["progress"] == {"done": 99, "total": 99, "at": None, "ticks": None, "found": 99}


def test_a_space_has_a_limit_and_then_is_partial(studio):
    job = ended(studio, {"kind": "space", "net": {"max_states": 10}})
    fits(studio, job, "Job")
    assert (job["state"], job["result"]["complete"], job["result"]["home_markings"]) == ("done", False, None)
    assert job["result"]["report"].startswith("PARTIAL")
    whole = ended(studio, {"kind": "space", "net": {"rows": 6}})
    assert (whole["result"]["complete"], [p["kind"] for p in whole["problems"]]) == (True, ["rows-left-out"])


def test_a_space_of_a_file_of_a_net(studio):
    id = studio.api.post("nets", json={"rows": 3}).json()["id"]
    text = studio.api.get(f"nets/{id}/export", params={"format": "net.json"}).text
    job = ended(studio, {"kind": "space", "texts": {"x.net.json": text}, "net": {"path": "x.net.json"}})
    assert (job["state"], job["result"]["complete"]) == ("done", True)
    wrong = ended(studio, {"kind": "space", "texts": {"x.net.json": "{"}, "net": {"path": "x.net.json"}})
    assert (wrong["state"], wrong["problems"][0]["kind"]) == ("failed", "syntax")


def test_a_long_space_is_cancelled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_bytes((LABOR / "rows.csv").read_bytes())
    heard: list[Any] = []

    async def story() -> dict[str, Any]:
        processes = Processes()
        jobs = Jobs(tmp_path, lambda event, data: heard.append(data), processes)
        net = {**to_builtins(JobNet()), "max_states": 10_000_000, "black": False}
        text = (LABOR / "labor.epl").read_text()
        id = jobs.start(Request("space", {"labor.epl": text}, ["rows.csv"], UNIT, net))
        end = time.monotonic() + 60
        while not (jobs.state(id)["progress"] or {}).get("found", 0) > 1000:
            assert time.monotonic() < end
            await asyncio.sleep(0.05)
        began = time.monotonic()
        told = await jobs.cancel(id)
        assert time.monotonic() - began < 1
        await jobs.close()
        await processes.close()
        return told

    assert asyncio.run(story())["state"] == "cancelled"
    found = [data["progress"]["found"] for data in heard if data["progress"]]
    assert found == sorted(found)


# --- random


def test_random_streams_are_counted(studio):
    net = {"stream": "stream.toml", "runs": 30, "seed": 5}
    asked = {"kind": "random", "texts": {"a.epl": RULES, "stream.toml": TOML, "labor.epl": ""}, "options": UNIT}
    job = ended(studio, {**asked, "net": {**net, "path": "a.epl"}})
    fits(studio, job, "Job")
    assert job["state"] == "done", job
    result = job["result"]
    assert (result["runs"], result["confidence"], result["complete"]) == (30, 0.95, True)
    counted = {(c["of"], c["name"]): c for c in result["counted"]}
    assert list(counted) == [("input", "A"), ("output", "High"), ("output", "Never"), ("firings", "firings")]
    assert (counted["input", "A"]["least"], counted["input", "A"]["most"]) == (20, 20)
    high = counted["output", "High"]
    assert high["interval"][0] < high["mean"] < high["interval"][1]
    assert sum(bar["runs"] for bar in high["histogram"]) == 30
    assert (high["histogram"][0]["low"], high["histogram"][-1]["high"]) == (high["least"], high["most"])
    assert counted["output", "Never"]["histogram"] == [{"low": 0, "high": 0, "runs": 30}]
    (studio.folder / "stream.toml").write_text(TOML)
    try:
        again = ended(studio, {**asked, "texts": {"a.epl": RULES}, "net": {**net, "path": "a.epl"}})
    finally:
        (studio.folder / "stream.toml").unlink()
    assert again["result"]["counted"] == result["counted"]
    data = ended(studio, {**asked, "net": {**net, "path": "a.epl", "stream": STREAM}})
    assert data["result"]["counted"] == result["counted"]


def test_runs_that_are_stopped_are_told(tmp_path):
    net = {"stream": STREAM, "runs": 2, "steps": 5, "black": False}
    told: list[Any] = []
    done, _ = ran(tmp_path, {"a.epl": RULES}, [], "random", told, UNIT, net)
    assert done["done"]["complete"] is False
    assert told[-1]["progress"]["done"] == 2


@pytest.mark.parametrize(
    ("texts", "stream", "error"),
    [
        ({"a.epl": RULES}, {"rows": 3}, "`gap` is missing"),
        ({"a.epl": RULES}, {**STREAM, "types": {"B": {}}}, "does not have this type"),
        ({"a.epl": RULES + "insert into U select b.v as v from pattern [every (a=A until b=A)];"}, STREAM, "until"),
        ({"hot.tesla": "define Hot(v) from Temp(Value > 45) where v = Temp.Value"}, STREAM, "TESLA"),
    ],
)
def test_wrong_streams_and_programs_fail_with_the_reason(tmp_path, texts, stream, error):
    with pytest.raises(OccursError, match=error):
        ran(tmp_path, texts, [], "random", net={"stream": stream})


def test_a_net_that_cannot_be_drawn_has_no_space(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "create schema A(v int); insert into U select b.v as v from pattern [every (a=A until b=A)];"
    with pytest.raises(DefinitionProblem, match="until"):
        ran(tmp_path, {"a.epl": text}, [], "space")


@pytest.mark.parametrize("counts", [(3,), (0, 0, 7), tuple(range(500)), (10**12, 0, 5)])
def test_histograms_hold_every_run_in_few_bars(counts):
    bars = histogram(counts)
    assert len(bars) <= 20
    assert sum(b.runs for b in bars) == len(counts)
    assert (bars[0].low, bars[-1].high) == (min(counts), max(counts))
    assert all(a.high + 1 == b.low for a, b in pairwise(bars))
    for b in bars:
        assert b.runs == sum(b.low <= n <= b.high for n in counts)
