"""The laws on random programs, each with its history: meaning, cutting, restart, splitting, forgetting."""

from __future__ import annotations

import random

import pytest
from engine_runs import Engine, key
from tests.amount import some
from tests.generators.random_phenesthe import random_program
from tests.generators.random_phenesthe_shrink import text_of
from tests.laws.phenesthe import all_laws
from tests.textcases.phenesthe import Loaded

from occurs.errors import OccursError


def check(seed: int) -> None:
    case = random_program(random.Random(seed))
    try:
        by = key(Engine(Loaded(case)).definitions)
    except OccursError:
        by = None  # an answer as any other
    try:
        all_laws(case, Engine, random.Random(seed), by)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}\n{text_of(case)}\n{error}") from error


@pytest.mark.share(4)
@pytest.mark.parametrize("tens", range(3))
def test_random_programs(tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("part", some(range(20), 3))
def test_many_random_programs(part: int) -> None:
    for seed in range(100 + 25 * part, 125 + 25 * part):
        check(seed)
