"""Places of the protocol, which count lines and code units from 0, and those of Occurs."""

from __future__ import annotations

from bisect import bisect_right

from lsprotocol import types as lsp

from occurs.errors import Span
from occurs.expr.text import Text

_UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2)}


class Document:
    """A text whose places are converted.  ``encoding``: what the client counts, such as ``utf-16``."""

    def __init__(self, text: str, encoding: str) -> None:
        self.text = text
        self._source = Text(text, None)
        self._encoding = encoding

    def offset(self, position: lsp.Position) -> int:
        """The code points before a position; one beyond a line or the text stands for its end."""
        starts = self._source.starts
        if position.line >= len(starts):
            return len(self.text)
        line = self._source.line(position.line + 1)
        units = 0
        for n, character in enumerate(line):
            if units >= position.character:
                return starts[position.line] + n
            units += self._units(character)
        return starts[position.line] + len(line)

    def position(self, offset: int) -> lsp.Position:
        """The position of an offset in code points."""
        line = bisect_right(self._source.starts, offset) - 1
        return lsp.Position(line, self._units(self.text[self._source.starts[line] : offset]))

    def between(self, start: int, end: int) -> lsp.Range:
        """The range between two offsets."""
        return lsp.Range(self.position(start), self.position(end))

    def range(self, span: Span | None) -> lsp.Range:
        """The range of a span; the beginning of the text if there is none."""
        if span is None or span.end_line > len(self._source.starts):
            return lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        return self.between(*self._source.offsets(span))

    def _units(self, text: str) -> int:
        if self._encoding not in _UNITS:
            return len(text)
        name, size = _UNITS[self._encoding]
        return len(text.encode(name, "surrogatepass")) // size
