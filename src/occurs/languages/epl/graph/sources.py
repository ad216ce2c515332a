"""The text of EPL statements as words between comments, and where each part of a statement stands in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from occurs.expr.text import Text
from occurs.expr.tree import Expr
from occurs.languages.epl import syntax
from occurs.languages.epl.parser import parse, without_comments
from occurs.languages.epl.words import KEYWORDS
from occurs.model.time import Duration

_WORDS = re.compile(
    r"""(?P<skip>\s+)|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<quoted>`[^`\n]+`)"""
    r"""|(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<word>(?:[^\W\d]|\$)[\w$]*)"""
    r"""|(?P<sign>->|→|.)""",
    re.DOTALL,
)
#: all events as columns, or all attributes of one event
STAR = re.compile(r"(?:(`[^`]+`|(?:[^\W\d]|\$)[\w$]*) ?\. ?)?\*")
#: words of the grammar that a name may be, too, without quotes
_SOFT = frozenset(["map", "objectarray", "inherits", "within", "withinmax", "interval", "consume"])


@dataclass(frozen=True)
class Word:
    """A word of a text.  ``key`` is the same for all spellings of one word."""

    text: str
    start: int
    end: int
    key: str


def words_of(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """The words of a text without comments."""
    found = _WORDS.finditer(text, start, len(text) if end is None else end)
    return [Word(m.group(), m.start(), m.end(), _key(m)) for m in found if m.lastgroup != "skip"]


def _key(match: re.Match[str]) -> str:
    word = match.group()
    if match.lastgroup == "quoted":
        return f"name {word[1:-1]}"
    if match.lastgroup == "word":
        lower = word.lower()
        return lower if lower in KEYWORDS or lower in _SOFT else f"name {word}"
    return "->" if word == "→" else word


def one_line(text: str) -> str:
    """A piece of EPL without comments, and one blank where it has white space.

    >>> one_line("a.x  >  1 // why\\n and b.s = 'two  words' ")
    "a.x > 1 and b.s = 'two  words'"
    """
    blank = without_comments(text, Text(text, None))
    words = words_of(blank)
    out, end = "", 0
    for i, word in enumerate(words):
        out += " " * (i > 0 and word.start > end) + word.text
        end = word.end
    return out


def comments_of(blank: str, text: str, start: int, end: int) -> list[str]:
    """The comments between two places; ``blank``: the text without its comments."""
    out: list[str] = []
    at = start
    while at < end:
        if blank[at] == text[at]:
            at += 1
            continue
        stop = _comment_end(text, at, end)
        out.append(text[at:stop].rstrip())
        at = stop
    return out


def _comment_end(text: str, at: int, end: int) -> int:
    stop = text.find("*/", at + 2) + 2 if text.startswith("/*", at) else text.find("\n", at)
    return end if stop < at + 1 or stop > end else stop


# --- pieces of statements that are parsed by themselves ---------------------------------------------------------------


@dataclass(frozen=True)
class Unread:
    """Why a piece cannot be read."""

    kind: str
    message: str
    hint: str | None


def _read(before: str, text: str, after: str, part: Callable[[syntax.Query], Any]) -> Any:
    tree, problems = parse(f"{before}{text}\n{after}")
    if problems:
        first = problems[0]
        return Unread(first.kind, first.message, first.hint)
    (made,) = tree.statements if len(tree.statements) == 1 else (None,)
    found = part(made) if isinstance(made, syntax.Query) else None
    return Unread("syntax", "this is more than one part", None) if found is None else found


@cache
def _empty(what: str) -> Unread:
    return Unread("syntax", f"{what} is missing", None)


def expression_of(text: str) -> Expr | Unread:
    """A condition or a value."""
    if not text.strip():
        return _empty("an expression")

    def part(query: syntax.Query) -> Any:
        plain = query.where is None and isinstance(query.pattern, syntax.While)
        return query.pattern.condition if plain and query.pattern.operand == _ANY else None  # type: ignore[attr-defined]

    found: Expr | Unread = _read("select 1 from pattern [A while (", text, ")]", part)
    return found


_ANY = syntax.Filter(syntax.Name("A"))


def duration_of(text: str) -> Duration | Unread:
    """A length of time."""
    if not text.strip():
        return _empty("a duration")

    def part(query: syntax.Query) -> Any:
        plain = query.where is None and isinstance(query.pattern, syntax.Interval)
        return query.pattern.duration if plain else None  # type: ignore[attr-defined]

    found: Duration | Unread = _read("select 1 from pattern [timer:interval(", text, ")]", part)
    return found


def expiry_of(text: str) -> Duration | Unread:
    """The length of time after which keys are forgotten, which is a constant."""
    found = duration_of(text)
    if isinstance(found, syntax.Computed):
        return Unread("bad-duration", "the time after which keys are forgotten is a constant", None)
    return found


def cron_of(text: str) -> syntax.Cron | Unread:
    """A field of a schedule."""
    if not text.strip():
        return _empty("a field of the schedule")

    def part(query: syntax.Query) -> Any:
        plain = query.where is None and isinstance(query.pattern, syntax.At) and len(query.pattern.fields) == 6
        return query.pattern.fields[5] if plain else None  # type: ignore[attr-defined]

    found: syntax.Cron | Unread = _read("select 1 from pattern [timer:at(*,*,*,*,*,", text, ")]", part)
    return found


def pattern_of(text: str) -> syntax.Pattern | Unread:
    """A pattern."""
    if not text.strip():
        return _empty("a pattern")
    found: syntax.Pattern | Unread = _read(
        "select 1 from pattern [", text, "]", lambda q: q.pattern if q.where is None and not q.simple else None
    )
    return found


# --- where the parts of a statement stand -----------------------------------------------------------------------------


def kids_of(unit: Any) -> list[Any]:
    """The parts of a statement, an item or a pattern that have a text of their own, in the order of the text."""
    match unit:
        case syntax.Query():
            where = [] if unit.where is None else [unit.where]
            return [*unit.annotations, *unit.items, unit.pattern, *where]
        case syntax.Item():
            return [] if unit.expr is None else [unit.expr]
        case syntax.Filter():
            return list(unit.conditions)
        case syntax.EveryDistinct():
            return [*unit.keys, *([] if unit.expiry is None else [unit.expiry]), unit.operand]
        case syntax.While():
            return [unit.operand, unit.condition]
        case syntax.Within():
            return [unit.operand, unit.duration]
        case syntax.Interval():
            return [unit.duration]
        case syntax.At():
            return list(unit.fields)
        case syntax.Pattern():
            return list(unit.children)
    return []


class Source:
    """A text with comments, and the places of the parts of its statements."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = Text(text, None)
        self.blank = without_comments(text, Text(text, None))
        self.words = words_of(self.blank)
        self._starts = [w.start for w in self.words]
        #: every line ends with `\\r\\n`
        self.crlf = text.count("\r\n") == text.count("\n") > 0

    def between(self, start: int, end: int) -> Sequence[Word]:
        """The words between two places."""
        return self.words[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def range_of(self, part: Any, unit: Any, start: int, end: int) -> tuple[int, int] | None:
        """The place of a part of ``unit``, which stands from ``start`` to ``end``; None if it is not known."""
        if isinstance(part, Duration):
            return self._duration(unit, start, end)
        span = getattr(part, "span", None)
        return None if span is None else self.lines.offsets(span)

    def _duration(self, unit: Any, start: int, end: int) -> tuple[int, int] | None:
        if isinstance(unit, syntax.EveryDistinct):
            span = getattr(unit.keys[-1], "span", None)
            inside = None if span is None else self.lines.offsets(span)[1]
            words = [] if inside is None else list(self.between(inside, end))
            while words and words[0].text != ",":
                words.pop(0)
        else:
            begin = start
            if isinstance(unit, syntax.Within):
                if unit.operand.span is None:
                    return None
                begin = self.lines.offsets(unit.operand.span)[1]
            words = list(self.between(begin, end))
            while words and words[0].key not in ("within", "withinmax", "interval"):
                words.pop(0)
            words = words[1:]
        inside_words: list[Word] = []
        depth = 0
        for word in words[1:]:
            depth += (word.text in "([") - (word.text in ")]")
            if depth < 0 or (depth == 0 and word.text == ","):
                break
            inside_words.append(word)
        return (inside_words[0].start, inside_words[-1].end) if inside_words else None

    def piece(self, part: Any, unit: Any = None) -> str | None:
        """The text of a part on one line, without comments; ``unit``: what it is a part of."""
        start, end = self.lines.offsets(unit.span) if unit is not None and unit.span is not None else (0, 0)
        place = self.range_of(part, unit, start, end)
        return None if place is None else one_line(self.text[slice(*place)])
