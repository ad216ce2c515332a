"""The tree of temporal formulas that the operator evaluates (temporal-logic.md, section 4).

Terms are of :mod:`occurs.expr.tree`, and formulas are expressions, too: ``walk``, ``children`` and ``rewrite`` go
through both.  A language parses a text to formulas whose names are ``Ref``, and resolves these to the leaves of this
module; what the operator evaluates is resolved.  :func:`lowered` leaves few of the operators.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from occurs.errors import Span
from occurs.expr.text import Name
from occurs.expr.tree import Binary, DurationLiteral, Expr, _Leaf, _span
from occurs.model.time import Duration
from occurs.model.types import Type

# --- terms ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aggregate(Expr):
    """``op of arg from predicate`` or ``op of arg within duration``: one of the two is None.

    ``op``: ``sum avg count min max``.  ``from NAME`` has an :class:`Atom` as predicate.
    """

    op: str
    arg: Expr
    predicate: Formula | None = None
    within: Duration | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Sql(_Leaf):
    """A SELECT as written, without the parentheses or the semicolon around it; parameters are ``:name``."""

    text: str
    span: Span | None = _span()


# --- formulas -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula(Expr):
    """Any formula."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def parts(self) -> tuple[Formula, ...]:
        """The formulas directly below; predicates of aggregates are not among them."""
        return tuple(c for c in self.children if isinstance(c, Formula))


@dataclass(frozen=True)
class Truth(Formula):
    """``true``, ``false``."""

    value: bool


@dataclass(frozen=True)
class Compare(Formula):
    """``left op right``; ``op``: ``= != < <= > >=``."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class IsNull(Formula):
    """``term is null``, ``term is not null``."""

    term: Expr
    negated: bool = False


@dataclass(frozen=True)
class Atom(Formula):
    """A term as a proposition: a boolean value, or an event (``Ref`` or ``Apply`` with its name)."""

    term: Expr


@dataclass(frozen=True)
class Exists(Formula):
    """``exists (SQL)``."""

    sql: Sql


@dataclass(frozen=True)
class Not(Formula):
    """``not f``."""

    operand: Formula


@dataclass(frozen=True)
class And(Formula):
    """``f and g ..``: two operands or more; chains in parentheses of their own are operands."""

    operands: tuple[Formula, ...]


@dataclass(frozen=True)
class Or(Formula):
    """``f or g ..``: two operands or more."""

    operands: tuple[Formula, ...]


@dataclass(frozen=True)
class Implies(Formula):
    """``f implies g``."""

    left: Formula
    right: Formula


@dataclass(frozen=True)
class Assign(Formula):
    """``[variable <- term] operand``."""

    variable: Name
    term: Expr
    operand: Formula


@dataclass(frozen=True)
class Nexttime(Formula):
    """``nexttime f``."""

    operand: Formula


@dataclass(frozen=True)
class Lasttime(Formula):
    """``lasttime f``."""

    operand: Formula


@dataclass(frozen=True)
class Bound:
    """``[<=c]``, ``within c`` (the same), ``[>=c] [=c] [<c] [>c]``; ``[low, high]`` has the ``op`` ``in``.

    ``first`` is c, or low; ``second`` is high.  Durations without a unit are ticks.
    """

    op: str
    first: Duration
    second: Duration | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class _Bounded(Formula):
    operand: Formula
    bound: Bound | None = None


@dataclass(frozen=True)
class Eventually(_Bounded):
    """``eventually[B] f``."""


@dataclass(frozen=True)
class Always(_Bounded):
    """``always[B] f``."""


@dataclass(frozen=True)
class Previously(_Bounded):
    """``previously[B] f``, ``once``."""


@dataclass(frozen=True)
class Throughout(_Bounded):
    """``throughout[B] f``, ``historically``."""


@dataclass(frozen=True)
class _Paired(Formula):
    left: Formula
    right: Formula
    bound: Bound | None = None


@dataclass(frozen=True)
class Until(_Paired):
    """``f until[B] g``."""


@dataclass(frozen=True)
class Since(_Paired):
    """``f since[B] g``."""


@dataclass(frozen=True)
class Release(_Paired):
    """``f release[B] g``."""


@dataclass(frozen=True)
class WeakUntil(Formula):
    """``f weak until g``, ``f unless g``."""

    left: Formula
    right: Formula


#: the operators that look at later states, and at earlier ones (aggregates, which are terms, do the latter, too)
FUTURE = (Nexttime, Until, Eventually, Always, Release, WeakUntil)
PAST = (Lasttime, Since, Previously, Throughout)
#: operators of comparisons that hold where another one does not, and with their sides exchanged
NEGATED = {"<": ">=", ">": "<=", "<=": ">", ">=": "<", "=": "!=", "!=": "="}
FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


# --- names, resolved --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RelationType:
    """The sort of a term that is a relation: its columns; a type that is not known is NULL."""

    columns: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        return f"a relation ({', '.join(n for n, _ in self.columns)})"


#: what a term gives; None: it is not known
Sort = Type | RelationType | None


@dataclass(frozen=True)
class Time(_Leaf):
    """``time``: of the state."""

    span: Span | None = _span()


@dataclass(frozen=True)
class Global(_Leaf):
    """A global variable; ``clock``: it is assigned from ``time``."""

    name: str
    sort: Sort = None
    clock: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Generic(_Leaf):
    """A generic variable: a constant of the instance."""

    name: str
    type: Type | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Variable(_Leaf):
    """A database variable: a column of the rows of type ``state``."""

    state: str
    name: str
    type: Type | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Value(Expr):
    """``column`` of the row of ``table`` with these ``keys``, in the order of the declaration; without keys of its only
    row."""

    table: str
    column: str
    keys: tuple[Expr, ...]
    type: Type | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class ViewOf(Expr):
    """What a view gives with these arguments, in the order of its parameters: one value, or rows."""

    view: str
    args: tuple[Expr, ...]
    sort: Sort = None
    span: Span | None = _span()


@dataclass(frozen=True)
class TableOf(_Leaf):
    """All rows of a table."""

    table: str
    sort: Sort = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Last(_Leaf):
    """``event.attribute``: of the last such event of the state."""

    event: str
    attribute: str
    type: Type | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Happens(Formula):
    """The state has an event of this type in which each of ``names`` has the value of the term in its place."""

    event: str
    names: tuple[str, ...] = ()
    args: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Found(Formula):
    """``exists (sql)``.

    ``names`` are its parameters, ``args`` their values; ``relations``: the global variables that it reads as tables;
    ``tables``: those that it reads, also through views.
    """

    sql: Sql
    names: tuple[str, ...] = ()
    args: tuple[Expr, ...] = ()
    relations: tuple[Expr, ...] = ()
    tables: tuple[str, ...] = ()


# --- what formulas tell -------------------------------------------------------------------------------------------


def free(node: Expr) -> frozenset[str]:
    """The global variables that are free in a resolved formula or term."""
    if isinstance(node, Global):
        return frozenset({node.name})
    if isinstance(node, Assign):
        return free(node.term) | (free(node.operand) - {node.variable.text})
    return frozenset().union(*(free(c) for c in node.children))


def clocks(formula: Formula) -> frozenset[str]:
    """The variables that have nothing but times of states."""
    assigned = [n for n in formula.walk() if isinstance(n, Assign)]
    return frozenset(n.variable.text for n in assigned) - {n.variable.text for n in assigned if n.term != Time()}


def conjuncts(node: Formula, holds: bool) -> Iterator[tuple[str, Expr, Expr]]:
    """The comparisons that are satisfied whenever ``node`` is (or is not, if not ``holds``)."""
    match node:
        case Compare():
            yield (node.op if holds else NEGATED[node.op]), node.left, node.right
        case Not():
            yield from conjuncts(node.operand, not holds)
        case And() if holds:
            for part in node.operands:
                yield from conjuncts(part, holds)
        case Or() if not holds:
            for part in node.operands:
                yield from conjuncts(part, holds)
        case Implies() if not holds:
            yield from conjuncts(node.left, True)
            yield from conjuncts(node.right, False)


# --- few operators ----------------------------------------------------------------------------------------------------

#: what is left of the operators
AHEAD = (Nexttime, Until)
BACK = (Lasttime, Since)
_TRUE = Truth(True)


def lowered(formula: Formula) -> Formula:
    """The same formula with not, and, or, assignment, nexttime, until without bound, lasttime, since and atoms only."""
    # variables of bounds are called `#1`, `#2` ..
    return _lower(formula, (f"#{n}" for n in count(1)))


def _lower(f: Formula, names: Iterator[str]) -> Formula:
    match f:
        case Implies():
            return Or((Not(_lower(f.left, names)), _lower(f.right, names)))
        case Eventually():
            return _until(_TRUE, _lower(f.operand, names), f.bound, names)
        case Always():
            return Not(_until(_TRUE, Not(_lower(f.operand, names)), f.bound, names))
        case Until():
            return _until(_lower(f.left, names), _lower(f.right, names), f.bound, names)
        case Release():
            return Not(_until(Not(_lower(f.left, names)), Not(_lower(f.right, names)), f.bound, names))
        case WeakUntil():
            left = _lower(f.left, names)
            return Or((Until(left, _lower(f.right, names)), Not(Until(_TRUE, Not(left)))))
        case Previously():
            return Since(_TRUE, _lower(f.operand, names), f.bound)
        case Throughout():
            return Not(Since(_TRUE, Not(_lower(f.operand, names)), f.bound))
        case Since():
            return Since(_lower(f.left, names), _lower(f.right, names), f.bound)
        case Not() | Assign() | Nexttime() | Lasttime():
            return replace(f, operand=_lower(f.operand, names))
        case And() | Or():
            return replace(f, operands=tuple(_lower(p, names) for p in f.operands))
    return f


def _until(left: Formula, right: Formula, bound: Bound | None, names: Iterator[str]) -> Formula:
    if bound is None:
        return Until(left, right)
    start = next(names)
    here = Global(start, Type.TIMESTAMP, True)

    def test(op: str, duration: DurationLiteral) -> Formula:
        return Compare(op, Time(), Binary("+", here, duration))

    tests = [test(bound.op, DurationLiteral(bound.first))]
    if bound.second is not None:
        tests = [test(">=", DurationLiteral(bound.first)), test("<=", DurationLiteral(bound.second))]
    return Assign(Name(start), Time(), Until(left, And((right, *tests))))


def of_state(node: Expr) -> bool:
    """Does a term or formula without operators have a value of its own in every state?"""
    looks = (Time, Variable, Value, TableOf, ViewOf, Last, Happens, Found, Aggregate, *BACK)
    return any(isinstance(n, looks) for n in node.walk())
