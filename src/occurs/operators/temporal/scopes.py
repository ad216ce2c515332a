"""Terms and conditions of one state as expressions over columns, and what remembered values they have."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from occurs.expr.tree import Binary, Call, DurationLiteral, Expr, IsNull, Literal, Unary, rewrite
from occurs.expr.typing import infer
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type
from occurs.operators.temporal import tree
from occurs.operators.temporal.network import FLIPPED, Ages, Before
from occurs.operators.temporal.tree import (
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
)

TEMPORAL = (*tree.FUTURE, *tree.PAST)
_COLUMNS = (Time, Variable, Value, Last, Happens, Before)
#: what is of a state
STATES = (*_COLUMNS, ViewOf, TableOf, Found)
_FIXED = (Literal, Generic)
#: ages that may be added up in int64
REACH = 2**61
NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}


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


def free(node: Expr) -> frozenset[str]:
    """The remembered values that are used in a formula or term."""
    if isinstance(node, Global):
        return frozenset({node.name})
    if isinstance(node, tree.Assign):
        return free(node.term) | (free(node.operand) - {node.variable.text})
    return frozenset().union(*(free(c) for c in node.children))


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


def ticks(duration: Duration, kind: TimeKind) -> Fraction:
    """The exact number of ticks."""
    found = kind.convert(duration)
    if found is None:
        raise Unsuited("a duration without a common unit with time")
    return _within_reach(found)


def _within_reach(limit: Fraction) -> Fraction:
    if abs(limit) > REACH:
        raise Unsuited("a duration beyond 64 bits of ticks")
    return limit


def ages(op: str, limit: Fraction) -> Ages:
    """The ages of whole ticks that are ``op limit``; for ``<= < =`` no later age is one from ``limit`` on."""
    _within_reach(limit)
    low, high = math.ceil(limit), math.floor(limit)
    match op:
        case "<=":
            return Ages(0, high, low)
        case "<":
            return Ages(0, low - 1, low)
        case "=":
            return Ages(low, high, low)
        case ">=":
            return Ages(low)
        case ">":
            return Ages(high + 1)
    raise Unsuited("a time that is not equal")


def bounded(bound: tree.Bound | None, kind: TimeKind) -> Ages:
    """What a bound allows."""
    if bound is None:
        return Ages()
    first = ticks(bound.first, kind)
    if bound.second is None:
        return ages(bound.op, first)
    return ages(">=", first) & ages("<=", ticks(bound.second, kind))


def aged(f: tree.Compare, scope: Scope, kind: TimeKind, clock: Expr, past: bool) -> Ages | None:
    """The ages that a comparison of ``time`` with a remembered time allows; None if it is another comparison.

    ``clock``: what a remembered time is; it is the later one in the ``past``.  An age is the time between the two.
    """
    names = {n for n in free(f) if scope.terms[n] == clock}
    if not names or names != free(f):
        return None
    left, right = _linear(f.left, names, kind), _linear(f.right, names, kind)
    if left is None or right is None:
        return None
    time, clocks, rest = (a - b for a, b in zip(left, right, strict=True))
    if time == 0 or clocks != -time:
        return None
    # time * (now - then) + rest op 0; in the past time * (then - now) + rest op 0
    if past:
        time = -time
    return ages(f.op if time > 0 else FLIPPED[f.op], -rest / time)


def _linear(node: Expr, names: set[str], kind: TimeKind) -> tuple[Fraction, Fraction, Fraction] | None:
    """``a * time + b * then + c``."""
    match node:
        case Time():
            return Fraction(1), Fraction(0), Fraction(0)
        case Global():
            return (Fraction(0), Fraction(1), Fraction(0)) if node.name in names else None
        case DurationLiteral():
            return Fraction(0), Fraction(0), ticks(node.value, kind)
        case Literal(value=int() | float() as number) if not isinstance(number, bool) and math.isfinite(number):
            return Fraction(0), Fraction(0), Fraction(number)
        case Unary(op="neg"):
            found = _linear(node.arg, names, kind)
            return None if found is None else (-found[0], -found[1], -found[2])
        case Binary(op="+" | "-" | "*"):
            left, right = _linear(node.left, names, kind), _linear(node.right, names, kind)
            if left is None or right is None:
                return None
            if node.op == "*":
                if any(left[:2]) and any(right[:2]):
                    return None
                by, of = (left[2], right) if not any(left[:2]) else (right[2], left)
                return by * of[0], by * of[1], by * of[2]
            sign = 1 if node.op == "+" else -1
            return left[0] + sign * right[0], left[1] + sign * right[1], left[2] + sign * right[2]
    return None
