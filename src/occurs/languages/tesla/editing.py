"""What TESLA tells editors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.languages.kit.editing import Entry, Snippet, Words
from occurs.languages.kit.vocabulary import DURATIONS, aggregates_of, spellings_of
from occurs.languages.tesla import syntax
from occurs.languages.tesla.functions import FUNCTIONS
from occurs.model.types import TYPE_NAMES


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
    found = spellings_of("occurs.languages.tesla")
    return Words(
        line_comments=("#", "--"),
        variable_marks="$",
        keywords=found.words,
        constants=found.constants,
        types=tuple(TYPE_NAMES),
        units=DURATIONS,
        functions=(*sorted(FUNCTIONS), *aggregates_of("tesla")),
        operators=found.signs,
        snippets=SNIPPETS,
        meanings=MEANINGS,
    )


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
