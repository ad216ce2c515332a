"""What Phenesthe tells editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from occurs.languages.kit import vocabulary
from occurs.languages.kit.editing import Begun, Binding, Entry, Snippet, Token, Words
from occurs.languages.kit.vocabulary import DURATIONS, calls_of, spellings_of
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.functions import FUNCTIONS
from occurs.languages.phenesthe.parser import pieces as pieces
from occurs.model.types import TYPE_NAMES, Schema

PACKAGE, WORD_END = "occurs.languages.phenesthe", r"\b"


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per statement."""
    return list(_entries(tree))


def _entries(tree: syntax.File) -> Iterator[Entry]:
    for s in tree.statements:
        name = s.name.text
        if isinstance(s, syntax.Definition):
            reads = tuple(sorted({a.name.text for a in s.atoms}))
            yield Entry(name, s.sort, name, reads, s.span, s.name.span)
        elif isinstance(s, syntax.Declaration):
            output = None if s.sort == "fact" else name
            yield Entry(name, "input", output, (), s.span, s.name.span)
        else:
            yield Entry(name, "fact", None, (), s.span, s.name.span)


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    calls = calls_of("phenesthe", FUNCTIONS)
    found = spellings_of(PACKAGE, WORD_END)
    relations = (*syntax.RELATIONS, *syntax.INVERSES)
    return Words(
        line_comments=("#", "%", "--"),
        ignore_case=False,
        keywords=tuple(sorted({*found.words, *relations, *syntax.LENGTHS})),
        constants=found.constants,
        types=tuple(TYPE_NAMES),
        units=DURATIONS,
        functions=tuple(calls),
        calls=calls,
        operators=found.signs,
        access="",
        statement_end=".",
        snippets=SNIPPETS,
        meanings=MEANINGS,
    )


def begun(text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a statement."""
    return vocabulary.begun(PACKAGE, WORD_END, text)


def bound(tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> Iterator[Binding]:
    """The variables of a statement, whose names begin in upper case."""
    for token, behind in zip(tokens, (*tokens[1:], None), strict=True):
        called = behind is not None and behind.text == "("
        if token.kind == "word" and token.text[0].isupper() and not called:
            yield Binding(token.text, "variable", None, token)


SNIPPETS = (
    Snippet("input event", "input event ${name}(${attribute}).", "declare events of the input"),
    Snippet("input state", "input state ${name}(${attribute}).", "declare intervals of the input"),
    Snippet("event", "event ${name}(V) : ${ais}(V, S) and S > ${0}.", "instants"),
    Snippet("state", "state ${name}(V) : ${on}(V) ~> ${off}(V).", "intervals from one event to another"),
    Snippet("dynamic", "dynamic ${name}(V) : ${one}(V) before ${other}(V).", "a relation between intervals"),
)
MEANINGS = {
    "event": "defines a phenomenon that is true at instants",
    "state": "defines a phenomenon that is true during intervals that neither overlap nor touch",
    "dynamic": "defines a phenomenon made of other intervals; its own may overlap",
    "input": "declares what the rows of the input are",
    "fact": "something that is true at all times",
    "changes": "the input reports when it begins and when it ends",
    "where": "a condition on the detections of the whole body",
    "~>": "the intervals from a point of the left side to the next one of the right side, as long as possible",
    "~>>": "the intervals from a point of the left side to the next one of the right side, as short as possible",
    "<@": "runs of instants whose gaps are shorter than this",
    "union": "the time during which one of both is true",
    "intersection": "the time during which both are true",
    "minus": "the time during which the left side is true and the right one is not",
    "complement": "the time during which the left side is true and the right one is not",
    "start": "the instants at which intervals start",
    "end": "the instants at which intervals end",
    "filter": "intervals whose length passes a test: `filter(phi, less(5 min))`",
    "before": "the left interval ends before the right one starts",
    "after": "the left interval starts after the right one has ended",
    "meets": "the left interval ends when the right one starts",
    "met_by": "the left interval starts when the right one ends",
    "overlaps": "the left interval starts first and ends inside the right one",
    "overlapped_by": "the right interval starts first and ends inside the left one",
    "starts": "both start together, and the left one ends first",
    "started_by": "both start together, and the right one ends first",
    "finishes": "both end together, and the left one starts last",
    "finished_by": "both end together, and the right one starts last",
    "contains": "the right interval lies inside the left one",
    "during": "the left interval lies inside the right one",
    "equals": "both start and end together",
    "in": "at the instants of the left side that lie in an interval of the right side; or is one of the values",
    "and": "both are true",
    "or": "one of both is true",
    "not": "is not true",
    "length": "the length of each interval",
}
