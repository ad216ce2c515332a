"""Items, steps and ends: what flows in the reference semantics of pipes (pipes.md 4.1).

A trace is finite and whole: all its items and, if it ends, when.  What is known when is said by moments; nobody
computes one item after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from occurs.languages.esql.semantics.values import Fault

T = TypeVar("T")


class Moment(NamedTuple):
    """The step (number of an input event) at which something is known, and the time of that event.

    Closing has the step after the last event.  Inside a slice or a formula steps are counted anew; times stay.
    """

    step: int
    time: int


class Item(NamedTuple):
    """A value, the moment at which it is known, the number of the event that it speaks of."""

    value: Any
    at: Moment
    about: int


@dataclass(frozen=True)
class Trace:
    """All items, and when the trace ended; None: it is open."""

    items: tuple[Item, ...]
    end: Moment | None = None

    def __len__(self) -> int:
        return len(self.items)

    def known_at(self, at: Moment) -> Moment:
        """When something that the end decides is known, if it is not before ``at``."""
        return at if self.end is None else max(at, self.end)


Inputs = Sequence[Trace]
#: one front: an item of every input
Front = tuple[Item, ...]


def fronts(inputs: Sequence[Trace]) -> list[Front]:
    """Item i of every input, as far as all have one."""
    return list(zip(*(t.items for t in inputs)))


def with_values(trace: Trace, made: Iterable[Any]) -> Trace:
    """The trace with another value for every item."""
    return Trace(tuple(i._replace(value=v) for i, v in zip(trace.items, made)), trace.end)


def values(front: Front) -> tuple[Any, ...]:
    return tuple(i.value for i in front)


def of_front(front: Front, value: Any) -> Item:
    """An output of a front: known with its last item, about what its first input speaks of."""
    return Item(value, max(i.at for i in front), front[0].about)


def end_of(inputs: Sequence[Trace], used: Sequence[Front]) -> Moment | None:
    """When a synchronous operator ends: one input has ended and is used up."""
    last = max((i.at for i in used[-1]), default=None) if used else None
    ends = [t.end for t in inputs if t.end is not None and len(t) <= len(used)]
    return min((e if last is None else max(e, last) for e in ends), default=None)


def each(traces: Iterable[T], f: Callable[[T], Any]) -> list[Any]:
    """``f`` of every one; a Fault says of which."""
    return [numbered(i, f, x) for i, x in enumerate(traces)]


def numbered(item: int, f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)``; a Fault says that it is of this item."""
    try:
        return f(*args)
    except Fault as fault:
        if fault.item is None:
            fault.item = item
        raise


def counted(trace: Trace) -> Trace:
    """With the numbers of the items as steps."""
    items = tuple(item._replace(at=Moment(i, item.at.time)) for i, item in enumerate(trace.items))
    return replace(trace, items=items, end=None)
