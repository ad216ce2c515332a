"""Names as they stand in a text."""

from __future__ import annotations

from dataclasses import dataclass, field

from occurs.errors import Span


@dataclass(frozen=True)
class Name:
    """A name as written (without quotes of any kind), with its place, which takes no part in equality."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text
