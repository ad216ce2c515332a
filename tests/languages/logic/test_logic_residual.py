"""What the monitors keep, on the paper's own runs (its sections 3.3 and 4.3)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.laws.logic_monitors import (
    DONE,
    LAST,
    NOW,
    Kept,
    Monitor,
    Pending,
    Several,
    combined,
    combined_past,
    negated,
    parts_of,
    satisfied,
)
from tests.textcases.logic import LogicCase, run_of

from occurs.expr.reference import OVERFLOW
from occurs.model.occurrence import Occurrence

OVERLOAD = "trigger m: eventually [t <- time][x <- a] eventually (a >= 2x and time <= t + 10)"
PAST_OVERLOAD = "past trigger m: [t <- time][x <- a] previously (a <= .5x and time >= t - 10)"


def watched(rule: str, *values: tuple[int, int]) -> Monitor:
    """The monitor after states of (value, time)."""
    rows = tuple(Occurrence("s", time, {"a": a}) for a, time in values)
    run = run_of(LogicCase("run", f"state s(a int) {rule}", rows))
    (instance,) = run.instances()
    monitor = Monitor(instance, run.catalogue, run.kind)
    for state in instance.states:
        monitor.advance(state)
    return monitor


def remembered(monitor: Monitor) -> list[dict[str, Any]]:
    """The values of the variables of what is pending."""
    return [dict(p.rho) for p in parts_of(monitor.future.residual) if isinstance(p, Pending)]


def test_the_requirements_of_overload() -> None:
    monitor = watched(OVERLOAD, (10, 1), (15, 2), (18, 5))
    assert remembered(monitor) == [{"t": 1, "x": 10}, {"t": 2, "x": 15}, {"t": 5, "x": 18}, {}]
    assert not monitor.fired
    assert watched(OVERLOAD, (10, 1), (15, 2), (18, 5), (25, 8)).fired


def test_what_is_too_old_is_dropped() -> None:
    assert remembered(watched(OVERLOAD, (10, 1), (15, 2), (18, 5), (11, 20))) == [{"t": 20, "x": 11}, {}]
    # at the last moment nothing later can be in time
    assert remembered(watched(OVERLOAD, (10, 1), (11, 10))) == [{"t": 1, "x": 10}, {"t": 10, "x": 11}, {}]
    assert remembered(watched(OVERLOAD, (10, 1), (11, 11))) == [{"t": 11, "x": 11}, {}]


def test_equal_obligations_are_one() -> None:
    rule = "trigger m: eventually [x <- a] eventually a > x"
    assert remembered(watched(rule, (7, 1), (7, 2), (7, 3), (6, 4))) == [{"x": 7}, {"x": 6}, {}]


@pytest.mark.parametrize(("last", "kept"), [((18, 5), 6), ((18, 11), 4), ((11, 20), 2)])
def test_the_formulas_of_past_overload(last: tuple[int, int], kept: int) -> None:
    """Two comparisons for every state that still counts."""
    assert watched(PAST_OVERLOAD, (10, 1), (15, 2), last).size == kept


def test_past_overload_fires() -> None:
    assert watched(PAST_OVERLOAD, (10, 1), (15, 2), (18, 5), (25, 8)).fired
    assert not watched(PAST_OVERLOAD, (10, 1), (15, 2), (18, 5), (11, 20)).fired


def test_residuals_are_simplified() -> None:
    p, q = (Pending(f, True, ()) for f in (run_formula("a > 1"), run_formula("a > 2")))
    assert combined("and", [DONE, p]) == p
    assert combined("and", [p, False]) is False
    assert combined("or", [False, p, p]) == p
    assert combined("or", [False]) is False
    assert combined("and", []) == DONE
    assert combined("and", [p, Several("and", (q, p))]) == Several("and", (p, q))
    assert combined("or", [DONE, p]) == Several("or", (DONE, p))


def run_formula(text: str) -> Any:
    return watched(f"trigger m: eventually {text}").trigger.formula


@pytest.mark.parametrize(
    ("residual", "expected"),
    [
        (NOW, (True, True)), (LAST, (True, True)), (DONE, (True, False)), (False, (False, False)),
        (Several("and", (DONE, NOW)), (True, True)), (Several("or", (DONE, NOW)), (True, True)),
        (Several("or", (DONE, False)), (True, False)), (Several("and", (NOW, False)), (False, False)),
        (Several("and", (Several("or", (DONE, LAST)), DONE)), (True, True)),
    ],
)  # fmt: skip
def test_satisfied_and_new(residual: Any, expected: tuple[bool, bool]) -> None:
    assert satisfied(residual, False) == expected


def test_formulas_of_the_past_are_simplified() -> None:
    one, two = (Kept(run_formula(f"a > {n}"), frozenset("x")) for n in (1, 2))
    assert combined_past("and", [True, one]) == one
    assert combined_past("or", [one, True]) is True
    assert combined_past("and", [one, False]) is False
    assert combined_past("or", []) is False
    assert combined_past("and", [OVERFLOW, False]) is False
    assert combined_past("or", [OVERFLOW, False]) == OVERFLOW
    assert negated(negated(one)) == one
    both = combined_past("and", [one, OVERFLOW, combined_past("and", [two, one])])
    assert combined_past("and", [both, True]) == both
    assert combined_past("and", [both, False]) is False
