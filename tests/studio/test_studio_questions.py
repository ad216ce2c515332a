"""Why and why not in the studio: the answers of a job, and the calls that ask, cancel and repair."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from occurs.errors import LimitProblem, OccursError
from occurs.studio import limits, questions, shapes
from occurs.studio.results import REPAIRS
from studio.conforming import answer_conforms
from studio.jobcases import ran

FIRE = """define Fire(Area, Value)
from   Smoke(Area = $a)
   and last Temp(Area = $a, Value > 45) within 5 min from Smoke
   and not Rain(Area = $a) between Temp and Smoke
where  Area = $a, Value = Temp.Value
"""
ROWS = """type,time,Area,Value
Temp,60,hall,50
Rain,120,hall,
Smoke,180,hall,
Temp,300,attic,44
Smoke,360,attic,
Temp,600,hall,60
Smoke,660,hall,
"""
WANT = {"type": "Fire", "where": {}, "from": None, "to": None, "edits": 2, "limit": 10, "variants": 2_000}
INTEGERS = {"time": {"timestamp": False, "unit": "s"}, "clock": [60, 660]}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a rule and its events, which is the working directory."""
    (tmp_path / "rows.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(project: Path, kind: str, more: Mapping[str, Any], text: str = FIRE, **of: Any) -> dict[str, Any]:
    """The answer of a job."""
    given = {**INTEGERS, **more}
    texts, options = {"fire.tesla": text}, of.pop("options", {"time_unit": "s"})
    found, _ = ran(project, texts, ["rows.csv"], kind, options=options, asked=given, **of)
    [answer] = found["done"].values()
    shape: Any = shapes.Derivation if kind == "why" else shapes.WhyNot
    assert msgspec.to_builtins(msgspec.convert(answer, shape)) == answer
    return dict(answer)


def test_why_shows_every_check_with_its_place_and_the_time_without_rain(project: Path) -> None:
    _, run = ran(project, {"fire.tesla": FIRE}, ["rows.csv"], options={"time_unit": "s"})
    label = run.rows()["rows"][0][7]
    found = asked(project, "why", {"label": label, "at": run.ticks(label)})
    lines = FIRE.splitlines()
    kinds = [(n["kind"], n["role"] or n["type"], n["ticks"], n["end_ticks"]) for n in found["nodes"]]
    assert kinds == [
        ("detection", "Fire", 660, None), ("event", "Smoke", 660, None), ("event", "Temp", 600, None),
        ("clause", "Temp", 600, None), ("clause", "Temp", 600, None), ("clause", "Temp", 600, None),
        ("absence", "Rain", 601, 660),
    ]  # fmt: skip
    for node in found["nodes"][3:]:
        span = node["span"]
        assert span["line"] == span["end_line"]
        assert lines[span["line"] - 1][span["column"] - 1 : span["end_column"] - 1] == node["clause"]
    assert (found["nodes"][4]["found"], found["nodes"][4]["needed"]) == ("60", "> 45")
    assert (found["label"], found["leaves"], found["more"]) == (label, 2, 0)
    labels = {row["label"] for row in run.why(label)["constituents"] if row["label"]}
    assert {n["label"] for n in found["nodes"][1:3]} == labels  # what the run has marks for


def test_why_not_gives_reasons_in_order_with_a_repair_that_detects(project: Path) -> None:
    found = asked(project, "why-not", {**WANT, "where": {"Area": "hall"}, "from": 170, "to": 190})
    assert [[c["kind"] for c in r["clauses"]] for r in found["reasons"]] == [["absence"], ["missing"]]
    first, second = found["reasons"]
    assert (first["files"], first["added"], first["verified"]) == (["fire.tesla"], None, True)
    assert [(w["type"], w["ok"], w["added"]) for w in first["witness"]] == [
        ("Smoke", True, False), ("Temp", True, False), ("Rain", False, False),
    ]  # fmt: skip
    assert second["files"] == []
    assert second["added"]["type"] == "Temp"
    assert [w["ok"] for w in second["witness"] if w["added"]] == [True]
    repairs = json.loads((project / ".job" / REPAIRS).read_text())
    assert list(repairs) == ["1", "2"]
    assert not repairs["2"]
    after, run = ran(project, repairs["1"], ["rows.csv"], options={"time_unit": "s"}, asked={})
    assert after["done"]["total"] == 2
    assert [row[3] for row in run.rows()["rows"]] == [180, 660]


def test_a_missing_row_may_lie_between_two_seconds_of_a_file(project: Path) -> None:
    rows = "type,time,Area,Value\nTemp,2024-01-05T09:01:00Z,hall,50\nSmoke,2024-01-05T09:03:00Z,attic,\n"
    (project / "rows.csv").write_text(rows)
    kind = {"time": {"timestamp": True, "unit": "us"}, "clock": [1_704_445_260_000_000, 1_704_445_380_000_000]}
    at = "2024-01-05T09:02:00.5Z"
    found = asked(project, "why-not", {**WANT, **kind, "from": at, "to": at}, options={})
    assert [[c["kind"] for c in r["clauses"]] for r in found["reasons"]] == [["missing"]]
    assert found["reasons"][0]["added"]["type"] == "Smoke"


def test_a_search_that_is_cut_short_says_so(project: Path) -> None:
    found = asked(project, "why-not", {**WANT, "from": 170, "to": 190, "variants": 1})
    assert not found["complete"]
    assert "1 relaxed cop" in found["notes"][0]


@pytest.mark.parametrize(
    ("file", "text", "rows", "type", "at", "kinds"),
    [
        ("a.epl", "create schema Door(area string);\ncreate schema Alive(area string);\n"
         "@Name('Inside') insert into Inside select d.area as area "
         "from pattern [every d=Door -> a=Alive(area = d.area) where timer:within(10 sec)];",
         "type,time,area\nDoor,0,hall\nAlive,10,hall\n", "Inside", 10, ["window", "missing"]),
        ("a.phen", "input event opens(K). input event closes(K). state up(K) : opens(K) ~> closes(K).\n"
         "state brief(K) : filter(up(K), less(4)).\n",
         "type,time,K\nopens,2,x\ncloses,7,x\n", "brief", 5, ["window", "missing"]),
        ("a.ptl", "past trigger p: v >= 3 continue at most every 6 s\n", "time,v\n2,7\n4,7\n", "p", 4, ["choice"]),
        ("a.esql", "DEFINE Out AS EVERY 3 TH OF (SELECT v AS v FROM Pay).\n", "type,time,v\nPay,5,1\nPay,9,2\n",
         "Out", 9, ["count"]),
    ],
    ids=["epl", "phenesthe", "ptl", "esql"],
)  # fmt: skip
def test_all_languages_are_asked(
    project: Path, file: str, text: str, rows: str, type: str, at: int, kinds: list[str]
) -> None:
    (project / "rows.csv").write_text(rows)
    given = {**WANT, **INTEGERS, "type": type, "from": at, "to": at}
    found, _ = ran(project, {file: text}, ["rows.csv"], "why-not", options={"time_unit": "s"}, asked=given)
    answer = msgspec.convert(found["done"]["why_not"], shapes.WhyNot)
    assert [r.clauses[0].kind for r in answer.reasons] == kinds
    first = answer.reasons[0]
    place = first.clauses[0].span
    assert place is not None
    assert first.clauses[0].file == file
    assert first.clauses[0].clause == text.splitlines()[place.line - 1][place.column - 1 : place.end_column - 1]
    assert first.files == [file]


def test_what_was_detected_after_all_is_said(project: Path) -> None:
    found = asked(project, "why-not", {**WANT, "from": 600})
    assert (found["found"], found["reasons"], found["from"], found["to"]) == (1, [], 600, 660)
    assert found["rows"] == [
        {"time": 660, "ticks": 660, "end": None, "end_ticks": None, "values": {"Area": "hall", "Value": 60}}
    ]


def test_times_are_text_and_ticks_where_rows_have_timestamps(project: Path) -> None:
    rows = [line.split(",") for line in ROWS.splitlines()[1:]]
    stamped = [",".join([t, f"2024-01-05T09:{int(at) // 60:02}:00Z", *more]) for t, at, *more in rows]
    (project / "rows.csv").write_text("type,time,Area,Value\n" + "\n".join(stamped) + "\n")
    ticks = 1_704_445_200_000_000 + 360_000_000
    kind = {"time": {"timestamp": True, "unit": None}, "clock": [ticks - 300_000_000, ticks + 300_000_000]}
    by_ticks = asked(project, "why-not", {**WANT, **kind, "from": ticks - 1, "to": ticks + 1}, options={})
    assert by_ticks["reasons"][0]["clauses"][0]["time"] == "2024-01-05T09:05:00Z"
    assert by_ticks["reasons"][0]["clauses"][0]["ticks"] == ticks - 60_000_000
    text = {"from": "2024-01-05T09:05:59.999999Z", "to": "2024-01-05T09:06:00.000001Z"}
    assert asked(project, "why-not", {**WANT, **kind, **text}, options={}) == by_ticks


@pytest.mark.parametrize(
    ("more", "kind", "node"),
    [
        ({"where": {"Value": "much"}}, "type-mismatch", "where.Value"),
        ({"where": {"Values": "1"}}, "unknown-attribute", "where.Values"),
        ({"from": "yesterday"}, "bad-time", "from"),
        ({"to": "2024-01-05"}, "bad-time", "to"),
        ({"from": 300, "to": 200}, "bad-option", "to"),
    ],
)
def test_what_is_wrong_is_said_at_its_field(project: Path, more: Any, kind: str, node: str) -> None:
    with pytest.raises(OccursError) as raised:
        asked(project, "why-not", {**WANT, **more})
    assert [(p.kind, p.node) for p in raised.value.problems] == [(kind, node)]


def test_large_input_and_long_derivations_have_limits(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "rows.csv").write_text(ROWS + "Temp,4900,attic,44\nSmoke,5000,attic,\n")
    with monkeypatch.context() as few:
        few.setattr(questions, "LIMITS", limits.Limits(why_rows=3, why_nodes=4))
        _, run = ran(project, {"fire.tesla": FIRE}, ["rows.csv"], options={"time_unit": "s"})
        label = run.rows()["rows"][0][7]
        found = asked(project, "why", {"label": label, "at": 660})
        assert (len(found["nodes"]), found["more"]) == (4, 3)
        near = asked(project, "why-not", {**WANT, "from": 4990, "to": 5010})
        assert not near["complete"]  # rows long before were not read
        assert near["notes"]
        few.setattr(questions, "LIMITS", limits.Limits(why_rows=1))
        with pytest.raises(LimitProblem) as raised:
            asked(project, "why-not", {**WANT, "from": 4990, "to": 5010})
        assert "occurs why-not" in str(raised.value.problems[0].hint)


# --- through the server -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def studio(start_studio: Any) -> Any:
    """A studio on the rule, whose text has a byte order mark."""
    settings = {"version": 1, "program": {"options": {"time_unit": "s"}}}
    files = {"fire.tesla": "\ufeff" + FIRE, "rows.csv": ROWS, "studio.json": json.dumps(settings)}
    return start_studio(files, OCCURS_KERNELS="plain")


def ended(studio: Any, call: str, body: Any) -> dict[str, Any]:
    started = studio.api.post(call, json=body)
    assert started.status_code == 202, started.text
    id, end = started.json()["id"], time.monotonic() + 120
    while (job := studio.api.get(f"jobs/{id}").json())["state"] in ("queued", "running"):
        assert time.monotonic() < end, job
        time.sleep(0.05)
    return dict(job)


@pytest.fixture(scope="module")
def run(studio: Any) -> str:
    job = ended(studio, "jobs", {"kind": "run"})
    assert job["result"]["total"] == 1, job
    return str(job["id"])


def test_questions_are_jobs_over_the_texts_of_their_run(studio: Any, run: str) -> None:
    described = studio.api.get("openapi.json").json()
    (studio.folder / "fire.tesla").write_text("define Other(Area) from Smoke(Area = $a) where Area = $a\n")
    job = ended(studio, f"jobs/{run}/why-not", {"type": "Fire", "where": {"Area": "attic"}, "from": 350, "to": 370})
    assert (job["kind"], job["state"], job["problems"]) == ("why-not", "done", [])
    answer_conforms(studio.api.get(f"jobs/{job['id']}"), described, "get", "/jobs/{id}")
    first = job["result"]["why_not"]["reasons"][0]
    [clause] = first["clauses"]
    assert (clause["message"], clause["repair"]) == ("Temp.Value = 44 at 300, needed > 45", "Value >= 44")
    repair = studio.api.get(f"jobs/{job['id']}/repairs/1")
    answer_conforms(repair, described, "get", "/jobs/{id}/repairs/{number}")
    [text] = repair.json()["texts"]
    assert text == {
        "path": "fire.tesla", "before": "\ufeff" + FIRE, "after": "\ufeff" + FIRE.replace("Value > 45", "Value >= 44"),
    }  # fmt: skip
    gone = studio.api.get(f"jobs/{job['id']}/repairs/99")
    assert (gone.status_code, gone.json()["error"]["kind"]) == (404, "unknown-name")
    assert studio.api.delete(f"jobs/{job['id']}").status_code == 200
    assert studio.api.get(f"jobs/{job['id']}/repairs/1").status_code == 404
    wrong = ended(studio, f"jobs/{run}/why-not", {"type": "Fire", "where": {"Value": "much"}})
    assert (wrong["state"], wrong["problems"][0]["node"]) == ("failed", "where.Value")


def test_a_question_is_cancelled(studio: Any, run: str) -> None:
    row = studio.api.get(f"jobs/{run}/rows").json()["rows"][0]
    with studio.updates() as updates:
        id = studio.api.post(f"jobs/{run}/why", json={"label": row[7]}).json()["id"]
        assert studio.api.delete(f"jobs/{id}").json()["state"] == "cancelled"
        states = []
        while "cancelled" not in states:
            _, data = updates.next("job")
            states += [data["state"]] if data["id"] == id else []
            assert data["result"] is None


@pytest.mark.parametrize(
    ("call", "body", "status", "kind", "node"),
    [
        ("why", {"label": "x"}, 400, "bad-request", None),
        ("why", {"label": "0" * 32}, 404, "unknown-name", None),
        ("why-not", {"type": "Fir"}, 422, "unknown-name", "type"),
        ("why-not", {"type": "Smoke"}, 422, "unknown-name", "type"),
        ("why-not", {"type": "Fire", "where": {"area": "hall"}}, 422, "unknown-attribute", "where.area"),
        ("why-not", {"type": "Fire", "edits": 5}, 400, "bad-request", None),
        ("why-not", {"type": "Fire", "limit": 0}, 400, "bad-request", None),
        ("why-not", {"type": "Fire", "variants": 20_001}, 400, "bad-request", None),
        ("why-not", {"type": "Fire", "from": 2**63}, 400, "bad-request", None),
        ("why-not", {"type": "Fire", "more": 1}, 400, "bad-request", None),
        ("why-not", {}, 400, "bad-request", None),
    ],
)
def test_wrong_questions_are_refused(
    studio: Any, run: str, call: str, body: Any, status: int, kind: str, node: str | None
) -> None:
    answer = studio.api.post(f"jobs/{run}/{call}", json=body)
    error = answer.json()["error"]
    problems = error["problems"]
    assert (answer.status_code, (problems[0] if problems else error)["kind"]) == (status, kind), error
    assert [p["node"] for p in problems] == ([] if node is None else [node])


def test_only_answers_have_repairs_and_only_runs_are_asked(studio: Any, run: str) -> None:
    for call, body in (("why", {"label": "0" * 32}), ("why-not", {"type": "Fire"})):
        answer = studio.api.post(f"jobs/nix/{call}", json=body)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "unknown-job")
    assert studio.api.get("jobs/nix/repairs/1").status_code == 404
    assert studio.api.get(f"jobs/{run}/repairs/1").json()["error"]["kind"] == "bad-request"
