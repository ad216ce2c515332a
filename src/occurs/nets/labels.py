"""Where the texts of a drawing stand: beside nodes and on arcs, clear of nodes, lines and each other if they can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from occurs.nets.net import Page
from occurs.nets.shapes import Box, Drawn, Point, along, border, node_size, text_size, wrapped

#: how bad it is for a text to stand on a line, per point of the line that it covers (an area, as overlaps are)
ON_LINE = 90.0
#: from so many lines on texts stand in the middle of lines and at the first side: looking for better places takes long
MANY = 70
#: the points of a line that are looked at: the ends, where heads are, more closely
_POINTS = (0.0, 0.04, 0.08, 0.12, 0.18, *(k / 20 for k in range(5, 16)), 0.82, 0.88, 0.92, 0.96, 1.0)


def ends(page: Page, line: Drawn) -> tuple[Point, Point | None, Point]:
    """Where a line begins, over which point it runs, and where it ends."""
    at = positions(page)
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
        self.ends = [ends(self.page, line) for line in self.lines]
        self.points = [[along(*line, part) for part in _POINTS] for line in self.ends]
        self.boxes = {t.name for t in self.page.transitions}

    def beside(self, node: str, text: Sequence[str], sides: Sequence[str]) -> Point:
        """The middle of a text beside a node: at the first of ``sides`` that is as free as any other.

        Sides are named by the points of the compass: ``n`` is above the middle, ``ne`` at the upper right corner.
        """
        size = text_size(text)
        sides = sides if len(self.lines) < MANY else sides[:1]
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
            if len(self.ends) >= MANY:
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
        covered = sum(
            abs(px - x) < w / 2 + 1 and abs(py - y) < h / 2 + 1
            for k, points in enumerate(self.points)
            if k != own
            for px, py in points
        )
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
