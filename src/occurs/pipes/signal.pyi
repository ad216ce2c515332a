"""Processors of signals (pipes.md, 4.3)."""

# made by tools/pipes_stubs.py: do not edit
from occurs.pipes.pipe import Pipe

def threshold(x: Pipe, limit: float) -> Pipe:
    """Each item that is greater than the limit; otherwise 0."""

def smooth(x: Pipe, n: int) -> Pipe:
    """The mean of the last n items, starting with item n-1."""

def peaks(x: Pipe, r: int = 1) -> Pipe:
    """Each item that is greater than the r items before it and not less than the r items after it; otherwise
    0."""

def plateaus(x: Pipe, n: int, tolerance: float = 0) -> Pipe:
    """The mean of the last n items if they differ by at most the tolerance; otherwise 0."""

def dead_time(x: Pipe, n: int) -> Pipe:
    """Sets the next n items to 0 after every item that is not zero."""

def travel_rise(x: Pipe, n: int, slack: float = 1) -> Pipe:
    """The signed height of the last n items if they travel further than they rise (a peak or a dip); otherwise
    0."""

def persist(x: Pipe, n: int) -> Pipe:
    """Holds the item with the greatest absolute value for n more items, until a greater one comes; then 0."""

def noise(x: Pipe, spread: float, seed: int = 0) -> Pipe:
    """Adds pseudo-random noise between -spread/2 and spread/2 to each item; the same seed gives the same
    noise."""
