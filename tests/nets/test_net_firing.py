"""Plain enabling and firing: the paper's small nets, black transitions, what is refused."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from small_nets import EVENTS, INT, INT2, NEXT, example_1, figure_3, gives, number, plus, takes

from occurs.errors import DefinitionProblem, InputProblem, UsageProblem
from occurs.expr.tree import Binary
from occurs.nets.firing import enabled, fire, run, uniform
from occurs.nets.net import Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import TupleTerm, var


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_example_1_ends_after_23_steps(seed: int | None) -> None:
    net = example_1()
    done = run(net) if seed is None else run(net, choose=uniform(random.Random(seed)))
    assert done.steps == 23
    assert Counter(t for t, _ in done.firings) == {"incr": 20, "Process": 3}
    assert done.marking.tokens == {"C": Counter([23]), "P": Counter([(1, 3), (3, 4)]), "S": Counter([30]), "M": {}}


def test_the_more_urgent_transition_goes_first() -> None:
    net = example_1()
    two = run(net, limit=2)
    assert [t for t, _ in two.firings] == ["incr", "incr"]
    assert enabled(net, two.marking) == [("Process", {"n": 2, "m": 5, "s": 0})]
    other = replace(net.pages[0], transitions=tuple(replace(t, priority=7) for t in net.pages[0].transitions))
    assert [t for t, _ in enabled(replace(net, pages=(other,)), two.marking)] == ["Process", "incr"]


def test_figure_3_takes_the_first_that_its_guard_allows() -> None:
    done = run(figure_3())
    assert done.firings == [("t", {"r": 1, "n": 2, "m": 5, "p": 10})]
    assert done.marking.tokens["End"] == Counter([(3, 15)])
    assert done.marking.tokens["F"] == Counter(EVENTS)


def test_figure_3_with_a_way_back_goes_through_the_flow() -> None:
    done = run(figure_3(back=NEXT))
    assert done.marking.tokens["End"] == Counter([(3, 15), (5, 20), (6, 25)])
    assert done.steps == 3


def test_the_least_number_is_sought_for_every_init_token_by_itself() -> None:
    net = figure_3(init=(1, 3, 5, 6))
    assert [(b["r"], b["n"]) for _, b in enabled(net, net.initial)] == [(1, 2), (3, 4), (5, 5)]


def test_the_least_number_is_over_all_choices_of_other_tokens() -> None:
    """With P in the guard: (2,5) goes with 20 only, so (4,10) with 10 is not enabled; of (2,5) all choices are."""
    page = figure_3().pages[0]
    guard = Binary("<", Binary("-", var("p"), var("m")), number(0)), Binary("<", number(3), var("m"))
    places = tuple(replace(p, initial=(2, 3, 9)) if p.name == "P" else p for p in page.places)
    net = figure_3()
    net = replace(net, pages=(replace(page, places=places, transitions=(replace(page.transitions[0], guard=guard),)),))
    assert [(b["n"], b["p"]) for _, b in enabled(net, net.initial)] == [(2, 2), (2, 3)]


def one_transition(*arcs: Arc, guard: tuple[Binary, ...] = (), black: Black | None = None) -> Net:
    page = Page(
        "Only",
        (
            Place("A", INT, (1, 2, 2)),
            Place("B", INT2, ((2, 4), (3, 3))),
            Place("C", INT),
            Place("F", INT2, ((1, 1),), role=Role.F),
        ),
        (Transition("go", guard, black=black),),
        arcs,
    )
    return Net("Net", (INT, INT2), tuple((v, INT) for v in "xyz"), (page,))


def test_a_token_is_not_taken_twice() -> None:
    x, y = var("x"), var("y")
    net = one_transition(takes("A", "go", x, y), gives("C", "go", plus(x, y)))
    assert [(b["x"], b["y"]) for _, b in enabled(net, net.initial)] == [(1, 2), (2, 1), (2, 2)]
    assert fire(net, net.initial, ("go", {"x": 2, "y": 2})).tokens == {
        "A": Counter([1]),
        "B": Counter([(2, 4), (3, 3)]),
        "C": Counter([4]),
        "F": Counter([(1, 1)]),
    }
    with pytest.raises(UsageProblem, match="no token 1 on place `A`"):
        fire(net, net.initial, ("go", {"x": 1, "y": 1}))


def test_what_cannot_be_taken_apart_waits_for_its_variables() -> None:
    """The first arc needs x from the second; inside (y, y + 1) the second part needs the first."""
    x, y = var("x"), var("y")
    late = TupleTerm((plus(y, number(-2)), y))
    net = one_transition(takes("A", "go", plus(x, number(-1))), takes("B", "go", late), takes("A", "go", x))
    assert enabled(net, net.initial) == [("go", {"x": 2, "y": 4})]


def test_fused_places_hold_the_same_tokens() -> None:
    first = Page("One", (Place("A", INT, (1,), "fused"),), (Transition("up"),), (takes("A", "up", var("x")),))
    second = Page("Two", (Place("A2", INT, (1,), "fused"),), (Transition("down"),), (takes("A2", "down", var("x")),))
    net = Net("Fused", (INT,), (("x", INT),), (first, second))
    assert net.initial.tokens == {"A": Counter([1])}
    assert [t for t, _ in enabled(net, net.initial)] == ["up", "down"]
    assert run(net).steps == 1


def test_two_equal_numbers_on_a_flow_are_refused() -> None:
    net = one_transition(takes("A", "go", var("x")), gives("F", "go", TupleTerm((var("x"), number(9)))))
    assert fire(net, net.initial, ("go", {"x": 2})).tokens["F"] == Counter([(1, 1), (2, 9)])
    with pytest.raises(InputProblem, match=r"`go` \(page `Only`\) puts \(1, 9\) on place `F` .*number 1 already"):
        fire(net, net.initial, ("go", {"x": 1}))


def test_a_token_of_another_colour_is_refused() -> None:
    net = one_transition(takes("A", "go", var("x")), gives("C", "go", TupleTerm((var("x"), var("x")))))
    with pytest.raises(InputProblem, match=r"\(1, 1\) is not a value of INT"):
        run(net)
    by_zero = Binary("%", number(3), plus(var("x"), number(-1)))
    half = one_transition(takes("A", "go", var("x")), gives("C", "go", by_zero))
    with pytest.raises(InputProblem, match="None is not a value of INT"):
        run(half)


def test_a_variable_without_value_is_refused_before_anything_runs() -> None:
    with pytest.raises(DefinitionProblem, match=r"transition `go` \(page `Only`\) takes binds `z`") as found:
        enabled(one := one_transition(takes("A", "go", var("x")), gives("C", "go", var("z"))), one.initial)
    assert found.value.kind == "unbound-variable"
    with pytest.raises(DefinitionProblem, match="`y`"):
        enabled(two := one_transition(takes("A", "go", plus(var("y"), number(1)))), two.initial)


def test_null_in_a_guard_is_not_true() -> None:
    by_zero = Binary("=", Binary("/", var("x"), number(0)), var("x"))
    net = one_transition(takes("A", "go", var("x")), guard=(by_zero,))
    assert enabled(net, net.initial) == []
