"""Where a parser stopped, and what could have stood there: what the languages' explanations of it begin with."""

from __future__ import annotations

import re

from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

#: what to do where events are read and something lasts
LASTING_HINT = "make an event of its start: `event s_start(V) : start(s(V)).` in a .phen file"
#: how many characters before a mistake are looked at
LOOK_BACK = 4000


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
