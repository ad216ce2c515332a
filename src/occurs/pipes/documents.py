"""The processors of documents, of plots, and of what is printed (pipes.md, 4.8)."""

from __future__ import annotations

from dataclasses import dataclass

from occurs.pipes.graph import Processor


@dataclass(frozen=True)
class Xml(Processor):
    """``THE XML OF p``; ``bad``: ``error`` or ``null``."""

    bad: str = "error"


@dataclass(frozen=True)
class Json(Processor):
    """``THE JSON OF p``."""

    bad: str = "error"


@dataclass(frozen=True)
class Tuples(Processor):
    """``THE TUPLES OF p``: the first line names the columns."""


@dataclass(frozen=True)
class Regex(Processor):
    """``REGEX pattern WITH NAMES ..``: a tuple of the groups, in their order; null if nothing matches."""

    pattern: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Plot(Processor):
    """One PNG per item; ``what``: ``scatter heatmap histogram``; ``size`` in pixels; ``bins`` of a histogram."""

    what: str
    title: str = ""
    size: tuple[int, int] = (640, 480)
    bins: int = 10


@dataclass(frozen=True)
class Print(Processor):
    """``PRINT p``: passes the items through and writes them to stderr."""
