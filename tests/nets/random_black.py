"""Small random nets with black transitions, not made from patterns: Transformation 1 has to hold for all of them."""

from __future__ import annotations

import random

from small_nets import INT, INT2, gives, number, plus, takes

from occurs.expr.tree import Binary, Expr
from occurs.nets.colours import List, Product
from occurs.nets.net import P_HN, P_MIN, P_NORMAL, Arc, Black, Net, Page, Place, Role, Transition
from occurs.nets.terms import ListTerm, TupleTerm, var

INTS = List("INTS", INT)
WALK = Product("WALK", (INT, INTS))
R, N, M, L, S, X = map(var, "rnmlsx")


def random_black(rng: random.Random) -> Net:
    """Up to two flows and three searches that feed one another, and a normal transition; runs end."""
    flows = ["F", "G"][: rng.randint(1, 2)]
    # searches go from Init k to places behind it, so that no run is endless but for its flow
    count = rng.randint(1, 3)
    inits = [f"Init{k}" for k in range(count + 1)]
    places = [
        Place("Control", INT, (0,), role=Role.CONTROL),
        Place("Seq", INT, (7,), role=Role.SEQ),
        *(Place(f, INT2, flow(rng), role=Role.F) for f in flows),
        *(Place(i, WALK, starts(rng) if k == 0 else (), role=Role.INIT) for k, i in enumerate(inits)),
        Place("End", INT2, role=Role.END),
        Place("Stock", INT, tuple(rng.randint(0, 3) for _ in range(rng.randint(1, 2)))),
    ]
    transitions, arcs = [], list[Arc]()
    for k in range(count):
        t, mine = search(rng, f"t{k}", inits[k], inits[k + 1], rng.choice(flows))
        transitions.append(t)
        arcs += mine
    if rng.random() < 0.7:
        transitions.append(Transition("join", (Binary("<", M, X),), rng.choice((P_HN, P_NORMAL))))
        arcs += [takes("Control", "join", number(0)), gives("Control", "join", number(0))]
        arcs += [takes("End", "join", TupleTerm((N, M))), takes("Stock", "join", X), gives("Stock", "join", M)]
    page = Page("Random", tuple(places), tuple(transitions), tuple(arcs))
    variables = (*((v, INT) for v in "rnmsx"), ("l", INTS))
    return Net("Random", (INT, INT2, INTS, WALK), variables, (page,))


def flow(rng: random.Random) -> tuple[tuple[int, int], ...]:
    numbers = rng.sample(range(1, 7), rng.randint(1, 4))
    return tuple((n, rng.randint(0, 3)) for n in numbers)


def starts(rng: random.Random) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((rng.randint(0, 3), ()) for _ in range(rng.randint(1, 2)))


def search(rng: random.Random, name: str, init: str, on: str, f: str) -> tuple[Transition, list[Arc]]:
    """Takes (r, l) and (n, m); may look at a token of Stock, put a new row on its flow, start itself again."""
    stock = rng.random() < 0.4
    guard: list[Expr] = []
    if rng.random() < 0.8:
        bound = X if stock and rng.random() < 0.7 else number(rng.randint(0, 3))
        guard.append(Binary(rng.choice(("<=", ">=", "=", "!=")), M, bound))
    token = TupleTerm((R, L))
    seen = TupleTerm((plus(N, number(1)), ListTerm((M,))))
    arcs = [
        takes("Control", name, number(0)),
        takes(init, name, token),
        takes(f, name, TupleTerm((N, M))),
        gives("Control", name, number(0)),
    ]
    back: list[Expr] = [TupleTerm((N, M))]
    if rng.random() < 0.3:
        arcs += [takes("Seq", name, S), gives("Seq", name, plus(S, number(1)))]
        back.append(TupleTerm((S, number(rng.randint(0, 1)))))
        guard.append(Binary("<", S, number(9)))
    arcs.append(gives(f, name, *back))
    if stock:
        arcs.append(takes("Stock", name, X))
        if rng.random() < 0.7:
            arcs.append(gives("Stock", name, X))
    arcs.append(gives(on, name, seen) if rng.random() < 0.7 else gives("End", name, TupleTerm((N, M))))
    if rng.random() < 0.5:
        arcs.append(gives(init, name, TupleTerm((plus(N, number(1)), L))))
    t = Transition(name, tuple(guard), rng.choice((P_NORMAL, P_NORMAL, P_MIN, P_HN)), Black(init, f, "r", "n"))
    return t, arcs
