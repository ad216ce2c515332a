"""XML files as trees that know their lines, for readers that name the place of each error.

Entity declarations are refused, and with them files that grow when they are read; a DTD that a file names is never
fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import EntitiesForbidden, ExternalReferenceForbidden
from defusedxml.ElementTree import DefusedXMLParser

from occurs.errors import DefinitionProblem, OccursError, Problem, Span, SyntaxProblem

#: how deep elements may be nested
DEEPEST = 200


@dataclass
class Node:
    """An element.  ``text``: before its first child; ``line``: where it begins, ``text_line``: where its text does."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    text_line: int = 0
    children: list[Node] = field(default_factory=list)

    def get(self, name: str) -> str:
        """An attribute, or nothing."""
        return self.attributes.get(name, "")

    @property
    def id(self) -> str:
        return self.get("id")

    def all(self, *tags: str) -> list[Node]:
        """The children with one of these tags."""
        return [c for c in self.children if c.tag in tags]

    def find(self, *path: str) -> Node | None:
        """The first child of the first child .. with these tags."""
        node: Node | None = self
        for tag in path:
            node = next((c for c in node.children if c.tag == tag), None) if node is not None else None
        return node

    def text_of(self, *path: str) -> str:
        """The text of the element at ``path``, without blanks around it; nothing if there is none."""
        found = self.find(*path)
        return "" if found is None else found.text.strip()

    def walk(self) -> Iterator[Node]:
        """This element and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class _Builder:
    """What the parser tells about a file."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.doctype_found: tuple[str, str | None] | None = None
        self.open: list[Node] = []
        self.parser: Any = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        node = Node(tag, attributes, self.parser.CurrentLineNumber)
        if self.open:
            self.open[-1].children.append(node)
        else:
            self.root = node
        if len(self.open) >= DEEPEST:
            raise RecursionError
        self.open.append(node)

    def end(self, tag: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        node = self.open[-1]
        if not node.children:
            if not node.text.strip() and text.strip():
                node.text_line = self.parser.CurrentLineNumber
                node.text = ""
            node.text += text

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        self.doctype_found = (name, public)

    def close(self) -> Node | None:
        return self.root


@dataclass(frozen=True)
class XmlFile:
    """``doctype``: the name and the public identifier of its DOCTYPE, if there is one."""

    root: Node
    doctype: tuple[str, str | None] | None


def read_xml(data: bytes, file: str | None) -> XmlFile:
    """The elements of a file.

    SyntaxProblem for torn XML; DefinitionProblem ``entity`` for what is refused.
    """
    target = _Builder()
    parser = DefusedXMLParser(target=target, forbid_dtd=False, forbid_entities=True, forbid_external=True)
    target.parser = parser.parser
    try:
        parser.feed(data)
        parser.close()
    except ParseError as error:
        line, column = error.position
        where = Span(line, column + 1, line, column + 2)
        message = f"this is not a valid XML file: {str(error).split(': line')[0]}"
        raise SyntaxProblem(Problem("syntax", message, file=file, span=where)) from None
    except EntitiesForbidden as error:
        raise _refused(
            "entity", f"the file declares the entity `{error.name}`: entities are not allowed", file
        ) from None
    except ExternalReferenceForbidden:
        raise _refused("entity", "the file refers to other files: external references are not allowed", file) from None
    except RecursionError:
        raise _refused("syntax", f"elements are nested more than {DEEPEST} levels deep", file) from None
    except (LookupError, ValueError) as error:  # an encoding that is not known, or another than was declared
        raise _refused("syntax", f"this is not a valid XML file: {error}", file) from None
    if target.root is None:
        raise _refused("syntax", "this is not a valid XML file: it has no elements", file)
    return XmlFile(target.root, target.doctype_found)


def _refused(kind: str, message: str, file: str | None) -> OccursError:
    return (SyntaxProblem if kind == "syntax" else DefinitionProblem)(Problem(kind, message, file=file))
