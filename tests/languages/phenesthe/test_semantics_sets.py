"""The reference semantics of Phenesthe on random sets, against the same meaning told in another way."""

from __future__ import annotations

import random
from collections.abc import Iterable

from occurs.languages.phenesthe.semantics import intervals
from occurs.languages.phenesthe.semantics.intervals import INFINITY, Interval

ROUNDS = 300
#: later than all that is drawn
FAR = 100


def instants(rng: random.Random) -> set[int]:
    return {rng.randrange(20) for _ in range(rng.randrange(9))}


def some(rng: random.Random) -> set[Interval]:
    """Any intervals, as of a dynamic."""
    found: set[Interval] = set()
    for _ in range(rng.randrange(6)):
        start = rng.randrange(20)
        found.add((start, INFINITY if rng.random() < 0.15 else start + rng.randrange(1, 8)))
    return found


def disjoint(rng: random.Random) -> set[Interval]:
    """Intervals that share no point, as of a state; neighbours are frequent."""
    found: set[Interval] = set()
    at = rng.randrange(4)
    while at < 20:
        end = at + rng.randrange(1, 6)
        found.add((at, INFINITY if rng.random() < 0.1 else end))
        if (at, INFINITY) in found:
            break
        at = end + rng.randrange(1, 4)
    return found


def bounded(x: Interval) -> tuple[int, int]:
    return x[0], FAR if x[1] == INFINITY else int(x[1])


def runs(points: Iterable[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive points."""
    found: list[tuple[int, int]] = []
    for p in sorted(points):
        if found and found[-1][1] == p - 1:
            found[-1] = (found[-1][0], p)
        else:
            found.append((p, p))
    return found


def test_the_maximal_range_is_a_scan() -> None:
    rng = random.Random(1)
    for _ in range(ROUNDS):
        opening, closing = instants(rng), instants(rng)
        found: set[Interval] = set()
        since = None
        for t in range(20):
            if t in opening:
                since = t if since is None else since
            elif t in closing and since is not None:
                found.add((since, t))
                since = None
        if since is not None:
            found.add((since, INFINITY))
        assert intervals.maximal_range(opening, closing) == found


def test_the_minimal_range_is_a_scan() -> None:
    rng = random.Random(2)
    for _ in range(ROUNDS):
        opening, closing = instants(rng), instants(rng)
        found, latest = set(), None
        for t in range(20):
            if t in opening:
                latest = t
            elif t in closing:
                found |= set() if latest is None else {(latest, t)}
                latest = None
        assert intervals.minimal_range(opening, closing) == found


def test_union_covers_the_same_points_of_the_line() -> None:
    """Counted in half ticks, so that neighbours have a gap between them."""
    rng = random.Random(3)
    for _ in range(ROUNDS):
        given = some(rng)
        points = {p for x in map(bounded, given) for p in range(2 * x[0], 2 * x[1] + 1)}
        expected = {(a // 2, b // 2) for a, b in runs(points)}
        assert {bounded(x) for x in intervals.coalesced(given)} == expected


def test_intersection_and_complement_in_ticks() -> None:
    rng = random.Random(4)
    for _ in range(ROUNDS):
        left, right = disjoint(rng), disjoint(rng)
        common, rest = set(), set()
        for x in map(bounded, left):
            mine = set(range(x[0], x[1] + 1))
            for y in map(bounded, right):
                common |= {r for r in runs(mine & set(range(y[0], y[1] + 1))) if r[0] < r[1]}
            cut = {t for y in map(bounded, right) for t in range(y[0], y[1] + 1)}
            rest |= {r for r in runs(mine - cut) if r[0] < r[1]}
        assert {bounded(x) for x in intervals.intersection(left, right)} == common
        assert {bounded(x) for x in intervals.complement(left, right)} == rest


def test_before_joins_the_latest_end_with_the_earliest_start() -> None:
    """For every start of ψ: the greatest end of φ below it, if no other ψ starts between; with all ties."""
    rng = random.Random(5)
    holding = 0
    for _ in range(ROUNDS):
        left, right = some(rng), some(rng)
        found = set()
        for start in {y[0] for y in right}:
            end = max((x[1] for x in left if x[1] < start), default=None)
            if end is not None and not any(end < y[0] < start for y in right):
                found |= {(x[0], y[1]) for x in left for y in right if x[1] == end and y[0] == start}
        assert intervals.related("before", left, right) == found
        holding += len(found)
    assert holding > 100


def test_every_relation_holds_sometimes_and_gives_intervals() -> None:
    rng = random.Random(6)
    seen = dict.fromkeys([*intervals.RELATIONS, *intervals.CONVERSES], 0)
    for _ in range(ROUNDS):
        left, right = some(rng), some(rng)
        for rel in seen:
            found = intervals.related(rel, left, right)
            assert all(start < end for start, end in found)
            seen[rel] += len(found)
    assert min(seen.values()) > 5
