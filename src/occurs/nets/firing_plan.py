"""Transitions made ready to be fired: which token is looked for first, which conjunct is judged when.

Nothing here says what is enabled or what firing does: that is :mod:`occurs.nets.firing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from occurs.errors import DefinitionProblem, OccursError, Problem
from occurs.expr.tree import Expr, Literal
from occurs.nets.evaluate import Compiled, compile_term
from occurs.nets.matching import Matcher, binds, compile_pattern, fits, needs
from occurs.nets.net import Arc, Net, Role, Transition
from occurs.nets.terms import variables


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
