"""The words of a grammar: its keywords, constants and operators as they are written, read from its terminals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from re import _constants as codes
from re import _parser as parsed
from typing import Any

from lark.exceptions import UnexpectedInput

from occurs.expr.aggregates import written
from occurs.expr.describe import signature, types
from occurs.expr.functions import CATALOGUE
from occurs.expr.parsing import lark_of
from occurs.expr.signature import Function
from occurs.languages.kit.editing import Begun
from occurs.model.time import UNITS

#: spellings of the units of durations, without plurals of abbreviations
DURATIONS = tuple(u for u in UNITS if u.isascii() and not (len(u) <= 3 and u[:-1] in UNITS))
CONSTANTS = ("true", "false", "null")
#: a terminal with more spellings than this is no list of words
_MOST = 200
_SIGNS = re.compile(r"[^\w\s()\[\]{},.;'\"`\\\x00-\x1f]+")


@dataclass(frozen=True)
class Spellings:
    """``words``: keywords; ``signs``: operators made of signs; ``constants``."""

    words: tuple[str, ...]
    signs: tuple[str, ...]
    constants: tuple[str, ...]


@cache
def spellings_of(package: str, word_end: str = r"\b") -> Spellings:
    """The spellings of a language's terminals; names, numbers, texts, units and aggregates are left out."""
    found: dict[str, None] = {}
    for terminal in grammar(package, word_end).terminals:
        if terminal.name not in ("UNIT", "FUNCTION", "AGGREGATE", "COUNT"):
            pattern = terminal.pattern
            own = [pattern.value] if pattern.type == "str" else _spellings(pattern.value)
            found |= dict.fromkeys(own)
    words = [w for w in found if re.fullmatch(r"@?[a-z]\w*(?:[ :-]\w+)*", w, re.ASCII)]
    signs = [s for s in found if _SIGNS.fullmatch(s) and s != ":"]
    constants = tuple(w for w in CONSTANTS if w in words)
    return Spellings(tuple(sorted(w for w in words if w not in CONSTANTS)), tuple(sorted(signs)), constants)


def grammar(package: str, word_end: str = r"\b") -> Any:
    """The parser of a language's grammar, as its statements are parsed with it."""
    return lark_of(package, "grammar.lark", word_end=word_end, shared=("occurs.languages.kit", "expression.lark"))


@cache
def _by_name(package: str, word_end: str) -> dict[str, list[str]]:
    out = {}
    for t in grammar(package, word_end).terminals:
        out[t.name] = [t.pattern.value] if t.pattern.type == "str" else _spellings(t.pattern.value)
    return out


def begun(package: str, word_end: str, text: str) -> Begun | None:
    """What may stand behind ``text``, the beginning of a statement; None if this cannot be read up to its end."""
    try:
        parser = grammar(package, word_end).parse_interactive(text)
        parser.exhaust_lexer()
    except UnexpectedInput:
        return None
    accepted = parser.accepts()
    own = _by_name(package, word_end)
    return Begun(frozenset(w for t in accepted for w in own.get(t, ())), "NAME" in accepted)


def calls_of(language: str, functions: Mapping[str, str] | Iterable[str]) -> dict[str, str]:
    """The functions and aggregates that a language offers, each with how it is called and what it gives.

    ``functions``: by their names in the language to those in the catalogue, or those that are called alike.
    """
    known = functions if isinstance(functions, Mapping) else {name: name for name in functions}
    out = {name: _call(name, CATALOGUE[own]) for name, own in known.items() if own in CATALOGUE}
    out |= {name: f"{a.text}: {a.doc}" for name, a in written().items() if language in a.languages}
    return dict(sorted(out.items()))


def _call(name: str, known: Function) -> str:
    text = signature(known).replace(known.name, name, 1)
    return f"{text}: {types(known)}. {known.doc.replace('``', '`')}"


def _spellings(pattern: str) -> list[str]:
    """The texts that a regular expression matches, if they are few; blanks that may be left out are."""
    try:
        return list(dict.fromkeys(_sequence(parsed.parse(pattern))))
    except _Many:
        return []


class _Many(Exception):
    """There are too many texts."""


def _sequence(items: Iterable[Any]) -> list[str]:
    parts = [_item(*item) for item in items]
    if len(parts) and len(list(product(*parts))) > _MOST:
        raise _Many
    return ["".join(chosen) for chosen in product(*parts)]


def _item(code: Any, value: Any) -> list[str]:
    """The texts of one piece of a parsed regular expression."""
    if code is codes.LITERAL:
        return [chr(value)]
    if code in (codes.ASSERT, codes.ASSERT_NOT, codes.AT):
        return [""]
    if code is codes.SUBPATTERN:
        return _sequence(value[-1])
    if code is codes.BRANCH:
        return [text for branch in value[1] for text in _sequence(branch)]
    if code is codes.MAX_REPEAT:
        low, high, inner = value
        if all(c is codes.IN and (codes.CATEGORY, codes.CATEGORY_SPACE) in v for c, v in inner):
            return ["" if low == 0 else " "]
        if (low, high) == (0, 1):
            return ["", *_sequence(inner)]
    if code is codes.IN and all(c is codes.LITERAL for c, _ in value):
        return [chr(v) for _, v in value]
    raise _Many
