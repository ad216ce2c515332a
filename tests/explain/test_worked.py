"""The worked examples of why and why not (why.md, section 13)."""

from __future__ import annotations

import json
import re
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import occurs
from occurs.cli import main
from occurs.testing.cases import parse_events

FIRE = """define Fire(Area, Value)
from   Smoke(Area = $a)
   and last Temp(Area = $a, Value > 45) within 5 min from Smoke
   and not Rain(Area = $a) between Temp and Smoke
where  Area = $a, Value = Temp.Value
"""
CONSUMING = (
    "define Fire(Area) from Smoke(Area = $a) and first Temp(Area = $a) within 5 min from Smoke where Area = $a "
    "consuming Temp"
)
CHAIN = """define Hot(Area, Value) from Temp(Value > 45) where Area = Temp.Area, Value = Temp.Value
define Fire(Area) from Smoke(Area = $a) and each Hot(Area = $a) within 5 min from Smoke where Area = $a
"""
EPL = "insert into Out select {} from pattern [{}];"
Y8 = EPL.format("d.area as area", "every d=Door -> a=Alive(area = d.area) where timer:within(10 sec)")
Y9 = EPL.format("l.user as user", "every (l=Login(ok = 0) -> p=Pay(user = l.user))")
Y10 = EPL.format("d.area as area", "every d=Door -> (timer:interval(10 sec) and not Alive(area = d.area))")
UP = """input event opens(K: string), closes(K: string).
state up(K) : opens(K) ~> closes(K).
state brief(K) : filter(up(K), less(4)).
"""
#: rules, language, events, type and question of each example
EXAMPLES: dict[str, tuple[str, str, str, str, dict[str, Any]]] = {
    "y1": (
        FIRE,
        "tesla",
        "Temp@1m(Area='kitchen',Value=44) Temp@2m(Area='hall',Value=50) Smoke@3m(Area='kitchen')",
        "Fire",
        {"where": {"Area": "kitchen"}, "between": 180_000, "edits": 1},
    ),
    "y2": (
        FIRE,
        "tesla",
        "Temp@1m(Area='hall',Value=50) Rain@2m(Area='hall') Smoke@3m(Area='hall')",
        "Fire",
        {"between": 180_000},
    ),
    "y3": (FIRE, "tesla", "Temp@1m(Area='hall',Value=50) Smoke@7m(Area='hall')", "Fire", {"between": 420_000}),
    "y4": (
        FIRE,
        "tesla",
        "Temp@1m(Area='attic',Value=20) Rain@2m(Area='attic') Smoke@3m(Area='hall')",
        "Fire",
        {"between": 180_000},
    ),
    "y5": (
        FIRE,
        "tesla",
        "Temp@1m(Area='hall',Value=50) Temp@2m(Area='hall',Value=60) Smoke@3m(Area='hall')",
        "Fire",
        {"where": {"Value": 50}, "between": 180_000},
    ),
    "y6": (
        CONSUMING,
        "tesla",
        "Temp@1m(Area='hall') Smoke@2m(Area='hall') Smoke@3m(Area='hall')",
        "Fire",
        {"between": 180_000},
    ),
    "y7": (CHAIN, "tesla", "Temp@1m(Area='hall',Value=40) Smoke@2m(Area='hall')", "Fire", {"between": 120_000}),
    "y8": (Y8, "epl", "Door@0(area='hall') Alive@10s(area='hall')", "Out", {"between": 10_000}),
    "y9": (
        Y9,
        "epl",
        "Login@1s(user='ann',ok=0) Login@5s(user='bob',ok=0) Pay@9s(user='bob',v=7) Pay@12s(user='ann',v=3)",
        "Out",
        {"where": {"user": "bob"}, "between": 9_000},
    ),
    "y10": (
        Y10,
        "epl",
        "Door@1s(area='hall') Alive@7s(area='hall') Door@30s(area='attic')",
        "Out",
        {"where": {"area": "hall"}, "between": 11_000},
    ),
    "y11": (UP, "phenesthe", "opens@2(K='x') closes@7(K='x')", "brief", {"between": (2, 7)}),
    "y12": (
        "state s(v int);\npast trigger p: v >= 3 continue at most every 6",
        "ptl",
        "s@2(v=7) s@4(v=7)",
        "p",
        {"between": 4},
    ),
    "y13": (
        "DEFINE Out AS EVERY 3 TH OF (SELECT v AS v FROM Pay).",
        "esql",
        "Pay@5(v=1) Pay@9(v=2)",
        "Out",
        {"between": 9},
    ),
}


def table(text: str) -> pa.Table:
    """Events in the notation of text cases as one table, in ms."""
    rows = [{"type": e.type, "time": e.time, **e.attributes} for e in parse_events(text)]
    names = dict.fromkeys(n for row in rows for n in row)
    return pa.table({n: [row.get(n) for row in rows] for n in names})


def reasons(rules: str, language: str, events: str, type: str, **question: Any) -> list[list[tuple[str, str, str]]]:
    """The clauses of the reasons as (kind, line:column, repair); every repaired program is run."""
    given = table(events)
    answer = occurs.parse(rules, language).why_not(type, given, time_unit="ms", **question)
    assert answer.complete
    assert not answer.found
    for reason in answer.reasons:
        assert reason.verified
        found = reason.program.detect(reason.events, time_unit="ms")[type]
        assert len(answer.question.fitting(found)) > 0
    return [[(c.kind, f"{c.line}:{c.column}", c.repair) for c in r.clauses] for r in answer.reasons]


def example(name: str) -> list[list[tuple[str, str, str]]]:
    """The clauses of the reasons of an example."""
    rules, language, events, type, question = EXAMPLES[name]
    return reasons(rules, language, events, type, **question)


def test_y1_a_threshold_a_key_or_a_row():
    found = example("y1")
    assert [[c[:2] for c in r] for r in found] == [
        [("threshold", "3:29")],
        [("equality", "3:18")],
        [("missing", "3:13")],
    ]
    assert found[0][0][2] == "Value >= 44"
    assert found[1][0][2] == ""


def test_y2_an_absence():
    found = example("y2")
    assert [c[:2] for r in found for c in r] == [("absence", "4:8"), ("missing", "3:13")]
    assert found[0][0][2] == ""


def test_y3_a_window():
    found = example("y3")
    assert [c[:2] for r in found for c in r] == [("window", "3:48"), ("missing", "3:13")]
    assert found[0][0][2] == "6 min"


def test_y4_two_clauses_together():
    found = example("y4")
    assert [[c[:2] for c in r] for r in found] == [[("missing", "3:13")], [("equality", "3:18"), ("threshold", "3:29")]]
    assert found[1][1][2] == "Value >= 20"


def test_y5_a_choice():
    found = example("y5")
    assert [c[:2] for r in found for c in r] == [("choice", "3:8"), ("missing", "3:13")]
    assert found[0][0][2] == "each"


def test_y6_consuming():
    found = example("y6")
    assert [c[0] for r in found for c in r] == ["choice", "missing"]
    assert found[0][0][1:] == (f"1:{CONSUMING.index('consuming') + 1}", "")


def test_y7_a_clause_upstream():
    found = example("y7")
    assert [c[:2] for r in found for c in r] == [("threshold", "1:35"), ("missing", "1:30")]
    assert found[0][0][2] == "Value >= 40"


def test_y8_an_exclusive_bound():
    found = example("y8")
    assert [c[0] for r in found for c in r] == ["window", "missing"]
    assert found[0][0][2] == "10001 msec"
    assert found[1][0][1] == f"1:{Y8.index('Door') + 1}"


def test_y9_a_search_that_is_not_begun_again():
    found = example("y9")
    assert [c[0] for r in found for c in r] == ["restart", "missing"]
    assert found[0][0][1:] == (f"1:{Y9.index('every') + 1}", "every l=Login(ok = 0) -> p=Pay(user = l.user)")
    assert found[1][0][1] == f"1:{Y9.index('Pay(') + 1}"


def test_y10_an_absence_until_a_timer():
    found = example("y10")
    assert found == [[("absence", f"1:{Y10.index('not Alive') + 1}", "")]]


def test_y11_a_length():
    found = example("y11")
    assert [c[0] for r in found for c in r] == ["window", "missing"]
    assert found[0][0][2] == "6"
    assert re.search(r'"closes", "time": 3', found[1][0][2])


def test_y12_at_most_every():
    assert example("y12") == [[("choice", "2:33", "")]]
    rules, language, events, type, question = EXAMPLES["y12"]
    answer = occurs.parse(rules, language).why_not(type, table(events), time_unit="ms", **question)
    assert [c.message for r in answer.reasons for c in r.clauses] == ["fired at 2, within 6 ms"]


def test_y13_a_count():
    assert example("y13") == [[("count", "1:21", "1")]]


#: the nodes of Y14: number, parent, kind, type, time, end, what was found
Y14 = [
    (1, None, "detection", "Fire", 180_000, None, None),
    (2, 1, "event", "Smoke", 180_000, None, None),
    (3, 1, "event", "Temp", 60_000, None, None),
    (4, 1, "clause", "Temp", 60_000, None, '"hall"'),
    (5, 1, "clause", "Temp", 60_000, None, "50"),
    (6, 1, "clause", "Temp", 60_000, None, "2 min"),
    (7, 1, "absence", "Rain", 60_001, 180_000, "1"),
]
Y14_EVENTS = "Temp@1m(Area='hall',Value=50) Rain@2m(Area='attic') Smoke@3m(Area='hall')"


def derivation(events: Any) -> Any:
    """Why the detection of Y14 exists."""
    program = occurs.parse(FIRE, name="fire.tesla")
    row = program.detect(table(Y14_EVENTS), time_unit="ms")["Fire"].to_pylist()[0]
    return program.why(row, events, time_unit="ms")


def test_y14_a_derivation():
    answer = derivation(table(Y14_EVENTS))
    assert [(n.node, n.parent, n.kind, n.type, n.time, n.end, n.found) for n in answer.nodes] == Y14
    assert [n.place for n in answer.nodes[3:6]] == ["fire.tesla:3:18", "fire.tesla:3:29", "fire.tesla:3:48"]
    assert [(row["type"], row["time"]) for row in answer.leaves] == [("Temp", 60_000), ("Smoke", 180_000)]


def test_the_command_line_gives_the_same_derivation(tmp_path):
    (tmp_path / "fire.tesla").write_text(FIRE)
    rows = [{n: v for n, v in row.items() if v is not None} for row in table(Y14_EVENTS).to_pylist()]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, rows)))
    given = [str(tmp_path / "fire.tesla"), "--events", str(tmp_path / "events.jsonl"), "--host", "local"]
    out = tmp_path / "answer.jsonl"
    done = CliRunner().invoke(main, ["why", *given, "--type", "Fire", "--time-unit", "ms", "--out", str(out)])
    assert done.exit_code == 0, done.output
    told = [json.loads(line) for line in out.read_text().splitlines()]
    names = ("node", "parent", "kind", "type", "time", "end", "found")
    assert [tuple(row.get(name) for name in names) for row in told] == Y14


@pytest.mark.spark
def test_spark_gives_the_same_derivation(spark):
    answer = derivation(spark.createDataFrame(table(Y14_EVENTS)).repartition(2))
    assert [(n.node, n.parent, n.kind, n.type, n.time, n.end, n.found) for n in answer.nodes] == Y14


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_smaller_limit_gives_the_first_reasons(n):
    events = table("Temp@1m(Area='kitchen',Value=44) Temp@2m(Area='hall',Value=50) Smoke@3m(Area='kitchen')")
    program = occurs.parse(FIRE)
    whole = program.why_not("Fire", events, where={"Area": "kitchen"}, between=180_000, time_unit="ms").reasons
    some = program.why_not("Fire", events, where={"Area": "kitchen"}, between=180_000, limit=n, time_unit="ms").reasons
    assert [r.clauses for r in some] == [r.clauses for r in whole[:n]]


@pytest.mark.share(4)
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_command_line_gives_the_same_reasons(name, tmp_path):
    rules, language, events, type, question = EXAMPLES[name]
    (tmp_path / f"rules.{language}").write_text(rules)
    rows = [{n: v for n, v in row.items() if v is not None} for row in table(events).to_pylist()]
    (tmp_path / "events.jsonl").write_text("\n".join(map(json.dumps, rows)))
    between = question["between"] if isinstance(question["between"], tuple) else [question["between"]] * 2
    options = ["--type", type, "--between", *map(str, between), "--time-unit", "ms"]
    options += [o for n, v in question.get("where", {}).items() for o in ("--where", f"{n}={v}")]
    options += [
        "--language",
        language,
        "--edits",
        str(question.get("edits", 2)),
        "--out",
        str(tmp_path / "answer.json"),
    ]
    given = [str(tmp_path / f"rules.{language}"), "--events", str(tmp_path / "events.jsonl"), "--host", "local"]
    done = CliRunner().invoke(main, ["why-not", *given, *options])
    assert done.exit_code == 0, done.output
    answer = json.loads((tmp_path / "answer.json").read_text())
    told = [[(c["kind"], f"{c['line']}:{c['column']}", c["repair"]) for c in r["clauses"]] for r in answer["reasons"]]
    assert told == example(name)


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("name", EXAMPLES)
def test_spark_gives_the_same_reasons(name, spark):
    rules, language, events, type, question = EXAMPLES[name]
    frame = spark.createDataFrame(table(events).to_pandas()).repartition(2)
    answer = occurs.parse(rules, language).why_not(type, frame, time_unit="ms", **question)
    assert [[c.kind for c in r.clauses] for r in answer.reasons] == [[c[0] for c in r] for r in example(name)]
