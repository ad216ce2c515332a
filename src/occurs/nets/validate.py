"""Is a net well formed, and a net with black transitions a BPCPN?  (epl-and-nets.md, section 4B, Validation)

Every rule has a name (:data:`RULES`); all violations are reported, each with the element it concerns.  Rules of a BPCPN
apply to nets that have a black transition: plain nets may do without, and what Transformation 1 gives does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from occurs.errors import DefinitionProblem, Problem
from occurs.expr.tree import Expr, Ref
from occurs.nets.colours import Colour, Int, made_of, members
from occurs.nets.firing import equated, flows, number_of
from occurs.nets.functional.tree import token_part
from occurs.nets.matching import binds
from occurs.nets.net import Arc, Black, Net, Role, Transition
from occurs.nets.terms import TupleTerm, variables
from occurs.nets.typing import BOOL, Typing, first_field, same, spelled

#: what each rule demands
RULES = {
    "named": "give every page, place, transition, colour and variable a name of its own",
    "declared": "declare the colours of all places, each colour after the colours that it contains",
    "arc-ends": "an arc must join a place and a transition of its page and move at least one token",
    "fusion": "give all places of a fusion the same colour and the same initial tokens",
    "initial": "initial tokens must have the colour of their place",
    "inscription": "an inscription must have the colour of its place",
    "guard": "a guard must be a condition",
    "bindable": "a variable must be bound by a token or an equation of the guard, or have a colour of few values",
    "variable": "declare every variable with a colour of the net",
    "priority": "a priority must be a number from 0",
    "black-init": "a black transition must take one token from its primary Init place, which must be one of its inputs",
    "black-f": "a black transition must take one token from its primary F place, which must be one of its inputs",
    "black-primary": "if a black transition has Init (F) places as inputs, its primary place must be one of them",
    "black-f-output": "the primary F place of a black transition must also be one of its outputs",
    "black-f-kept": "a black transition must put back the tokens that it takes from F",
    "black-number": "Init and F tokens must start with an int, and the inscription with its variable",
    "control": "a net needs one Control place with one initial token, which every transition takes and puts back",
    "numbers": "every number must occur only once on a flow place",
    "every-in-every": "an `every` cannot contain another `every`",
}


@dataclass(frozen=True)
class Violation:
    """A broken rule of nets.

    Attributes:
        rule: The rule, a key of ``RULES``.
        element: The name of the place, transition, page, colour or variable.
        page: The page of the element, if it is on one.
        message: What is wrong.
    """

    rule: str
    element: str
    page: str | None
    message: str

    def problem(self, net: Net) -> Problem:
        page = f" (page `{self.page}`)" if self.page else ""
        text = f"{self.message}: `{self.element}`{page}"
        return Problem(self.rule, text, definition=net.name, hint=RULES[self.rule], node=self.element)


def validate(net: Net) -> None:
    """Check the rules of nets.

    Raises:
        DefinitionProblem: The net breaks rules; the exception lists all violations.
    """
    found = violations(net)
    if found:
        raise DefinitionProblem([v.problem(net) for v in found])


def violations(net: Net) -> list[Violation]:
    """Return all violations of the rules of nets, in the order of the rules and of the net.

    If names or the ends of arcs are wrong, the other rules are not checked.
    """
    found = [*_named(net), *_arc_ends(net)]
    if found:
        return found
    found += [*_declared(net), *_fusion(net), *_initial(net), *_inscriptions(net), *_bindable(net), *_variables(net)]
    found += [Violation(rule, element, net.page_of[element], text) for rule, element, text in black_rules(net)]
    return found + list(_numbers(net))


def _named(net: Net) -> Iterator[Violation]:
    pages = [p.name for p in net.pages]
    nodes = [(place.name, p.name) for p in net.pages for place in p.places]
    nodes += [(t.name, p.name) for p in net.pages for t in p.transitions]
    kinds: list[tuple[str, list[tuple[str, str | None]]]] = [
        ("page", [(n, None) for n in pages]),
        ("node", list(nodes)),
        ("colour", [(c.name, None) for c in net.colours]),
        ("variable", [(n, None) for n, _ in net.variables]),
    ]
    for what, names in kinds:
        counts = Counter(n for n, _ in names)
        for name, page in names:
            if not name:
                yield Violation("named", name, page, f"a {what} without a name")
            elif counts[name] > 1:
                counts[name] = 1
                yield Violation("named", name, page, f"two {what}s with the same name")


def _arc_ends(net: Net) -> Iterator[Violation]:
    for page in net.pages:
        places, transitions = {p.name for p in page.places}, {t.name for t in page.transitions}
        for arc in page.arcs:
            if arc.place not in places:
                message = f"an arc of `{arc.transition}` to a place that is not on this page"
                yield Violation("arc-ends", arc.place, page.name, message)
            if arc.transition not in transitions:
                message = f"an arc of `{arc.place}` to a transition that is not on this page"
                yield Violation("arc-ends", arc.transition, page.name, message)
            if not arc.terms:
                message = f"an arc with an empty inscription at `{arc.place}`"
                yield Violation("arc-ends", arc.transition, page.name, message)


def _declared(net: Net) -> Iterator[Violation]:
    known: dict[str, Colour] = {}
    for colour in net.colours:
        for part in made_of(colour):
            if known.get(part.name) != part:
                yield Violation("declared", colour.name, None, f"{spelled(part)} is not declared before this colour")
        known[colour.name] = colour
    for p in net.places.values():
        if known.get(p.colour.name) != p.colour:
            message = f"its colour {spelled(p.colour)} is not declared"
            yield Violation("declared", p.name, net.page_of[p.name], message)


def _fusion(net: Net) -> Iterator[Violation]:
    for p in net.places.values():
        first = net.places[net.holder(p.name)]
        if not same(p.colour, first.colour) or p.colour.timed != first.colour.timed:
            message = f"fused with `{first.name}`, whose colour is {first.colour.name}, not {p.colour.name}"
            yield Violation("fusion", p.name, net.page_of[p.name], message)
        elif Counter(p.initial) != Counter(first.initial):
            message = f"fused with `{first.name}`, which has other initial tokens"
            yield Violation("fusion", p.name, net.page_of[p.name], message)


def _initial(net: Net) -> Iterator[Violation]:
    for p in net.places.values():
        for value in p.initial:
            wrong = p.colour.check(value)
            if wrong is not None:
                yield Violation("initial", p.name, net.page_of[p.name], f"wrong initial token: {wrong}")


def _inscriptions(net: Net) -> Iterator[Violation]:
    for arc in net.arcs:
        where = f"on the arc {_arrow(arc)}"
        for term in arc.terms:
            typing = Typing(net.colour_of, net.colours)
            if not typing.check(term, net.places[arc.place].colour):
                message = f"{where}: {'; '.join(typing.wrong)}"
                yield Violation("inscription", arc.transition, net.page_of[arc.transition], message)
    for t in net.transitions.values():
        for conjunct in t.guard:
            typing = Typing(net.colour_of, net.colours)
            if not typing.check(conjunct, BOOL):
                yield Violation("guard", t.name, net.page_of[t.name], f"in its guard: {'; '.join(typing.wrong)}")
        if t.priority < 0:
            yield Violation("priority", t.name, net.page_of[t.name], f"priority {t.priority}")


def _bindable(net: Net) -> Iterator[Violation]:
    for t in net.transitions.values():
        bound = set().union(*(binds(token_part(term)[0]) for arc in net.inputs[t.name] for term in arc.terms))
        for name in sorted(_used(net, t) - bound):
            if t.black is None and _free(net, t, name):
                continue
            message = f"no token that it takes binds `{name}`"
            yield Violation("bindable", t.name, net.page_of[t.name], message)


def _free(net: Net, t: Transition, name: str) -> bool:
    """Whether a variable has a value though no token binds it."""
    said = any(equated(g, name) is not None for g in t.guard)
    return said or (name in net.colour_of and members(net.colour_of[name]) is not None)


def _used(net: Net, t: Transition) -> set[str]:
    arcs = (*net.inputs[t.name], *net.outputs[t.name])
    terms = [*t.guard, *(term for arc in arcs for term in arc.terms)]
    return set().union(*map(variables, terms))


def _variables(net: Net) -> Iterator[Violation]:
    for name, colour in net.variables:
        if colour not in net.colours:
            yield Violation("variable", name, None, f"the colour {spelled(colour)} of this variable is not declared")


def _numbers(net: Net) -> Iterator[Violation]:
    for holder in sorted(flows(net)):
        numbers = Counter(number_of(v) for v in net.places[holder].initial)
        for number, count in numbers.items():
            if count > 1:
                message = f"{count} initial tokens with the number {number}"
                yield Violation("numbers", holder, net.page_of[holder], message)


def _arrow(arc: Arc) -> str:
    ends = (arc.place, arc.transition) if arc.input else (arc.transition, arc.place)
    return "`{}` -> `{}`".format(*ends)


# --- nets with black transitions (Definition 7) -----------------------------------------------------------------------


_Found = Iterator[tuple[str, str, str]]


def black_rules(net: Net) -> _Found:
    """What breaks the rules of a BPCPN; nothing in a plain net."""
    black = [(t, t.black) for t in net.transitions.values() if t.black]
    for t, b in black:
        yield from _primary(net, t, b)
        yield from _flow(net, t, b)
        yield from _numbered(net, t, b)
    if black:
        yield from _control(net)
        yield from _nested(net)


def _primary(net: Net, t: Transition, black: Black) -> _Found:
    """Both primary places are inputs from which one token is taken, and of their role if there is any of it."""
    inputs = net.inputs[t.name]
    for rule, role, name in (("black-init", Role.INIT, black.init), ("black-f", Role.F, black.f)):
        what = f"its {role.value} place"
        taken = sum(len(a.terms) for a in inputs if a.place == name)
        if not taken:
            yield rule, t.name, f"{what} `{name}` is not one of its inputs" if name else f"{what} is not given"
        elif taken > 1:
            yield rule, t.name, f"it takes {taken} tokens from {what} `{name}`"
        others = [a.place for a in inputs if net.places[a.place].role is role]
        if taken and others and name not in others:
            listed = ", ".join(f"`{p}`" for p in dict.fromkeys(others))
            message = f"its primary {role.value} place is `{name}`, but its inputs of that role are {listed}"
            yield "black-primary", t.name, message


def _flow(net: Net, t: Transition, black: Black) -> _Found:
    """E(F,t) is part of E(t,F)."""
    taken = _inscription(net.inputs[t.name], black.f)
    given = _inscription(net.outputs[t.name], black.f)
    if taken and not given:
        yield "black-f-output", t.name, f"its F place `{black.f}` is not one of its outputs"
    elif taken - given:
        yield "black-f-kept", t.name, f"it does not put back the token that it takes from `{black.f}`"


def _inscription(arcs: tuple[Arc, ...], place: str) -> Counter[Expr]:
    return Counter(term for a in arcs if a.place == place for term in a.terms)


def _numbered(net: Net, t: Transition, black: Black) -> _Found:
    for name, variable in ((black.init, black.r), (black.f, black.n)):
        if name not in net.places:
            continue
        first = first_field(net.places[name].colour)
        if not isinstance(first, Int):
            yield "black-number", t.name, f"tokens of `{name}` start with {spelled(first)}, not with an int"
            continue
        for term in _inscription(net.inputs[t.name], name):
            number = term.parts[0] if isinstance(term, TupleTerm) and term.parts else term
            if not (isinstance(number, Ref) and number.name == variable):
                yield "black-number", t.name, f"the number of the token that it takes from `{name}` is not `{variable}`"


def _control(net: Net) -> _Found:
    holders = list(dict.fromkeys(net.holder(p.name) for p in net.places.values() if p.role is Role.CONTROL))
    for t in net.transitions.values() if not holders else ():
        yield "control", t.name, "there is no Control place"
    for other in holders[1:]:
        yield "control", other, f"a second Control place besides `{holders[0]}`"
    for holder in holders[:1]:
        tokens = len(net.places[holder].initial)
        if tokens != 1:
            yield "control", holder, f"Control has {tokens} initial tokens instead of one"
        for t in net.transitions.values():
            taken, given = (
                Counter(term for a in arcs[t.name] if net.holder(a.place) == holder for term in a.terms)
                for arcs in (net.inputs, net.outputs)
            )
            if taken.total() != 1 or taken != given:
                yield "control", t.name, f"it takes {_tokens(taken)} from Control and puts back {_tokens(given)}"


def _tokens(counted: Counter[Expr]) -> str:
    total = counted.total()
    return "none" if not total else "another token" if total == 1 else f"{total} tokens"


def _nested(net: Net) -> _Found:
    """An every restarts its pattern through what ends it; around another every nothing ever does.

    So a transition that begins a search anew, but waits for an Exit place which no transition fills, closes an every
    around an every.
    """
    inits = {net.holder(t.black.init) for t in net.transitions.values() if t.black and t.black.init in net.places}
    filled = {net.holder(a.place) for a in net.arcs if not a.input}
    filled |= {net.holder(p.name) for p in net.places.values() if p.initial}
    for t in net.transitions.values():
        restarts = [a.place for a in net.outputs[t.name] if net.holder(a.place) in inits]
        exits = [a for a in net.inputs[t.name] if net.places[a.place].role is Role.EXIT]
        for a in exits if t.black is None and restarts else ():
            if net.holder(a.place) not in filled:
                message = f"the transition restarts `{restarts[0]}` after `{a.place}`, "
                message += "but no `every` adds a token there"
                yield "every-in-every", t.name, message
