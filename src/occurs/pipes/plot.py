"""Plots: one PNG per item (pipes.md, 4.8)."""

from __future__ import annotations

from occurs.operators.process import tree
from occurs.pipes.box import Box
from occurs.pipes.constants import whole
from occurs.pipes.pipe import Pipe


def scatter(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480)) -> Pipe:
    """A scatter plot; each item is a collection of (x, y)."""
    return Box(tree.Plot("scatter", title, size), sources=[p]).out()


def heatmap(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480)) -> Pipe:
    """A heat map; each item is a list of rows of numbers, or a map (x, y) -> z."""
    return Box(tree.Plot("heatmap", title, size), sources=[p]).out()


def histogram(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480), bins: int = 10) -> Pipe:
    """A histogram; each item is a collection of numbers."""
    return Box(tree.Plot("histogram", title, size, whole(bins, 1, "histogram")), sources=[p]).out()
