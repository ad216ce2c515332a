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


@pytest.mark.parametrize(
    ("rules", "values", "expected"),
    [
        ("v = 4 and not (once[0,1] v > 8)", [1, 2, 4], """
  state  2  v = 2
    ✓ not once: v = 2, not > 8
  state  3  v = 4
    ✓ v = 4
    ✓ not once: v = 4, not > 8"""),
        ("v = 4 and (v = 4 implies lasttime v = 2)", [1, 2, 4], """
  state  2  v = 2
    ✓ lasttime: v = 2
  state  3  v = 4
    ✓ v = 4"""),
        ("v > 4 implies lasttime v = 2", [3], """
  state  1  v = 3
    ✓ v = 3, not > 4"""),
        # the state between is not read, and is none of the two states before
        ("v = 4 and lasttime lasttime v = 1", [1, 2, 4], """
  state  1  v = 1
    ✓ lasttime lasttime: v = 1
  state  3  v = 4
    ✓ v = 4"""),
        # the states that are listed are no neighbours
        ("(lasttime v = 1 and v > 3) or (v = 4 and once v = 1)", [1, 2, 4], """
  state  1  v = 1
    ✓ once: v = 1
  state  3  v = 4
    ✓ v = 4"""),
        ("v = 4 and not (v > 8 since v = 9)", [1, 2, 4], """
  state  3  v = 4
    ✓ v = 4
    ✓ not since: v = 4, not = 9
    ✓ not since: v = 4, not > 8"""),
    ],
)  # fmt: skip
def test_conditions_below_a_negation_are_followed_back(rules, values, expected):
    assert derivation(f"past trigger p: {rules}", "ptl", values) == expected.split("\n")[1:]


@pytest.mark.parametrize(
    ("rules", "values", "expected"),
    [
        ("(v = 3 release v > 0) and eventually v = 0", [1, 3, 0], """
  state  1  v = 1
    ✓ release: v = 1 > 0
  state  2  v = 3
    ✓ release: v = 3 > 0
    ✓ release: v = 3
  state  3  v = 0
    ✓ eventually: v = 0"""),
        ("v = 1 and nexttime not (v > 5 until v = 4)", [1, 2, 4], """
  state  1  v = 1
    ✓ v = 1
  state  2  v = 2
    ✓ nexttime not until: v = 2, not = 4
    ✓ nexttime not until: v = 2, not > 5"""),
        ("(v > 0 weak until v = 0) and eventually v = 0", [1, 3, 0], """
  state  1  v = 1
    ✓ weak until: v = 1 > 0
  state  2  v = 3
    ✓ weak until: v = 3 > 0
  state  3  v = 0
    ✓ weak until: v = 0
    ✓ eventually: v = 0"""),
    ],
)  # fmt: skip
def test_conditions_below_a_negation_are_followed_ahead(rules, values, expected):
    assert derivation(f"trigger p: {rules}", "ftl", values) == expected.split("\n")[1:]


def test_a_query_is_a_condition_of_its_state():
    rules = "state s(v int);\ntable T(k int key);\npast trigger p: v = 2 and not exists (select k from T where k > 5);"
    program = occurs.parse(rules, "ptl")
    events = {"s": pa.table({"time": [1, 2], "v": [1, 2]}), "T": pa.table({"time": [1], "k": [3]})}
    row = program.detect(events, time_unit="s")["p"].to_pylist()[0]
    answer = program.why({"type": "p", **row}, events, time_unit="s")
    told = [(n.message, n.time, n.place, n.found, n.needed) for n in answer.nodes if n.kind == "clause"]
    query = ("not: exists (select k from T where k > 5)", 2, "rules:3:31", "false", "false")
    assert told == [("v = 2", 2, "rules:3:17", "2", "= 2"), query]
