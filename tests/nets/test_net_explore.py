"""State spaces: the paper's Example 1, the plain reference, properties on nets small enough to see through."""

from __future__ import annotations

import random
from typing import Any

import pytest
from random_black import random_black
from small_nets import INT, INT2, NEXT, example_1, figure_3, gives, number, plus, takes
from table_1 import case

from occurs.errors import InputProblem, UsageProblem
from occurs.expr.tree import Binary
from occurs.nets.explore import Fairness, Properties, Space, components, explore
from occurs.nets.firing import enabled, fire
from occurs.nets.net import P_HN, Arc, Net, Page, Place, Role, Transition
from occurs.nets.terms import TupleTerm, var
from occurs.nets.transform import to_priority_net

X, Y = var("x"), var("y")


def counting(*transitions: Transition | str, places: dict[str, tuple[int, ...]], arcs: list[Arc]) -> Net:
    page = Page(
        "P",
        tuple(Place(p, INT, tokens) for p, tokens in places.items()),
        tuple(t if isinstance(t, Transition) else Transition(t) for t in transitions),
        tuple(arcs),
    )
    return Net("Small", (INT,), (("x", INT), ("y", INT)), (page,))


def counter() -> Net:
    return counting("up", places={"A": (0,)}, arcs=[takes("A", "up", X), gives("A", "up", plus(X, number(1)))])


def moving(name: str, source: str, target: str) -> list[Arc]:
    return [takes(source, name, X), gives(target, name, X)]


def plainly(net: Net) -> tuple[list[Any], list[Any]]:
    """Nodes and arcs in the order of a search by breadth, with the reference alone."""
    markings, number_of, steps = [net.initial], {net.initial.key: 0}, []
    for source, marking in enumerate(markings):
        for element in enabled(net, marking):
            after = fire(net, marking, element)
            if after.key not in number_of:
                number_of[after.key] = len(markings)
                markings.append(after)
            steps.append((source, element, number_of[after.key]))
    return [m.key for m in markings], steps


RINGS = moving("go", "A", "B") + moving("back", "B", "A")
NETS = {
    "example 1": example_1(),
    "figure 3": figure_3(),
    "figure 3 back": figure_3(back=NEXT, init=(1, 1, 4)),
    "figure 3 encoded": to_priority_net(figure_3(back=NEXT, init=(1, 1, 4))),
    "two rings": counting("go", "back", places={"A": (1, 2), "B": ()}, arcs=RINGS),
}


def test_example_1_has_24_nodes_and_23_arcs() -> None:
    space = explore(example_1())
    known = Properties(space)
    assert (len(space.nodes), len(space.steps), len(known.dead_markings)) == (24, 23, 1)
    assert space.complete
    assert (len(known.components), known.arcs_between) == (24, 23)
    assert known.home_markings == known.dead_markings == [23]
    assert (known.dead_transitions, known.live_transitions, known.fairness) == ([], [], None)
    s = known.bounds["S"]
    assert (s.upper, s.lower, s.upper_tokens, s.lower_tokens) == (1, 1, {0: 1, 5: 1, 15: 1, 30: 1}, {})
    p = known.bounds["P"]
    assert (p.upper, p.lower, p.lower_tokens) == (5, 2, {(1, 3): 1, (3, 4): 1})
    assert (known.bounds["M"].upper_tokens, known.bounds["M"].lower) == ({(): 20}, 0)


@pytest.mark.parametrize("name", NETS)
def test_the_space_is_that_of_the_reference(name: str) -> None:
    same_as_reference(NETS[name])


def same_as_reference(net: Net) -> None:
    nodes, steps = plainly(net)
    space = explore(net)
    assert [space.marking(k).key for k in range(len(space.nodes))] == nodes
    assert [(s.source, s.element, s.target) for s in space.steps] == steps


@pytest.mark.parametrize("seed", range(8))
def test_the_space_of_random_nets_is_that_of_the_reference(seed: int) -> None:
    net = random_black(random.Random(seed))
    same_as_reference(net)
    same_as_reference(to_priority_net(net))


@pytest.mark.parametrize("number", [2, 5, 14])
def test_the_space_of_patterns_is_that_of_the_reference(number: int) -> None:
    net = case(number).net
    same_as_reference(net)
    same_as_reference(to_priority_net(net))


@pytest.mark.parametrize("name", NETS)
def test_a_path_leads_to_its_node(name: str) -> None:
    net = NETS[name]
    space = explore(net)
    for node in range(len(space.nodes)):
        marking = net.initial
        for element in space.path(node):
            assert element in enabled(net, marking)
            marking = fire(net, marking, element)
        assert marking == space.marking(node)


@pytest.mark.parametrize("limit", [1, 2, 7, 23])
def test_a_limit_leaves_a_partial_space(limit: int) -> None:
    space = explore(example_1(), limit=limit)
    known = Properties(space)
    assert (len(space.nodes), space.expanded, space.complete) == (limit, limit - 1, False)
    assert (known.home_markings, known.live_transitions, known.dead_markings) == (None, None, [])
    assert known.dead_transitions == (["Process"] if limit < 4 else []) + (["incr"] if limit == 1 else [])
    told: list[tuple[int, int]] = []
    assert explore(example_1(), limit=24, progress=lambda n, e: told.append((n, e))).expanded == 23


def test_without_memory_the_space_is_partial() -> None:
    def no_memory(nodes: int, expanded: int) -> None:
        assert (nodes, expanded) == (501, 500)
        raise MemoryError

    space = explore(counter(), progress=no_memory)
    assert (len(space.nodes), len(space.steps), space.expanded, space.complete) == (501, 500, 500, False)


def test_a_limit_has_to_be_positive() -> None:
    with pytest.raises(UsageProblem, match="limit of states is 0"):
        explore(example_1(), limit=0)


def test_a_space_without_bound_ends_at_its_limit() -> None:
    assert [explore(counter(), limit=50).marking(k).tokens["A"][k] for k in (0, 7, 49)] == [1, 1, 1]


def properties(net: Net) -> Properties:
    return Properties(explore(net))


def test_a_ring_is_live_and_all_its_markings_are_home() -> None:
    known = properties(NETS["two rings"])
    assert known.home_markings == [0, 1, 2, 3]
    assert known.live_transitions == ["go", "back"]
    assert (len(known.components), known.arcs_between, known.dead_markings) == (1, 0, [])
    assert known.fairness == Fairness(["go", "back"], [], [], [])


def test_fairness_of_a_choice() -> None:
    """In A: left and right bring the token back; out is enabled as long as the token stays in A and may be put off."""
    net = counting(
        "left",
        "right",
        "back",
        "never",
        places={"A": (1,), "B": (), "C": ()},
        arcs=[
            *moving("left", "A", "A"),
            *moving("right", "A", "B"),
            *moving("back", "B", "A"),
            *moving("never", "C", "A"),
        ],
    )
    known = properties(net)
    # without left: A -> B -> A passes A, where left is enabled, but not in B; without right: A -> A stays in A
    assert known.fairness == Fairness([], ["back", "never"], ["left"], ["right"])
    assert known.live_transitions == ["left", "right", "back"]
    assert known.dead_transitions == ["never"]


def test_two_ends_leave_no_home() -> None:
    arcs = moving("one", "A", "B") + moving("two", "A", "C")
    net = counting("one", "two", places={"A": (1,), "B": (), "C": ()}, arcs=arcs)
    known = properties(net)
    assert (known.home_markings, known.dead_markings, known.live_transitions) == ([], [1, 2], [])


def test_priorities_hide_what_is_less_urgent() -> None:
    arcs = moving("one", "A", "B") + moving("two", "A", "C")
    net = counting(Transition("one", (), P_HN), "two", places={"A": (1,), "B": (), "C": ()}, arcs=arcs)
    assert properties(net).dead_transitions == ["two"]


def test_what_firing_refuses_exploring_refuses() -> None:
    net = counting("go", places={"A": (1, 2), "F": (2,)}, arcs=moving("go", "A", "F"))
    page = net.pages[0]
    roles = tuple(Place(p.name, INT, p.initial, role=Role.F if p.name == "F" else None) for p in page.places)
    flow = Net(net.name, net.colours, net.variables, (Page("P", roles, page.transitions, page.arcs),))
    assert len(explore(net).nodes) == 4
    with pytest.raises(InputProblem, match=r"`go` .* puts 2 on place `F` .*: a token with the number 2 already exists"):
        explore(flow)


def test_a_number_on_a_flow_may_get_another_token() -> None:
    """What is taken goes before what is put."""
    pair, other = TupleTerm((X, Y)), TupleTerm((X, plus(Y, number(1))))
    below = Binary("<", Y, number(30))
    page = Page(
        "P",
        (Place("F", INT2, ((1, 0), (2, 0)), role=Role.F),),
        (Transition("up", (below,)),),
        (takes("F", "up", pair), gives("F", "up", other)),
    )
    net = Net("Up", (INT, INT2), (("x", INT), ("y", INT)), (page,))
    assert len(explore(net).nodes) == 31 * 31


@pytest.mark.parametrize("seed", range(20))
def test_components_by_their_definition(seed: int) -> None:
    """Two nodes are in one component if each can be reached from the other; a component comes before its users."""
    rng = random.Random(seed)
    size = rng.randint(1, 9)
    arcs = [[b for b in range(size) if rng.random() < 1.3 / size] for _ in range(size)]
    reached = [{a} for a in range(size)]
    for _ in range(size):
        for a in range(size):
            reached[a] |= set().union(*(reached[b] for b in arcs[a]))
    found = components(arcs)
    assert sorted(n for c in found for n in c) == list(range(size))
    for c in found:
        assert {b for b in reached[c[0]] if c[0] in reached[b]} == set(c)
    place = {n: k for k, c in enumerate(found) for n in c}
    assert all(place[b] <= place[a] for a in range(size) for b in arcs[a])


def test_components_of_a_long_chain() -> None:
    assert len(components([[k + 1] for k in range(20_000)] + [[]])) == 20_001


def test_a_space_is_found_the_same_way_every_time() -> None:
    def shape(space: Space) -> list[Any]:
        return [(s.source, s.element, s.target) for s in space.steps]

    assert shape(explore(NETS["figure 3 back"])) == shape(explore(figure_3(back=NEXT, init=(4, 1, 1))))
