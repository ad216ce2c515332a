"""Blocks of derived rows, which operators return (operators.md, section 2): columns, places, constituents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from occurs.model.labels import Labels
from occurs.model.types import Schema
from occurs.operators.columns import Column


@dataclass(frozen=True, eq=False)
class Out:
    """An output of an operator.

    ``schema``: of all rows of the type, whichever definition derives them.  ``definition``: the identity of the
    definition, which enters labels.  ``place``: of the definition in the evaluation order of the program.
    """

    type: str
    schema: Schema
    definition: str
    place: int


@dataclass(frozen=True, eq=False)
class Identity:
    """What the labels of n rows are computed from (common.md, section 3).

    ``parts``: one column of labels (n) per constituent.  With ``offsets`` (n + 1) it is one column with the labels of
    all constituents, those of row i from ``offsets[i]`` to before ``offsets[i + 1]``.  ``time``: times that count as a
    constituent; with ``due`` (booleans) only where that is true.  ``values``: attributes that count, by name.
    """

    parts: Sequence[Labels] = ()
    offsets: np.ndarray | None = None
    time: np.ndarray | None = None
    due: np.ndarray | None = None
    values: Mapping[str, pa.Array] = field(default_factory=dict)

    def slice(self, start: int, stop: int) -> Identity:
        """The same for the rows from ``start`` to before ``stop``."""
        rows = inner = slice(start, stop)
        offsets, (time, due) = self.offsets, (None if a is None else a[rows] for a in (self.time, self.due))
        if offsets is not None:
            inner = slice(int(offsets[start]), int(offsets[stop]))
            offsets = offsets[start : stop + 1] - offsets[start]
        parts = [Labels(p.hi[inner], p.lo[inner]) for p in self.parts]
        return Identity(parts, offsets, time, due, {n: v.slice(start, stop - start) for n, v in self.values.items()})


@dataclass(frozen=True, eq=False)
class Reasons:
    """The constituents of n rows, which ``because`` shows: those of row i from ``offsets[i]`` to before
    ``offsets[i + 1]``.

    ``time`` and ``end``: ticks; ``known``: which constituents have a time (None: all); ``ends``: which have an end
    (None: none).  ``label``: text, null for a constituent that is not a row.  ``attributes``: text of JSON objects.
    """

    offsets: np.ndarray
    role: pa.Array
    type: pa.Array
    time: np.ndarray
    label: pa.Array
    attributes: pa.Array
    end: np.ndarray | None = None
    ends: np.ndarray | None = None
    known: np.ndarray | None = None


@dataclass(eq=False, slots=True)
class Block:
    """Derived rows of one output, or of several one behind the other: those of ``outs[i]`` are from ``cuts[i]`` to
    before ``cuts[i + 1]`` (``cuts`` is None if there is one output).

    The rows of one output are in the order of time, place and rank.  ``at``: the place of each row within its instant;
    None: the rows are derived when their instant is complete.  ``columns``: attributes by name (a missing one is null),
    and ``end`` of intervals.  ``final``: booleans, false for provisional rows, which are reported, but which no
    definition reads (None: all are final).  ``identity``: called only if labels are wanted.  ``reasons``: the
    constituents of some rows of one output, by their row numbers in the block; called only for rows whose ``because``
    is wanted; None: the rows have none.  ``labels``: given by an operator that feeds itself, which needs them earlier.

    An operator that returns few rows of many outputs very often may return a subclass, which makes columns when they
    are asked for.
    """

    outs: Sequence[Out]
    time: np.ndarray
    columns: Mapping[str, Column]
    cuts: np.ndarray | None = None
    at: np.ndarray | None = None
    identity: Callable[[], Identity] | None = None
    reasons: Callable[[np.ndarray], Reasons] | None = None
    labels: Labels | None = None
    final: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.time)

    def size_of(self, number: int) -> int:
        """How many rows an output has."""
        return len(self) if self.cuts is None else int(self.cuts[number + 1] - self.cuts[number])

    def filled(self) -> Sequence[int]:
        """The numbers of the outputs that have rows: of thousands of rules, few find something in a call."""
        if self.cuts is None:
            return (0,) if len(self) else ()
        filled: list[int] = np.flatnonzero(self.cuts[1:] != self.cuts[:-1]).tolist()
        return filled

    def rows_of(self, number: int) -> slice:
        """Where the rows of an output stand in the block."""
        cuts = self.cuts
        return slice(0, len(self)) if cuts is None else slice(int(cuts[number]), int(cuts[number + 1]))

    def only(self, number: int) -> tuple[np.ndarray, Mapping[str, Column]]:
        """The times and the columns of the rows of one output."""
        if self.cuts is None:
            return self.time, self.columns
        rows = self.rows_of(number)
        return self.time[rows], {n: c.slice(rows.start, rows.stop) for n, c in self.columns.items()}

    @classmethod
    def gathered(cls, calls: Sequence[Sequence[Block]]) -> Mapping[str, Callable[[], Mapping[str, pa.Array]]]:
        """By type the rows of all ``calls`` in one order of time, as functions that return their columns (``time`` and
        ``end`` as ticks); only of types for which that is faster than to put tables together."""
        return {}
