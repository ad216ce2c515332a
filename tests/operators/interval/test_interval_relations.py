"""Relations between instants and intervals against loops over pairs, however the history is cut."""

from __future__ import annotations

import random

import pytest
from relation_histories import INF, Formula, Run, Tree, continued, flat, random_cuts, rows_of, telling, told

from occurs.operators.interval import relations

UNTIL = 24


@pytest.fixture(autouse=True)
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the histories choose the rows that a call is about, as those with many rows do."""
    if request.node.callspec.params["seed"] % 2:
        monkeypatch.setattr(relations, "FEW", -1)


def check(rng: random.Random, tree: Formula, cuts: list[int]) -> None:
    """One history, cut at ``cuts``: what comes out, when, and what is told of the rest."""
    closing = max([UNTIL, *cuts]) + rng.choice((1, 8))
    expected, at_the_end = flat(tree.answer()), flat(tree.answer(closing))
    run, given = Run(tree), []
    for frontier in cuts:
        signal = run.call(frontier)
        given += rows_of(signal.closed)
        assert all(end != INF for _, _, end in given)
        others = [flat(continued(rng, tree, frontier, UNTIL).answer()) for _ in range(2)]
        known = set(given)
        begun = {(b, s) for b, s, _ in rows_of(signal.open)}
        certain = {(b, s) for b, s, _ in run.certain()} if isinstance(tree, Tree) else set()
        for answer in (expected, *others):
            assert known <= answer, (frontier, known - answer)
            assert begun | certain <= {(b, s) for b, s, _ in answer}
            for row in answer - known:
                start, end = told(signal, tree.variables, row)
                assert row[2] > end, (frontier, row)
                assert row[1] > start or row[:2] in begun, (frontier, row)
    signal = run.call(closing, closing=True)
    given += rows_of(signal.closed)
    assert len(set(given)) == len(given)
    assert all(end == INF for _, _, end in rows_of(signal.open))
    assert sorted([*given, *rows_of(signal.open)]) == sorted(at_the_end)


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(80))
def test_one_relation(seed: int) -> None:
    rng = random.Random(seed)
    tree = telling(rng, 1, ("A", "B", "C")[: rng.randint(0, 3)])
    check(rng, tree, random_cuts(rng, UNTIL))


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(80))
def test_nested_relations(seed: int) -> None:
    rng = random.Random(seed)
    tree = telling(rng, rng.choice((2, 2, 3)), ("A", "B", "C")[: rng.randint(0, 3)])
    check(rng, tree, random_cuts(rng, UNTIL))
