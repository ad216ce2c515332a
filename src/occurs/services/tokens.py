"""The tokens of a text in any language, broken or not, by the marks that the language declares in its words."""

from __future__ import annotations

import re
from functools import cache

from occurs.languages.kit.editing import Token
from occurs.services.answers import Words
from occurs.services.vocabulary import words_of


def tokens_of(language: str, text: str, start: int = 0, end: int | None = None) -> list[Token]:
    """All tokens of a text, or between two places of it, comments among them.

    A string or comment that is not closed goes on to its last place.
    """
    matches = _pattern(language).finditer(text, start, len(text) if end is None else end)
    return [Token(m.lastgroup or "", m.group(), m.start(), m.end()) for m in matches if m.lastgroup != "skip"]


@cache
def _pattern(language: str) -> re.Pattern[str]:
    words = words_of(language) or Words()
    esc = re.escape
    comments = [rf"{esc(a)}(?:(?!{esc(b)})[\s\S])*(?:{esc(b)})?" for a, b in words.block_comments]
    comments += [rf"{esc(mark)}[^\n]*" for mark in words.line_comments]
    comments += [rf"^[^\S\n]*{esc(mark)}[^\n]*" for mark in words.line_start_comments]
    escaped = esc(words.escape)
    within = rf"(?:[^{{0}}\n{escaped}]|{escaped}.)*" if words.escape else r"(?:[^{0}\n]|{0}{0})*"
    strings = [f"{mark}{within.format(mark)}{mark}?" for mark in words.strings]
    q = words.quoted_names
    names = [rf"{q}[^{q}\n]+{q}?"] if q else []
    signs = esc(words.word_signs)
    letter = rf"(?:[^\W\d]|[{signs}])" if signs else r"[^\W\d]"
    variables = [rf"[{esc(words.variable_marks)}]\w*"] if words.variable_marks else []
    operators = sorted((o for o in words.operators if len(o) > 1), key=len, reverse=True)
    kinds = {
        "word": [rf"{letter}[\w{signs}]*"],
        "comment": comments,
        "skip": [r"\n|[^\S\n]+|\ufeff"],
        "string": strings,
        "name": names,
        "variable": variables,
        "number": [r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?"],
        "sign": [*map(esc, operators), r"."],
    }
    return re.compile("|".join(f"(?P<{kind}>{'|'.join(p)})" for kind, p in kinds.items() if p), re.MULTILINE)
