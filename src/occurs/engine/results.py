"""What a call of the engine found, as columns, and its cut into the types that a program reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from occurs.engine.outputs import (
    because_array,
    because_type,
    empty_table,
    no_reasons,
    table_of,
    table_of_arrays,
    type_column,
)
from occurs.engine.tables import concat_rows
from occurs.errors import InputProblem
from occurs.expr.evaluate import select
from occurs.model.labels import Labels
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.attributes import attributes_of
from occurs.operators.checked import Checked
from occurs.operators.columns import Column
from occurs.operators.contract import Reasons
from occurs.operators.frame import own_column
from occurs.operators.merging import INSTANT
from occurs.operators.pattern import Matches, Pattern
from occurs.operators.rows import Rows
from occurs.plan.pipes import PipesDefinition
from occurs.plan.sequences import SequenceDefinition
from occurs.plan.stage import Stage
from occurs.plan.triggers import TriggerDefinition


@dataclass
class Found:
    """The complete matches of a template, rule after rule, in rank order; ``tables``: the rows of each role;
    ``checks``: what was looked at beside them."""

    pattern: Pattern
    matches: Matches
    tables: Sequence[Rows]
    columns: dict[str, Column]
    labels: Labels | None = None
    checks: Sequence[Checked] = ()
    cuts: list[int] | None = None
    sheets: dict[bool, tuple[Schema, pa.Table | None]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.matches)

    @property
    def units(self) -> Sequence[Pattern]:
        return (self.pattern,)

    @property
    def place(self) -> int:
        return self.pattern.rules[0].place

    @property
    def at(self) -> np.ndarray | None:
        return None

    @property
    def outputs(self) -> set[str]:
        return set(self.pattern.defining)

    @property
    def time(self) -> np.ndarray:
        return self.tables[0].time[self.matches.rows[0]]

    def parts(self, type: str) -> list[Found]:
        """The parts of the rules that define ``type``, without empty ones."""
        return [p for r in self.pattern.defining.get(type, ()) if (p := self.part(r)) is not None]

    def part(self, rule: int) -> Found | None:
        """What one rule found, None if nothing."""
        if self.matches.rule is None:
            return self if len(self.matches) else None
        at = self.rows_of(rule)
        if at.start == at.stop:
            return None
        p = self.pattern
        return Found(
            Pattern(p.terminator, p.steps, p.outputs, (p.rules[rule],)),
            Matches(None, [rows[at] for rows in self.matches.rows]),
            self.tables,
            {n: c.slice(at.start, at.stop) for n, c in self.columns.items()},
            None if self.labels is None else Labels(self.labels.hi[at], self.labels.lo[at]),
            [c.take(at) for c in self.checks],
        )

    def rows_of(self, rule: int) -> slice:
        """Where the matches of one rule stand."""
        if self.matches.rule is None:
            return slice(0, len(self.matches))
        if self.cuts is None:
            self.cuts = np.searchsorted(self.matches.rule, np.arange(len(self.pattern.rules) + 1)).tolist()
        return slice(self.cuts[rule], self.cuts[rule + 1])

    def sheet(self, schema: Schema, kind: TimeKind, label: bool) -> pa.Table | None:
        """All matches of the template as one table, to be sliced rule by rule; None if Arrow could not address it,
        or if another rule has made it with another schema."""
        if label not in self.sheets:
            types = self._types()
            table = None
            if types is not None:
                table = table_of(types, self.time, self.columns, schema, kind, self.labels if label else None, None)
            self.sheets[label] = (schema, table)
        made, table = self.sheets[label]
        return table if made is schema or made == schema else None

    def _types(self) -> str | pa.Array | None:
        """The type of every match; None if Arrow could not address so much text."""
        rule = self.matches.rule
        if rule is None:
            return self.pattern.rules[0].output
        text, lengths = self.pattern.output_text
        return type_column(text, lengths, np.bincount(rule, minlength=len(lengths)))

    def take(self, at: np.ndarray) -> Found:
        labels = None if self.labels is None else self.labels.take(at)
        columns = {n: c.take(at) for n, c in self.columns.items()}
        checks = [c.take(at) for c in self.checks]
        return Found(self.pattern, self.matches.take(at), self.tables, columns, labels, checks)

    def rows(self, type: str, schema: Schema) -> Rows:
        """The derived events as rows of their type."""
        return Rows(type, self.time, {n: self.columns[n].cast(t) for n, t in schema}, labels=self.labels)

    def because(self, kind: TimeKind) -> pa.Array:
        """Per match the list of its constituents: its events, then the intervals that it looked at."""
        n, m = len(self.matches), len(self.tables)
        types = [t.type.partition("(")[0] if t.type.startswith("Timer(") else t.type for t in self.tables]
        size = m + len(self.checks)
        times, ends, labels, attributes = [], [], [], []
        for table, rows in zip(self.tables, self.matches.rows):
            times.append(table.time[rows])
            ends.append(np.zeros(n, np.int64))
            assert table.labels is not None
            labels.append(table.labels.take(rows).hex().cast(pa.string()))
            attributes.append(attributes_of(table, rows))
        for check in self.checks:
            times.append(check.start)
            ends.append(check.end)
            labels.append(pa.nulls(n, pa.string()))
            attributes.append(check.attributes)
        role = pa.array(np.tile(np.arange(size), n))
        by_match = np.arange(n * size).reshape(size, n).T.ravel()
        made = Reasons(
            np.arange(n + 1) * size,
            pa.array([*self.pattern.rules[0].role_names, *(c.role for c in self.checks)]).take(role),
            pa.array([*types, *(c.type for c in self.checks)]).take(role),
            np.concatenate(times)[by_match],
            pa.concat_arrays(labels).take(pa.array(by_match)),
            pa.concat_arrays(attributes).take(pa.array(by_match)),
            np.concatenate(ends)[by_match],
            np.tile(np.arange(size) >= m, n),
        )
        return because_array(made, kind)


class Derived(Protocol):
    """What definitions that an operator runs together found in a call, rule after rule.

    ``units``: the patterns of the stage, or the sequences, that it is of: the rules of ``units[i]`` have the numbers
    from i on (several units have one rule each).
    """

    def __len__(self) -> int: ...

    @property
    def units(self) -> Sequence[Pattern | SequenceDefinition | TriggerDefinition | PipesDefinition]: ...

    @property
    def outputs(self) -> set[str]: ...

    def parts(self, type: str) -> Sequence[Part]: ...

    def part(self, rule: int) -> Part | None: ...

    def rows_of(self, rule: int) -> slice: ...

    def sheet(self, schema: Schema, kind: TimeKind, label: bool) -> pa.Table | None: ...


class Part(Protocol):
    """What one definition found in a call, in the order of time, place within the instant and rank.  ``place``: of the
    definition; ``at``: per event (None: derived when the instant was complete)."""

    columns: dict[str, Column]
    labels: Labels | None

    def __len__(self) -> int: ...

    @property
    def place(self) -> int: ...

    @property
    def time(self) -> np.ndarray: ...

    @property
    def at(self) -> np.ndarray | None: ...

    def take(self, at: np.ndarray) -> Part: ...

    def rows(self, type: str, schema: Schema) -> Rows: ...

    def because(self, kind: TimeKind) -> pa.Array: ...


class Parts(Mapping[str, "list[Part]"]):
    """Found templates by type: cut when a type is asked for, as there may be thousands of types."""

    def __init__(self, stage: Stage, found: Sequence[Derived], types: Collection[str]):
        self._stage = stage
        self._types = types
        made = {id(u): (f, number) for f in found for number, u in enumerate(f.units)}
        self._found = [made.get(id(u)) for u in (*stage.patterns, *stage.sequences, *stage.triggers, *stage.pipes)]
        self._cut: dict[str, list[Part]] = {}

    def _makers(self, type: str) -> list[tuple[Derived, int]]:
        """What the rules that define a type found: (template, number of the rule)."""
        places = self._stage.makers.get(type, ())
        return [(found[0], found[1] + number) for at, number in places if (found := self._found[at]) is not None]

    def __getitem__(self, type: str) -> list[Part]:
        if type not in self._types:
            raise KeyError(type)
        if type not in self._cut:
            parts = [p for f, number in self._makers(type) if (p := f.part(number)) is not None]
            if type in self._stage.filters:
                parts = [self._subscribed(type, p) for p in parts]
            self._cut[type] = parts
        return self._cut[type]

    def alone(self, type: str) -> tuple[Derived, int] | None:
        """The template and the number of the one rule that defines ``type``, if nobody filters what it finds."""
        place = self._stage.sole.get(type)
        if place is None or type not in self._types:
            return None
        found = self._found[place[0]]
        return None if found is None else (found[0], found[1] + place[1])

    def _subscribed(self, type: str, part: Part) -> Part:
        chosen = subscribed(self._stage, type, part.rows(type, self._stage.schemas[type]))
        return part if chosen is None else part.take(chosen)

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)


@runtime_checkable
class Counted(Protocol):
    """Rows by type that are made when they are asked for, and counted before."""

    def count(self, type: str, /) -> int: ...


@dataclass
class TypeRows:
    """The reported rows of one call: per defined type its parts, in evaluation order, or the ``rows`` of its net, and
    the subscribed input.  Rows of a net that are not all final have a column ``final``."""

    stage: Stage
    parts: Parts
    outside: Mapping[str, Rows]
    rows: Mapping[str, Rows] = field(default_factory=dict)
    #: what definitions counted of their input
    counts: Mapping[str, int] = field(default_factory=dict)

    def count(self, type: str) -> int:
        if type in self.rows:
            return self.rows.count(type) if isinstance(self.rows, Counted) else len(self.rows[type])
        given = len(self.outside[type]) if type in self.outside else 0
        return given + sum(len(f) for f in self.parts.get(type, ()))

    def table(self, type: str, *, label: bool = False, because: bool = False, final: bool = False) -> pa.Table:
        """The reported events of a type, in key order: type, time, attributes, then final (is a row, or does it still
        hold?), label and because if asked for."""
        table = self._table(type, label, because)
        if not final:
            return table
        schema, n = self.stage.schemas[type], len(table)
        told = self.rows[type].columns.get("final") if type in self.rows else None
        known = pa.array(np.ones(n, np.bool_)) if told is None else told.arrow
        return table.add_column(2 + schema.lasting + len(schema.names), "final", known)

    def _table(self, type: str, label: bool, because: bool) -> pa.Table:
        schema = self.stage.schemas[type]
        kind = self.stage.kind
        if type in self.rows:
            rows = self.rows[type]
            if not len(rows):
                return empty_table(schema, kind, label, because)
            reasons = (no_reasons(len(rows), kind) if rows.reasons is None else rows.reasons) if because else None
            labels, arrays = rows.labels if label else None, rows.cache.get("arrays")
            if arrays is not None and labels is None and reasons is None:
                return table_of_arrays(type, arrays, schema, kind)
            return table_of(type, rows.time, rows.columns, schema, kind, labels, reasons)
        alone = None if because or type in self.outside else self.parts.alone(type)
        if alone is not None:
            at = alone[0].rows_of(alone[1])
            sheet = alone[0].sheet(schema, kind, label)
            if sheet is not None:
                return sheet.slice(at.start, at.stop - at.start)
        tables, places = [], []
        if type in self.outside:
            rows = self.outside[type]
            reasons = pa.nulls(len(rows), because_type(kind)) if because else None
            labels = rows.labels if label else None
            tables.append(table_of(type, rows.time, rows.columns, schema, kind, labels, reasons))
            places.append(rows.at)
        for f in self.parts.get(type, ()):
            reasons = f.because(kind) if because else None
            tables.append(table_of(type, f.time, f.columns, schema, kind, f.labels if label else None, reasons))
            places.append(f.at)
        if not tables:
            return empty_table(schema, kind, label, because)
        table = pa.concat_tables(tables).combine_chunks() if len(tables) > 1 else tables[0]
        if len(tables) > 1:
            ticks = table.column("time").cast(pa.int64()).to_numpy()
            if type in self.stage.placed:
                sizes = zip(places, map(len, tables), strict=True)
                place = np.concatenate([np.full(n, INSTANT, np.int64) if p is None else p for p, n in sizes])
                table = table.take(pa.array(np.lexsort((place, ticks))))
            else:
                table = table.take(pa.array(np.argsort(ticks, kind="stable")))
        return table


def with_begun(rows: Rows, begun: Rows | None) -> Rows:
    """Rows that are final and open ones that are told before, in the order of time and end, with a column ``final``."""
    if begun is None or not len(begun):
        return rows
    both = concat_rows([rows, begun], 0)
    final = np.arange(len(both)) < len(rows)
    end = both.columns["end"]
    order = np.lexsort((end.values, ~end.is_valid(), both.time))
    both = replace(both, columns={**both.columns, "final": Column(Type.BOOL, final, None)})
    out = both.take(order)
    if rows.reasons is not None and begun.reasons is not None:
        out.reasons = pa.concat_arrays([rows.reasons, begun.reasons]).take(pa.array(order))
    return out


def gather(
    stage: Stage, found: Sequence[Derived], outside: Mapping[str, Rows], derived: Mapping[str, Rows]
) -> TypeRows:
    """Cut what was found into types, and leave out what nobody subscribed to; ``derived``: the rows of nets."""
    parts = Parts(stage, found, stage.derived)
    given = {}
    for t, rows in outside.items():
        if stage.subscribed and t in stage.reported:
            chosen = subscribed(stage, t, rows)
            given[t] = rows if chosen is None else rows.take(chosen)
    return TypeRows(stage, parts, given, {t: r for t, r in derived.items() if t in stage.derived})


def subscribed(stage: Stage, type: str, rows: Rows) -> np.ndarray | None:
    """The rows that satisfy some subscription; None for all."""
    filters = stage.filters.get(type, ())
    if not filters or None in filters or not len(rows):
        return None
    passed = np.zeros(len(rows), np.bool_)
    for f in filters:
        assert f is not None
        mask, undecided = select(f, lambda leaf: own_column(rows, leaf), len(rows), kind=stage.kind)
        if undecided is not None:
            message = f"a number overflows 64-bit integers in a filter on `{type}`"
            raise InputProblem.of("overflow", message)
        passed |= mask
    return np.flatnonzero(passed)
