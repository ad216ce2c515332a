"""Plots: one PNG per item (pipes.md, 4.8)."""

# made by tools/pipes_stubs.py: do not edit
from occurs.pipes.pipe import Pipe

def scatter(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480)) -> Pipe:
    """A scatter plot; each item is a collection of (x, y)."""

def heatmap(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480)) -> Pipe:
    """A heat map; each item is a list of rows of numbers, or a map (x, y) -> z."""

def histogram(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480), bins: int = 10) -> Pipe:
    """A histogram; each item is a collection of numbers."""

def pie(p: Pipe, title: str = "", size: tuple[int, int] = (640, 480)) -> Pipe:
    """A pie chart; each item is a map of names to numbers."""
