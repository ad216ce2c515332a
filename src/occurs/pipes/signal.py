"""Processors of signals (pipes.md, 4.3)."""

from __future__ import annotations

from occurs.pipes import tree
from occurs.pipes.box import Box
from occurs.pipes.constants import whole
from occurs.pipes.pipe import Pipe


def threshold(x: Pipe, limit: float) -> Pipe:
    """x if x > limit, else 0."""
    return Box(tree.Threshold(limit), sources=[x]).out()


def smooth(x: Pipe, n: int) -> Pipe:
    """The mean of the last n, from item n-1 on."""
    return Box(tree.Smooth(whole(n, 1, "smooth")), sources=[x]).out()


def peaks(x: Pipe, r: int = 1) -> Pipe:
    """x if it is greater than the r items before and not less than the r items after, else 0."""
    return Box(tree.Peaks(whole(r, 1, "peaks")), sources=[x]).out()


def plateaus(x: Pipe, n: int, tolerance: float = 0) -> Pipe:
    """The mean of the last n if they differ by no more than the tolerance, else 0."""
    return Box(tree.Plateaus(whole(n, 1, "plateaus"), tolerance), sources=[x]).out()


def dead_time(x: Pipe, n: int) -> Pipe:
    """After an item that is not zero the next n are 0."""
    return Box(tree.DeadTime(whole(n, 0, "dead_time")), sources=[x]).out()
