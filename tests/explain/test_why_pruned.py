"""Repairs that cannot work are not run, and the answer is the one of a search that runs them (why.md, section 11)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import occurs
from occurs.explain import search
from occurs.explain.search import Search
from occurs.explain.whynot import Asked

AREAS = ["hall", "attic", "hall", "cellar"]
VISITS = pa.table(
    {
        "type": ["Door", "Alive"] * 6,
        "time": [10 * k for k in range(12)],
        "area": [AREAS[k % 4] for k in range(12)],
        "level": [(7 * k) % 10 for k in range(12)],
    }
)
FOLLOWED = """insert into Visit select d.area as area
from pattern [every d=Door(level > 3) -> a=Alive(area = d.area, level > 5) where timer:within(10 sec)];"""
RESTARTED = """insert into Visit select a.area as area
from pattern [every (d=Door(level = 3) -> a=Alive(area = d.area))];"""
SILENT = """insert into Visit select d.area as area
from pattern [every d=Door(level > 3) -> (timer:interval(10 sec) and not Alive(area = d.area))];"""
TWICE = """define Pair(K) from S(K = $k)
  and last T(K = $k, V > 2) within 4 ms from S
  and each T(K = $k, V > 3) as u within 4 ms from T
where K = $k"""
ROWS = pa.table({"type": ["T", "S", "R"], "time": [2, 5, 5], "K": ["a", "a", "b"], "V": [1, 0, 4]})


def clauses(answer: Any) -> list[list[tuple[str, str, str]]]:
    return [[(c.kind, c.place, c.repair) for c in r.clauses] for r in answer.reasons]


@pytest.mark.parametrize("rules", [FOLLOWED, RESTARTED, SILENT])
@pytest.mark.parametrize("at", [50, 55])
def test_only_rows_that_can_complete_a_match_are_tried(rules, at):
    """The domain has hundreds of rows, of which most cannot matter at an instant, with an event or without one."""
    program = occurs.parse(rules, "epl")
    question = {"where": {"area": "hall"}, "between": at, "time_unit": "s", "edits": 1}
    answer = program.why_not("Visit", VISITS, max_variants=400, **question)
    assert answer.complete


def test_a_match_needs_a_row_at_its_time_and_one_before():
    answer = occurs.parse(FOLLOWED, "epl").why_not(
        "Visit", VISITS, where={"area": "hall"}, between=55, time_unit="s", max_variants=400
    )
    assert answer.complete
    assert [[c[0] for c in r] for r in clauses(answer)] == [["missing", "window"]]
    assert answer.reasons[0].added == {"type": "Alive", "time": 55, "area": "hall", "level": 6}


@pytest.mark.parametrize("rules", [FOLLOWED, RESTARTED, SILENT])
def test_rows_that_no_rule_tells_apart_are_one(rules, monkeypatch):
    program = occurs.parse(rules, "epl")
    few = VISITS.slice(0, 4)
    question = {"where": {"area": "hall"}, "between": 30, "time_unit": "s", "edits": 1, "max_variants": 4000}
    quick = program.why_not("Visit", few, **question)
    for name, value in (("_compared", {}), ("completing", None), ("_bindings", lambda self, sites: 2**62)):
        monkeypatch.setattr(Search, name, value)
    slow = program.why_not("Visit", few, **question)
    assert quick.complete
    assert slow.complete
    assert clauses(quick) == clauses(slow)


@pytest.mark.parametrize("edits", [1, 2])
def test_a_type_that_is_read_twice_gets_its_missing_rows_in_parts(edits, monkeypatch):
    program = occurs.parse(TWICE)
    question = {"between": 5, "time_unit": "ms", "edits": edits}
    whole = program.why_not("Pair", ROWS, **question)
    monkeypatch.setattr(search, "COMBINED_ROWS", 16)
    parts = program.why_not("Pair", ROWS, **question)
    assert clauses(whole) == clauses(parts)
    assert whole.reasons or edits == 1


def test_a_repair_that_fails_when_it_is_run_alone_does_not_count_against_the_limit(monkeypatch):
    program = occurs.parse("define Hot(v) from Temp(Value > 45, Area = 'x') where v = Temp.Value")
    events = pa.table({"type": ["Temp", "Temp"], "time": [10, 10], "Value": [20, 50], "Area": ["x", "y"]})
    question = {"between": 10, "time_unit": "s", "edits": 1}
    kinds = [r.clauses[0].kind for r in program.why_not("Hot", events, **question).reasons]
    assert kinds == ["threshold", "equality", "missing"]
    described = Asked._described

    def fails(self, number, solution):
        return None if solution.sites[0].kind == "threshold" else described(self, number, solution)

    monkeypatch.setattr(Asked, "_described", fails)
    answer = program.why_not("Hot", events, limit=1, **question)
    assert [(r.number, r.clauses[0].kind) for r in answer.reasons] == [(1, "equality")]
    assert not answer.complete
    note = "a change of `Value > 45` is not shown: the changed rules do not detect the row when they run alone"
    assert answer.notes == (note,)
