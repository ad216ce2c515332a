"""The tree of a text of temporal triggers, FTL and PTL alike (temporal-logic.md, section 2).

Terms are of :mod:`occurs.expr.tree`, and formulas are expressions, too: ``walk``, ``children`` and ``rewrite`` go
through both.  What a name stands for is for the checks, the tree has it as written:

* ``Ref(None, name)``: a global or generic variable, ``time``, a constant, a database variable (a column of a ``state``,
  or of rows without declaration), a table without keys, a view, an event; as an argument it may also be meant as text.
* ``Ref(scope, name)``: ``E.attr`` of the event ``E``, ``T.column`` of a table without keys (one row).
* :class:`Apply`: ``T(k1, ..)``, ``view(..)``, ``E(attr = ..)``, a function.  Keys, parameters and attributes may all be
  given by name or by position.
* Arithmetic is ``Binary`` of ``+ - * / mod`` and ``Unary("neg", ..)``; ``2x`` is ``2 * x``.  ``5 min`` is a
  ``DurationLiteral``, ``5`` a ``Literal``.  Formulas are of :mod:`occurs.operators.temporal.tree`, also inside the
  predicate of an :class:`Aggregate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.errors import Span
from occurs.expr.text import Name as Name
from occurs.expr.tree import Expr, Literal, _span
from occurs.model.time import Duration
from occurs.model.types import Type
from occurs.operators.temporal.tree import FUTURE as FUTURE
from occurs.operators.temporal.tree import PAST as PAST
from occurs.operators.temporal.tree import Aggregate as Aggregate
from occurs.operators.temporal.tree import Always as Always
from occurs.operators.temporal.tree import And as And
from occurs.operators.temporal.tree import Assign as Assign
from occurs.operators.temporal.tree import Atom as Atom
from occurs.operators.temporal.tree import Bound as Bound
from occurs.operators.temporal.tree import Compare as Compare
from occurs.operators.temporal.tree import Eventually as Eventually
from occurs.operators.temporal.tree import Exists as Exists
from occurs.operators.temporal.tree import Formula as Formula
from occurs.operators.temporal.tree import Implies as Implies
from occurs.operators.temporal.tree import IsNull as IsNull
from occurs.operators.temporal.tree import Lasttime as Lasttime
from occurs.operators.temporal.tree import Nexttime as Nexttime
from occurs.operators.temporal.tree import Not as Not
from occurs.operators.temporal.tree import Or as Or
from occurs.operators.temporal.tree import Previously as Previously
from occurs.operators.temporal.tree import Release as Release
from occurs.operators.temporal.tree import Since as Since
from occurs.operators.temporal.tree import Sql as Sql
from occurs.operators.temporal.tree import Throughout as Throughout
from occurs.operators.temporal.tree import Truth as Truth
from occurs.operators.temporal.tree import Until as Until
from occurs.operators.temporal.tree import WeakUntil as WeakUntil
from occurs.operators.temporal.tree import _Bounded as _Bounded
from occurs.operators.temporal.tree import _Paired as _Paired


@dataclass(frozen=True)
class Apply(Expr):
    """``name(args).column``: ``names`` has for every argument its name, or None if it stands by position."""

    name: str
    args: tuple[Expr, ...]
    names: tuple[str | None, ...]
    column: str | None = None
    span: Span | None = _span()


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
