"""The text of an `.ftl` or `.ptl` file to its tree (temporal-logic.md, section 2).

Comments are taken out first, then the text is cut into definitions, whose SELECTs are covered.  Then every definition
is parsed by itself, so that each wrong one is reported.

The semicolon between definitions may be left out, so that a definition ends where the next one begins: `table NAME (`,
`trigger NAME :` and so on stand nowhere else.  A SELECT is found by what stands before it, and ends with the
parenthesis that closes it; that of a view ends with the semicolon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.statements import Piece, parse_statements
from occurs.languages.logic import syntax
from occurs.languages.logic.parser.complaints import RESERVED, explain
from occurs.languages.logic.parser.tree import Builder


def parse(text: str, file: str | None = None, *, past: bool | None = None) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    ``past``: what a trigger is that does not say it; None: past in a file called ``.ptl``, else future.  Definitions
    with a problem are left out of the tree.  Problems have the kinds ``syntax``, ``bad-bound``, ``bad-sql`` (there is
    none) and ``unknown-unit``.
    """
    if past is None:
        past = file is not None and file.lower().endswith(".ptl")
    source, clean = Text(text, file), without_comments(text)
    definitions, unread = parse_statements(
        "occurs.languages.logic",
        pieces(clean, source),
        source,
        lambda p, tree: [Builder(source, clean, p.start, past).definition(tree)],
        explain,
        _made,
    )
    return syntax.File(definitions, file, text, unread), sorted(source.problems, key=Problem.sort_key)


_MADE = re.compile(r"(?i)\b(?:table|event|state|view|constant|trigger|emit)\s+(\w+)")


def _made(words: str) -> set[str]:
    """What a definition that cannot be read was to define or emit."""
    return set(_MADE.findall(words))


#: what stands in the place of every character of a SELECT
COVER = "\0"
_STRING = r"""(?:"(?:[^"\n]|"")*"|'(?:[^'\n]|'')*')"""
_COMMENT = re.compile(rf"(?P<keep>{_STRING})|(?:\#|--)[^\n]*|\ufeff")
_TOKEN = re.compile(rf"(?P<skip>\s+)|(?P<string>{_STRING})|(?P<word>[^\W\d]\w*)|(?P<number>\d\w*)|(?P<other>.)", re.S)


def without_comments(text: str) -> str:
    """The text with blanks instead of comments; lines and columns stay where they are."""

    def blank(match: re.Match[str]) -> str:
        return match.group() if match.lastgroup == "keep" else " " * len(match.group())

    return _COMMENT.sub(blank, text.replace(COVER, "\ufffd"))


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int

    @property
    def lower(self) -> str:
        return self.text.lower() if self.kind == "word" else self.text


def pieces(text: str, source: Text) -> Iterator[Piece]:
    """The definitions of a text without comments; reports parentheses around a SELECT, and views, that do not end."""
    tokens = [
        _Token(m.lastgroup or "", m.group(), m.start(), m.end()) for m in _TOKEN.finditer(text) if m.lastgroup != "skip"
    ]
    cutter = _Cutter(text, tokens, source)
    while cutter.at < len(tokens):
        found = cutter.piece()
        if found is not None:
            yield found


class _Cutter:
    """Goes through the tokens from ``at``."""

    def __init__(self, text: str, tokens: list[_Token], source: Text) -> None:
        self.text, self.tokens, self.source = text, tokens, source
        self.at = 0
        #: parts of the text that are SELECTs; whether one of the definition at hand does not end
        self.covered: list[tuple[int, int]] = []
        self.broken = False

    def piece(self) -> Piece | None:
        """The definition that begins here; None for a semicolon alone."""
        first = self.at
        self.covered, self.broken = [], False
        depth, each = 0, False
        if self.is_view(first):
            self.view(first)
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.text == ";" or (self.at > first and self.begins(self.at, depth > 0)):
                break
            self.at += 1
            depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
            if token.lower in ("each", ":"):
                each = token.lower == "each"
            # the SELECT of `for each y in (..)`, of `exists (..)`
            if (token.lower == "exists" or (token.lower == "in" and each)) and self.word(self.at) == "(":
                self.select()
        last = self.at
        self.at += self.word(self.at) == ";"
        if last == first:
            return None
        start, end = self.tokens[first].start, self.tokens[last - 1].end
        words = self.text[start:end]
        for low, high in self.covered:
            words = words[: low - start] + COVER * (high - low) + words[high - start :]
        return Piece(start, words, broken=self.broken)

    def word(self, i: int) -> str:
        """The token at ``i`` in lower case; nothing behind the end."""
        return self.tokens[i].lower if i < len(self.tokens) else ""

    def cover(self, start: int, end: int) -> None:
        """Cover a SELECT without the blanks around it."""
        part = self.text[start:end]
        if part.strip():
            self.covered.append((start + len(part) - len(part.lstrip()), start + len(part.rstrip())))

    def select(self) -> None:
        """Go behind the parentheses at ``at``, and cover what is in them."""
        opening = self.tokens[self.at]
        depth = 0
        for i in range(self.at, len(self.tokens)):
            token = self.tokens[i]
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                self.cover(opening.end, token.start)
                self.at = i + 1
                return
            if i > self.at and self.begins(i, True):
                break
        place = self.source.span(opening.start, opening.end)
        self.source.report("syntax", "this parenthesis is not closed", place, "write the SELECT in parentheses: `(..)`")
        self.broken = True
        self.at = next((j for j in range(self.at + 1, len(self.tokens)) if self.begins(j, True)), len(self.tokens))

    def is_view(self, i: int) -> bool:
        return self.word(i) == "view" and i + 1 < len(self.tokens) and self.tokens[i + 1].kind == "word"

    def view(self, first: int) -> None:
        """Go to the end of the view that begins at ``first``, and cover its SELECT, if it has one."""
        i = first + 2
        if self.word(i) == "(":
            i = next((j for j in range(i, len(self.tokens)) if self.word(j) in (")", ";")), len(self.tokens)) + 1
        if self.word(i) != "as":
            return
        self.at = end = i + 1
        while end < len(self.tokens) and self.word(end) != ";" and not (end > i + 1 and self.begins(end, True)):
            end += 1
        if end > self.at:
            self.cover(self.tokens[self.at].start, self.tokens[end - 1].end)
        self.at = end
        if self.word(end) != ";":
            behind = self.tokens[end - 1].end
            place = self.source.span(behind, behind + 1)
            self.source.report("syntax", "the view ends without `;`", place, "end its SELECT with a semicolon")

    def begins(self, i: int, strictly: bool) -> bool:
        """Whether a definition begins at token ``i``; ``strictly``: only as the first of its line."""
        token = self.tokens[i]
        word, name = token.lower, self.tokens[i + 1] if i + 1 < len(self.tokens) else None
        if (word not in _BEHIND and word not in ("future", "past")) or name is None or name.kind != "word":
            return False
        first = not self.text[self.text.rfind("\n", 0, token.start) + 1 : token.start].strip()
        if strictly and not first:
            return False
        if word in ("future", "past"):
            return name.lower == "trigger"
        if first and ((word == "trigger" and self.word(i + 2) == ":") or (word, name.lower) == ("table", "key")):
            return True  # a name that cannot be one
        if name.lower in RESERVED or name.lower in _CLAUSES or self.word(i - 1) in ("future", "past"):
            return False
        behind = self.word(i + 2) in (_BEHIND[word] or ("(",))
        # `state state (a int)` is a definition, `state trigger` the end of one and another
        return behind or ((first or not _BEHIND[word]) and name.lower not in (*_BEHIND, "future", "past"))


#: what begins a definition, with what stands behind its name if it is not the first of its line
_BEHIND: dict[str, tuple[str, ...]] = {
    "table": ("(",),
    "state": ("(",),
    "event": (),
    "view": ("(", "as"),
    "constant": ("=",),
    "trigger": (":", "for", "observing"),
}
#: what may stand behind a variable that is called `event`, `table` ..
_WORDS = "reactivate continue on notify emit execute from in as with for observing key"
_CLAUSES = frozenset(_WORDS.split())
