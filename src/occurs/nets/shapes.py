"""Sizes of nodes and texts, and where inscriptions stand: what drawings and files of CPN Tools have in common.

All lengths are in the units of CPN Tools (about a pixel); x grows to the right, y upwards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, inf

from occurs.errors import DefinitionProblem
from occurs.expr.render import render
from occurs.nets.colours import Colour
from occurs.nets.ml_terms import Printer
from occurs.nets.net import Arc, Net, Page

Point = tuple[float, float]
#: middle, width and height
Box = tuple[float, float, float, float]

#: the width of a character and the height of a line of inscriptions
CHAR, LINE = 6.7, 14.0
#: characters after which an inscription goes on in the next line, if it can be cut
WRAP = 26


def node_size(name: str) -> Point:
    """Width and height of the ellipse or box with this name."""
    return max(60.0, len(name) * 7.2 + 22), 40.0


def text_size(lines: Sequence[str]) -> Point:
    return max((len(line) for line in lines), default=0) * CHAR, len(lines) * LINE


def wrapped(text: str, width: int = WRAP) -> list[str]:
    """The lines of an inscription: cut behind commas, ``++`` and before ``andalso``, ``orelse``, not inside strings.

    >>> wrapped('(s, 5, a_x, pOut({ma=a_ma, mb=b_mb}))')
    ['(s, 5, a_x, pOut({ma=a_ma,', 'mb=b_mb}))']
    """
    lines = [""]
    for piece in _pieces(text.replace("\n", " ")):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.strip() for line in lines if line.strip()]


def _pieces(text: str) -> Iterator[str]:
    begin, quoted, k = 0, False, 0
    while k < len(text):
        if text[k] == '"' and text[k - 1 : k] != "\\":
            quoted = not quoted
        end = 0
        if not quoted:
            if text.startswith(("andalso ", "orelse "), k) and text[k - 1 : k] == " ":
                yield text[begin:k]
                begin = k
            end = k + 2 if text.startswith(("++", ", "), k) else k + 1 if text[k] == "," else 0
        if end:
            yield text[begin:end]
            begin = k = end
        else:
            k += 1
    yield text[begin:]


@dataclass(frozen=True)
class Drawn:
    """One line between a place and a transition: an arc, or two in both directions with the same inscription.

    ``into``, ``out``: whether tokens go into the transition, and out of it.  ``bend``: a point it runs over.
    """

    arc: Arc
    into: bool
    out: bool
    bend: Point | None = None


def joined(page: Page) -> list[Drawn]:
    """The lines of a page in the order of its arcs.

    Two arcs in both directions are one line with two heads if their inscriptions are the same, else two lines apart.
    """
    at = {p.name: p.at or (0.0, 0.0) for p in page.places} | {t.name: t.at or (0.0, 0.0) for t in page.transitions}
    sizes = [text_size(label) for label in arc_labels(page)]
    left: list[Arc | None] = list(page.arcs)
    out: list[Drawn] = []
    for k, arc in enumerate(page.arcs):
        if left[k] is None:
            continue
        others = [
            j
            for j, other in enumerate(left)
            if other is not None
            and j != k
            and (other.place, other.transition, other.input) == (arc.place, arc.transition, not arc.input)
        ]
        same = next((j for j in others if page.arcs[j].terms == arc.terms and arc.input), None)
        if same is not None:
            left[same] = None
            out.append(Drawn(arc, True, True))
        else:
            twins = sum(a.place == arc.place and a.transition == arc.transition for a in page.arcs) > 1
            off = 20.0 + min(26.0, sizes[k][0] / 6)
            bend = _bend(at[arc.place], at[arc.transition], off if arc.input else -off) if twins else None
            out.append(Drawn(arc, arc.input, not arc.input, bend))
    return out


def _bend(place: Point, transition: Point, off: float) -> Point | None:
    """A point beside the middle of the line: arcs into a transition have theirs on one side, others on the other."""
    (x0, y0), (x1, y1) = place, transition
    length = hypot(x1 - x0, y1 - y0)
    if not length:
        return None
    return (x0 + x1) / 2 - (y1 - y0) / length * off, (y0 + y1) / 2 + (x1 - x0) / length * off


def arc_texts(net: Net) -> dict[str, list[str]]:
    """The inscriptions of the arcs of each page, in the order of the arcs.

    What has no form in CPN ML is shown as the other languages write it.
    """
    printer = Printer(dict(net.variables), net.colours)
    colours = {p.name: p.colour for p in net.places.values()}
    return {page.name: [_text(a, printer, colours[a.place]) for a in page.arcs] for page in net.pages}


def arc_labels(page: Page) -> list[list[str]]:
    """The lines of the inscriptions of a page's arcs, as far as their size goes: colours are not asked."""
    printer, colours = Printer({}), {p.name: p.colour for p in page.places}
    return [wrapped(_text(a, printer, colours[a.place])) for a in page.arcs if a.place in colours]


def _text(arc: Arc, printer: Printer, colour: Colour) -> str:
    if not arc.terms:
        return ""
    try:
        return printer.tokens(arc.terms, colour)
    except DefinitionProblem:
        return " ++ ".join(map(render, arc.terms))


def border(middle: Point, size: Point, to: Point, round_: bool) -> Point:
    """Where the line from ``middle`` to ``to`` leaves an ellipse (``round_``) or box of ``size``."""
    (x, y), (w, h), (dx, dy) = middle, size, (to[0] - middle[0], to[1] - middle[1])
    if not dx and not dy:
        return middle
    if round_:
        part = 1 / hypot(dx / (w / 2), dy / (h / 2))
    else:
        part = min(w / 2 / abs(dx) if dx else inf, h / 2 / abs(dy) if dy else inf)
    return x + dx * part, y + dy * part


def along(begin: Point, bend: Point | None, end: Point, part: float) -> Point:
    """The point of a line (over ``bend``, if it has one) at ``part`` of its way, 0 to 1."""
    if bend is not None:
        begin, end, part = (begin, bend, part * 2) if part < 0.5 else (bend, end, part * 2 - 1)
    return begin[0] + (end[0] - begin[0]) * part, begin[1] + (end[1] - begin[1]) * part
