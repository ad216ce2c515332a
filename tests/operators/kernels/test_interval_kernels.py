"""Kernels over rows with a group and a tick, against loops; groups and ticks also at the ends of int64."""

from __future__ import annotations

import random

import numpy as np
import pytest

from occurs.operators.interval.bindings import joint
from occurs.operators.interval.signals import NEVER, OPEN
from occurs.operators.kernels import intervals as kernels

SCALES = ([0, 1, 2, 3], [-2, 0, 7, 1 << 40], [NEVER, -1, 0, OPEN], [OPEN - 2, OPEN - 1, OPEN])


def column(rng: random.Random, n: int) -> np.ndarray:
    """Few different numbers; now and then such as may not be written to, or not side by side."""
    made = np.array(rng.choices(rng.choice(SCALES), k=2 * n), np.int64)
    made.flags.writeable = rng.random() < 0.5
    return made[::2] if rng.random() < 0.3 else made[:n]


@pytest.mark.parametrize("seed", range(60))
def test_rows_found_and_compared(seed: int) -> None:
    rng = random.Random(seed)
    n, m = rng.choice((0, 1, 5, 40)), rng.choice((0, 1, 9, 40))
    group, others, ticks = column(rng, n), column(rng, m), column(rng, m)
    assert kernels.member(group, others).tolist() == [g in others.tolist() for g in group.tolist()]
    out = np.array(rng.choices((NEVER, 0, OPEN), k=n), np.int64)
    least = [min([o, *(t for g, t in zip(others, ticks) if g == mine)]) for mine, o in zip(group, out.tolist())]
    kernels.lower(out, group, others, ticks)
    assert out.tolist() == least
    assert kernels.extremes(ticks) == ((min(ticks), max(ticks)) if m else (0, -1))
    assert kernels.ascending(ticks) == (ticks.tolist() == sorted(ticks.tolist()))


@pytest.mark.parametrize("seed", range(60))
def test_rows_to_which_another_is_preferable(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.choice((0, 1, 6, 30))
    rows = sorted(zip(*(column(rng, n).tolist() for _ in range(2))))
    group, start = (np.array([r[k] for r in rows], np.int64) for k in range(2))
    end = column(rng, n)
    found = kernels.dominated(group, start, end).tolist()
    for i in range(n):
        better = [
            j
            for j in range(n)
            if group[j] == group[i]
            and start[j] >= start[i]
            and (end[j] < end[i] or (end[j] == end[i] and (start[j] > start[i] or (start[j] == start[i] and j < i))))
        ]
        assert found[i] == bool(better)


@pytest.mark.parametrize("seed", range(60))
def test_bindings_as_single_numbers(seed: int) -> None:
    rng = random.Random(seed)
    width = rng.randint(0, 4)
    sizes = [rng.choice((0, 1, 7)) for _ in range(rng.randint(1, 4))]
    sides = [(tuple(column(rng, n) for _ in range(width)), n) for n in sizes]
    numbers = joint(sides)
    assert [len(k) for k in numbers] == sizes
    bindings = [b for codes, n in sides for b in (zip(*(c.tolist() for c in codes)) if width else [()] * n)]
    pairs = set(zip(bindings, np.concatenate(numbers).tolist()))
    assert len(pairs) == len({b for b, _ in pairs}) == len({k for _, k in pairs})
