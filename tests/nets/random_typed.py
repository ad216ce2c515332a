"""Random small nets, well typed: shared variables, several tokens of a place, computed terms, black transitions."""

from __future__ import annotations

import random
from collections.abc import Sequence

from small_nets import INT, INT2, gives, number, takes

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Binary, Call, Expr
from occurs.nets.colours import Colour, List, Union, Unit, Value
from occurs.nets.firing import enabled
from occurs.nets.matching import binds
from occurs.nets.net import P_HN, P_MAX, P_MIN, P_NORMAL, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import Inject, ListTerm, TupleTerm, var

INTS = List("INTS", INT)
EITHER = Union("EITHER", (("p", INT), ("q", None)))
UNIT = Unit("UNIT")
COLOURS = (INT, INT2, INTS, EITHER, UNIT)
#: variables and their colours
NAMES: dict[str, Colour] = {
    **dict.fromkeys("xyzrn", INT),
    **dict.fromkeys("vw", INT2),
    **dict.fromkeys("lk", INTS),
    "e": EITHER,
}
LEAST = {"=": 4, ">=": 3, "<=": 1, ">": 1, "<": 1, "!=": 1}


class RandomNet:
    """``black``: with black transitions, too."""

    def __init__(self, seed: int, black: bool) -> None:
        self.rng = random.Random(seed)
        self.black = black

    def net(self) -> Net:
        """Nets without meaning (a variable without a value) are thrown away."""
        while True:
            net = self._net()
            try:
                enabled(net, net.initial)
            except DefinitionProblem:
                continue
            return net

    def _net(self) -> Net:
        rng = self.rng
        places = [self._place(f"P{k}") for k in range(rng.randint(2, 5))]
        if rng.random() < 0.4:
            fused = rng.choice(places)
            places = [Place(p.name, p.colour, p.initial, "together") if p is fused else p for p in places]
            places.append(Place("Fused", fused.colour, fused.initial, "together"))
        if self.black:
            numbers = rng.sample(range(12), rng.randint(3, 7))
            flow = tuple((n, rng.randint(0, 3)) for n in numbers)
            places.append(Place("F", INT2, flow, role=Role.F))
            places.append(Place("Init", INT2, ((0, 1), (0, 2))[: rng.randint(1, 2)], role=Role.INIT))
        transitions, arcs = list[Transition](), list[Arc]()
        for k in range(rng.randint(1, 4)):
            t, own = self._black(f"T{k}", places) if self.black and k < 2 else self._plain(f"T{k}", places)
            transitions.append(t)
            arcs += own
        page = Page("all", tuple(places), tuple(transitions), tuple(arcs))
        return Net("random", COLOURS, tuple(NAMES.items()), (page,))

    def _place(self, name: str) -> Place:
        colour = self.rng.choice((INT, INT, INT2, INT2, INTS, EITHER, UNIT))
        return Place(name, colour, tuple(self._value(colour) for _ in range(self.rng.randint(0, 4))))

    def _value(self, colour: Colour) -> Value:
        rng = self.rng
        if colour is INT:
            return rng.randint(0, 3)
        if colour is INT2:
            return (rng.randint(0, 3), rng.randint(0, 3))
        if colour is INTS:
            return tuple(rng.randint(0, 2) for _ in range(rng.randint(0, 2)))
        if colour is EITHER:
            return rng.choice((("q", ()), ("p", rng.randint(0, 2))))
        return ()

    # -- transitions -------------------------------------------------------------------------------------------------
    def _plain(self, name: str, places: Sequence[Place]) -> tuple[Transition, list[Arc]]:
        arcs = [
            takes(p.name, name, *(self._pattern(p.colour) for _ in range(self.rng.choice((1, 1, 1, 2)))))
            for p in self.rng.sample(places, self.rng.randint(1, min(3, len(places))))
        ]
        return self._finished(name, places, arcs, None)

    def _black(self, name: str, places: Sequence[Place]) -> tuple[Transition, list[Arc]]:
        row = TupleTerm((var("n"), self.rng.choice((var("x"), var("y"), number(1)))))
        search = TupleTerm((var("r"), self.rng.choice((var("x"), var("z"), number(1)))))
        arcs = [takes("Init", name, search), takes("F", name, row)]
        if self.rng.random() < 0.4:
            other = self.rng.choice([p for p in places if p.name not in ("F", "Init")])
            arcs.append(takes(other.name, name, self._pattern(other.colour)))
        self.rng.shuffle(arcs)
        done, arcs = self._finished(name, places, arcs, Black("Init", "F", "r", "n"))
        arcs.append(gives("F", name, row))
        if self.rng.random() < 0.7:
            again = TupleTerm((Binary("+", var("n"), number(1)), search.parts[1]))
            arcs.append(gives("Init", name, again))
        return done, arcs

    def _finished(
        self, name: str, places: Sequence[Place], arcs: list[Arc], black: Black | None
    ) -> tuple[Transition, list[Arc]]:
        rng = self.rng
        bound = set().union(*(binds(t) for a in arcs for t in a.terms))
        guard = tuple(self._condition(bound) for _ in range(rng.choice((0, 0, 1, 1, 2))))
        for arc in list(arcs):
            if black is None and rng.random() < 0.3:
                arcs.append(Arc(arc.place, name, False, arc.terms))
        for p in rng.sample(places, rng.randint(0, min(2, len(places)))):
            if p.role is None or rng.random() < 0.2:
                arcs.append(gives(p.name, name, self._made(p.colour, bound)))
        priority = rng.choice((P_MAX, P_HN, P_NORMAL, P_NORMAL, P_NORMAL, P_MIN))
        return Transition(name, guard, priority, black), arcs

    # -- terms -------------------------------------------------------------------------------------------------------
    def _pattern(self, colour: Colour) -> Expr:
        rng = self.rng
        if colour is INT:
            return rng.choice((var("x"), var("y"), var("z"), number(1), Binary("+", var("x"), number(1))))
        if colour is INT2:
            pair = TupleTerm((self._pattern(INT), self._pattern(INT)))
            return rng.choice((pair, pair, pair, var("v"), var("w")))
        if colour is INTS:
            head = Call("cons", (self._pattern(INT), var("l")))
            return rng.choice((var("l"), var("k"), head, ListTerm((self._pattern(INT),))))
        if colour is EITHER:
            return rng.choice((var("e"), Inject("q", None), Inject("p", self._pattern(INT))))
        return TupleTerm(())

    def _made(self, colour: Colour, bound: set[str]) -> Expr:
        rng = self.rng
        known = [var(v) for v in sorted(bound) if NAMES[v] is colour]
        if known and rng.random() < 0.5:
            return rng.choice(known)
        if colour is INT:
            op = rng.choice(("+", "-", "mod", "div"))
            return Binary(op, self._int(bound), self._int(bound)) if rng.random() < 0.4 else self._int(bound)
        if colour is INT2:
            return TupleTerm((self._made(INT, bound), self._int(bound)))
        if colour is INTS:
            return ListTerm(tuple(self._int(bound) for _ in range(rng.randint(0, 2))))
        if colour is EITHER:
            return Inject("p", self._int(bound))
        return TupleTerm(())

    def _int(self, bound: set[str]) -> Expr:
        known = [var(v) for v in sorted(bound) if NAMES[v] is INT]
        return self.rng.choice(known) if known and self.rng.random() < 0.8 else number(self.rng.randint(0, 3))

    def _condition(self, bound: set[str]) -> Expr:
        rng = self.rng
        op = rng.choices(list(LEAST), LEAST.values())[0]
        lists = [var(v) for v in sorted(bound) if NAMES[v] is INTS]
        if lists and rng.random() < 0.4:
            return Binary(op, Call("length", (rng.choice(lists),)), self._int(bound))
        right = self._int(bound)
        if rng.random() < 0.3:
            right = Binary(rng.choice(("+", "mod", "div")), right, self._int(bound))
        compared = Binary(op, self._int(bound), right)
        return Binary("or", compared, self._condition(bound)) if rng.random() < 0.1 else compared
