"""The rules of nets with black transitions (Definition 7; epl-and-nets.md, section 4B, Validation).

They give (rule, element, text); :mod:`occurs.nets.validate` says what each rule demands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from occurs.expr.tree import Expr, Ref
from occurs.nets.colours import Int
from occurs.nets.net import Arc, Black, Net, Role, Transition
from occurs.nets.terms import TupleTerm
from occurs.nets.typing import first_field, spelled

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
