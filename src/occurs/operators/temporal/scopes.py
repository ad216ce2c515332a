"""Terms and conditions of one state as expressions over columns, and what remembered values they have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product

from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, IsNull, Literal, Unary, rewrite
from occurs.expr.typing import infer
from occurs.model.time import TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal.network import Before, Compared
from occurs.operators.temporal.times import Ages, ages, allowed, linear
from occurs.operators.temporal.tree import (
    FLIPPED,
    NEGATED,
    Found,
    Generic,
    Global,
    Happens,
    Last,
    TableOf,
    Time,
    Value,
    Variable,
    ViewOf,
    free,
)

TEMPORAL = (*tree.FUTURE, *tree.PAST)
_COLUMNS = (Time, Variable, Value, Last, Happens, Before)
#: what is of a state
STATES = (*_COLUMNS, ViewOf, TableOf, Found)
_FIXED = (Literal, Generic)

class Unsuited(Exception):
    """A formula that has no form over columns; the message says what of it has none."""


@dataclass(frozen=True)
class Scope:
    """Remembered values: by name the term, of the state at which they were assigned; ``delay``: how many states before
    the present that was.  ``source``: they are times, and the node that has the last of them (None: of a state)."""

    terms: Mapping[str, Expr] = field(default_factory=dict)
    delay: int = 0
    source: int | None = None

    def of(self, node: Expr) -> Scope:
        """Of the variables that are free in ``node`` only."""
        names = free(node)
        terms = {n: t for n, t in self.terms.items() if n in names}
        return Scope(terms, self.delay, self.source) if terms else Scope()

    def assigned(self, f: tree.Assign) -> Scope:
        """With one more."""
        if self.terms and (self.delay or self.source is not None):
            raise Unsuited("values remembered at different states")
        return Scope({**self.terms, f.variable.text: self.filled(f.term)}, 0)

    def later(self) -> Scope:
        """At the next state."""
        if self.source is not None:
            raise Unsuited("values remembered at different states")
        return Scope({n: before(t) for n, t in self.terms.items()}, self.delay + 1)

    def filled(self, node: Expr) -> Expr:
        """With the terms in place of the variables."""
        if not isinstance(node, tree.Formula):
            return rewrite(node, lambda n: self.terms.get(n.name) if isinstance(n, Global) else None)
        if isinstance(node, tree.Assign):
            inner = Scope({n: t for n, t in self.terms.items() if n != node.variable.text})
            return tree.Assign(node.variable, self.filled(node.term), inner.filled(node.operand))  # type: ignore[arg-type]
        new = tuple(self.filled(c) for c in node.children)
        return node.with_children(new) if new else node


def temporal(node: Expr) -> bool:
    """Does it look at other states?"""
    return any(isinstance(n, (*TEMPORAL, tree.Aggregate)) for n in node.walk())


def forward(node: Expr) -> bool:
    """Does it look at later states?"""
    return any(isinstance(n, tree.FUTURE) for n in node.walk())


def before(node: Expr) -> Expr:
    """A term as it was at the state before."""
    if isinstance(node, _COLUMNS):
        if free(node):
            raise Unsuited("rows are looked up by values that change")
        return Before(node)
    return node.with_children(tuple(before(c) for c in node.children)) if node.children else node


def plain(node: Expr) -> Expr:
    """A formula of one state as a condition over columns, a term as it is; :class:`Unsuited`."""
    match node:
        case tree.Truth():
            return Literal(node.value, Type.BOOL)
        case tree.Compare():
            return Binary(node.op, plain(node.left), plain(node.right))
        case tree.IsNull():
            return IsNull(plain(node.term), node.negated)
        case tree.Atom():
            return plain(node.term)
        case tree.Not():
            return Unary("not", plain(node.operand))
        case tree.And() | tree.Or():
            op = "and" if isinstance(node, tree.And) else "or"
            found = plain(node.operands[0])
            for part in node.operands[1:]:
                found = Binary(op, found, plain(part))
            return found
        case tree.Implies():
            return Binary("or", Unary("not", plain(node.left)), plain(node.right))
        case tree.Assign():
            return plain(Scope().assigned(node).filled(node.operand))
        case Happens() | Value():
            if not all(isinstance(c, _FIXED) for c in node.children):
                raise Unsuited("rows are looked up by values that change")
            return node
        case Before():
            plain(node.leaf)
            return node
        case Time() | Variable() | Last() | Literal() | DurationLiteral() | Generic():
            return node
        case Call(name="time_of_day"):
            raise Unsuited("a time of the day")
        case Unary() | Binary() | Call():
            return node.with_children(tuple(plain(c) for c in node.children))
        case tree.Aggregate():
            raise Unsuited("an aggregate inside a term")
    raise Unsuited("SQL, or a relation")


def sort(node: Expr, kind: TimeKind) -> Type | None:
    """The type of a term."""

    def lookup(leaf: Expr) -> Type | None:
        if isinstance(leaf, Before):
            return lookup(leaf.leaf)
        if isinstance(leaf, Time):
            return Type.TIMESTAMP if kind.timestamp else Type.INT
        if isinstance(leaf, Happens):
            return Type.BOOL
        return getattr(leaf, "type", None)

    return infer(node, lookup, lambda *_: None, integer_time=not kind.timestamp)


# --- ages -------------------------------------------------------------------------------------------------------------


def bounded(bound: tree.Bound | None, kind: TimeKind) -> Ages:
    """What a bound allows."""
    return _within_reach(allowed(bound, kind))


def _within_reach(found: Ages) -> Ages:
    if not found.within_reach:
        raise Unsuited("a duration beyond 64 bits of ticks")
    return found


def aged(f: tree.Compare, scope: Scope, kind: TimeKind, clock: Expr, past: bool) -> Ages | None:
    """The ages that a comparison of ``time`` with a remembered time allows; None if it is another comparison.

    ``clock``: what a remembered time is; it is the later one in the ``past``.  An age is the time between the two.
    """
    names = {n for n in free(f) if scope.terms[n] == clock}
    if not names or names != free(f):
        return None
    left, right = linear(f.left, names, kind), linear(f.right, names, kind)
    if left is None or right is None:
        return None
    time, clocks, rest = (a - b for a, b in zip(left, right, strict=True))
    if time == 0 or clocks != -time:
        return None
    # time * (now - then) + rest op 0; in the past time * (then - now) + rest op 0
    if past:
        time = -time
    if f.op == "!=":
        raise Unsuited("a time that is not equal")
    return _within_reach(ages(f.op if time > 0 else FLIPPED[f.op], -rest / time))


# --- ways to hold -----------------------------------------------------------------------------------------------------


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
