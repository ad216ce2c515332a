"""The pipelines of the benchmarks on few events: what they give is what the plain loops give."""

from __future__ import annotations

import pytest
from benchmarks import pipes, pipes_work

import occurs

WORKS = {w.name: w for w in pipes_work.works()}


@pytest.mark.parametrize("name", [n for n in WORKS if n not in ("ltl-bool, open", "ltl-troolean")])
def test_as_the_loops(name):
    work = WORKS[name]
    values = pipes_work.symbols(2_010) if work.symbols else pipes_work.numbers(2_010)
    found = work.pipe.run(values, ended=work.ended)
    found = found.to_pylist() if hasattr(found, "to_pylist") else list(found)
    assert len(found) > 100
    assert found == list(work.loop(values.to_pylist() if work.symbols else values.tolist()))


@pytest.mark.parametrize("name", [n for n in WORKS if n in pipes_work.ESQL])
def test_the_text_says_the_same(name):
    work = WORKS[name]
    values = pipes_work.symbols(2_010) if work.symbols else pipes_work.numbers(2_010)
    found = occurs.parse(pipes_work.ESQL[name], "esql").detect({"X0": pipes_work.table(values)}, ended=work.ended)
    wanted = work.pipe.run(values, ended=work.ended)
    wanted = wanted.to_pylist() if hasattr(wanted, "to_pylist") else list(wanted)
    assert found["Out"].column("value").to_pylist() == [getattr(v, "value", v) for v in wanted]


def test_what_is_open():
    values = pipes_work.symbols(100)
    assert WORKS["ltl-bool, open"].check(WORKS["ltl-bool, open"].pipe.run(values, ended=False))[0] == 0
    work = WORKS["ltl-troolean"]
    assert work.check(work.pipe.run(values, ended=False)) == (100, 100)


def test_the_input_is_that_of_the_specification():
    assert pipes_work.numbers(4).tolist() == [13, 932, 851, 770]
    assert pipes_work.symbols(9).to_pylist() == ["c", "c", "c", "a", "c", "c", "c", "b", "c"]


def test_little_is_kept():
    table = pipes.kept(30_000)
    for row in table.rows:
        name, events, most, wanted = row
        assert events == 30_000
        assert 0 < most <= wanted, name
