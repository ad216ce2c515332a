"""Transformation 1: what it builds; Proposition 1 and Corollary 1 on random nets and on those of patterns."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from random_black import random_black
from small_nets import INT, NEXT, PAIR, example_1, figure_3, number
from table_1 import CASES, case
from tests.generators.random_nets import random_core_rows, random_extended
from tests.textcases.epl import EplCase

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Binary
from occurs.languages.epl.nets import Translation, translate
from occurs.nets.explore import Properties, explore
from occurs.nets.firing import Element, enabled, fire, run, uniform
from occurs.nets.net import P_MAX, P_MIN, P_NORMAL, Marking, Net, Place
from occurs.nets.report import confluence, default_outputs
from occurs.nets.terms import TupleTerm, var
from occurs.nets.transform import encoded, steps_encoded, to_black_trace, to_priority_net
from occurs.nets.validate import violations
from occurs.verify.nets import depends_on_order, rows_in_order

R, N = var("r"), var("n")
RANDOM_NETS = range(60)


def test_figure_3_becomes_figure_4() -> None:
    net = to_priority_net(figure_3())
    (page,) = net.pages
    guard = figure_3().transitions["t"].guard
    assert [(t.name, t.guard, t.priority, t.black) for t in page.transitions] == [
        ("t_t1", (*guard, Binary(">=", N, R)), P_NORMAL, None),
        ("t_next", (), P_NORMAL, None),
        ("t_t2", (*guard, Binary("=", N, R)), P_MAX, None),
    ]
    assert page.places[-1] == Place("S_t", INT)
    one, p = number(1), var("p")
    assert {(a.place, a.transition, a.input): a.terms for a in page.arcs} == {
        ("Control", "t_t1", True): (number(0),),
        ("Init", "t_t1", True): (R,),
        ("F", "t_t1", True): (PAIR,),
        ("P", "t_t1", True): (p,),
        ("F", "t_t1", False): (PAIR,),
        ("P", "t_t1", False): (p,),
        ("S_t", "t_t1", False): (R,),
        ("S_t", "t_next", True): (R,),
        ("S_t", "t_next", False): (Binary("+", R, one),),
        ("S_t", "t_t2", True): (R,),
        ("F", "t_t2", True): (PAIR,),
        ("P", "t_t2", True): (p,),
        ("Control", "t_t2", False): (number(0),),
        ("F", "t_t2", False): (PAIR,),
        ("P", "t_t2", False): (p,),
        ("End", "t_t2", False): figure_3().pages[0].arcs[-1].terms,
    }


def test_figure_3_takes_three_steps_and_eight() -> None:
    once = run(to_priority_net(figure_3()))
    assert [t for t, _ in once.firings] == ["t_t1", "t_next", "t_t2"]
    assert list(once.marking.tokens["End"]) == [(3, 15)]
    again = run(to_priority_net(figure_3(back=NEXT)))
    assert again.steps == 8
    assert sorted(again.marking.tokens["End"]) == [(3, 15), (5, 20), (6, 25)]


def test_the_priority_of_t1_is_that_of_t() -> None:
    net = figure_3()
    late = replace(net.pages[0], transitions=(replace(net.pages[0].transitions[0], priority=P_MIN),))
    assert [t.priority for t in to_priority_net(replace(net, pages=(late,))).transitions.values()] == [
        P_MIN,
        P_NORMAL,
        P_MAX,
    ]


def test_a_plain_net_stays_as_it_is() -> None:
    net = example_1()
    assert to_priority_net(net) is net


def test_next_hands_on_the_rest_with_a_variable_of_its_colour() -> None:
    net = to_priority_net(random_black(random.Random(3)))
    walking = [a.terms for a in net.arcs if a.transition == "t0_next"]
    assert walking == [(TupleTerm((R, var("l"))),), (TupleTerm((Binary("+", R, number(1)), var("l"))),)]
    assert "rest1" not in net.colour_of


def test_a_number_that_is_used_elsewhere_cannot_be_counted_up() -> None:
    with pytest.raises(DefinitionProblem, match=r"black transition `t` \(page `Search`\): `r` is used in its guard"):
        to_priority_net(figure_3(back=Binary("+", R, number(1))))


def test_a_name_that_is_taken() -> None:
    net = figure_3()
    page = net.pages[0]
    taken = replace(net, pages=(replace(page, places=(*page.places, Place("S_t", INT))),))
    with pytest.raises(DefinitionProblem, match="needs the name `S_t`, which is already used"):
        to_priority_net(taken)


def without_walks(net: Net, marking: Marking) -> Any:
    """What is on the places that both nets have."""
    return Marking({p: marking.tokens[p] for p in net.initial.tokens}).key


def same_dead_markings(net: Net, limit: int = 3000) -> bool:
    """Compares the dead markings if both spaces are small enough."""
    spaces = [explore(net, limit), explore(to_priority_net(net), limit)]
    if not all(s.complete for s in spaces):
        return False
    black, plain = ([s.marking(n) for n in Properties(s).dead_markings] for s in spaces)
    assert len(black) == len(plain)
    assert {m.key for m in black} == {without_walks(net, m) for m in plain}
    return True


def replays(net: Net, trace: list[Element]) -> Marking:
    """Fires a trace of the black net; every element has to be enabled."""
    marking = net.initial
    for element in trace:
        assert element in enabled(net, marking)
        marking = fire(net, marking, element)
    return marking


def encoding_of(net: Net, trace: list[Element]) -> list[Element]:
    """t as t1, n - r times next, t2 (Corollary 1); the bindings of next are found by firing."""
    plain = to_priority_net(net)
    marking, out = plain.initial, list[Element]()

    def go(element: Element) -> None:
        nonlocal marking
        assert element in enabled(plain, marking)
        marking = fire(plain, marking, element)
        out.append(element)

    for name, binding in trace:
        black = net.transitions[name].black
        if black is None:
            go((name, binding))
            continue
        names, r, n = encoded(name), binding[black.r], binding[black.n]
        assert isinstance(r, int)
        assert isinstance(n, int)
        go((names.t1, binding))
        for _ in range(n - r):
            (one,) = enabled(plain, marking)
            assert one[0] == names.next
            go(one)
        go((names.t2, {**binding, black.r: n}))
    return out


def check_traces(net: Net, seed: int) -> None:
    """A random run of each net is one of the other; both ways, with the number of steps that the proposition says."""
    choose = uniform(random.Random(seed))
    done = run(net, choose=choose)
    there = encoding_of(net, done.firings)
    assert len(there) == steps_encoded(net, done.firings)
    plain = run(to_priority_net(net), choose=choose)
    back = to_black_trace(net, plain.firings)
    assert replays(net, back).key == without_walks(net, plain.marking)
    assert steps_encoded(net, back) == plain.steps
    assert enabled(net, replays(net, back)) == []


@pytest.mark.parametrize("seed", RANDOM_NETS)
def test_random_nets_have_the_same_traces(seed: int) -> None:
    net = random_black(random.Random(seed))
    assert violations(net) == []
    assert violations(to_priority_net(net)) == []
    check_traces(net, seed)


def test_random_nets_have_the_same_dead_markings() -> None:
    compared = sum(same_dead_markings(random_black(random.Random(seed))) for seed in RANDOM_NETS)
    assert compared >= 50


@pytest.mark.parametrize("number", CASES)
def test_patterns_have_the_same_traces(number: int) -> None:
    check_traces(case(number).net, number)


@pytest.mark.parametrize("number", sorted(set(CASES) - {8, 12, 16}))
def test_patterns_have_the_same_dead_markings(number: int) -> None:
    assert same_dead_markings(case(number).net)


@pytest.mark.parametrize("number", [8, 16])
def test_patterns_of_many_orders_have_the_same_dead_markings(number: int) -> None:
    assert same_dead_markings(case(number).net, limit=4000)


def pattern_net(make: Callable[[random.Random], EplCase], seed: int) -> Translation | None:
    """The net of a random program with its rows; None if it has no translation."""
    program = make(random.Random(seed))
    rows, extended = rows_in_order(program.events), make is random_extended
    try:
        return translate(program.file_tree, seed % 2, rows=rows, extended=extended, kind=program.kind)
    except DefinitionProblem:
        return None


def check_pattern(make: Callable[[random.Random], EplCase], seed: int, limit: int) -> bool:
    """Traces and dead markings; one output if no statement reads another's.  False if there is no translation."""
    t = pattern_net(make, seed)
    if t is None:
        return False
    assert violations(t.net) == []
    check_traces(t.net, seed)
    same_dead_markings(t.net, limit)
    if not depends_on_order(t):
        assert confluence(explore(t.net, limit), default_outputs(t.net)).confluent is not False
    return True


@pytest.mark.parametrize("make", [random_core_rows, random_extended])
def test_random_patterns(make: Callable[[random.Random], EplCase]) -> None:
    assert sum(check_pattern(make, seed, 300) for seed in range(4)) >= 3


@pytest.mark.long
@pytest.mark.parametrize("make", [random_core_rows, random_extended])
@pytest.mark.parametrize("start", range(5000, 5200, 25))
def test_more_random_patterns(make: Callable[[random.Random], EplCase], start: int) -> None:
    assert sum(check_pattern(make, seed, 1000) for seed in range(start, start + 25)) >= 18


@pytest.mark.long
@pytest.mark.parametrize("start", range(1000, 2000, 100))
def test_more_random_nets(start: int) -> None:
    for seed in range(start, start + 100):
        net = random_black(random.Random(seed))
        check_traces(net, seed)
        same_dead_markings(net, limit=20_000)
