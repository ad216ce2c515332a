"""All laws on every text case of EPL, and on random programs: more in CI."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.amount import amount, some
from tests.generators.random_epl import random_core, random_epl
from tests.laws.epl import all_laws
from tests.laws.thresholds import as_if_large
from tests.textcases.epl import EplCase, load_cases

FOLDER = Path(__file__).parents[2] / "cases" / "epl"
CASES = [c for c in load_cases(FOLDER) if c.error is None]
PROGRAMS = amount(10, 60)
BLOCKS = 5


@pytest.mark.share(8)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_laws_on_text_cases(case: EplCase) -> None:
    all_laws(case, random.Random(case.name))


def tried(seed: int, core: bool) -> None:
    case = (random_core if core else random_epl)(random.Random(seed))
    try:
        with as_if_large(seed):
            all_laws(case, random.Random(seed))
    except AssertionError as error:
        raise AssertionError(f"seed {seed}:\n{case.rules}\n{case.events}\n{error}") from error


@pytest.mark.parametrize("core", [True, False], ids=["core", "all operators"])
@pytest.mark.parametrize("block", some(range(BLOCKS), BLOCKS // 2))
def test_laws_on_random_programs(block: int, core: bool) -> None:
    for seed in range(block * PROGRAMS // BLOCKS, (block + 1) * PROGRAMS // BLOCKS):
        tried(seed, core)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("core", "programs"), [(True, 20_000), (False, 5_000)], ids=["core", "all operators"])
def test_laws_on_thousands_of_programs(core: bool, programs: int) -> None:
    for seed in range(1000, 1000 + programs):
        tried(seed, core)
