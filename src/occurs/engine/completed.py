"""What patterns over the order of events found in a call, as derived events (epl-and-nets.md, section 4A)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.outputs import because_array, table_of, type_column
from occurs.model.labels import Labels, bound_labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.columns import Column
from occurs.operators.contract import Reasons
from occurs.operators.rows import Rows
from occurs.operators.sequences.absences import absences, checked
from occurs.operators.sequences.bindings import Bindings
from occurs.operators.sequences.chains import Chain
from occurs.operators.sequences.chains_call import Found
from occurs.operators.sequences.stream import Matches
from occurs.plan.sequences import SequenceDefinition


@dataclass
class Completed:
    """What a pattern over the order of events found in a call, in the order of time, place and rank.  ``types``: what
    the numbers of types stand for."""

    definition: SequenceDefinition
    bindings: Bindings
    types: tuple[str, ...]
    columns: dict[str, Column]
    labels: Labels | None = None

    @classmethod
    def of(
        cls,
        definition: SequenceDefinition,
        matches: Matches,
        types: tuple[str, ...],
        schemas: Mapping[str, Schema],
        kind: TimeKind,
        labelled: bool,
    ) -> Completed:
        """The derived events of the matches of a definition."""
        bindings = Bindings(definition.pattern, matches, kind).where()
        columns = bindings.outputs(schemas[definition.output])
        labels = _labels([definition], bindings, np.array([0, len(bindings)])) if labelled else None
        return cls(definition, bindings, types, columns, labels)

    def __len__(self) -> int:
        return len(self.bindings)

    @property
    def units(self) -> Sequence[SequenceDefinition]:
        return (self.definition,)

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
        """Per match the list of its constituents, a timer that completed it behind its events, then the intervals in
        which a ``not`` has looked."""
        b, events, n = self.bindings, self.bindings.constituents, len(self)
        names = pa.array([t for t, _ in b.pattern.tags], pa.string()).take(pa.array(events.tag))
        listed = events.index >= 0
        if listed.any():
            numbers = pa.array(events.index).cast(pa.string())
            names = pc.if_else(pa.array(listed), pc.binary_join_element_wise(names, "[", numbers, "]", ""), names)
        due = np.flatnonzero(b.matches.due[b.chosen])
        number = [np.repeat(np.arange(n), np.diff(events.offsets)), due]
        roles = [names, pa.array(["timer"] * len(due), pa.string())]
        types = [pa.array(self.types, pa.string()).take(pa.array(events.type)), roles[1]]
        times = [b.times_of(events), self.time[due]]
        labels = [b.labels_of(events).hex().cast(pa.string()), pa.nulls(len(due), pa.string())]
        attributes = [b.attributes_of(events), pa.array(["{}"] * len(due), pa.string())]
        bound = len(events.row) + len(due)
        known, end = [np.ones(bound, np.bool_)], [np.zeros(bound, np.int64)]
        for absence in absences(b.pattern) if self.definition.reasons else ():
            found = checked(b, absence)
            size, type = len(found.number), ", ".join(absence.types)
            number.append(found.number)
            roles.append(pa.array([f"not {type}"] * size, pa.string()))
            types.append(pa.array([type] * size, pa.string()))
            times.append(found.start)
            labels.append(pa.nulls(size, pa.string()))
            attributes.append(pa.array(['{"rows": 0}'] * size, pa.string()))
            known.append(found.known)
            end.append(found.end)
        whose = np.concatenate(number)
        order = np.argsort(whose, kind="stable")
        chosen = pa.array(order)
        made = Reasons(
            np.searchsorted(whose[order], np.arange(n + 1)),
            pa.concat_arrays(roles).take(chosen),
            pa.concat_arrays(types).take(chosen),
            np.concatenate(times)[order],
            pa.concat_arrays(labels).take(chosen),
            pa.concat_arrays(attributes).take(chosen),
            np.concatenate(end)[order],
            (np.arange(len(whose)) >= bound)[order],
            np.concatenate(known)[order],
        )
        return because_array(made, kind)


@dataclass
class Alike:
    """What the rules of a chain found, rule after rule, those of each in the order of time, place and rank.

    ``definitions``: of the rules, in their order in ``chain``; ``types``: what the numbers of types stand for.
    """

    definitions: Sequence[SequenceDefinition]
    chain: Chain
    found: Found
    types: tuple[str, ...]
    columns: dict[str, Column]
    kind: TimeKind
    labels: Labels | None = None
    sheets: dict[bool, tuple[Schema, pa.Table | None]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        definitions: Sequence[SequenceDefinition],
        chain: Chain,
        found: Found,
        types: tuple[str, ...],
        schemas: Mapping[str, Schema],
        kind: TimeKind,
        labelled: bool,
    ) -> Alike | None:
        """None if the derived events are not made alike."""
        schema = schemas[definitions[0].output]
        if not chain.alike or any(schemas[d.output] != schema for d in definitions):
            return None
        bindings = Bindings(chain.sequences[0], chain.matches(found, 0, all=True), kind)
        columns = bindings.outputs(schema)
        labels = _labels(definitions, bindings, found.offsets) if labelled else None
        return cls(definitions, chain, found, types, columns, kind, labels)

    def __len__(self) -> int:
        return len(self.found)

    @property
    def units(self) -> Sequence[SequenceDefinition]:
        return self.definitions

    @property
    def outputs(self) -> set[str]:
        return {d.output for d in self.definitions}

    def parts(self, type: str) -> list[Completed]:
        """What the rules found that define ``type``, without empty ones."""
        return [p for r in self._rules.get(type, ()) if (p := self.part(r)) is not None]

    @cached_property
    def _rules(self) -> dict[str, list[int]]:
        """The numbers of the rules that define a type."""
        out: dict[str, list[int]] = {}
        for number, d in enumerate(self.definitions):
            out.setdefault(d.output, []).append(number)
        return out

    def part(self, rule: int) -> Completed | None:
        """What one rule found, None if nothing."""
        at = self.rows_of(rule)
        if at.start == at.stop:
            return None
        definition = self.definitions[rule]
        bindings = Bindings(definition.pattern, self.chain.matches(self.found, rule), self.kind)
        columns = {n: c.slice(at.start, at.stop) for n, c in self.columns.items()}
        labels = None if self.labels is None else Labels(self.labels.hi[at], self.labels.lo[at])
        return Completed(definition, bindings, self.types, columns, labels)

    def rows_of(self, rule: int) -> slice:
        """Where the matches of one rule stand."""
        return slice(int(self.found.offsets[rule]), int(self.found.offsets[rule + 1]))

    def sheet(self, schema: Schema, kind: TimeKind, label: bool) -> pa.Table | None:
        """All matches as one table, to be sliced rule by rule; None if Arrow could not address it, or if it has been
        made with another schema."""
        if label not in self.sheets:
            names = [d.output.encode() for d in self.definitions]
            lengths = np.array([len(n) for n in names], np.int64)
            types = type_column(np.frombuffer(b"".join(names), np.uint8), lengths, np.diff(self.found.offsets))
            table = None
            if types is not None:
                labels = self.labels if label else None
                table = table_of(types, self.found.time, self.columns, schema, kind, labels, None)
            self.sheets[label] = (schema, table)
        made, table = self.sheets[label]
        return table if made is schema or made == schema else None


def _labels(definitions: Sequence[SequenceDefinition], bindings: Bindings, offsets: np.ndarray) -> Labels:
    """Those of the derived events of definitions, which stand at ``offsets`` (one more than there are definitions)."""
    events, matches = bindings.constituents, bindings.matches
    time, due = matches.time[bindings.chosen], matches.due[bindings.chosen]
    parts = bindings.labels_of(events)
    made = []
    for d, lo, hi in zip(definitions, offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        inner = events.offsets[lo : hi + 1]
        some = slice(int(inner[0]), int(inner[-1]))
        mine = Labels(parts.hi[some], parts.lo[some])
        made.append(bound_labels(d.identity, inner - inner[0], mine, time[lo:hi], due[lo:hi]))
    return Labels.concat(made)
