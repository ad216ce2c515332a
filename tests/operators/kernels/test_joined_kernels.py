"""Kernels of definitions that run together, against loops: ranges over rows, rows in their order with their values."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from numba import typed, types
from tests.amount import first

from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.interval.signals import OPEN
from occurs.operators.interval.values import Texts
from occurs.operators.kernels.range_scan import ranged
from occurs.operators.kernels.reporting import NUMBER, TEXT, reported


def marks(rng: random.Random, width: int, n: int, last: int) -> list[tuple[int, ...]]:
    """(codes, time) in the order of time, after ``last``."""
    times = sorted(rng.choices(range(last + 1, last + 9), k=n))
    return [(*(rng.randint(0, 2) for _ in range(width)), t) for t in times]


def columns(rows: list[tuple[int, ...]], width: int) -> list[int]:
    return [row[k] for k in range(width + 1) for row in rows]


@pytest.mark.parametrize("seed", range(120))
def test_ranges_over_rows(seed: int) -> None:
    rng = random.Random(seed)
    width = rng.choice((0, 1, 1, 2))
    table, size, open = np.empty((width + 1, rng.choice((0, 4))), np.int64), 0, {}
    for call in range(4):
        last = 10 * call
        phi, psi = marks(rng, width, rng.choice((0, 3, 9)), last), marks(rng, width, rng.choice((0, 3, 9)), last)
        ended, began = [], []
        before = dict(open)
        for time in range(last + 1, last + 9):
            starts = {m[:-1] for m in phi if m[-1] == time}
            for key in {m[:-1] for m in psi if m[-1] == time} - starts:
                if key in open:
                    ended.append((*key, open.pop(key), time))
            for key in starts:
                open.setdefault(key, time)
        began = [row for row in ended if row[-2] > last]
        began += [(*key, start, OPEN) for key, start in open.items() if start > last]
        given = np.array([0, *columns(phi, width), *columns(psi, width)], np.int64)
        at = 1 + (width + 1) * len(phi)
        table, size, closed, new, changed = ranged(table, size, given, 1, len(phi), at, len(psi))
        assert sorted(zip(*closed.tolist())) == sorted(ended)
        assert sorted(zip(*new.tolist())) == sorted(began)
        assert sorted(zip(*table[:, :size].tolist())) == sorted((*key, start) for key, start in open.items())
        assert changed == (open != before)


@pytest.mark.parametrize("seed", first(range(60), 15))
def test_rows_in_order(seed: int) -> None:
    rng = random.Random(seed)
    words = ["", "a", "ab", "b", "é", "z"]
    rng.shuffle(words)
    texts, numbers = Texts(), [7, -3, 5, 10**12]
    texts.encode(Column.of(pa.array(words), Type.STRING))
    blocks, heads, lasting, wanted = typed.List.empty_list(types.int64[:, ::1]), [], [], []
    for k in range(3):
        n, kinds = rng.choice((0, 1, 7, 60)), rng.choices((NUMBER, TEXT), k=rng.randint(0, 3))
        codes = [[rng.randrange(len(numbers) if kind == NUMBER else len(words)) for _ in range(n)] for kind in kinds]
        start, long = rng.choices(range(4), k=n), rng.random() < 0.7
        end = [s + rng.randint(1, 3) if long else s for s in start]
        blocks.append(np.array([*codes, start, end], np.int64).reshape(len(kinds) + 2, n))
        order = rng.sample(range(len(kinds)), len(kinds))
        heads += [(k, row, kinds[row]) for row in order]
        lasting.append(int(long))
        values = [[numbers[c] if kinds[row] == NUMBER else words[c] for c in codes[row]] for row in order]
        wanted.append((long, [kinds[row] for row in order], sorted(zip(start, end, *values))))
    found, text, counts = reported(
        blocks, np.arange(3), np.array(heads, np.int64).reshape(-1, 3), np.array(lasting, np.int64),
        np.array(numbers, np.int64), texts.ends, texts.store,
    )  # fmt: skip
    at = told = 0
    for (long, kinds, rows), n in zip(wanted, counts.tolist()):
        assert n == len(rows)
        for place in (0, 1) if long else (0,):
            assert found[at : at + n].tolist() == [row[place] for row in rows]
            at += n
        for place, kind in enumerate(kinds, 2):
            column = [row[place] for row in rows]
            if kind == NUMBER:
                assert found[at : at + n].tolist() == column
                at += n
            else:
                assert [words[c] for c in text[told : told + n].tolist()] == column
                told += n
    assert (at, told) == (len(found), len(text))
