"""A text that is in another language than the one it is read in: found out when it cannot be read."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence
from pathlib import PurePath

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.language import folder, language, names, suffixes

#: blanks and comments of any language
_BEFORE = re.compile(r"(?:[\s\ufeff]+|(?:#|--|//|%)[^\n]*|/\*.*?\*/)*", re.DOTALL)
_FIRST = re.compile(r"@|[^\W\d]\w*")
_SHOWN = {"tesla": "TESLA", "epl": "EPL", "phenesthe": "Phenesthe", "ftl": "FTL", "ptl": "PTL", "esql": "eSQL",
          "match_recognize": "MATCH_RECOGNIZE"}  # fmt: skip


def in_another_language(text: str, file: str | None, given: str) -> Problem | None:
    """The problem of a text that begins as a text of another language does, and that this language reads; or that
    begins as no text of the language ``given`` does.  The text could not be read as it was given."""
    start = _BEFORE.match(text)
    first = _FIRST.match(text, 0 if start is None else start.end())
    if first is None:
        return None
    others = [n for n in names() if folder(n) != folder(given) and _may_begin(n, first[0])]
    one_each = {folder(n): n for n in reversed(others)}
    found = next((n for n in one_each.values() if _reads(n, text)), None)
    if found is None and not _may_begin(given, first[0]) and len(one_each) == 1:
        [found] = one_each.values()
    if found is None:
        return None
    own = suffixes().get(PurePath(file or "").suffix)
    suffix = next(s for s, n in suffixes().items() if n == found)
    say = f"use `--language {found}`" if file is not None else f'use `language="{found}"`'
    if own == found:
        say = f"remove `--language {given}`"
    elif file is not None:
        say += f", or rename the file to {PurePath(file).stem}{suffix}"
    message = f"this looks like {_SHOWN.get(found, found)}, but it was read as {_SHOWN.get(given, given)}"
    source = Text(text, file)
    return source.problem("syntax", message, source.span(*first.span()), say)


def _may_begin(name: str, word: str) -> bool:
    begins: Sequence[str] = importlib.import_module(f"occurs.languages.{folder(name)}").BEGINS
    return word.lower() in begins


def _reads(name: str, text: str) -> bool:
    """Does a language find statements in a text, and nothing wrong with how they are written?"""
    found = language(folder(name)).read([(text, None, name)])
    return not found.problems and any(tree.statements for tree in found.files)
