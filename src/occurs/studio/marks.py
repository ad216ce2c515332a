"""Places in texts that begin with a byte order mark.

The rules are read without it, and whoever asks counts it: as the first character of the text that was sent, or of the
file.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

#: U+FEFF
MARK = "\ufeff"


def inner(offset: int, path: str, marked: Collection[str]) -> int:
    """An offset of a text as one without its mark."""
    return max(0, offset - 1) if path in marked else offset


def outer(value: Any, marked: Collection[str]) -> Any:
    """An answer whose places count the marks of the files ``marked``: plain data, or as it is if there are none."""
    return _outer(msgspec.json.decode(msgspec.json.encode(value)), marked) if marked else value


def _outer(value: Any, marked: Collection[str]) -> Any:
    if isinstance(value, list):
        return [_outer(item, marked) for item in value]
    if not isinstance(value, dict):
        return value
    out = {name: _outer(item, marked) for name, item in value.items()}
    if value.get("file") in marked and isinstance(span := value.get("span"), dict):
        out["span"] = behind_mark(span)
    return out


def behind_mark(span: dict[str, int]) -> dict[str, int]:
    """A span of a text without its mark as one that counts it."""
    column, end = span["column"] + (span["line"] == 1), span["end_column"] + (span["end_line"] == 1)
    return {**span, "column": column, "end_column": end}


def drawn(raw: bytes, path: str) -> Any:
    """The answer of a call over drawings of the text at ``path``, which begins with a mark, so that it counts it."""
    found = outer(msgspec.Raw(raw), {path})
    if "statements" in found:
        found["statements"] = [{**s, "span": behind_mark(s["span"])} for s in found["statements"]]
    if "edits" in found:
        found["edits"] = [{**e, "from": e["from"] + 1, "to": e["to"] + 1} for e in found["edits"]]
    if found.get("text") is not None:
        found["text"] = MARK + found["text"]
    return found
