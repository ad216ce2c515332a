"""The text of an `.epl` file to its tree (epl-and-nets.md, section 2).

Comments are taken out first, then the text is cut into statements, behind every semicolon, and where a line begins a
statement though the one before it has not ended.  Then every statement is parsed by itself, so that each wrong
statement is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.epl import syntax
from occurs.languages.epl.parser.complaints import explain
from occurs.languages.epl.parser.tree import Builder
from occurs.languages.kit.statements import Piece, Token, blanked_comments, parse_statements, pieces_of


def parse(text: str, file: str | None = None) -> tuple[syntax.File, list[Problem]]:
    """The tree of a text, and every problem of its syntax in text order.

    Statements with a problem are left out of the tree.  Problems have the kinds ``syntax``, ``unknown-unit``,
    ``bad-bound`` and, for what EPL has and this language has not, ``unsupported``.
    """
    source = Text(text, file)
    statements, unread = parse_statements(
        "occurs.languages.epl",
        pieces(without_comments(text, source)),
        source,
        lambda p, tree: [Builder(source, p.start).statement(tree)],
        explain,
        _made,
        (";", "end every statement with a semicolon"),
        r"(?![\w$])",
    )
    return syntax.File(statements, file, text, unread), sorted(source.problems, key=Problem.sort_key)


_MADE = re.compile(r"(?i)\b(?:schema|insert\s+into)\s+(`[^`\n]+`|[\w$]+)")
_NAMED = re.compile(r"""(?i)@\s*name\s*\(\s*(?:'([^'\n]*)'|"([^"\n]*)")""")


def _made(words: str) -> set[str]:
    """The type that a statement that cannot be read was to create or to derive."""
    found = _MADE.search(words) or _NAMED.search(words)
    return {_group(found)} if found else set()


def named(words: str) -> str | None:
    """The name of a statement that cannot be read: its ``@Name``, else the type it was to create or to derive."""
    found = _NAMED.search(words) or _MADE.search(words)
    return _group(found) if found else None


def _group(found: re.Match[str]) -> str:
    return next(g for g in found.groups() if g is not None).strip("`")


_COMMENT = re.compile(
    r"""(?P<keep>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]+`)"""
    r"""|(?P<comment>//[^\n]*|/\*.*?\*/|^[^\S\n]*(?:\#|--)[^\n]*|\ufeff)|(?P<open>/\*.*)""",
    re.DOTALL | re.MULTILINE,
)


def without_comments(text: str, source: Text) -> str:
    """The text with blanks instead of comments; lines and columns stay where they are."""
    return blanked_comments(_COMMENT, text, source)


#: what the search for the ends of statements must pass over whole, and the tokens it looks at
_TOKEN = re.compile(
    r"""(?P<skip>\s+)|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<name>`[^`\n]+`)"""
    r"""|(?P<word>(?:[^\W\d]|\$)[\w$]*)|(?P<other>.)""",
    re.DOTALL,
)
#: what begins a statement, and what may stand behind it (nothing in particular, if nothing is said)
_STARTS: dict[str, tuple[str, ...]] = {
    "@": ("name", "description", "tag", "priority", "public", "buseventtype"),
    "create": ("map", "objectarray", "schema", "variable", "constant"),
    "insert": ("into",),
    "select": (),
}


def pieces(text: str) -> Iterator[Piece]:
    """The statements of a text, blanks around them left out; semicolons alone are none."""
    return pieces_of(_TOKEN, text, _begins)


def _begins(text: str, tokens: list[Token], begin: int, i: int) -> bool:
    """Whether a statement begins at token ``i``, the first of its line, though the one before has no semicolon."""
    kind, word, start, _ = tokens[i]
    if (kind != "word" and word != "@") or text[text.rfind("\n", 0, start) + 1 : start].strip():
        return False
    behind = _STARTS.get(word.lower())
    follows = tokens[i + 1][1].lower() if i + 1 < len(tokens) else ""
    if behind is None or (behind and follows not in behind):
        return False
    has = {t[1].lower() for t in tokens[begin:i] if t[0] == "word"}
    return bool(has & {"schema", "variable", "from" if word.lower() == "select" else "select"})
