"""Declarations of Design/CPN, which a `.cpn` file keeps as one text, as the elements that CPN Tools has for them.

CPN Tools puts the declarations that it could not take over when it converted a file into the element ``errordecl``
(epl-and-nets.md, section 4B).  Design/CPN writes ``color U = with p | q declare ms;`` ``ms'U``, ``mult'P(a, b)``,
``ran'U()`` and ``clock "7"`` where CPN Tools has ``U.all()``, ``P.mult(a, b)``, ``U.ran()`` and ``7``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from occurs.model.xml_tree import Node

#: comments, texts, words, and every other sign
_PIECE = re.compile(r'\(\*.*?\*\)|"(?:\\.|[^"\\])*"|[A-Za-z][\w\']*|\d+|\s+|.', re.DOTALL)
_OPENS, _CLOSES = ("(", "[", "{", "let", "local", "struct"), (")", "]", "}", "end")
#: what CPN Tools writes as ``COLOUR.function``
_FUNCTION_OF = re.compile(r"(?<![\w'])(mult|ran|ms|ext_col|ext_ms|input_ms|lt|legal)'([A-Za-z]\w*)")
#: a number of units of time
_CLOCK = re.compile(r'\bclock\s*"(\d+)"')
_SIMPLE = ("unit", "bool", "int", "intinf", "real", "string")
#: its clock counts in whole numbers
TIME = "TIME"


def of_cpn_tools(net: Node) -> Node:
    """A net with the texts of Design/CPN as CPN Tools has them; a net without ``errordecl`` comes back as it is."""
    return _converted(net) if any(n.tag == "errordecl" for n in net.walk()) else net


def _converted(node: Node) -> Node:
    children: list[Node] = []
    for child in node.children:
        children += elements(child) if child.tag == "errordecl" else [_converted(child)]
    return Node(node.tag, node.attributes, node.line, in_cpn_tools(node.text), node.text_line, children)


def in_cpn_tools(text: str) -> str:
    """A text of Design/CPN with functions of colours, and times, as CPN Tools writes them."""
    named = _FUNCTION_OF.sub(lambda m: f"{m[2]}.all()" if m[1] == "ms" else f"{m[2]}.{m[1]}", text)
    return _CLOCK.sub(r"\1", named)


def elements(node: Node) -> list[Node]:
    """The elements of the declarations in the text of an element, in their order."""
    found = [
        _element(f"{node.id or 'text'}-{k + 1}", text, (node.text_line or node.line) + line)
        for k, (text, line) in enumerate(_statements(node.text))
    ]
    used = {n.text.strip() for made in found for n in made.walk() if n.tag == "id"}
    declared = {made.text_of("id") for made in found if made.tag == "color"}
    if TIME in used - declared:
        found.insert(0, _color("text-0", TIME, [TIME.lower()], node.line))
    return found


def _statements(text: str) -> Iterator[tuple[str, int]]:
    """The declarations of a text, without comments and semicolons, and the line of each."""
    depth, line, begun, current = 0, 0, 0, ""
    for piece in _PIECE.findall(text):
        depth += (piece in _OPENS) - (piece in _CLOSES)
        if piece == ";" and depth <= 0:
            if current.strip():
                yield current.strip(), begun
            current = ""
        elif not piece.startswith("(*"):
            if not current.strip():
                begun = line
            current += piece
        line += piece.count("\n")
    if current.strip():
        yield current.strip(), begun


def _element(name: str, text: str, line: int) -> Node:
    """The element of one declaration."""
    word, rest = re.match(r"([A-Za-z]\w*)?(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    if word in ("color", "colset"):
        head, _, body = rest.partition("=")
        words = _PIECE.findall(re.sub(r"\bdeclare\b.*", "", body, flags=re.DOTALL))
        return _color(name, head.strip(), [w for w in words if w.strip() and not w.startswith("(*")], line)
    if word == "var":
        names, _, colour = rest.partition(":")
        of = _node("type", line, children=[_node("id", line, colour.strip())])
        return _node("var", line, id=name, children=[of, *(_node("id", line, n.strip()) for n in names.split(","))])
    if word == "globref":
        head, _, value = rest.partition("=")
        parts = [_node("id", line, head.strip()), _node("ml", line, in_cpn_tools(value))]
        return _node("globref", line, id=name, children=parts)
    return _node("ml", line, in_cpn_tools(text), id=name)


def _node(tag: str, line: int, text: str = "", children: Sequence[Node] = (), id: str = "") -> Node:
    return Node(tag, {"id": id} if id else {}, line, text, line, list(children))


def _color(name: str, colour: str, words: list[str], line: int) -> Node:
    """The element of a colour of these words."""
    timed = words[-1:] == ["timed"]
    words = words[:-1] if timed else words
    parts = [_node("id", line, colour), *_kind(words, line), *([_node("timed", line)] if timed else [])]
    return _node("color", line, id=name, children=parts)


def _kind(words: list[str], line: int) -> list[Node]:
    """What a colour is; nothing if its words are not read."""
    match words:
        case ["with", *rest]:
            return [_node("enum", line, children=_ids([w for w in rest if w != "|"], line))]
        case ["time"]:
            return [_node("time", line)]
        case [kind] if kind in _SIMPLE:
            return [_node(kind, line)]
        case [kind, "with", *rest] if kind in _SIMPLE:
            bounds = [" ".join(b) for b in _split(rest, ",")] if kind == "bool" else _bounds(rest)
            return [_node(kind, line, children=[_node("with", line, children=_mls(bounds, line))])]
        case ["index", name, "with", *rest]:
            return [_node("index", line, children=[*_mls(_bounds(rest), line), *_ids([name], line)])]
        case ["product", *rest]:
            return [_node("product", line, children=_ids([w for w in rest if w != "*"], line))]
        case ["record", *rest]:
            fields = [_node("recordfield", line, children=_ids([p[0], p[-1]], line)) for p in _split(rest, "*")]
            return [_node("record", line, children=fields)]
        case ["union", *rest]:
            return [_node("union", line, children=[_case(p, line) for p in _split(rest, "+")])]
        case ["list", of]:
            return [_node("list", line, children=_ids([of], line))]
        case ["list", of, "with", *rest]:
            within = _node("with", line, children=_mls(_bounds(rest), line))
            return [_node("list", line, children=[*_ids([of], line), within])]
        case ["subset", of, ("by" | "with") as word, *rest]:
            within = _node(word, line, children=_mls([" ".join(rest)], line))
            return [_node("subset", line, children=[*_ids([of], line), within])]
        case [of]:
            return [_node("alias", line, children=_ids([of], line))]
    return []


def _case(words: list[str], line: int) -> Node:
    """A constructor of a union, with the colour of its argument if it has one."""
    held = [_node("type", line, children=_ids(words[-1:], line))] if len(words) > 1 else []
    return _node("unionfield", line, children=[*_ids(words[:1], line), *held])


def _bounds(words: list[str]) -> list[str]:
    """The texts before and behind ``..``, which are two signs."""
    text = " ".join(words)
    return [part.strip() for part in re.split(r"\.\s*\.", text)]


def _split(words: list[str], sign: str) -> list[list[str]]:
    """The words between signs."""
    found: list[list[str]] = [[]]
    for word in words:
        if word == sign:
            found.append([])
        else:
            found[-1].append(word)
    return found


def _ids(names: list[str], line: int) -> list[Node]:
    return [_node("id", line, n) for n in names]


def _mls(texts: list[str], line: int) -> list[Node]:
    return [_node("ml", line, in_cpn_tools(t)) for t in texts]
