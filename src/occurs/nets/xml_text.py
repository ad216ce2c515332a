"""XML as text: elements with attributes and text, in the form in which CPN Tools writes its files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr


@dataclass
class Tag:
    """An element to be written: its text comes before its children."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    text: str = ""
    children: list[Tag] = field(default_factory=list)

    def add(self, name: str, text: str = "", /, **attributes: object) -> Tag:
        """A new child, returned."""
        child = Tag(name, {k: str(v) for k, v in attributes.items()}, text)
        self.children.append(child)
        return child

    def lines(self, indent: str = "") -> Iterator[str]:
        """The lines of the element."""
        attributes = "".join(f" {k}={quoteattr(v)}" for k, v in self.attributes.items())
        text = escape(self.text)
        if not self.children:
            yield f"{indent}<{self.name}{attributes}" + (f">{text}</{self.name}>" if text else "/>")
            return
        yield f"{indent}<{self.name}{attributes}>{text}"
        for child in self.children:
            yield from child.lines(indent + "  ")
        yield f"{indent}</{self.name}>"
