"""What flows between the operators of formulas over instants and intervals (phenesthe.md, sections 4 and 5).

A formula has, per *binding* of its variables, a set of instants or of intervals.  A binding is a tuple of value codes,
one per variable (:mod:`occurs.operators.lasting.values`); equal values have equal codes wherever they stand, null and
NaN bind nothing.  A *signal* says what a call has added to these sets, in any order, every element once.

Ends are int64 ticks; ``OPEN`` is the end of what still holds, later than every tick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from occurs.operators.lasting.values import Values

#: the end of an interval that has not ended, and the frontier of what cannot change any more
OPEN = int(np.iinfo(np.int64).max)
#: before everything: the frontier before the first call
NEVER = int(np.iinfo(np.int64).min)

#: one int64 (n) per variable of the formula, in the order of its ``variables``
Codes = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Call:
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
    """Of an event formula: every (binding, instant) in (``since``, ``complete``], once."""

    codes: Codes
    time: np.ndarray
    since: int
    complete: int

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True)
class Intervals:
    """Rows of intervals [start, end]; ``end`` is ``OPEN`` throughout where they have not ended."""

    codes: Codes
    start: np.ndarray
    end: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    def take(self, at: np.ndarray | slice) -> Intervals:
        """The rows ``at`` (row numbers, booleans, or a slice)."""
        return Intervals(tuple([c[at] for c in self.codes]), self.start[at], self.end[at])

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
    """Of a state formula, known up to ``complete``; per binding intervals share no point.

    ``closed``: those that ended in (``since``, ``complete``].  ``began``: those that began in it, closed meanwhile or
    not, with the end they have now.  ``open``: all that began at or before ``complete`` and have not ended by then
    (the operator's own table: not to be changed).
    """

    closed: Intervals
    began: Intervals
    open: Intervals
    since: int
    complete: int


@dataclass(frozen=True)
class Lag:
    """Where a dynamic formula is behind its frontier: for bindings that agree with row i of ``codes`` in ``variables``
    (some of the formula's) no interval that starts at or before ``starts[i]`` can still appear, none that ends at or
    before ``ends[i]``."""

    variables: tuple[str, ...]
    codes: Codes
    starts: np.ndarray
    ends: np.ndarray


@dataclass(frozen=True)
class Phenomena:
    """Of a dynamic formula: ``closed`` are the intervals that became final in this call, and have ended.

    ``open``: those known that have not ended, all of them (at closing: what is left to report).  ``complete``: the
    frontier of starts and ends where ``lags`` do not say less.
    """

    closed: Intervals
    open: Intervals
    complete: int
    lags: tuple[Lag, ...] = ()


Signal = Points | Spans | Phenomena


@dataclass
class Held:
    """A table of an operator's state: a binding and some int64 columns per row.  All that outlives a call is in such
    tables, so that it can be saved, measured and forgotten alike.

    ``note``: what an operator has worked out of these very rows and can work out again; it is not saved."""

    codes: Codes
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    note: object = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        for column in self.columns.values():
            return len(column)
        return 0

    @staticmethod
    def empty(variables: int, *columns: str) -> Held:
        return Held(tuple(np.zeros(0, np.int64) for _ in range(variables)), {c: np.zeros(0, np.int64) for c in columns})

    def take(self, at: np.ndarray | slice) -> Held:
        """The rows ``at`` (row numbers, booleans, or a slice)."""
        return Held(tuple([c[at] for c in self.codes]), {n: c[at] for n, c in self.columns.items()})

    @staticmethod
    def concat(parts: Sequence[Held]) -> Held:
        parts = [p for p in parts if len(p)] or parts[:1]
        if len(parts) == 1:
            return parts[0]
        codes = tuple([np.concatenate(c) for c in zip(*[p.codes for p in parts])])
        names = parts[0].columns
        return Held(codes, {n: np.concatenate([p.columns[n] for p in parts]) for n in names})
