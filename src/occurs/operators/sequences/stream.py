"""What the operator of a pattern takes and gives in one call (operators.md, section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.model.time import TimeKind
from occurs.operators.rows import Rows

#: the state of an operator: tables by name
State = dict[str, pa.Table]


@dataclass(frozen=True)
class Stream:
    """The new rows of one call, merged into one order, and the clock.

    ``rows``: the new rows of every type that the pattern reads (``Rows`` without past).  ``types``: their names;
    ``type``: int32 (n), the number of each event's type in ``types``; ``row``: int64 (n), its row in the ``Rows`` of
    that type; ``time``: int64 (n) ticks; ``at``: int64 (n), its place among the rows of its instant, over all types:
    a derived event has that of the row it stands behind.  The n events are in their total order.

    ``start``: where the clock starts, None as long as no row has come.  ``since``: the frontier of the call before
    (None: there was none); all instants up to ``frontier`` are here.
    """

    rows: Mapping[str, Rows]
    types: tuple[str, ...]
    type: np.ndarray
    row: np.ndarray
    time: np.ndarray
    at: np.ndarray
    start: int | None
    since: int | None
    frontier: int
    kind: TimeKind


@dataclass(frozen=True)
class Bound:
    """The events of one tag in every match.  ``rows``: int64, row numbers in the table of ``type`` number
    ``types[i]`` of the same length (-1: none).  Of a tag with lists ``offsets``: int64 (matches + 1) into ``rows``,
    and ``null``: matches in which the list is null."""

    rows: np.ndarray
    types: np.ndarray
    offsets: np.ndarray | None = None
    null: np.ndarray | None = None


@dataclass(frozen=True)
class Matches:
    """What a call found, in the order of emission: (time, ``at``, rank).

    ``time``: int64 ticks; ``at``: int64, that of the row that completed it, 0 if a timer did; ``due``: did one?
    ``tables``: the events that are bound, by the number of their type in ``Stream.types``: those kept of earlier calls
    and the new ones.  ``bound``: per tag.
    """

    time: np.ndarray
    at: np.ndarray
    due: np.ndarray
    tables: Mapping[int, Rows]
    bound: Mapping[str, Bound]

    def __len__(self) -> int:
        return len(self.time)
