"""Kernels over blocks, against loops: keys of bindings, what lags behind for a row."""

from __future__ import annotations

import random

import numpy as np
import pytest

from occurs.operators.interval.signals import ANY, OPEN, Lag, Lags
from occurs.operators.kernels import blocks as kernels

NAMES = ("A", "B", "C")


def column(rng: random.Random, n: int) -> np.ndarray:
    return np.array(rng.choices(rng.choice(([0, 1], [-1, 0, 7, 1 << 40], [5, OPEN, -OPEN])), k=n), np.int64)


def random_lags(rng: random.Random, variables: tuple[str, ...]) -> list[Lag]:
    out = []
    for _ in range(rng.randint(0, 3)):
        names, n = tuple(v for v in variables if rng.random() < 0.6), rng.choice((0, 1, 6))
        starts, ends = (np.array(rng.choices((3, 9, OPEN), k=n), np.int64) for _ in range(2))
        out.append(Lag(names, tuple(column(rng, n) for _ in names), starts, ends))
    return out


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_equal_where_their_keys_are(seed: int) -> None:
    rng = random.Random(seed)
    width, n = rng.randint(0, 3), rng.choice((0, 1, 30))
    block = np.array([column(rng, n) for _ in range(width + 1)], np.int64)
    key, rows = kernels.keys(block, width).tolist(), list(zip(*block[:width].tolist())) or [()] * n
    assert len(key) == n
    assert all((key[i] == key[j]) == (rows[i] == rows[j]) for i in range(n) for j in range(n))


@pytest.mark.parametrize("seed", range(80))
def test_what_lags_for_a_row(seed: int) -> None:
    rng = random.Random(seed)
    variables = tuple(v for v in NAMES if rng.random() < 0.7)
    mine = tuple(v for v in NAMES if rng.random() < 0.7)
    given = random_lags(rng, variables)
    lags, n = Lags.of(variables, given), rng.choice((0, 1, 8))
    rows = np.array([column(rng, n) for _ in range(len(mine) + 2)], np.int64)
    to = np.array([mine.index(v) if v in mine else -1 for v in variables], np.int64)

    def agreeing(row: int) -> list[tuple[int, int]]:
        """(starts, ends) of all rows of the lags that agree."""
        return [
            (start, end)
            for lag in given
            for at, (start, end) in enumerate(zip(lag.starts.tolist(), lag.ends.tolist()))
            if all(c[at] == rows[mine.index(v), row] for v, c in zip(lag.variables, lag.codes) if v in mine)
        ]

    for which in range(2):
        found = kernels.least(7, lags.block, lags.cuts, which, rows, to).tolist()
        assert found == [min([7, *(lag[which] for lag in agreeing(i))]) for i in range(n)]
    limit = np.array(rng.choices((3, 4, 10), k=n), np.int64)
    row, late, parts = kernels.late_for(lags.block, lags.cuts, rows, limit, to)
    wanted = [(i, end) for i in range(n) for _, end in agreeing(i) if end < limit[i]]
    assert sorted(zip(row.tolist(), lags.block[-1, late].tolist())) == sorted(wanted)
    assert (
        [len(p) for p in np.split(late, parts[1:-1])] == np.diff(parts).tolist() if len(lags) else parts.tolist() == [0]
    )


@pytest.mark.parametrize("seed", range(20))
def test_lags_are_the_same_in_one_block(seed: int) -> None:
    rng = random.Random(seed)
    given = [lag for lag in random_lags(rng, NAMES) if len(lag.starts)]
    lags = Lags.of(NAMES, given)
    assert Lags.of(NAMES, lags) is lags
    assert (lags.block[:3] == ANY).any() == any(len(lag.variables) < 3 for lag in given)

    def told(lag: Lag) -> object:
        return lag.variables, [c.tolist() for c in lag.codes], lag.starts.tolist(), lag.ends.tolist()

    assert [told(lag) for lag in lags] == [told(lag) for lag in given]
