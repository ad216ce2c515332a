"""Every rule of validation: a net that breaks it, and all violations at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from small_nets import INT, INT2, NEXT, PAIR, UNIT, example_1, figure_3, gives, number, plus, takes
from table_1 import CASES, case

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Binary, Expr
from occurs.nets.colours import Real
from occurs.nets.net import Arc, Black, Net, Place, Role, Transition
from occurs.nets.terms import TupleTerm, var
from occurs.nets.transform import to_priority_net
from occurs.nets.validate import RULES, validate, violations

R = var("r")
CONTROL = [takes("Control", "x", number(0)), gives("Control", "x", number(0))]


def place(name: str, **changes: Any) -> Callable[[Net], Net]:
    return lambda net: on_page(
        net, places=tuple(replace(p, **changes) if p.name == name else p for p in net.pages[0].places)
    )


def transition(**changes: Any) -> Callable[[Net], Net]:
    return lambda net: on_page(net, transitions=(replace(net.pages[0].transitions[0], **changes),))


def black(init: str, f: str, r: str = "r", n: str = "n") -> Callable[[Net], Net]:
    return transition(black=Black(init, f, r, n))


def more(*elements: Place | Transition | Arc) -> Callable[[Net], Net]:
    def edit(net: Net) -> Net:
        page = net.pages[0]
        return on_page(
            net,
            places=page.places + tuple(e for e in elements if isinstance(e, Place)),
            transitions=page.transitions + tuple(e for e in elements if isinstance(e, Transition)),
            arcs=page.arcs + tuple(e for e in elements if isinstance(e, Arc)),
        )

    return edit


def arc(place: str, into: bool, *terms: Expr) -> Callable[[Net], Net]:
    """Other inscriptions; none: without the arc."""

    def edit(net: Net) -> Net:
        arcs = (replace(a, terms=terms) if (a.place, a.input) == (place, into) else a for a in net.pages[0].arcs)
        return on_page(net, arcs=tuple(a for a in arcs if a.terms))

    return edit


def on_page(net: Net, **changes: Any) -> Net:
    return replace(net, pages=(replace(net.pages[0], **changes),))


def whole(**changes: Any) -> Callable[[Net], Net]:
    return lambda net: replace(net, **changes)


FUSED = place("P", fusion="f")
THREE = TupleTerm((NEXT, NEXT, NEXT))
IS_UNIT = Binary("=", R, TupleTerm(()))
UNDECLARED = (*figure_3().variables, ("z", Real("REAL")))
RESTART = (takes("Exit", "x", R), gives("Init", "x", R), *CONTROL)
BROKEN: list[tuple[str, str, Callable[[Net], Net]]] = [
    ("named", "two nodes with the same name: `P` (page `Search`)", more(Place("P", INT))),
    ("named", "two nodes with the same name: `t` (page `Search`)", more(Place("t", INT))),
    ("named", "a page without a name: ``", lambda net: replace(net, pages=(replace(net.pages[0], name=""),))),
    ("named", "two variables with the same name: `n`", whole(variables=(*figure_3().variables, ("n", INT)))),
    ("named", "two colours with the same name: `INT`", whole(colours=(INT, INT, INT2))),
    ("declared", "INT is not declared before this colour: `INT2`", whole(colours=(INT2, INT))),
    ("declared", "its colour UNIT is not declared: `Unit` (page `Search`)", more(Place("Unit", UNIT))),
    ("arc-ends", "an arc of `t` to a place that is not on this page: `Q`", more(takes("Q", "t", R))),
    ("arc-ends", "an arc of `P` to a transition that is not on this page: `u`", more(takes("P", "u", R))),
    ("arc-ends", "an arc with an empty inscription at `P`: `t`", more(gives("P", "t"))),
    ("fusion", "fused with `P`, whose colour is INT, not INT2", lambda n: more(Place("Q", INT2, (), "f"))(FUSED(n))),
    ("fusion", "fused with `P`, which has other initial tokens", lambda n: more(Place("Q", INT, (11,), "f"))(FUSED(n))),
    ("initial", "wrong initial token: 'ten' is not a value of INT (int): `P`", place("P", initial=("ten",))),
    ("initial", "2: '3' is not a value of INT (int): `F`", place("F", initial=((1, "3"),))),
    ("inscription", "`t` -> `End`: found INT * INT * INT, expected INT2", arc("End", False, THREE)),
    ("inscription", "`P` -> `t`: found BOOL, expected INT: `t`", arc("P", True, Binary("=", R, R))),
    ("inscription", "`t` -> `End`: unknown variable `q`", arc("End", False, TupleTerm((NEXT, var("q"))))),
    ("guard", "in its guard: found INT, expected BOOL: `t`", transition(guard=(plus(R, R),))),
    ("guard", "`=` takes two values of one colour, found INT and UNIT", transition(guard=(IS_UNIT,))),
    ("bindable", "no token that it takes binds `p`: `t`", arc("P", True, number(10))),
    ("variable", "the colour REAL of this variable is not declared: `z`", whole(variables=UNDECLARED)),
    ("priority", "priority -1: `t`", transition(priority=-1)),
    ("black-init", "its Init place `Start` is not one of its inputs: `t`", black("Start", "F")),
    ("black-init", "it takes 2 tokens from its Init place `Init`", arc("Init", True, R, R)),
    ("black-f", "its F place `End` is not one of its inputs: `t`", black("Init", "End")),
    ("black-f", "it takes 2 tokens from its F place `F`: `t`", arc("F", True, PAIR, TupleTerm((var("p"), var("p"))))),
    ("black-primary", "its primary Init place is `P`, but its inputs of that role are `Init`", black("P", "F", "p")),
    ("black-f-output", "its F place `F` is not one of its outputs: `t`", arc("F", False)),
    (
        "black-f-kept",
        "it does not put back the token that it takes from `F`",
        arc("F", False, TupleTerm((NEXT, var("m")))),
    ),
    ("black-number", "the number of the token that it takes from `F` is not `m`", black("Init", "F", "r", "m")),
    ("black-number", "tokens of `F` start with UNIT, not with an int", place("F", colour=UNIT)),
    ("control", "there is no Control place: `t`", place("Control", role=None)),
    ("control", "a second Control place besides `Control`: `P`", place("P", role=Role.CONTROL)),
    ("control", "Control has 0 initial tokens instead of one: `Control`", place("Control", initial=())),
    ("control", "takes another token from Control and puts back none: `t`", arc("Control", False)),
    ("control", "takes none from Control and puts back none: `x`", more(Transition("x"), takes("P", "x", var("p")))),
    ("numbers", "2 initial tokens with the number 3: `F`", place("F", initial=((3, 1), (2, 1), (3, 2)))),
    (
        "every-in-every",
        "the transition restarts `Init` after `Exit`, but no `every` adds a token there: `x`",
        more(Place("Exit", INT, role=Role.EXIT), Transition("x"), *RESTART),
    ),
]


def test_every_rule_has_a_net_that_breaks_it() -> None:
    assert {rule for rule, _, _ in BROKEN} == set(RULES)


@pytest.mark.parametrize(("rule", "text", "edit"), BROKEN, ids=[f"{k}-{b[0]}" for k, b in enumerate(BROKEN)])
def test_broken(rule: str, text: str, edit: Callable[[Net], Net]) -> None:
    problems = {(v.rule, v.problem(figure_3()).message) for v in violations(edit(figure_3(back=NEXT)))}
    assert any(found == rule and text in message for found, message in problems), problems


@pytest.mark.parametrize("net", [example_1(), figure_3(), figure_3(back=NEXT), to_priority_net(figure_3())])
def test_sound_nets(net: Net) -> None:
    assert violations(net) == []
    validate(net)


@pytest.mark.parametrize("number", CASES)
def test_nets_of_patterns(number: int) -> None:
    net = case(number).net
    assert violations(net) == []
    assert violations(to_priority_net(net)) == []


def test_an_exit_that_is_filled_closes_no_every_around_an_every() -> None:
    filled = Place("Exit", INT, (1,), role=Role.EXIT)
    net = more(filled, Transition("x"), *RESTART)(figure_3())
    assert violations(net) == []


def test_all_violations_are_reported_together_with_their_pages() -> None:
    net = place("F", initial=((1, 1), (1, 2)))(arc("F", False)(transition(priority=-5)(figure_3())))
    with pytest.raises(DefinitionProblem) as found:
        validate(net)
    assert sorted(p.kind for p in found.value.problems) == ["black-f-output", "numbers", "priority"]
    assert all("(page `Search`)" in p.message and p.hint for p in found.value.problems)
