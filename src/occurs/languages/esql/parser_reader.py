"""Reading the tokens of one statement: what stands there, what could have stood there, going back.

The furthest place that any attempt has reached is where the mistake is; what was expected there is the message.
"""

from __future__ import annotations

from collections.abc import Sequence

from occurs.errors import Problem, Span
from occurs.expr.text import Text
from occurs.languages.esql import BEGINS
from occurs.languages.esql.parser_tokens import Token

#: how deep pipes may nest, and how many operands may stand in a row: reading them back takes a few calls a level
DEEPEST = 100


class Backtrack(Exception):
    """What was tried does not stand here."""


class Reader:
    """A place in the tokens of a statement; the last token is of kind ``end`` or ``stop``."""

    def __init__(self, tokens: Sequence[Token], source: Text) -> None:
        self.tokens = tokens
        self.source = source
        self.at = 0
        self.furthest = 0
        self.expected: set[str] = set()
        #: what is to be said if reading gets no further than a place: kind, message, hint
        self.said: dict[int, tuple[str, str, str | None]] = {}

    # --- tokens ------------------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def wanted(self, what: str) -> None:
        """Note that ``what`` could stand here."""
        if self.at > self.furthest:
            self.furthest, self.expected = self.at, set()
        if self.at == self.furthest:
            self.expected.add(what)

    def fail(self, what: str) -> Backtrack:
        """``what`` should stand here."""
        self.wanted(what)
        return Backtrack()

    def say(self, kind: str, message: str, hint: str | None = None) -> Backtrack:
        """Nothing can stand here, for a reason of its own."""
        self.wanted(message)
        self.said[self.at] = kind, message, hint
        return Backtrack()

    def next(self) -> Token:
        token = self.tokens[self.at]
        self.at += 1
        return token

    def sees(self, *keys: str) -> bool:
        """Whether these tokens stand here, by their keys; words that are no keywords by what they are."""
        here = self.tokens[self.at : self.at + len(keys)]
        return len(here) == len(keys) and all(_is(t, k) for t, k in zip(here, keys))

    def accept(self, key: str) -> Token | None:
        """The token, if it stands here."""
        if _is(self.token, key):
            return self.next()
        self.wanted(f"`{key}`" if not key.startswith("a ") else key)
        return None

    def expect(self, key: str) -> Token:
        found = self.accept(key)
        if found is None:
            raise Backtrack
        return found

    def words(self, *words: str) -> None:
        for word in words:
            self.expect(word)

    # --- places ------------------------------------------------------------------------------------------------------

    def span(self, start: int, end: int | None = None) -> Span:
        """From token ``start`` to before token ``end`` (here)."""
        last = max(start, (self.at if end is None else end) - 1)
        return self.source.span(self.tokens[start].start, self.tokens[last].end)

    def problem(self) -> Problem:
        """Why the statement cannot be read."""
        token = self.tokens[self.furthest]
        place = self.source.span(token.start, max(token.end, token.start + 1))
        if self.furthest in self.said:
            kind, message, hint = self.said[self.furthest]
            return self.source.problem(kind, message, place, hint)
        hint = None
        if token.kind == "word" and token.key != "a name" and self.expected & {"a name", "an operand"}:
            hint = f"`{token.word}` is a keyword: to use it as a name, write it in backquotes: `` `{token.word}` ``"
        small = self._in_small_letters()
        if hint is None and small is not None:
            hint = f"write keywords in capitals: `{small.word.upper()}`"
            place = self.source.span(small.start, small.end)
            return self.source.problem("syntax", f"`{small.word}` is not a keyword", place, hint)
        if token.kind == "bad" and token.word in "\"'`":
            hint = "close it on the same line; write a line break in a text as \\n"
            return self.source.problem("syntax", "this quote is not closed on its line", place, hint)
        return self.source.problem("syntax", f"{token.shown}: expected {listed(self.expected)}", place, hint)


    def _in_small_letters(self) -> Token | None:
        """The word up to where reading stopped that would be an expected keyword in capitals; else the first one that
        begins a statement."""
        here = self.tokens[self.furthest]
        if here.kind == "word" and f"`{here.word.upper()}`" in self.expected and here.word != here.word.upper():
            return here
        first = self.tokens[0]
        begins = first.kind == "word" and first.word in BEGINS
        return first if begins else None


def _is(token: Token, key: str) -> bool:
    return token.key == key or (token.kind == "word" and token.word == key)


def listed(expected: set[str]) -> str:
    """``a, b or c``; what is general first, many of a kind shortened."""
    parts = sorted(expected, key=lambda e: (e.startswith("`"), e))
    if len(parts) > 12:
        parts = [*parts[:12], "..."]
    if len(parts) < 2:
        return "".join(parts) or "something else"
    return ", ".join(parts[:-1]) + " or " + parts[-1]
