"""What EPL tells editors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.languages.epl import syntax
from occurs.languages.epl.functions import FUNCTIONS
from occurs.languages.epl.parser.tree import TYPES
from occurs.languages.epl.words import UNITS
from occurs.languages.kit.editing import Entry, Snippet, Words
from occurs.languages.kit.vocabulary import spellings_of


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per statement; what a query derives is for the checks to say, as it may have a number."""
    return list(_entries(tree))


def _entries(tree: syntax.File) -> Iterator[Entry]:
    for number, s in enumerate((s for s in tree.statements), 1):
        if isinstance(s, syntax.CreateSchema):
            yield Entry(s.name.text, "schema", s.name.text, (), s.span, s.name.span)
            continue
        titles = [a.value for a in s.annotations if a.name.text.lower() == "name" and isinstance(a.value, str)]
        into = None if s.into is None else s.into.text
        name = titles[-1] if titles else into or f"stmt_{number}"
        reads = tuple(sorted({p.type.text for p in s.pattern.walk() if isinstance(p, syntax.Filter)}))
        place = None if s.into is None else s.into.span
        yield Entry(name, "simple" if s.simple else "pattern", into or name, reads, s.span, place)


#: what must follow a keyword
WORD_END = r"(?![\w$])"


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    found = spellings_of("occurs.languages.epl", WORD_END)
    return Words(
        line_comments=("//",),
        line_start_comments=("#", "--"),
        block_comments=(("/*", "*/"),),
        word_signs="$",
        keywords=(*ANNOTATIONS, *found.words),
        constants=found.constants,
        types=tuple(TYPES),
        units=tuple(UNITS),
        functions=tuple(sorted(FUNCTIONS)),
        operators=found.signs,
        snippets=SNIPPETS,
        meanings=MEANINGS,
    )


ANNOTATIONS = ("@Name", "@Description", "@Tag", "@Priority", "@SuppressOverlappingMatches", "@DiscardPartialsOnMatch")
SNIPPETS = (
    Snippet("create schema", "create schema ${Type} (${attribute} ${double});", "declare events of the input"),
    Snippet(
        "select from pattern",
        "@Name('${Detection}')\ninsert into ${Detection}\nselect a1.${attribute} as ${attribute}\n"
        "from pattern [every a1=${Type} -> a2=${Other}(${attribute} = a1.${attribute})"
        " where timer:within(${5 minutes})];",
        "a sequence of events with a time limit",
    ),
    Snippet(
        "select absence",
        "@Name('${Detection}')\ninsert into ${Detection}\nselect a1.${attribute} as ${attribute}\n"
        "from pattern [every a1=${Type} -> (timer:interval(${5 minutes}) and not"
        " ${Other}(${attribute} = a1.${attribute}))];",
        "an event that another does not follow in time",
    ),
    Snippet(
        "select from type",
        "@Name('${Detection}')\ninsert into ${Detection}\nselect a1.${attribute} as ${attribute}\n"
        "from ${Type}(${attribute} > ${0}) as a1;",
        "single events that pass a condition",
    ),
)
MEANINGS = {
    "create": "begins the declaration of a type of events: `create schema`",
    "schema": "the attributes of a type of events, with their types",
    "inherits": "types whose attributes the new type has, too",
    "insert": "`insert into` names the type of the events that the statement derives",
    "into": "`insert into` names the type of the events that the statement derives",
    "select": "the attributes of the derived event",
    "from": "the pattern, or the type of event, that the statement detects",
    "pattern": "events in an order: `[a=A -> b=B]`",
    "every": "starts a new search whenever its operand has been detected",
    "every-distinct": "as `every`, but leaves out detections whose keys it has seen already",
    "not": "absent: true while its operand has not happened; in a condition the negation",
    "and": "both, in any order; in a condition the conjunction",
    "or": "one of both; in a condition the disjunction",
    "until": "repeats its first operand until the second happens",
    "while": "ends the search when the condition is not true of a detection of its operand",
    "where": "a guard behind a pattern, such as `timer:within`; behind `from` a condition on the whole detection",
    "timer:within": "gives the pattern before it up after this time",
    "timer:withinmax": "gives the pattern before it up after this time, or after so many detections",
    "timer:interval": "is true when this time has passed since the search for it began",
    "timer:at": "is true at the times of a schedule: minute, hour, day of month, month, day of week, second",
    "->": "followed by: the right side is searched for when the left one has been detected",
    "@consume": "an event that is taken here is not seen by other parts of the pattern",
    "@name": "the name of the statement; without `insert into` also the type that it derives",
    "@priority": "statements of higher priority see an event first",
    "@suppressoverlappingmatches": "of detections that share events only the first is reported",
    "@discardpartialsonmatch": "a detection ends all searches that are under way",
    "in": "is one of the values, or lies in the range",
    "between": "lies between two values, which belong to the range",
    "like": "text of a pattern, in which % stands for any text and _ for one character",
    "case": "the value of the first condition that is true",
    "as": "names a column, or the events of `from`",
}
