"""What a language tells editors: the statements of a text, and how its words look.

Editors highlight and complete every language from this, so that a new folder needs nothing else.  Nothing here is
imported but what has no dependencies: the shapes are also those of the answers of :mod:`occurs.services`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from occurs.errors import Span


@dataclass(frozen=True)
class Entry:
    """A statement in the outline of a text.

    ``kind``: what it is, in a word of the language, such as ``rule``, ``pattern`` or ``schema``.  ``output``: the type
    of event that it defines or declares, None if it does neither.  ``reads``: types that it reads, as far as the text
    alone says.  ``place``: where the name of the output stands.
    """

    name: str
    kind: str
    output: str | None = None
    reads: tuple[str, ...] = ()
    span: Span | None = None
    place: Span | None = None


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
        operators: Operators that are made of signs.
        snippets: Statements to start from.
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
    operators: tuple[str, ...] = ()
    snippets: tuple[Snippet, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict)
