"""The tree of a text with row patterns (match-recognize.md, section 2): what is written, before names are looked up.

Design choices:

- Expressions use the nodes of :mod:`occurs.expr.tree` wherever those say the same; this module adds the nodes that
  only SQL or only the clause has.  ``between``, ``case``, ``||``, ``is distinct from`` and ``cast`` keep nodes of their
  own so that a text can be printed again; the checks replace them by plain nodes.
- A column is a :class:`Column`, not a ``Ref``: the parser cannot know whether ``X`` in ``X.price`` is a variable of the
  pattern or the alias of a table, and it must remember which names stood in quotes (those are exact, others are
  found ignoring case).
- Variables of the pattern have their canonical form from the parser on: upper case unless quoted.
- The pattern has one shape for equal texts: a sequence directly inside a sequence and an alternation directly inside
  an alternation are merged, parentheses around a single part leave no node, and ``?``, ``*``, ``+``, ``{n}``, ``{,m}``
  are all a :class:`Repeat`.
- Patterns are those of :mod:`occurs.operators.rowpattern.tree`.  Expressions with every name resolved and every
  navigation in one form, which the compiler, the operator and the reference read, are of that module, too.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.errors import Span
from occurs.expr.text import Name as Name
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.model.time import Duration
from occurs.model.types import Type
from occurs.operators.rowpattern.tree import ALL as ALL
from occurs.operators.rowpattern.tree import OMIT as OMIT
from occurs.operators.rowpattern.tree import ONE as ONE
from occurs.operators.rowpattern.tree import UNMATCHED as UNMATCHED
from occurs.operators.rowpattern.tree import Alternation as Alternation
from occurs.operators.rowpattern.tree import Anchor as Anchor
from occurs.operators.rowpattern.tree import Exclusion as Exclusion
from occurs.operators.rowpattern.tree import Pattern as Pattern
from occurs.operators.rowpattern.tree import Permute as Permute
from occurs.operators.rowpattern.tree import Repeat as Repeat
from occurs.operators.rowpattern.tree import Sequence as Sequence
from occurs.operators.rowpattern.tree import Variable as Variable

# --- expressions that only this language has (the others are in occurs.expr.tree) -----------------------------------


@dataclass(frozen=True)
class Word:
    """A name as written, without its quotes; ``quoted``: it stood in quotes, so that it is exact.

    A variable of a pattern is canonical: in upper case, or quoted if its name is no unquoted one in upper case."""

    text: str
    quoted: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)

    @property
    def canonical(self) -> str:
        """The name of the variable that it is: in upper case unless quoted."""
        return self.text if self.quoted else self.text.upper()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Column(_Leaf):
    """``name`` or ``qualifier.name``."""

    name: Word
    qualifier: Word | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class Navigation(Expr):
    """``FIRST(arg, offset)`` and ``LAST``, ``PREV``, ``NEXT``: ``function`` is one of these in lower case.

    ``mode``: ``running`` or ``final`` if that is written, else empty.  ``offset``: as written, None if it is not.
    """

    function: str
    arg: Expr
    offset: Expr | None = None
    mode: str = ""
    span: Span | None = _span()


@dataclass(frozen=True)
class Aggregate(Expr):
    """``SUM(arg)`` and other aggregates; ``function`` in lower case.

    ``COUNT(*)`` and ``COUNT(X.*)`` have no ``args``; ``of`` is then the variable, None for all rows.
    ``mode``: as in a navigation.
    """

    function: str
    args: tuple[Expr, ...] = ()
    distinct: bool = False
    of: Word | None = None
    mode: str = ""
    span: Span | None = _span()


@dataclass(frozen=True)
class Classifier(_Leaf):
    """``CLASSIFIER()`` or ``CLASSIFIER(variable)``."""

    variable: Word | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class MatchNumber(_Leaf):
    """``MATCH_NUMBER()``."""

    span: Span | None = _span()


@dataclass(frozen=True)
class Between(Expr):
    """``arg between low and high``."""

    arg: Expr
    low: Expr
    high: Expr
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class DistinctFrom(Expr):
    """``left is distinct from right``; ``negated``: ``is not distinct from``, where null equals null."""

    left: Expr
    right: Expr
    negated: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Case(Expr):
    """``case when c then v .. [else v] end``: ``parts`` are c, v, c, v .. and, if there is an else, its value."""

    parts: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Concat(Expr):
    """``left || right``: texts."""

    left: Expr
    right: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Cast(Expr):
    """``CAST(arg AS type)``; ``written``: the name of the type in the text."""

    arg: Expr
    type: Type
    written: str = field(default="", compare=False)
    span: Span | None = _span()


# --- the clause -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Order:
    """``column ASC``; ``nulls_first`` None: not written, so first with ASC and last with DESC."""

    column: Word
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True)
class Measure:
    """``expr AS name``."""

    expr: Expr
    name: Word
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Skip:
    """AFTER MATCH SKIP: ``to`` is ``past`` (PAST LAST ROW), ``next`` (TO NEXT ROW), ``first``, ``last`` (TO FIRST, TO
    LAST ``variable``; TO ``variable`` is ``last``)."""

    to: str = "past"
    variable: Word | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Subset:
    """``name = (variables)``."""

    name: Word
    variables: tuple[Word, ...]


@dataclass(frozen=True)
class Define:
    """``variable AS condition``."""

    variable: Word
    condition: Expr
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Clause:
    """``MATCH_RECOGNIZE ( .. )``; ``rows`` is ONE, ALL, OMIT or UNMATCHED; ``within_span``: of the duration."""

    pattern: Pattern
    partition: tuple[Word, ...] = ()
    order: tuple[Order, ...] = ()
    measures: tuple[Measure, ...] = ()
    rows: str = ONE
    skip: Skip = Skip()
    within: Duration | None = None
    subsets: tuple[Subset, ...] = ()
    defines: tuple[Define, ...] = ()
    rows_span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    within_span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """``expr AS name``, ``qualifier.*``, or ``*`` (no ``expr``)."""

    expr: Expr | None = None
    name: Word | None = None
    qualifier: Word | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Query:
    """``CREATE VIEW name AS SELECT items FROM table AS alias MATCH_RECOGNIZE ( .. ) AS match WHERE where``.

    ``name`` None: a query alone.  ``table_alias``, ``alias``: of the table, of the clause.
    """

    items: tuple[Item, ...]
    table: Word
    clause: Clause
    name: Word | None = None
    table_alias: Word | None = None
    alias: Word | None = None
    where: Expr | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def output(self) -> str:
        """The type that it defines."""
        return self.name.text if self.name is not None else "matches"


Statement = Query


@dataclass(frozen=True)
class File:
    """A parsed text: its statements in order.  ``unread``: types that statements with problems were to define."""

    statements: tuple[Query, ...]
    file: str | None = None
    text: str = ""
    unread: frozenset[str] = frozenset()
