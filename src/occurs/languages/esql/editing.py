"""What eSQL tells editors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.languages.esql import syntax
from occurs.languages.esql.functions import FUNCTIONS as SHARED
from occurs.languages.esql.grammar import CONSTANTS, KEYWORDS, OPERATORS, SPELLINGS, UNITS
from occurs.languages.kit.editing import Entry, Snippet, Words
from occurs.operators.process.function_kinds import FUNCTIONS
from occurs.operators.process.function_kinds import OPERATORS as NAMELESS


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per statement; what a query reads is for the checks to say, as a name may be a pipe."""
    return list(_entries(tree))


def _entries(tree: syntax.File) -> Iterator[Entry]:
    for s in tree.statements:
        if isinstance(s, syntax.Definition):
            place = None if s.name is None else s.name.span
            yield Entry(s.output, "query", s.output, (), s.span, place)
        elif isinstance(s, syntax.Let):
            yield Entry(s.name.text, "let", None, (), s.span, s.name.span)
        else:
            yield Entry(" ".join(s.pattern), "phrase", None, (), s.span)


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    signs = {s for s in (*OPERATORS, *SPELLINGS, ":=", "^") if not s.isalpha()}
    return Words(
        line_comments=("--",),
        line_start_comments=("#",),
        variable_marks="$@",
        ignore_case=False,
        keywords=tuple(sorted(KEYWORDS - CONSTANTS.keys())),
        constants=tuple(CONSTANTS),
        units=tuple(UNITS),
        functions=tuple(sorted({*SHARED, *FUNCTIONS} - {*NAMELESS})),
        operators=tuple(sorted(signs)),
        snippets=SNIPPETS,
        meanings=MEANINGS,
    )


SNIPPETS = (
    Snippet("DEFINE", "DEFINE ${Out} AS ${Type}.${attribute}.", "a query, whose items are detections"),
    Snippet("LET", "LET ${x} BE ${Type}.${attribute}.", "a name for a pipe"),
    Snippet("FILTER", "DEFINE ${Out} AS FILTER ${T}.${x} WITH ${T}.${x} > ${0}.", "items that pass a condition"),
    Snippet("WINDOW", "DEFINE ${Out} AS GET (THE SUM OF *) FROM ${T}.${x} ON A WINDOW OF ${3}.", "a value per window"),
    Snippet("SLICE", "DEFINE ${Out} AS SLICE EACH ${Type} WITH (THE SUM OF *.${x}) ON ${key}.", "a value per key"),
    Snippet("WHEN", "WHEN @P IS A PROCESSOR: ${THE DOUBLE OF} @P IS THE PROCESSOR @P + @P.", "a phrase of one's own"),
)
MEANINGS = {
    "LET": "names a pipe, which other statements may use",
    "DEFINE": "a query: its items are the detections of this type",
    "AS": "the pipe that a query gives; also the name of a column",
    "WHEN": "begins a phrase: words that stand for a pipe",
    "WHERE": "the items of which a condition is true",
    "FROM": "the pipe that a form reads",
    "FILTER": "the items at whose positions a condition is true",
    "WINDOW": "an inner processor over the last items of each position",
    "SLICE": "one inner processor per key",
    "ABOUT": "detections say which event they speak of",
    "G": "at this position and at all later ones",
    "F": "at this position or at a later one",
    "X": "at the next position",
    "U": "until: the left side is true before the right one, which must follow",
    "MACHINE": "a state machine with registers",
    "EVENTS": "the events of types as tuples of their attributes",
    "SELECT": "tuples of columns over pipes",
}
