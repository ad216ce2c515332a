"""Refusals that need a full server, a result that is not there, or a body of any kind: without workers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from occurs.studio.app import Studio, create
from occurs.studio.jobs import BusyError, Jobs, Request
from occurs.studio.limits import LIMITS, JobLimits
from occurs.studio.spawning import Processes
from occurs.studio.updates import BEAT, Updates

TOKEN = "the-right-token-0123456789"
Ask = Callable[..., httpx.Response]


class Full(Jobs):
    """Jobs of which none is started."""

    def start(self, request: Request) -> str:
        raise BusyError


def asking(root: Path, pages: Path, jobs: Jobs) -> Ask:
    """A request to a studio with these jobs: method, call."""
    app = create(Studio(root, TOKEN, 8321, pages))
    app.state.jobs = jobs
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def call(method: str, path: str, **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}

        async def run() -> httpx.Response:
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321/api/v1/") as client:
                return await client.request(method, path, headers=headers, **more)

        return asyncio.run(run())

    return call


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.epl").write_text("select * from pattern [a=A];")
    (tmp_path / "rows.csv").write_text("type,time\nA,1\n")
    return tmp_path


def kind(response: httpx.Response) -> str:
    error = response.json()["error"]
    assert error.keys() == {"kind", "message", "hint", "problems"}
    return error["kind"]


def test_a_job_beyond_the_queue_is_refused(root, pages):
    ask = asking(root, pages, Full(root, lambda *_: None, Processes(), JobLimits(queued=3)))
    found = ask("POST", "jobs", json={"kind": "run"})
    assert (found.status_code, kind(found)) == (409, "busy")
    assert found.json()["error"]["message"].startswith("3 jobs")


def test_events_that_are_too_large_are_refused_before_they_are_read(root, pages):
    ask = asking(root, pages, Full(root, lambda *_: None, Processes(), JobLimits(bytes=3)))
    found = ask("POST", "jobs", json={"kind": "run"})
    assert (found.status_code, kind(found)) == (409, "too-large")
    (root / "data").mkdir()
    (root / "data" / "rows.csv").write_text("type,time\n")
    assert ask("POST", "jobs", json={"kind": "run", "events": ["data"]}).status_code == 409


@pytest.mark.parametrize(
    ("state", "status", "expected"),
    [("queued", 409, "busy"), ("running", 409, "busy"), ("cancelled", 409, "cancelled"), ("failed", 422, "problems")],
)
def test_a_job_without_a_result_has_no_rows(root, pages, state, status, expected):
    problem = {"kind": "memory", "severity": "error", "message": "too much"}

    class One(Jobs):
        def state(self, id: str) -> dict[str, Any]:
            return {"id": id, "kind": "run", "state": state, "problems": [problem]}

        def results(self, id: str) -> None:
            return None

    ask = asking(root, pages, One(root, lambda *_: None, Processes()))
    for call in ("timeline", "rows", "why/x", "export"):
        found = ask("GET", f"jobs/one/{call}")
        assert (found.status_code, kind(found)) == (status, expected)


def test_a_project_without_rules_runs_nothing(tmp_path, pages):
    found = asking(tmp_path, pages, Jobs(tmp_path, lambda *_: None, Processes()))("POST", "jobs", json={"kind": "run"})
    assert (found.status_code, kind(found)) == (422, "problems")


def test_an_image_has_a_limit(root, pages):
    ask = asking(root, pages, Jobs(root, lambda *_: None, Processes()))
    for size, status in ((LIMITS.icon, 200), (LIMITS.icon + 1, 413)):
        (root / "icon.png").write_bytes(b"\x89PNG" + bytes(size - 4))
        found = ask("GET", "files/icon.png")
        assert found.status_code == status
    assert kind(found) == "too-large"
    listed = [f["path"] for f in ask("GET", "files").json()]
    assert "icon.png" not in listed


_TEXT = st.text(max_size=6) | st.sampled_from(["a.epl", "rows.csv", "A=rows.csv", "../x", "version", "teal"])
_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=8,
)
_PROJECT = st.fixed_dictionaries(
    {"version": st.sampled_from([1, 2]) | _VALUE},
    optional={
        "program": st.fixed_dictionaries(
            {}, optional={"rules": st.lists(_TEXT) | _VALUE, "events": st.lists(_TEXT) | _VALUE, "options": _VALUE}
        ),
        "icons": st.dictionaries(_TEXT, st.dictionaries(st.sampled_from(["character", "colour", "image"]), _TEXT)),
        "layout": _VALUE,
        "drafts": _VALUE,
    },
)
_TAG = st.sampled_from(["*", '"x"', "", "wrong"])
anything = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@anything
@given(_PROJECT | _VALUE, _TAG, _TAG | st.none())
def test_no_project_is_an_error_of_the_server(root, pages, value, match, none_match):
    headers = {"If-Match": match, **({} if none_match is None else {"If-None-Match": none_match})}
    ask = asking(root, pages, Jobs(root, lambda *_: None, Processes()))
    headers["Content-Type"] = "application/json"
    found = ask("PUT", "project", content=json.dumps(value).encode(), headers=headers)
    assert found.status_code in (200, 400, 412, 422), found.text
    if found.status_code != 200:
        kind(found)
    assert ask("GET", "project").status_code == 200, "only a right one is written"


@anything
@given(
    st.sampled_from(["a.epl", "new.epl", "rows.csv", "x.net.json", "x.txt", "studio.json", "a/b/c/d/e.epl", "%00"]),
    st.binary(max_size=30) | st.text(max_size=20).map(lambda t: t.encode(errors="surrogatepass")),
    st.fixed_dictionaries({}, optional={"If-Match": _TAG, "If-None-Match": _TAG}),
)
def test_no_text_is_an_error_of_the_server(root, pages, path, data, headers):
    ask = asking(root, pages, Jobs(root, lambda *_: None, Processes()))
    found = ask("PUT", f"files/{path}", content=data, headers=headers)
    assert found.status_code in (200, 400, 403, 404, 405, 412, 413, 422), found.text
    if found.status_code != 200:
        kind(found)


@anything
@given(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["run", "verify", "space", "x"]) | _VALUE},
        optional={
            "texts": st.dictionaries(_TEXT, st.text(max_size=10)) | _VALUE,
            "events": st.lists(_TEXT, max_size=3) | _VALUE,
            "options": st.dictionaries(st.sampled_from(["time_unit", "zone", "start", "facts"]), _VALUE) | _VALUE,
        },
    )
    | _VALUE
)
def test_no_job_is_an_error_of_the_server(root, pages, value):
    of = {"content": json.dumps(value).encode(), "headers": {"Content-Type": "application/json"}}
    found = asking(root, pages, Full(root, lambda *_: None, Processes()))("POST", "jobs", **of)
    assert found.status_code in (400, 403, 404, 409, 422), found.text
    kind(found)


def test_a_connection_without_events_hears_a_comment():
    assert BEAT == 15

    async def heard() -> list[bytes]:
        lines = Updates(beat=0.02)._lines(None)
        return [await anext(lines) for _ in range(3)]

    first, *beats = asyncio.run(heard())
    assert b": connected" in first
    assert beats == [b": beat\n\n"] * 2
