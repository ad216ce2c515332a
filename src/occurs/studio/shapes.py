"""The JSON shapes of the interface (docs/studio.md).  openapi.json and the types of the page are made from them."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct


class Span(Struct, frozen=True):
    """A place in a text.  Lines and columns count from 1 in code points; ``end_column`` is the first one after it."""

    line: int
    column: int
    end_line: int
    end_column: int


class Related(Struct, frozen=True):
    """Another place that belongs to a problem."""

    message: str
    file: str | None
    span: Span | None


class Problem(Struct, frozen=True):
    """An error, a warning or a notice about a file."""

    kind: str
    severity: Literal["error", "warning", "notice"]
    message: str
    hint: str | None = None
    file: str | None = None
    span: Span | None = None
    related: list[Related] = []
    node: str | None = None
    row: int | None = None
    definition: str | None = None


class Refusal(Struct):
    """Why a call was refused."""

    kind: str
    message: str
    hint: str | None = None
    problems: list[Problem] = []


class ErrorAnswer(Struct):
    """Every answer that is not a success."""

    error: Refusal


class File(Struct, frozen=True):
    """A file of the directory.  ``note``: why it is read-only, if that is not its kind."""

    path: str
    kind: Literal["rules", "event", "net", "model", "other"]
    language: str | None
    size: int
    etag: str
    in_program: bool
    writable: bool
    note: str | None = None


class Texts(Struct, forbid_unknown_fields=True):
    """Unsaved texts by path; the rest of the program comes from disk."""

    texts: dict[str, str] = {}


class At(Struct, forbid_unknown_fields=True):
    """A position in one text of the program, as an offset in code points."""

    path: str
    offset: int
    texts: dict[str, str] = {}


class Format(Struct, forbid_unknown_fields=True):
    """A text to be written in its canonical form."""

    path: str
    text: str


class PlanOf(Struct, forbid_unknown_fields=True):
    """What to plan: unsaved texts, and the events that give the schemas (default: those of the project)."""

    texts: dict[str, str] = {}
    events: list[str] | None = None


class Example(Struct, forbid_unknown_fields=True):
    """The name of an example."""

    name: str


class Peek(Struct, forbid_unknown_fields=True):
    """Which events to look at, read how, and how many rows of each type to return."""

    events: list[str] | None = None
    options: dict[str, Any] | None = None
    rows: int = 100


class About(Struct):
    """The server.  ``words`` of a language is null while the language worker cannot be asked."""

    version: str
    project: str
    languages: list[Any]
    limits: dict[str, float]
    examples: list[str]


#: JSON that is passed on as it is
Raw = msgspec.Raw


class Outline(Struct, frozen=True):
    """A statement of a program; ``output``: the type that it defines, ``reads``: the types that it reads."""

    file: str
    name: str
    kind: str
    output: str | None
    reads: list[str]
    span: Span | None


class Checked(Struct, frozen=True):
    """All problems of a program, and what can be read of it."""

    problems: list[Problem]
    outline: list[Outline]


class Item(Struct, frozen=True):
    """Something to complete with."""

    label: str
    kind: str
    detail: str
    insert: str


class Completions(Struct, frozen=True):
    """What may stand at a place; ``from``: where the word begins that it replaces."""

    start: int = msgspec.field(name="from")
    items: list[Item]


class Hover(Struct, frozen=True):
    """What is to be said of a place."""

    span: Span
    text: str


class Place(Struct, frozen=True):
    """A place in a file."""

    file: str
    span: Span


class Places(Struct, frozen=True):
    """Where a name is defined."""

    places: list[Place]


class Formatted(Struct, frozen=True):
    """A text in its canonical form; with problems it is the text as it was."""

    text: str
    problems: list[Problem]


class Opened(Struct, frozen=True):
    """The files of an example that was copied."""

    files: list[str]
