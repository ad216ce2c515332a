"""The answers of the services, as plain frozen data; they are the shapes of the studio's interface (docs/studio.md).

Nothing of the engine is imported here, so that a server may use the shapes without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from occurs.errors import Severity, Span
from occurs.languages.kit.editing import Snippet as Snippet
from occurs.languages.kit.editing import Words as Words


@dataclass(frozen=True)
class Related:
    """Another place that belongs to a problem."""

    message: str
    file: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Problem:
    """One error, warning or notice.  ``node``: the element of a drawing it is about; ``row``: the row of an input."""

    kind: str
    severity: Severity
    message: str
    hint: str | None = None
    file: str | None = None
    span: Span | None = None
    related: tuple[Related, ...] = ()
    node: str | None = None
    row: int | None = None
    definition: str | None = None


@dataclass(frozen=True)
class Outline:
    """A statement of a program.  ``output``: the type that it defines or declares; ``reads``: those that it reads."""

    file: str
    name: str
    kind: str
    output: str | None = None
    reads: tuple[str, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class Checked:
    """The problems of a program and the outline of what can be read of it."""

    problems: tuple[Problem, ...]
    outline: tuple[Outline, ...]


ItemKind = Literal["type", "attribute", "tag", "variable", "keyword", "constant", "function", "unit", "snippet"]


@dataclass(frozen=True)
class Item:
    """Something to complete with.  ``insert``: the text to put there, of a snippet with ``${name}`` to fill in."""

    label: str
    kind: ItemKind
    detail: str
    insert: str


@dataclass(frozen=True)
class Completions:
    """What may stand at a place, the nearest first.  ``start``: where the word begins that they replace.

    In JSON ``start`` is called ``from``.
    """

    start: int
    items: tuple[Item, ...] = ()


@dataclass(frozen=True)
class Hover:
    """What is to be said of a place; ``text`` has lines, the first of which is code."""

    span: Span
    text: str


@dataclass(frozen=True)
class Place:
    """A place in a file."""

    file: str
    span: Span


@dataclass(frozen=True)
class Edit:
    """A part of a text, from ``start`` to ``to`` in code points, and what takes its place.

    In JSON ``start`` is called ``from``.
    """

    start: int
    to: int
    insert: str


@dataclass(frozen=True)
class Renamed:
    """What stands at a place, and the edits that give it another name.

    ``name``, ``kind``, ``span``: None if there is no name to change.  ``edits``: by path, in the order of the text;
    none if there are problems.
    """

    name: str | None = None
    kind: Literal["type", "attribute", "tag"] | None = None
    span: Span | None = None
    edits: Mapping[str, tuple[Edit, ...]] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Formatted:
    """A text in its canonical form; with problems it is the text as it was."""

    text: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The plan of a program as plain data: dicts, lists, text and numbers.

    Attributes:
        inputs: The types that come in: ``{type, attributes: [{name, type}] or None, intervals}``.
        definitions: ``{name, language, output, reads, level, key, why_no_key, retention, state, notes, warnings, file,
            line, span}``; ``key``: the attributes of every type read by which it can be split; ``retention``: ``{type,
            ticks, text, unbounded, hint}``; ``notes``: how hosts run it; ``warnings``: such as costs, ``{kind,
            severity, message, hint}``.
        spark: How definitions are partitioned on Spark.
        stream: How their state is laid over buckets.
        text: The same as ``occurs explain`` prints it.
    """

    inputs: list[dict[str, Any]] = field(default_factory=list)
    definitions: list[dict[str, Any]] = field(default_factory=list)
    spark: list[dict[str, Any]] = field(default_factory=list)
    stream: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class PeekedType:
    """A type in the head of some files.  ``schema``: attributes and their types.  ``rows``: None if there is more than
    was read.  ``last``: then the greatest time in the beginning and the end of the files, None if that is not known."""

    name: str
    schema: dict[str, str]
    rows: int | None
    first: str | int | None
    last: str | int | None


@dataclass(frozen=True)
class PeekedRow:
    """A row of a file: its number from 1, and its line if rows are lines.  Times are as people see them."""

    type: str
    time: str | int
    end: str | int | None
    values: dict[str, Any]
    file: str | None
    line: int | None
    row: int


@dataclass(frozen=True)
class Peeked:
    """What the head of some files holds."""

    types: tuple[PeekedType, ...] = ()
    rows: tuple[PeekedRow, ...] = ()
    problems: tuple[Problem, ...] = ()
