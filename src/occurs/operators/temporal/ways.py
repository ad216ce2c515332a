"""The ways in which a formula over remembered values can hold, each as what it asks of which state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from occurs.expr.tree import Expr
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal.network import FLIPPED, Ages, Before, Compared
from occurs.operators.temporal.scopes import (
    NEGATED,
    STATES,
    Scope,
    Unsuited,
    aged,
    forward,
    free,
    plain,
    sort,
    temporal,
)
from occurs.operators.temporal.tree import Time

#: more ways than this are not looked at one by one
MOST = 16
#: a formula that is to hold, or not to hold
Part = tuple[tree.Formula, bool]


@dataclass(frozen=True)
class Way:
    """What has to hold together.

    ``here``: of the state that is looked at; ``scope``: of the state of the remembered values alone; ``ages``: the time
    between the two; ``compared``: numbers of the two states, the later one on the left.  ``timed``: does a written
    comparison of times take part?  ``later``: looks forward from the state that is looked at, with remembered times.
    """

    here: tuple[Part, ...]
    scope: tuple[Part, ...]
    ages: Ages
    compared: tuple[Compared, ...]
    timed: bool
    later: tuple[Part, ...] = ()


class Ways:
    """Of one formula; ``past``: remembered values are those of the later state."""

    def __init__(self, scope: Scope, kind: TimeKind, past: bool) -> None:
        self.scope, self.kind, self.past = scope, kind, past
        self.clock: Expr = Time()
        for _ in range(scope.delay):
            self.clock = Before(self.clock)

    def of(self, f: tree.Formula, hold: bool) -> list[Way]:
        """All ways; :class:`Unsuited` if there is something that none of them can have."""
        found = list(self.parts(f, hold))
        if len(found) > MOST:
            raise Unsuited(f"more than {MOST} ways for a remembered value")
        return [self.way(parts) for parts in found]

    def parts(self, f: tree.Formula, hold: bool) -> Iterator[tuple[Part, ...]]:
        """Disjunctive normal form, as far as remembered values are used."""
        names = free(f) & self.scope.terms.keys()
        match f:
            case _ if not names:
                yield ((f, hold),)
            case tree.Not():
                yield from self.parts(f.operand, not hold)
            case tree.Implies():
                yield from self.parts(tree.Or((tree.Not(f.left), f.right)), hold)
            case tree.And() | tree.Or():
                every = [list(self.parts(p, hold)) for p in f.operands]
                if isinstance(f, tree.Or) == hold:
                    for found in every:
                        yield from found
                    return
                size = 1
                for found in every:
                    size *= len(found)
                if size > MOST:
                    raise Unsuited(f"more than {MOST} ways for a remembered value")
                for some in product(*every):
                    yield tuple(p for parts in some for p in parts)
            case tree.Assign():
                if temporal(f.operand) or free(f.term) & names:
                    raise Unsuited("values remembered at different states")
                inner = Scope({f.variable.text: f.term}).filled(f.operand)
                yield from self.parts(inner, hold)  # type: ignore[arg-type]
            case tree.Compare() if not hold and not self.is_age(f):
                # a comparison with null does not hold
                yield ((replace(f, op=NEGATED[f.op]), True),)
                for term in (f.left, f.right):
                    yield ((tree.IsNull(term), True),)
            case tree.Compare() if not hold:
                yield ((replace(f, op=NEGATED[f.op]), True),)
            case _:
                yield ((f, hold),)

    def is_age(self, f: tree.Compare) -> bool:
        """Is it about the time between two states?"""
        return aged(replace(f, op="<"), self.scope, self.kind, self.clock, self.past) is not None

    def way(self, parts: Sequence[Part]) -> Way:
        here: list[Part] = []
        scope: list[Part] = []
        compared: list[Compared] = []
        later: list[Part] = []
        found, timed = Ages(), False
        for f, hold in parts:
            if not free(f) & self.scope.terms.keys():
                here.append((f, hold))
                continue
            if forward(f) and all(self.scope.terms[n] == self.clock for n in free(f) & self.scope.terms.keys()):
                later.append((f, hold))
                continue
            if temporal(f):
                raise Unsuited("a remembered value below a further operator")
            if not self.elsewhere(f):
                scope.append((self.scope.filled(f), hold))  # type: ignore[arg-type]
                continue
            if not isinstance(f, tree.Compare):
                raise Unsuited("a term of remembered and of present values")
            age = aged(f, self.scope, self.kind, self.clock, self.past)
            if age is not None:
                found, timed = found & age, True
            else:
                compared.append(self.compared(f))
        return Way(tuple(here), tuple(scope), found, tuple(compared), timed, tuple(later))

    def elsewhere(self, node: Expr) -> bool:
        """Does what uses remembered values look at another state, too?"""
        return any(isinstance(n, STATES) for n in node.walk())

    def compared(self, f: tree.Compare) -> Compared:
        left, right, op = f.left, f.right, f.op
        if bool(free(left)) == bool(free(right)) or any(free(t) and self.elsewhere(t) for t in (left, right)):
            raise Unsuited("a term of remembered and of present values")
        if bool(free(left)) is not self.past:  # the later state stands on the left
            left, right, op = right, left, FLIPPED[op]
        now, then = plain(self.scope.filled(left)), plain(self.scope.filled(right))
        kinds = [sort(t, self.kind) for t in (now, then)]
        if not all(k in (Type.INT, Type.FLOAT, Type.TIMESTAMP, Type.BOOL) for k in kinds):
            raise Unsuited("remembered text")
        return Compared(now, op, then)
