"""What the checks of row patterns find out, for those that compile, evaluate and explain (match-recognize.md).

Expressions have the nodes of :mod:`occurs.expr.tree` and the four of :mod:`occurs.operators.rowpattern.tree`; a measure
or a condition never has a bare ``Ref``: every value of a row is read through ``At`` or ``Aggregate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from occurs.errors import Problem
from occurs.expr.tree import Expr
from occurs.languages.match_recognize import syntax
from occurs.model.time import Duration
from occurs.model.types import Schema, Type
from occurs.operators.rowpattern.tree import Key, Skip, Value


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
