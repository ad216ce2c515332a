"""Kernels that number keys and follow marks through time, against loops; also at the ends of int64."""

from __future__ import annotations

import random

import numpy as np
import pytest

from occurs.operators.interval.signals import NEVER, OPEN
from occurs.operators.kernels import intervals as kernels
from occurs.operators.kernels.allen import concerned
from occurs.operators.kernels.intervals import in_groups
from occurs.operators.kernels.range_scan import first_marks, stretches

SCALES = ([0, 1, 2, 3], [-2, 0, 7, 1 << 40], [NEVER, -1, 0, OPEN], [OPEN - 2, OPEN - 1, OPEN])


def column(rng: random.Random, n: int, values: list[int] | None = None) -> np.ndarray:
    made = np.array(rng.choices(values or rng.choice(SCALES), k=2 * n), np.int64)
    made.flags.writeable = rng.random() < 0.5
    return made[::2] if rng.random() < 0.3 else made[:n]


@pytest.mark.parametrize("seed", range(60))
def test_numbers_of_keys(seed: int) -> None:
    rng = random.Random(seed)
    keys, others = column(rng, rng.choice((0, 1, 5, 40))), column(rng, 20)
    found, known = kernels.index(keys), dict[int, int]()
    for key in keys.tolist():
        known.setdefault(key, len(known))
    assert found[3] == len(known)
    for key in (*keys.tolist(), *others.tolist(), NEVER, OPEN):
        assert kernels.number(found, key) == known.get(key, -1)
    assert kernels.numbers_of(found, others).tolist() == [known.get(key, -1) for key in others.tolist()]


@pytest.mark.parametrize("seed", range(60))
def test_marks_that_come_again(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.choice((0, 1, 5, 40))
    key, time = column(rng, n), np.sort(column(rng, n))
    marks = list(zip(key.tolist(), time.tolist()))
    first, again = first_marks(key, time)
    assert first.tolist() == [m not in marks[:i] for i, m in enumerate(marks)]
    assert again == n - len(set(marks))


@pytest.mark.parametrize("seed", range(200))
def test_stretches(seed: int) -> None:
    rng = random.Random(seed)
    keys = sorted(set(rng.choice(SCALES)))
    head_of = {k: k if seed % 2 else rng.choice((0, 5, OPEN)) for k in keys}
    heads = sorted({*head_of.values(), -7})
    held = rng.sample(keys, rng.randrange(len(keys) + 1))
    start = [rng.randrange(-5, 1) for _ in held]
    n, m, latest = rng.choice((0, 3, 12)), rng.choice((0, 3, 12)), rng.random() < 0.5
    key, time = column(rng, n, keys), np.sort(column(rng, n, list(range(1, 9))))
    stop, stop_time = column(rng, m, heads), np.sort(column(rng, m, list(range(1, 9))))

    open = {k: i for i, k in enumerate(held)}
    ended = []
    for t in range(1, 9):
        now = {k: len(held) + i for i, (k, at) in enumerate(zip(key.tolist(), time.tolist())) if at == t}
        for i in range(n - 1, -1, -1):
            if time[i] == t and not latest:
                now[int(key[i])] = len(held) + i  # the first of them
        open = {**open, **now} if latest else {**now, **open}
        for k in list(open):
            if k not in now and (head_of[k], t) in zip(stop.tolist(), stop_time.tolist()):
                ended.append((open.pop(k), t))
    got = [
        part.tolist()
        for part in stretches(
            np.array(held, np.int64), np.array([head_of[k] for k in held], np.int64), np.array(start, np.int64),
            key, np.array([head_of[k] for k in key.tolist()], np.int64), time, stop, stop_time, latest,
        )
    ]  # fmt: skip
    assert sorted(zip(got[0], got[1])) == sorted(ended)
    began = [e for e in ended if e[0] >= len(held)] + [(i, OPEN) for i in open.values() if i >= len(held)]
    assert sorted(zip(got[2], got[3])) == sorted(began)
    assert sorted(got[4]) == sorted(open.values())


@pytest.mark.parametrize("seed", range(60))
def test_rows_in_groups(seed: int) -> None:
    rng = random.Random(seed)
    n, m = rng.choice((0, 1, 9, 200)), rng.choice((0, 1, 9))
    group, tick, keys = column(rng, n), column(rng, n), column(rng, m)
    order, start = in_groups(group, tick, kernels.index(keys))
    rows = []
    for k, key in enumerate(dict.fromkeys(keys.tolist())):
        assert start[k] == len(rows)
        rows += sorted((i for i in range(n) if group[i] == key), key=lambda i: tick[i])
    assert start[-1:].tolist() in ([], [len(rows)])
    assert order.tolist() == rows


@pytest.mark.parametrize("seed", range(60))
def test_rows_that_a_call_is_about(seed: int) -> None:
    rng = random.Random(seed)
    n = rng.choice((0, 1, 9, 60))
    group, key, keys = column(rng, n), column(rng, n), column(rng, rng.choice((0, 3)))
    kept = rng.randrange(n + 1)
    waits = np.array(rng.choices((0, 1), (5, 1), k=kept), np.int64)
    groups = {g for i, g in enumerate(group.tolist()) if i >= kept or waits[i]}
    found = concerned(group, key, kept, waits, keys).tolist()
    assert found == [i for i in range(n) if group[i] in groups or key[i] in keys.tolist()]
