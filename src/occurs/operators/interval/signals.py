"""Signals, which flow between the operators of formulas over instants and intervals (phenesthe.md, sections 4 and 5).

A formula has, per *binding* of its variables, a set of instants or of intervals.  A binding is a tuple of value codes,
one per variable (:mod:`occurs.operators.interval.values`); equal values have equal codes wherever they stand, null and
NaN bind nothing.  A *signal* says what a call has added to these sets, in any order, every element once.

Ends are int64 ticks; ``OPEN`` is the end of what still holds, later than every tick.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from occurs.model.time import NEVER, OPEN
from occurs.operators.interval.values import Values
from occurs.operators.kernels.blocks import least

#: the code in a block of lags that stands for all values of a variable
ANY = NEVER

#: one int64 (n) per variable of the formula, in the order of its ``variables``
Codes = tuple[np.ndarray, ...]


@dataclass(slots=True)
class Instants:
    """One call of a network of formulas.

    ``since``, ``frontier``: all atoms are known up to ``frontier``, up to ``since`` they were before.  ``closing``:
    nothing comes any more; then ``complete`` of every signal is ``OPEN`` and *now* is still the frontier.
    ``values``: what the codes stand for.
    """

    since: int
    frontier: int
    values: Values
    closing: bool = False

    @property
    def complete(self) -> int:
        """Up to where atoms are complete."""
        return OPEN if self.closing else self.frontier


@dataclass(frozen=True)
class Points:
    """The signal of an event formula: every (binding, instant) in (``since``, ``complete``], once."""

    codes: Codes
    time: np.ndarray
    since: int
    complete: int

    def __len__(self) -> int:
        return len(self.time)

    def take(self, at: np.ndarray) -> Points:
        """The rows ``at`` (row numbers, or booleans)."""
        return replace(self, codes=tuple([c[at] for c in self.codes]), time=self.time[at])


@dataclass(frozen=True)
class Intervals:
    """Rows of intervals [start, end]; ``end`` is ``OPEN`` throughout where they have not ended."""

    codes: Codes
    start: np.ndarray
    end: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    @cached_property
    def block(self) -> np.ndarray:
        """All columns as kernels take them (:mod:`occurs.operators.kernels.blocks`)."""
        return stacked((*self.codes, self.start, self.end))

    @staticmethod
    def of(block: np.ndarray) -> Intervals:
        """The rows of such a block."""
        if not block.shape[1]:
            return Intervals.empty(block.shape[0] - 2)
        *codes, start, end = block
        made = Intervals(tuple(codes), start, end)
        made.__dict__["block"] = block
        return made

    def take(self, at: np.ndarray | slice) -> Intervals:
        """The rows ``at`` (row numbers, booleans, or a slice)."""
        return Intervals(tuple([c[at] for c in self.codes]), self.start[at], self.end[at])

    def held(self) -> Held:
        """The rows as a table with ``start`` and ``end``."""
        return Held(self.codes, {"start": self.start, "end": self.end})

    def starts(self) -> Held:
        """The rows as a table with ``start``, as those are kept that have not ended."""
        return Held(self.codes, {"start": self.start})

    @staticmethod
    def concat(parts: Sequence[Intervals]) -> Intervals:
        parts = [p for p in parts if len(p.start)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        codes = tuple([np.concatenate(c) for c in zip(*[p.codes for p in parts])])
        return Intervals(codes, np.concatenate([p.start for p in parts]), np.concatenate([p.end for p in parts]))

    @staticmethod
    @cache
    def empty(variables: int) -> Intervals:
        nothing = np.zeros(0, np.int64)
        return Intervals((nothing,) * variables, nothing, nothing)


@dataclass(frozen=True)
class Spans:
    """The signal of a state formula, known up to ``complete``; per binding intervals share no point.

    ``closed``: those that ended in (``since``, ``complete``].  ``began``: those that began in it, closed meanwhile or
    not, with the end they have now.  ``open``: all that began at or before ``complete`` and have not ended by then
    (the operator's own table: not to be changed).
    """

    closed: Intervals
    began: Intervals
    open: Intervals
    since: int
    complete: int

    @staticmethod
    def unchanged(open: Intervals, since: int, complete: int) -> Spans:
        """Of a call in which nothing begins or ends."""
        nothing = Intervals.empty(len(open.codes))
        return Spans(nothing, nothing, open, since, complete)


@dataclass(frozen=True)
class Lag:
    """Where a dynamic formula is behind its frontier: for bindings that agree with row i of ``codes`` in ``variables``
    (some of the formula's) no interval that starts at or before ``starts[i]`` can still appear, none that ends at or
    before ``ends[i]``."""

    variables: tuple[str, ...]
    codes: Codes
    starts: np.ndarray
    ends: np.ndarray


class Lags:
    """Lags of a formula with ``variables`` in one ``block``, see :mod:`occurs.operators.kernels.blocks`; to be gone
    through like a tuple of them.

    What holds of a binding is the least over all lags that agree with it where they have a variable: a lag of one
    vessel does not touch the bindings of another one.
    """

    __slots__ = ("block", "cuts", "variables")

    def __init__(self, variables: tuple[str, ...], block: np.ndarray, cuts: np.ndarray) -> None:
        self.variables, self.block, self.cuts = variables, block, cuts

    @staticmethod
    def of(variables: tuple[str, ...], lags: Iterable[Lag] | Lags) -> Lags:
        """The same in one block."""
        if isinstance(lags, Lags) and lags.variables == variables:
            return lags
        out = Lags.none(variables)
        for lag in lags:
            at = dict(zip(lag.variables, lag.codes))
            every = np.full(len(lag.starts), ANY, np.int64)
            out = out.and_also(tuple([at.get(v, every) for v in variables]), lag.starts, lag.ends)
        return out

    @staticmethod
    @cache
    def none(variables: tuple[str, ...]) -> Lags:
        """Nothing lags."""
        return Lags(variables, np.zeros((len(variables) + 2, 0), np.int64), np.zeros(1, np.int64))

    def and_also(self, codes: Codes, starts: np.ndarray, ends: np.ndarray) -> Lags:
        """The same and one more, under bindings of all variables (``ANY``: of all others)."""
        if not len(starts):
            return self
        block = np.concatenate((self.block, stacked((*codes, starts, ends))), axis=1)
        return Lags(self.variables, block, np.append(self.cuts, block.shape[1]))

    def projected(self, variables: tuple[str, ...]) -> Lags:
        """The lags of a projection to fewer ``variables``: a binding lags as all those do that are pooled in it."""
        at, out = [self.variables.index(v) for v in variables], Lags.none(variables)
        for part in self._parts():
            if all(part[k, 0] == ANY for k in at):
                part = part.min(axis=1, keepdims=True)
            out = out.and_also(tuple(part[at]), part[-2], part[-1])
        return out

    def least(self, complete: int, ends: int, rows: Intervals) -> np.ndarray:
        """Per row S (``ends`` = 0), up to which nothing starts that is not known yet, or N (1), up to which nothing
        that ends can still appear.  ``complete``: where nothing lags."""
        return least(complete, self.block, self.cuts, ends, rows.block, np.arange(len(self.variables)))

    def least_end(self, complete: int) -> int:
        """N, over all bindings."""
        return min(complete, int(self.block[-1].min(initial=OPEN)))

    def __len__(self) -> int:
        return len(self.cuts) - 1

    def __iter__(self) -> Iterator[Lag]:
        for part in self._parts():
            bound = [k for k in range(len(self.variables)) if part[k, 0] != ANY]
            yield Lag(tuple([self.variables[k] for k in bound]), tuple(part[bound]), part[-2], part[-1])

    def _parts(self) -> Iterator[np.ndarray]:
        for first, last in pairwise(self.cuts.tolist()):
            yield self.block[:, first:last]


@dataclass(frozen=True)
class Phenomena:
    """The signal of a dynamic formula: ``closed`` are the intervals that became final in this call, and have ended.

    ``open``: those known that have not ended, all of them (at closing: what is left to report).  ``complete``: the
    frontier of starts and ends where ``lags`` do not say less.
    """

    closed: Intervals
    open: Intervals
    complete: int
    lags: Sequence[Lag] | Lags = ()


Signal = Points | Spans | Phenomena


def since(signal: Signal, born: int | None) -> Signal:
    """The part of a signal that happens, or begins, after the tick ``born``; how far it is complete does not change."""
    if born is None:
        return signal

    def later(rows: Intervals) -> Intervals:
        after = rows.start > born
        return rows if after.all() else rows.take(after)

    if isinstance(signal, Points):
        after = signal.time > born
        return signal if after.all() else signal.take(after)
    if isinstance(signal, Spans):
        return replace(signal, closed=later(signal.closed), began=later(signal.began), open=later(signal.open))
    return replace(signal, closed=later(signal.closed), open=later(signal.open))


@dataclass
class Held:
    """A table of an operator's state: a binding and some int64 columns per row.  All that outlives a call is in such
    tables, so that it can be saved, measured and forgotten alike."""

    codes: Codes
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    _block: np.ndarray | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        for column in self.columns.values():
            return len(column)
        return 0

    @property
    def block(self) -> np.ndarray:
        """All columns as kernels take them (:mod:`occurs.operators.kernels.blocks`)."""
        if self._block is None:
            self._block = stacked((*self.codes, *self.columns.values()))
        return self._block

    @staticmethod
    def of(block: np.ndarray, names: tuple[str, ...]) -> Held:
        """The rows of such a block, of which the last columns have these names."""
        return _Blocked(block, names)

    @staticmethod
    def empty(variables: int, *columns: str) -> Held:
        return Held(tuple(np.zeros(0, np.int64) for _ in range(variables)), {c: np.zeros(0, np.int64) for c in columns})

    def take(self, at: np.ndarray | slice) -> Held:
        """The rows ``at`` (row numbers, booleans, or a slice)."""
        return Held(tuple([c[at] for c in self.codes]), {n: c[at] for n, c in self.columns.items()})

    def intervals(self) -> Intervals:
        """The rows of a table with ``start`` and ``end``."""
        return Intervals(self.codes, self.columns["start"], self.columns["end"])

    def opened(self) -> Intervals:
        """The rows of a table of what has not ended (its column ``start``); their ends are not to be written to."""
        start = self.columns["start"]
        return Intervals(self.codes, start, all_open(len(start)))

    @staticmethod
    def concat(parts: Sequence[Held]) -> Held:
        parts = [p for p in parts if len(p)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        codes = tuple([np.concatenate(c) for c in zip(*[p.codes for p in parts])])
        names = parts[0].columns
        return Held(codes, {n: np.concatenate([p.columns[n] for p in parts]) for n in names})


#: what a node keeps: its tables by name
State = dict[str, Held]


class Stateless:
    """A node that keeps nothing between calls."""

    def fresh(self) -> State:
        return {}


class _Blocked(Held):
    """A table that is a block; its columns are not told apart before somebody asks: most tables are only handed from
    kernel to kernel."""

    def __init__(self, block: np.ndarray, names: tuple[str, ...]) -> None:
        self._block, self._names = block, names

    def __len__(self) -> int:
        return self.block.shape[1]

    def __getattr__(self, name: str) -> Any:
        if name not in ("codes", "columns"):
            raise AttributeError(name)
        rows = tuple(self.block)
        width = len(rows) - len(self._names)
        self.codes, self.columns = rows[:width], dict(zip(self._names, rows[width:]))
        return getattr(self, name)


_opens = np.zeros(0, np.int64)


def all_open(n: int) -> np.ndarray:
    """``OPEN`` so many times, not to be written to.  What is open is given in every call: this should cost little."""
    global _opens
    if len(_opens) < n:
        _opens = np.full(2 * n, OPEN)
        _opens.flags.writeable = False
    return _opens[:n]


def stacked(columns: Sequence[np.ndarray], width: int | None = None) -> np.ndarray:
    """Columns of int64 in one block (columns, rows), a copy; ``width``: how many there are, if they are in pieces."""
    return np.concatenate(columns).reshape(len(columns) if width is None else width, -1)
