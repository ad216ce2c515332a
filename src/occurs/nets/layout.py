"""Where nodes and texts of a net stand on their pages: a grid, a column per transition, no overlaps (epl-and-nets.md).

Transitions stand in one row, in the order of the page, with a column for places between any two.  Then each place takes
the free point of the grid at which its arcs are short, run over no other node and cross few others; what a transition
takes stands rather to its left, what it gives to its right.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, hypot, inf
from operator import itemgetter

from occurs.errors import DefinitionProblem
from occurs.expr.render import render
from occurs.nets.colours import Colour
from occurs.nets.ml_terms import Printer
from occurs.nets.net import Arc, Net, Page, Place, Transition

#: the gap between neighbouring nodes, in addition to the text between them
GAP = 50.0
#: how much worse an arc over a node is than one that is longer by one step of the grid, and crossing arcs
OVER, CROSSING = 40.0, 1.5
#: from so many nodes on (and half as many arcs again) places stand in rows: looking for good points takes long
MANY = 60

Cell = tuple[int, int]


def placed(net: Net) -> Net:
    """``net`` with every ``at`` set.  Pages on which each node has its place keep them; others are laid out anew."""
    return replace(net, pages=tuple(map(_placed, net.pages)))


def _placed(page: Page) -> Page:
    nodes: list[Place | Transition] = [*page.places, *page.transitions]
    if all(n.at is not None for n in nodes):
        return page
    cells = _cells(page)
    wide, high = _pitch(page)
    at = {name: (column * wide, row * high) for name, (column, row) in cells.items()}
    return replace(
        page,
        places=tuple(replace(p, at=at[p.name]) for p in page.places),
        transitions=tuple(replace(t, at=at[t.name]) for t in page.transitions),
    )


def _pitch(page: Page) -> Point:
    """The distances between columns and rows: wide enough for nodes, for inscriptions between them, and for what is
    written beside nodes (two lines at places, guards at transitions)."""
    sizes = [node_size(name) for name in (*(p.name for p in page.places), *(t.name for t in page.transitions))]
    texts = [text_size(lines) for lines in arc_labels(page)]
    wide = max((w for w, _ in sizes), default=60) + max((w for w, _ in texts), default=0) * 1.1 + GAP / 2
    guards = 2 * LINE if any(t.guard for t in page.transitions) else 0.0
    high = max((h for _, h in sizes), default=40) + max((h for _, h in texts), default=0) + 2 * LINE + guards + GAP / 2
    # arcs without inscriptions may be shorter
    least = 140 if any(any(lines) for lines in arc_labels(page)) or not page.arcs else 100
    return float(ceil(max(wide, least))), float(ceil(max(high, 110)))


@dataclass
class _Grid:
    """What stands where so far.  ``lines``: the arcs between nodes that both have a cell."""

    at: dict[str, Cell] = field(default_factory=dict)
    lines: list[tuple[Cell, Cell]] = field(default_factory=list)


def _cells(page: Page) -> dict[str, Cell]:
    """Column and row of every node."""
    grid = _Grid({t.name: (2 * k + 1, 0) for k, t in enumerate(page.transitions)})
    if len(page.places) + len(page.transitions) > MANY or len(page.arcs) > 1.5 * MANY:
        return {**grid.at, **dict(_filled(page))}
    takes: dict[str, list[str]] = {p.name: [] for p in page.places}
    gives: dict[str, list[str]] = {p.name: [] for p in page.places}
    for arc in page.arcs:
        if arc.place in takes and arc.transition in grid.at:
            (takes if arc.input else gives)[arc.place].append(arc.transition)

    def first(place: Place) -> tuple[bool, bool, int]:
        # what belongs to one transition only stands next to it, before the places that many share are looked at
        into, out = {*takes[place.name]}, {*gives[place.name]}
        return not into | out, len(into | out) > 2, len(into & out)

    for place in sorted(page.places, key=first):
        consumers = [grid.at[t] for t in takes[place.name]]
        producers = [grid.at[t] for t in gives[place.name]]
        cell = _best(consumers, producers, grid)
        grid.at[place.name] = cell
        grid.lines += [(cell, other) for other in dict.fromkeys(consumers + producers)]
    return grid.at


def _filled(page: Page) -> Iterator[tuple[str, Cell]]:
    """The places of a page with many nodes: in rows below the transitions."""
    columns = 2 * max(len(page.transitions), 10) + 1
    for k, place in enumerate(page.places):
        yield place.name, (k % columns, -1 - k // columns)


def _free(grid: _Grid, near: Sequence[Cell]) -> Iterator[Cell]:
    """The free cells around ``near`` (of a place without arcs: below all); there is always one."""
    taken = set(grid.at.values())
    low, high = min((c for c, _ in near), default=1) - 1, max((c for c, _ in near), default=1) + 1
    reach = 3
    while True:
        cells = [(c, r) for r in range(-reach, reach + 1) for c in range(low, high + 1) if (c, r) not in taken]
        if cells:
            yield from cells
            return
        reach += 1


def _best(consumers: Sequence[Cell], producers: Sequence[Cell], grid: _Grid) -> Cell:
    """Where a place stands best.  Cells are looked at from the nearest on, until the way alone costs too much."""
    ends = list(dict.fromkeys([*consumers, *producers]))
    ways = sorted((_way(cell, ends, consumers, producers), cell) for cell in _free(grid, ends))
    least, best = inf, ways[0][1]
    for way, cell in ways:
        if way >= least:
            break
        cost = way + _in_the_way(cell, ends, grid, least - way)
        if cost < least:
            least, best = cost, cell
    return best


def _way(cell: Cell, ends: Sequence[Cell], consumers: Sequence[Cell], producers: Sequence[Cell]) -> float:
    """How far a place at ``cell`` is from where it should be."""
    column, row = cell
    cost = 0.1 * abs(row) + (0.05 if row < 0 else 0.0)
    if not ends:
        return cost + abs(row + 1)
    cost += sum(hypot(c - column, 1.3 * (r - row)) for c, r in ends)
    cost += sum(0.6 * (column >= c) for c, _ in consumers if (c, 0) not in producers)
    return cost + sum(0.6 * (column <= c) for c, _ in producers if (c, 0) not in consumers)


def _in_the_way(cell: Cell, ends: Sequence[Cell], grid: _Grid, enough: float) -> float:
    """What the arcs of a place at ``cell`` run over or cross, and what runs over it; ``enough`` is too much."""
    cost = sum(OVER for line in grid.lines if cell not in line and _over(cell, *line))
    for end in ends:
        if cost >= enough:
            break
        cost += sum(OVER for other in grid.at.values() if other not in (cell, end) and _over(other, cell, end))
        cost += sum(CROSSING for line in grid.lines if _cross(line, (cell, end)))
    return cost


def _over(node: Cell, begin: Cell, end: Cell) -> bool:
    """Whether the line from ``begin`` to ``end`` runs over ``node`` or close by."""
    (x0, y0), (x1, y1), (x, y) = begin, end, node
    length = (x1 - x0) ** 2 + (y1 - y0) ** 2
    if not length:
        return False
    part = min(1.0, max(0.0, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length))
    return hypot(x0 + part * (x1 - x0) - x, y0 + part * (y1 - y0) - y) < 0.3


def _cross(one: tuple[Cell, Cell], other: tuple[Cell, Cell]) -> bool:
    """Whether two lines cross elsewhere than at their ends."""
    if set(one) & set(other):
        return False
    (a, b), (c, d) = one, other
    return _side(a, b, c) * _side(a, b, d) < 0 and _side(c, d, a) * _side(c, d, b) < 0


def _side(a: Cell, b: Cell, c: Cell) -> int:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


# --- sizes of nodes and texts, and where inscriptions stand -----------------------------------------------------------
# All lengths are in the units of CPN Tools (about a pixel); x grows to the right, y upwards.


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
    return list(_wrapped(text, width))


# a net is laid out and then drawn, with the same inscriptions
@lru_cache(maxsize=8192)
def _wrapped(text: str, width: int) -> tuple[str, ...]:
    lines = [""]
    for piece in _pieces(text.replace("\n", " ")):
        if lines[-1] and len(lines[-1]) + len(piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return tuple(line.strip() for line in lines if line.strip())


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
    at = positions(page)
    sizes = [text_size(label) for label in arc_labels(page)]
    between: dict[tuple[str, str], list[int]] = {}
    for k, arc in enumerate(page.arcs):
        between.setdefault((arc.place, arc.transition), []).append(k)
    left = [True] * len(page.arcs)
    out: list[Drawn] = []
    for k, arc in enumerate(page.arcs):
        if not left[k]:
            continue
        left[k] = False
        twins = between[arc.place, arc.transition]
        ways = ((j, page.arcs[j]) for j in twins if left[j])
        same = next((j for j, other in ways if (other.input, other.terms) == (not arc.input, arc.terms)), None)
        if same is not None:
            left[same] = False
            out.append(Drawn(arc, True, True))
        else:
            off = 20.0 + min(26.0, sizes[k][0] / 6)
            apart = off if arc.input else -off
            bend = _bend(at[arc.place], at[arc.transition], apart) if len(twins) > 1 else None
            out.append(Drawn(arc, arc.input, not arc.input, bend))
    return out


def _bend(place: Point, transition: Point, off: float) -> Point | None:
    """A point beside the middle of the line: arcs into a transition have theirs on one side, others on the other."""
    (x0, y0), (x1, y1) = place, transition
    length = hypot(x1 - x0, y1 - y0)
    if not length:
        return None
    return (x0 + x1) / 2 - (y1 - y0) / length * off, (y0 + y1) / 2 + (x1 - x0) / length * off


def arc_labels(page: Page) -> list[list[str]]:
    """The lines of the inscriptions of a page's arcs, as far as their size goes: colours are not asked."""
    printer, colours = Printer({}), {p.name: p.colour for p in page.places}
    return [wrapped(arc_text(a, printer, colours[a.place])) for a in page.arcs if a.place in colours]


def arc_text(arc: Arc, printer: Printer, colour: Colour) -> str:
    """The inscription of an arc; what has no form in CPN ML is shown as the other languages write it."""
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


# --- where texts stand: clear of nodes, lines and each other if they can ----------------------------------------------


#: how bad it is for a text to stand on a line, per point of the line that it covers (an area, as overlaps are)
ON_LINE = 90.0
#: from so many lines on texts stand in the middle of lines and at the first side: looking for better places takes long
MANY_TEXTS = 70
#: the points of a line that are looked at: the ends, where heads are, more closely
_POINTS = (0.0, 0.04, 0.08, 0.12, 0.18, *(k / 20 for k in range(5, 16)), 0.82, 0.88, 0.92, 0.96, 1.0)


def ends(at: Mapping[str, Point], line: Drawn) -> tuple[Point, Point | None, Point]:
    """Where a line begins, over which point it runs, and where it ends.  ``at``: the middles of the nodes."""
    begin, end = at[line.arc.place], at[line.arc.transition]
    near = border(begin, node_size(line.arc.place), line.bend or end, True)
    return near, line.bend, border(end, node_size(line.arc.transition), line.bend or begin, False)


def positions(page: Page) -> dict[str, Point]:
    """The middles of the nodes of a page."""
    found = {p.name: p.at or (0.0, 0.0) for p in page.places}
    return found | {t.name: t.at or (0.0, 0.0) for t in page.transitions}


@dataclass
class Labels:
    """The texts of one page.  ``taken``: the boxes of nodes and of what was placed so far."""

    page: Page
    lines: Sequence[Drawn]
    taken: list[Box] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.at = positions(self.page)
        self.taken += [(*point, *node_size(name)) for name, point in self.at.items()]
        self.ends = [ends(self.at, line) for line in self.lines]
        points = [(*along(*line, part), k) for k, line in enumerate(self.ends) for part in _POINTS]
        #: points of lines with the numbers of these, from low to high
        self.points = sorted(points, key=itemgetter(1))
        self.heights = [y for _, y, _ in self.points]
        self.boxes = {t.name for t in self.page.transitions}

    def beside(self, node: str, text: Sequence[str], sides: Sequence[str]) -> Point:
        """The middle of a text beside a node: at the first of ``sides`` that is as free as any other.

        Sides are named by the points of the compass: ``n`` is above the middle, ``ne`` at the upper right corner.
        """
        size = text_size(text)
        sides = sides if len(self.lines) < MANY_TEXTS else sides[:1]
        inset = 0.0 if node in self.boxes else 4.0
        places = [
            (_beside(self.at[node], node_size(node), size, side, inset), 25.0 * k) for k, side in enumerate(sides)
        ]
        best = places[0][0]
        if len(places) > 1:
            best = min(places, key=lambda place: place[1] + self._badness((*place[0], *size)))[0]
        self.taken.append((*best, *size))
        return best

    def on_lines(self, texts: Sequence[str], wrap: bool = True) -> list[Point]:
        """The middle of each line's inscription.  ``wrap``: long ones go over several lines."""
        found = []
        for k, (line, text) in enumerate(zip(self.ends, texts, strict=True)):
            size = text_size(wrapped(text) if wrap else [text])
            if len(self.ends) >= MANY_TEXTS:
                best = along(*line, 0.5)
            else:
                best = self._best(line, size, k)
            found.append(best)
            self.taken.append((*best, *size))
        return found

    def _best(self, line: tuple[Point, Point | None, Point], size: Point, own: int) -> Point:
        """The station with the least cost; from the middle on, until being so far away costs too much alone."""
        stations = sorted(_stations(line, size))
        least, best = inf, stations[0][1]
        for far, point in stations:
            if far >= least:
                break
            cost = far + self._badness((*point, *size), own)
            if cost < least:
                least, best = cost, point
        return best

    def _badness(self, box: Box, own: int | None = None) -> float:
        """What a text in ``box`` covers of nodes, other texts and lines; ``own``: the line that it belongs to."""
        x, y, w, h = box
        wide, high, covered = w / 2 + 1, h / 2 + 1, 0
        # the heights, which numbers of floating point may round, are compared below
        first, last = bisect_left(self.heights, y - high - 1), bisect_right(self.heights, y + high + 1)
        for px, py, k in self.points[first:last]:
            if abs(px - x) < wide and abs(py - y) < high and k != own:
                covered += 1
        return cover(box, self.taken) * 2 + covered * ON_LINE


def _beside(at: Point, node: Point, text: Point, side: str, inset: float) -> Point:
    """``inset``: how far a text at a corner may reach into the rectangle around the node: ellipses are not there."""
    (x, y), (w, h), (tw, th) = at, node, text
    dy = (h + th) / 2 + 2
    match side:
        case "n" | "s":
            return x, y + (dy if side == "n" else -dy)
        case "e" | "w":
            off = (w + tw) / 2 + 5
            return x + (off if side == "e" else -off), y
    off = (w + tw) / 2 - 2 * inset
    return x + (off if side.endswith("e") else -off), y + (dy - inset if side.startswith("n") else inset - dy)


def _stations(line: tuple[Point, Point | None, Point], size: Point) -> Iterator[tuple[float, Point]]:
    """Points on and beside a line, each with how much it costs to be so far from its middle."""
    aside = size[0] / 2 + 6
    for part in (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8, 0.14, 0.86):
        x, y = along(*line, part)
        for dy in (0.0, 11.0, -11.0, 20.0, -20.0):
            yield abs(part - 0.5) * 500 + abs(dy) * 9, (x, y + dy)
        for dx, dy in ((aside, 0.0), (-aside, 0.0), (aside, 14.0), (aside, -14.0), (-aside, 14.0), (-aside, -14.0)):
            yield abs(part - 0.5) * 500 + 150 + abs(dy), (x + dx, y + dy)


def cover(box: Box, others: Iterable[Box]) -> float:
    """The area that ``box`` shares with others."""
    x, y, w, h = box
    area = 0.0
    for x2, y2, w2, h2 in others:
        dx = (w + w2) / 2 - abs(x - x2)
        dy = (h + h2) / 2 - abs(y - y2)
        if dx > 0 and dy > 0:
            area += dx * dy
    return area
