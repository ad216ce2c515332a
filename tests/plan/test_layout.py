"""How a stage lays its definitions out: which run in one operator, and in which order."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from occurs.engine.engine import Engine
from occurs.hosts.local import calls, history_rows
from occurs.model.history import InputOptions
from occurs.operators.interval.operator import Connected
from occurs.program import Program
from occurs.verify.reference import expected

RULES = "define Met(V) from begun(V = $v) and last c(V = $v) within 6 from begun where V = $v"
INTERVALS = """
input event a(V), b(V), c(V).
state p(V) : a(V) ~> b(V).
event begun(V) : start(p(V)).
event both(V) : begun(V) and Met(V).
event late(V) : end(p(V)) and not Met(V).
"""
#: two definitions read their own family and a rule that reads their family
PROGRAM = Program([(RULES, None, "tesla"), (INTERVALS, None, "phenesthe")])


def tables(seed: int) -> dict[str, pa.Table]:
    rng = random.Random(seed)
    return {
        t: pa.table({"time": sorted(rng.choices(range(30), k=14)), "V": rng.choices(range(3), k=14)}) for t in "abc"
    }


def test_a_family_behind_rules_runs_its_own_definitions_again() -> None:
    history = PROGRAM.checked.history(tables(0), InputOptions())
    stage = PROGRAM.checked.plan(history.schemas, history.kind)
    first, second = [o for o in stage.operators if isinstance(o, Connected)]
    assert [f.type for f in first.formulas] == ["p", "begun"]
    assert [(f.type, f.out is not None) for f in second.formulas] == [
        ("p", False),
        ("begun", False),
        ("both", True),
        ("late", True),
    ]
    assert [out.type for o in stage.operators for out in o.outs] == ["p", "begun", "Met", "both", "late"]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1000, 3])
def test_it_answers_as_the_references_do(seed: int, size: int) -> None:
    history = PROGRAM.checked.history(tables(seed), InputOptions())
    stage = PROGRAM.checked.plan(history.schemas, history.kind)
    assert history.clock is not None
    start, until = history.clock
    engine, found = Engine(stage), []
    for frontier, part in calls(history_rows(stage, history, labelled=False), until, size):
        done = engine.advance(part, frontier, start, closing=frontier == until)
        found += [(t, r["time"], r["V"]) for t in stage.reported for r in done.table(t).to_pylist()]
        engine = Engine.restore(stage, engine.save())
    wanted = [(e.type, e.time, e.attributes["V"]) for e in expected(PROGRAM.checked, history)]
    assert sorted(found) == sorted(wanted)
    assert len(wanted) > 10
