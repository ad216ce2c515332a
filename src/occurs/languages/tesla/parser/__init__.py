"""The text of a `.tesla` file to its tree (tesla.md, section 2).

A text is cut into statements first (where `define`, `rule NAME:`, `event NAME (`, `Subscribe (` or `Assign 1` begins
one, and after `;`), then every statement is parsed by itself, so that each wrong statement is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.statements import Piece, Token, parse_statements, tokens_of
from occurs.languages.tesla import syntax
from occurs.languages.tesla.parser.complaints import explain
from occurs.languages.tesla.parser.tree import Builder


def parse(text: str, file: str | None = None) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    Statements with a syntax problem are left out of the tree.  Problems have the kinds ``syntax``, ``unknown-unit``
    and (a misspelt aggregate) ``unknown-function``.
    """
    source = Text(text, file)
    statements, _ = parse_statements(
        "occurs.languages.tesla",
        pieces(text),
        source,
        lambda p, tree: [Builder(source, p.start).statement(tree)],
        explain,
    )
    return syntax.File(statements, file, text), sorted(source.problems, key=Problem.sort_key)


#: what the search for statements must pass over whole, and the tokens it looks at
_TOKEN = re.compile(
    r"""(?P<skip>(?:\#|--)[^\n]*|[\s\ufeff]+)|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    r"""|(?P<name>`[^`\n]+`)|(?P<word>[^\W\d]\w*)|(?P<number>\d[\w.]*)|(?P<other>.)"""
)
#: a word before which no statement can begin, since an event type or a name must follow it
_OPEN_WORDS = frozenset(
    "from each first last and not or as between where within having consuming define rule event".split()  # noqa: SIM905
)
_STARTS = frozenset(("define", "rule", "event", "subscribe", "assign"))


def pieces(text: str) -> Iterator[Piece]:
    """The statements of a text, blanks and comments around them left out."""
    return (Piece(start, text[start:end]) for start, end in _statements(text))


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Where each statement begins and ends."""
    tokens = tokens_of(_TOKEN, text)
    begin: int | None = None
    for i, (kind, word, start, _) in enumerate(tokens):
        if word == ";" and kind == "other":
            if begin is not None:
                yield begin, tokens[i - 1][3]
            begin = None
        elif begin is None:
            begin = start
        elif kind == "word" and word.lower() in _STARTS and _begins(tokens, i):
            yield begin, tokens[i - 1][3]
            begin = start
    if begin is not None:
        yield begin, tokens[-1][3]


def _begins(tokens: list[Token], i: int) -> bool:
    """Whether the word at ``i`` begins a statement: told by what follows it, and by what stands before it."""
    kinds = [t[0] for t in tokens[i + 1 : i + 3]] + [None, None]
    words = [t[1] for t in tokens[i + 1 : i + 3]] + ["", ""]
    word, before = tokens[i][1].lower(), tokens[i - 1]
    named = kinds[0] in ("word", "name")
    # whether a statement can end with the token before
    ended = before[0] in ("name", "number", "string") or before[1] == ")"
    ended |= before[0] == "word" and before[1].lower() not in _OPEN_WORDS
    if word == "define":
        if before[1] == ":" and i > 2 and tokens[i - 3][1].lower() == "rule":
            return False  # `rule NAME: define` began at `rule`
        return ended or (named and (words[1] == "(" or words[1].lower() == "from"))
    if word == "rule":
        return named and words[1] == ":"
    if word == "event":
        return named and words[1] == "("
    if word == "assign":
        return kinds[0] == "number" and words[1] == "="  # the first half of `=>`
    return words[0] == "(" and ended
