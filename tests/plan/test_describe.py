"""The plan as data, from which its text is printed."""

from __future__ import annotations

import json
import pickle

import occurs
from occurs.plan.explain import printed

FIRE = """event Smoke(area: string)
define Fire(area: string) from Smoke(area = $a) and last Temp(area = $a, value > 45) within 5 min from Smoke
where area = Smoke.area"""


def test_the_data_of_a_plan():
    plan = occurs.parse(FIRE).explain().data
    assert [given["type"] for given in plan["inputs"]] == ["Smoke", "Temp"]
    assert plan["inputs"][0]["attributes"] == [{"name": "area", "type": "string"}]
    assert plan["inputs"][1]["attributes"] is None
    assert plan["time"] == {"timestamp": True, "unit": "us"}
    (operator,) = plan["operators"]
    assert operator["level"] == 1
    assert operator["text"].startswith("Fire: ")
    (definition,) = operator["definitions"]
    assert definition["type"] == "Fire"
    assert definition["line"] == 2
    assert definition["reads"] == {"Smoke": 0, "Temp": 300_000_000}
    assert {"Smoke": ["area"], "Temp": ["area"]} in definition["keys"]
    assert plan["retention"] == {"Temp": 300_000_000}
    assert plan["state"] == "window of 5 min"
    (group,) = plan["spark"]
    assert (group["types"], group["mode"]) == (["Fire"], "keyed")
    assert group["key"] == {"Smoke": ["area"], "Temp": ["area"]}
    assert plan["stream"]["stages"] == 1
    assert [lane["mode"] for lane in plan["stream"]["lanes"]] == ["keyed"]


def test_definitions_of_one_operator_and_of_every_language():
    rules = "".join(f"define A{n}() from T(v > {n})\n" for n in range(3))
    assert [d["type"] for d in occurs.parse(rules).explain().data["operators"][0]["definitions"]] == ["A0", "A1", "A2"]
    texts = {
        "epl": "insert into Out select * from pattern [every a=A -> b=B]",
        "phenesthe": "input event a(v).  input event b(v).  state s(V) : a(V) ~> b(V).",
        "ftl": "table traffic(link string key, load int) trigger hit: traffic('a') = 0 until traffic('a') = 1",
        "esql": "DEFINE Sums AS GET (THE SUM OF *) FROM A.v ON A WINDOW OF 3.",
    }
    for language, text in texts.items():
        (operator,) = occurs.parse(text, language).explain().data["operators"]
        assert len(operator["definitions"]) == 1, language


def test_the_text_is_printed_from_data_that_went_through_json():
    plan = occurs.parse(FIRE).explain()
    assert printed(json.loads(json.dumps(plan.data))) == plan
    again = pickle.loads(pickle.dumps(plan))
    assert (again, again.data) == (plan, plan.data)
