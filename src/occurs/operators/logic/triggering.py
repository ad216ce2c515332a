"""What the operator of a temporal trigger takes and gives in one call (operators.md 1; temporal-logic.md 4, 5).

The seam between the engine and whatever evaluates a trigger.  A definition has one operator, for all instances of its
trigger.  The general one (:mod:`occurs.languages.logic.running.general`) goes state by state; one for a special form,
that works on whole columns, has the same interface and is chosen when the trigger is compiled: see
:func:`occurs.languages.logic.compile.operator_of`.

An operator is made once per definition, is sent to Spark's workers with it, and has no state of its own: what outlives
a call is a :class:`Kept`, which the engine hands from call to call, copies, and saves as tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from occurs.model.time import TimeKind
from occurs.operators.columns import Column
from occurs.operators.rows import Rows


@dataclass(frozen=True)
class Call:
    """The new rows of one call, and the clock.

    ``rows``: of every type that the definition reads, new rows only, in the total order of the type (by time, then
    sequence).  A type without new rows may be missing.  Rows of the input have a column ``sequence`` if the input has
    one; rows of tables may have ``op`` and ``old`` (JSON text); a declared column may be missing, then it is null.
    Timestamps are int64 microseconds.  ``Rows.derived`` is the place of the definition that made a row, -1 for input,
    where the definition asks for it (``placed``).

    ``start``: where the clock starts, None as long as no row has come.  ``since``: the frontier of the call before
    (None: there was none): all rows are later.  All instants up to ``frontier`` are here, whole.
    ``reasons``: is ``Firings.reasons`` wanted?
    """

    rows: Mapping[str, Rows]
    start: int | None
    since: int | None
    frontier: int
    kind: TimeKind
    reasons: bool = False


#: of what a firing is made: (role, type or value, time, attributes as the text of a JSON object) each
Reason = tuple[str, str, int, str]


@dataclass(frozen=True)
class Firings:
    """What a call found: n firings in the order of time, then of the values of ``columns`` (by name), and m notices.

    ``time``: int64 (n).  ``columns``: the attributes of the event, in the types of the definition's schema.
    ``generics``: the generic variables (n); with ``time`` they identify a firing of the trigger.  ``since``: int64 (n),
    the time at which the activation began.  ``reasons``, if wanted: per firing the states and remembered values of one
    way to be satisfied (temporal-logic.md 4.4).

    ``over``: int64 (m), the times at which an instance was found to be able to fire no more, in order; ``of``: its
    generic variables (m).
    """

    time: np.ndarray
    columns: Mapping[str, Column]
    generics: Mapping[str, Column]
    since: np.ndarray
    over: np.ndarray
    of: Mapping[str, Column]
    reasons: Sequence[Sequence[Reason]] | None = None
    #: what is to be counted: rows without a key, inserts of rows that are there ..
    counts: Mapping[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.time)


class Kept(Protocol):
    """What an operator keeps between calls.  The engine never looks into it."""

    @property
    def size(self) -> int:
        """How many rows, values and obligations are kept."""

    def copy(self) -> Any:
        """The same; a call that goes on from one leaves the other as it is."""

    def saved(self) -> Mapping[str, pa.Table]:
        """As tables by name.  A table that has not changed since the last time is the same object again: it is not
        written anew."""


class Operator(Protocol):
    """One trigger."""

    @property
    def words(self) -> str:
        """How it is evaluated, for ``explain``: "vectorised: ..", "state by state: .."."""

    def fresh(self) -> Any:
        """The state before the first call."""

    def restored(self, tables: Mapping[str, pa.Table]) -> Any:
        """The state that was saved as ``tables``.  Raises CheckpointProblem."""

    def advance(self, kept: Any, call: Call) -> Firings:
        """Take the rows of a call; ``kept`` is changed in place.  Raises InputProblem."""
