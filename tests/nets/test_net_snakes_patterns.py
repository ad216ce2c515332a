"""SNAKES agrees on the nets of patterns: markings and step counts of all cases of Table 1, small state spaces."""

from __future__ import annotations

import random

import pytest
from snakes_engine import Snakes, comparable, space_of
from table_1 import CASES, case

from occurs.nets.explore import explore
from occurs.nets.firing import enabled, fire
from occurs.nets.transform import to_priority_net


@pytest.mark.parametrize("number", CASES)
def test_snakes_goes_the_same_way(number: int) -> None:
    """Step by step: the same binding elements, the same markings, at the end the number of steps of Table 1."""
    rng = random.Random(number)
    net = to_priority_net(case(number).net)
    other, marking, steps = Snakes(net), net.initial, 0
    while elements := enabled(net, marking):
        assert comparable(elements) == comparable(other.modes())
        element = rng.choice(elements)
        marking = fire(net, marking, element)
        other.fire(element)
        assert marking == other.marking
        steps += 1
    assert other.modes() == []
    assert steps == CASES[number][3]
    assert len(case(number).outputs(other.marking)) == CASES[number][1]


@pytest.mark.parametrize("number", [2, 7])
def test_snakes_has_the_same_state_space(number: int) -> None:
    net = to_priority_net(case(number).net)
    nodes, arcs, dead = space_of(net)
    space = explore(net)
    assert {space.marking(k).key for k in range(len(space.nodes))} == nodes
    assert len(space.steps) == arcs
    assert len(set(range(len(space.nodes))) - {s.source for s in space.steps}) == dead


@pytest.mark.long
@pytest.mark.parametrize("number", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_snakes_left_to_itself(number: int, seed: int) -> None:
    """Whatever it chooses: the same outputs, the same number of steps, for both first numbers."""
    for first in (0, 1):
        t = case(number, first)
        engine = Snakes(to_priority_net(t.net))
        assert engine.run(random.Random(seed).choice) == CASES[number][4 - first]
        assert len(t.outputs(engine.marking)) == CASES[number][1]
