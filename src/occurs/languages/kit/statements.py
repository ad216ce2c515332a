"""Texts cut into statements, each of which is parsed by itself, so that every wrong one is reported."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lark import Lark
from lark.exceptions import UnexpectedInput

from occurs.errors import Problem
from occurs.expr.lalr import reader
from occurs.expr.parsing import lark_of
from occurs.expr.text import Text
from occurs.languages.kit.expressions import Node, Refused

T = TypeVar("T")
#: its kind (the name of a group of a pattern), its text, its start and its end
Token = tuple[str | None, str, int, int]


@dataclass(frozen=True)
class Piece:
    """The statement ``words``, which begins at ``start``, without the sign behind it.

    ``ended``: the sign is there, or need not be.  ``broken``: it cannot be read, which has been reported.
    """

    start: int
    words: str
    ended: bool = True
    broken: bool = False


def tokens_of(pattern: re.Pattern[str], text: str) -> list[Token]:
    """The tokens of a text; ``pattern`` names the groups, and those called ``skip`` are left out."""
    return [(m.lastgroup, m.group(), m.start(), m.end()) for m in pattern.finditer(text) if m.lastgroup != "skip"]


def blanked_comments(pattern: re.Pattern[str], text: str, source: Text) -> str:
    """The text with blanks instead of comments; lines and columns stay where they are.

    ``pattern``: ``keep`` are texts and names, ``comment`` comments, ``open`` a comment that is not closed, which is
    reported.
    """

    def blank(match: re.Match[str]) -> str:
        if match.lastgroup == "keep":
            return match.group()
        if match.lastgroup == "open":
            place = source.span(match.start(), match.start() + 2)
            source.report("syntax", "this comment is not closed", place, "close it with `*/`")
        return re.sub(r"[^\n]", " ", match.group())

    return pattern.sub(blank, text)


def pieces_of(
    pattern: re.Pattern[str], text: str, begins: Callable[[str, list[Token], int, int], bool]
) -> Iterator[Piece]:
    """The statements of a text in which semicolons end them, blanks around them left out; semicolons alone are none.

    ``pattern``: as for :func:`tokens_of`, with a group ``other`` for signs.  ``begins``: whether, in the text and its
    tokens, the statement that begins at a token is cut at another one, before which the semicolon is missing.
    """
    tokens = tokens_of(pattern, text)
    begin: int | None = None
    for i, (kind, word, _, _) in enumerate(tokens):
        if word == ";" and kind == "other":
            if begin is not None:
                yield Piece(tokens[begin][2], text[tokens[begin][2] : tokens[i - 1][3]])
            begin = None
        elif begin is None:
            begin = i
        elif begins(text, tokens, begin, i):
            yield Piece(tokens[begin][2], text[tokens[begin][2] : tokens[i - 1][3]], False)
            begin = i
    if begin is not None:
        yield Piece(tokens[begin][2], text[tokens[begin][2] : tokens[-1][3]])


class Kept:
    """The trees of statements that were parsed last, for a process that reads almost the same text again and again.

    ``most``: how many, 0 if none are kept.  A tree says where its parts stand in the statement, not in the text.
    """

    def __init__(self) -> None:
        self.most = 0
        self.trees: OrderedDict[tuple[str, str], Any] = OrderedDict()

    def __call__(self, package: str, lark: Lark, words: str) -> Any:
        """The tree of a statement.  Raises UnexpectedInput."""
        tree = self.trees.get((package, words))
        if tree is None:
            tree = reader(lark).parse(words)
        if self.most:
            self.trees[package, words] = tree
            self.trees.move_to_end((package, words))
            if len(self.trees) > self.most:
                self.trees.popitem(last=False)
        return tree


parsed = Kept()


def parse_statements(
    package: str,
    pieces: Iterable[Piece],
    source: Text,
    build: Callable[[Piece, Node], Sequence[T]],
    explain: Callable[[UnexpectedInput, str, int, Text], Problem],
    made: Callable[[str], set[str]] = lambda words: set(),
    unended: tuple[str, str] = ("", ""),
    word_end: str = r"\b",
) -> tuple[tuple[T, ...], frozenset[str]]:
    """The statements that could be read with the grammar of a language, and what the others were to define.

    ``build`` makes statements of a tree, ``explain`` a problem of a piece that has none, ``made`` the names that a
    piece defines.  ``unended``: the sign that ends a statement, and the hint where it is missing.
    ``word_end``: what must follow a keyword, as a pattern.
    """
    lark = lark_of(package, "grammar.lark", word_end=word_end, shared=(__package__, "expression.lark"))
    statements: list[T] = []
    unread: set[str] = set()
    for piece in pieces:
        try:
            if piece.broken:
                raise Refused
            tree = parsed(package, lark, piece.words)
            if not piece.ended:
                (sign, hint), end = unended, piece.start + len(piece.words)
                source.report("syntax", f"the statement ends without `{sign}`", source.span(end, end + 1), hint)
            statements += build(piece, tree)
        except UnexpectedInput as error:
            source.problems.append(explain(error, piece.words, piece.start, source))
            unread |= made(piece.words)
        except Refused:  # its problem is among source.problems
            unread |= made(piece.words)
    return tuple(statements), frozenset(unread)
