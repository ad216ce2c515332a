"""Processors as boxes, to be connected by hand (pipes.md, 2.3): one class each, with the names of 4.2 and 4.3.

Functions are given as ``fn(..)``, inner processors as callables from pipes to pipes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occurs.operators.process import tree
from occurs.operators.process.kinds import ANY
from occurs.pipes.box import Box
from occurs.pipes.callables import as_function
from occurs.pipes.constants import duration, whole
from occurs.pipes.inner import inner_of
from occurs.pipes.pipe import _operand, cumulative


class Cumulate(Box):
    """Combines the items so far with a function, such as a running sum."""

    def __init__(self, function: Any, start: Any = None, *, name: str | None = None) -> None:
        super().__init__(cumulative(function, start), name=name)


class Decimate(Box):
    """Every n-th item: x_0, x_n, x_2n .."""

    def __init__(self, n: int, last: bool = False, *, name: str | None = None) -> None:
        super().__init__(tree.Decimate(whole(n, 1, "Decimate"), last), name=name)


class Freeze(Box):
    """The first item, repeated for every item."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Freeze(), name=name)


class Trim(Box):
    """Skips the first n items."""

    def __init__(self, n: int, *, name: str | None = None) -> None:
        super().__init__(tree.Trim(whole(n, 0, "Trim")), name=name)


class Filter(Box):
    """The items for which the guard, which is the last input, is true."""

    def __init__(self, n: int = 2, *, name: str | None = None) -> None:
        super().__init__(tree.Filter(), whole(n, 2, "Filter"), n - 1, name=name)


class Slice(Box):
    """Runs an inner processor separately for every key; ``form``: ``map``, ``each`` or ``last``."""

    def __init__(
        self,
        key: Any,
        inner: Callable[..., Any],
        form: str = "map",
        explode: bool = False,
        until: Any = None,
        *,
        name: str | None = None,
    ) -> None:
        end = None if until is None else as_function(until)
        phi = inner_of(inner, [ANY], "a slice")
        super().__init__(tree.Slice(as_function(key), phi, form, explode, end), name=name)


class First(Box):
    """The first n items."""

    def __init__(self, n: int = 1, *, name: str | None = None) -> None:
        super().__init__(tree.First(whole(n, 0, "First")), name=name)


class Last(Box):
    """The last item, emitted at the end of the trace."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Last(), name=name)


class Every(Box):
    """The first item, then each first item that is at least a duration later than the last one kept."""

    def __init__(self, width: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Every(duration(width)), name=name)


class Where(Box):
    """The items for which a function is true."""

    def __init__(self, condition: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Where(as_function(condition)), name=name)


class StopWhen(Box):
    """The items before the first one for which a function is true."""

    def __init__(self, condition: Any, *, name: str | None = None) -> None:
        super().__init__(tree.StopWhen(as_function(condition)), name=name)


class Merge(Box):
    """The items of n inputs in the order of their steps."""

    def __init__(self, n: int = 2, *, name: str | None = None) -> None:
        super().__init__(tree.Merge(), whole(n, 1, "Merge"), 1, name=name)


class Insert(Box):
    """Inserts a constant n times before the first item."""

    def __init__(self, n: int, value: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Insert(whole(n, 0, "Insert"), _operand(value)), name=name)


class Repeat(Box):
    """Repeats each item n times."""

    def __init__(self, n: int, *, name: str | None = None) -> None:
        super().__init__(tree.Repeat(whole(n, 0, "Repeat")), name=name)


class RepeatBy(Box):
    """Repeats each item of input 0; the item of input 1 is the number of repetitions."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.RepeatBy(), 2, 1, name=name)


class Pack(Box):
    """Lists of the items of input 0; a new list starts where input 1 is true."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Pack(), 2, 1, name=name)


class Unpack(Box):
    """The elements of each list."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.Unpack(), name=name)


class Each(Box):
    """Runs an inner processor on the elements of each list."""

    def __init__(self, inner: Callable[..., Any], *, name: str | None = None) -> None:
        super().__init__(tree.Each(inner_of(inner, [ANY], "a run on lists")), name=name)


class Reset(Box):
    """Runs an inner processor on input 0 and restarts it when input 1 is true."""

    def __init__(self, inner: Callable[..., Any], *, name: str | None = None) -> None:
        super().__init__(tree.Reset(inner_of(inner, [ANY], "a reset")), 2, 1, name=name)


class Collect(Box):
    """The list, set or bag of the items so far; ``into``: ``list set bag``."""

    def __init__(self, into: str = "list", *, name: str | None = None) -> None:
        super().__init__(tree.Collect(into), name=name)


class CollectMap(Box):
    """The map from the items of input 0 to those of input 1."""

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(tree.CollectMap(), 2, 1, name=name)
