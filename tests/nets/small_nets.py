"""The paper's small nets: Example 1 (Fig. 2) and Fig. 3, with the variants of epl-and-nets.md, section 7."""

from __future__ import annotations

from occurs.expr.tree import Binary, Expr, Literal
from occurs.model.types import Type
from occurs.nets.colours import Int, Product, Unit
from occurs.nets.net import P_HN, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import TupleTerm, var

INT, UNIT = Int("INT"), Unit("UNIT")
INT2 = Product("INT2", (INT, INT))
EVENTS = ((1, 3), (2, 5), (3, 4), (4, 10), (5, 15))


def number(n: int) -> Literal:
    return Literal(n, Type.INT)


def plus(a: Expr, b: Expr) -> Binary:
    return Binary("+", a, b)


def takes(place: str, transition: str, *terms: Expr) -> Arc:
    return Arc(place, transition, True, terms)


def gives(place: str, transition: str, *terms: Expr) -> Arc:
    return Arc(place, transition, False, terms)


N, M, S, R, P = map(var, "nmsrp")
PAIR = TupleTerm((N, M))
BY_FIVE = Binary("=", Binary("%", M, number(5)), number(0))
NEXT = plus(N, number(1))


def example_1() -> Net:
    """Adds up the values that 5 divides; no roles, two priorities."""
    page = Page(
        "Sum",
        (
            Place("C", INT, (0,)),
            Place("P", INT2, EVENTS),
            Place("S", INT, (0,)),
            Place("M", UNIT, ((),) * 20),
        ),
        (Transition("Process", (BY_FIVE,), P_HN), Transition("incr")),
        (
            takes("C", "Process", N),
            takes("P", "Process", PAIR),
            takes("S", "Process", S),
            gives("C", "Process", NEXT),
            gives("S", "Process", plus(S, M)),
            takes("C", "incr", N),
            takes("M", "incr", TupleTerm(())),
            gives("C", "incr", NEXT),
        ),
    )
    return Net("Example1", (INT, UNIT, INT2), tuple((v, INT) for v in "nms"), (page,))


def figure_3(back: Expr | None = None, init: tuple[int, ...] = (1,)) -> Net:
    """One black transition.  ``back``: what it gives back to Init, if anything."""
    arcs = [
        takes("Init", "t", R),
        takes("F", "t", PAIR),
        takes("P", "t", P),
        takes("Control", "t", number(0)),
        gives("Control", "t", number(0)),
        gives("F", "t", PAIR),
        gives("P", "t", P),
        gives("End", "t", TupleTerm((NEXT, plus(M, P)))),
    ]
    if back is not None:
        arcs.append(gives("Init", "t", back))
    page = Page(
        "Search",
        (
            Place("Control", INT, (0,), role=Role.CONTROL),
            Place("Init", INT, init, role=Role.INIT),
            Place("F", INT2, EVENTS, role=Role.F),
            Place("P", INT, (10,)),
            Place("End", INT2, role=Role.END),
        ),
        (Transition("t", (BY_FIVE,), black=Black("Init", "F", "r", "n")),),
        tuple(arcs),
    )
    return Net("Figure3", (INT, INT2), tuple((v, INT) for v in "nmrp"), (page,))
