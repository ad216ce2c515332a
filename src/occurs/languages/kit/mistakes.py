"""What a parser's complaint means to a person: what was found, what was expected, and how to write it.

A language names its terminals and lists the mistakes that deserve better words; :func:`explainer` makes the problems.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeAlias

from lark.exceptions import UnexpectedInput

from occurs.errors import Place, Problem
from occurs.expr.parsing import expected_terminals, found_at
from occurs.expr.text import Text
from occurs.languages.kit.complaints import blanked, in_words

#: how many characters before a mistake are looked at
LOOK_BACK = 4000
NO_COMMENTS = re.compile(r"(?!)")


@dataclass(frozen=True)
class Stop:
    """Where a parser stopped in the statement ``piece``: at ``text``, with ``rest`` from there on, behind ``before``.

    ``expected``: the terminals that could stand there.  ``unclosed``: where the last parenthesis or bracket is that is
    still open.
    """

    piece: str
    start: int
    end: int
    expected: Set[str]
    before: str
    unclosed: int | None

    @property
    def text(self) -> str:
        return self.piece[self.start : self.end]

    @property
    def rest(self) -> str:
        return self.piece[self.start :]

    @property
    def word(self) -> str:
        return self.text.lower()

    @property
    def named(self) -> bool:
        """Whether a word is there."""
        return re.fullmatch(r"[^\W\d]\w*", self.text) is not None

    def behind(self, pattern: str) -> re.Match[str] | None:
        """What ``before`` has of a pattern, in which the case of letters does not matter."""
        return re.search(pattern, self.before, re.IGNORECASE | re.DOTALL)

    def ahead(self, pattern: str) -> re.Match[str] | None:
        """What ``rest`` begins with."""
        return re.match(pattern, self.rest, re.IGNORECASE)

    def expects(self, terminals: str) -> bool:
        """Whether all of these are expected, and none of those with a minus sign."""
        return all((t.lstrip("-") in self.expected) is (t[0] != "-") for t in terminals.split())

    def keywords(self, words: Mapping[str, str]) -> set[str]:
        """The keywords among the terminals that are expected, by what ``words`` calls them."""
        return {w for n, word in words.items() if n in self.expected and (w := word.strip("`").lower()).isalpha()}

    def reserved(self, words: Set[str], unless: Set[str]) -> bool:
        """Whether a word that is reserved stands where a name is expected, but not all of ``unless``."""
        return self.word in words and "NAME" in self.expected and not self.expected >= unless


@dataclass(frozen=True)
class Said:
    """What is said of a mistake; without ``message`` what was expected, without ``place`` where the parser stopped."""

    hint: str | None
    message: str | None = None
    kind: str = "syntax"
    place: tuple[int, int] | None = None


@dataclass(frozen=True)
class Mistake:
    """A mistake that is told by what stands there, and what is said of it; ``%s`` is the word that stands there.

    ``text``: all of it, ``rest``: the text from there on, ``before``: the text before it, as patterns in which the case
    of letters does not matter.  ``wants``: what must be expected, see :meth:`Stop.expects`.  ``only``: all that is.
    ``whole``: its place is what ``rest`` matches.
    """

    hint: str | None
    text: str = ""
    rest: str = ""
    before: str = ""
    wants: str = ""
    only: str = ""
    message: str | None = None
    kind: str = "syntax"
    whole: bool = False

    def __call__(self, stop: Stop) -> Said | None:
        if not stop.expects(self.wants) or (self.only and stop.expected != set(self.only.split())):
            return None
        if self.text and not re.fullmatch(self.text, stop.text, re.IGNORECASE):
            return None
        ahead = stop.ahead(self.rest)
        if ahead is None or (self.before and not stop.behind(self.before)):
            return None
        hint, message = (t and t.replace("%s", stop.word) for t in (self.hint, self.message))
        place = (stop.start, stop.start + ahead.end()) if self.whole else None
        return Said(hint, message and message.replace("%t", stop.text), self.kind, place)


#: says something of a mistake, at least a hint
Case: TypeAlias = Callable[[Stop], Said | str | None]
#: terminals that are named together: those that must all be expected, those that the name stands for, and the name,
#: which is empty for terminals that are not worth a word
Groups: TypeAlias = Sequence[tuple[Set[str], Set[str], str]]

NOT_CLOSED = "this string is not closed on its line"
#: strings and names without their closing quotes
QUOTES: tuple[Case, ...] = (
    Mistake("close it with %s", "['\"]", message=NOT_CLOSED),
    Mistake("close the backquotes: `` `my name` ``", "`", message="this name is not closed on its line"),
)


def closes_nothing(stop: Stop) -> str | None:
    """A parenthesis too many."""
    return "remove it: no parenthesis is open here" if stop.text == ")" and stop.unclosed is None else None


Explain: TypeAlias = Callable[[UnexpectedInput, str, int, Text], Problem]


def explainer(
    words: Mapping[str, str],
    groups: Groups,
    end: str,
    cases: Sequence[Case],
    *,
    comments: re.Pattern[str] = NO_COMMENTS,
    opaque: re.Pattern[str] = NO_COMMENTS,
    closers: str = "_RPAR _RSQB",
    statement: str = "statement",
    covered: str = "",
) -> Explain:
    """The function that words the problems of a language's parser.

    ``words``: the names of terminals in the order in which they are listed, ``groups``: those of several, ``end``: that
    of the end.  ``comments`` do not count as text before a mistake; in what is ``opaque`` no parenthesis counts.
    ``closers``: terminals that close what is open.  ``statement``: what the language calls one.
    ``covered``: a sign that stands for covered text, and is shown as a full stop.
    """

    def explain(error: UnexpectedInput, piece: str, offset: int, source: Text) -> Problem:
        """The problem that stopped the parser in ``piece``, a statement that begins at ``offset`` of ``source``."""
        expected = expected_terminals(error)
        start, after, found = found_at(error, piece)
        opening = _unclosed(blanked(opaque, piece[:start]))
        before = comments.sub("", piece[:start]).rstrip()[-LOOK_BACK:]
        stop = Stop(piece, start, after, expected, before, opening)
        told: Said | str | None = None
        for case in cases:
            told = told or case(stop)
        said = told if isinstance(told, Said) else Said(told)
        wanted = in_words(expected, words, groups, end)
        message = said.message or f"{found.replace('statement', statement)}: expected {wanted}"
        message = message.replace(covered, ".") if covered else message
        hint: str | None = said.hint
        related: tuple[Place, ...] = ()
        if hint is None and opening is not None and expected & set(closers.split()):
            hint, related = _not_closed(piece, opening, source, offset)
        first, last = said.place or (start, after)
        span = source.span(offset + first, offset + last)
        return source.problem(said.kind, message, span, hint, related=related)

    return explain


def _unclosed(text: str) -> int | None:
    """Where the last parenthesis or bracket stands that is not closed."""
    open_ones: list[int] = []
    for at, sign in enumerate(text):
        if sign in "([{":
            open_ones.append(at)
        elif sign in ")]}" and open_ones:
            open_ones.pop()
    return open_ones[-1] if open_ones else None


def _not_closed(piece: str, opening: int, source: Text, offset: int) -> tuple[str, tuple[Place, ...]]:
    """The hint, and the place to look at, for what is open in ``piece``, which begins at ``offset``."""
    before = re.search(r"(?:\w+:)?\w+$", piece[:opening])
    shown = ("" if before is None else before[0]) + piece[opening]
    place = source.span(offset + opening, offset + opening + 1)
    return f"`{shown}` is not closed", (Place(f"`{piece[opening]}` is here", source.file, place),)
