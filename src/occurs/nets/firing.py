"""Enabling and firing as the paper defines them (Definitions 4 to 6 and 8; epl-and-nets.md, section 4B).

This is the reference: every marking is searched anew.  :mod:`occurs.nets.simulate` and :mod:`occurs.nets.explore` give
the same answers at less cost.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem, OccursError, Problem, UsageProblem
from occurs.expr.tree import Expr, Literal
from occurs.nets.colours import Value
from occurs.nets.evaluate import Binding, Compiled, compile_term
from occurs.nets.matching import Matcher, binds, compile_pattern, fits, needs
from occurs.nets.net import Arc, Marking, Net, Role, Transition
from occurs.nets.terms import variables

#: a transition's name and the values of its variables
Element = tuple[str, Binding]
#: picks one of the enabled binding elements (at least one)
Choose = Callable[[list[Element]], Element]


@dataclass
class Run:
    """The result of a run.

    Attributes:
        marking: The final marking.
        firings: The binding elements that fired, in order: a transition's name and the values of its variables.
    """

    marking: Marking
    firings: list[Element] = field(default_factory=list)

    @property
    def steps(self) -> int:
        """The number of firings."""
        return len(self.firings)


# --- what is enabled --------------------------------------------------------------------------------------------


def enabled(net: Net, marking: Marking) -> list[Element]:
    """Return the enabled binding elements of the most urgent transitions that have any (Definitions 5 and 8).

    Args:
        net: The net.
        marking: The marking to test.

    Returns:
        Pairs of a transition's name and the values of its variables, in the order of the transitions in the net; those
        of one transition are ordered by Init token, number on F, and then the tokens of the other arcs.
    """
    found: list[Element] = []
    for priority in sorted({t.priority for t in net.transitions.values()}):
        for plan in plans(net):
            if plan.transition.priority == priority:
                pools = [marking.tokens[t.holder] for t in plan.takings]
                found += [(plan.transition.name, b) for b in bindings(plan, pools)]
        if found:
            break
    return found


def bindings(plan: Plan, pools: Sequence[Counter[Value]]) -> list[Binding]:
    """The bindings of one transition that its guard and tokens allow, whatever the other transitions, in order.

    ``pools``: what each of ``plan.takings`` may take.
    """
    if not all(pools) or not all(g({}) is True for g in plan.always):
        return []
    found = list(_search(plan, pools, {}, []))
    if plan.transition.black is not None:
        found = _first_of_flow(plan.transition, found, plan.order[0])
    found.sort(key=lambda f: [f[1][k] for k in plan.order])
    return [b for b, _ in found]


def _search(
    plan: Plan, pools: Sequence[Counter[Value]], binding: Binding, taken: list[Value]
) -> Iterator[tuple[Binding, list[Value]]]:
    """All ways to take the tokens still missing: the binding, and the tokens in the order of ``takings``."""
    if len(taken) == len(plan.takings):
        yield binding, taken
        return
    taking = plan.takings[len(taken)]
    used = [v for v, t in zip(taken, plan.takings, strict=False) if t.holder == taking.holder]
    for value, count in pools[len(taken)].items():
        extended = dict(binding)
        if (
            count > used.count(value)
            and taking.matches(value, extended)
            and all(g(extended) is True for g in taking.guards)
        ):
            yield from _search(plan, pools, extended, [*taken, value])


def _first_of_flow(
    transition: Transition, found: list[tuple[Binding, list[Value]]], init: int
) -> list[tuple[Binding, list[Value]]]:
    """Definition 8: r <= n, and for the same Init token (number ``init`` of those taken) no smaller such n."""
    black = transition.black
    assert black is not None
    least: dict[Value, Any] = {}
    found = [(b, taken) for b, taken in found if b[black.r] <= b[black.n]]  # type: ignore[operator]
    for b, taken in found:
        n = b[black.n]
        least[taken[init]] = min(n, least.get(taken[init], n))
    return [(b, taken) for b, taken in found if b[black.n] == least[taken[init]]]


# --- firing -----------------------------------------------------------------------------------------------------


def fire(net: Net, marking: Marking, element: Element) -> Marking:
    """The marking after an element has fired (Def. 6): M - E(p,t)<b> + E(t,p)<b>.

    UsageProblem if its tokens are not there, InputProblem if a token is not of its place's colour or two tokens of a
    flow have one number.
    """
    name, binding = element
    if name not in net.transitions:
        raise UsageProblem.of("unknown-name", f"the net {net.name} has no transition `{name}`")
    plan = plan_of(net, name)
    after = marking.copy()
    for holder, term in plan.takes:
        take(after.tokens[holder], _value(net, plan, term, binding), net, name, holder)
    for arc, holder, term in plan.puts:
        put(after.tokens[holder], _value(net, plan, term, binding), net, arc)
    return after


def _value(net: Net, plan: Plan, term: Compiled, binding: Binding) -> Value:
    try:
        value: Value = term(binding)
    except KeyError as missing:
        message = f"`{missing.args[0]}` is not bound in {where(net, plan.transition.name)}"
        raise UsageProblem.of("unbound-variable", message) from None
    return value


def take(tokens: Counter[Value], value: Value, net: Net, transition: str, holder: str) -> None:
    """One token ``value`` less."""
    if tokens[value] < 1:
        message = f"{where(net, transition)} is not enabled: no token {value!r} on {where(net, holder)}"
        raise UsageProblem.of("not-enabled", message)
    tokens[value] -= 1
    if not tokens[value]:
        del tokens[value]


def put(tokens: Counter[Value], value: Value, net: Net, arc: Arc) -> None:
    """One token ``value`` more, if it may be there."""
    wrong = net.places[arc.place].colour.check(value)
    if wrong is None and net.holder(arc.place) in flows(net):
        number = number_of(value)
        if any(number_of(v) == number for v in tokens):
            wrong = f"a token with the number {number} already exists"
    if wrong is not None:
        message = f"{where(net, arc.transition)} puts {value!r} on {where(net, arc.place)}: {wrong}"
        raise InputProblem.of("bad-value", message, value=value)
    tokens[value] += 1


def number_of(value: Value) -> Value:
    """The number of a token of an Init or F place: its first field, or the token itself."""
    return value[0] if isinstance(value, tuple) else value


def flows(net: Net) -> frozenset[str]:
    """The holders on which every number may stand once: places of role F and those black transitions search."""
    if "flows" not in net.memo:
        names = [p.name for p in net.places.values() if p.role is Role.F]
        names += [t.black.f for t in net.transitions.values() if t.black and t.black.f in net.places]
        net.memo["flows"] = frozenset(net.holder(p) for p in names)
    found: frozenset[str] = net.memo["flows"]
    return found


# --- runs -------------------------------------------------------------------------------------------------------


def first(elements: list[Element]) -> Element:
    """The deterministic choice."""
    return elements[0]


def uniform(rng: random.Random) -> Choose:
    """A choice in which every enabled binding element is equally likely."""
    return rng.choice


def run(net: Net, marking: Marking | None = None, choose: Choose = first, limit: int | None = None) -> Run:
    """Fires from ``marking`` (None: the initial one) until nothing is enabled, or ``limit`` times."""
    done = Run(net.initial if marking is None else marking)
    while limit is None or done.steps < limit:
        elements = enabled(net, done.marking)
        if not elements:
            break
        element = choose(elements)
        done.marking = fire(net, done.marking, element)
        done.firings.append(element)
    return done


# --- transitions made ready to be fired -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Taking:
    """One token to be taken: from whose holder, what it has to look like, which conjuncts can be judged then.

    ``fits``: can the token be one whatever the others are?
    """

    holder: str
    fits: Callable[[Any], bool]
    matches: Matcher
    guards: tuple[Compiled, ...]


@dataclass(frozen=True)
class Plan:
    """A transition made ready: its tokens in the order in which they are looked for.

    ``order``: the numbers of ``takings`` by which bindings are ordered: Init token, F token, then as the arcs are.
    ``always``: conjuncts without variables.  ``puts``: arc, holder and term of every token given.
    """

    transition: Transition
    takings: tuple[Taking, ...]
    order: tuple[int, ...]
    always: tuple[Compiled, ...]
    takes: tuple[tuple[str, Compiled], ...]
    puts: tuple[tuple[Arc, str, Compiled], ...]


def plans(net: Net) -> tuple[Plan, ...]:
    """All transitions, ready, in the order of the net."""
    if "plans" not in net.memo:
        net.memo["plans"] = tuple(_plan(net, t) for t in net.transitions.values())
        net.memo["plan"] = {p.transition.name: p for p in net.memo["plans"]}
    found: tuple[Plan, ...] = net.memo["plans"]
    return found


def plan_of(net: Net, transition: str) -> Plan:
    plans(net)
    found: Plan = net.memo["plan"][transition]
    return found


def _plan(net: Net, transition: Transition) -> Plan:
    """Takes the arcs in an order in which every variable has its value where it is needed."""
    terms = [(arc, term) for arc in net.inputs[transition.name] for term in arc.terms]
    left, chosen, bound = list(range(len(terms))), list[int](), set[str]()
    guards = list(transition.guard)
    always = _judged(net, guards, bound)
    takings: list[Taking] = []
    try:
        while left:
            ready = [k for k in left if needs(terms[k][1]) <= bound]
            if not ready:
                raise _unbound(net, transition, needs(terms[left[0]][1]) - bound)
            k = min(ready, key=lambda k: _rank(net, *terms[k], bound))
            arc, term = terms[k]
            matches = compile_pattern(term, bound, net.colour_of)
            bound |= binds(term)
            now = tuple(_judged(net, guards, bound))
            takings.append(Taking(net.holder(arc.place), fits(term), matches, now))
            left.remove(k)
            chosen.append(k)
        free = _used_later(net, transition, guards)
        if free - bound:
            raise _unbound(net, transition, free - bound)
        takes = tuple((net.holder(arc.place), compile_term(term, net.colour_of)) for arc, term in terms)
        puts = tuple(
            (arc, net.holder(arc.place), compile_term(term, net.colour_of))
            for arc in net.outputs[transition.name]
            for term in arc.terms
        )
    except OccursError as problem:
        if problem.kind == "unbound-variable":
            raise
        message = f"{where(net, transition.name)}: {problem.message}"
        raise DefinitionProblem(Problem(problem.kind, message)) from None
    order = sorted(range(len(terms)), key=lambda k: (_primary(transition, terms[k][0]), k))
    return Plan(transition, tuple(takings), tuple(chosen.index(k) for k in order), tuple(always), takes, puts)


def _judged(net: Net, guards: list[Expr], bound: set[str]) -> list[Compiled]:
    """Takes out of ``guards`` those whose variables have values."""
    now = [g for g in guards if variables(g) <= bound]
    guards[:] = [g for g in guards if g not in now]
    return [compile_term(g, net.colour_of) for g in now]


def _used_later(net: Net, transition: Transition, guards: list[Expr]) -> set[str]:
    """The variables that must have values once all tokens are taken."""
    terms = [*guards, *(term for arc in net.outputs[transition.name] for term in arc.terms)]
    numbers = {transition.black.r, transition.black.n} if transition.black else set()
    return numbers.union(*map(variables, terms))


def _rank(net: Net, arc: Arc, term: Expr, bound: set[str]) -> tuple[bool, bool, bool]:
    """What to look for first: what is known altogether (one token at most), Control, at last the long flows."""
    role = net.places[arc.place].role
    known = variables(term) <= bound or isinstance(term, Literal)
    return not known, role is not Role.CONTROL, role in (Role.F, Role.INPUT)


def _primary(transition: Transition, arc: Arc) -> int:
    if transition.black is None:
        return 2
    return 0 if arc.place == transition.black.init else 1 if arc.place == transition.black.f else 2


def _unbound(net: Net, transition: Transition, names: set[str]) -> DefinitionProblem:
    listed = ", ".join(f"`{n}`" for n in sorted(names))
    message = f"no token that {where(net, transition.name)} takes binds {listed}"
    return DefinitionProblem(Problem("unbound-variable", message))


def where(net: Net, name: str) -> str:
    """An element in a message, with its page."""
    what = "place" if name in net.places else "transition"
    return f"{what} `{name}` (page `{net.page_of.get(name, '?')}`)"
