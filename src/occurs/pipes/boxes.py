"""Processors as boxes, to be connected by hand (pipes.md, 2.3): one class each, with the names of 4.2 and 4.3.

Functions are given as ``fn(..)``, inner processors as callables from pipes to pipes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from occurs.operators.process import tree
from occurs.operators.process.kinds import ANY
from occurs.pipes.box import Box
from occurs.pipes.callables import as_function
from occurs.pipes.constants import constant, duration, whole
from occurs.pipes.pipe import _operand, cumulative, inner_of, on_bad_named


class _Plain(Box):
    """A box without parameters."""

    of: ClassVar[type[tree.Processor]]
    ports: ClassVar[int] = 1

    def __init__(self, *, name: str | None = None) -> None:
        super().__init__(self.of(), self.ports, 1, name=name)


class Cumulate(Box):
    """Combines the items so far with a function, such as a running sum."""

    def __init__(self, function: Any, start: Any = None, *, name: str | None = None) -> None:
        super().__init__(cumulative(function, start), name=name)


class Decimate(Box):
    """Every n-th item: x_0, x_n, x_2n .."""

    def __init__(self, n: int, last: bool = False, *, name: str | None = None) -> None:
        super().__init__(tree.Decimate(whole(n, 1, "Decimate"), last), name=name)


class Freeze(_Plain):
    """The first item, repeated for every item."""

    of = tree.Freeze


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


class First(Box):
    """The first n items."""

    def __init__(self, n: int = 1, *, name: str | None = None) -> None:
        super().__init__(tree.First(whole(n, 0, "First")), name=name)


class Last(_Plain):
    """The last item, emitted at the end of the trace."""

    of = tree.Last


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


class RepeatBy(_Plain):
    """Repeats each item of input 0; the item of input 1 is the number of repetitions."""

    of, ports = tree.RepeatBy, 2


class Pack(_Plain):
    """Lists of the items of input 0; a new list starts where input 1 is true."""

    of, ports = tree.Pack, 2


class Unpack(_Plain):
    """The elements of each list."""

    of = tree.Unpack


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


class CollectMap(_Plain):
    """The map from the items of input 0 to those of input 1."""

    of, ports = tree.CollectMap, 2


class Mutator(Box):
    """A constant, repeated for every item."""

    def __init__(self, value: Any, *, name: str | None = None) -> None:
        super().__init__(tree.Lift((constant(value),)), name=name)


class Count(_Plain):
    """The number of items so far, including nulls."""

    of = tree.Count


class Moment(Box):
    """The mean of x^n of the items so far."""

    def __init__(self, n: int = 1, *, name: str | None = None) -> None:
        super().__init__(tree.Moment(whole(n, 0, "Moment")), name=name)


class StandardDeviation(_Plain):
    """The population standard deviation of the items so far."""

    of = tree.Deviation


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


class Tuples(_Plain):
    """Parses lines of CSV as tuples; the first line names the columns."""

    of = tree.Tuples


class Regex(Box):
    """A tuple with the groups of the first match of a regular expression."""

    def __init__(self, pattern: str, *names: str, name: str | None = None) -> None:
        super().__init__(tree.Regex(pattern, names), name=name)


class Print(_Plain):
    """Passes the items through and writes them to stderr."""

    of = tree.Print
