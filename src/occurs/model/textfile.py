"""Text files whose lines are events of a program, as rules name them (pipes.md, 2.2: ``FILE "f"``)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.errors import Span

#: the one attribute of an event that is a line
LINE = "line"


@dataclass(frozen=True)
class TextFile:
    """A file whose lines are read: its ``path`` as it is written, in the rules ``file`` at ``span``, and the
    ``definition`` that reads it."""

    path: str
    file: str | None
    definition: str
    span: Span | None = None
