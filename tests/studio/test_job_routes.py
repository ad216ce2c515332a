"""The calls of jobs through a started server: right ones, refused ones, and what is heard of them."""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio.conforming import answer_conforms

UNIT = {"time_unit": "min"}


@pytest.fixture(scope="module")
def run(studio):
    """The run of the example."""
    with studio.updates() as updates:
        answer = studio.api.post("jobs", json={"kind": "run"})
        assert answer.status_code == 202
        id, states = answer.json()["id"], []
        while not states or states[-1] not in ("done", "failed"):
            _, data = updates.next("job")
            assert data["id"] == id
            states += [] if states[-1:] == [data["state"]] else [data["state"]]
    assert states == ["running", "done"]
    return id


def ended(studio, body):
    id, end = studio.api.post("jobs", json=body).json()["id"], time.monotonic() + 60
    while (job := studio.api.get(f"jobs/{id}").json())["state"] in ("queued", "running"):
        assert time.monotonic() < end, job
        time.sleep(0.05)
    return job


def test_a_run_of_the_project_finds_what_the_paper_finds(studio, run):
    job = studio.api.get(f"jobs/{run}").json()
    assert job["result"]["types"] == [{"name": "Duration", "count": 3}, {"name": "TimeOnLabor", "count": 9}]
    schemas = [(t["name"], t["attributes"], t["lasting"]) for t in job["result"]["schemas"]]
    assert schemas == [
        ("Duration", ["patientId", "last_delay"], False), ("TimeOnLabor", ["patientId", "before_delay"], False),
    ]  # fmt: skip
    assert [p["kind"] for p in job["problems"]] == ["unbounded-state", "unbounded-state"]
    found = studio.api.get(f"jobs/{run}/timeline", params={"width": 200}).json()
    assert [(lane["name"], lane["input"], len(lane["marks"])) for lane in found["lanes"]] == [
        ("Patient", True, 12), ("Duration", False, 3), ("TimeOnLabor", False, 9),
    ]  # fmt: skip
    assert (found["total"], found["count"], found["exact"], found["from"], found["to"]) == (12, 12, True, 1, 39)
    rows = studio.api.get(f"jobs/{run}/rows", params={"type": "TimeOnLabor", "from": 30, "to": 34}).json()
    assert (rows["total"], {row[3] for row in rows["rows"]}) == (3, {34})
    why = studio.api.get(f"jobs/{run}/why/{rows['rows'][0][7]}").json()
    lines = (studio.folder / "rows.csv").read_text().splitlines()
    assert [(c["role"], c["source"]["file"]) for c in why["constituents"]] == [(f"a{n}", "rows.csv") for n in (1, 2, 3)]
    for part in why["constituents"]:
        written = ["Patient", part["time"], *part["values"].values()]
        assert lines[part["source"]["line"] - 1] == ",".join(map(str, written))
    export = studio.api.get(f"jobs/{run}/export", params={"type": "Duration"})
    assert export.headers["content-disposition"] == 'attachment; filename="Duration.csv"'
    assert export.text.splitlines()[0] == "type,time,patientId,last_delay"


def test_a_timeline_is_exported_as_a_page(studio, run):
    page = studio.api.get(f"jobs/{run}/export", params={"format": "html", "from": 10, "to": 30})
    assert page.headers["content-disposition"] == 'attachment; filename="timeline.html"'
    assert page.headers["content-type"].startswith("text/html")
    assert "<title>labor</title>" in page.text
    part = studio.api.get(f"jobs/{run}/export", params={"format": "csv", "type": "Duration", "from": 30, "text": "39"})
    assert [line.split(",")[1] for line in part.text.splitlines()[1:]] == ["39"]


def test_a_run_is_compared_with_another(studio, run):
    text = (studio.folder / "labor.epl").read_text().replace("a2.ts - a1.ts <= 5", "a2.ts - a1.ts <= 4")
    other = ended(studio, {"kind": "run", "texts": {"labor.epl": text}})
    found = studio.api.get(f"jobs/{other['id']}/changes/{run}").json()
    counts = {t["type"]: (t["gained"], t["lost"], t["same"]) for t in found["types"]}
    assert counts["Duration"] == (0, 1, 2)
    assert len(found["lost"]) == sum(lost for _, lost, _ in counts.values())
    assert studio.api.get(f"jobs/{run}/changes/nix").status_code == 404
    assert studio.api.delete(f"jobs/{other['id']}").status_code == 200


def test_answers_of_jobs_are_as_openapi_says(studio, run):
    described = studio.api.get("openapi.json").json()
    label = studio.api.get(f"jobs/{run}/rows", params={"limit": 1}).json()["rows"][0][7]
    for path, params in (
        ("/jobs/{id}", {}), ("/jobs/{id}/timeline", {"width": 3}), ("/jobs/{id}/timeline", {"by": "patientId"}),
        ("/jobs/{id}/rows", {"limit": 5}), ("/jobs/{id}/rows", {"type": "Patient"}), ("/jobs/{id}/why/{label}", {}),
        ("/jobs/{id}/why/{label}", {"depth": 1}), ("/jobs/{id}/rows", {"limit": "x"}), ("/jobs/nix", {}),
    ):  # fmt: skip
        found = studio.api.get(path[1:].format(id=run, label=label), params=params)
        assert found.status_code == (400 if params.get("limit") == "x" else 404 if path == "/jobs/nix" else 200)
        answer_conforms(found, described, "get", path.replace("/nix", "/{id}"))
    started = studio.api.post("jobs", json={"kind": "verify"})
    assert started.status_code == 202
    answer_conforms(started, described, "post", "/jobs")
    ended_one = ended(studio, {"kind": "verify"})
    assert (ended_one["state"], ended_one["result"]["equal"]) == ("done", True)
    for id in (started.json()["id"], ended_one["id"]):
        gone = studio.api.delete(f"jobs/{id}")
        assert gone.status_code == 200
        answer_conforms(gone, described, "delete", "/jobs/{id}")
    refused = studio.api.post("jobs", json={"kind": "nix"})
    answer_conforms(refused, described, "post", "/jobs")
    export = studio.api.get(f"jobs/{run}/export", params={"format": "jsonl"})
    assert export.headers["content-type"].startswith("application/jsonl")


_WORD = st.sampled_from(["Duration", "Patient", "time", "-ticks", "x", "", "0", "9" * 30, "-1", "1e3", "nan", "Ä\0"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["timeline", "rows", "export", "why/x"]),
    st.dictionaries(
        st.sampled_from(
            ["from", "to", "width", "by", "types", "type", "text", "sort", "offset", "limit", "format", "depth"]
        ),
        _WORD | st.integers(-5, 2**70).map(str) | st.text(max_size=8),
        max_size=4,
    ),
)
def test_no_query_is_an_error_of_the_server(studio, run, call, query):
    found = studio.api.get(f"jobs/{run}/{call}", params=query)
    assert found.status_code in (200, 400, 404, 422), (found.text, query)


@pytest.mark.parametrize(
    ("call", "status", "kind"),
    [
        ("timeline?width=0", 400, "bad-request"),
        ("timeline?width=4001", 400, "bad-request"),
        ("timeline?from=x", 400, "bad-request"),
        ("timeline?from=9&to=3", 400, "bad-request"),
        (f"timeline?from={2**63}", 400, "bad-request"),
        ("timeline?types=Nix", 400, "unknown-name"),
        ("timeline?by=nix", 400, "unknown-name"),
        ("rows?limit=1001", 400, "bad-request"),
        ("rows?offset=-1", 400, "bad-request"),
        ("rows?sort=nix", 400, "unknown-name"),
        ("rows?type=Nix", 400, "unknown-name"),
        ("why/nix", 404, "unknown-name"),
        (f"why/{'0' * 32}", 404, "unknown-name"),
        ("why/nix?depth=0", 400, "bad-request"),
        ("export?format=xml", 400, "bad-request"),
        ("export?type=Nix", 400, "unknown-name"),
        ("export?format=html&type=Nix", 400, "unknown-name"),
        (f"export?from={2**63}", 400, "bad-request"),
    ],
)
def test_wrong_questions_are_refused(studio, run, call, status, kind):
    answer = studio.api.get(f"jobs/{run}/{call}")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, kind)


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"kind": "run", "net": {}}, 400, "bad-request"),
        ({"kind": "random"}, 400, "bad-request"),
        ({"kind": "random", "net": {"stream": "../x.toml"}}, 403, "forbidden-path"),
        ({"kind": "random", "net": {"stream": "nix.toml"}}, 404, "missing-file"),
        ({"kind": "random", "net": {"stream": 3}}, 400, "bad-request"),
        ({"kind": "space", "net": {"path": "../x.cpn"}}, 403, "forbidden-path"),
        ({"kind": "space", "net": {"path": "nix.cpn"}}, 404, "missing-file"),
        ({"kind": "space", "net": {"path": "rows.csv"}}, 400, "bad-request"),
        ({"kind": "space", "net": {"max_states": 0}}, 400, "bad-request"),
        ({"kind": "verify", "net": {"first": 3}}, 400, "bad-request"),
        ({"kind": "nix"}, 400, "bad-request"),
        ({"kind": "run", "more": 1}, 400, "bad-request"),
        ({"kind": "run", "options": {"zome": 1}}, 400, "bad-request"),
        ({"kind": "run", "options": {"time_unit": "year"}}, 400, "bad-request"),
        ({"kind": "run", "events": ["../rows.csv"]}, 403, "forbidden-path"),
        ({"kind": "run", "events": ["A=/etc/passwd"]}, 403, "forbidden-path"),
        ({"kind": "run", "events": ["nix.csv"]}, 404, "missing-file"),
        ({"kind": "run", "texts": {"../x.epl": ""}}, 403, "forbidden-path"),
    ],
)
def test_wrong_jobs_are_refused(studio, body, status, kind):
    answer = studio.api.post("jobs", json=body)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (status, kind)


def test_jobs_that_are_not_there_are_unknown(studio):
    for call in ("", "/timeline", "/rows", "/why/x", "/export", "/changes/nix"):
        answer = studio.api.get(f"jobs/nix{call}")
        assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "unknown-job")
    assert studio.api.delete("jobs/nix").status_code == 404


def test_unsaved_texts_are_run_and_their_errors_are_the_jobs(studio):
    job = ended(studio, {"kind": "run", "texts": {"labor.epl": "nonsense"}})
    assert (job["state"], job["problems"][0]["kind"], job["problems"][0]["file"]) == ("failed", "syntax", "labor.epl")
    answer = studio.api.get(f"jobs/{job['id']}/rows")
    assert (answer.status_code, answer.json()["error"]["problems"][0]["kind"]) == (422, "syntax")


def test_a_deleted_result_is_gone(studio):
    job = ended(studio, {"kind": "run", "events": ["Patient=rows.csv"], "options": {**UNIT, "until": 10}})
    assert (job["state"], job["result"]["total"]) == ("done", 0)
    assert studio.api.get(f"jobs/{job['id']}/timeline").json()["lanes"][0]["count"] == 2
    assert studio.api.delete(f"jobs/{job['id']}").json()["state"] == "done"
    assert studio.api.get(f"jobs/{job['id']}").status_code == 404
