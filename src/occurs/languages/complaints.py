"""Where a parser stopped, and what could have stood there: what the languages' explanations of it begin with."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from occurs.errors import Place
from occurs.languages.text import Text

#: what to do where events are read and something lasts
LASTING_HINT = "define an event for its start: `event s_start(V) : start(s(V)).` in a .phen file"
#: how many characters before a mistake are looked at
LOOK_BACK = 4000


def unclosed(text: str) -> int | None:
    """Where the last parenthesis or bracket stands that is not closed in ``text``, which has no comments."""
    open_ones: list[int] = []
    for at, sign in enumerate(text):
        if sign in "([{":
            open_ones.append(at)
        elif sign in ")]}" and open_ones:
            open_ones.pop()
    return open_ones[-1] if open_ones else None


def not_closed(piece: str, opening: int, source: Text, offset: int) -> tuple[str, tuple[Place, ...]]:
    """The hint, and the place to look at, for what is open in ``piece``, which begins at ``offset``."""
    before = re.search(r"(?:\w+:)?\w+$", piece[:opening])
    shown = ("" if before is None else before[0]) + piece[opening]
    place = source.span(offset + opening, offset + opening + 1)
    return f"`{shown}` is not closed", (Place(f"`{piece[opening]}` is here", source.file, place),)


def expected_terminals(error: UnexpectedInput) -> set[str]:
    """The terminals that could stand where the parser stopped."""
    parser = getattr(error, "interactive_parser", None)
    if parser is not None:
        return set(parser.accepts())
    found = getattr(error, "allowed", None) or getattr(error, "expected", None)
    return set(found or ())


def found_at(error: UnexpectedInput, piece: str) -> tuple[int, int, str]:
    """Start and end in the statement, and how to name what stands there."""
    if isinstance(error, UnexpectedToken) and error.token.type != "$END":
        token = error.token
        start = token.start_pos or 0
        return start, token.end_pos or start + len(token), f"unexpected `{token}`"
    if isinstance(error, UnexpectedCharacters):
        start = error.pos_in_stream or 0
        match = re.compile(r"\w+|.", re.DOTALL).match(piece, start)
        text = match.group() if match else ""
        return start, start + max(1, len(text)), f"unexpected `{text}`"
    # the caret goes right behind the last thing of the statement
    return len(piece), len(piece) + 1, "the statement ends too early"
