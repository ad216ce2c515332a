"""What TESLA tells editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from occurs.languages.kit import vocabulary
from occurs.languages.kit.editing import Begun, Binding, Entry, Snippet, Token, Words, closing
from occurs.languages.kit.vocabulary import DURATIONS, calls_of, spellings_of
from occurs.languages.tesla import syntax
from occurs.languages.tesla.functions import FUNCTIONS
from occurs.languages.tesla.parser import pieces as pieces
from occurs.model.types import TYPE_NAMES, Schema

PACKAGE, WORD_END = "occurs.languages.tesla", r"\b"


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per statement."""
    return list(_entries(tree))


def _entries(tree: syntax.File) -> Iterator[Entry]:
    for s in tree.statements:
        if isinstance(s, syntax.Rule):
            reads = tuple(sorted({e.type.text for e in s.roles}))
            yield Entry((s.name or s.type).text, "rule", s.type.text, reads, s.span, s.type.span)
        elif isinstance(s, syntax.EventSchema):
            yield Entry(s.type.text, "event", s.type.text, (), s.span, s.type.span)
        elif isinstance(s, syntax.Subscription):
            yield Entry(s.type.text, "subscription", None, (s.type.text,), s.span)
        else:
            yield Entry(", ".join(name.text for _, name in s.names), "assign", None, (), s.span)


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    calls = calls_of("tesla", FUNCTIONS)
    found = spellings_of(PACKAGE, WORD_END)
    return Words(
        line_comments=("#", "--"),
        variable_marks="$",
        keywords=found.words,
        constants=found.constants,
        types=tuple(TYPE_NAMES),
        units=DURATIONS,
        functions=tuple(calls),
        calls=calls,
        operators=found.signs,
        snippets=SNIPPETS,
        meanings=MEANINGS,
    )


def begun(text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a statement."""
    return vocabulary.begun(PACKAGE, WORD_END, text)


def bound(tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> Iterator[Binding]:
    """The names of events, the variables and the attributes that a statement binds."""
    for i, token in enumerate(tokens):
        if token.kind == "variable":
            yield Binding(token.text, "variable", None, token)
        elif token.text.lower() == "as" and 0 < i < len(tokens) - 1 and tokens[i + 1].named:
            event = _event_before(tokens, i)
            if event is not None:
                yield Binding(tokens[i + 1].name, "tag", event.name, tokens[i + 1])
        elif token.text.lower() == "define" and i + 2 < len(tokens) and tokens[i + 2].text == "(":
            for k in range(i + 3, closing(tokens, i + 2)):
                if tokens[k].named and tokens[k - 1].text in ("(", ","):
                    yield Binding(tokens[k].name, "attribute", None, tokens[k])


def _event_before(tokens: Sequence[Token], i: int) -> Token | None:
    """The type in `Type(..) as name`, where `as` is token ``i``."""
    if tokens[i - 1].text == ")":
        start = next((k for k in range(i - 1, 0, -1) if tokens[k].text == "(" and closing(tokens, k) == i - 1), 0)
        i = start
    return tokens[i - 1] if i > 0 and tokens[i - 1].named else None


SNIPPETS = (
    Snippet("event", "event ${Type}(${attribute}: ${string})", "declare a type of events of the input"),
    Snippet(
        "define",
        "define ${Detection}(${value})\nfrom   ${Type}(${value} > ${0})\nwhere  ${value} = ${Type}.${value}",
        "a rule over one event",
    ),
    Snippet(
        "define each",
        "define ${Detection}(${key})\nfrom   ${Type}(${key} = $k) and each ${Other}(${key} = $k) within ${5 min} from"
        " ${Type}\nwhere  ${key} = $k",
        "a rule over an event and each earlier one of its window",
    ),
    Snippet(
        "define absence",
        "define ${Detection}(${key})\nfrom   ${Type}(${key} = $k) and not ${Other}(${key} = $k) within ${5 min} from"
        " ${Type}\nwhere  ${key} = $k",
        "a rule over an event before which another did not happen",
    ),
)
MEANINGS = {
    "define": "begins a rule: the type that it detects, with its attributes",
    "from": "the event whose arrival completes a detection, then the others; also the event at which a window ends",
    "each": "every event of the window makes a detection of its own",
    "first": "the first event of the window that fits",
    "last": "the last event of the window that fits",
    "within": "a window of this length that ends at an event",
    "between": "the time between two events",
    "not": "no such event happened in the window; also the negation of a condition",
    "where": "the values of the attributes that the rule detects",
    "having": "a condition that is tested after an event has been chosen",
    "consuming": "events of a detection that the rule does not use again",
    "as": "another name of an event in this rule",
    "event": "declares a type of events of the input",
    "rule": "names a rule",
    "subscribe": "reports events of a type that pass a condition; without it all detections are reported",
    "assign": "names a number that stands for a type in the data",
    "and": "both; also joins the events and conditions of a rule",
    "distinct": "counts different values",
    "in": "is one of the values",
    "like": "text of a pattern, in which % stands for any text and _ for one character",
    "case": "the value of the first condition that is true",
}
