"""SNAKES agrees on the nets of patterns: markings and step counts of all cases of Table 1, small state spaces."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from snakes_engine import Snakes, comparable, space_of
from table_1 import CASES, case
from tests.generators.random_nets import random_core_rows, random_extended
from tests.textcases.epl import EplCase

from occurs.errors import DefinitionProblem
from occurs.languages.epl.nets import translate
from occurs.nets.explore import explore
from occurs.nets.firing import enabled, fire
from occurs.nets.net import Marking, Net
from occurs.nets.transform import to_priority_net
from occurs.verify.nets import rows_in_order


@pytest.mark.parametrize("number", CASES)
def test_snakes_goes_the_same_way(number: int) -> None:
    """Step by step: the same binding elements, the same markings, at the end the number of steps of Table 1."""
    steps, marking = same_way(to_priority_net(case(number).net), number)
    assert steps == CASES[number][3]
    assert len(case(number).outputs(marking)) == CASES[number][1]


def same_way(net: Net, seed: int, limit: int = 10_000) -> tuple[int, Marking]:
    """Goes at random with both engines, to the end or ``limit`` steps: how many, and where SNAKES is then."""
    rng = random.Random(seed)
    other, marking, steps = Snakes(net), net.initial, 0
    while steps < limit and (elements := enabled(net, marking)):
        assert comparable(elements) == comparable(other.modes())
        element = rng.choice(elements)
        marking = fire(net, marking, element)
        other.fire(element)
        assert marking == other.marking
        steps += 1
    assert steps == limit or other.modes() == []
    return steps, other.marking


def random_way(make: Callable[[random.Random], EplCase], seed: int, limit: int) -> int:
    """How many steps both go in the net of a random program; 0 if it has no translation."""
    program = make(random.Random(seed))
    rows, extended = rows_in_order(program.events), make is random_extended
    try:
        t = translate(program.file_tree, seed % 2, rows=rows, extended=extended, kind=program.kind)
    except DefinitionProblem:
        return 0
    return same_way(to_priority_net(t.net), seed, limit)[0]


@pytest.mark.parametrize("make", [random_core_rows, random_extended])
def test_snakes_goes_the_same_way_in_random_programs(make: Callable[[random.Random], EplCase]) -> None:
    assert sum(random_way(make, seed, 60) for seed in range(3)) > 120


@pytest.mark.long
@pytest.mark.parametrize("make", [random_core_rows, random_extended])
def test_snakes_goes_the_same_way_in_many_random_programs(make: Callable[[random.Random], EplCase]) -> None:
    assert sum(random_way(make, seed, 400) for seed in range(100, 160)) > 4000


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
