"""EPL in this process: text cases through the whole host, cut, and event by event; labels, constituents, records."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner
from eplcases import all_cases, right
from tests.laws.epl import Subject
from tests.textcases.epl import EplCase, flat

import occurs
from occurs.cli import main
from occurs.engine.engine import Engine
from occurs.hosts.local import calls, history_rows
from occurs.model.elements import path_of
from occurs.program import Program
from occurs.testing.cases import parse_events
from occurs.verify.compare import difference, occurrences_of

CASES = right(all_cases())
WRONG = [c for c in all_cases() if c.error is not None]


def in_calls(case: EplCase, budget: int) -> list[Any]:
    """The detections of a case in calls of about ``budget`` rows."""
    subject = Subject(case)
    if subject.clock is None:
        return []
    engine = Engine(subject.stage)
    done = []
    for frontier, part in calls(history_rows(subject.stage, subject.history, False), subject.clock[1], budget):
        done.append(engine.advance(part, frontier, subject.clock[0]))
    return flat([e for d in done for e in occurrences_of({t: d.table(t) for t in subject.stage.reported})])


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("budget", [2, 10**6])
def test_case(case: EplCase, budget: int) -> None:
    assert difference(case.expected or (), in_calls(case, budget)) is None


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_what_is_wrong_is_refused(case: EplCase) -> None:
    with pytest.raises(occurs.OccursError) as caught:
        in_calls(case, 10**6)
    assert caught.value.kind == case.error


@pytest.mark.share(4)
@pytest.mark.parametrize("case", [c for c in CASES if c.start is None and c.until is None], ids=str)
def test_one_by_one_is_the_same_as_at_once(case: EplCase) -> None:
    subject = Subject(case)
    live = subject.live(labelled=False)
    rows = list(case.events)
    random.Random(case.name).shuffle(rows)
    found: list[dict[str, Any]] = []
    for e in sorted(rows, key=lambda e: e.time):
        schema = subject.history.schemas[e.type]
        plain = [n for n in schema.names if path_of(n) is None]
        attributes = {n: v for n, v in e.attributes.items() if isinstance(v, list | dict)}
        attributes |= {n: _pushed(e.attributes.get(n), schema[n].value) for n in plain}
        found += live.on_event(e.type, e.time, attributes, e.sequence)
    found += live.close()
    empty = Engine(subject.stage).advance({}, 0)
    tables = {}
    for t in subject.stage.reported:
        mine = [r for r in found if r["type"] == t]
        tables[t] = pa.Table.from_pylist(mine, schema=empty.table(t).schema)
    assert difference(case.expected or (), flat(occurrences_of(tables))) is None


def _pushed(value: Any, kind: str) -> Any:
    if value is None:
        return None
    if kind == "timestamp":
        return pa.scalar(int(value), pa.timestamp("us", tz="UTC")).as_py()
    return float(value) if kind == "float" else value


# -- labels, constituents, records -------------------------------------------------------------------------------------
SCHEMAS = "create schema A(k string, v int); create schema B(k string, v int); create schema C(k string);\n"
EVENTS = "A@1000(k='p',v=1) A@2000(k='q',v=2) B@2000(k='p',v=3) B@4000(k='q',v=4) C@9000(k='p')"


def found_in(query: str, events: str = EVENTS, **options: Any) -> list[dict[str, Any]]:
    program = occurs.parse(SCHEMAS + query, language="epl")
    case = EplCase("", "", tuple(parse_events(events)))
    found = program.detect(case.tables(), time_unit="ms", **options)
    (name,) = found
    return found[name].to_pylist()


def test_constituents_are_all_events_of_the_pattern_in_its_order() -> None:
    query = "insert into P select b.v as v from pattern [every ([2] a=A -> b=B -> C)]"
    (row,) = found_in(query, because=True)
    assert [(p["role"], p["type"], p["time"]) for p in row["because"]] == [
        ("a[0]", "A", 1000), ("a[1]", "A", 2000), ("b", "B", 2000), ("#3", "C", 9000),
    ]  # fmt: skip
    assert all(len(p["label"]) == 32 for p in row["because"])


def test_a_timer_is_a_constituent_and_part_of_the_label() -> None:
    query = "insert into P select a.k as k from pattern [every a=A -> (timer:interval(1 sec) and not B(k=a.k))]"
    rows = found_in(query, because=True)
    # the timer is due before the row of its time
    assert [(r["time"], r["k"]) for r in rows] == [(2000, "p"), (3000, "q")]
    assert [(p["role"], p["type"], p["time"], p["label"]) for p in rows[-1]["because"][1:]] == [
        ("timer", "timer", 3000, None), ("not B", "B", 2001, None),
    ]  # fmt: skip
    assert rows[-1]["because"][2]["end"] == 2999


def test_labels_tell_equal_detections_apart_and_are_the_same_in_any_order_of_the_rows() -> None:
    query = "insert into P select a.k as k from pattern [every a=A -> b=B(k=a.k)]"
    twice = "A@1(k='p',v=1)*2 B@2(k='p',v=1)*2"
    labels = [r["label"] for r in found_in(query, twice, with_label=True)]
    assert len(set(labels)) == 2
    turned = " ".join(reversed(EVENTS.split()))
    assert found_in(query, with_label=True) == found_in(query, turned, with_label=True)


def test_whole_events_are_records(tmp_path: Path) -> None:
    query = "insert into P select a, b, b.v as v from pattern [every (a=A until b=B)]"
    rows = found_in(query)
    assert [(r["a"], r["b"], r["v"]) for r in rows] == [
        ([{"k": "p", "v": 1}, {"k": "q", "v": 2}], {"k": "p", "v": 3}, 3), (None, {"k": "q", "v": 4}, 4),
    ]  # fmt: skip
    rules, events, out = tmp_path / "rules.epl", tmp_path / "events.csv", tmp_path / "out.csv"
    rules.write_text(SCHEMAS + query)
    events.write_text("type,time,k,v\nA,1,p,1\nA,2,q,2\nB,2,p,3\n")
    args = ["run", str(rules), "--events", str(events), "--time-unit", "s", "--host", "local", "--out", str(out)]
    assert CliRunner().invoke(main, args).exit_code == 0
    assert out.read_text().splitlines()[1] == (
        'P,2,"[{""k"": ""p"", ""v"": 1}, {""k"": ""q"", ""v"": 2}]","{""k"": ""p"", ""v"": 3}",3'
    )


def test_records_are_not_read_by_other_definitions() -> None:
    wrong = SCHEMAS + "insert into P select * from pattern [every a=A]; insert into Q select p.a.k as x from P as p"
    with pytest.raises(occurs.OccursError):
        occurs.parse(wrong, language="epl")
    texts = [(SCHEMAS + "insert into P select a.k as k, a from pattern [every a=A]", None, "epl")]
    fine = Program([*texts, ("define T(k: string) from P() as p where k := p.k", None, "tesla")])
    table = pa.table({"time": [1], "k": ["x"], "v": [1]})
    assert fine.detect({"A": table}, time_unit="s")["T"].to_pylist() == [{"type": "T", "time": 1, "k": "x"}]
    with pytest.raises(occurs.DefinitionProblem):
        Program([*texts, ("define T(k: string) from P() as p where k := p.a", None, "tesla")])


# -- commands ----------------------------------------------------------------------------------------------------------
def test_commands(tmp_path: Path) -> None:
    rules, events = tmp_path / "pairs.epl", tmp_path / "events.csv"
    rules.write_text(SCHEMAS + "insert into P select a.v as v, b.v as w from pattern [every a=A -> b=B(k=a.k)];")
    events.write_text("type,time,k,v\nA,1,p,1\nB,2,p,3\nC,5,p,\n")
    given = [str(rules), "--events", str(events), "--time-unit", "s"]
    run = CliRunner().invoke(main, ["run", *given, "--host", "local", "--out", str(tmp_path / "out.jsonl")])
    assert run.exit_code == 0, run.output
    assert (tmp_path / "out.jsonl").read_text() == '{"type": "P", "time": 2, "v": 1, "w": 3}\n'
    assert "unbounded-state" in CliRunner().invoke(main, ["check", *given]).output
    explained = CliRunner().invoke(main, ["explain", *given])
    assert "partitioned by key (A by k; B by k)" in explained.output
    assert "a: until the pattern is complete, any number of partial matches [unbounded]" in explained.output
    verified = CliRunner().invoke(main, ["verify", *given])
    assert verified.exit_code == 0, verified.output
    assert "agree" in verified.output
