"""Tables of relations that are copied between calls change nothing, and a call with nothing new keeps its tables."""

from __future__ import annotations

import random

import pytest
from relation_histories import Leaf, Run, Tree, random_tree, rows_of

from occurs.operators.interval.signals import Held, Phenomena


class Forgetful(Run):
    """Takes state from copies in every call, as after a restart."""

    def call(self, frontier: int, closing: bool = False) -> Phenomena:
        self.states = {
            node: {name: Held(table.codes, table.columns) for name, table in state.items()}
            for node, state in self.states.items()
        }
        return super().call(frontier, closing)


def told(signal: Phenomena) -> object:
    """All that a signal says."""
    lags = [
        (lag.variables, sorted(zip(*(c.tolist() for c in (*lag.codes, lag.starts, lag.ends))))) for lag in signal.lags
    ]
    return rows_of(signal.closed), rows_of(signal.open), signal.complete, lags


@pytest.mark.share(4)
@pytest.mark.parametrize("seed", range(120))
def test_copied_tables_give_the_same(seed: int) -> None:
    rng = random.Random(seed)
    tree = random_tree(rng, rng.choice((1, 2)), ("A", "B"))
    frontiers = sorted(rng.choices(range(-2, 40), k=12))
    run, again = Run(tree), Forgetful(tree)
    for frontier in frontiers:
        assert told(run.call(frontier)) == told(again.call(frontier))
        assert run.size() == again.size()
    assert told(run.call(40, closing=True)) == told(again.call(40, closing=True))


def test_a_call_without_anything_new_keeps_the_very_same_tables() -> None:
    rows = [((0,), 1, 4), ((1,), 2, 6)]
    points = [((0,), 5, 5), ((0,), 9, 9)]
    run = Run(Tree("before", Leaf("state", ("A",), rows), Leaf("event", ("A",), points)))
    run.call(3)
    run.call(7)
    (state,) = run.states.values()
    assert len(state["left"]) == 2
    signal = run.call(8)
    assert all(table is state[name] for name, table in next(iter(run.states.values())).items())
    assert not len(signal.closed)
    assert signal.complete == 8
    assert rows_of(run.call(9).closed) == []
    (lag,) = run.call(20).lags
    assert sorted(zip(lag.codes[0].tolist(), lag.starts.tolist())) == [(0, 0), (1, 1)]
