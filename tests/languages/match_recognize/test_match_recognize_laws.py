"""The laws on random row patterns; ``python -m tests.laws match_recognize N`` runs more."""

from __future__ import annotations

import random

import pytest
from tests.generators.random_match_recognize import random_rows, rows_by
from tests.laws.match_recognize import all_laws
from tests.textcases.match_recognize import reference

from occurs.errors import OccursError


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", [*range(12), 1298, 1314, 1350, 1364, 5131, 5266, 6741])
def test_laws(seed: int) -> None:
    all_laws(random_rows(random.Random(seed)), random.Random(seed))


@pytest.mark.parametrize("seed", [3, 7, 11, 15])
def test_laws_where_measures_wait(seed: int) -> None:
    all_laws(rows_by(seed), random.Random(seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 400))
def test_many_laws(seed: int) -> None:
    all_laws(rows_by(seed), random.Random(seed))


def test_random_programs_are_valid_and_find_something() -> None:
    found, kinds = 0, set()
    for seed in range(80):
        case = random_rows(random.Random(seed))
        try:
            found += bool(reference(case))
        except OccursError as error:
            kinds.add(error.kind)
    assert found > 25
    assert kinds <= {"bad-skip", "overflow"}
