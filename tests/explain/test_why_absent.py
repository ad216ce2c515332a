"""What was checked absent in Phenesthe and in the logics, and over which interval (why.md, section 10)."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.explain.test_worked import table

import occurs

LOGIN = "event pay(u string)\nevent login(u string)\npast trigger p: pay and not once[0,5] login"
CALM = """input event closes(K: string), stops(K: string).
event calm(K) : closes(K) and not stops(K)."""


@pytest.mark.parametrize(
    ("rules", "language", "events", "type", "absent", "span", "message"),
    [
        (LOGIN, "ptl", "login@1(u='x') pay@9(u='x')", "p", "login", (4, 9),
         "no once[0,5] login from 4 to 9 (0 others)"),
        (CALM, "phenesthe", "closes@5(K='x') stops@1(K='x') stops@9(K='x')", "calm", "stops", (5, 5),
         "no stops(K) at 5 (0 others)"),
    ],
)  # fmt: skip
def test_the_interval_of_an_absence_is_exact(rules, language, events, type, absent, span, message):
    program, given = occurs.parse(rules, language), table(events)
    row = program.detect(given, time_unit="ms")[type].to_pylist()[0]
    nodes = program.why({"type": type, **row}, given, time_unit="ms").nodes
    found = [(n.type, n.time, n.end, n.message) for n in nodes if n.kind == "absence"]
    assert found == [(absent, *span, message)]
    name = next(n for n in given.column_names if n not in ("type", "time"))
    for time in range(1, 10):
        more = pa.concat_tables([given, pa.table({"type": [absent], "time": [time], name: ["x"]})])
        rows = program.detect(more, time_unit="ms")[type].to_pylist()
        assert (row in rows) == (not span[0] <= time <= span[1])


def test_an_event_of_a_state_is_written_with_its_attributes():
    program, given = occurs.parse(LOGIN, "ptl"), table("login@1(u='x') pay@9(u='x')")
    row = program.detect(given, time_unit="ms")["p"].to_pylist()[0]
    assert '  state  9  pay(u = "x")' in str(program.why({"type": "p", **row}, given, time_unit="ms")).split("\n")
