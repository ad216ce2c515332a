"""Where the clauses MATCH_RECOGNIZE stand in a text of Spark SQL, and over which relation each of them is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from occurs.errors import DefinitionProblem
from occurs.expr.text import Text

#: strings (with backslashes, raw ones, doubled quotes), quoted names, comments, words and signs, as Spark cuts them
_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)"""
    r"""|(?P<string>[rR]?'(?:[^'\\]|\\.|'')*'|[rR]?"(?:[^"\\]|\\.|"")*")"""
    r"""|(?P<name>`(?:[^`]|``)*`)|(?P<word>[^\W\d]\w*)|(?P<other>.)""",
    re.DOTALL,
)
#: words behind which a relation begins
_BEFORE = frozenset(("from", "join", "lateral", "using", "table"))


@dataclass(frozen=True)
class Token:
    """``kind``: ``string name word other``."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The word in lower case; empty if it is none."""
        return self.text.lower() if self.kind == "word" else ""

    @property
    def named(self) -> bool:
        return self.kind in ("word", "name")


@dataclass(frozen=True)
class Found:
    """One clause: its relation, with an alias that stands behind that, and the clause, as offsets in the text.

    ``tables``: the beginning and the end of the common table expressions that the relation may name, from outside.
    """

    relation: tuple[int, int]
    clause: tuple[int, int]
    tables: tuple[tuple[int, int], ...]


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, without blanks and comments."""
    found = ((m.lastgroup or "", m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text))
    return [Token(*t) for t in found if t[0] != "skip"]


def clauses(text: str) -> list[Found]:
    """All clauses of a text, inner ones before those around them.  Raises DefinitionProblem (``syntax``)."""
    tokens = tokens_of(text)
    pairs = _pairs(tokens)
    out = []
    for i, token in enumerate(tokens[:-1]):
        if token.word == "match_recognize" and tokens[i + 1].text == "(":
            if i + 1 not in pairs:
                source = Text(text, None)
                problem = source.problem(
                    "syntax", "this parenthesis is not closed", source.span(token.end, token.end + 1)
                )
                raise DefinitionProblem([problem])
            first = _relation(tokens, pairs, i, text)
            end = tokens[pairs[i + 1]].end
            tables = tuple(_tables(tokens, pairs, first))
            out.append(Found((tokens[first].start, tokens[i - 1].end), (token.start, end), tables))
    return sorted(out, key=lambda f: f.clause[1])


def _pairs(tokens: Sequence[Token]) -> dict[int, int]:
    """The number of each opening parenthesis that is closed, to that of the closing one, and back."""
    out: dict[int, int] = {}
    waiting: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind == "other" and token.text == "(":
            waiting.append(i)
        elif token.kind == "other" and token.text == ")" and waiting:
            opening = waiting.pop()
            out[opening], out[i] = i, opening
    return out


def _relation(tokens: Sequence[Token], pairs: dict[int, int], at: int, text: str) -> int:
    """The number of the first token of the relation before the clause at ``at``."""
    first = _one(tokens, pairs, at - 1)
    if first > 0 and first == at - 1 and tokens[first].named:
        # a name behind another name, a parenthesis or AS is an alias
        before = tokens[first - 1]
        if before.word == "as":
            return _one(tokens, pairs, first - 2)
        if before.text == ")" or (before.named and before.word not in _BEFORE):
            return _one(tokens, pairs, first - 1)
    if first < 0 or not (tokens[first].named or tokens[first].text == "("):
        source = Text(text, None)
        span = source.span(tokens[at].start, tokens[at].end)
        hint = "write `FROM table MATCH_RECOGNIZE (..)`, or a query in parentheses"
        raise DefinitionProblem([source.problem("syntax", "there is no table before MATCH_RECOGNIZE", span, hint)])
    return first


def _one(tokens: Sequence[Token], pairs: dict[int, int], last: int) -> int:
    """The number of the first token of what ends at ``last``: a name with its parts, a call, or parentheses."""
    if last < 0:
        return last
    first = last
    if tokens[last].text == ")" and last in pairs:
        first = pairs[last]
        called = first > 0 and tokens[first - 1].named and tokens[first - 1].word not in (*_BEFORE, "as")
        if not called:
            return first
        first -= 1
    while first > 1 and tokens[first - 1].text == "." and tokens[first - 2].named:
        first -= 2
    return first


def _tables(tokens: Sequence[Token], pairs: dict[int, int], at: int) -> Iterator[tuple[int, int]]:
    """Where the common table expressions stand that are complete before token ``at``, at every level around it."""
    openings = [i for i, j in pairs.items() if i < at < j and tokens[i].text == "("]
    for begin in (0, *(i + 1 for i in sorted(openings))):
        if tokens[begin].word != "with":
            continue
        first = begin + 1 + (tokens[begin + 1].word == "recursive")
        end, i = None, first
        while i < at:
            # name [ (columns) ] AS ( query ) [,]
            i += 1
            if tokens[i].text == "(" and i in pairs:
                i = pairs[i] + 1
            if tokens[i].word != "as" or tokens[i + 1].text != "(" or pairs.get(i + 1, at) >= at:
                break
            i = pairs[i + 1]
            end = i
            if tokens[i + 1].text != ",":
                break
            i += 2
        if end is not None:
            yield tokens[begin + 1].start, tokens[end].end
