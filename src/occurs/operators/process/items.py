"""What flows between operators: items with their steps, ends of traces, and what a call knows (pipes.md, 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from occurs.operators.process import kernels
from occurs.operators.process.columns import Col, concat, null_col

if TYPE_CHECKING:
    from occurs.operators.process.operator import Fronts

#: no row numbers, codes or steps
NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Ends:
    """The traces that end in a call: ``code`` (each once) at ``step``; no item of theirs comes after this call."""

    code: np.ndarray
    step: np.ndarray

    def __len__(self) -> int:
        return len(self.code)

    @classmethod
    def none(cls) -> Ends:
        return NO_ENDS

    @classmethod
    def join(cls, parts: list[Ends]) -> Ends:
        parts = [p for p in parts if p is not NO_ENDS and len(p)]
        if len(parts) <= 1:
            return parts[0] if parts else NO_ENDS
        return cls(np.concatenate([p.code for p in parts]), np.concatenate([p.step for p in parts]))


NO_ENDS = Ends(NO_ROWS, NO_ROWS)


@dataclass(slots=True, eq=False)
class Items:
    """New items of a pipe, those of each trace in their order.

    ``step``, ``about``: numbers of events; ``code``: the trace of each (None: all are of trace 0, the only one).
    """

    value: Col
    step: np.ndarray
    about: np.ndarray
    code: np.ndarray | None = None
    ends: Ends = NO_ENDS

    def __len__(self) -> int:
        return len(self.step)

    @property
    def codes(self) -> np.ndarray:
        return np.zeros(len(self.step), np.int64) if self.code is None else self.code

    @classmethod
    def none(cls, ends: Ends = NO_ENDS, single: bool = True) -> Items:
        return cls(null_col(0), NO_ROWS, NO_ROWS, None if single else NO_ROWS, ends)

    def at(self, rows: np.ndarray | slice, value: Col, ends: Ends = NO_ENDS) -> Items:
        """Items of these values, with the steps and traces of ``rows``."""
        code = None if self.code is None else self.code[rows]
        step = self.step[rows]
        about = step if self.about is self.step else self.about[rows]
        return Items(value, step, about, code, ends)

    def take(self, rows: np.ndarray) -> Items:
        """These items (without ends)."""
        return self.at(rows, self.value.take(rows))

    def filter(self, mask: np.ndarray) -> Items:
        """These items, and the ends."""
        if len(mask) and mask.all():
            return self
        return self.at(mask, self.value.filter(mask), self.ends)

    def part(self, first: int, last: int) -> Items:
        """The items from ``first`` up to, but without ``last`` (without ends)."""
        return self.at(slice(first, last), self.value.slice(first, last))

    def with_value(self, value: Col) -> Items:
        return Items(value, self.step, self.about, self.code, self.ends)

    def with_ends(self, ends: Ends) -> Items:
        return self if ends is self.ends else Items(self.value, self.step, self.about, self.code, ends)

    @classmethod
    def join(cls, parts: list[Items]) -> Items:
        """One behind another, with the ends of all."""
        ends = Ends.join([p.ends for p in parts])
        full = [p for p in parts if len(p)]
        if len(full) <= 1:
            return (full or parts)[0].with_ends(ends)
        code = None if all(p.code is None for p in full) else np.concatenate([p.codes for p in full])
        step = np.concatenate([p.step for p in full])
        about = step if all(p.about is p.step for p in full) else np.concatenate([p.about for p in full])
        return cls(concat([p.value for p in full]), step, about, code, ends)

    def by_step(self) -> Items:
        """Sorted by step; those of one step stay in their order."""
        if len(self.step) < 2 or (self.step[1:] >= self.step[:-1]).all():
            return self
        return replace(self.take(np.argsort(self.step, kind="stable")), ends=self.ends)


#: the values of a variable for traces
Variable = Callable[[np.ndarray], Col]


@dataclass(frozen=True)
class CallSteps:
    """What operators know of a call.

    ``base``: the first step that may occur in it, ``times``: the ticks of the steps from it on; ``instances``: codes of
    traces are less; ``variables``: the value of each ``$name`` for every trace.  ``steps``: the steps that ``times``
    are of, ascending, where they do not follow one another.
    """

    base: int
    times: np.ndarray
    instances: int = 1
    variables: Mapping[str, Variable] = field(default_factory=dict)
    steps: np.ndarray | None = None
    #: the steps of a source that has all events: its times are ``times``
    whole: np.ndarray | None = None

    def time(self, steps: np.ndarray) -> np.ndarray:
        """The ticks of steps of this call."""
        if steps is self.whole:
            return self.times
        if self.steps is not None:
            return self.times[np.searchsorted(self.steps, steps)]
        return self.times[steps - self.base]


class Variables(dict[str, Any]):
    """The variables of a trace, looked up when somebody asks."""

    def __init__(self, call: CallSteps, code: int) -> None:
        super().__init__()
        self.call, self.code = call, np.array([code])

    def __missing__(self, name: str) -> Any:
        self[name] = self.call.variables[name](self.code).pylist()[0]
        return self[name]

    def items(self) -> Any:
        return [(n, self[n]) for n in self.call.variables]


def ranges(first: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows ``first[i]`` to before ``first[i] + size[i]`` of every i, one i after the other: the i, and the row."""
    which = np.repeat(np.arange(len(size)), size)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(size) - size, size) + first[which]


def first_rows(codes: np.ndarray) -> np.ndarray:
    """The row where its stretch of equal codes begins, for each."""
    begins = np.ones(len(codes), np.bool_)
    begins[1:] = codes[1:] != codes[:-1]
    return np.maximum.accumulate(np.where(begins, np.arange(len(codes)), 0))


def last_of(codes: np.ndarray) -> np.ndarray:
    """The rows that are the last of their code, in the order of the codes."""
    if not len(codes):
        return NO_ROWS
    most = int(codes.max()) + 1
    if most <= 4 * len(codes) + 1024:
        at = np.full(most, -1)
        kernels.last_rows(codes, at)
        return at[at >= 0]
    order = np.argsort(codes, kind="stable")
    sorted_ = codes[order]
    last = np.ones(len(order), np.bool_)
    last[:-1] = sorted_[1:] != sorted_[:-1]
    return order[last]


def first_of(codes: np.ndarray) -> np.ndarray:
    """The rows that are the first of their code, in the order of the codes."""
    return len(codes) - 1 - last_of(codes[::-1])


def count(counts: np.ndarray, items: Items) -> None:
    """Adds to ``counts`` how many items of each trace there are."""
    if items.code is None:
        counts[0] += len(items)
    elif len(items) * 4 < len(counts):
        np.add.at(counts, items.code, 1)
    elif len(items):
        new = np.bincount(items.code)
        counts[: len(new)] += new


def count_up(counts: np.ndarray, items: Items | Fronts) -> np.ndarray:
    """The number of each item in its trace; ``counts`` has how many there were before, by trace, and goes on."""
    if items.code is None:
        first = int(counts[0])
        counts[0] += len(items)
        return np.arange(first, first + len(items))
    out = np.empty(len(items), np.int64)
    kernels.count_up(items.code, counts, out)
    return out
