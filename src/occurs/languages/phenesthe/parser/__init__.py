"""The text of a `.phen` file to its tree (phenesthe.md, section 2).

A text is cut into statements first, behind every full stop that is neither in a number nor part of `...`, and where a
line begins with `event NAME`, `state NAME`... though the statement before it has not ended.  Then every statement is
parsed by itself, so that each wrong statement is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.statements import Piece, Token, parse_statements, tokens_of
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser.complaints import explain
from occurs.languages.phenesthe.parser.tree import Builder


def parse(text: str, file: str | None = None) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    Statements with a syntax problem are left out of the tree.  Problems have the kinds ``syntax``, ``unknown-unit``
    and, for what Phenesthe's own files may hold, ``unsupported`` and ``ambiguous-chain``.
    """
    source = Text(text, file)
    statements, unread = parse_statements(
        "occurs.languages.phenesthe",
        pieces(text),
        source,
        lambda p, tree: Builder(source, p.start).statements(tree, p.words),
        explain,
        _names,
        (".", "end the statement with a full stop: `event alarm : fire.`"),
    )
    return syntax.File(statements, file, text, unread), sorted(source.problems, key=Problem.sort_key)


def _names(words: str) -> set[str]:
    """What a statement that cannot be read was to define or declare; of declarations, every name in it."""
    first, *rest = [t for t in tokens_of(_TOKEN, words) if t[0] in ("word", "name")] or [(None, "", 0, 0)]
    if first[1] not in ("input", "input_phenomenon"):
        rest = rest[:1]
    return {t[1].strip("`") for t in rest}


#: what the search for the ends of statements must pass over whole, and the tokens it looks at
_TOKEN = re.compile(
    r"""(?P<skip>(?:\#|%|--)[^\n]*|[\s\ufeff]+)|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<name>`[^`\n]+`)|(?P<word>[^\W\d]\w*)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"""
    r"""|(?P<rest>\.\.\.)|(?P<stop>\.)|(?P<other>.)"""
)
_STARTS = frozenset((*syntax.SORTS, *(f"{s}_phenomenon" for s in syntax.SORTS), "input", "input_phenomenon", "fact"))


def pieces(text: str) -> Iterator[Piece]:
    """The statements of a text, blanks and comments around them left out, and the directives of the original."""
    return (piece for piece in _pieces(text) if not piece.words.startswith(":-"))


def _pieces(text: str) -> Iterator[Piece]:
    tokens = tokens_of(_TOKEN, text)
    begin: int | None = None
    depth = 0
    for i, (kind, word, start, end) in enumerate(tokens):
        depth = 0 if begin is None else max(0, depth + (word == "(") - (word == ")"))
        if kind == "stop" and not _in_number(tokens, i) and not (depth and _in_path(tokens, i)):
            if begin is None:
                yield Piece(start, text[start:end])  # a full stop alone
            else:
                yield Piece(begin, text[begin : tokens[i - 1][3]])
            begin = None
        elif begin is None:
            begin = start
        elif _begins(text, tokens, i):
            yield Piece(begin, text[begin : tokens[i - 1][3]], False)
            begin = start
    if begin is not None:
        yield Piece(begin, text[begin : tokens[-1][3]], False)


def _in_number(tokens: list[Token], i: int) -> bool:
    """Whether the full stop was meant to begin a number, as in `X > .5`: no statement can end before it."""
    if i == 0 or i + 1 == len(tokens) or tokens[i + 1][0] != "number" or tokens[i + 1][2] != tokens[i][3]:
        return False
    return tokens[i - 1][0] == "other" and tokens[i - 1][1] != ")"


def _in_path(tokens: list[Token], i: int) -> bool:
    """Whether the full stop stands in a name, as in `user.id`: directly between two names."""
    if i == 0 or i + 1 == len(tokens):
        return False
    before, after = tokens[i - 1], tokens[i + 1]
    return {before[0], after[0]} <= {"word", "name"} and before[3] == tokens[i][2] and tokens[i][3] == after[2]


def _begins(text: str, tokens: list[Token], i: int) -> bool:
    """Whether a statement begins at token ``i`` though the one before has no full stop."""
    kind, word, start, _ = tokens[i]
    if kind != "word" or word not in _STARTS or text[text.rfind("\n", 0, start) + 1 : start].strip():
        return False
    follows = tokens[i + 1] if i + 1 < len(tokens) else None
    if follows is None or not (follows[0] in ("word", "name") or (follows[1] == "(" and word == "input_phenomenon")):
        return False
    before = tokens[i - 1]
    return (
        before[0] in ("string", "name", "number")
        or before[1] in (")", "}")
        or (before[0] == "word" and before[1] not in syntax.KEYWORDS - {"true", "false", "changes"})
    )
