"""Exact sums, deviations and medians over ranges against fractions."""

from __future__ import annotations

import math
import random
import statistics
from fractions import Fraction

import numpy as np
import pytest

from occurs.model.types import Type
from occurs.operators.aggregates import Moments, Ordered
from occurs.operators.columns import Column
from occurs.operators.kernels.range_aggregates import (
    BLOCK,
    block_extremes,
    distinct,
    extremes,
    kth,
    prefix_sums,
    wavelet,
)

KINDS = ("decimals", "wide", "whole", "tiny", "huge", "cancelling", "infinite", "ints", "big ints")


def values(kind: str, n: int, rng: random.Random) -> list[float]:
    match kind:
        case "decimals":
            return [round(rng.uniform(-1000, 1000), 2) for _ in range(n)]
        case "wide":
            return [rng.choice((-1, 1)) * 10.0 ** rng.uniform(-280, 280) for _ in range(n)]
        case "whole":
            return [float(rng.randint(-(2**53), 2**53)) for _ in range(n)]
        case "tiny":
            return [rng.randint(-9, 9) * 5e-324 * 2.0 ** rng.randint(0, 60) for _ in range(n)]
        case "huge":
            return [rng.choice((-1.7e308, 1.7e308, 1.0, 5e-324)) for _ in range(n)]
        case "cancelling":
            return [rng.choice((1e16, -1e16, 1.0, 0.1, -0.0)) for _ in range(n)]
        case "infinite":
            return [rng.choice((1.5, 2.5, math.inf, -math.inf) if rng.random() < 0.2 else (0.1, 0.2)) for _ in range(n)]
        case "ints":
            return [rng.randint(-1000, 1000) for _ in range(n)]
        case _:
            return [rng.randint(-(2**63), 2**63 - 1) for _ in range(n)]


def exact_sum(some: list[float]) -> float:
    infinite = [v for v in some if math.isinf(v)]
    if infinite:
        return sum(infinite)
    total = sum((Fraction(v) for v in some), Fraction(0))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


def exact_deviation(some: list[float]) -> float:
    if len(some) < 2 or any(math.isinf(v) for v in some):
        return math.nan
    exact = [Fraction(v) for v in some]
    centre = sum(exact) / len(exact)
    variance = sum((v - centre) ** 2 for v in exact) / (len(exact) - 1)
    try:
        return math.sqrt(variance)
    except OverflowError:
        return math.inf


def same(a: float, b: float, tolerance: float = 0.0) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [2, 40])
def test_sums_and_deviations(kind: str, width: int) -> None:
    rng = random.Random(f"{kind} {width}")
    for _ in range(4):
        n = rng.randint(1, 120)
        raw = values(kind, n, rng)
        valid = np.array([rng.random() < 0.9 for _ in range(n)])
        ints = "ints" in kind
        array = np.array(raw, np.int64 if ints else np.float64)
        moments = Moments(Column(Type.INT if ints else Type.FLOAT, array, valid), valid)
        lo = np.array([rng.randint(0, n) for _ in range(50)])
        hi = np.minimum(n, lo + np.array([rng.randint(0, width) for _ in range(50)]))
        inside = [[v for v, ok in zip(raw[a:b], valid[a:b]) if ok] for a, b in zip(lo, hi)]
        count = np.array([len(x) for x in inside])
        if not ints:
            sums = moments.sums(lo, hi)
            assert all(same(a, exact_sum(b)) for a, b in zip(sums.tolist(), inside)), kind
        spreads = moments.deviations(lo, hi, count)
        wrong = [(a, b) for a, b in zip(spreads.tolist(), map(exact_deviation, inside)) if not same(a, b, 1e-15)]
        # beyond the square root of the least normal double precision is lost, whoever computes it
        assert not [w for w in wrong if not (w[1] < 1e-150 and math.isclose(*w, rel_tol=1e-2, abs_tol=1e-161))], kind


def test_a_deviation_is_the_same_with_limbs_and_with_fractions() -> None:
    rng = random.Random(5)
    raw = np.array([rng.choice((1e-3, 1.0, 3.3, 1e40)) * rng.random() for _ in range(60)])
    valid = np.ones(60, np.bool_)
    moments = Moments(Column(Type.FLOAT, raw, None), valid)
    lo, hi = np.arange(50), np.arange(50) + 10
    by_limbs = moments.deviations(lo, hi, hi - lo)
    by_fractions = [moments._deviation(a, b, 10) for a, b in zip(lo.tolist(), hi.tolist())]
    assert by_limbs.tolist() == by_fractions


def test_the_kth_smallest_of_ranges() -> None:
    rng = random.Random(3)
    for n, most in ((1, 1), (63, 5), (64, 64), (200, 3), (500, 400)):
        ranks = np.array([rng.randrange(most) for _ in range(n)])
        matrix = wavelet(ranks, max(1, most.bit_length()))
        lo = np.array([rng.randint(0, n) for _ in range(80)])
        hi = np.array([rng.randint(a, n) for a in lo])
        k = np.array([rng.randint(-1, max(0, b - a)) for a, b in zip(lo, hi)])
        expected = [sorted(ranks[a:b])[j] if 0 <= j < b - a else -1 for a, b, j in zip(lo, hi, k)]
        assert kth(*matrix, lo, hi, k).tolist() == expected


def test_the_middle_of_a_column_with_nulls() -> None:
    rng = random.Random(4)
    raw = np.array([rng.choice((1.5, 2.0, 7.25, 9.0)) for _ in range(300)])
    valid = np.array([rng.random() < 0.8 for _ in range(300)])
    column = Column(Type.FLOAT, raw, valid)
    lo, hi = np.zeros(300, np.int64), np.arange(1, 301)
    before = prefix_sums(valid.astype(np.int64))
    count = before[hi] - before[lo]
    left, right = Ordered(column).ranked(lo, hi, (count - 1) // 2, count // 2)
    for a, b, m, n in zip(lo, hi, left, right):
        some = [v for v, ok in zip(raw[a:b], valid[a:b]) if ok]
        assert (m < 0) == (not some)
        if some:
            assert (raw[m] + raw[n]) / 2 == statistics.median(some)


def test_the_different_values_of_ranges() -> None:
    rng = random.Random(5)
    for n, most in ((0, 1), (1, 1), (63, 5), (200, 3), (500, 400)):
        ranks = np.array([rng.randint(-1, most) for _ in range(n)], np.int64)
        lo = np.array([rng.randint(0, n) for _ in range(80)])
        hi = np.array([rng.randint(a, n) for a in lo])
        expected = [len(set(ranks[a:b].tolist()) - {-1}) for a, b in zip(lo, hi)]
        assert distinct(ranks, lo, hi).tolist() == expected


def test_the_extremes_of_ranges() -> None:
    rng = random.Random(6)
    for n in (1, 15, 16, 17, 100, 700):
        ranks = np.array([rng.choice((-1, *range(9))) for _ in range(n)])
        lo = np.array([rng.randint(0, n) for _ in range(200)])
        hi = np.array([rng.randint(a, n) for a in lo])
        levels = max(1, (n // BLOCK).bit_length())
        for least in (True, False):
            got = extremes(*block_extremes(ranks, levels, least), ranks, lo, hi, least)
            for a, b, at in zip(lo, hi, got):
                some = [(r if least else -r, i) for i, r in enumerate(ranks[a:b], a) if r >= 0]
                assert at == (min(some)[1] if some else -1)
