"""The form of a net in which CPN Tools can bind all variables (epl-and-nets.md 4B): the rule, and the same firings."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from random_typed import RandomNet
from small_nets import INT, INT2, gives, number, takes
from tests.generators.random_nets import random_core_rows, random_extended

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.tree import Binary, Call, Literal, Ref
from occurs.languages.epl.nets import translate
from occurs.nets.colours import List, Product, Real
from occurs.nets.cpn_binding import bindable
from occurs.nets.cpn_read import read
from occurs.nets.cpn_write import write
from occurs.nets.firing import enabled, fire
from occurs.nets.matching import taken_apart
from occurs.nets.ml_terms import Printer
from occurs.nets.net import Arc, Marking, Net, Page, Place, Transition
from occurs.nets.terms import ListTerm, RecordTerm, Term, TupleTerm, var, variables
from occurs.nets.transform import to_priority_net
from occurs.verify.nets import rows_in_order

PAIRS = List("PAIRS", INT2)
#: so many random nets, and nets of random patterns
SEEDS, PROGRAMS = range(40), range(12)


def patterns(make: object, seed: int) -> Net | None:
    program = random_extended(random.Random(seed)) if make is random_extended else random_core_rows(random.Random(seed))
    rows, extended = rows_in_order(program.events), make is random_extended
    try:
        t = translate(program.file_tree, 0, False, rows, extended, inputs=program.inputs, kind=program.kind)
    except DefinitionProblem:
        return None
    return to_priority_net(t.net)


def is_pattern(term: Term) -> bool:
    if isinstance(term, Literal):
        return not isinstance(term.value, float)
    return isinstance(term, Ref) or (taken_apart(term) and all(map(is_pattern, term.children)))


def can_be_bound(net: Net, transition: Transition) -> bool:
    """Is there an order of its tokens and equations in which each variable gets a value once, as CPN Tools needs it?"""
    tokens = [t for a in net.inputs[transition.name] for t in a.terms]
    equations = [g for g in transition.guard if isinstance(g, Binary) and g.op == "="]
    every = set().union(*map(variables, tokens))

    def steps(bound: frozenset[str]) -> Iterator[frozenset[str]]:
        for token in tokens:
            own = variables(token)
            entries = [token]
            if isinstance(token, TupleTerm | RecordTerm):
                entries = [p for p in token.parts if not variables(p) or not variables(p) <= bound]
            if is_pattern(token) and not any(variables(e) & bound for e in entries):
                yield bound | own
        for e in equations:
            for side, value in ((e.left, e.right), (e.right, e.left)):
                if is_pattern(side) and variables(value) <= bound and not variables(side) & bound:
                    yield bound | variables(side)

    seen, left = set[frozenset[str]](), [frozenset[str]()]
    while left:
        bound = left.pop()
        if every <= bound:
            return True
        if bound not in seen:
            seen.add(bound)
            left += [more for more in steps(bound) if more != bound]
    return False


def parts(term: Term) -> Iterator[Term]:
    """What stands in a token beside variables and constructors."""
    if taken_apart(term):
        for part in term.children:
            yield from parts(part) if taken_apart(part) else [part]


def check(net: Net) -> None:
    for transition in net.transitions.values():
        assert can_be_bound(net, transition), transition.name
        for arc in net.inputs[transition.name]:
            tuples = [t for t in arc.terms if isinstance(t, TupleTerm | RecordTerm)]
            assert all(is_pattern(p) for t in tuples for p in parts(t)), arc
            names = [[n.name for n in t.walk() if isinstance(n, Ref)] for t in arc.terms if is_pattern(t)]
            assert all(len(n) == len(set(n)) for n in names), arc
        places = [net.holder(a.place) for a in net.inputs[transition.name]]
        assert len(places) == len(set(places)), transition.name


def reached(net: Net, seed: int) -> list[Counter[tuple[str, object]]]:
    """For each marking of a run, how many binding elements of a transition lead to which marking."""
    rng, marking, found = random.Random(seed), net.initial, list[Counter[tuple[str, object]]]()
    while len(found) < 8:
        after = dict[tuple[str, object], Marking]()
        found.append(Counter())
        for element in enabled(net, marking):
            try:
                fired = fire(net, marking, element)
            except InputProblem:  # an inscription without a value: `x mod 0`
                continue
            after[element[0], fired.key] = fired
            found[-1][element[0], fired.key] += 1
        if not after:
            break
        marking = after[rng.choice(sorted(after, key=lambda a: (a[0], sorted(map(repr, sorted_tokens(after[a]))))))]
    return found


def sorted_tokens(marking: Marking) -> list[tuple[str, list[str]]]:
    return sorted((p, sorted(map(repr, tokens.elements()))) for p, tokens in marking.tokens.items())


def inscriptions(net: Net) -> list[str]:
    """The guard of the only transition, and what is at the arcs."""
    (transition,) = net.transitions.values()
    printer, colours = Printer(dict(net.variables), net.colours), {p.name: p.colour for p in net.places.values()}
    return [printer.guard(transition.guard), *(printer.tokens(a.terms, colours[a.place]) for a in net.arcs)]


def one(*arcs: Arc, guard: tuple[Term, ...] = (), fusion: str | None = None) -> Net:
    places = (Place("A", INT2, ((1, 2), (1, 1)), fusion), Place("B", INT2, ((1, 2), (1, 1)), fusion))
    page = Page("page", (*places, Place("L", PAIRS), Place("M", PAIRS)), (Transition("t", guard),), arcs)
    names = [*((n, INT) for n in "nmxy"), *((n, INT2) for n in "vw")]
    return Net("one", (INT, INT2, PAIRS), tuple(names), (page,))


N, M, X, Y, V, W = map(var, "nmxyvw")


def test_variables_in_two_lists_are_compared_in_the_guard() -> None:
    both = (takes("M", "t", ListTerm((V, TupleTerm((N, Y))))), gives("M", "t", ListTerm((V, TupleTerm((N, Y))))))
    net = one(takes("L", "t", ListTerm((V, TupleTerm((N, X))))), *both)
    assert inscriptions(bindable(net)) == [
        "[v_2 = v, n_2 = n]",
        "1`[v, (n, x)]",
        "1`[v_2, (n_2, y)]",
        "1`[v_2, (n_2, y)]",
    ]
    assert inscriptions(bindable(one(*net.arcs, takes("A", "t", W))))[0] == "[not(v_2 <> v), not(n_2 <> n)]"


def test_entries_of_a_tuple_and_whole_tokens_stay() -> None:
    net = one(takes("A", "t", TupleTerm((N, X))), takes("B", "t", TupleTerm((N, Y))), takes("L", "t", ListTerm((V,))))
    assert bindable(net) == net
    net = one(takes("A", "t", V), takes("B", "t", V), takes("L", "t", ListTerm((V, W))))
    assert bindable(net) == net


def test_computed_parts_are_compared_in_the_guard() -> None:
    token = Call("cons", (TupleTerm((Binary("+", X, number(1)), N)), ListTerm(())))
    net = one(takes("L", "t", token), takes("A", "t", TupleTerm((X, M))))
    assert inscriptions(bindable(net)) == ["[computed_2 = x + 1]", "1`((computed_2, n) :: [])", "(x, m)"]


def test_a_value_that_is_given_again_is_only_compared() -> None:
    """By ``=`` CPN Tools may compare with a variable of another group, if there is one."""
    equal = (Binary("=", N, M),)
    net = one(takes("A", "t", TupleTerm((N, M))), guard=equal)
    assert bindable(net) == net
    net = one(takes("A", "t", TupleTerm((N, M))), takes("L", "t", ListTerm((V,))), guard=equal)
    assert inscriptions(bindable(net))[0] == "[not(n <> m)]"
    net = one(takes("A", "t", TupleTerm((N, N))))
    assert inscriptions(bindable(net)) == ["[n_2 = n]", "(n, n_2)"]
    net = one(*net.arcs, takes("L", "t", ListTerm((V,))))
    assert inscriptions(bindable(net))[:2] == ["[not(n_2 <> n)]", "(n, n_2)"]


def test_tuples_with_reals_are_whole_values() -> None:
    """CPN Tools compares their entries by ML's ``=``, which reals do not have."""
    colour = Product("REALS", (INT, INT, Real("REAL")))
    arcs = (takes("A", "t", TupleTerm((N, number(1), var("z")))), takes("B", "t", TupleTerm((N, M, var("u")))))
    page = Page("page", (Place("A", colour), Place("B", colour)), (Transition("t"),), arcs)
    net = Net("reals", (INT, colour), (("n", INT), ("m", INT), ("z", Real("REAL")), ("u", Real("REAL"))), (page,))
    text = write(net).decode()
    assert "((n, 1, z):REALS)" in text
    assert "((n_2, m, u):REALS)" in text
    assert "[n_2 = n]" in text
    again, notes = read(write(net), "reals.cpn")
    assert notes == ()
    assert write(again) == write(net)


def test_tokens_of_a_fusion_set_are_taken_from_one_place() -> None:
    net = one(takes("A", "t", V), takes("B", "t", W), gives("B", "t", V), fusion="together")
    form = bindable(net)
    assert [(a.place, a.input, len(a.terms)) for a in form.arcs] == [("A", True, 2), ("A", False, 1)]
    assert reached(form, 1) == reached(net, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_nets(seed: int) -> None:
    net = RandomNet(seed, black=False).net()
    form = bindable(net)
    check(form)
    assert bindable(form) == form
    assert reached(form, seed) == reached(net, seed)


@pytest.mark.parametrize("make", [random_core_rows, random_extended])
def test_nets_of_random_patterns(make: object) -> None:
    nets = [net for seed in PROGRAMS if (net := patterns(make, seed)) is not None]
    forms = list(map(bindable, nets))
    for form in forms:
        check(form)
    assert forms != nets
