"""The canonical text of a file of rules, with its comments.

A language that lays its statements out declares ``layout``, which gives the lines of one.  A comment behind code stays
behind the word that it stood behind; one that begins a line stays before the word that follows it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from occurs.checked_texts import Read
from occurs.errors import Problem, UsageProblem
from occurs.languages.kit.editing import Token
from occurs.languages.kit.language import folder, language
from occurs.loading import language_of
from occurs.services.answers import Formatted
from occurs.services.checks import internal, told
from occurs.services.scope import pieces
from occurs.services.tokens import tokens_of

INDENT = "    "


def format_text(path: str, text: str) -> Formatted:
    """Lay the statements of a file out in one way, with every comment kept.

    Args:
        path: The path, whose suffix says the language.
        text: The text.

    Returns:
        The canonical text, which parses to the same statements.  A text that has errors, whose language has no layout
        (only EPL has), or whose comments cannot be kept comes back as it is, with problems.

    Examples:
        >>> from occurs.services import format_text
        >>> format_text("a.epl", "select x /* why */ from A(x>1) // all").text
        'select x /* why */\\nfrom A(x > 1); // all\\n'
    """
    try:
        return _format(path, language_of(path), text)
    except UsageProblem as error:
        return Formatted(text, tuple(told(error.problems)))
    except MemoryError:
        raise
    except Exception as error:
        return Formatted(text, tuple(told([internal(error)])))


def _format(path: str, name: str, text: str) -> Formatted:
    layout = getattr(language(folder(name)), "layout", None)
    if layout is None:
        message = "texts of this language have no canonical layout: this one stays as it is"
        return Formatted(text, tuple(told([Problem("unformatted", message, "notice", path)])))
    unix = text.replace("\r\n", "\n")
    crlf = text.count("\r\n") == text.count("\n") > 0
    read = _parsed(name, unix, path)
    if read is None:
        return Formatted(text, tuple(told(Read.of([(text, path, name)]).problems)))
    if not read:
        return Formatted(text)
    mark = "\ufeff" * unix.startswith("\ufeff")
    out = mark + "\n".join(_lines(name, unix, [layout(s) for s in read])) + "\n"
    kept = _parsed(name, out, path)
    if kept != read or _comments(name, out) != _comments(name, unix):
        message = "this text cannot be formatted so that all its comments stay where they belong"
        return Formatted(text, tuple(told([Problem("unformatted", message, "warning", path)])))
    return Formatted(out.replace("\n", "\r\n") if crlf else out)


def _parsed(name: str, text: str, path: str) -> Sequence[Any] | None:
    """The statements of a text; None if it has problems."""
    read = Read.of([(text, path, name)])
    [texts] = read.texts.values()
    return None if read.problems else texts.files[0].statements


def _comments(name: str, text: str) -> list[str]:
    return [t.text.strip() for t in tokens_of(name, text) if t.kind == "comment"]


@dataclass(frozen=True)
class _Note:
    """A comment.  ``before``: how many words of its statement stand before it; ``leads``: it begins its line; ``own``:
    it has its lines for itself; ``apart``: an empty line stands before it."""

    text: str
    before: int
    leads: bool
    own: bool
    apart: bool = False

    @property
    def breaks(self) -> bool:
        """Whether nothing may stand behind it on its line."""
        return self.own or not self.text.endswith("*/") or "\n" in self.text


def _lines(name: str, text: str, laid: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a text with its statements ``laid`` out, and its comments."""
    tokens = deque(tokens_of(name, text))
    for number, (piece, lines) in enumerate(zip(pieces(name, text), laid, strict=True)):
        between: list[_Note] = []
        while tokens[0].start < piece.start:
            token = tokens.popleft()
            if token.kind == "comment":
                between.append(_note(text, token, 0))
        words: list[Token] = []
        notes: list[_Note] = []
        end = piece.start + len(piece.words)
        behind = next((t for t in tokens if t.start >= end and t.kind != "comment"), None)
        if behind is not None and behind.text == lines[-1][-1]:
            end = behind.end  # the sign that ends the statement
        while tokens and (tokens[0].start < end or _trails(text, end, tokens[0])):
            token = tokens.popleft()
            if token.kind == "comment":
                notes.append(_note(text, token, len(words)))
            else:
                words.append(token)
        if number or between:
            yield from _between(between, first=number == 0, followed=_gap(text, piece.start))
        yield from _woven(name, lines, words, notes)
    rest = [_note(text, t, 0) for t in tokens if t.kind == "comment"]
    if rest:
        yield from _between(rest, first=False, followed=False)


def _trails(text: str, end: int, token: Token) -> bool:
    """Whether a comment stands behind the end of a statement, on the same line."""
    return token.kind == "comment" and "\n" not in text[end : token.start]


def _note(text: str, token: Token, before: int) -> _Note:
    start = token.end - len(token.text.lstrip())
    leads = not text[text.rfind("\n", 0, start) + 1 : start].strip()
    behind = text.find("\n", token.end)
    alone = not text[token.end : None if behind < 0 else behind].strip()
    own = leads and (alone or "\n" in token.text)
    return _Note(token.text.strip(), before, leads, own, _gap(text, start))


def _gap(text: str, start: int) -> bool:
    """Whether an empty line stands before a place."""
    at = start
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return text.count("\n", at, start) > 1


def _between(notes: Sequence[_Note], *, first: bool, followed: bool) -> Iterator[str]:
    """The comments between two statements, each on a line of its own, with an empty line between the statements."""
    for i, note in enumerate(notes):
        if (i == 0 and not first) or (i > 0 and note.apart):
            yield ""
        yield note.text
    if not notes or followed:
        yield ""


def _woven(name: str, lines: Sequence[str], words: Sequence[Token], notes: Sequence[_Note]) -> Iterator[str]:
    """The lines of a statement with its comments."""
    placed = _placed(name, lines, words, notes)
    number = 0
    for line in lines:
        here, end = "", 0
        for i, token in enumerate(tokens_of(name, line)):
            glue = line[end : token.start]
            for note in placed.pop(number, ()):
                if (note.own or note.breaks) and here.strip() and note.leads:
                    yield here.rstrip()
                    here = INDENT
                here = note.text if i == 0 and not here else f"{here.rstrip(' ') or INDENT[1:]} {note.text}"
                glue = "" if token.text in (")", "]", ",", ";") else " "
                if note.breaks:
                    yield here
                    here, glue = "" if i == 0 else INDENT, ""
            here += glue + token.text
            end = token.end
            number += 1
        for note in [n for n in placed[number] if not n.leads]:
            placed[number].remove(note)
            here = f"{here} {note.text}"
            if note.breaks and placed[number] and not placed[number][0].leads:
                yield here
                here = INDENT[1:]
        yield here
    for note in placed[number]:
        yield from ("", note.text)


def _placed(
    name: str, lines: Sequence[str], words: Sequence[Token], notes: Sequence[_Note]
) -> defaultdict[int, list[_Note]]:
    """The comments by the number of the word of ``lines`` that they go before."""
    new = [_key(t) for line in lines for t in tokens_of(name, line)]
    match: dict[int, int] = {}
    if notes:
        for a, b, size in SequenceMatcher(None, [_key(t) for t in words], new, autojunk=False).get_matching_blocks():
            match.update((a + i, b + i) for i in range(size))
    out = defaultdict[int, list[_Note]](list)
    last = 0
    for note in notes:
        if note.leads:
            found = next((match[i] for i in range(note.before, len(words)) if i in match), len(new))
        else:
            found = next((match[i] + 1 for i in range(note.before - 1, -1, -1) if i in match), 0)
        if found == len(new) - 1:  # rather behind the sign that ends the statement
            found += 1
        last = max(last, found)
        out[last].append(note)
    return out


def _key(token: Token) -> str:
    """What a word is, whatever way it is written."""
    return token.text[1:-1] if token.kind in ("string", "name") else token.text.lower()
