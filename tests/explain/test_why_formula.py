"""Why a trigger fired: every condition stands below the state at which it was read (why.md, section 10)."""

from __future__ import annotations

import pyarrow as pa
import pytest

import occurs


def derivation(rules: str, language: str, values: list[int]) -> list[str]:
    """The text of the derivation of the first firing of `p` over states with the values of `v`, from time 1 on."""
    events = pa.table({"time": range(1, len(values) + 1), "v": values})
    program = occurs.parse(rules, language)
    row = program.detect(events, time_unit="s")["p"].to_pylist()[0]
    return str(program.why({"type": "p", **row}, events, time_unit="s")).split("\n")[2:]


@pytest.mark.parametrize(
    ("rules", "values", "expected"),
    [
        ("v >= 3 and lasttime (v >= 2 and lasttime v >= 1)", [1, 2, 5], """
  state  1  v = 1
    ✓ lasttime lasttime: v = 1 >= 1
  state  2  v = 2
    ✓ lasttime: v = 2 >= 2
  state  3  v = 5
    ✓ v = 5 >= 3"""),
        ("v >= 3 and once[0,4] (v <= 2 and previously v = 1)", [1, 2, 5], """
  state  1  v = 1
    ✓ once previously: v = 1
  state  2  v = 2
    ✓ once: 1 s, [0,4]
    ✓ once: v = 2 <= 2
  state  3  v = 5
    ✓ v = 5 >= 3"""),
        ("[x := v] (v > 4 and once[0,5] v < x - 2)", [1, 2, 5], """
  state  2  v = 2
    ✓ once: 1 s, [0,5]
    ✓ once: v = 2 < x - 2 = 3
  state  3  v = 5
    ✓ v = 5 > 4
  ✓ x = 5, remembered at 3"""),
        ("v = 4 and (v > 1 since[0,9] v = 1)", [1, 2, 4], """
  state  1  v = 1
    ✓ since: 2 s, [0,9]
    ✓ since: v = 1
  state  2  v = 2
    ✓ since: v = 2 > 1
  state  3  v = 4
    ✓ v = 4
    ✓ since: v = 4 > 1"""),
    ],
)  # fmt: skip
def test_a_formula_that_looks_back_is_followed(rules, values, expected):
    assert derivation(f"past trigger p: {rules}", "ptl", values) == expected.split("\n")[1:]


@pytest.mark.parametrize(
    ("rules", "values", "expected"),
    [
        ("v >= 3 and nexttime (v >= 3 and eventually[0,5] v = 9)", [3, 4, 9], """
  state  1  v = 3
    ✓ v = 3 >= 3
  state  2  v = 4
    ✓ nexttime: v = 4 >= 3
  state  3  v = 9
    ✓ nexttime eventually: 1 s, [0,5]
    ✓ nexttime eventually: v = 9"""),
        ("v > 1 until[0,9] v = 5", [3, 5], """
  state  1  v = 3
    ✓ until: v = 3 > 1
  state  2  v = 5
    ✓ until: 1 s, [0,9]
    ✓ until: v = 5"""),
    ],
)  # fmt: skip
def test_a_formula_that_looks_ahead_is_followed(rules, values, expected):
    assert derivation(f"trigger p: {rules}", "ftl", values) == expected.split("\n")[1:]


def test_only_the_side_of_a_disjunction_that_holds_is_shown():
    assert derivation("past trigger p: v > 9 or v = 2 and lasttime v < 2", "ptl", [1, 2]) == [
        "  state  1  v = 1", "    ✓ lasttime: v = 1 < 2", "  state  2  v = 2", "    ✓ v = 2",
    ]  # fmt: skip


def test_a_condition_over_several_states_is_shown_without_values():
    lines = derivation("past trigger p: v = 3 and avg of v within 9 s > 1", "ptl", [1, 2, 3])
    assert "    ✓ v = 3" in lines
    assert "    ✓ avg of v within 9 s > 1" in lines
