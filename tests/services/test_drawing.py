"""Drawings of EPL as a service: broken texts, the program around a text, models."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest

import occurs
from amount import amount
from occurs.model.types import Schema, Type
from occurs.services import change_domain, draw, graph, model, model_text

CASES = Path(__file__).parents[1] / "cases" / "epl"
TEXTS = [
    body
    for path in sorted(CASES.rglob("*.md"))
    for body in re.findall(r"^```epl\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S)
]


def test_no_beginning_of_a_text_is_too_broken_to_be_drawn():
    rng = random.Random(5)
    drawn = 0
    for text in TEXTS:
        for cut in {rng.randrange(len(text) + 1) for _ in range(amount(1, 4))}:
            broken = text[:cut] + rng.choice(["", "", "(", "'", "/*", ";", "]"])
            found = graph(broken)
            drawn += len(found.statements)
            lines = broken.split("\n")
            for s in found.statements:
                assert s.text.startswith(lines[s.span.line - 1][s.span.column - 1 :][:1])
                assert (s.canvas is None) == (s.kind == "schema")
            for s in found.statements[:1]:
                if s.canvas is not None:
                    same = draw(broken, s.id, s.canvas)
                    assert same.text in (None, broken)
                    assert (same.text is None) == any(p.severity == "error" for p in same.problems)
            change_domain(broken, {"op": "add-type", "type": "T"})
    assert drawn > amount(150, 400)


def test_problems_stand_at_the_nodes_they_are_about():
    text = "create schema A(n int);\n@Name('q') select b.m as m from pattern [every (every a=A(n > 'x')) -> b=A];"
    found = graph(text, path="x.epl").problems
    assert {(p.kind, p.definition, p.node, p.row, p.file) for p in found} == {
        ("type-mismatch", "q", "a", 1, "x.epl"),
        ("unknown-attribute", "q", "ComplexEvent", 1, "x.epl"),
    }


def test_other_files_of_the_program_count():
    rule = "define Hot(v) from Temp(Value > 45) where v = Temp.Value"
    texts = {
        "hot.tesla": rule,
        "a.epl": "@Name('one') insert into One select t.v as v from pattern [t=Hot];",
        "b.epl": "",
    }
    text = "@Name('two') select h.v as v from pattern [h=Hot(v > 50)];"
    canvas = graph(text, texts, "b.epl").statements[0].canvas
    assert canvas is not None
    assert draw(text, "two", canvas, texts, "b.epl").text == text
    canvas["head"]["name"] = "one"
    assert ("duplicate-definition", None) in told(draw(text, "two", canvas, texts, "b.epl"))
    canvas["head"]["name"] = "two"
    canvas["nodes"][0]["fields"]["conditions"] = ["w > 50"]
    assert told(draw(text, "two", canvas, texts, "b.epl")) == {("unknown-attribute", "h")}
    canvas["nodes"][0]["fields"] = {"typeName": "Room", "tag": "h", "conditions": ["size > 50"], "consume": 0}
    canvas["nodes"][-1]["fields"]["columns"] = [{"name": "v", "value": "h.size"}]
    assert told(draw(text, "two", canvas, texts, "b.epl")) == {("unknown-name", "h")}
    inputs = {"Room": Schema((("size", Type.INT),))}
    assert draw(text, "two", canvas, texts, "b.epl", inputs).text is not None


def told(found: Any) -> set[tuple[str, str | None]]:
    return {(p.kind, p.node) for p in found.problems if p.severity == "error"}


def test_a_statement_that_is_not_there_is_a_usage_problem():
    for call in (lambda: draw("", "x", {}), lambda: draw("create schema A()", "A", {}), lambda: model("", "x")):
        with pytest.raises(occurs.UsageProblem):
            call()


def test_a_model_is_made_of_one_statement_among_others():
    text = (
        "create schema A(n int);\n@Name('p') insert into P select a1.n as n from pattern [every a1=A(a1.n > 1)];\n"
        "insert into Q select 1 as a from A;\n"
    )
    found = model(text, "p")
    assert (found["name"], [t["name"] for t in found["types"]]) == ("p", ["A"])
    assert "[every a1=A(a1.n > 1)]" in model_text(found)
