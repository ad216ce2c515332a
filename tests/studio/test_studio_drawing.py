"""The calls for drawings of EPL, answered by the real server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from occurs.studio.limits import LIMITS
from studio.conforming import conforms

TEXT = "create schema A(x int);\n@Name('Q') insert into Q select a.x as x from pattern [every a=A(x > 1)]; // why\n"


def canvas_of(studio: Any, text: str = TEXT, statement: str = "Q") -> dict[str, Any]:
    found = studio.api.post("epl/graph", json={"text": text}).json()
    return next(s["canvas"] for s in found["statements"] if s["id"] == statement)


def event(canvas: dict[str, Any]) -> dict[str, Any]:
    return next(n["fields"] for n in canvas["nodes"] if n["kind"] == "Event")


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    for edit in reversed(edits):
        text = text[: edit["from"]] + edit["insert"] + text[edit["to"] :]
    return text


def test_a_text_is_drawn_with_the_problems_at_its_nodes(studio):
    text = (studio.folder / "labor.epl").read_text()
    found = studio.api.post("epl/graph", json={"text": text, "path": "labor.epl"}).json()
    assert [(s["id"], s["kind"]) for s in found["statements"]] == [
        ("Patient", "schema"),
        ("Duration", "pattern"),
        ("TimeOnLabor", "pattern"),
    ]
    assert {(p["kind"], p["definition"], p["node"]) for p in found["problems"]} >= {
        ("unbounded-state", "Duration", "a1")
    }
    broken = studio.api.post("epl/graph", json={"text": "@Name('x') select frm A;"}).json()
    assert [(s["kind"], s["canvas"]["nodes"][0]["kind"]) for s in broken["statements"]] == [("text", "Text")]
    assert broken["problems"][0]["definition"] == "x"


def test_a_drawing_changes_what_was_edited(studio):
    canvas = canvas_of(studio)
    event(canvas)["conditions"] = ["x > 2"]
    event(canvas)["tag"] = "t"
    canvas["nodes"][-1]["fields"]["columns"] = [{"name": "x", "value": "t.x"}]
    found = studio.api.post("epl/canvas", json={"text": TEXT, "statement": "Q", "canvas": canvas}).json()
    assert found["text"] == TEXT.replace("a.x as", "t.x as").replace("a=A(x > 1)", "t=A(x > 2)")
    assert applied(TEXT, found["edits"]) == found["text"]
    assert found["renamed"] == {"a": "t"}
    assert [s["id"] for s in found["statements"]] == ["A", "Q"]


def test_a_draft_has_its_problems_and_no_text(studio):
    canvas = canvas_of(studio)
    event(canvas)["conditions"] = ["x > ", "y = 1"]
    canvas["head"]["priority"] = 1.5
    canvas["links"] = canvas["links"][1:]
    found = studio.api.post("epl/canvas", json={"text": TEXT, "statement": "Q", "canvas": canvas})
    assert found.status_code == 200
    answer = found.json()
    assert (answer["text"], answer["edits"], answer["renamed"]) == (None, [], {})
    told = {(p["kind"], p["node"], p["row"]) for p in answer["problems"]}
    assert told >= {
        ("syntax", "a", 1),
        ("unknown-attribute", "a", 2),
        ("arity", "Every1", None),
        ("bad-bound", None, None),
    }


def test_the_program_around_a_text_counts_with_its_path(studio):
    text = "@Name('Mine') insert into Mine select p.name as n from pattern [every p=Patient(contrDuration > 1)];\n"
    canvas = canvas_of(studio, text, "Mine")
    asked = {"text": text, "statement": "Mine", "canvas": canvas, "path": "mine.epl"}
    assert studio.api.post("epl/canvas", json=asked).json()["text"] == text
    event(canvas)["conditions"] = ["contrDuratio > 1"]
    found = studio.api.post("epl/canvas", json=asked).json()["problems"]
    assert [(p["kind"], p["node"], p["row"]) for p in found] == [("unknown-attribute", "p", 1)]
    event(canvas)["conditions"] = []
    canvas["head"]["name"] = "Duration"
    found = studio.api.post("epl/canvas", json=asked).json()["problems"]
    assert ("duplicate-definition", None) in [(p["kind"], p["node"]) for p in found]
    # types that the unsaved text of another file of the program declares
    canvas["head"]["name"] = "Mine"
    event(canvas).update(typeName="Ward", conditions=["beds > 2"])
    canvas["nodes"][-1]["fields"]["columns"] = [{"name": "n", "value": "p.beds"}]
    texts = {"labor.epl": (studio.folder / "labor.epl").read_text() + "\ncreate schema Ward(beds int);\n"}
    assert studio.api.post("epl/canvas", json={**asked, "texts": texts}).json()["text"] is not None
    assert studio.api.post("epl/canvas", json=asked).json()["text"] is None


def test_the_types_of_the_events_of_the_project_are_known(studio):
    asked = {"text": "", "statement": None, "canvas": new("Patient", "contrDuration > 1")}
    found = studio.api.post("epl/canvas", json=asked).json()
    assert found["text"] == (
        "@Name('Mine')\ninsert into Mine\nselect a1.name as n\nfrom pattern [every a1=Patient(contrDuration > 1)];\n"
    )
    asked["canvas"] = new("Patien", "contrDuration > 1")
    [problem] = [p for p in studio.api.post("epl/canvas", json=asked).json()["problems"] if p["severity"] == "error"]
    assert (problem["node"], problem["hint"]) == ("a1", "did you mean `Patient`?")


def new(type: str, condition: str) -> dict[str, Any]:
    return {
        "head": {"name": "Mine"},
        "nodes": [
            {"id": "a1", "kind": "Event", "fields": {"typeName": type, "tag": "a1", "conditions": [condition]}},
            {"id": "Every1", "kind": "Every"},
            {
                "id": "C",
                "kind": "ComplexEvent",
                "fields": {"typeName": "Mine", "columns": [{"name": "n", "value": "a1.name"}]},
            },
        ],
        "links": [{"from": "a1", "to": "Every1"}, {"from": "Every1", "to": "C"}],
    }


def test_the_domain_of_a_text_is_changed(studio):
    change = {"op": "rename-attribute", "type": "A", "attribute": "x", "to": "size"}
    found = studio.api.post("epl/domain", json={"text": TEXT, "change": change}).json()
    assert found["text"] == TEXT.replace("x int", "size int").replace("a.x", "a.size").replace("(x >", "(size >")
    assert applied(TEXT, found["edits"]) == found["text"]
    wrong = {"op": "remove-type", "type": "A"}
    found = studio.api.post("epl/domain", json={"text": TEXT, "change": wrong}).json()
    assert found["text"] is None
    assert found["problems"][0]["message"] == "`A` is still used once"


def test_a_statement_becomes_a_model_and_a_model_a_text(studio):
    text = TEXT.replace(" // why", "").replace("x > 1", "a.x > 1")
    model = studio.api.post("epl/model", json={"text": text, "statement": "Q"}).json()
    assert model["name"] == "Q"
    found = studio.api.post("epl/model", json={"model": model}).json()
    assert "from pattern [every a=A(a.x > 1)];" in found["text"]
    assert studio.api.post("epl/model", json={"text": text, "statement": "R"}).status_code == 422
    assert studio.api.post("epl/model", json={"model": {"nodes": 1}}).status_code == 422
    assert studio.api.post("epl/model", json={"text": text}).status_code == 400
    assert studio.api.post("epl/model", json={"model": model, "xml": "<a/>"}).status_code == 400


def test_a_file_of_medit4cep_becomes_a_text(studio):
    head = '<domain:CEPDomain xmlns:domain="www.uca.es/modeling/cep/domain" domainName="Homes">'
    events = '<events typeName="Door"><eventProperties name="open" type="Boolean"/></events>'
    found = studio.api.post("epl/model", json={"xml": f"{head}{events}</domain:CEPDomain>"})
    assert found.json() == {"text": "create schema Door(open boolean);\n"}
    for wrong in ("", "<a/>", f"{head}</domain:CEPDomain>"):
        found = studio.api.post("epl/model", json={"xml": wrong})
        assert found.status_code == 422
        assert found.json()["error"]["message"]


@pytest.mark.parametrize(
    ("call", "body", "status"),
    [
        ("epl/canvas", {"text": TEXT, "statement": "none", "canvas": {}}, 422),
        ("epl/canvas", {"text": TEXT, "statement": "A", "canvas": {}}, 422),
        (
            "epl/canvas",
            {
                "text": TEXT,
                "statement": "Q",
                "canvas": {"nodes": [{"id": "x", "kind": "Every"}] * (LIMITS.canvas_nodes + 1)},
            },
            413,
        ),
        ("epl/canvas", {"text": "x" * (LIMITS.rule_text + 1), "statement": None, "canvas": {}}, 413),
        ("epl/canvas", {"text": TEXT, "statement": "Q", "canvas": {"nodes": [{"kind": "Every"}]}}, 400),
        ("epl/graph", {"text": TEXT, "path": "../x.epl"}, 403),
        ("epl/graph", {"text": TEXT, "path": "x.tesla"}, 400),
        ("epl/graph", {"text": 1}, 400),
        ("epl/domain", {"text": TEXT, "change": {"op": "nothing"}}, 400),
    ],
)
def test_what_cannot_be_asked_is_refused(studio, call, body, status):
    assert studio.api.post(call, json=body).status_code == status


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("graph", {"text": TEXT}),
        ("graph", {"text": "select frm; create schema X()"}),
        ("canvas", {"text": TEXT, "statement": None, "canvas": {}}),
        ("canvas", {"text": TEXT, "statement": None, "canvas": new("A", "x > 1")}),
        ("domain", {"text": TEXT, "change": {"op": "add-type", "type": "T"}}),
        ("domain", {"text": TEXT, "change": {"op": "rename-type"}}),
    ],
)
def test_answers_are_as_the_description_says(studio, call, body):
    described = studio.api.get("openapi.json").json()
    found = studio.api.post(f"epl/{call}", json=body)
    assert found.status_code == 200
    schema = described["paths"][f"/api/v1/epl/{call}"]["post"]["responses"]["200"]["content"]["application/json"][
        "schema"
    ]
    conforms(found.json(), schema, described["components"]["schemas"])


_VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.sampled_from(["name", "value", "a"]), v, max_size=2),
    max_leaves=6,
)
_FIELDS = st.dictionaries(
    st.sampled_from(
        [
            "typeName",
            "tag",
            "conditions",
            "consume",
            "keys",
            "expiry",
            "limits",
            "count",
            "low",
            "high",
            "condition",
            "duration",
            "columns",
            "text",
            "hour",
        ]
    ),
    _VALUE,
    max_size=4,
)
_KINDS = st.sampled_from(
    [
        "Event",
        "Every",
        "EveryDistinct",
        "FollowedBy",
        "And",
        "Or",
        "Not",
        "Repeat",
        "Until",
        "While",
        "Within",
        "TimeInterval",
        "TimeSchedule",
        "ComplexEvent",
        "Text",
        "Other",
    ]
)
_IDS = st.sampled_from(["a", "Every1", "ComplexEvent", "b", "c", ""])
_CANVAS = st.fixed_dictionaries(
    {
        "head": st.dictionaries(
            st.sampled_from(["name", "where", "into", "description"]), st.none() | st.text(max_size=6), max_size=3
        ),
        "nodes": st.lists(st.fixed_dictionaries({"id": _IDS, "kind": _KINDS, "fields": _FIELDS}), max_size=6),
        "links": st.lists(st.fixed_dictionaries({"from": _IDS, "to": _IDS, "order": st.integers(-1, 3)}), max_size=6),
    }
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(canvas=_CANVAS, statement=st.sampled_from(["Q", None]))
def test_no_drawing_is_an_error_of_the_server(studio, canvas, statement):
    body = json.dumps({"text": TEXT, "statement": statement, "canvas": canvas})
    found = studio.api.post("epl/canvas", content=body, headers={"Content-Type": "application/json"})
    assert found.status_code in (200, 400), found.text
    if found.status_code == 200:
        answer = found.json()
        assert (answer["text"] is None) == any(p["severity"] == "error" for p in answer["problems"])
