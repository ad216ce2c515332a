"""Edits of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from occurs.languages.epl.graph.sources import Source


@dataclass(frozen=True)
class Edit:
    """``text[start:end]`` becomes ``insert``."""

    start: int
    end: int
    insert: str


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits, which are in order and do not overlap.

    >>> applied("abc", [Edit(0, 1, "x"), Edit(2, 2, "y")])
    'xbyc'
    """
    out, at = "", 0
    for edit in edits:
        out += text[at : edit.start] + edit.insert
        at = edit.end
    return out + text[at:]


def trimmed(text: str, edit: Edit) -> tuple[Edit, ...]:
    """An edit without what stays the same at its ends; none if nothing changes."""
    old, new = text[edit.start : edit.end], edit.insert
    if old == new:
        return ()
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    most -= head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    return (Edit(edit.start + head, edit.end - tail, new[head : len(new) - tail]),)


def appended(source: Source, last: int | None, body: str) -> tuple[Edit, ...]:
    """Edits that put a new statement behind all, after an empty line; ``last``: where the last one ends."""
    text, blank = source.text, source.blank
    ends = "\r\n" if source.crlf else "\n"
    edits: list[Edit] = []
    if last is not None and not blank[last:].strip().startswith(";"):
        edits.append(Edit(last, last, ";"))
    lines = 0 if not text.strip() else 1 if text.endswith(f"{ends}{ends}") else 2 if text.endswith("\n") else 3
    gap = ends * max(lines - 1, 0)
    end = len(text)
    if edits and edits[-1].start == end:
        return (Edit(end, end, f";{gap}{body};{ends}"),)
    return (*edits, Edit(end, end, f"{gap}{body};{ends}"))
