"""All laws on every text case, and on random programs: 500 in CI, fewer otherwise."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.amount import amount, some
from tests.generators.random_tesla import random_program
from tests.laws.contract import all_laws
from tests.laws.thresholds import as_if_large

from occurs.testing.cases import Case, load_cases

FOLDER = Path(__file__).parents[2] / "cases" / "tesla"
CASES = [c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path) if c.error is None]
PROGRAMS = amount(30, 150)


@pytest.mark.share(8)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_laws_on_text_cases(case: Case) -> None:
    all_laws(case, random.Random(case.name))


@pytest.mark.parametrize("block", some(range(10), 3))
def test_laws_on_random_programs(block: int) -> None:
    for seed in range(block * PROGRAMS // 10, (block + 1) * PROGRAMS // 10):
        case = random_program(random.Random(seed))
        try:
            with as_if_large(seed):
                all_laws(case, random.Random(seed))
        except AssertionError as error:
            raise AssertionError(f"seed {seed}:\n{case.rules}\n{case.events}\n{error}") from error


#: random programs that once were wrong, as they were made then; each is called by its seed
FOUND = load_cases(FOLDER / "found" / "programs.md")


@pytest.mark.share(4)
@pytest.mark.parametrize("case", FOUND, ids=lambda c: c.name)
def test_laws_on_programs_that_were_wrong(case: Case) -> None:
    seed = int(case.name.removeprefix("seed "))
    with as_if_large(seed):
        all_laws(case, random.Random(seed))
