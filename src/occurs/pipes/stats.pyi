"""Statistics of the items so far; nulls are ignored (pipes.md, 4.3)."""

# made by tools/pipes_stubs.py: do not edit
from occurs.pipes.pipe import Pipe

def mean(x: Pipe) -> Pipe:
    """The mean of the items so far."""

def moment(x: Pipe, n: int) -> Pipe:
    """The mean of x^n over the items so far."""

def standard_deviation(x: Pipe) -> Pipe:
    """The population standard deviation of the items so far."""

def count(x: Pipe) -> Pipe:
    """The number of items so far, including nulls."""
