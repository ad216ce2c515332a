"""Patterns over the order of events in an engine: what they read merged into one order, and what they found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from occurs.engine.completed import Alike, Completed
from occurs.engine.results import Derived
from occurs.engine.since import Since
from occurs.engine.state import State
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.contract import Call as Merging
from occurs.operators.merging import Stream, merged
from occurs.operators.rows import Rows
from occurs.operators.sequences.chains import Chain
from occurs.operators.sequences.chains_many import Chains
from occurs.plan.sequences import SequenceDefinition

if TYPE_CHECKING:
    from occurs.operators.sequences.machine import Machine


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
    return merged(Merging({t: tables[t] for t in read}, since, call.frontier, start, call.kind))
