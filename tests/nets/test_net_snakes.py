"""SNAKES agrees: what is enabled at every step, markings, step counts; of nets with priorities (PCPN)."""

from __future__ import annotations

import random

import pytest
from small_nets import NEXT, example_1, figure_3
from snakes_engine import Snakes, comparable, space_of

from occurs.nets.explore import explore
from occurs.nets.firing import enabled, fire, run
from occurs.nets.transform import to_priority_net

NETS = {
    "example 1": example_1(),
    "figure 3": to_priority_net(figure_3()),
    "figure 3 back": to_priority_net(figure_3(back=NEXT)),
    "figure 3 several": to_priority_net(figure_3(back=NEXT, init=(1, 3, 3))),
}


@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("seed", [0, 1])
def test_snakes_goes_the_same_way(name: str, seed: int) -> None:
    rng = random.Random(seed)
    net = NETS[name]
    other, marking = Snakes(net), net.initial
    while elements := enabled(net, marking):
        assert comparable(elements) == comparable(other.modes())
        element = rng.choice(elements)
        marking = fire(net, marking, element)
        other.fire(element)
        assert marking == other.marking
    assert other.modes() == []


@pytest.mark.parametrize("name", NETS)
def test_snakes_ends_alike(name: str) -> None:
    """Left to itself.  These nets give the same outputs whatever is chosen."""
    other = Snakes(NETS[name])
    steps = other.run(random.Random(5).choice)
    ours = run(NETS[name])
    assert (steps, other.marking) == (ours.steps, ours.marking)


@pytest.mark.parametrize("name", NETS)
def test_snakes_has_the_same_state_space(name: str) -> None:
    nodes, arcs, dead = space_of(NETS[name])
    space = explore(NETS[name])
    assert {space.marking(k).key for k in range(len(space.nodes))} == nodes
    assert len(space.steps) == arcs
    assert len(set(range(len(space.nodes))) - {s.source for s in space.steps}) == dead
