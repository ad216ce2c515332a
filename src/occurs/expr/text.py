"""The text of a file: names with their places, offsets to spans, and the problems found."""

from __future__ import annotations

import re
from bisect import bisect_right
from copy import copy
from dataclasses import dataclass, field

from occurs.errors import Place, Problem, Severity, Span


@dataclass(frozen=True)
class Name:
    """A name as written (without quotes of any kind), with its place, which takes no part in equality."""

    text: str
    span: Span | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return self.text


class Text:
    """The text of one file.  ``problems`` collects what is found wrong with it."""

    def __init__(self, text: str, file: str | None):
        self.text = text
        self.file = file
        self.problems: list[Problem] = []
        self.starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def apart(self) -> Text:
        """The same text, with problems of its own."""
        out = copy(self)
        out.problems = []
        return out

    def span(self, start: int, end: int) -> Span:
        """The span of ``text[start:end]``."""
        line, end_line = bisect_right(self.starts, start), bisect_right(self.starts, end)
        return Span(line, start - self.starts[line - 1] + 1, end_line, end - self.starts[end_line - 1] + 1)

    def offsets(self, span: Span) -> tuple[int, int]:
        """Start and end of a span in the text."""
        start, end = self.starts[span.line - 1], self.starts[span.end_line - 1]
        return start + span.column - 1, end + span.end_column - 1

    def piece(self, span: Span) -> str:
        """The text of a span."""
        start, end = self.offsets(span)
        return self.text[start:end]

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        stop = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : stop].rstrip("\r\n")

    def problem(
        self,
        kind: str,
        message: str,
        span: Span | None,
        hint: str | None = None,
        severity: Severity = "error",
        related: tuple[Place, ...] = (),
    ) -> Problem:
        """A problem at a place of this text, with the line for the caret."""
        source = self.line(span.line) if span else None
        return Problem(kind, message, severity, self.file, span, hint, related, source)

    def report(
        self,
        kind: str,
        message: str,
        span: Span | None,
        hint: str | None = None,
        severity: Severity = "error",
        related: tuple[Place, ...] = (),
    ) -> None:
        """Add a problem."""
        self.problems.append(self.problem(kind, message, span, hint, severity, related))

    def warn(self, kind: str, message: str, span: Span | None, hint: str | None = None) -> None:
        """Add a warning."""
        self.report(kind, message, span, hint, "warning")
