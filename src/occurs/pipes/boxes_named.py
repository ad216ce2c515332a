"""More processors as boxes, to be connected by hand: of documents, statistics and signals (pipes.md, 2.3, 4.3, 4.8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occurs.pipes import tree
from occurs.pipes.box import Box
from occurs.pipes.boxes import Slice
from occurs.pipes.constants import constant, whole
from occurs.pipes.pipe import on_bad_named


class Mutator(Box):
    """A constant, once per item."""

    def __init__(self, value: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Lift((constant(value),)), name=name)


class SliceEach(Slice):
    """A tuple (key, value) per item that a slice gives."""

    def __init__(
        self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None, *, name: str | None = None
    ) -> None:
        super().__init__(key, inner, "each", explode, until, name=name)


class SliceLast(Slice):
    """The list of the newest items of the slices that an item makes give something."""

    def __init__(
        self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None, *, name: str | None = None
    ) -> None:
        super().__init__(key, inner, "last", explode, until, name=name)


class Count(Box):
    """How many items there were, nulls included."""

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
    """x if x > limit, else 0."""

    def __init__(self, limit: float, *, name: str | None = None) -> None:
        super().__init__(tree.Threshold(limit), name=name)


class Smooth(Box):
    """The mean of the last n, from item n-1 on."""

    def __init__(self, n: int, *, name: str | None = None) -> None:
        super().__init__(tree.Smooth(whole(n, 1, "Smooth")), name=name)


class Peaks(Box):
    """x if it is greater than the r items before and not less than the r items after, else 0."""

    def __init__(self, r: int = 1, *, name: str | None = None) -> None:
        super().__init__(tree.Peaks(whole(r, 1, "Peaks")), name=name)


class Plateaus(Box):
    """The mean of the last n if they differ by no more than the tolerance, else 0."""

    def __init__(self, n: int, tolerance: float = 0, *, name: str | None = None) -> None:
        super().__init__(tree.Plateaus(whole(n, 1, "Plateaus"), tolerance), name=name)


class DeadTime(Box):
    """After an item that is not zero the next n are 0."""

    def __init__(self, n: int, *, name: str | None = None) -> None:
        super().__init__(tree.DeadTime(whole(n, 0, "DeadTime")), name=name)


class Xml(Box):
    """XML documents of texts; ``on_bad="null"``: null of what is malformed."""

    def __init__(self, on_bad: str = "error", *, name: str | None = None) -> None:
        super().__init__(tree.Xml(on_bad_named(on_bad)), name=name)


class Json(Box):
    """JSON documents of texts; ``on_bad="null"``: null of what is malformed."""

    def __init__(self, on_bad: str = "error", *, name: str | None = None) -> None:
        super().__init__(tree.Json(on_bad_named(on_bad)), name=name)


class Tuples(Box):
    """Tuples of lines of CSV; the first line names the columns."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Tuples(), name=name)


class Regex(Box):
    """A tuple of the groups of the first match."""

    def __init__(self, pattern: str, *names: str, name: str | None = None) -> None:
        super().__init__(tree.Regex(pattern, names), name=name)


class Print(Box):
    """The items as they are; they are also written to stderr."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Print(), name=name)
