"""What the checks of row patterns find out, for those that compile, evaluate and explain (match-recognize.md).

Expressions have the nodes of :mod:`occurs.expr.tree` and the four below; a measure or a condition never has a bare
``Ref``: every value of a row is read through :class:`At` or :class:`Aggregate`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from occurs.errors import Problem, Span
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.languages.match_recognize import syntax
from occurs.model.time import Duration
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class Label(_Leaf):
    """The variable of the row at hand, inside :class:`At` and :class:`Aggregate`; null if the row is not mapped."""

    span: Span | None = _span()


@dataclass(frozen=True)
class Number(_Leaf):
    """MATCH_NUMBER(), anywhere: of the match, in a condition of the match that is sought."""

    span: Span | None = _span()


@dataclass(frozen=True)
class At(Expr):
    """``arg`` evaluated at one row, null if there is no such row (match-recognize.md, section 5).

    In ``arg``, ``Ref(None, column)`` and :class:`Label` are those of the row that is reached.  The row: of the mapped
    rows that are seen and belong to ``variables`` (None: all of them) the one that is ``offset`` rows before the last,
    or, with ``first``, after the first; from there ``move`` rows on in the partition (negative: back; 0: that row),
    mapped or not.  ``final``: all rows of the match are seen, not only those up to the current one.

    ``price`` is ``At(price, None)``, ``X.price`` is ``At(price, ("X",))``, ``PREV(X.price, 2)`` has ``move=-2``.
    Of a union, ``variables`` are its members.  ``type``: of the value, NULL if it is not known.
    """

    arg: Expr
    variables: tuple[str, ...] | None = None
    first: bool = False
    offset: int = 0
    move: int = 0
    final: bool = False
    type: Type = field(default=Type.NULL, compare=False)
    span: Span | None = _span()


@dataclass(frozen=True)
class Aggregate(Expr):
    """An aggregate over the mapped rows that are seen and belong to ``variables`` (None: all of them).

    ``function``: ``count sum avg min max stddev stddev_pop array_agg min_by max_by``.  ``args``: evaluated at each row,
    as in :class:`At`; none for ``COUNT(*)`` and ``COUNT(X.*)``, two for ``min_by`` and ``max_by``.
    ``type``: of the result, NULL if it is not known, RECORD of a list, of values of ``element``.
    """

    function: str
    args: tuple[Expr, ...] = ()
    variables: tuple[str, ...] | None = None
    distinct: bool = False
    final: bool = False
    type: Type = field(default=Type.NULL, compare=False)
    element: Type = field(default=Type.NULL, compare=False)
    span: Span | None = _span()


@dataclass(frozen=True)
class Key:
    """A column of ORDER BY."""

    column: str
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class Skip:
    """``to``: ``past``, ``next``, ``first``, ``last``; ``name``: as written, ``variables``: it, or the union's."""

    to: str = "past"
    name: str = ""
    variables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Value:
    """A column with its value: of a measure over the match, of an item of SELECT over the columns of the clause.

    ``type``: NULL if it is not known; RECORD: a list, of values of ``element``.
    """

    name: str
    expr: Expr
    type: Type
    element: Type = Type.NULL
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class ResolvedQuery:
    """A query with all its names resolved.

    ``name``: the type that it defines.  ``source``: the type that it reads.  ``partition``: columns of the source.
    ``order``: never empty, ``time`` if nothing is written.  ``rows``: ONE, ALL, OMIT or UNMATCHED of the syntax.
    ``pattern``: in the nodes of the syntax.  ``conditions``: by variable, those that have one, in plain nodes.
    ``measures``: of the clause, in plain nodes.  ``others``: with ALL ROWS the columns of the input that the output of
    the clause has behind the measures, in their order.

    ``columns``: the columns of the output of the clause in their order (without ``time``, which is always there).
    ``outputs``: the columns of the derived rows (without ``type`` and ``time``), over ``Ref(None, column)`` of the
    clause's output, in which ``time`` is the time of the output row.  ``where``: over the same.
    ``needs``: the columns of the source that anything reads, without ``time``.  ``schema``: of the derived type.
    ``text``: the canonical text.  ``warned``: places for the warnings of the plan.
    """

    query: syntax.Query
    name: str
    source: str
    partition: tuple[str, ...]
    order: tuple[Key, ...]
    measures: tuple[Value, ...]
    rows: str
    skip: Skip
    pattern: syntax.Pattern
    within: Duration | None
    conditions: Mapping[str, Expr]
    others: tuple[str, ...]
    columns: tuple[tuple[str, Type], ...]
    outputs: tuple[Value, ...]
    where: Expr | None
    needs: frozenset[str]
    schema: Schema
    file: str | None
    text: str

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the pattern, in the order in which they first stand there."""
        found = (n.name for n in self.pattern.walk() if isinstance(n, syntax.Variable))
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class Analysis:
    """What the checks found; queries with errors are left out, so look at ``problems`` first.

    ``queries``: in the order of the text.  ``schemas``: all types that are declared, defined or observed.
    """

    queries: tuple[ResolvedQuery, ...]
    schemas: dict[str, Schema]
    problems: list[Problem]
