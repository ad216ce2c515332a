"""The tree of a text of temporal triggers, FTL and PTL alike (temporal-logic.md, section 2).

Terms are of :mod:`occurs.expr.tree`, and formulas are expressions, too: ``walk``, ``children`` and ``rewrite`` go
through both.  What a name stands for is for the checks, the tree has it as written:

* ``Ref(None, name)``: a global or generic variable, ``time``, a constant, a database variable (a column of a ``state``,
  or of rows without declaration), a table without keys, a view, an event; as an argument it may also be meant as text.
* ``Ref(scope, name)``: ``E.attr`` of the event ``E``, ``T.column`` of a table without keys (one row).
* :class:`Apply`: ``T(k1, ..)``, ``view(..)``, ``E(attr = ..)``, a function.  Keys, parameters and attributes may all be
  given by name or by position.
* Arithmetic is ``Binary`` of ``+ - * / mod`` and ``Unary("neg", ..)``; ``2x`` is ``2 * x``.  ``5 min`` is a
  ``DurationLiteral``, ``5`` a ``Literal``.  Comparisons and connectives are formulas of this module, also inside the
  predicate of an :class:`Aggregate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.errors import Span
from occurs.expr.tree import Expr, Literal, _Leaf, _span
from occurs.languages.names import Name as Name
from occurs.model.time import Duration
from occurs.model.types import Type

# --- terms that only this language has ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Apply(Expr):
    """``name(args).column``: ``names`` has for every argument its name, or None if it stands by position."""

    name: str
    args: tuple[Expr, ...]
    names: tuple[str | None, ...]
    column: str | None = None
    span: Span | None = _span()


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


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """``name type [key]``."""

    name: Name
    type: Type
    key: bool = False


@dataclass(frozen=True)
class Table:
    """``table name (columns)``: its rows are changes."""

    name: Name
    columns: tuple[Column, ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def keys(self) -> tuple[Column, ...]:
        return tuple(c for c in self.columns if c.key)


@dataclass(frozen=True)
class Event:
    """``event name (columns)``; no column is a key."""

    name: Name
    columns: tuple[Column, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class State:
    """``state name (columns)``: every row gives the values of these database variables; no column is a key."""

    name: Name
    columns: tuple[Column, ...]
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class View:
    """``view name (parameters) as sql;``."""

    name: Name
    parameters: tuple[Name, ...]
    sql: Sql
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Constant:
    """``constant name = value``."""

    name: Name
    value: Literal
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class ForEach:
    """``for each variables in (sql)``; without ``sql`` the variables are columns of the state rows."""

    variables: tuple[Name, ...]
    sql: Sql | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Observing:
    """``observing every duration``; ``observing all`` has None."""

    every: Duration | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Notify:
    """``notify "text"``: ``{name}`` stands for a generic variable or ``time``.  ``never``: ``on never`` before it."""

    text: str
    never: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Emit:
    """``emit type(name = term, ..)``."""

    type: Name
    arguments: tuple[tuple[Name, Expr], ...] = ()
    never: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Execute:
    """``execute "statement" with name = term, ..``."""

    statement: str
    arguments: tuple[tuple[Name, Expr], ...] = ()
    never: bool = False
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


Action = Notify | Emit | Execute


@dataclass(frozen=True)
class Trigger:
    """A trigger.  ``past``: it is PTL; ``continues``: strategy ``continue``, else ``reactivate``; ``gap``: ``at most
    every``."""

    name: Name
    formula: Formula
    past: bool = False
    each: ForEach | None = None
    observing: Observing | None = None
    continues: bool = False
    gap: Duration | None = None
    actions: tuple[Action, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def emit(self) -> Emit | None:
        """What it emits, if it makes another type than its own name."""
        return next((a for a in self.actions if isinstance(a, Emit) and not a.never), None)


Definition = Table | Event | State | View | Constant | Trigger


@dataclass(frozen=True)
class File:
    """The definitions of a text that could be read, in order; ``unread``: the names of the others."""

    definitions: tuple[Definition, ...]
    name: str | None = None
    text: str = field(default="", compare=False, repr=False)
    unread: frozenset[str] = frozenset()

    @property
    def statements(self) -> tuple[Definition, ...]:
        """The definitions, under the name that other languages have for theirs."""
        return self.definitions
