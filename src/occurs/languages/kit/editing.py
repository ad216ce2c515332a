"""What a language tells editors: the statements of a text, and how its words look.

Editors highlight and complete every language from this, so that a new folder needs nothing else.  Nothing here is
imported but what has no dependencies: the shapes are also those of the answers of :mod:`occurs.services`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from occurs.errors import Span


@dataclass(frozen=True)
class Entry:
    """A statement in the outline of a text.

    ``name``: empty if it has only that of its output.  ``kind``: what it is, in a word of the language, such as
    ``rule``, ``pattern`` or ``schema``.  ``output``: the type of event that it defines or declares, None if it does
    neither or if the checks are to say it.  ``reads``: types that it reads, as far as the text alone says.  ``place``:
    where the name of the output stands.  ``direct``: its attributes are used by their names alone.
    """

    name: str
    kind: str
    output: str | None = None
    reads: tuple[str, ...] = ()
    span: Span | None = None
    place: Span | None = None
    direct: bool = False


@dataclass(frozen=True)
class Token:
    """``kind``: ``word name string number variable sign`` or ``comment``; a name stands in quotes."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def named(self) -> bool:
        """Whether it may be a name."""
        return self.kind in ("word", "name")

    @property
    def name(self) -> str:
        """The name that it is, without quotes."""
        return self.text[1:-1] if self.kind == "name" else self.text


@dataclass(frozen=True)
class Binding:
    """A name that a statement binds at ``token``: a ``tag`` of events of ``type``, a ``variable``, or an ``attribute``
    that may be used by its name alone."""

    name: str
    kind: str
    type: str | None = None
    token: Token | None = None


#: a type and the name of an attribute that it has
Attributed = tuple[str, str]


@dataclass(frozen=True)
class Named:
    """A name in a text: ``kind`` is ``type``, ``attribute`` (of the type ``of``) or ``tag`` (of the statement whose
    number in its text is ``of``).  ``text``: it stands in a string, without quotes of its own."""

    kind: str
    name: str
    span: Span
    of: str | None = None
    text: bool = False


@dataclass(frozen=True)
class Begun:
    """What may stand behind the beginning of a statement: ``words`` and signs; ``names``: whether any name may."""

    words: frozenset[str]
    names: bool


@dataclass(frozen=True)
class Snippet:
    """A piece of text to start from; ``${name}`` in ``insert`` stands for what is to be filled in."""

    label: str
    insert: str
    detail: str = ""


@dataclass(frozen=True)
class Words:
    """How a text of a language looks, in pieces that every editor can use.

    A word is a letter, an underscore or one of ``word_signs``, then these and digits.  A number is digits, a fraction,
    an exponent.

    Attributes:
        line_comments: Marks of comments that end with the line.
        line_start_comments: The same, but only where nothing but blanks stands before the mark in its line.
        block_comments: Opening and closing marks.
        strings: Marks around texts, which end on their line.
        escape: The sign before a mark in a text that does not end it; empty: a doubled mark stands for one.
        quoted_names: The mark around names that are no words, empty if there is none.
        word_signs: Signs besides letters, digits and ``_`` that words may have.
        variable_marks: Signs that begin a variable.
        ignore_case: Whether ``Select`` is the keyword ``select``.
        keywords: Words with a meaning, and forms of several words or signs such as ``timer:within``.
        constants: Words that are values.
        types: Names of the types of attributes.
        units: Units of durations.
        functions: Functions and aggregates.
        calls: How functions are called, and what they give, in a sentence.
        operators: Operators that are made of signs.
        access: The sign between an event and its attribute, empty if there is none.
        statement_end: The sign that ends a statement, empty if none has to.
        snippets: Statements to start from.
        forms: Pieces of statements to start from.
        meanings: A sentence for words and operators; keys are in lower case if ``ignore_case``.
    """

    line_comments: tuple[str, ...] = ()
    line_start_comments: tuple[str, ...] = ()
    block_comments: tuple[tuple[str, str], ...] = ()
    strings: tuple[str, ...] = ('"', "'")
    escape: str = "\\"
    quoted_names: str = "`"
    word_signs: str = ""
    variable_marks: str = ""
    ignore_case: bool = True
    keywords: tuple[str, ...] = ()
    constants: tuple[str, ...] = ("true", "false", "null")
    types: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    calls: Mapping[str, str] = field(default_factory=dict)
    operators: tuple[str, ...] = ()
    access: str = "."
    statement_end: str = ""
    snippets: tuple[Snippet, ...] = ()
    forms: tuple[Snippet, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)


def openings(tokens: Sequence[Token]) -> list[int | None]:
    """For each token, and for the end, the number of the innermost parenthesis or bracket that is open there."""
    out: list[int | None] = []
    open_ones: list[int] = []
    for i, token in enumerate(tokens):
        out.append(open_ones[-1] if open_ones else None)
        if token.kind == "sign" and token.text in ")]}" and open_ones:
            open_ones.pop()
        if token.kind == "sign" and token.text in "([{":
            open_ones.append(i)
    return [*out, open_ones[-1] if open_ones else None]


def closing(tokens: Sequence[Token], opening: int) -> int:
    """The number of the token that closes the parenthesis at ``opening``; that of the last token if none does."""
    depth = 0
    for i in range(opening, len(tokens)):
        if tokens[i].kind == "sign":
            depth += (tokens[i].text in "([{") - (tokens[i].text in ")]}")
            if depth == 0:
                return i
    return len(tokens) - 1
