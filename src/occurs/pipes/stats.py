"""Statistics of the items so far; nulls are ignored (pipes.md, 4.3)."""

from __future__ import annotations

from occurs.operators.process import tree
from occurs.pipes.box import Box
from occurs.pipes.constants import whole
from occurs.pipes.pipe import Pipe


def mean(x: Pipe) -> Pipe:
    """The mean of the items so far."""
    return moment(x, 1)


def moment(x: Pipe, n: int) -> Pipe:
    """The mean of x^n over the items so far."""
    return Box(tree.Moment(whole(n, 0, "moment")), sources=[x]).out()


def standard_deviation(x: Pipe) -> Pipe:
    """The population standard deviation of the items so far."""
    return Box(tree.Deviation(), sources=[x]).out()


def count(x: Pipe) -> Pipe:
    """The number of items so far, including nulls."""
    return Box(tree.Count(), sources=[x]).out()
