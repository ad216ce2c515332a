"""The operator of a temporal trigger (temporal-logic.md, sections 4 and 5).

A language compiles a trigger to a :class:`.rule.Rule`.  Whatever evaluates a rule is an :class:`Evaluator`, for all
instances of the trigger: :class:`.general.General` takes every rule and goes state by state,
:class:`.vectorised.Columns` takes those that have a form over whole columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from occurs.operators.columns import Column
from occurs.operators.contract import Block, Call, Identity, Operator, Outcome, Reasons
from occurs.operators.states import Own, State

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


class Evaluator(Protocol):
    """Evaluates one trigger.  It is made once per definition, is sent to other processes, and has no state of its own.

    The rows of a call have a column ``sequence`` if the input has one; rows of tables may have ``op`` and ``old`` (JSON
    text); a declared column may be missing, then it is null.  Timestamps are int64 microseconds.
    """

    @property
    def words(self) -> str:
        """How it is evaluated, for ``explain``: "vectorised: ..", "state by state: .."."""

    def fresh(self) -> Any:
        """The state before the first call, as :class:`occurs.operators.contract.Own` holds it."""

    def restored(self, tables: Mapping[str, pa.Table]) -> Any:
        """The state that was saved as ``tables``.  Raises CheckpointProblem."""

    def advance(self, kept: Any, call: Call) -> Firings:
        """Take the rows of a call; ``kept`` is changed in place.  Raises InputProblem."""


@dataclass(frozen=True, eq=False)
class Trigger(Operator):
    """One trigger.  A second output has the notices of instances that can fire no more."""

    evaluator: Evaluator

    def fresh(self) -> State:
        return Own(self.identity, self.evaluator.fresh())

    def restored(self, saved: Mapping[str, Mapping[str, pa.Table]]) -> State:
        return Own(self.identity, self.evaluator.restored(saved[self.identity]))

    def advance(self, state: Own, call: Call) -> Outcome:
        found = self.evaluator.advance(state.kept, replace(call, rows={t: call.new(t) for t in call.rows}))
        blocks = [
            Block(
                self.outs[:1],
                found.time,
                found.columns,
                identity=lambda: Identity(time=found.time, values=_values(found.generics)),
                reasons=lambda rows: _reasons(found, rows),
            )
        ]
        if len(self.outs) > 1:
            known = lambda: Identity(time=found.over, values=_values(found.of))  # noqa: E731
            blocks.append(Block(self.outs[1:], found.over, found.of, identity=known))
        return Outcome(blocks, counts=found.counts)


def _values(columns: Mapping[str, Column]) -> dict[str, pa.Array]:
    return {name: column.arrow for name, column in columns.items()}


def _reasons(firings: Firings, rows: np.ndarray) -> Reasons:
    """When the activation of each firing began, and the states and remembered values of one way to be satisfied."""
    found: list[Reason] = []
    offsets = [0]
    for i in rows.tolist():
        found.append(("activation", "state", int(firings.since[i]), "{}"))
        found += () if firings.reasons is None else firings.reasons[i]
        offsets.append(len(found))
    roles, types, times, attributes = zip(*found)
    return Reasons(
        np.array(offsets),
        pa.array(roles, pa.string()),
        pa.array(types, pa.string()),
        np.array(times, np.int64),
        pa.nulls(len(found), pa.string()),
        pa.array(attributes, pa.string()),
    )
