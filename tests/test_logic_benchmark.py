"""The triggers of the benchmarks on few rows: what they find is what the script finds."""

from __future__ import annotations

import importlib.util

import pytest
from benchmarks import logic, logic_work
from tests.textcases.logic import LogicCase


@pytest.mark.long
def test_overload_finds_what_the_script_finds() -> None:
    table = logic.overload(30_000, 1)
    rows = [dict(zip((name for name, _ in table.columns), row)) for row in table.rows]
    assert [(r["trigger"], r["strategy"]) for r in rows[:4]] == [("future", s) for s in logic_work.STRATEGIES]
    firings = [r["firings"] for r in rows]
    assert firings[0] == firings[4] > firings[2] > firings[3] > 100
    assert firings[1] == firings[5]
    assert all(r["detect"] > 0 and r["operator"] > 0 for r in rows)


def test_another_answer_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logic_work, "by_hand", lambda *_: (7, 7))
    with pytest.raises(AssertionError, match="not 7"):
        logic.overload(1000, 1)


# the parser that rtamt comes with imports what Python will drop
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_growth_and_rates() -> None:
    (row,) = logic.growth(2000, 1, ["3 OVERLOAD"]).rows
    assert 0 < row[-1] <= row[-2] + 20
    peer = logic.peer(2000, 1)
    there = importlib.util.find_spec("rtamt") is not None
    assert all((row[3] is not None) is there for row in peer.rows)


def test_only_forms_over_columns_are_measured_as_such() -> None:
    for formula in logic_work.BOUNDED.values():
        text = logic_work.trigger(formula, c=10)
        assert logic.Prepared.of(text, "s", logic_work.states(50)).vectorised
    assert LogicCase("rules", logic_work.rules("continue", count=3), ()).analysis.problems == []
