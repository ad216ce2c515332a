"""Statistics of the items so far; nulls are ignored (pipes.md, 4.3)."""

from __future__ import annotations

from occurs.pipes import tree
from occurs.pipes.box import Box
from occurs.pipes.constants import whole
from occurs.pipes.pipe import Pipe


def mean(x: Pipe) -> Pipe:
    """Their mean."""
    return moment(x, 1)


def moment(x: Pipe, n: int) -> Pipe:
    """The mean of x^n."""
    return Box(tree.Moment(whole(n, 0, "moment")), sources=[x]).out()


def standard_deviation(x: Pipe) -> Pipe:
    """Their population standard deviation."""
    return Box(tree.Deviation(), sources=[x]).out()


def count(x: Pipe) -> Pipe:
    """How many there were, nulls included."""
    return Box(tree.Count(), sources=[x]).out()
