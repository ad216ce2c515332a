"""What the operators of patterns find in one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from occurs.operators.rows import Rows

#: the state of an operator: tables by name
State = dict[str, pa.Table]


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
    ``tables``: the events that are bound, by the number of their type in
    :attr:`occurs.operators.merging.Stream.types`: those kept of earlier calls and the new ones.  ``bound``: per tag.
    """

    time: np.ndarray
    at: np.ndarray
    due: np.ndarray
    tables: Mapping[int, Rows]
    bound: Mapping[str, Bound]

    def __len__(self) -> int:
        return len(self.time)
