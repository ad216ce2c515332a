"""What EPL tells editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from occurs.expr.text import Text
from occurs.languages.epl import parser, syntax
from occurs.languages.epl.functions import FUNCTIONS
from occurs.languages.epl.parser.tree import TYPES
from occurs.languages.epl.render import clauses
from occurs.languages.epl.timers import TIMERS
from occurs.languages.epl.words import UNITS
from occurs.languages.kit import vocabulary
from occurs.languages.kit.editing import Begun, Binding, Entry, Snippet, Token, Words, closing, openings
from occurs.languages.kit.statements import Piece
from occurs.languages.kit.vocabulary import calls_of, spellings_of
from occurs.model.types import Schema

#: the second: what must follow a keyword
PACKAGE, WORD_END = "occurs.languages.epl", r"(?![\w$])"


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per statement; what a query derives is for the checks to say, as it may have a number."""
    return list(_entries(tree))


def _entries(tree: syntax.File) -> Iterator[Entry]:
    for s in tree.statements:
        if isinstance(s, syntax.CreateSchema):
            yield Entry(s.name.text, "schema", s.name.text, (), s.span, s.name.span)
            continue
        if isinstance(s, syntax.CreateVariable):
            yield Entry(s.name.text, "variable", None, (), s.span, s.name.span)
            continue
        titles = [a.value for a in s.annotations if a.name.text.lower() == "name" and isinstance(a.value, str)]
        into = None if s.into is None else s.into.text
        name = titles[-1] if titles else into or ""
        reads = tuple(sorted({p.type.text for p in s.pattern.walk() if isinstance(p, syntax.Filter)}))
        place = None if s.into is None else s.into.span
        yield Entry(name, "simple" if s.simple else "pattern", into or name or None, reads, s.span, place)


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    calls = calls_of("epl", FUNCTIONS)
    found = spellings_of(PACKAGE, WORD_END)
    return Words(
        line_comments=("//",),
        line_start_comments=("#", "--"),
        block_comments=(("/*", "*/"),),
        word_signs="$",
        keywords=(*ANNOTATIONS, *found.words),
        constants=found.constants,
        types=tuple(TYPES),
        units=tuple(UNITS),
        functions=tuple(calls),
        calls=calls,
        operators=found.signs,
        statement_end=";",
        snippets=SNIPPETS,
        forms=FORMS,
        meanings=MEANINGS,
    )


def pieces(text: str) -> Iterable[Piece]:
    """The statements of a text, with blanks for comments."""
    return parser.pieces(parser.without_comments(text, Text(text, None)))


def layout(statement: syntax.Statement) -> list[str]:
    """The lines of a statement in its canonical text."""
    *lines, last = clauses(statement)
    return [*lines, f"{last};"]


def begun(text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a statement."""
    return vocabulary.begun(PACKAGE, WORD_END, text)


#: words before a parenthesis that is not of a filter or a call
_GROUPED = frozenset(("and", "or", "not", "every", "until", "while", "in"))


def bound(tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> Iterator[Binding]:
    """The tags of a statement, `tag=Type` in a pattern and `from Type as tag`, and the attributes of that type."""
    inside = openings(tokens)
    for i, token in enumerate(tokens[:-1]):
        if token.text == "=" and i > 0 and tokens[i - 1].named and tokens[i + 1].named:
            if inside[i] is not None and not _called(tokens, inside[i]):
                yield Binding(tokens[i - 1].name, "tag", tokens[i + 1].name, tokens[i - 1])
        elif token.text.lower() == "from" and tokens[i + 1].named and tokens[i + 1].text.lower() != "pattern":
            event = tokens[i + 1].name
            yield from (Binding(n, "attribute", event) for n in (schemas[event].names if event in schemas else ()))
            behind = i + 2
            if behind < len(tokens) and tokens[behind].text == "(":
                behind = closing(tokens, behind) + 1
            if behind + 1 < len(tokens) and tokens[behind].text.lower() == "as" and tokens[behind + 1].named:
                yield Binding(tokens[behind + 1].name, "tag", event, tokens[behind + 1])


def _called(tokens: Sequence[Token], opening: int | None) -> bool:
    """Whether a parenthesis belongs to a filter, a call or an annotation."""
    if opening is None or opening == 0 or tokens[opening].text != "(":
        return False
    before = tokens[opening - 1]
    return before.named and before.text.lower() not in _GROUPED


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
FORMS = (
    Snippet("timer:within", "where timer:within(${5 minutes})", "a time limit of the pattern before it"),
    *(Snippet(t.word, t.snippet, t.offered) for t in TIMERS.values()),
    Snippet("every-distinct", "every-distinct(${a1}.${attribute}) ", "each key once"),
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
    "where": "a guard of a pattern, such as `timer:within`; as a clause of its own a condition on the whole detection",
    "timer:within": "gives the pattern before it up after this time",
    "timer:withinmax": "gives the pattern before it up after this time, or after so many detections",
    **{t.word: t.meaning for t in TIMERS.values()},
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
