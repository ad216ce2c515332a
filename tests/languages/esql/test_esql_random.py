"""Random graphs of pipes as text: what is read and built means what the graph meant."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from tests.generators.random_pipes import PROCESSORS, random_pipe, random_pipes
from tests.textcases.pipes import difference, reference, rows

from occurs.languages.esql.checks import definitions
from occurs.model.types import Schema, Type

EVENT = Schema((("v", Type.INT), ("f", Type.FLOAT), ("b", Type.BOOL), ("k", Type.STRING)))
#: those that have no text
SILENT = {"smooth", "dead_time", "travel_rise", "persist", "noise"}


def compare(case):
    built = definitions(case.rules, None, {"X0": EVENT, "X1": EVENT})
    assert difference(rows(reference(replace(case, given=built))), rows(reference(case))) is None, case.rules


@pytest.mark.parametrize("processor", [p for p in PROCESSORS if p not in SILENT])
def test_the_text_of_a_processor_means_the_same(processor):
    cases = [random_pipe(random.Random(f"text {processor} {seed}"), processor=processor) for seed in range(8)]
    written = [c for c in cases if c.rules]
    assert written
    for case in written:
        compare(case)


@pytest.mark.parametrize("seed", range(12))
def test_the_text_of_a_program_means_the_same(seed):
    rng = random.Random(f"program text {seed}")
    compare(next(c for c in iter(lambda: random_pipes(rng), None) if c.rules))
