"""Rows in the order of several numbers, against Python's sort."""

from __future__ import annotations

import random

import numpy as np
import pytest

from occurs.operators.merging import ordered

LEAST, OPEN = -(2**63), 2**63 - 1
SCALES = ([0, 1, 2], [5, 9, OPEN], [OPEN], [LEAST, 0, OPEN], [-3, 10**9], [2**61, 2**62], list(range(40)))


@pytest.mark.parametrize("seed", range(120))
def test_rows_in_order(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.choice((0, 1, 2, 30))
    keys = [np.array(rng.choices(rng.choice(SCALES), k=n), np.int64) for _ in range(rng.randint(1, 4))]
    rows = list(zip(*(k.tolist() for k in keys)))
    by, tied = ordered(keys)
    found = [rows[i] for i in by.tolist()]
    assert sorted(by.tolist()) == list(range(n))
    assert found == sorted(rows)
    assert tied.tolist() == [rows.count(row) > 1 for row in found]
