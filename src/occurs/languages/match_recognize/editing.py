"""What row patterns tell editors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from occurs.expr.text import Text
from occurs.languages.kit import vocabulary
from occurs.languages.kit.editing import Begun, Binding, Entry, Snippet, Token, Words, closing, openings
from occurs.languages.kit.statements import Piece
from occurs.languages.kit.vocabulary import calls_of, spellings_of
from occurs.languages.match_recognize import parser, syntax
from occurs.languages.match_recognize.functions import FUNCTIONS
from occurs.languages.match_recognize.render import lines
from occurs.languages.match_recognize.words import TYPES, UNITS
from occurs.model.types import Schema

#: the second: what must follow a keyword
PACKAGE, WORD_END = "occurs.languages.match_recognize", r"\b"


def outline(tree: syntax.File) -> Sequence[Entry]:
    """One entry per statement."""
    return [
        Entry(s.output, "row pattern", s.output, (s.table.text,), s.span, s.name.span if s.name is not None else None)
        for s in tree.statements
    ]


def words(language: str) -> Words:
    """How a text looks, and what its words mean."""
    calls = {**calls_of("match_recognize", {n: own for n, own in FUNCTIONS.items() if own != "mod"}), **CALLS}
    found = spellings_of(PACKAGE, WORD_END)
    return Words(
        line_comments=("--",),
        block_comments=(("/*", "*/"),),
        strings=("'",),
        escape="",
        quoted_names='"',
        keywords=tuple(sorted({*found.words, "interval", "timestamp", "cast", "distinct"})),
        constants=found.constants,
        types=tuple(TYPES),
        units=tuple(UNITS),
        functions=tuple(sorted(calls)),
        calls=calls,
        operators=(*found.signs, "{-", "-}"),
        statement_end=";",
        snippets=SNIPPETS,
        forms=FORMS,
        meanings=MEANINGS,
    )


def pieces(text: str) -> Iterable[Piece]:
    """The statements of a text, with blanks for comments."""
    return parser.pieces(parser.without_comments(text, Text(text, None)))


def layout(statement: syntax.Query) -> list[str]:
    """The lines of a statement in its canonical text."""
    *before, last = lines(statement)
    return [*before, f"{last};"]


def begun(text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a statement."""
    return vocabulary.begun(PACKAGE, WORD_END, text)


def bound(tokens: Sequence[Token], schemas: Mapping[str, Schema]) -> Iterator[Binding]:
    """The variables of the pattern and of SUBSET, whose rows have the columns of the table; and these columns."""
    table = _table(tokens)
    known = schemas.get(table) if table is not None else None
    yield from (Binding(n, "attribute", table) for n in (() if known is None else known.names))
    inside = openings(tokens)
    seen: set[str] = set()
    for i, token in enumerate(tokens[:-1]):
        if token.text.lower() == "pattern" and tokens[i + 1].text == "(":
            for part in tokens[i + 2 : closing(tokens, i + 1)]:
                name = part.name if part.kind == "name" else part.text.upper()
                if part.named and part.text.lower() != "permute" and name not in seen:
                    seen.add(name)
                    yield Binding(name, "tag", table, part)
        elif token.named and tokens[i + 1].text == "=" and _in_subset(tokens, inside, i):
            yield Binding(token.name if token.kind == "name" else token.text.upper(), "tag", table, token)


def _table(tokens: Sequence[Token]) -> str | None:
    """The table behind FROM."""
    for token, behind in pairwise(tokens):
        if token.text.lower() == "from" and behind.named:
            return behind.name
    return None


def _in_subset(tokens: Sequence[Token], inside: Sequence[int | None], at: int) -> bool:
    """Whether a token stands in SUBSET: no other part of the clause begins between."""
    for i in range(at - 1, -1, -1):
        word = tokens[i].text.lower()
        if word == "subset":
            return inside[i] == inside[at]
        if word in ("define", "measures", "select", "where", "pattern"):
            return False
    return False


#: functions of rows, with how they are called
CALLS = {
    "avg": "AVG(x): number -> float. The mean of the values that are not null.",
    "array_agg": "ARRAY_AGG(x): any -> list. The values in the order of the rows, nulls too.",
    "classifier": "CLASSIFIER(), CLASSIFIER(A): string. The variable to which the row is mapped.",
    "count": "COUNT(*), COUNT(A.*), COUNT(x): int. The number of rows, of the rows of A, of values that are not null.",
    "first": "FIRST(x, n): the value at the first row of its variable, or n rows of it after that.",
    "last": "LAST(x, n): the value at the last row of its variable so far, or n rows of it before that.",
    "match_number": "MATCH_NUMBER(): int. The number of the match in its partition, from 1.",
    "max": "MAX(x): the greatest value that is not null.",
    "max_by": "MAX_BY(x, k): the value of x at the first row with the greatest k.",
    "min": "MIN(x): the least value that is not null.",
    "min_by": "MIN_BY(x, k): the value of x at the first row with the least k.",
    "mod": "MOD(x, y): the remainder of x / y, with the sign of x.",
    "next": "NEXT(x, n): the value n rows further on in the partition, mapped or not; 1 if n is left out.",
    "prev": "PREV(x, n): the value n rows back in the partition, mapped or not; 1 if n is left out.",
    "stddev": "STDDEV(x): number -> float. The sample standard deviation.",
    "stddev_pop": "STDDEV_POP(x): number -> float. The population standard deviation.",
    "sum": "SUM(x): number -> number. The sum of the values that are not null.",
}
SNIPPETS = (
    Snippet(
        "create view match_recognize",
        "CREATE VIEW ${Detection} AS\nSELECT * FROM ${Type} MATCH_RECOGNIZE (\n  PARTITION BY ${key} ORDER BY time\n"
        "  MEASURES FIRST(A.${attribute}) AS first_value, LAST(B.${attribute}) AS last_value\n"
        "  PATTERN (A B+) WITHIN INTERVAL '${5}' MINUTE\n"
        "  DEFINE B AS ${attribute} > PREV(${attribute}));",
        "rows in a pattern, one detection for each match",
    ),
    Snippet(
        "create view all rows",
        "CREATE VIEW ${Detection} AS\nSELECT * FROM ${Type} MATCH_RECOGNIZE (\n  PARTITION BY ${key} ORDER BY time\n"
        "  MEASURES MATCH_NUMBER() AS nr, CLASSIFIER() AS cls\n  ALL ROWS PER MATCH\n"
        "  PATTERN (A B+) WITHIN INTERVAL '${5}' MINUTE\n"
        "  DEFINE B AS ${attribute} > PREV(${attribute}));",
        "every row of a match, with its variable",
    ),
)
FORMS = (
    Snippet("within", "WITHIN INTERVAL '${5}' MINUTE", "no row later than this after the first one"),
    Snippet("skip to next row", "AFTER MATCH SKIP TO NEXT ROW", "matches may overlap"),
    Snippet("all rows per match", "ALL ROWS PER MATCH", "every mapped row is a detection"),
    Snippet("subset", "SUBSET ${U} = (${A}, ${B})", "a name for the rows of several variables"),
    Snippet("permute", "PERMUTE(${A}, ${B})", "parts in any order"),
)
MEANINGS = {
    "match_recognize": "finds rows of a table that follow one another in a pattern",
    "partition": "`PARTITION BY`: rows that are equal in these columns are searched by themselves",
    "order": "`ORDER BY`: the order of the rows of a partition; without it the order of time",
    "measures": "the values of the output, computed from the rows of the match",
    "one": "`ONE ROW PER MATCH`: one detection for each match, which is the default",
    "all": "`ALL ROWS PER MATCH`: a detection for every mapped row",
    "unmatched": "`WITH UNMATCHED ROWS`: also the rows that no match has",
    "omit": "`OMIT EMPTY MATCHES`: no row for a match that maps none",
    "after": "`AFTER MATCH SKIP`: where the search for the next match begins",
    "skip": "`AFTER MATCH SKIP`: where the search for the next match begins",
    "pattern": "variables in the order of their rows, with quantifiers `* + ? {n,m}`",
    "within": "no row of the match is later than this after its first row",
    "subset": "a union variable, whose rows are those of several variables",
    "define": "the conditions under which a row may be mapped to a variable",
    "permute": "the parts in any order",
    "running": "only the rows up to the current one, which is the default",
    "final": "all rows of the match, also those behind the current one",
    "{-": "the rows of this part are left out of the output of ALL ROWS PER MATCH",
    "^": "before the first row of the partition",
    "$": "behind the last row of the partition",
    "between": "lies between two values, which belong to the range",
    "like": "text of a pattern, in which % stands for any text and _ for one character",
    "case": "the value of the first condition that is true",
    "cast": "the value in another type, null if it is not the same there",
    "interval": "a length of time: `INTERVAL '5' MINUTE`",
    "as": "names a column, a variable's condition or the clause",
}
