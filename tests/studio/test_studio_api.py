"""The calls of the studio, answered by the real server with its language worker."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from occurs.services.answers import Outline
from occurs.services.events import KNOWN
from occurs.studio import samples
from occurs.studio.files import Folder
from occurs.studio.limits import LIMITS, listed, seconds_of_call
from occurs.studio.project import checked, split_events
from occurs.studio.watching import EVERY
from occurs.studio.worker import too_many
from studio.conforming import answer_conforms
from studio_server import Started, named, until

BROKEN = "@Name('Broken') select * frm A;"


def etag(studio: Started, path: str) -> str:
    return studio.api.get(f"files/{path}").headers["etag"]


def kind(response: httpx.Response) -> str:
    """The kind of an error, whose shape is checked."""
    error = response.json()["error"]
    assert error.keys() == {"kind", "message", "hint", "problems"}
    assert "Traceback" not in response.text
    return error["kind"]


def fresh(studio: Started, path: str, text: str | bytes) -> str:
    """A file that this test has made outside of the studio; returns its ETag."""
    (studio.folder / path).parent.mkdir(parents=True, exist_ok=True)
    (studio.folder / path).write_bytes(text if isinstance(text, bytes) else text.encode())
    return etag(studio, path)


# about, openapi


def test_about_names_languages_with_words_limits_and_examples(studio):
    found = studio.api.get("about").json()
    languages = ["epl", "esql", "ftl", "phenesthe", "ptl", "match_recognize", "tesla"]
    assert [one["name"] for one in found["languages"]] == languages
    assert all(one["words"]["keywords"] for one in found["languages"])
    assert found["limits"] == listed()
    assert found["examples"] == ["flights", "labor", "maritime"]
    assert found["project"] == "labor"


def test_about_describes_the_options_of_a_project(studio):
    options = {one["name"]: one for one in studio.api.get("about").json()["options"]}
    assert options.keys() == {*KNOWN}
    assert all(one["help"] and "``" not in one["help"] for one in options.values())
    unit, end, window = options["time_unit"], options["end"], options["window"]
    assert (unit["kind"], unit["choices"], unit["default"]) == ("choice", ["us", "ms", "s", "min", "h", "d"], None)
    assert (end["kind"], end["default"], end["none"], end["of"]) == ("text", "end", True, "input")
    assert (window["kind"], window["none"], window["of"]) == ("moment", False, "run")
    kinds = {name: options[name]["kind"] for name in ("ended", "only", "facts", "max_instances", "delimiter")}
    assert kinds == {
        "ended": "flag", "only": "names", "facts": "paths", "max_instances": "number", "delimiter": "text",
    }  # fmt: skip


AT = {"path": "labor.epl", "offset": 400, "texts": {}}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("get", "/about", None), ("get", "/files", None), ("get", "/project", None),
        ("post", "/check", {"texts": {}}), ("post", "/check", {"texts": {"labor.epl": BROKEN}}),
        ("post", "/format", {"path": "a.epl", "text": "select  * from pattern [A];"}),
        ("post", "/complete", AT), ("post", "/hover", AT), ("post", "/definition", AT),
        ("post", "/rename", {**AT, "to": "New"}), ("post", "/rename", {**AT, "to": ""}),
        ("post", "/plan", {"texts": {}}), ("post", "/events/peek", {"rows": 3}),
        ("get", "/nothing", None), ("post", "/check", {"texts": 1}),
    ],
)  # fmt: skip
def test_answers_are_as_openapi_says(studio, method, path, body):
    described = studio.api.get("openapi.json").json()
    found = studio.api.request(method.upper(), path[1:], json=body)
    assert found.status_code == (200 if body != {"texts": 1} and path != "/nothing" else found.status_code)
    answer_conforms(found, described, method, path)


def test_openapi_has_every_call(studio):
    described = studio.api.get("openapi.json").json()
    calls = {f"{m.upper()} {path}" for path, of in described["paths"].items() for m in of}
    expected = """GET about|GET files|GET files/{path}|PUT files/{path}|DELETE files/{path}|GET project|PUT project
        |POST check|POST complete|POST hover|POST definition|POST format|POST rename
        |POST epl/graph|POST epl/canvas|POST epl/domain|POST epl/model
        |POST examples|POST plan|POST events/peek|GET updates|POST jobs|GET jobs/{id}|DELETE jobs/{id}
        |GET jobs/{id}/timeline|GET jobs/{id}/rows|GET jobs/{id}/why/{label}|GET jobs/{id}/export"""
    assert {c.strip().replace(" ", " /api/v1/") for c in expected.split("|")} <= calls
    references = set(msgspec.json.encode(described).decode().split('"#/components/schemas/')[1:])
    assert {r.partition('"')[0] for r in references} <= described["components"]["schemas"].keys()


# files


def test_a_file_is_read_and_saved_with_its_tag(studio):
    tag = fresh(studio, "saved.tesla", "define A() from B()\r\n")
    found = studio.api.get("files/saved.tesla")
    assert found.text == "define A() from B()\r\n"
    assert studio.api.get("files/saved.tesla", headers={"If-None-Match": tag}).status_code == 304
    put = studio.api.put("files/saved.tesla", content="ä\r\n", headers={"If-Match": tag})
    assert (put.status_code, put.headers["etag"]) == (200, etag(studio, "saved.tesla"))
    assert (studio.folder / "saved.tesla").read_bytes() == "ä\r\n".encode()
    again = studio.api.put("files/saved.tesla", content="late", headers={"If-Match": tag})
    assert (again.status_code, kind(again)) == (412, "changed")
    assert again.headers["etag"] == put.headers["etag"]
    gone = studio.api.delete("files/saved.tesla", headers={"If-Match": put.headers["etag"]})
    assert (gone.status_code, gone.content) == (204, b"")
    assert not (studio.folder / "saved.tesla").exists()


def test_of_two_clients_that_save_at_once_one_wins(studio):
    tag = fresh(studio, "two.epl", "old")

    def save(text: str) -> int:
        with studio.client() as client:
            return client.put("files/two.epl", content=text, headers={"If-Match": tag}).status_code

    with concurrent.futures.ThreadPoolExecutor() as pool:
        statuses = list(pool.map(save, [f"text {i}" for i in range(8)]))
    assert sorted(statuses) == [200] + [412] * 7
    assert (studio.folder / "two.epl").read_text() == f"text {statuses.index(200)}"
    (studio.folder / "two.epl").unlink()


def test_a_hostile_address_is_refused_as_it_comes_over_the_wire(studio):
    for path in ("../labor.epl", "%2e%2e/labor.epl", "..%2flabor.epl", "%2fetc%2fpasswd", "/etc/passwd", "a%00.epl",
                 "x/../labor.epl", "%5c..%5clabor.epl", ".git/config", "a%0d%0ab.epl"):  # fmt: skip
        for method in ("GET", "PUT", "DELETE"):
            with socket.create_connection(("127.0.0.1", studio.port), 10) as wire:
                wire.sendall(
                    f"{method} /api/v1/files/{path} HTTP/1.1\r\nHost: 127.0.0.1:{studio.port}\r\nIf-Match: *\r\n"
                    f"Authorization: Bearer {studio.token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode()
                )
                answer = b"".join(iter(lambda w=wire: w.recv(65536), b""))
            assert answer.startswith(b"HTTP/1.1 403"), (path, answer)
            assert b"forbidden-path" in answer


def test_the_limits_of_bodies(studio):
    big = b"x" * (LIMITS.body + 1)
    headers = {"If-None-Match": "*"}
    found = studio.api.put("files/big.csv", content=big, headers=headers)
    assert (found.status_code, kind(found)) == (413, "too-large")
    parts = (big[i : i + 65536] for i in range(0, len(big), 65536))
    found = studio.api.put("files/big.csv", content=parts, headers=headers)
    assert (found.status_code, kind(found)) == (413, "too-large")
    rules = "x" * (LIMITS.rule_text + 1)
    found = studio.api.put("files/big.epl", content=rules, headers=headers)
    assert (found.status_code, kind(found)) == (413, "too-large")
    found = studio.api.post("check", json={"texts": {"labor.epl": rules}})
    assert (found.status_code, kind(found)) == (413, "too-large")
    assert not (studio.folder / "big.csv").exists()


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
@pytest.mark.parametrize(("method", "call"), [("POST", "check"), ("PUT", "project"), ("POST", "events/peek")])
def test_json_says_that_it_is_json(studio, method, call, type):
    found = studio.api.request(method, call, content='{"version": 1}', headers={"Content-Type": type, "If-Match": "*"})
    assert (found.status_code, kind(found)) == (415, "media-type")


def test_an_example_is_copied_into_the_project_once(studio):
    found = studio.api.post("examples", json={"name": "flights"})
    assert found.status_code == 201
    assert "flights/flights.tesla" in found.json()["files"]
    assert (found.json()["added"], found.json()["command"]) == (False, "occurs studio flights")
    assert studio.api.get("project").json()["program"]["rules"] == ["labor.epl"]
    assert (studio.folder / "flights" / "Weather.csv").exists()
    assert studio.api.post("examples", json={"name": "flights"}).status_code == 409
    assert studio.api.post("examples", json={"name": "../labor"}).status_code == 404


@pytest.mark.parametrize("sidecar", [None, '{"version": 1, "mine": 1, "program": {"rules": [], "also": 2}}'])
def test_a_project_without_rules_takes_in_the_program_of_an_example(start_studio, sidecar):
    studio = start_studio({"other.csv": "type,time\n", **({} if sidecar is None else {"studio.json": sidecar})})
    with studio.updates() as reader:
        found = studio.api.post("examples", json={"name": "labor"})
        assert (found.json()["added"], found.json()["command"]) == (True, None)
        project = studio.api.get("project")
        assert reader.tag_of("studio.json") == project.headers["etag"]
    assert project.json()["program"] == {
        "rules": ["labor/labor.epl"], "events": ["labor/rows.csv"], "options": {"time_unit": "min"},
        **({} if sidecar is None else {"also": 2}),
    }  # fmt: skip
    assert project.json().get("mine") == (None if sidecar is None else 1)
    checked = studio.api.post("check", json={"texts": {}}).json()
    assert [o["name"] for o in checked["outline"] if o["kind"] == "pattern"] == ["Duration", "TimeOnLabor"]
    job = studio.api.post("jobs", json={"kind": "run"}).json()["id"]
    until(lambda: studio.api.get(f"jobs/{job}").json()["state"] not in ("queued", "running"), 60)
    assert studio.api.get(f"jobs/{job}").json()["result"]["total"] == 12
    again = studio.api.post("examples", json={"name": "flights"}).json()
    assert (again["added"], again["command"]) == (False, "occurs studio flights")


def test_the_program_of_every_example_can_be_taken_in(tmp_path):
    folder = Folder(tmp_path)
    for name in samples.names():
        samples.copy(name, tmp_path)
        value, problems = checked(msgspec.json.encode(samples.taken_in({"version": 1}, name)), folder)
        assert problems == []
        for text in (*value["program"]["rules"], *value["program"]["events"]):
            assert (tmp_path / split_events(text)[1]).is_file()


# project


def test_a_wrong_project_is_refused_with_its_tag_and_can_be_replaced(start_studio):
    studio = start_studio({"a.epl": BROKEN, "studio.json": "<<<<<<< ours"})
    found = studio.api.get("project")
    assert (found.status_code, kind(found)) == (422, "problems")
    assert found.json()["error"]["problems"][0]["file"] == "studio.json"
    assert found.headers["etag"] == etag(studio, "studio.json")
    problems = studio.api.post("check", json={"texts": {}}).json()["problems"]
    assert [p["file"] for p in problems] == ["studio.json", "a.epl"], "the defaults hold"
    assert studio.api.post("examples", json={"name": "labor"}).json()["added"] is False
    put = studio.api.put("project", json={"version": 1}, headers={"If-Match": found.headers["etag"]})
    assert put.status_code == 200


def test_the_project_is_saved_with_its_tag_and_keeps_unknown_members(studio):
    found = studio.api.get("project")
    before = found.json()
    changed = {**before, "icons": {"Patient": {"character": "P", "colour": "teal"}}, "mine": {"a": 1}}
    put = studio.api.put("project", json=changed, headers={"If-Match": found.headers["etag"]})
    assert put.json() == studio.api.get("project").json() == changed
    late = studio.api.put("project", json=before, headers={"If-Match": found.headers["etag"]})
    assert (late.status_code, kind(late)) == (412, "changed")
    wrong = {**changed, "program": {"options": {"time_units": "s"}}}
    found = studio.api.put("project", json=wrong, headers={"If-Match": put.headers["etag"]})
    assert (found.status_code, kind(found)) == (422, "problems")
    assert found.json()["error"]["problems"][0]["file"] == "studio.json"
    torn = {"content": "{", "headers": {"If-Match": "*", "Content-Type": "application/json"}}
    assert [studio.api.put(path, **torn).status_code for path in ("project", "files/studio.json")] == [400, 422]
    as_file = studio.api.put("files/studio.json", json=wrong, headers={"If-Match": put.headers["etag"]})
    assert as_file.status_code == 422
    back = studio.api.put("project", json=before, headers={"If-Match": put.headers["etag"]})
    assert back.status_code == 200
    assert json.loads((studio.folder / "studio.json").read_text()) == before


# languages


def test_a_check_sees_the_whole_program_with_unsaved_texts(studio):
    found = studio.api.post("check", json={"texts": {}}).json()
    assert [p for p in found["problems"] if p["severity"] == "error"] == []
    assert [(o["name"], o["output"], o["file"]) for o in found["outline"] if o["kind"] != "schema"] == [
        ("Duration", "Duration", "labor.epl"), ("TimeOnLabor", "TimeOnLabor", "labor.epl")
    ]  # fmt: skip
    rule = "define Long(n) from Duration(last_dely > 2) where n = Duration.patientId"
    with program_of(studio, ["labor.epl", "new.tesla"]):
        found = studio.api.post("check", json={"texts": {"new.tesla": rule}}).json()
    problem = next(p for p in found["problems"] if p["severity"] == "error")
    assert (problem["file"], problem["kind"], problem["span"]["line"]) == ("new.tesla", "unknown-attribute", 1)
    assert "last_delay" in problem["hint"]
    text = (studio.folder / "labor.epl").read_text()
    broken = studio.api.post("check", json={"texts": {"labor.epl": "\ufeff" + text + BROKEN}}).json()
    assert [p["file"] for p in broken["problems"] if p["severity"] == "error"] == ["labor.epl"]
    assert "Duration" in [o["name"] for o in broken["outline"]]


@contextlib.contextmanager
def program_of(studio: Started, rules: list[str] | None, **members: Any) -> Iterator[None]:
    """A project with these rules (None: those of the directory itself) and other members of its program."""
    sidecar = studio.folder / "studio.json"
    before = sidecar.read_bytes()
    program = {**json.loads(before)["program"], "rules": rules, **members}
    sidecar.write_text(json.dumps({"version": 1, "program": program}))
    try:
        yield
    finally:
        sidecar.write_bytes(before)


def test_texts_that_are_not_in_the_program_do_not_count(studio):
    texts = {"new.epl": "@Name('New') select a.name as n from pattern [every a=Patient];", "below/b.epl": BROKEN}
    asked = {"path": "new.epl", "texts": texts, "offset": texts["new.epl"].index("Patient") + 1}

    def named() -> set[str]:
        found = studio.api.post("check", json={"texts": texts}).json()
        files = {p["file"] for p in found["problems"]} | {o["file"] for o in found["outline"]}
        plan = studio.api.post("plan", json={"texts": texts}).json()
        assert files == {d["file"] for d in plan["definitions"]}
        return files

    assert named() == {"labor.epl"}
    assert "contrDuration" in studio.api.post("hover", json=asked).json()["text"], "the text that is asked about does"
    with program_of(studio, None):
        assert named() == {"labor.epl", "new.epl"}, "by default files of the directory itself, saved or not"
    with program_of(studio, ["new.epl"]):
        assert named() == {"new.epl"}
    assert studio.api.post("check", json={"texts": {"../new.epl": ""}}).status_code == 403


def test_places_count_a_byte_order_mark(studio):
    """Whether it is in the text that is sent or in the file."""
    text = "create schema A (v int); @Name('X') insert into X select a.v as v from pattern [every a=A(v > 1)];"
    at = text.index("a=A") + 3

    def asked(call: str, marked: bool, saved: bool) -> Any:
        given = "\ufeff" * marked + text
        if saved:
            (studio.folder / "bom.epl").write_bytes(given.encode())
        body = {"texts": {} if saved else {"bom.epl": given}}
        if call not in ("check", "plan"):
            body |= {"path": "bom.epl", "offset": at + marked}
        found = studio.api.post(call, json=body)
        assert found.status_code == 200, found.text
        return found.json()

    def columns(value: Any) -> list[int]:
        if isinstance(value, dict):
            own = [value["column"], value["end_column"]] if "column" in value else []
            return own + [v for n, v in value.items() if n == "from"] + columns(list(value.values()))
        return [c for item in value for c in columns(item)] if isinstance(value, list) else []

    with program_of(studio, ["bom.epl"]):
        for call in ("check", "complete", "hover", "definition", "plan"):
            plain = columns(asked(call, False, False))
            assert plain
            for saved in (False, True):
                assert columns(asked(call, True, saved)) == [c + 1 for c in plain], (call, saved)
        wrong = {"texts": {"bom.epl": "\ufeff" + BROKEN}}
        span = studio.api.post("plan", json=wrong).json()["error"]["problems"][0]["span"]
        assert span["column"] == BROKEN.index("frm") + 2
        formatted = studio.api.post("format", json={"path": "b.epl", "text": "\ufeff" + BROKEN}).json()
        assert formatted["problems"][0]["span"] == span
        assert studio.api.post("complete", json={"path": "bom.epl", "offset": 0}).status_code == 200
        job = studio.api.post("jobs", json={"kind": "run", **wrong}).json()["id"]
        until(lambda: studio.api.get(f"jobs/{job}").json()["state"] == "failed", 60)
        assert studio.api.get(f"jobs/{job}").json()["problems"][0]["span"] == span
    (studio.folder / "bom.epl").unlink()


def test_events_are_those_of_the_directory_if_nobody_chose_them(start_studio):
    rules = "@Name('Hot') insert into Hot select a.v as v from pattern [every a=Temp(v > 1)];"
    studio = start_studio({
        "a.epl": rules, "Temp.csv": "time,v\n1,2\n", "rows.csv": "type,time,v\nTemp,2,9\n",
        "below/Temp.csv": "time,v\n", "data/one.csv": "type,time\n", "data/_SUCCESS": "", "mixed/b.epl": "",
        "mixed/rows.csv": "type,time\n",
    })  # fmt: skip
    found = studio.api.post("check", json={"texts": {}}).json()["events"]
    assert [(e["path"], e["entry"], e["directory"], e["default"]) for e in found] == [
        ("Temp.csv", "Temp=Temp.csv", False, True),
        ("below", "below", True, False),
        ("below/Temp.csv", "Temp=below/Temp.csv", False, False),
        ("data", "data", True, False),
        ("data/one.csv", "data/one.csv", False, False),
        ("mixed/rows.csv", "mixed/rows.csv", False, False),
        ("rows.csv", "rows.csv", False, True),
    ]
    unsaved = studio.api.post("check", json={"texts": {"a.epl": "// no type"}}).json()["events"]
    assert "Temp.csv" in [e["entry"] for e in unsaved], "the types are those of the texts as they are"
    options = {"time_unit": "s"}
    types = studio.api.post("events/peek", json={"options": options}).json()["types"]
    assert [(t["name"], t["rows"]) for t in types] == [("Temp", 2)]
    studio.api.put("project", json={"version": 1, "program": {"options": options}}, headers={"If-None-Match": "*"})
    plan = studio.api.post("plan", json={}).json()
    assert [[a["name"] for a in i["attributes"]] for i in plan["inputs"]] == [["v"]]
    job = studio.api.post("jobs", json={"kind": "run"}).json()["id"]
    until(lambda: studio.api.get(f"jobs/{job}").json()["state"] not in ("queued", "running"), 60)
    assert studio.api.get(f"jobs/{job}").json()["result"]["total"] == 2


def test_a_directory_of_events_is_read_and_its_files_are_in_the_program(start_studio):
    rules = "@Name('Hot') insert into Hot select a.v as v from pattern [every a=Temp(v > 1)];"
    sidecar = {"version": 1, "program": {"events": ["Temp=data"], "options": {"time_unit": "s"}}}
    data = {"data/1.csv": "time,v\n1,2\n", "data/2.csv": "time,v\n2,3\n"}
    studio = start_studio({"a.epl": rules, "studio.json": json.dumps(sidecar), "more.csv": "", **data})
    assert [f["path"] for f in studio.api.get("files").json() if f["in_program"]] == ["a.epl", *data]
    job = studio.api.post("jobs", json={"kind": "run"}).json()["id"]
    until(lambda: studio.api.get(f"jobs/{job}").json()["state"] not in ("queued", "running"), 60)
    assert studio.api.get(f"jobs/{job}").json()["result"]["total"] == 2


def test_types_that_only_the_events_know_are_completed_and_explained(start_studio):
    text = "select a.v as v from pattern [every a=Temp(v > 1)];"
    studio = start_studio({"a.epl": text, "rows.csv": "type,time,v,room\nTemp,1,2,x\n"})
    asked = {"path": "a.epl", "texts": {}, "offset": text.index("a.v") + 2}
    assert {i["label"] for i in studio.api.post("complete", json=asked).json()["items"]} == {"v", "room"}
    asked["offset"] = text.index("Temp") + 1
    assert "room: string" in studio.api.post("hover", json=asked).json()["text"]
    (studio.folder / "rows.csv").write_text("type,time,v,floor\nTemp,1,2,3\n")
    assert "floor: int" in studio.api.post("hover", json=asked).json()["text"]


def test_files_of_the_program_that_cannot_be_read_are_problems(studio):
    before = (studio.folder / "studio.json").read_bytes()
    (studio.folder / "bytes.epl").write_bytes(b"\xff")
    rules = ["labor.epl", "missing.epl", "bytes.epl"]
    (studio.folder / "studio.json").write_text(json.dumps({"version": 1, "program": {"rules": rules}}))
    try:
        found = studio.api.post("check", json={"texts": {}}).json()["problems"]
        assert {(p["file"], p["kind"]) for p in found if p["severity"] == "error"} == {
            ("missing.epl", "missing-file"), ("bytes.epl", "not-utf-8"),
        }  # fmt: skip
        (studio.folder / "studio.json").write_text("{")
        found = studio.api.post("check", json={"texts": {}}).json()["problems"]
        assert ("studio.json", 1) in [(p["file"], (p["span"] or {}).get("line")) for p in found]
    finally:
        (studio.folder / "studio.json").write_bytes(before)
        (studio.folder / "bytes.epl").unlink()


def test_the_calls_of_an_editor(studio):
    text = "@Name('X') insert into X select * from pattern [a=Patient(a.contrD > 1)];"
    offset = text.index("contrD") + 6
    asked = {"path": "x.epl", "texts": {"x.epl": text}, "offset": offset}
    found = studio.api.post("complete", json=asked).json()
    assert found["from"] == text.index("contrD")
    assert "contrDuration" in [item["label"] for item in found["items"]]
    marked = {**asked, "texts": {"x.epl": "\ufeff" + text}, "offset": offset + 1}
    assert studio.api.post("complete", json=marked).json()["items"] == found["items"]
    at_type = {**asked, "offset": text.index("Patient") + 2}
    assert "contrDuration" in studio.api.post("hover", json=at_type).json()["text"]
    places = studio.api.post("definition", json=at_type).json()["places"]
    assert ("labor.epl", 2) in [(p["file"], p["span"]["line"]) for p in places]
    assert studio.api.post("hover", json={**asked, "offset": 10_000}).status_code == 400
    assert studio.api.post("hover", json={**asked, "path": "../x.epl"}).status_code == 403
    assert studio.api.post("hover", json={**asked, "path": "rows.csv"}).status_code == 400
    assert studio.api.post("hover", json={"path": "none.epl", "offset": 0}).status_code == 404


def test_a_name_is_changed_in_all_files_of_the_program(start_studio):
    first = "@Name('Hot') insert into Hot select a.v as v from pattern [every a=Temp(v > 1)];"
    second = "define Long(n) from Hot(v > 3) where n = Hot.v"
    studio = start_studio({"a.epl": first, "b.tesla": "\ufeff" + second, "c.epl": "// no use"})
    asked = {"path": "a.epl", "texts": {}, "offset": first.index("Hot select"), "to": "Warm"}
    found = studio.api.post("rename", json=asked).json()
    assert (found["name"], found["kind"], found["problems"]) == ("Hot", "type", [])
    at = second.index("Hot(") + 1  # behind the mark
    assert found["edits"]["b.tesla"][0] == {"from": at, "to": at + 3, "insert": "Warm"}
    assert [e["from"] for e in found["edits"]["a.epl"]] == [first.index("Hot select")]
    looked = studio.api.post("rename", json={**asked, "to": None}).json()
    assert (looked["name"], looked["span"], looked["edits"]) == ("Hot", found["span"], {})
    there = studio.api.post("rename", json={**asked, "path": "b.tesla", "offset": at}).json()
    assert there["edits"] == found["edits"]
    assert there["span"]["column"] == at + 1
    taken = studio.api.post("rename", json={**asked, "to": "Long"}).json()
    assert ([p["kind"] for p in taken["problems"]], taken["edits"]) == (["taken-name"], {})
    assert taken["problems"][0]["span"]["column"] == second.index("Long") + 2
    assert studio.api.post("rename", json={**asked, "path": "../a.epl"}).status_code == 403
    unsaved = {"a.epl": first.replace("v > 1", "v > 1 and")}
    wrong = studio.api.post("rename", json={**asked, "texts": unsaved}).json()
    assert [p["kind"] for p in wrong["problems"]] in (["not-renamed"], ["no-name"])


def test_a_text_is_formatted_and_one_with_errors_stays(studio):
    text = "\ufeffselect   * from pattern [ every a=A ]"
    found = studio.api.post("format", json={"path": "a.epl", "text": text}).json()
    assert found["text"].startswith("\ufeffselect *")
    assert "every a=A]" in found["text"]
    assert studio.api.post("format", json={"path": "a.epl", "text": BROKEN}).json()["text"] == BROKEN


def test_a_plan_has_keys_and_retention_and_wrong_rules_their_problems(studio):
    found = studio.api.post("plan", json={"texts": {}}).json()
    assert [d["name"] for d in found["definitions"]] == ["Duration", "TimeOnLabor"]
    assert {"reads", "level", "key", "why_no_key", "retention", "state"} <= found["definitions"][0].keys()
    wrong = studio.api.post("plan", json={"texts": {"labor.epl": BROKEN}})
    assert (wrong.status_code, kind(wrong)) == (422, "problems")
    assert wrong.json()["error"]["problems"][0]["file"] == "labor.epl"
    assert studio.api.post("plan", json={"events": ["none.csv"]}).status_code == 404


def test_a_plan_has_no_times(studio):
    for wrong in ("yesterday", "2013-03-08"):
        with program_of(studio, ["labor.epl"], options={"time_unit": "min", "until": wrong}):
            found = studio.api.post("plan", json={"texts": {}})
        assert [d["name"] for d in found.json()["definitions"]] == ["Duration", "TimeOnLabor"]


def test_a_plan_takes_types_from_the_events_where_no_rule_declares_them(studio):
    rule = "define Long(n) from Patient(contrDuration > 2) where n = Patient.name"
    with program_of(studio, ["new.tesla"]):
        found = studio.api.post("plan", json={"texts": {"new.tesla": rule}}).json()
    patient = next(i for i in found["inputs"] if i["type"] == "Patient")
    assert "contrDuration" in json.dumps(patient)


def test_events_are_looked_at(studio):
    found = studio.api.post("events/peek", json={"rows": 2}).json()
    assert [(t["name"], t["rows"]) for t in found["types"]] == [("Patient", 12)]
    assert len(found["rows"]) == 2
    assert found["problems"] == []
    for events, status in ((["/etc/passwd"], 403), (["../rows.csv"], 403), (["A=none.csv"], 404), (["labor.epl"], 403)):
        assert studio.api.post("events/peek", json={"events": events}).status_code == status
    wrong = studio.api.post("events/peek", json={"options": {"session": "x"}})
    assert (wrong.status_code, kind(wrong)) == (400, "bad-request")
    numbers = f"type,time,n\nA,1,{2**60}\nA,2,7\n"
    fresh(studio, "big.csv", numbers)
    found = studio.api.post("events/peek", json={"events": ["big.csv"], "options": {"time_unit": "s"}}).json()
    assert [row["values"]["n"] for row in found["rows"]] == [str(2**60), 7]


# any body


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("labor.epl"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_BODY = st.fixed_dictionaries(
    {},
    optional={
        "texts": st.dictionaries(st.sampled_from(["labor.epl", "a.tesla", "../x", ""]), st.text(max_size=20)) | _VALUE,
        "path": st.sampled_from(["labor.epl", "..", "\0"]) | _VALUE,
        "offset": st.integers(-5, 500) | _VALUE,
        "text": st.text(max_size=30) | _VALUE,
        "events": st.lists(st.sampled_from(["rows.csv", "A=rows.csv", "..", "="]), max_size=2) | _VALUE,
        "options": st.dictionaries(st.sampled_from(["time_unit", "zone", "facts", "start"]), _VALUE) | _VALUE,
        "rows": st.integers(-1, 200) | _VALUE,
        "to": st.sampled_from(["New", "select", "`a b`", ""]) | _VALUE,
        "name": _VALUE,
        "statement": _VALUE,
        "canvas": _VALUE,
        "change": _VALUE,
        "model": _VALUE,
        "version": _VALUE,
        "program": _VALUE,
        "icons": _VALUE,
    },
)


ASKED = ["check", "complete", "hover", "definition", "format", "rename", "plan", "events/peek", "examples"]
ASKED += ["epl/graph", "epl/canvas", "epl/domain", "epl/model"]


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(ASKED),
    _BODY | _VALUE | st.binary(max_size=20),
)
def test_no_body_is_an_error_of_the_server(studio, call, body):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    found = studio.api.post(call, content=content, headers={"Content-Type": "application/json"})
    assert found.status_code in (200, 400, 403, 404, 413, 422), (found.text, body)
    if found.status_code != 200:
        kind(found)


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b'{"texts": {"a.epl": "\\ud800"}}', b"\xff", b"nan"])
def test_what_is_not_json_is_a_bad_request(studio, body):
    found = studio.api.post("check", content=body, headers={"Content-Type": "application/json"})
    assert (found.status_code, kind(found)) == (400, "bad-request")


# updates


def test_changes_are_published_to_all_readers(studio):
    with studio.client() as other, studio.updates() as mine, studio.updates(other) as theirs:
        tag = fresh(studio, "seen.epl", "one")
        began = time.monotonic()
        assert [reader.tag_of("seen.epl") for reader in (mine, theirs)] == [tag] * 2
        assert EVERY <= 1, "so that a change is seen within 2 s on a machine that does nothing else"
        assert time.monotonic() - began < 10
        put = studio.api.put("files/seen.epl", content="two", headers={"If-Match": tag})
        assert [reader.tag_of("seen.epl") for reader in (mine, theirs)] == [put.headers["etag"]] * 2
        (studio.folder / "seen.epl").unlink()
        assert theirs.tag_of("seen.epl") is None
        assert theirs.response.headers["content-type"].startswith("text/event-stream")


def test_a_reader_that_comes_back_misses_nothing_and_a_stranger_reloads(studio):
    with studio.updates() as reader:
        fresh(studio, "missed.epl", "0")
        reader.tag_of("missed.epl")
        last = reader.last_id
    tag = etag(studio, "missed.epl")
    tags = []
    for text in ("1", "2"):
        tag = studio.api.put("files/missed.epl", content=text, headers={"If-Match": tag}).headers["etag"]
        tags.append(tag)
    with studio.updates(Last_Event_ID=last) as again:
        assert [again.tag_of("missed.epl") for _ in tags] == tags
    for wrong in ("x", "0000-1", f"{last}9999", "-", ""):
        with studio.updates(Last_Event_ID=wrong) as late:
            assert late.next()[0] == "reload"


def test_readers_have_a_limit(studio):
    clients = [studio.client() for _ in range(LIMITS.readers + 1)]
    opened = [studio.updates(c) for c in clients]
    try:
        for reader in opened:
            reader.__enter__()
        assert [r.response.status_code for r in opened] == [200] * LIMITS.readers + [409]
    finally:
        for client in clients:
            client.close()
    until(lambda: _follows(studio))


def _follows(studio: Started) -> bool:
    with studio.updates() as reader:
        return reader.response.status_code == 200


# the language worker


def worker(studio: Started) -> int:
    """The process of the language worker, which is there."""
    studio.api.post("check", json={"texts": {}})
    found = running(studio)
    assert found is not None
    return found


def running(studio: Started) -> int | None:
    """The process of the language worker, if there is one."""
    found = named(studio.folder, "worker")
    assert len(found) < 2
    return found[0] if found else None


CALLS = [
    ("check", {"texts": {"labor.epl": "select * from A;"}}),
    ("complete", AT),
    ("hover", AT),
    ("definition", AT),
    ("rename", {**AT, "to": "New"}),
    ("format", {"path": "w.epl", "text": "x"}),
    ("plan", {}),
    ("events/peek", {}),
    ("epl/graph", {"text": "select 1 as a from A;"}),
    ("epl/canvas", {"text": "select 1 as a from A;", "statement": None, "canvas": {}}),
    ("epl/domain", {"text": "", "change": {"op": "add-type", "type": "T"}}),
    ("epl/model", {"text": "@Name('X') insert into X select a1.* from pattern [a1=A];", "statement": "X"}),
]


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("call", "body"), [CALLS[0], *(pytest.param(*one, marks=pytest.mark.slow) for one in CALLS[1:])]
)
def test_a_worker_that_dies_in_the_middle_of_a_call_is_told_and_started_anew(studio, call, body):
    pid = worker(studio)
    with studio.updates() as reader, concurrent.futures.ThreadPoolExecutor() as pool:
        os.kill(pid, signal.SIGSTOP)  # it is in the middle of the call as long as we like
        asked = pool.submit(studio.api.post, call, json=body)
        time.sleep(0.5)
        os.kill(pid, signal.SIGKILL)
        found = asked.result(30)
        assert (found.status_code, kind(found)) == (503, "worker")
        assert reader.next("worker")[1]["state"] == "restarted"
        assert reader.next("worker")[1]["state"] == "ready"
    assert studio.api.post(call, json=body).status_code == 200


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_a_newer_check_of_the_same_client_overtakes_an_older_one(studio):
    pid = worker(studio)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        os.kill(pid, signal.SIGSTOP)
        asked = []
        for i, client in enumerate(("one", "one", "two", "one", None, None)):
            body = {"texts": {"labor.epl": f"// {i}"}}
            headers = {} if client is None else {"Occurs-Client": client}
            asked.append(pool.submit(studio.api.post, "check", json=body, headers=headers))
            time.sleep(0.1)
        os.kill(pid, signal.SIGCONT)
        found = [a.result(30) for a in asked]
    assert [f.status_code for f in found] == [409, 409, 200, 200, 200, 200], "only clients with a name"
    assert kind(found[0]) == "cancelled"


@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_the_memory_of_the_worker_has_a_limit(studio):
    limits = Path(f"/proc/{worker(studio)}/limits").read_text()
    assert re.search(rf"Max address space +{LIMITS.worker_memory} ", limits)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="needs /proc")
def test_a_text_that_ends_the_worker_twice_is_left_alone_until_it_changes(start_studio):
    studio = start_studio({"a.epl": "select * from pattern [a=A];"})
    body = {"texts": {"bad.epl": "// 1"}}
    worker(studio)  # a.epl alone is checked
    for late in (True, False):
        studio.api.post("format", json={"path": "a.epl", "text": ""})  # waits for the worker, and checks nothing
        pid = running(studio)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            os.kill(pid, signal.SIGSTOP)
            asked = pool.submit(studio.api.post, "check", json=body)
            if not late:  # a crash, not a call beyond its time
                time.sleep(0.2)
                os.kill(pid, signal.SIGSEGV)
                os.kill(pid, signal.SIGCONT)
            found = asked.result(30)
            assert ("5 s" in found.json()["error"]["message"]) == late
        assert (found.status_code, kind(found)) == (503, "worker")
    found = studio.api.post("check", json=body)
    assert found.status_code == 200
    assert [p["file"] for p in found.json()["problems"] if p["kind"] == "worker"] == ["bad.epl"]
    assert [o["file"] for o in found.json()["outline"]] == ["a.epl"], "and no other text"
    changed = studio.api.post("check", json={"texts": {"bad.epl": "// 2"}}).json()
    assert "worker" not in [p["kind"] for p in changed["problems"]]


def test_the_time_of_a_call_grows_with_the_rules_as_the_limits_say(studio):
    told = studio.api.get("about").json()["limits"]
    assert [seconds_of_call(size) for size in (0, LIMITS.rule_text)] == [5, 5 + 2 * 20]
    assert (told["call_seconds"], told["call_seconds_per_mb"]) == (5, 20)


def test_too_many_statements_of_a_file_are_a_problem():
    entries = [Outline("a.epl", f"S{i}", "pattern") for i in range(LIMITS.statements)]
    assert too_many([*entries, Outline("b.epl", "S", "pattern")]) == []
    assert [(p.kind, p.file) for p in too_many([*entries, entries[0]])] == [("too-large", "a.epl")]


def test_no_process_imports_anything_from_the_project(start_studio):
    bomb = "raise SystemExit('imported')"
    files = {"a.epl": "select * from pattern [a=A];", "rows.csv": "type,time\nA,1\n", "json.py": bomb}
    # the directory is the working directory of the studio, which has an engine of its own, as users have it
    studio = start_studio({**files, "occurs/__init__.py": bomb, "numpy.py": bomb}, OCCURS_KERNELS="plain")
    assert studio.api.post("check", json={"texts": {}}).status_code == 200
    run = {"kind": "run", "events": ["rows.csv"], "options": {"time_unit": "s"}}
    job = studio.api.post("jobs", json=run).json()["id"]
    until(lambda: studio.api.get(f"jobs/{job}").json()["state"] not in ("queued", "running"), 60)
    found = studio.api.get(f"jobs/{job}").json()
    assert (found["state"], found["problems"]) == ("done", [])


def test_a_check_of_two_hundred_lines_takes_a_moment(studio):
    text = "create schema Patient(name string, contrDuration int, ts int);\n"
    rule = "@Name('S{0}')\nselect a.name as n from pattern [every a=Patient(ts > {0})];\n"
    text += "".join(rule.format(i) for i in range(100))
    times = []
    for i in range(7):
        began = time.perf_counter()
        found = studio.api.post("check", json={"texts": {"labor.epl": text + f"// {i}"}})
        times.append(time.perf_counter() - began)
        assert found.status_code == 200
        assert len(found.json()["outline"]) == 101
    print("check", [round(t * 1000) for t in times])
    assert min(times) < 1.0  # 0.15 on a machine that does nothing else
