"""What the checks of EPL find out, for those that compile and explain (epl-and-nets.md, sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from occurs.errors import Problem, Span
from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.model.time import Duration
from occurs.model.types import Schema, Type
from occurs.operators.sequence.tree import record_of


@dataclass(frozen=True)
class Struct:
    """An event as a column: the event of ``tag``, or, if ``many``, the list of its events (null if there is none).

    ``type``: the type that its filter names.  ``attributes``: those of that type, with their types.
    """

    tag: str
    type: str
    attributes: tuple[tuple[str, Type], ...]
    many: bool = False
    #: which of several it is, from 0
    index: int | None = None

    @property
    def arrow(self) -> pa.DataType:
        """The type of the column."""
        record = record_of(self.attributes)
        return pa.list_(record) if self.many else record


@dataclass(frozen=True)
class Output:
    """A column of a derived event: either a value (``expr``, resolved and plain) or an event (``struct``).

    ``type``: of the value, NULL if it is unknown; of an event RECORD.
    """

    name: str
    type: Type
    expr: Expr | None = None
    struct: Struct | None = None
    span: Span | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Atom:
    """A filter of a pattern, its names resolved.

    ``types``: the type that is named, and behind it those that inherit from it.  ``tag``: every filter has one of its
    own; without one in the text it is ``#n``, the n-th filter of the pattern (from 1).  ``many``: it is below a
    repetition, so that behind it the tag has a list of events.

    The conjuncts of its conditions, ``Ref(None, attribute)`` being the event at hand, are taken apart: ``own`` are on
    the event alone; ``equal`` are (attribute, tag, attribute of that tag's one event), of equal types; ``others`` are
    the rest.  Expressions have no nodes but those of :mod:`occurs.expr.tree`.
    """

    filter: syntax.Filter
    tag: str
    types: tuple[str, ...]
    many: bool
    own: tuple[Expr, ...] = ()
    equal: tuple[tuple[str, str, str], ...] = ()
    others: tuple[Expr, ...] = ()


@dataclass(frozen=True)
class Wait:
    """How long an event of a tag may wait until its pattern is complete or given up (epl-and-nets.md 5, Retention).

    ``bound``: at most so long; None: for ever.  ``grows``: is the number of those that wait at the same time without
    any bound, too?
    """

    tag: str
    bound: Duration | None
    grows: bool


@dataclass(frozen=True)
class ResolvedQuery:
    """A query with what the checks know of it.

    ``name``: of the type that it derives.  ``number``: of the query among all of the program, from 1.  ``pattern``:
    the pattern, every filter with its tag and with its conditions as resolved, plain conjuncts, the keys of
    every-distinct and the conditions of while resolved, too.  ``atoms``: by tag, in the order of the pattern,
    the first of each; ``filters``: all of them.
    ``where``: resolved.  ``outputs``: the columns of the derived event.  ``order``: the values by which the matches of
    one event are sorted, resolved, True: from the greatest.  ``columns``: by tag the attributes that
    anything reads, ``time`` left out.  ``reads``: all types of its atoms.  ``schema``: of the type that it derives, all
    its queries considered.  ``text``: the canonical text, without its @Name.
    """

    query: syntax.Query
    name: str
    number: int
    pattern: syntax.Pattern
    atoms: Mapping[str, Atom]
    filters: tuple[Atom, ...]
    where: Expr | None
    outputs: tuple[Output, ...]
    order: tuple[tuple[Expr, bool], ...]
    columns: Mapping[str, frozenset[str]]
    reads: tuple[str, ...]
    schema: Schema
    file: str | None
    text: str

    @property
    def tags(self) -> tuple[tuple[str, bool], ...]:
        """The tags in the order of the pattern, with True for those that have lists."""
        return tuple((tag, atom.many) for tag, atom in self.atoms.items())

    @property
    def title(self) -> str | None:
        """The text of its ``@Name``."""
        return title(self.query)


@dataclass(frozen=True)
class Analysis:
    """What the checks found; queries with errors are there too, so look at ``problems`` first.

    ``files``: with values in the places of variables and parameters.  ``takes``: the names of the values that may be
    given.  ``written``: per file these values as text, by their places.

    ``queries``: in the order of the text.  ``schemas``: all types that are declared, defined (here or in another
    language) or observed.  ``declared``: those of ``create schema``, with inherited attributes.  ``subtypes``: of each
    of these the types that inherit from it, itself first.  ``elements``: of lists and maps, by their names as columns.
    """

    files: tuple[syntax.File, ...]
    takes: frozenset[str]
    written: tuple[tuple[tuple[Span, str], ...], ...]
    queries: tuple[ResolvedQuery, ...]
    schemas: dict[str, Schema]
    declared: dict[str, Schema]
    subtypes: dict[str, tuple[str, ...]]
    elements: frozenset[str]
    problems: list[Problem]


def is_name(annotation: syntax.Annotation) -> bool:
    """Is it a ``@Name`` that names?"""
    return annotation.name.text.lower() == "name" and isinstance(annotation.value, str) and bool(annotation.value)


def title(query: syntax.Query) -> str | None:
    """The text of the last ``@Name`` of a query."""
    return next((str(a.value) for a in reversed(query.annotations) if is_name(a)), None)
