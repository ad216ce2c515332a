"""Patterns over the order of events in an engine: what they read merged into one order, and what they found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.order import INSTANT
from occurs.engine.results import because_type, table_of, time_array
from occurs.engine.since import Since
from occurs.engine.state import State
from occurs.model.labels import Labels, bound_labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.columns import Column
from occurs.operators.rows import Rows
from occurs.operators.sequences.bindings import Bindings
from occurs.operators.sequences.chains import Chain
from occurs.operators.sequences.chains_many import Chains
from occurs.operators.sequences.stream import Matches, Stream
from occurs.plan.sequences import SequenceDefinition

if TYPE_CHECKING:
    from occurs.operators.sequences.machine import Machine


def merged(
    rows: Mapping[str, Rows], start: int | None, since: int | None, frontier: int, kind: TimeKind
) -> Stream:
    """New rows of the types that a definition reads, in the order of time, place within the instant, definition that
    derived them (-1: input) and row."""
    types = tuple(sorted(rows))
    parts = [rows[t] for t in types]
    sizes = [len(p) for p in parts]
    number = np.repeat(np.arange(len(types), dtype=np.int32), sizes)
    row = np.concatenate([np.arange(n) for n in sizes]) if sizes else np.zeros(0, np.int64)
    time = np.concatenate([p.time for p in parts]) if parts else np.zeros(0, np.int64)
    at = np.concatenate([_places(p) for p in parts]) if parts else np.zeros(0, np.int64)
    if sum(n > 0 for n in sizes) > 1:
        made = np.concatenate([_makers(p) for p in parts])
        order = np.lexsort((made, at, time))
        number, row, time, at = number[order], row[order], time[order], at[order]
    return Stream(dict(zip(types, parts)), types, number, row, time, at, start, since, frontier, kind)


def _makers(rows: Rows) -> np.ndarray:
    return np.full(len(rows), -1, np.int32) if rows.derived is None else rows.derived


def _places(rows: Rows) -> np.ndarray:
    return np.full(len(rows), INSTANT, np.int64) if rows.at is None else rows.at


@dataclass(frozen=True)
class Call:
    """What the sequences of one call of an engine share.  ``start``: where the clock begins, None as long as that is
    not known; ``frontier``: all instants up to here are complete."""

    start: int | None
    frontier: int
    schemas: Mapping[str, Schema]
    kind: TimeKind
    labelled: bool


@dataclass
class Sequences:
    """The operators of an engine: machines by the identity of the definition, chains by those of all that share
    them."""

    machines: dict[str, Machine] = field(default_factory=dict)
    chains: dict[tuple[str, ...], Chains] = field(default_factory=dict)

    def run(
        self, definitions: Sequence[SequenceDefinition], tables: Mapping[str, Rows], state: State, call: Call
    ) -> list[Completed]:
        """What definitions that do not read one another find in the rows of ``tables``, which are new; their states go
        on.  Those that are chains of steps run together."""
        out = []
        for born in dict.fromkeys(d.born for d in definitions):
            mine = [d for d in definitions if d.born == born]
            chains = [d for d in mine if Chain.applies(d.pattern)]
            if chains:
                out += self._together(chains, tables, state, call)
            for d in mine:
                if not any(d is c for c in chains):
                    out.append(self._alone(d, tables, state, call))
        return out

    def _together(
        self, definitions: Sequence[SequenceDefinition], tables: Mapping[str, Rows], state: State, call: Call
    ) -> list[Completed]:
        name = tuple(d.identity for d in definitions)
        operator = self.chains.get(name)
        read = {t for d in definitions for t in d.reads}
        if operator is None:
            schemas = {t: call.schemas.get(t, Schema()) for t in sorted(read)}
            patterns = [d.pattern for d in definitions]
            limit = min(d.limit for d in definitions)
            operator = self.chains[name] = Chains.of(patterns, schemas, call.kind, limit)
        stream = _stream(definitions[0], read, tables, state, call)
        states = [dict(state.sequences.get(d.identity, {})) for d in definitions]
        done = operator.advance_many(states, stream)
        return [_completed(d, stream, *one, state, call) for d, one in zip(definitions, done, strict=True)]

    def _alone(
        self, definition: SequenceDefinition, tables: Mapping[str, Rows], state: State, call: Call
    ) -> Completed:
        identity = definition.identity
        machine = self.machines.get(identity)
        if machine is None:
            # compiled code that only programs with such patterns load
            from occurs.operators.sequences.machine import Machine

            read = {t: call.schemas.get(t, Schema()) for t in definition.reads}
            machine = self.machines[identity] = Machine(definition.pattern, read, call.kind, definition.limit)
        before = state.sequences.get(identity)
        stream = _stream(definition, definition.reads, tables, state, call)
        after, matches = machine.advance(machine.fresh() if before is None else dict(before), stream)
        return _completed(definition, stream, after, matches, state, call)


def _stream(
    definition: SequenceDefinition, read: Iterable[str], tables: Mapping[str, Rows], state: State, call: Call
) -> Stream:
    """The new rows of the types ``read``, as definitions see them that were added when ``definition`` was."""
    start, since, born = call.start, state.frontier, definition.born
    if born is not None:
        tables = Since(tables, born)
        start = born if start is None else max(start, born)
        since = born if since is None else max(since, born)
    return merged({t: tables[t] for t in read}, start, since, call.frontier, call.kind)


def _completed(
    definition: SequenceDefinition,
    stream: Stream,
    after: Mapping[str, pa.Table],
    matches: Matches,
    state: State,
    call: Call,
) -> Completed:
    """The derived events of the matches of a definition, whose state is now ``after``."""
    state.sequences[definition.identity] = after
    bindings = Bindings(definition.pattern, matches, call.kind).where()
    columns = bindings.outputs(call.schemas[definition.output])
    labels = _labels(definition, bindings) if call.labelled else None
    return Completed(definition, bindings, stream.types, columns, labels)


def _labels(definition: SequenceDefinition, bindings: Bindings) -> Labels:
    events, matches = bindings.constituents, bindings.matches
    time, due = matches.time[bindings.chosen], matches.due[bindings.chosen]
    return bound_labels(definition.identity, events.offsets, bindings.labels_of(events), time, due)


@dataclass
class Completed:
    """What a pattern over the order of events found in a call, in the order of time, place and rank.  ``types``: what
    the numbers of types stand for."""

    definition: SequenceDefinition
    bindings: Bindings
    types: tuple[str, ...]
    columns: dict[str, Column]
    labels: Labels | None = None

    def __len__(self) -> int:
        return len(self.bindings)

    @property
    def unit(self) -> SequenceDefinition:
        return self.definition

    @property
    def place(self) -> int:
        return self.definition.place

    @property
    def outputs(self) -> set[str]:
        return {self.definition.output}

    @property
    def time(self) -> np.ndarray:
        return self.bindings.matches.time[self.bindings.chosen]

    @property
    def at(self) -> np.ndarray:
        return self.bindings.matches.at[self.bindings.chosen]

    def parts(self, type: str) -> list[Completed]:
        """All of it, if it defines ``type`` and there is anything."""
        return [self] if len(self) and type == self.definition.output else []

    def part(self, rule: int) -> Completed | None:
        """All of it, None if there is nothing."""
        return self if len(self) else None

    def rows_of(self, rule: int) -> slice:
        """Where it stands."""
        return slice(0, len(self))

    def sheet(self, schema: Schema, kind: TimeKind, label: bool) -> pa.Table | None:
        """As one table."""
        return table_of(
            self.definition.output, self.time, self.columns, schema, kind, self.labels if label else None, None
        )

    def take(self, at: np.ndarray) -> Completed:
        """Some of it."""
        b = self.bindings
        return replace(
            self,
            bindings=Bindings(b.pattern, b.matches, b.kind, b.chosen[at]),
            columns={n: c.take(at) for n, c in self.columns.items()},
            labels=None if self.labels is None else self.labels.take(at),
        )

    def rows(self, type: str, schema: Schema) -> Rows:
        """The derived events as rows of their type."""
        derived = np.full(len(self), self.place, np.int32)
        columns = {n: self._column(n, schema) for n in schema.names}
        return Rows(type, self.time, columns, labels=self.labels, derived=derived, at=self.at)

    def _column(self, name: str, schema: Schema) -> Column:
        """A column of the type, null if the definition does not give it."""
        found = self.columns.get(name)
        return Column.nulls(schema[name], len(self)) if found is None else found.cast(schema[name])

    def because(self, kind: TimeKind) -> pa.Array:
        """Per match the list of its constituents: (role, type, time, end, label), a timer that completed it last."""
        b, events = self.bindings, self.bindings.constituents
        due = b.matches.due[b.chosen]
        names = pa.array([t for t, _ in b.pattern.tags], pa.string()).take(pa.array(events.tag))
        listed = events.index >= 0
        if listed.any():
            numbers = pa.array(events.index).cast(pa.string())
            names = pc.if_else(pa.array(listed), pc.binary_join_element_wise(names, "[", numbers, "]", ""), names)
        roles = pa.concat_arrays([names, pa.array(["timer"], pa.string())])
        sorts = pa.concat_arrays([pa.array(self.types, pa.string()).take(pa.array(events.type)), pa.array(["timer"])])
        ends = events.offsets[1:]
        # one more at the end of every match that a timer has completed
        n = len(events.row)
        order = np.insert(np.arange(n), ends[due], n)
        times = np.insert(b.times_of(events), ends[due], self.time[due])
        labels = pa.concat_arrays([b.labels_of(events).hex().cast(pa.string()), pa.nulls(1, pa.string())])
        offsets = events.offsets + np.concatenate([[0], np.cumsum(due)])
        time = time_array(times, kind)
        chosen = pa.array(order)
        fields = [roles.take(chosen), sorts.take(chosen), time, pa.nulls(len(order), time.type), labels.take(chosen)]
        struct = pa.StructArray.from_arrays(fields, fields=list(because_type(kind).value_type))
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), struct)
