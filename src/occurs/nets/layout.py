"""Where the nodes of a net stand on their pages: a grid, one column per transition, no overlaps (epl-and-nets.md, 4B).

Transitions stand in one row, in the order of the page, with a column for places between any two.  Then each place takes
the free point of the grid at which its arcs are short, run over no other node and cross few others; what a transition
takes stands rather to its left, what it gives to its right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, hypot, inf

from occurs.nets.net import Net, Page, Place, Transition
from occurs.nets.shapes import LINE, Point, arc_labels, node_size, text_size

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
