"""The processors in Python: boxes, methods of pipes, functions."""

# made by tools/pipes_stubs.py: do not edit
from collections.abc import Callable
from typing import Any

from occurs.pipes.box import Box
from occurs.pipes.pipe import Pipe

__all__ = [
    "Collect",
    "CollectMap",
    "Count",
    "Cumulate",
    "DeadTime",
    "Decimate",
    "Each",
    "Every",
    "Filter",
    "First",
    "Freeze",
    "Insert",
    "Json",
    "Last",
    "Merge",
    "Moment",
    "Noise",
    "Pack",
    "Peaks",
    "Persist",
    "Plateaus",
    "Predicates",
    "Print",
    "Regex",
    "Repeat",
    "RepeatBy",
    "Reset",
    "Slice",
    "SliceEach",
    "SliceLast",
    "Smooth",
    "StandardDeviation",
    "StopWhen",
    "Threshold",
    "TravelRise",
    "Trim",
    "Tuples",
    "Unpack",
    "Where",
    "Xml",
    "collect_map",
]

class Methods:
    """The processors as methods of pipes."""

    def cumulate(self, function: Any, start: Any = None) -> Pipe:
        """Combines the items so far: o_i = f(o_{i-1}, x_i) with o_{-1} = start. ``start`` None: the default of the
        function (4.3)."""

    def decimate(self, n: int, last: bool = False) -> Pipe:
        """Every n-th item: x_0, x_n, x_2n ..; ``last``: also the last item of the trace."""

    def freeze(self) -> Pipe:
        """The first item, repeated for every item."""

    def trim(self, n: int) -> Pipe:
        """Skips the first n items."""

    def filter(self, guard: Pipe) -> Pipe:
        """The items for which the item of the guard (the last input) at the same position is true."""

    def slice(self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None) -> Pipe:
        """Runs ``inner`` separately for every key; emits, after every item, the map {key: newest item of
        ``inner``}."""

    def slice_each(self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None) -> Pipe:
        """A tuple (key, value) for every item that a slice emits."""

    def slice_last(self, key: Any, inner: Callable[..., Any], explode: bool = False, until: Any = None) -> Pipe:
        """The list of the newest items of the slices in which an item causes output."""

    def first(self, n: int = 1) -> Pipe:
        """The first n items; then the trace ends."""

    def last(self) -> Pipe:
        """The last item, emitted at the end of the trace."""

    def every(self, width: Any) -> Pipe:
        """The first item, then each first item that is at least a duration (``"10 s"``) later than the last one
        kept."""

    def where(self, condition: Any) -> Pipe:
        """The items for which a function is true."""

    def stop_when(self, condition: Any) -> Pipe:
        """The items before the first one for which a function is true."""

    def insert(self, n: int, value: Any) -> Pipe:
        """Inserts a constant n times before the first item."""

    def pack(self, guard: Pipe) -> Pipe:
        """Emits the list of the items so far when the guard (input 1) is true; the next list starts with this
        item."""

    def unpack(self) -> Pipe:
        """The elements of each list."""

    def each(self, inner: Callable[..., Any]) -> Pipe:
        """The last item of ``inner`` on the elements of each list."""

    def reset_by(self, guard: Pipe, inner: Callable[..., Any]) -> Pipe:
        """Emits the last item of ``inner`` when the guard (input 1) is true, and restarts ``inner``."""

    def collect_list(self) -> Pipe:
        """The list of the items so far."""

    def collect_set(self) -> Pipe:
        """The set of the items so far."""

    def collect_bag(self) -> Pipe:
        """The bag of the items so far."""

    def predicates(self, *predicates: str) -> Pipe:
        """The predicates that the items so far assert, as a tuple: the set of every domain, then of every
        predicate. An item is a list or a tuple: the name of a predicate, then its arguments."""

    def xml(self, on_bad: str = "error") -> Pipe:
        """Parses texts as XML documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    def json(self, on_bad: str = "error") -> Pipe:
        """Parses texts as JSON documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    def tuples(self) -> Pipe:
        """Parses lines of CSV as tuples; the first line names the columns."""

    def regex(self, pattern: str, *names: str) -> Pipe:
        """A tuple with the groups of the first match of a regular expression."""

    def print(self) -> Pipe:
        """Passes the items through and writes them to stderr."""

class Cumulate(Box):
    """Combines the items so far: o_i = f(o_{i-1}, x_i) with o_{-1} = start. ``start`` None: the default of the
    function (4.3)."""

    def __init__(self, function: Any, start: Any = None, *, name: str | None = None) -> None: ...

class Decimate(Box):
    """Every n-th item: x_0, x_n, x_2n ..; ``last``: also the last item of the trace."""

    def __init__(self, n: int, last: bool = False, *, name: str | None = None) -> None: ...

class Freeze(Box):
    """The first item, repeated for every item."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Trim(Box):
    """Skips the first n items."""

    def __init__(self, n: int, *, name: str | None = None) -> None: ...

class Filter(Box):
    """The items for which the item of the guard (the last input) at the same position is true."""

    def __init__(self, n: int = 2, *, name: str | None = None) -> None: ...

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
    ) -> None: ...

class SliceEach(Slice):
    """A tuple (key, value) for every item that a slice emits."""

    def __init__(
        self,
        key: Any,
        inner: Callable[..., Any],
        explode: bool = False,
        until: Any = None,
        *,
        name: str | None = None,
    ) -> None: ...

class SliceLast(Slice):
    """The list of the newest items of the slices in which an item causes output."""

    def __init__(
        self,
        key: Any,
        inner: Callable[..., Any],
        explode: bool = False,
        until: Any = None,
        *,
        name: str | None = None,
    ) -> None: ...

class First(Box):
    """The first n items; then the trace ends."""

    def __init__(self, n: int = 1, *, name: str | None = None) -> None: ...

class Last(Box):
    """The last item, emitted at the end of the trace."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Every(Box):
    """The first item, then each first item that is at least a duration (``"10 s"``) later than the last one
    kept."""

    def __init__(self, width: Any, *, name: str | None = None) -> None: ...

class Where(Box):
    """The items for which a function is true."""

    def __init__(self, condition: Any, *, name: str | None = None) -> None: ...

class StopWhen(Box):
    """The items before the first one for which a function is true."""

    def __init__(self, condition: Any, *, name: str | None = None) -> None: ...

class Merge(Box):
    """The items of n inputs in the order of their steps."""

    def __init__(self, n: int = 2, *, name: str | None = None) -> None: ...

class Insert(Box):
    """Inserts a constant n times before the first item."""

    def __init__(self, n: int, value: Any, *, name: str | None = None) -> None: ...

class Repeat(Box):
    """Repeats each item n times."""

    def __init__(self, n: int, *, name: str | None = None) -> None: ...

class RepeatBy(Box):
    """Repeats each item of input 0; the item of input 1 is the number of repetitions."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Pack(Box):
    """Emits the list of the items so far when the guard (input 1) is true; the next list starts with this
    item."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Unpack(Box):
    """The elements of each list."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Each(Box):
    """The last item of ``inner`` on the elements of each list."""

    def __init__(self, inner: Callable[..., Any], *, name: str | None = None) -> None: ...

class Reset(Box):
    """Emits the last item of ``inner`` when the guard (input 1) is true, and restarts ``inner``."""

    def __init__(self, inner: Callable[..., Any], *, name: str | None = None) -> None: ...

class Collect(Box):
    """The list, set or bag of the items so far; ``into``: ``list set bag``."""

    def __init__(self, into: str = "list", *, name: str | None = None) -> None: ...

class CollectMap(Box):
    """The map from the keys (input 0) to the values (input 1) so far."""

    def __init__(self, *, name: str | None = None) -> None: ...

def collect_map(keys: Pipe, values: Pipe) -> Pipe:
    """The map from the keys (input 0) to the values (input 1) so far."""

class Predicates(Box):
    """The predicates that the items so far assert, as a tuple: the set of every domain, then of every
    predicate. An item is a list or a tuple: the name of a predicate, then its arguments."""

    def __init__(self, *predicates: str, name: str | None = None) -> None: ...

class Moment(Box):
    """The mean of x^n of the items so far; nulls are ignored."""

    def __init__(self, n: int = 1, *, name: str | None = None) -> None: ...

class StandardDeviation(Box):
    """The population standard deviation of the items so far."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Count(Box):
    """The number of items so far, including nulls."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Threshold(Box):
    """Each item that is greater than the limit; otherwise 0."""

    def __init__(self, limit: float, *, name: str | None = None) -> None: ...

class Smooth(Box):
    """The mean of the last n items, starting with item n-1."""

    def __init__(self, n: int, *, name: str | None = None) -> None: ...

class Peaks(Box):
    """Each item that is greater than the r items before it and not less than the r items after it; otherwise
    0."""

    def __init__(self, r: int = 1, *, name: str | None = None) -> None: ...

class Plateaus(Box):
    """The mean of the last n items if they differ by at most the tolerance; otherwise 0."""

    def __init__(self, n: int, tolerance: float = 0, *, name: str | None = None) -> None: ...

class DeadTime(Box):
    """Sets the next n items to 0 after every item that is not zero."""

    def __init__(self, n: int, *, name: str | None = None) -> None: ...

class TravelRise(Box):
    """The signed height of the last n items if they travel further than they rise (a peak or a dip); otherwise
    0."""

    def __init__(self, n: int, slack: float = 1, *, name: str | None = None) -> None: ...

class Persist(Box):
    """Holds the item with the greatest absolute value for n more items, until a greater one comes; then 0."""

    def __init__(self, n: int, *, name: str | None = None) -> None: ...

class Noise(Box):
    """Adds pseudo-random noise between -spread/2 and spread/2 to each item; the same seed gives the same
    noise."""

    def __init__(self, spread: float, seed: int = 0, *, name: str | None = None) -> None: ...

class Xml(Box):
    """Parses texts as XML documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    def __init__(self, on_bad: str = "error", *, name: str | None = None) -> None: ...

class Json(Box):
    """Parses texts as JSON documents; ``on_bad="null"``: null for malformed texts instead of an error."""

    def __init__(self, on_bad: str = "error", *, name: str | None = None) -> None: ...

class Tuples(Box):
    """Parses lines of CSV as tuples; the first line names the columns."""

    def __init__(self, *, name: str | None = None) -> None: ...

class Regex(Box):
    """A tuple with the groups of the first match of a regular expression."""

    def __init__(self, pattern: str, *names: str, name: str | None = None) -> None: ...

class Print(Box):
    """Passes the items through and writes them to stderr."""

    def __init__(self, *, name: str | None = None) -> None: ...
