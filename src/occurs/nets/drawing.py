"""A net as a drawing: where the nodes, lines and texts of its pages stand (epl-and-nets.md, sections 4B and 8).

:mod:`occurs.nets.svg` writes it as a picture.  Coordinates are those of :mod:`occurs.nets.layout`: y grows upwards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from occurs.errors import DefinitionProblem
from occurs.expr.render import render
from occurs.nets.layout import (
    Box,
    Drawn,
    Labels,
    Point,
    arc_text,
    joined,
    node_size,
    placed,
    wrapped,
)  # fmt: skip
from occurs.nets.ml_terms import Printer
from occurs.nets.net import P_NORMAL, Net, Page, Place, Transition, priority_text

#: the lines that stand beside a place for its tokens
Tokens = Callable[[Place], Sequence[str]]

_COLOUR_SIDES = ("s", "n", "se", "sw", "ne", "nw", "e", "w")
_TOKEN_SIDES = ("ne", "nw", "e", "se", "sw", "n", "w", "s")
_GUARD_SIDES = ("n", "nw", "ne", "s", "sw", "se", "w", "e")


@dataclass(frozen=True)
class Note:
    """Lines of text and their middle.

    Attributes:
        kind: ``note`` (a colour, a fusion, a priority), ``tokens``, ``guard`` or ``label`` (an inscription).
    """

    lines: tuple[str, ...]
    kind: str
    at: Point


@dataclass(frozen=True)
class DrawnPlace:
    """A place, the middle and the size of its ellipse, and the texts beside it."""

    place: Place
    at: Point
    size: Point
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class DrawnTransition:
    """A transition, the middle and the size of its box, and the texts beside it.  ``guard``: as CPN ML, or empty."""

    transition: Transition
    at: Point
    size: Point
    guard: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class DrawnArc:
    """A line between a place and a transition, for one arc or for two with the same inscription.

    Attributes:
        line: The arc, and where its heads are.
        begin: The end at the place.
        bend: A point on its way, None for a straight line.
        end: The end at the transition.
        text: The whole inscription.
        label: The inscription where it stands; None if it is empty.
    """

    line: Drawn
    begin: Point
    bend: Point | None
    end: Point
    text: str
    label: Note | None


@dataclass(frozen=True)
class DrawnPage:
    """A page.  ``left``, ``right``, ``low``, ``high``: the ends of all nodes and texts."""

    page: Page
    places: tuple[DrawnPlace, ...]
    transitions: tuple[DrawnTransition, ...]
    arcs: tuple[DrawnArc, ...]
    left: float
    right: float
    low: float
    high: float

    @property
    def notes(self) -> Iterator[Note]:
        """All texts, those of transitions first, then those of places and arcs."""
        for transition in self.transitions:
            yield from transition.notes
        for place in self.places:
            yield from place.notes
        for arc in self.arcs:
            if arc.label is not None:
                yield arc.label


def drawing(net: Net, tokens: Tokens, *, compact: bool = False) -> Iterator[DrawnPage]:
    """Draw the pages of a net, one after another.

    Args:
        net: The net.  Nodes without a place on their page are laid out (:func:`occurs.nets.layout.placed`).
        tokens: Returns the lines for the tokens of a place; none for no text.
        compact: Whether to leave colours and priorities out.
    """
    net = placed(net)
    printer = Printer(dict(net.variables), net.colours)
    for page in net.pages:
        yield _page(net, page, printer, tokens, compact)


def _page(net: Net, page: Page, printer: Printer, tokens: Tokens, compact: bool) -> DrawnPage:
    lines = joined(page)
    texts = [arc_text(line.arc, printer, net.places[line.arc.place].colour) for line in lines]
    labels = Labels(page, lines)

    def beside(name: str, found: Iterator[tuple[Sequence[str], str, Sequence[str]]]) -> tuple[Note, ...]:
        return tuple(Note(tuple(text), kind, labels.beside(name, text, sides)) for text, kind, sides in found)

    transitions = []
    for t in page.transitions:
        guard = _guard(t, printer)
        notes = beside(t.name, _of_transition(t, guard, compact))
        transitions.append(DrawnTransition(t, labels.at[t.name], node_size(t.name), guard, notes))
    places = []
    for p in page.places:
        notes = beside(p.name, _of_place(p, tokens(p), compact))
        places.append(DrawnPlace(p, labels.at[p.name], node_size(p.name), notes))
    arcs = []
    for line, ends, text, middle in zip(lines, labels.ends, texts, labels.on_lines(texts), strict=True):
        label = Note(tuple(wrapped(text)), "label", middle) if text else None
        arcs.append(DrawnArc(line, *ends, text, label))
    return DrawnPage(page, tuple(places), tuple(transitions), tuple(arcs), *_extent(labels.taken))


def _guard(transition: Transition, printer: Printer) -> str:
    try:
        return printer.guard(transition.guard)
    except DefinitionProblem:
        return f"[{', '.join(map(render, transition.guard))}]"


def _of_place(
    place: Place, tokens: Sequence[str], compact: bool
) -> Iterator[tuple[Sequence[str], str, Sequence[str]]]:
    fused = () if place.fusion is None or place.fusion == place.name else (f"fused: {place.fusion}",)
    if not compact:
        yield (place.colour.name, *fused), "note", _COLOUR_SIDES
    if tokens:
        yield tokens, "tokens", _TOKEN_SIDES


def _of_transition(
    transition: Transition, guard: str, compact: bool
) -> Iterator[tuple[Sequence[str], str, Sequence[str]]]:
    if guard:
        yield wrapped(guard, 30), "guard", _GUARD_SIDES
    if transition.priority != P_NORMAL and not compact:
        yield (priority_text(transition.priority),), "note", _COLOUR_SIDES


def _extent(boxes: Sequence[Box]) -> tuple[float, float, float, float]:
    """Left, right, low and high ends of boxes."""
    return (
        min((x - w / 2 for x, _, w, _ in boxes), default=0.0),
        max((x + w / 2 for x, _, w, _ in boxes), default=0.0),
        min((y - h / 2 for _, y, _, h in boxes), default=0.0),
        max((y + h / 2 for _, y, _, h in boxes), default=0.0),
    )


def grid(sizes: Sequence[Point], gap: float) -> list[Point]:
    """The upper left corners of pages on one sheet that is about as wide as it is high, in rows, y downwards.

    A row is as high as its highest page, and as wide as the sheet may be but for its last page.

    >>> grid([(100, 50), (100, 80), (100, 50), (100, 50)], 10)
    [(0.0, 0.0), (110.0, 0.0), (0.0, 90.0), (110.0, 90.0)]
    """
    if not sizes:
        return []
    widest = max(w for w, _ in sizes)
    # the width at which the rows are as high as they are wide; pages of different sizes leave gaps, so it is looked for
    least = max(widest, sqrt(sum((w + gap) * (h + gap) for w, h in sizes)))
    best: tuple[float, list[Point]] | None = None
    for part in range(8):
        corners, wide, high = _rows(sizes, gap, least * (1 + part / 8))
        longer = max(wide, high)
        if best is None or longer < best[0]:
            best = longer, corners
    assert best is not None
    return best[1]


def _rows(sizes: Sequence[Point], gap: float, most: float) -> tuple[list[Point], float, float]:
    """The corners of pages in rows of at most ``most``, and the width and height of all."""
    x = y = tall = wide = 0.0
    out: list[Point] = []
    for w, h in sizes:
        if x and x + w > ceil(most):
            x, y, tall = 0.0, y + tall + gap, 0.0
        out.append((x, y))
        x, tall = x + w + gap, max(tall, h)
        wide = max(wide, x - gap)
    return out, wide, y + tall
