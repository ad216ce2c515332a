"""What many calls found, put together: as in one call, whether definitions ran together or not."""

from __future__ import annotations

import pytest
from examples.maritime.ais import maritime

import occurs
from occurs.engine.calls import Calls
from occurs.hosts.local import run_history
from occurs.model.history import InputOptions

TOGETHER = """
input event stop_start(vessel), stop_end(vessel), entersPort(vessel, area), leavesPort(vessel, area).
state stopped(V) : stop_start(V) ~> stop_end(V).
state in_port(V, P) : entersPort(V, P) ~> leavesPort(V, P).
state moored(V, P) : stopped(V) ⊓ in_port(V, P).
event left(V, P) : end(moored(V, P)).
dynamic stay(P, V) : start(moored(V, P)) before end(in_port(V, P)).
"""
#: what has an operator of its own does not run with the others
APART = TOGETHER + "event port(P) : left(V, P)."


@pytest.mark.share(4)
@pytest.mark.parametrize("text", [TOGETHER, APART], ids=["together", "apart"])
@pytest.mark.parametrize("zone", [False, True], ids=["seconds", "timestamps"])
def test_calls_are_put_together(text: str, zone: bool) -> None:
    made = maritime(12, 2.0, seed=3, every=600)
    program = occurs.parse(text, language="phenesthe")
    names = ("stop_start", "stop_end", "entersPort", "leavesPort")
    tables = {t: made[t] for t in names}
    if not zone:
        tables = {t: table.set_column(0, "time", table["time"].cast("int64")) for t, table in tables.items()}
    history = program.checked.history(tables, InputOptions(time_unit=None if zone else "us"))
    stage = program.checked.plan(history.schemas, history.kind)
    one = Calls(stage, run_history(stage, history))
    for budget in (5, 60, 10_000):
        done = run_history(stage, history, budget=budget)
        many = Calls(stage, done)
        for type in stage.reported:
            assert many.count(type) == one.count(type) > 0
            assert many.table(type).equals(one.table(type)), (type, budget)
        labelled = Calls(stage, run_history(stage, history, budget=budget, labelled=True))
        assert labelled.table("stay", label=True).drop_columns("label").equals(one.table("stay"))
