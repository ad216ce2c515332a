"""The phrases that every text knows, and those that come near to what was written (pipes.md, 2.2)."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from occurs.languages.esql.forms import PATTERNS
from occurs.languages.esql.syntax import Phrase


def _phrase(pattern: str, **numbers: str) -> Phrase:
    words = tuple(pattern.split())
    names = [w[1:] for w in words if w.startswith("@")]
    return Phrase(words, tuple((n, numbers.get(n, "processor")) for n in names), "processor", None)


#: over the items so far; what they make is in :mod:`occurs.languages.esql.builder`
PRELUDE: tuple[Phrase, ...] = (
    _phrase("THE COUNT OF @P"),
    _phrase("THE SUM OF @P"),
    _phrase("THE MAXIMUM OF @P"),
    _phrase("THE MINIMUM OF @P"),
    _phrase("THE AVERAGE OF @P"),
    _phrase("THE MOMENT @N OF @P", N="number"),
    _phrase("THE STANDARD DEVIATION OF @P"),
)

#: as alike as a phrase must be to be named
_NEAR = 0.75


def nearest(words: Sequence[str], phrases: Iterable[Phrase]) -> list[str]:
    """The patterns that begin almost as these words do, the most alike first, three at most."""
    known = {" ".join(p.pattern) for p in phrases}
    known |= {" ".join(p.words) for p in PATTERNS}
    found = []
    for pattern in known:
        begin: list[str] = []
        for word in pattern.split():
            if word.startswith("@") or word == "...":
                break
            begin.append(word)
        here = " ".join(words[: len(begin)])
        if here in [" ".join(b) for b in _spelled(begin)]:
            return []  # they are not what is wrong
        ratio = max((difflib.SequenceMatcher(None, here, " ".join(b)).ratio() for b in _spelled(begin)), default=0.0)
        if ratio >= _NEAR:
            found.append((-ratio, pattern))
    return [pattern for _, pattern in sorted(found)[:3]]


def _spelled(words: Sequence[str]) -> list[list[str]]:
    """With one of the words where a pattern has a choice."""
    out: list[list[str]] = [[]]
    for word in words:
        out = [[*o, w] for o in out for w in word.split("|")]
    return [o for o in out if o]
