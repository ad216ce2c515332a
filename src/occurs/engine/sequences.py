"""Patterns over the order of events in an engine: what they read merged into one order, and what they found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from occurs.engine.completed import Alike, Completed
from occurs.engine.order import INSTANT
from occurs.engine.results import Derived
from occurs.engine.since import Since
from occurs.engine.state import State
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.rows import Rows
from occurs.operators.sequences.chains import Chain
from occurs.operators.sequences.chains_many import Chains
from occurs.operators.sequences.stream import Stream
from occurs.plan.sequences import SequenceDefinition

if TYPE_CHECKING:
    from occurs.operators.sequences.machine import Machine


def merged(rows: Mapping[str, Rows], start: int | None, since: int | None, frontier: int, kind: TimeKind) -> Stream:
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
    them; ``chained``: which patterns are chains, by the identity of the definition."""

    machines: dict[str, Machine] = field(default_factory=dict)
    chains: dict[tuple[str, ...], Chains] = field(default_factory=dict)
    chained: dict[str, bool] = field(default_factory=dict)

    def run(
        self, definitions: Sequence[SequenceDefinition], tables: Mapping[str, Rows], state: State, call: Call
    ) -> list[Derived]:
        """What definitions that do not read one another find in the rows of ``tables``, which are new; their states go
        on.  Those that are chains of steps run together."""
        out: list[Derived] = []
        for born in dict.fromkeys(d.born for d in definitions):
            mine = [d for d in definitions if d.born == born]
            chains = [d for d in mine if self._chained(d)]
            if chains:
                out += self._together(chains, tables, state, call)
            out += [self._alone(d, tables, state, call) for d in mine if not self._chained(d)]
        return out

    def _chained(self, definition: SequenceDefinition) -> bool:
        found = self.chained.get(definition.identity)
        if found is None:
            found = not definition.ended and Chain.applies(definition.pattern)
            self.chained[definition.identity] = found
        return found

    def _together(
        self, definitions: Sequence[SequenceDefinition], tables: Mapping[str, Rows], state: State, call: Call
    ) -> list[Derived]:
        name = tuple(d.identity for d in definitions)
        operator = self.chains.get(name)
        read = {t for d in definitions for t in d.reads}
        if operator is None:
            schemas = {t: call.schemas.get(t, Schema()) for t in sorted(read)}
            patterns = [d.pattern for d in definitions]
            limit = min(d.limit for d in definitions)
            operator = self.chains[name] = Chains.of(patterns, schemas, call.kind, limit)
        stream = _stream(definitions[0], read, tables, state, call)
        states = [state.sequences.get(d.identity, {}) for d in definitions]
        after, done = operator.advance_groups(states, stream)
        state.sequences.update((d.identity, one) for d, one in zip(definitions, after, strict=True))
        out: list[Derived] = []
        for chain, numbers, found in zip(operator.groups, operator.members, done, strict=True):
            mine = [definitions[n] for n in numbers]
            alike = Alike.of(mine, chain, found, stream.types, call.schemas, call.kind, call.labelled)
            if alike is not None:
                out.append(alike)
                continue
            for rule, d in enumerate(mine):
                out.append(
                    Completed.of(d, chain.matches(found, rule), stream.types, call.schemas, call.kind, call.labelled)
                )
        return out

    def _alone(self, definition: SequenceDefinition, tables: Mapping[str, Rows], state: State, call: Call) -> Completed:
        identity = definition.identity
        machine = self.machines.get(identity)
        if machine is None:
            # compiled code that only programs with such patterns load
            from occurs.operators.sequences.machine import Machine

            read = {t: call.schemas.get(t, Schema()) for t in definition.reads}
            machine = self.machines[identity] = Machine(definition.pattern, read, call.kind, definition.limit)
        before = state.sequences.get(identity)
        stream = _stream(definition, definition.reads, tables, state, call)
        kept = machine.fresh() if before is None else dict(before)
        if definition.ended:
            after, _, matches = machine.advance_late(kept, stream)
        else:
            after, matches = machine.advance(kept, stream)
        state.sequences[identity] = after
        return Completed.of(definition, matches, stream.types, call.schemas, call.kind, call.labelled)


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
