"""Transformation 1: black transitions as normal ones with priorities (epl-and-nets.md, sections 4B and 6).

Every black t becomes a place ``S_t`` and three transitions: ``t_t1`` sees that t could fire and takes its Init token to
S, holding Control back; ``t_next`` counts the token's number up; ``t_t2`` fires as t once the number is that of a row
that fits.  The priority of ``t_t1`` is that of t (the paper's text says normal, its proof and its traces need this).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from occurs.errors import DefinitionProblem, Problem
from occurs.expr.tree import Binary, Expr, Literal
from occurs.model.types import Type
from occurs.nets.colours import Colour, Product, Value, plain
from occurs.nets.firing import Element
from occurs.nets.net import P_MAX, P_NORMAL, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import TupleTerm, var, variables
from occurs.nets.typing import same


@dataclass(frozen=True)
class Encoded:
    """The names of the place and the three transitions that replace a black transition."""

    place: str
    t1: str
    next: str
    t2: str


def encoded(transition: str) -> Encoded:
    """Return the names of the nodes by which :func:`to_priority_net` replaces a black transition.

    Examples:
        >>> encoded("A")
        Encoded(place='S_A', t1='A_t1', next='A_next', t2='A_t2')
    """
    return Encoded(f"S_{transition}", f"{transition}_t1", f"{transition}_next", f"{transition}_t2")


def to_priority_net(net: Net) -> Net:
    """Replace black transitions by normal transitions with priorities.

    The new net has the same traces (Proposition 1 and Corollary 1 of the paper).  CPN Tools can run it.

    Args:
        net: The net; one without black transitions is returned unchanged.

    Returns:
        The encoded net.  :func:`encoded` returns the names of the new places and transitions.

    Raises:
        DefinitionProblem: A black transition does not take exactly one Init token, it uses the number of this token in
            its guard or on other arcs, or a new name is already used in the net.
    """
    if not any(t.black for t in net.transitions.values()):
        return net
    work = _Encoding(net)
    pages = tuple(work.page(page) for page in net.pages)
    return replace(net, pages=pages, variables=(*net.variables, *work.fresh.items()))


def to_black_trace(net: Net, firings: Iterable[Element]) -> list[Element]:
    """Translate a trace of ``to_priority_net(net)`` back into a trace of ``net`` (Corollary 1 of the paper).

    Args:
        net: The net with black transitions.
        firings: The firings of the encoded net.

    Returns:
        The firings of ``net``: one firing of t for each sequence t1, next .., t2, with the number at which t1 started.
        A sequence that has not reached t2 is left out.
    """
    black = {t.name: t.black for t in net.transitions.values() if t.black}
    t1, t2 = {encoded(t).t1: t for t in black}, {encoded(t).t2: t for t in black}
    silent = {encoded(t).next for t in black}
    began: dict[str, Value] = {}
    trace: list[Element] = []
    for name, binding in firings:
        if name in t1:
            began[t1[name]] = binding[black[t1[name]].r]
        elif name in t2:
            trace.append((t2[name], {**binding, black[t2[name]].r: began[t2[name]]}))
        elif name not in silent:
            trace.append((name, binding))
    return trace


def steps_encoded(net: Net, firings: Sequence[Element]) -> int:
    """Return the number of firings that ``to_priority_net(net)`` needs for the same trace.

    A black firing takes n - r + 2 of them, any other firing one.
    """
    steps = 0
    for name, binding in firings:
        black = net.transitions[name].black
        steps += 1 if black is None else binding[black.n] - binding[black.r] + 2  # type: ignore[operator]
    return steps


class _Encoding:
    def __init__(self, net: Net) -> None:
        self.net = net
        #: variables of the parts of Init tokens that ``next`` hands on, as far as the net has none
        self.fresh: dict[str, Colour] = {}
        self.taken = {*net.places, *net.transitions, *net.colour_of}

    def page(self, page: Page) -> Page:
        places, transitions, arcs = list(page.places), list[Transition](), list[Arc]()
        for t in page.transitions:
            mine = [a for a in page.arcs if a.transition == t.name]
            if t.black is None:
                transitions.append(t)
                arcs += mine
                continue
            place, three, new = self._replaced(t, t.black, mine)
            places.append(place)
            transitions += three
            arcs += new
        known = {t.name for t in page.transitions}
        arcs += [a for a in page.arcs if a.transition not in known]
        return Page(page.name, tuple(places), tuple(transitions), tuple(arcs))

    def _replaced(
        self, t: Transition, black: Black, arcs: list[Arc]
    ) -> tuple[Place, tuple[Transition, ...], list[Arc]]:
        """What the table of epl-and-nets.md, 4B, says takes the place of ``t``."""
        names = encoded(t.name)
        for name in (names.place, names.t1, names.next, names.t2):
            if name in self.taken:
                raise self._wrong("duplicate-name", t, f"its encoding needs the name `{name}`, which is already used")
            self.taken.add(name)
        init = next((a for a in arcs if a.input and a.place == black.init), None)
        if init is None or len(init.terms) != 1:
            raise self._wrong("black-init", t, f"it does not take exactly one token from its Init place `{black.init}`")
        others = [*t.guard, *(term for a in arcs if a is not init for term in a.terms)]
        if any(black.r in variables(term) for term in others):
            raise self._wrong(
                "unsupported", t, f"`{black.r}` is used in its guard or on other arcs, but the encoding increments it"
            )
        colour, token = self.net.places[black.init].colour, init.terms[0]
        r, n = var(black.r), var(black.n)
        three = (
            Transition(names.t1, (*t.guard, Binary(">=", n, r)), t.priority, at=t.at),
            Transition(names.next, (), P_NORMAL, at=_moved(t.at, 0, -60)),
            Transition(names.t2, (*t.guard, Binary("=", n, r)), P_MAX, at=_moved(t.at, 0, -120)),
        )
        place = Place(names.place, colour, at=_moved(t.at, 90, -60))
        looked_at = [a for a in arcs if a.input and a is not init and not self._control(a)]
        given = [a for a in arcs if not a.input]
        walking, one_on = self._walking(colour, black.r)
        new = [
            *(replace(a, transition=names.t1) for a in arcs if a.input),
            *(replace(a, transition=names.t1, input=False) for a in looked_at),
            Arc(names.place, names.t1, False, (token,)),
            Arc(names.place, names.next, True, (walking,)),
            Arc(names.place, names.next, False, (one_on,)),
            Arc(names.place, names.t2, True, (token,)),
            *(replace(a, transition=names.t2) for a in looked_at),
            *(replace(a, transition=names.t2) for a in given),
        ]
        return place, three, new

    def _control(self, arc: Arc) -> bool:
        """Is it the arc to Control, or to a place fused with it?"""
        place = self.net.places[arc.place]
        if place.role is Role.CONTROL:
            return True
        return place.fusion is not None and any(
            p.role is Role.CONTROL and p.fusion == place.fusion for p in self.net.places.values()
        )

    def _walking(self, colour: Colour, r: str) -> tuple[Expr, Expr]:
        """``(r, l)`` and ``(r + 1, l)``, or ``r`` and ``r + 1``."""
        number, on = var(r), Binary("+", var(r), Literal(1, Type.INT))
        whole = plain(colour)
        if not isinstance(whole, Product):
            return number, on
        used = {r}
        rest: list[Expr] = []
        for part in whole.parts[1:]:
            name = self._variable(part, used)
            used.add(name)
            rest.append(var(name))
        return TupleTerm((number, *rest)), TupleTerm((on, *rest))

    def _variable(self, colour: Colour, used: set[str]) -> str:
        """A variable of the colour that is not in use here."""
        for name, c in (*self.net.variables, *self.fresh.items()):
            if name not in used and same(c, colour):
                return name
        k = 1
        while f"rest{k}" in self.taken:
            k += 1
        self.taken.add(f"rest{k}")
        self.fresh[f"rest{k}"] = colour
        return f"rest{k}"

    def _wrong(self, kind: str, t: Transition, message: str) -> DefinitionProblem:
        page = self.net.page_of[t.name]
        return DefinitionProblem(Problem(kind, f"black transition `{t.name}` (page `{page}`): {message}"))


def _moved(at: tuple[float, float] | None, dx: float, dy: float) -> tuple[float, float] | None:
    return None if at is None else (at[0] + dx, at[1] + dy)
