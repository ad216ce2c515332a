"""What FTL and PTL tell editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from occurs.expr.text import Text
from occurs.languages.kit import vocabulary
from occurs.languages.kit.editing import Begun, Binding, Entry, Snippet, Token, Words, closing
from occurs.languages.kit.statements import Piece
from occurs.languages.kit.vocabulary import DURATIONS, calls_of, spellings_of
from occurs.languages.logic import parser, syntax
from occurs.languages.logic.functions import FUNCTIONS
from occurs.model.types import TYPE_NAMES, Schema

PACKAGE, WORD_END = "occurs.languages.logic", r"\b"


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per definition; what a trigger reads is for the checks to say, as a name may be many things."""
    return list(_entries(tree))


def _entries(tree: syntax.File) -> Iterator[Entry]:
    for d in tree.definitions:
        kind = type(d).__name__.lower()
        made = d.emit.type if isinstance(d, syntax.Trigger) and d.emit is not None else d.name
        output = None if isinstance(d, syntax.View | syntax.Constant) else made.text
        yield Entry(d.name.text, kind, output, (), d.span, made.span, isinstance(d, syntax.State))


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    calls = calls_of("logic", FUNCTIONS)
    found = spellings_of(PACKAGE, WORD_END)
    return Words(
        line_comments=("#", "--"),
        escape="",
        quoted_names="",
        keywords=found.words,
        constants=found.constants,
        types=tuple(TYPE_NAMES),
        units=tuple(u for u in DURATIONS if not u.startswith("w")),
        functions=tuple(calls),
        calls=calls,
        operators=found.signs,
        statement_end=";",
        snippets=SNIPPETS[language],
        meanings=MEANINGS,
    )


def pieces(text: str) -> Iterable[Piece]:
    """The definitions of a text, with blanks for comments and signs for SELECTs."""
    return parser.pieces(parser.without_comments(text), Text(text, None))


def begun(text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a definition."""
    return vocabulary.begun(PACKAGE, WORD_END, text)


def bound(tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> Iterator[Binding]:
    """The variables of a trigger, `for each x in` and `[x <- ..]`."""
    for i, token in enumerate(tokens[:-1]):
        if token.text.lower() == "each":
            opened = tokens[i + 1].text == "("
            end = closing(tokens, i + 1) if opened else i + 2
            names = (t for t in tokens[i + 1 : end] if t.named)
            yield from (Binding(t.name, "variable", None, t) for t in names)
        elif token.text in ("<-", "←", ":=") and i > 1 and tokens[i - 1].named and tokens[i - 2].text == "[":
            yield Binding(tokens[i - 1].name, "variable", None, tokens[i - 1])


_DECLARED = (
    Snippet("table", "table ${Load} (${link} string key, ${value} int)", "rows that change the values of a table"),
    Snippet("state", "state ${readings} (${level} float)", "rows that give new values to names"),
    Snippet("event", "event ${login} (${person} string)", "rows that are true in one state only"),
)
SNIPPETS = {
    "ftl": (
        *_DECLARED,
        Snippet("trigger", "trigger ${name}:\n    eventually (${level} > ${0})", "a trigger that looks forward"),
        Snippet(
            "trigger for each",
            "trigger ${name} for each ${x} in (select ${link} from ${Load}):\n"
            "    eventually [${v} <- ${Load}(${x})] eventually within ${10 min} (${Load}(${x}) >= 2*${v})\n"
            "    emit ${Detection}(${link} = ${x})",
            "a trigger for every key of a table",
        ),
    ),
    "ptl": (
        *_DECLARED,
        Snippet("trigger", "trigger ${name}:\n    previously (${level} > ${0})", "a trigger that looks back"),
        Snippet(
            "trigger for each",
            "trigger ${name} for each ${x} in (select ${link} from ${Load}):\n"
            "    [${v} <- ${Load}(${x})] previously within ${10 min} (${Load}(${x}) <= 0.5*${v})\n"
            "    emit ${Detection}(${link} = ${x})",
            "a trigger for every key of a table",
        ),
    ),
}
MEANINGS = {
    "table": "declares a table: each row changes the values of its key",
    "state": "declares values: each row gives new values to all of them",
    "event": "declares an event: a row is true only in the state in which it arrives",
    "view": "a name for a SELECT",
    "constant": "a name for a value",
    "trigger": "begins a trigger: its name, its variables, its formula and its actions",
    "future": "the trigger looks forward from the state in which it is activated",
    "past": "the trigger looks back from the present state",
    "eventually": "at this state or at a later one",
    "always": "at this state and at all later ones",
    "until": "the left side is true at every state before the right one, which must follow",
    "weak until": "as `until`, but the right side need not follow",
    "unless": "as `until`, but the right side need not follow",
    "release": "the right side is true up to and at the state in which the left one becomes true",
    "nexttime": "at the next state",
    "next": "at the next state",
    "since": "the right side was true, and the left one has been true at every state after it",
    "previously": "at this state or at an earlier one",
    "once": "at this state or at an earlier one",
    "throughout": "at this state and at all earlier ones",
    "historically": "at this state and at all earlier ones",
    "lasttime": "at the state before",
    "last": "at the state before",
    "within": "a bound on time: at most this long",
    "implies": "the right side is true, or the left one is not",
    "for": "`for each x in (SELECT)`: one instance of the trigger for every row",
    "each": "`for each x in (SELECT)`: one instance of the trigger for every row",
    "observing": "the states that the trigger looks at: `all` of the input, or one `every` so often",
    "emit": "derives a row of this type when the trigger fires",
    "notify": "reports this text when the trigger fires",
    "execute": "an action on a database, which only `occurs watch` runs",
    "on never": "what to do when the trigger can no longer fire",
    "reactivate": "after a firing the trigger starts again at the next state",
    "continue": "after a firing the trigger goes on with what it has seen",
    "key": "the column identifies the rows of a table",
    "exists": "the SELECT has rows",
}
