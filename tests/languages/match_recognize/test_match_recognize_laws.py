"""The laws of operators on random row patterns."""

from __future__ import annotations

import random

import pytest
from tests.generators.random_match_recognize import random_rows
from tests.laws.match_recognize import all_laws


@pytest.mark.parametrize("seed", range(25))
def test_laws(seed: int) -> None:
    all_laws(random_rows(random.Random(seed)), random.Random(seed))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_laws_on_many(first: int) -> None:
    for seed in range(first, first + 50):
        all_laws(random_rows(random.Random(seed)), random.Random(seed))
