"""Temporal triggers in an engine: their operators run, their state kept, their firings as derived events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from occurs.engine.outputs import because_array, no_reasons, table_of
from occurs.engine.since import Since
from occurs.engine.state import State
from occurs.model.labels import Labels, derived_labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.columns import Column
from occurs.operators.contract import Reasons
from occurs.operators.logic.triggering import Call, Firings, Reason
from occurs.operators.rows import Rows
from occurs.plan.triggers import TriggerDefinition


@dataclass
class Fired:
    """The firings of a trigger in a call, in the order of time and values."""

    definition: TriggerDefinition
    firings: Firings
    columns: dict[str, Column]
    time: np.ndarray
    labels: Labels | None = None
    chosen: np.ndarray | None = None

    @classmethod
    def of(cls, definition: TriggerDefinition, firings: Firings, labelled: bool) -> Fired:
        """What an operator gave."""
        labels = None
        if labelled:
            values = {n: c.arrow for n, c in firings.generics.items()}
            labels = derived_labels(definition.identity, [], firings.time, values)
        return cls(definition, firings, dict(firings.columns), firings.time, labels)

    def __len__(self) -> int:
        return len(self.time)

    @property
    def units(self) -> Sequence[TriggerDefinition]:
        return (self.definition,)

    @property
    def place(self) -> int:
        return self.definition.place

    @property
    def outputs(self) -> set[str]:
        return {self.definition.output}

    @property
    def at(self) -> np.ndarray | None:
        return None

    def parts(self, type: str) -> list[Fired]:
        """All of it, if it defines ``type`` and there is anything."""
        return [self] if len(self) and type == self.definition.output else []

    def part(self, rule: int) -> Fired | None:
        """All of it, None if there is nothing."""
        return self if len(self) else None

    def rows_of(self, rule: int) -> slice:
        """Where it stands."""
        return slice(0, len(self))

    def sheet(self, schema: Schema, kind: TimeKind, label: bool) -> pa.Table | None:
        """As one table."""
        labels = self.labels if label else None
        return table_of(self.definition.output, self.time, self.columns, schema, kind, labels, None)

    def take(self, at: np.ndarray) -> Fired:
        """Some of it."""
        return replace(
            self,
            columns={n: c.take(at) for n, c in self.columns.items()},
            time=self.time[at],
            labels=None if self.labels is None else self.labels.take(at),
            chosen=at if self.chosen is None else self.chosen[at],
        )

    def rows(self, type: str, schema: Schema) -> Rows:
        """The events as rows of their type."""
        return Rows(type, self.time, {n: self.columns[n].cast(t) for n, t in schema}, labels=self.labels)

    def because(self, kind: TimeKind) -> pa.Array:
        """Per firing: when its activation began, and the states and remembered values of one way to be satisfied."""
        numbers = np.arange(len(self.time)) if self.chosen is None else self.chosen
        if not len(numbers):
            return no_reasons(0, kind)
        reasons = self.firings.reasons
        found: list[Reason] = []
        offsets = [0]
        for i in numbers.tolist():
            found.append(("activation", "state", int(self.firings.since[i]), "{}"))
            found += () if reasons is None else reasons[i]
            offsets.append(len(found))
        roles, types, times, attributes = zip(*found)
        made = Reasons(
            np.array(offsets),
            pa.array(roles, pa.string()),
            pa.array(types, pa.string()),
            np.array(times, np.int64),
            pa.nulls(len(found), pa.string()),
            pa.array(attributes, pa.string()),
        )
        return because_array(made, kind)


def counted(found: Sequence[Fired]) -> dict[str, int]:
    """What triggers counted of their input; of one table that several read once."""
    out: dict[str, int] = {}
    for fired in found:
        for what, n in fired.firings.counts.items():
            out[what] = max(n, out.get(what, 0))
    return out


def run(
    definition: TriggerDefinition,
    tables: Mapping[str, Rows],
    state: State,
    start: int | None,
    frontier: int,
    kind: TimeKind,
    labelled: bool,
) -> tuple[Fired, Rows | None]:
    """The firings of a trigger over the new rows of ``tables``, and its notices if these are asked for; its state goes
    on."""
    identity, operator = definition.identity, definition.operator
    if identity in state.triggered:
        state.triggers[identity] = operator.restored(state.triggered.pop(identity))
    if identity not in state.triggers:
        state.triggers[identity] = operator.fresh()
    since, born = state.frontier, definition.born
    given: Mapping[str, Rows] = tables
    if born is not None:
        given = Since(tables, born)
        since = born if since is None else max(since, born)
    # rows without a past as they are: what one trigger has made of them serves the next
    read = [given[t] for t in definition.reads if t in given]
    new = {r.type: r.slice(r.new) if r.new else r for r in read}
    firings = operator.advance(state.triggers[identity], Call(new, start, since, frontier, kind, definition.reasons))
    told = None
    if definition.never:
        columns = {n: firings.of[n].cast(t) for n, t in definition.notices}
        labels = None
        if labelled:
            labels = derived_labels(definition.never, [], firings.over, {n: c.arrow for n, c in columns.items()})
        told = Rows(definition.never, firings.over, columns, labels=labels)
    return Fired.of(definition, firings, labelled), told
