"""The text of an SQL statement, cut into words, quotes and parameters, whatever the dialect."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PARTS = re.compile(
    r"""(?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*'|`[^`]*`|\[[^\]]*\])|(?P<comment>/\*.*?(?:\*/|\Z))"""
    r"""|(?P<cast>::)|(?P<parameter>:[^\W\d]\w*)|(?P<mark>\?|[@$][^\W\d]\w*)|(?P<word>[^\W\d]\w*)|(?P<semicolon>;)""",
    re.DOTALL,
)


@dataclass(frozen=True)
class Part:
    """A piece of a statement: its kind (``quoted parameter mark word semicolon``), its text, and where it is."""

    kind: str
    text: str
    start: int
    end: int


def parts(text: str) -> Iterator[Part]:
    """Words, parameters and so on, in order; comments are left out."""
    for m in _PARTS.finditer(text):
        if m.lastgroup not in ("comment", "cast"):
            yield Part(str(m.lastgroup), m.group(), m.start(), m.end())


def identifiers(text: str) -> list[str]:
    """Words, and what stands in quotes."""
    return [p.text if p.kind == "word" else p.text[1:-1] for p in parts(text) if p.kind in ("word", "quoted")]


def parameters(text: str) -> dict[str, tuple[int, int]]:
    """The names of parameters, and where each is first."""
    out: dict[str, tuple[int, int]] = {}
    for p in parts(text):
        if p.kind == "parameter":
            out.setdefault(p.text[1:], (p.start, p.end))
    return out


def quoted(name: str) -> str:
    """An identifier in quotes."""
    return '"' + name.replace('"', '""') + '"'
