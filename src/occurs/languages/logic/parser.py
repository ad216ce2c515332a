"""The text of an `.ftl` or `.ptl` file to its tree (temporal-logic.md, section 2).

Comments are taken out first, then the text is cut into definitions, whose SELECTs are covered.  Then every definition
is parsed by itself, so that each wrong one is reported.
"""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedInput

from occurs.errors import Problem
from occurs.expr.parsing import lark_of
from occurs.expr.text import Text
from occurs.languages.expressions import Refused
from occurs.languages.logic import syntax
from occurs.languages.logic.parser_build import Builder
from occurs.languages.logic.parser_pieces import pieces, without_comments
from occurs.languages.logic.parser_words import explain


def parse(text: str, file: str | None = None, *, past: bool | None = None) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    ``past``: what a trigger is that does not say it; None: past in a file called ``.ptl``, else future.  Definitions
    with a problem are left out of the tree.  Problems have the kinds ``syntax``, ``bad-bound``, ``bad-sql`` (there is
    none) and ``unknown-unit``.
    """
    if past is None:
        past = file is not None and file.lower().endswith(".ptl")
    lark, source, clean = lark_of("occurs.languages.logic", "grammar.lark"), Text(text, file), without_comments(text)
    definitions: list[syntax.Definition] = []
    unread: set[str] = set()
    for piece in pieces(clean, source):
        try:
            if piece.broken:
                raise Refused
            definitions.append(Builder(source, clean, piece.start, past).definition(lark.parse(piece.words)))
        except UnexpectedInput as error:
            source.problems.append(explain(error, piece.words, piece.start, source))
            unread |= _made(piece.words)
        except Refused:  # its problem is among source.problems
            unread |= _made(piece.words)
    tree_of_all = syntax.File(tuple(definitions), file, text, frozenset(unread))
    return tree_of_all, sorted(source.problems, key=Problem.sort_key)


_MADE = re.compile(r"(?i)\b(?:table|event|state|view|constant|trigger|emit)\s+(\w+)")


def _made(words: str) -> set[str]:
    """What a definition that cannot be read was to define or emit."""
    return set(_MADE.findall(words))
