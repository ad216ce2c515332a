"""What is said of values that a program in eSQL cannot take, and of types and durations that do not fit."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import occurs
from occurs.errors import Problem


def problem_of(text: str, values: list[Any], **options: Any) -> Problem:
    """The first problem of a program over events of X0."""
    with pytest.raises(occurs.OccursError) as found:
        program = occurs.parse(text, "esql", name="rules.esql")
        program.detect({"X0": pa.table({"time": range(len(values)), "v": values})}, **options)
    return found.value.first


@pytest.mark.parametrize(
    "text, values, said",
    [
        ("LET x BE X0.v.\nDEFINE Out AS x + 1.", [5, 2**63 - 1], "item 1 of Lift: an integer does not fit into 64 bits"),
        ("LET x BE X0.v.\nDEFINE Out AS THE SUM OF x.", [5, 2**63 - 1], "item 1 of Cumulate: 9223372036854775807 does"),
        ("LET x BE X0.v.\nDEFINE Out AS THE JSON OF x.", ["1", "{"], "item 1 of Json: '{' is no JSON"),
        ("LET x BE X0.v.\nDEFINE Out AS REPEAT x BY x.", [5, -1], "item 1 of RepeatBy: -1 is no number of times"),
    ],
)
def test_a_value_that_cannot_be_taken(text, values, said):
    p = problem_of(text, values)
    assert p.message.startswith(f"`Out`: {said}")
    assert (p.file, p.line, p.definition, p.row) == ("rules.esql", 2, "Out", 1)
    assert p.source == text.splitlines()[1]
    assert p.value in (values[1], {"v": values[1]})
