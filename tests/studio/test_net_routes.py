"""The calls of nets through a started server: right ones, refused ones, and the end of the worker."""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_studio_api import kind

from occurs.studio.limits import LIMITS
from studio.conforming import conforms
from studio_server import Started, named, until


def opened(studio: Started, **asked: Any) -> dict[str, Any]:
    """The answer to opening a net, whose shape is checked."""
    answer = studio.api.post("nets", json=asked)
    assert answer.status_code == 200, answer.text
    fits(studio, answer.json(), "NetOpened")
    return answer.json()


def fired(studio: Started, id: str, **asked: Any) -> dict[str, Any]:
    answer = studio.api.post(f"nets/{id}/fire", json=asked)
    assert answer.status_code == 200, answer.text
    fits(studio, answer.json(), "NetState")
    return answer.json()


def fits(studio: Started, value: Any, shape: str) -> None:
    components = studio.api.get("openapi.json").json()["components"]["schemas"]
    conforms(value, components[shape], components)


def worker(studio: Started) -> int:
    """The process of the net worker."""
    for pid in named(studio.folder, "net_worker"):
        return pid
    raise AssertionError("there is no net worker")


@pytest.fixture
def net(studio):
    """A net of the project."""
    return opened(studio)


def test_the_net_of_the_project_runs_to_the_detections_of_the_paper(studio, net):
    assert [p["name"] for p in net["net"]["pages"]][:2] == ["Input_event_flow", "Duration_followed"]
    assert (net["state"]["steps"], net["state"]["rows"], net["problems"]) == (0, 12, [])
    assert [c["transition"] for c in net["state"]["enabled"]] == ["enter"]
    state = fired(studio, net["id"], end=True)
    assert (state["steps"], state["stopped"]) == (67, "end")
    types = [f["derived"]["type"] for f in state["fired"] if f["derived"]]
    assert (types.count("Duration"), types.count("TimeOnLabor")) == (3, 9)
    lines = (studio.folder / "rows.csv").read_text().splitlines()
    for firing in state["fired"]:
        for taken in (firing["derived"] or {"taken": []})["taken"]:
            assert taken["row"]["file"] == "rows.csv"
            assert str(taken["row"]["time"]) in lines[taken["row"]["line"] - 1]


def test_clicks_go_forth_and_back(studio, net):
    id = net["id"]
    state = net["state"]
    for step in range(1, 8):
        choice = state["enabled"][-1]
        state = fired(studio, id, transition=choice["transition"], binding=choice["bindings"][-1])
        assert (state["steps"], state["stopped"], [f["step"] for f in state["fired"]]) == (step, None, [step])
    seen = state
    state = fired(studio, id, steps=4)
    assert (state["steps"], state["stopped"]) == (11, "steps")
    back = fired(studio, id, back=4)
    assert (back["steps"], back["enabled"], back["row"]) == (7, seen["enabled"], seen["row"])
    assert fired(studio, id, steps=4)["fired"] == state["fired"]
    assert fired(studio, id, reset=None)["enabled"] == net["state"]["enabled"]
    assert fired(studio, id, reset=7)["seed"] == 7
    assert fired(studio, id, row=5)["row"] == 5
    broken = fired(studio, id, end=True, breaks={"transitions": ["enter"], "places": {"F": 2}})
    assert (broken["stopped"], broken["at"]) == ("break", "enter")
    assert fired(studio, id, transition=broken["enabled"][0]["transition"])["steps"] == broken["steps"] + 1


def test_encoded_nets_and_other_options(studio):
    encoded = opened(studio, black=False, first=1, sink_exits=True, rows=5)
    assert encoded["state"]["rows"] == 5
    assert [p["kind"] for p in encoded["problems"]] == ["rows-left-out"]
    names = {t["name"] for page in encoded["net"]["pages"] for t in page["transitions"]}
    assert {"enter_t1", "enter_next", "enter_t2"} <= names
    assert not any(t["black"] for page in encoded["net"]["pages"] for t in page["transitions"])
    assert opened(studio, events=[])["state"]["enabled"] == []


def test_unsaved_texts_are_drawn_and_statements_without_a_net_told(studio):
    text = (studio.folder / "labor.epl").read_text()
    text += "\n@Name('U') insert into U select b.ts as ts from pattern [every (a=Patient until b=Patient)];"
    net = opened(studio, texts={"labor.epl": text})
    (problem,) = net["problems"]
    assert (problem["severity"], problem["file"]) == ("warning", "labor.epl")
    assert problem["span"]["line"] == text.count("\n") + 1
    alone = opened(studio, path="new.epl", texts={"new.epl": "create schema A(k int); select * from A;"})
    assert alone["net"]["name"] == "new"
    assert not any("Duration" in page["name"] for page in alone["net"]["pages"])


@pytest.mark.parametrize("format", ["net.json", "cpn"])
def test_a_net_goes_to_a_file_and_back(studio, net, format):
    answer = studio.api.get(f"nets/{net['id']}/export", params={"format": format})
    assert answer.headers["content-disposition"] == f'attachment; filename="labor.{format}"'
    (studio.folder / f"kept.{format}").write_bytes(answer.content)
    again = opened(studio, path=f"kept.{format}")
    steps = fired(studio, again["id"], end=True)["steps"]
    assert steps == (67 if format == "net.json" else 262)
    text = answer.content.decode().replace("1_contrDuration &gt; 35", "1_contrDuration &gt; 1000")
    if format == "cpn":
        unsaved = opened(studio, path="kept.cpn", texts={"kept.cpn": text})
        assert fired(studio, unsaved["id"], end=True)["steps"] < steps
    (studio.folder / f"kept.{format}").unlink()


def test_a_drawing_shows_the_tokens_of_now(studio, net):
    before = studio.api.get(f"nets/{net['id']}/export")
    fired(studio, net["id"], steps=5)
    after = studio.api.get(f"nets/{net['id']}/export", params={"format": "svg", "theme": "dark"})
    assert after.headers["content-type"] == "image/svg+xml"
    assert after.headers["content-security-policy"] == before.headers["content-security-policy"]
    assert before.text != after.text
    ElementTree.fromstring(after.text)


def test_texts_of_elements_are_changed_or_refused_at_them(studio, net):
    id = net["id"]
    fired(studio, id, steps=5)
    change = {"element": "Duration_a1_t", "what": "guard", "text": "[a1_contrDuration > 1000]"}
    answer = studio.api.post(f"nets/{id}/edit", json={"changes": [change]})
    assert answer.status_code == 200
    fits(studio, answer.json(), "NetOpened")
    assert (answer.json()["id"], answer.json()["state"]["steps"]) == (id, 0)
    derived = {f["derived"]["type"] for f in fired(studio, id, end=True)["fired"] if f["derived"]}
    assert derived == {"TimeOnLabor"}
    wrong = studio.api.post(f"nets/{id}/edit", json={"changes": [{**change, "text": "[nix > 1]"}]})
    assert (wrong.status_code, kind(wrong)) == (422, "problems")
    assert [p["node"] for p in wrong.json()["error"]["problems"]] == ["Duration_a1_t"]


@pytest.mark.parametrize(
    ("body", "status", "kind_"),
    [
        ({"path": "../x.epl"}, 403, "forbidden-path"),
        ({"path": "none.epl"}, 404, "missing-file"),
        ({"path": "none.cpn"}, 404, "missing-file"),
        ({"path": "rows.csv"}, 400, "bad-request"),
        ({"texts": {"../x.epl": ""}}, 403, "forbidden-path"),
        ({"events": ["../rows.csv"]}, 403, "forbidden-path"),
        ({"events": ["none.csv"]}, 404, "missing-file"),
        ({"options": {"zome": 1}}, 400, "bad-request"),
        ({"rows": 0}, 400, "bad-request"),
        ({"rows": LIMITS.net_rows + 1}, 400, "bad-request"),
        ({"first": 2}, 400, "bad-request"),
        ({"more": 1}, 400, "bad-request"),
        ({"texts": {"labor.epl": "select * frm A;"}}, 422, "problems"),
        ({"texts": {"labor.epl": ""}}, 422, "problems"),
        ({"path": "x.net.json", "texts": {"x.net.json": "{"}}, 422, "problems"),
        ({"path": "x.cpn", "texts": {"x.cpn": "é"}}, 422, "problems"),
    ],
)
def test_wrong_nets_are_refused(studio, body, status, kind_):
    answer = studio.api.post("nets", json=body)
    assert (answer.status_code, kind(answer)) == (status, kind_), answer.text


def test_a_net_with_too_many_nodes_is_refused(studio):
    data = json.loads(studio.api.get(f"nets/{opened(studio)['id']}/export", params={"format": "net.json"}).text)
    page = data["pages"][0]
    clock = next(p for p in page["places"] if p["name"] == "Clock")
    plain = {k: v for k, v in clock.items() if k not in ("fusion", "role")}
    page["places"] += [{**plain, "name": f"p{k}"} for k in range(LIMITS.net_nodes)]
    answer = studio.api.post("nets", json={"path": "many.net.json", "texts": {"many.net.json": json.dumps(data)}})
    assert answer.status_code == 422
    assert [p["kind"] for p in answer.json()["error"]["problems"]] == ["too-large"], answer.text


@pytest.mark.parametrize(
    ("body", "status", "kind_"),
    [
        ({}, 400, "bad-request"),
        ({"steps": 1, "end": True}, 400, "bad-request"),
        ({"steps": 0}, 400, "bad-request"),
        ({"end": False}, 400, "bad-request"),
        ({"back": -1}, 400, "bad-request"),
        ({"reset": -1}, 400, "bad-request"),
        ({"binding": {}}, 400, "bad-request"),
        ({"steps": 1, "binding": {}}, 400, "bad-request"),
        ({"back": 0, "breaks": {}}, 400, "bad-request"),
        ({"steps": 1, "breaks": {"places": {"F": -1}}}, 400, "bad-request"),
        ({"transition": "nix"}, 422, "problems"),
        ({"transition": "Duration_a1_t"}, 422, "problems"),
        ({"transition": "enter", "binding": {"i": "99"}}, 422, "problems"),
        ({"back": 1}, 422, "problems"),
        ({"row": 99}, 422, "problems"),
        ({"steps": 1, "breaks": {"transitions": ["nix"]}}, 422, "problems"),
        ({"steps": 1, "breaks": {"places": {"nix": 1}}}, 422, "problems"),
    ],
)
def test_wrong_clicks_are_refused_and_change_nothing(studio, net, body, status, kind_):
    answer = studio.api.post(f"nets/{net['id']}/fire", json=body)
    assert (answer.status_code, kind(answer)) == (status, kind_), answer.text
    assert fired(studio, net["id"], back=0) == {**net["state"], "changed": {}}


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "nets/x/fire"), ("POST", "nets/x/edit"), ("GET", "nets/x/export"), ("DELETE", "nets/x")],
)
def test_unknown_nets_and_wrong_tokens_are_refused(studio, method, path):
    body = {"json": {"steps": 1} if "fire" in path else {"changes": []}} if method == "POST" else {}
    answer = studio.api.request(method, path, **body)
    assert (answer.status_code, kind(answer)) == (404, "unknown-net")
    with studio.client(headers={}) as stranger:
        assert stranger.request(method, path, **body).status_code == 401
    if method == "POST":
        assert studio.api.post(path, content="{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert studio.api.get("nets/x/export", params={"format": "png"}).status_code == 400


def test_closed_nets_and_the_oldest_of_too_many_are_told_to_be_so(studio, net):
    assert studio.api.delete(f"nets/{net['id']}").status_code == 204
    assert "was closed" in studio.api.delete(f"nets/{net['id']}").json()["error"]["message"]
    ids = [opened(studio)["id"] for _ in range(LIMITS.nets)]
    assert studio.api.post("nets", json={"texts": {"labor.epl": "wrong"}}).status_code == 422
    fired(studio, ids[0], steps=3)
    newest = opened(studio)["id"]
    assert fired(studio, ids[0], steps=1)["steps"] == 4
    assert fired(studio, newest, steps=1)["steps"] == 1
    answer = studio.api.post(f"nets/{ids[1]}/fire", json={"steps": 1})
    assert (answer.status_code, kind(answer)) == (404, "unknown-net")
    assert f"{LIMITS.nets} newer ones" in answer.json()["error"]["message"]


def test_nets_of_two_clients_go_on_beside_each_other_and_other_calls(studio):
    with studio.client() as other, concurrent.futures.ThreadPoolExecutor() as pool:
        ids = [opened(studio)["id"] for _ in range(2)]

        def steps(client: httpx.Client, id: str) -> list[int]:
            return [client.post(f"nets/{id}/fire", json={"steps": 1}).json()["steps"] for _ in range(30)]

        both = [pool.submit(steps, c, id) for c, id in zip((studio.api, other), ids, strict=True)]
        assert studio.client().post("check", json={"texts": {}}).status_code == 200
        assert [f.result() for f in both] == [list(range(1, 31))] * 2


def test_the_end_of_the_worker_is_told_and_nets_can_be_opened_again(studio, net):
    with studio.updates() as updates:
        os.kill(worker(studio), signal.SIGKILL)
        while "worker" not in (data := updates.next("worker")[1]):
            pass
        assert (data["worker"], data["state"]) == ("nets", "ended")
    answer = studio.api.post(f"nets/{net['id']}/fire", json={"steps": 1})
    assert (answer.status_code, kind(answer)) == (404, "unknown-net")
    assert "is gone" in answer.json()["error"]["message"]
    assert answer.json()["error"]["hint"] == "open it again"
    assert fired(studio, opened(studio)["id"], steps=1)["steps"] == 1


def test_a_worker_that_is_killed_in_the_middle_of_a_call_is_told_of(studio, net):
    pid = worker(studio)
    os.kill(pid, signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        call = pool.submit(studio.api.post, f"nets/{net['id']}/fire", json={"steps": 1})
        time.sleep(0.3)
        os.kill(pid, signal.SIGKILL)
        answer = call.result()
    assert (answer.status_code, kind(answer)) == (503, "worker")
    assert "all nets are gone" in answer.json()["error"]["message"]
    assert opened(studio)["state"]["steps"] == 0


def test_the_worker_starts_with_the_first_net_and_ends_with_the_server(start_studio):
    studio = start_studio()
    until(lambda: named(studio.folder, "worker"), 60)
    with pytest.raises(AssertionError):
        worker(studio)
    opened(studio)
    pid = worker(studio)
    studio.stop()
    until(lambda: not (Path("/proc") / str(pid)).exists())


def test_the_worker_is_there_when_a_page_has_shown_epl(start_studio):
    studio = start_studio()
    studio.api.post("check", json={"texts": {}}, headers={"Occurs-Client": "page"})
    until(lambda: named(studio.folder, "net_worker"), 60)
    pid = worker(studio)
    opened(studio)
    assert worker(studio) == pid
    studio.stop()
    until(lambda: not (Path("/proc") / str(pid)).exists())


def test_a_step_is_answered_at_once(studio, net):
    took = []
    for _ in range(30):
        began = time.perf_counter()
        fired_once = studio.api.post(f"nets/{net['id']}/fire", json={"steps": 1})
        took.append(time.perf_counter() - began)
        assert fired_once.status_code == 200
    assert sorted(took)[10] < 0.05


_VALUE = st.none() | st.booleans() | st.integers(-3, 2**70) | st.text(max_size=5) | st.lists(st.integers(), max_size=2)
_BODY = st.fixed_dictionaries(
    {},
    optional={
        "steps": st.integers(0, 5) | _VALUE,
        "end": st.just(True) | _VALUE,
        "row": st.integers(0, 15) | _VALUE,
        "transition": st.sampled_from(["enter", "Duration_a1_t"]) | _VALUE,
        "binding": st.dictionaries(st.sampled_from(["i", "x"]), st.text(max_size=3)) | _VALUE,
        "back": st.integers(0, 5) | _VALUE,
        "reset": st.integers(0, 5) | _VALUE,
        "breaks": st.fixed_dictionaries({}, optional={"transitions": _VALUE, "places": _VALUE}) | _VALUE,
        "path": st.sampled_from(["labor.epl", "a.cpn", "a.net.json"]) | _VALUE,
        "texts": st.dictionaries(st.sampled_from(["a.cpn", "a.net.json"]), st.text(max_size=9)),
        "rows": st.integers(1, 9) | _VALUE,
        "changes": st.lists(
            st.fixed_dictionaries(
                {"element": st.sampled_from(["enter", "F", "x"]), "what": st.sampled_from(["initial", "guard", "arc"])},
                optional={"text": st.text(max_size=6), "place": st.just("F"), "into": st.booleans()},
            ),
            max_size=2,
        ),
    },
)  # fmt: skip


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["nets", "nets/ID/fire", "nets/ID/edit"]), _BODY)
def test_no_body_is_an_error_of_the_server(studio, call, body):
    kept = getattr(studio, "kept", None)
    if kept is None or studio.api.post(f"nets/{kept}/fire", json={"back": 0}).status_code != 200:
        kept = studio.kept = opened(studio)["id"]
    content = msgspec.json.encode(body)
    found = studio.api.post(
        call.replace("ID", kept), content=content, headers={"Content-Type": "application/json"}
    )
    assert found.status_code in (200, 400, 403, 404, 413, 422), (found.text, body)
    if found.status_code >= 300:
        kind(found)
