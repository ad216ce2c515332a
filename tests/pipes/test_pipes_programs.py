"""Pipes of Python as programs: over tables here, as events of other languages read them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import occurs
from occurs import pipes
from occurs.errors import DefinitionProblem
from occurs.pipes import fn, ltl

EVENTS = {"X0": pa.table({"time": pa.array(range(9), pa.int64()), "v": [7, 1, 2, 4, 3, 0, 5, 9, 6]})}


def rows(found, name):
    return [tuple(r.values())[1:] for r in found[name].to_pylist()]


def test_a_program_of_pipes():
    x = pipes.source("X0").v
    program = pipes.program(
        (x + x.decimate(4)).named("Out"),
        ltl.F(x > 6).named("High", about=True),
        x.slice(fn("$0 MOD 2"), lambda p: p.cumulate(fn.add)).named("Sums"),
        pipes.select({"twice": fn("$0 * 2"), "v": fn("$0")}, from_=x.last()),
    )
    found = program.detect(EVENTS, time_unit="s", until=20)
    assert list(found) == ["Out", "High", "Sums", "Result"]
    assert rows(found, "Out") == [(0, 14), (4, 4), (8, 8)]
    assert rows(found, "High") == [(0, True, 0), *((7, True, i) for i in range(1, 8))]
    assert rows(found, "Sums")[:3] == [(0, [(1, 7)]), (1, [(1, 8)]), (2, [(1, 8), (0, 2)])]
    assert found["Result"].to_pylist() == [{"type": "Result", "time": 20, "twice": 12, "v": 6}]


def test_it_gives_what_the_same_text_gives():
    x = pipes.source("X0").v
    program = pipes.program((x.window(3, lambda p: p.cumulate(fn.maximum)) - x).named("Out"))
    text = "LET x BE X0.v. DEFINE Out AS (GET (THE MAXIMUM OF *) FROM x ON A WINDOW OF 3) - x."
    expected = occurs.parse(text, language="esql").detect(EVENTS, time_unit="s")["Out"]
    assert program.detect(EVENTS, time_unit="s")["Out"].equals(expected)
    assert expected.num_rows == 7


def test_an_open_history():
    x = pipes.source("X0").v
    program = pipes.program(x.last().named("Last"), ltl.G(x >= 0).at_end("finite").named("All"))
    assert [t.num_rows for t in program.detect(EVENTS, time_unit="s", ended=False).values()] == [0, 0]
    assert [t.num_rows for t in program.detect(EVENTS, time_unit="s").values()] == [1, 9]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda: pipes.source("X0").w, "unknown-attribute"),
        (lambda: pipes.source("X0", type=int) + 1, "type-mismatch"),
        (lambda: pipes.source("X0", type={"v": str}).v, "type-mismatch"),
        (lambda: pipes.source("X5").v, "unknown-name"),
        (lambda: pipes.source("X0").v & True, "type-mismatch"),
        (lambda: pipes.select({"time": fn("v")}, from_=pipes.source("X0")), "reserved-name"),
    ],
)
def test_what_the_data_show(make, kind):
    with pytest.raises(DefinitionProblem) as problem:
        pipes.program(make()).detect(EVENTS, time_unit="s")
    assert problem.value.kind == kind


def test_names():
    x = pipes.source("X0").v
    with pytest.raises(DefinitionProblem, match="two pipes have no name"):
        pipes.program(x, x + 1)
    with pytest.raises(DefinitionProblem, match="`Out` is defined twice"):
        pipes.program(x.named("Out"), (x + 1).named("Out"))
