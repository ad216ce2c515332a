"""The tokens of an eSQL text (pipes.md, 2.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from occurs.languages.esql.grammar import KEYWORDS, SPELLINGS

#: kinds of tokens: ``word`` (a keyword or a name), ``name`` (in backticks), ``number``, ``text``, ``variable`` ($x),
#: ``parameter`` (@P), ``access`` (the dot before an attribute), ``stop``, ``sign``, ``bad``, and ``end``, behind all
_TOKEN = re.compile(
    r"""(?P<skip>(?:\A\ufeff?|\n)[^\S\n]*\#[^\n]*|--[^\n]*|[^\S\n]+|\n|\ufeff)"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<name>`[^`\n]+`)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)"""
    r"""|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"""
    r"""|(?P<variable>\$(?:[0-9]+|[A-Za-z_][A-Za-z0-9_]*))|(?P<parameter>@[A-Za-z_][A-Za-z0-9_]*)"""
    r"""|(?P<access>(?<=[A-Za-z0-9_)\]*`])\.(?=[A-Za-z_`]))|(?P<stop>\.)"""
    r"""|(?P<sign>:=|->|<=|>=|<>|!=|==|[→⇒∨∧¬□◇○≠≤≥×÷∈·⊤⊥√∀∃+\-*/^=<>()\[\]{},:;|\#?])|(?P<bad>.)"""
)


@dataclass(frozen=True)
class Token:
    """``word`` is the text as written, ``key`` what the grammar calls it; both may differ for signs."""

    kind: str
    word: str
    start: int
    end: int

    @property
    def key(self) -> str:
        """A keyword, an operator in its first spelling, else what kind of token it is."""
        if self.kind == "sign":
            return SPELLINGS.get(self.word, self.word)
        if self.kind == "word":
            return self.word if self.word in KEYWORDS else "a name"
        return {"name": "a name", "access": ".", "stop": "`.`", "end": "the end"}.get(self.kind, f"a {self.kind}")

    @property
    def shown(self) -> str:
        """As a message says it."""
        if self.kind in ("end", "stop"):
            return f"the {'text' if self.word == 'text' else 'statement'} ends too early"
        return f"unexpected `{self.word}`"


def tokens(text: str) -> Iterator[Token]:
    """All tokens of a text, blanks and comments left out."""
    kind = ""
    for match in _TOKEN.finditer(text):
        before, kind = kind, str(match.lastgroup)
        if kind == "access" and before == "number":
            kind = "stop"  # a number has no attributes
        if kind != "skip":
            yield Token(kind, match.group(), match.start(), match.end())


def tokens_with_end(text: str) -> list[Token]:
    """All tokens of a text that is no statement, and one of kind ``end`` behind them."""
    found = list(tokens(text))
    end = found[-1].end if found else 0
    return [*found, Token("end", "text", end, end)]
