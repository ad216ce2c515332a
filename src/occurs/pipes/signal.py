"""Processors of signals (pipes.md, 4.3)."""

from __future__ import annotations

from occurs.operators.process import tree
from occurs.pipes.box import Box
from occurs.pipes.constants import whole
from occurs.pipes.pipe import Pipe


def threshold(x: Pipe, limit: float) -> Pipe:
    """Each item that is greater than the limit; otherwise 0."""
    return Box(tree.Threshold(limit), sources=[x]).out()


def smooth(x: Pipe, n: int) -> Pipe:
    """The mean of the last n items, starting with item n-1."""
    return Box(tree.Smooth(whole(n, 1, "smooth")), sources=[x]).out()


def peaks(x: Pipe, r: int = 1) -> Pipe:
    """Each item that is greater than the r items before it and not less than the r items after it; otherwise 0."""
    return Box(tree.Peaks(whole(r, 1, "peaks")), sources=[x]).out()


def plateaus(x: Pipe, n: int, tolerance: float = 0) -> Pipe:
    """The mean of the last n items if they differ by at most the tolerance; otherwise 0."""
    return Box(tree.Plateaus(whole(n, 1, "plateaus"), tolerance), sources=[x]).out()


def dead_time(x: Pipe, n: int) -> Pipe:
    """Sets the next n items to 0 after every item that is not zero."""
    return Box(tree.DeadTime(whole(n, 0, "dead_time")), sources=[x]).out()
