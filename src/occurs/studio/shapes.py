"""The JSON shapes of the interface (docs/studio.md).  openapi.json and the types of the page are made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct

from occurs.errors import Span as Span
from occurs.services.answers import Checked as Checked
from occurs.services.answers import Formatted as Formatted
from occurs.services.answers import Hover as Hover
from occurs.services.answers import Item, Place, Problem
from occurs.services.answers import Peeked as Peeked
from occurs.services.answers import Plan as Plan
from occurs.services.answers import Words as Words


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
    rows: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 100


class Language(Struct):
    """A language of rules.  ``words`` is null while the language worker cannot be asked."""

    name: str
    suffixes: list[str]
    words: Words | None


class About(Struct):
    """The server: its version, the name of its directory, and what it can do."""

    version: str
    project: str
    languages: list[Language]
    limits: dict[str, float]
    examples: list[str]


class Completions(Struct, frozen=True):
    """What may stand at a place; ``from``: where the word begins that it replaces."""

    start: int = msgspec.field(name="from")
    items: list[Item]


class Places(Struct, frozen=True):
    """Where a name is defined."""

    places: list[Place]


class Opened(Struct, frozen=True):
    """The files of an example that was copied."""

    files: list[str]
