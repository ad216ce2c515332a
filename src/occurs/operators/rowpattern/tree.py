"""A row pattern with every name resolved: what a language's checks make, its reference and its operator read
(match-recognize.md, sections 4 to 8).  Patterns are those of the parser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from occurs.errors import Span
from occurs.expr.tree import Expr, _Leaf, _span
from occurs.model.types import Type

# -- values of rows ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Label(_Leaf):
    """The variable of the row at hand, inside :class:`At` and :class:`Aggregate`; null if the row is not mapped."""

    span: Span | None = _span()


@dataclass(frozen=True)
class Number(_Leaf):
    """The number of the match; in a condition, of the match that is sought."""

    span: Span | None = _span()


@dataclass(frozen=True)
class At(Expr):
    """``arg`` evaluated at one row; null if there is no such row.

    ``Ref(None, column)`` and :class:`Label` in ``arg`` are those of that row: among the mapped rows that are seen and
    belong to ``variables`` (None: all of them) the one that is ``offset`` rows before the last, with ``first`` after
    the first, and from there ``move`` rows on in the partition (negative: back).  ``final``: all rows of the match are
    seen, not only those up to the current one.

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

    ``function``: ``count sum avg min max stddev stddev_pop array_agg min_by max_by``.  ``args``: evaluated at each of
    these rows; none: rows are counted; ``min_by`` and ``max_by`` have two.  ``type``: of the result, NULL if it is not
    known; ``element``: of the values of a list.
    """

    function: str
    args: tuple[Expr, ...] = ()
    variables: tuple[str, ...] | None = None
    distinct: bool = False
    final: bool = False
    type: Type = Type.NULL
    element: Type = Type.NULL
    span: Span | None = _span()


# -- patterns ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pattern:
    """Any pattern of rows."""

    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    def children(self) -> tuple[Pattern, ...]:
        return ()

    def walk(self) -> Iterator[Pattern]:
        """This pattern and all its parts, from the top."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True)
class Variable(Pattern):
    """One row that is mapped to the variable; ``name``: in upper case unless it stood in quotes."""

    name: str


@dataclass(frozen=True)
class Anchor(Pattern):
    """``^`` before the first row of the partition, ``$`` behind the last one (``end``)."""

    end: bool = False


@dataclass(frozen=True)
class _Nary(Pattern):
    parts: tuple[Pattern, ...]

    @property
    def children(self) -> tuple[Pattern, ...]:
        return self.parts


@dataclass(frozen=True)
class Sequence(_Nary):
    """``P Q ..``: one part behind the other, none of them a Sequence of more; ``()`` has no parts and maps no row."""


@dataclass(frozen=True)
class Alternation(_Nary):
    """``P | Q ..``: one of the parts, none of them an Alternation; the first that leads to a match is preferred."""


@dataclass(frozen=True)
class Permute(_Nary):
    """``PERMUTE(P, Q, ..)``: all parts in any order, the lexicographically first one preferred."""


@dataclass(frozen=True)
class Exclusion(Pattern):
    """``{- P -}``: its rows are left out of the output of ALL ROWS PER MATCH."""

    part: Pattern

    @property
    def children(self) -> tuple[Pattern, ...]:
        return (self.part,)


@dataclass(frozen=True)
class Repeat(Pattern):
    """``P{low,high}``; ``high`` None: any number of times.  ``greedy``: another round is tried before going on."""

    part: Pattern
    low: int
    high: int | None
    greedy: bool = True

    @property
    def children(self) -> tuple[Pattern, ...]:
        return (self.part,)


# -- the whole ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Key:
    """A column by which the rows of a partition are ordered."""

    column: str
    descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True)
class Skip:
    """Where the scan goes on after a match that is not empty: ``past`` its last row, to the ``next`` row behind its
    first one, or to the ``first`` or ``last`` row of ``variables``, which are called ``name``."""

    to: str = "past"
    name: str = ""
    variables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Value:
    """A named column with its value.  ``type``: NULL if it is not known; RECORD: a list, of values of ``element``."""

    name: str
    expr: Expr
    type: Type
    element: Type = field(default=Type.NULL, compare=False)
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


#: which rows a match has in the output: one; all; all, but none for an empty match; also rows without a match
ONE, ALL, OMIT, UNMATCHED = "one", "all", "omit", "unmatched"


@dataclass(frozen=True)
class Matching:
    """What is matched, and what becomes of the matches.

    ``name``: of the type that is derived; ``source``: the type that is read; ``partition``, ``order``: by its columns
    (``time`` included).  ``conditions``: by variable, those that have one.  ``within``: how many ticks after the first
    row the last one may be.  ``rows``: ONE, ALL, OMIT or UNMATCHED.  ``measures``: over a match; ``others``: with all
    rows, the columns of the input that the clause puts out behind the measures.

    ``outputs``: the columns of the derived rows, over ``Ref(None, column)`` of what the clause puts out, in which
    ``time`` is the time of the derived row; ``where``: over the same.
    """

    name: str
    source: str
    partition: tuple[str, ...]
    order: tuple[Key, ...]
    pattern: Pattern
    conditions: tuple[tuple[str, Expr], ...]
    measures: tuple[Value, ...]
    outputs: tuple[Value, ...]
    rows: str = ONE
    skip: Skip = Skip()
    within: int | None = None
    where: Expr | None = None
    others: tuple[str, ...] = ()
    #: columns of the source that anything reads, without ``time``
    needs: frozenset[str] = field(default=frozenset())

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables of the pattern, in the order in which they first stand there."""
        return tuple(dict.fromkeys(n.name for n in self.pattern.walk() if isinstance(n, Variable)))

    @property
    def all_rows(self) -> bool:
        """Is there an output row for every mapped row?"""
        return self.rows != ONE

    @property
    def values(self) -> Iterator[Expr]:
        """The expressions of conditions and measures."""
        yield from (condition for _, condition in self.conditions)
        yield from (measure.expr for measure in self.measures)

    @cached_property
    def measured(self) -> tuple[At, ...]:
        """The rows that measures read."""
        return tuple(n for v in self.measures for n in v.expr.walk() if isinstance(n, At))

    @cached_property
    def back(self) -> int:
        """How many rows before the first row of a match are read."""
        return max([0, *(-n.move for e in self.values for n in e.walk() if isinstance(n, At))])

    @cached_property
    def numbered(self) -> bool:
        """Is the number of a match read?"""
        return any(isinstance(n, Number) for e in self.values for n in e.walk())
