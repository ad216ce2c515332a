"""How the rows of a frequent key, or of all, may be divided: by time where that can be cut, else by rules."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.generators import random_epl, random_logic, random_match_recognize, random_tesla
from tests.laws import epl, logic, match_recognize
from tests.laws.contract import Subject, dividing, slicing


def tesla(seed: int) -> Subject:
    return Subject(random_tesla.random_program(random.Random(seed)))


def epl_patterns(seed: int) -> Subject:
    return epl.Subject(random_epl.random_epl(random.Random(seed)))


def triggers(seed: int) -> Subject:
    return logic.Subject(random_logic.random_logic(random.Random(seed)))


def row_patterns(seed: int) -> Subject:
    return match_recognize.RowSubject(random_match_recognize.rows_by(seed))


def test_slices_of_time() -> None:
    """TESLA rules, with a key and without; temporal triggers have a test of their own."""
    assert sum(slicing(tesla(seed), random.Random(seed)) for seed in range(40)) > 15


@pytest.mark.parametrize(("subject", "least"), [(tesla, 1), (epl_patterns, 1), (triggers, 1), (row_patterns, 1)])
def test_rules_apart(subject: Callable[[int], Subject], least: int) -> None:
    assert sum(dividing(subject(seed)) for seed in range(40)) >= least
