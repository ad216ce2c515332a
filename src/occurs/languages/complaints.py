"""Problems and hints that several languages word alike."""

from __future__ import annotations

import re

from occurs.errors import Place
from occurs.expr.text import Text

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
