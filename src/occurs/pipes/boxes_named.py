"""More processors as boxes, to be connected by hand: of documents, statistics and signals (pipes.md, 2.3, 4.3, 4.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occurs.operators.process import tree
from occurs.pipes.box import Box
from occurs.pipes.boxes import Slice
from occurs.pipes.constants import constant, whole
from occurs.pipes.pipe import on_bad_named


class Mutator(Box):
    """A constant, repeated for every item."""

    def __init__(self, value: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Lift((constant(value),)), name=name)


class SliceEach(Slice):
    """A tuple (key, value) for every item that a slice emits."""

    def __init__(
        self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None, *, name: str | None = None
    ) -> None:
        super().__init__(key, inner, "each", explode, until, name=name)


class SliceLast(Slice):
    """The list of the newest items of the slices in which an item causes output."""

    def __init__(
        self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None, *, name: str | None = None
    ) -> None:
        super().__init__(key, inner, "last", explode, until, name=name)


class Count(Box):
    """The number of items so far, including nulls."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Count(), name=name)


class Moment(Box):
    """The mean of x^n of the items so far."""

    def __init__(self, n: int = 1, *, name: str | None = None) -> None:
        super().__init__(tree.Moment(whole(n, 0, "Moment")), name=name)


class StandardDeviation(Box):
    """The population standard deviation of the items so far."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Deviation(), name=name)


class Threshold(Box):
    """Each item that is greater than the limit; otherwise 0."""

    def __init__(self, limit: float, *, name: str | None = None) -> None:
        super().__init__(tree.Threshold(limit), name=name)


class Smooth(Box):
    """The mean of the last n items, starting with item n-1."""

    def __init__(self, n: int, *, name: str | None = None) -> None:
        super().__init__(tree.Smooth(whole(n, 1, "Smooth")), name=name)


class Peaks(Box):
    """Each item that is greater than the r items before it and not less than the r items after it; otherwise 0."""

    def __init__(self, r: int = 1, *, name: str | None = None) -> None:
        super().__init__(tree.Peaks(whole(r, 1, "Peaks")), name=name)


class Plateaus(Box):
    """The mean of the last n items if they differ by at most the tolerance; otherwise 0."""

    def __init__(self, n: int, tolerance: float = 0, *, name: str | None = None) -> None:
        super().__init__(tree.Plateaus(whole(n, 1, "Plateaus"), tolerance), name=name)


class DeadTime(Box):
    """Sets the next n items to 0 after every item that is not zero."""

    def __init__(self, n: int, *, name: str | None = None) -> None:
        super().__init__(tree.DeadTime(whole(n, 0, "DeadTime")), name=name)


class Xml(Box):
    """Parses texts as XML documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    def __init__(self, on_bad: str = "error", *, name: str | None = None) -> None:
        super().__init__(tree.Xml(on_bad_named(on_bad)), name=name)


class Json(Box):
    """Parses texts as JSON documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    def __init__(self, on_bad: str = "error", *, name: str | None = None) -> None:
        super().__init__(tree.Json(on_bad_named(on_bad)), name=name)


class Tuples(Box):
    """Parses lines of CSV as tuples; the first line names the columns."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Tuples(), name=name)


class Regex(Box):
    """A tuple with the groups of the first match of a regular expression."""

    def __init__(self, pattern: str, *names: str, name: str | None = None) -> None:
        super().__init__(tree.Regex(pattern, names), name=name)


class Print(Box):
    """Passes the items through and writes them to stderr."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Print(), name=name)
