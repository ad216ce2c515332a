"""What is said of values that a program in eSQL cannot take, and of types and durations that do not fit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import occurs
from occurs.errors import Problem
from occurs.model.time import TimeKind


def problem_of(text: str, values: list[Any], **options: Any) -> Problem:
    """The first problem of a program over events of X0."""
    table = pa.table({"time": range(len(values)), "v": values})
    with pytest.raises(occurs.OccursError) as found:
        occurs.parse(text, "esql", name="rules.esql").detect({"X0": table}, **options)
    return found.value.first


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("LET x BE X0.v.\nDEFINE Out AS x + 1.", [5, 2**63 - 1], "item 1 of Lift: an integer does not fit in 64"),
        ("LET x BE X0.v.\nDEFINE Out AS THE SUM OF x.", [5, 2**63 - 1], "item 1 of Cumulate: 9223372036854775807 m"),
        ("LET x BE X0.v.\nDEFINE Out AS THE JSON OF x.", ["1", "{"], "item 1 of Json: '{' is not accepted as JSON"),
        ("LET x BE X0.v.\nDEFINE Out AS REPEAT x BY x.", [5, -1], "item 1 of RepeatBy: -1 is not a valid number"),
    ],
)
def test_a_value_that_cannot_be_taken(text, values, said):
    p = problem_of(text, values)
    assert p.message.startswith(f"`Out`: {said}")
    assert (p.file, p.line, p.definition, p.row) == ("rules.esql", 2, "Out", 1)
    assert p.source == text.splitlines()[1]
    assert p.value in (values[1], {"v": values[1]})


def test_a_null_key_of_a_map_has_no_place_in_a_table():
    p = problem_of("DEFINE Out AS THE MAP OF X0.v TO X0.v.", [1, None])
    assert (p.kind, p.definition) == ("bad-value", "Out")


@pytest.mark.parametrize(
    ("text", "unit", "kind"),
    [
        ("DEFINE Out AS EVERY 1.5 s OF X0.v.", "s", "bad-duration"),
        ("DEFINE Out AS EVERY 1.5 ticks OF X0.v.", None, "bad-duration"),
        ("DEFINE Out AS EVERY 1 s OF X0.v.", None, "missing-unit"),
        ("DEFINE Out AS SLICE X0 WITH (GET (THE COUNT OF *) FROM * ON A WINDOW OF 1 s) ON v.", None, "missing-unit"),
    ],
)
def test_durations_that_have_no_meaning(text, unit, kind):
    p = problem_of(text, [1], time_unit=unit)
    assert (p.kind, p.file, p.line) == (kind, "rules.esql", 1)


def test_a_window_that_is_not_whole_is_compared_exactly():
    table = pa.table({"time": [0, 1, 2], "v": [1, 2, 3]})
    program = occurs.parse("DEFINE Out AS GET (THE SUM OF *) FROM X0.v ON A WINDOW OF 1.5 s.", "esql")
    assert [r["value"] for r in program.detect({"X0": table}, time_unit="s")["Out"].to_pylist()] == [1, 3, 5]
    assert "inexact-duration" in {p.kind for p in program.check(kind=TimeKind(False, "s"))}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("(TRIM 1 OF X0.v) * X0.v", "cannot connect output 0 (text) of Trim to input 0 (number) of Lift"),
        ("FILTER X0.v WITH X0.v", "cannot connect output 0 (text) of Lift to input 1 (bool) of Filter"),
        ("XPATH '//a' ON X0.v", "cannot connect output 0 (text) of Lift to input 0 (xml) of Lift"),
        ("THE HISTOGRAM OF X0.v", "output 0 (text) of Lift to input 0 (a collection of numbers) of Plot"),
        ("(TRIM 1 OF X0.v) WHERE $0", "cannot connect output 0 (text) of Trim to input 0 (bool) of Where"),
    ],
)
def test_types_that_do_not_fit_name_both_processors(text, said):
    p = problem_of(f"DEFINE Out AS {text}.", ["a"])
    assert (p.kind, p.line) == ("type-mismatch", 1)
    assert said in p.message
