"""The text of a `.sql` file to its tree (match-recognize.md, section 2).

Comments are taken out first, then the text is cut into statements, behind every semicolon, and where a line begins a
statement though the one before it has not ended.  Then every statement is parsed by itself, so that each wrong
statement is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.statements import Piece, Token, blanked_comments, parse_statements, pieces_of
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.parser.complaints import explain
from occurs.languages.match_recognize.parser.tree import Builder, unquoted_name


def parse(text: str, file: str | None = None) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    Statements with a problem are left out of the tree.  Problems have the kinds ``syntax``, ``unknown-unit``,
    ``bad-bound``, ``bad-duration``, ``arity``, ``sort`` and, for what SQL has and this language has not,
    ``unsupported``.
    """
    source = Text(text, file)
    statements, unread = parse_statements(
        "occurs.languages.match_recognize",
        pieces(without_comments(text, source)),
        source,
        lambda p, tree: [Builder(source, p.start).statement(tree)],
        explain,
        lambda words: {named(words) or "matches"},
        (";", "end every statement with a semicolon"),
    )
    return syntax.File(statements, file, text, unread), sorted(source.problems, key=Problem.sort_key)


#: what stands before a clause that is read alone
_BEFORE = "select*from T "


def parse_clause(source: Text, start: int, end: int) -> syntax.Query | None:
    """The clause ``MATCH_RECOGNIZE ( .. )`` at these offsets of a text, as a query of all its columns; None, and the
    problems in ``source``, if it cannot be read."""
    clause = without_comments(source.text, source)[start:end]
    found, _ = parse_statements(
        "occurs.languages.match_recognize",
        [Piece(start - len(_BEFORE), _BEFORE + clause)],
        source,
        lambda p, tree: [Builder(source, p.start).statement(tree)],
        explain,
    )
    return found[0] if found else None


_MADE = re.compile(r'(?i)\bview\s+("(?:[^"]|"")+"|`(?:[^`]|``)+`|[A-Za-z_]\w*)')


def named(words: str) -> str | None:
    """The view that a statement that cannot be read was to create."""
    found = _MADE.search(words)
    return unquoted_name(found[1]) if found else None


_KEPT = r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`"""
_COMMENT = re.compile(rf"(?P<keep>{_KEPT})|(?P<comment>--[^\n]*|/\*.*?\*/|\ufeff)|(?P<open>/\*.*)", re.DOTALL)


def without_comments(text: str, source: Text) -> str:
    """The text with blanks instead of comments; lines and columns stay where they are."""
    return blanked_comments(_COMMENT, text, source)


#: what the search for the ends of statements must pass over whole, and the tokens it looks at
_TOKEN = re.compile(
    r"""(?P<skip>\s+)|(?P<string>'(?:[^']|'')*')|(?P<name>"(?:[^"]|"")*"|`(?:[^`]|``)*`)"""
    r"""|(?P<word>[^\W\d]\w*)|(?P<other>.)""",
    re.DOTALL,
)


def pieces(text: str) -> Iterator[Piece]:
    """The statements of a text, blanks around them left out; semicolons alone are none."""
    return pieces_of(_TOKEN, text, _begins)


def _begins(text: str, tokens: list[Token], begin: int, i: int) -> bool:
    """Whether a statement begins at token ``i``, the first of its line, though the one before has no semicolon."""
    kind, word, start, _ = tokens[i]
    if kind != "word" or word.lower() not in ("create", "select"):
        return False
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return False
    before = [t[1].lower() for t in tokens[begin:i] if t[0] in ("word", "other")]
    return "match_recognize" in before and before.count("(") <= before.count(")")
