"""What a call of the engine detected, cut into the types that a program reports."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from occurs.engine.blocks import Detected, Part
from occurs.engine.outputs import (
    because_type,
    empty_table,
    no_reasons,
    table_of,
    table_of_arrays,
)
from occurs.engine.tables import concat_rows
from occurs.errors import InputProblem
from occurs.expr.evaluate import select
from occurs.model.types import Type
from occurs.operators.columns import Column
from occurs.operators.frame import own_column
from occurs.operators.merging import INSTANT
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage


class Parts(Mapping[str, "list[Part]"]):
    """Blocks by type: cut when a type is asked for, as there may be thousands of types."""

    def __init__(self, stage: Stage, found: Sequence[Detected], types: Collection[str]):
        self._stage = stage
        self._types = types
        made = {id(out): (f, number) for f in found for number, out in enumerate(f.block.outs)}
        self._found = [made.get(id(out)) for out in stage.outs]
        self._cut: dict[str, list[Part]] = {}

    def _makers(self, type: str) -> list[tuple[Detected, int]]:
        """The blocks with rows of a type, and the number of the output in each."""
        return [found for at in self._stage.makers.get(type, ()) if (found := self._found[at]) is not None]

    def __getitem__(self, type: str) -> list[Part]:
        if type not in self._types:
            raise KeyError(type)
        if type not in self._cut:
            parts = [p for f, number in self._makers(type) if (p := f.part(number)) is not None]
            if type in self._stage.filters:
                parts = [self._subscribed(type, p) for p in parts]
            self._cut[type] = parts
        return self._cut[type]

    def alone(self, type: str) -> tuple[Detected, int] | None:
        """The block, and the number in it, of the one output that defines ``type``, if nobody filters its rows."""
        number = self._stage.sole.get(type)
        return None if number is None or type not in self._types else self._found[number]

    def _subscribed(self, type: str, part: Part) -> Part:
        chosen = subscribed(self._stage, type, part.rows())
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
    stage: Stage, found: Sequence[Detected], outside: Mapping[str, Rows], derived: Mapping[str, Rows]
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
