"""What eSQL tells editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from occurs.errors import OccursError
from occurs.expr.text import Text
from occurs.languages.esql import parser, syntax
from occurs.languages.esql.functions import FUNCTIONS as SHARED
from occurs.languages.esql.grammar import (
    BY_SUFFIX,
    BY_WORD,
    CONSTANTS,
    KEYWORDS,
    OPERATORS,
    PATTERNS,
    PREFIXES,
    SPELLINGS,
    UNITS,
)
from occurs.languages.esql.parser.phrases import PRELUDE
from occurs.languages.esql.parser.reader import Backtrack, Reader
from occurs.languages.esql.parser.tokens import tokens_with_end
from occurs.languages.kit.editing import Begun, Binding, Entry, Snippet, Token, Words
from occurs.languages.kit.statements import Piece
from occurs.languages.kit.vocabulary import calls_of
from occurs.model.types import Schema
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
    own = {n: f"{n}({s.words})" for n, s in FUNCTIONS.items() if n not in NAMELESS}
    calls = dict(sorted({**own, **calls_of("esql", SHARED)}.items()))
    signs = {s for s in (*OPERATORS, *SPELLINGS, ":=", "^") if not s.isalpha()}
    return Words(
        line_comments=("--",),
        line_start_comments=("#",),
        variable_marks="$@",
        ignore_case=False,
        keywords=tuple(sorted(KEYWORDS - CONSTANTS.keys())),
        constants=tuple(CONSTANTS),
        units=tuple(UNITS),
        functions=tuple(calls),
        calls=calls,
        operators=tuple(sorted(signs)),
        statement_end=".",
        snippets=SNIPPETS,
        forms=tuple(_forms()),
        meanings=MEANINGS,
    )


def pieces(text: str) -> Iterator[Piece]:
    """The statements of a text."""
    for tokens in parser.pieces(text):
        ended = tokens[-1].kind == "stop"
        last = tokens[-2] if len(tokens) > 1 else tokens[-1]
        yield Piece(tokens[0].start, text[tokens[0].start : last.end], ended)


def begun(text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a statement."""
    tokens = tokens_with_end(text)
    reader = Reader(tokens, Text(text, None), [*PRELUDE, *_palettes()])
    with suppress(Backtrack):
        reader.statement()
    if reader.furthest < len(tokens) - 1:
        return None
    words = {e.strip("`") for e in reader.expected if e.startswith("`")}
    pipe = bool(reader.expected & {"an operand", "a pipe", "a function"})
    if pipe:
        words |= {*BY_WORD, *PREFIXES, *CONSTANTS, *(p.pattern[0] for p in (*PRELUDE, *_palettes()))}
    if "an operator" in reader.expected:
        words |= {*OPERATORS, *BY_SUFFIX}
    return Begun(frozenset(words), pipe or "a name" in reader.expected)


def _palettes() -> Sequence[syntax.Phrase]:
    """The phrases of palettes; none if they are wrong, which the check of a text reports."""
    try:
        return parser.phrases_of_palettes()
    except OccursError:
        return ()


def _forms() -> Iterator[Snippet]:
    """Forms and phrases, with what stands in their slots to fill in."""
    for form in PATTERNS:
        names = iter("pxyzuvw")
        text = " ".join(f"${{{next(names, 'p')}}}" if w == "..." else w.split("|")[0] for w in form.words)
        yield Snippet(" ".join(form.words), text, "form")
    for phrase in (*PRELUDE, *_palettes()):
        text = " ".join(f"${{{w[1:]}}}" if w.startswith("@") else w for w in phrase.pattern)
        yield Snippet(" ".join(phrase.pattern), text, f"phrase, a {phrase.category}")


def bound(tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> Iterator[Binding]:
    """The variables and parameters of a statement, the names of FROM, and the name of LET."""
    for i, token in enumerate(tokens):
        if token.kind == "variable":
            yield Binding(token.text, "variable", None, token)
        elif token.text == "AS" and 1 < i < len(tokens) - 1:
            before, type_, name = tokens[i - 2], tokens[i - 1], tokens[i + 1]
            if name.named and type_.name in schemas and before.text not in ("DEFINE", "LET"):
                yield Binding(name.name, "tag", type_.name, name)


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
    "ABOUT": "detections name the event that they refer to",
    "G": "at this position and at all later ones",
    "F": "at this position or at a later one",
    "X": "at the next position",
    "U": "until: the left side is true before the right one, which must follow",
    "MACHINE": "a state machine with registers",
    "EVENTS": "the events of types as tuples of their attributes",
    "SELECT": "tuples of columns over pipes",
}
