"""What a call of the engine detected, cut into the types that a program reports."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.engine.blocks import Detected, Part
from occurs.engine.outputs import (
    because_type,
    empty_table,
    records_of,
    table_of,
)
from occurs.errors import InputProblem
from occurs.expr.evaluate import select
from occurs.model.types import Schema
from occurs.operators.frame import own_column
from occurs.operators.merging import INSTANT
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage


class Parts(Mapping[str, "list[Part]"]):
    """The blocks ``found`` by type: cut when a type is asked for, as there may be thousands of types."""

    def __init__(self, stage: Stage, found: Sequence[Detected], types: Collection[str]):
        self.found = found
        self._stage = stage
        self._types = types
        #: the parts of the types that were asked for
        self._cut: dict[str, list[Part]] = {}
        self._blocks: dict[int, tuple[Detected, int]] | None = None

    def _block(self, at: int) -> tuple[Detected, int] | None:
        """The block of an output of the stage, and the number of the output there; None if it has no rows."""
        if self._blocks is None:
            self._blocks = {id(f.block.outs[n]): (f, n) for f in self.found for n in f.block.filled()}
        return self._blocks.get(id(self._stage.outs[at]))

    def count(self, type: str) -> int:
        """How many rows of a type there are."""
        if type not in self._types:
            return 0
        if type in self._stage.filters:
            return sum(map(len, self[type]))
        return sum(f.block.size_of(number) for f, number in self._makers(type))

    def _makers(self, type: str) -> list[tuple[Detected, int]]:
        """The blocks with rows of a type, and the number of the output in each."""
        return [found for at in self._stage.makers.get(type, ()) if (found := self._block(at)) is not None]

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
        return None if number is None or type not in self._types else self._block(number)

    def _subscribed(self, type: str, part: Part) -> Part:
        chosen = subscribed(self._stage, type, part.rows())
        return part if chosen is None else part.take(chosen)

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return len(self._types)


@dataclass
class TypeRows:
    """The reported rows of one call: per defined type its parts, in evaluation order, and the subscribed input."""

    stage: Stage
    parts: Parts
    outside: Mapping[str, Rows]
    #: what definitions counted of their input
    counts: Mapping[str, int] = field(default_factory=dict)

    def count(self, type: str) -> int:
        """How many rows of a type there are."""
        return (len(self.outside[type]) if type in self.outside else 0) + self.parts.count(type)

    def table(
        self, type: str, *, label: bool = False, because: bool = False, final: bool = False,
        wanted: Callable[[pa.Table], pa.ChunkedArray] | None = None,
    ) -> pa.Table:  # fmt: skip
        """The reported events of a type, in key order: type, time, attributes, then final (false: the row is
        provisional), label and because if asked for.

        ``wanted``: which derived rows of a table without these are taken; labels and constituents of others are not
        made.
        """
        schema, kind = self.stage.schemas[type], self.stage.kind
        if not final and not self.count(type):
            return empty_table(schema, kind, label, because)
        alone = None if because or final or wanted or type in self.outside else self.parts.alone(type)
        sheet = None if alone is None else alone[0].sheet(schema, kind, label)
        if alone is not None and sheet is not None:
            at = alone[0].block.rows_of(alone[1])
            return sheet.slice(at.start, at.stop - at.start)
        tables, places, told = [], [], []
        if type in self.outside:
            rows = self.outside[type]
            reasons = pa.nulls(len(rows), because_type(kind)) if because else None
            labels = rows.labels if label else None
            tables.append(table_of(type, rows.time, rows.columns, schema, kind, labels, reasons))
            places.append(rows.at)
            told.append(np.ones(len(rows), np.bool_))
        for f in self.parts.get(type, ()):
            if wanted is not None:
                mask = wanted(table_of(type, f.time, f.columns, schema, kind, None, None))
                f = f.take(np.flatnonzero(mask.to_numpy()))
            reasons = f.because(kind) if because else None
            tables.append(table_of(type, f.time, f.columns, schema, kind, f.labels if label else None, reasons))
            places.append(f.at)
            told.append(np.ones(len(f), np.bool_) if f.final is None else f.final)
        table = tables[0] if len(tables) == 1 else empty_table(schema, kind, label, because)
        known = np.concatenate([np.zeros(0, np.bool_), *told])
        if len(tables) > 1:
            table = pa.concat_tables(tables).combine_chunks()
            by = [table.column("time").cast(pa.int64()).to_numpy()]
            if type in self.stage.placed:
                sizes = zip(places, map(len, tables), strict=True)
                by.insert(0, np.concatenate([np.full(n, INSTANT, np.int64) if p is None else p for p, n in sizes]))
            order = np.lexsort(by)
            table, known = table.take(pa.array(order)), known[order]
        return table.add_column(2 + schema.lasting + len(schema.names), "final", pa.array(known)) if final else table

    def joint_tables(
        self, types: AbstractSet[str], *, label: bool = False
    ) -> Iterator[tuple[list[str], np.ndarray, pa.Table]]:
        """For each block with rows of some of the ``types`` only, which have one schema: its types, how many rows each
        has, and one table of them, one type behind the other.  Its column ``type`` is empty."""
        schemas, parts = self.stage.schemas, self.parts

        def apart(type: str, schema: Schema) -> bool:
            own = schemas[type]
            return type in self.outside or parts.alone(type) is None or (own is not schema and own != schema)

        for one in parts.found:
            block = one.block
            if not one.joint:
                continue
            filled = block.filled()
            own = [block.outs[number].type for number in filled]
            if own and set(own) <= types and not any(apart(t, schemas[own[0]]) for t in own):
                sizes = np.array([block.size_of(number) for number in filled])
                yield own, sizes, one.joint_table(schemas[own[0]], self.stage.kind, label)

    def found(self) -> set[str]:
        """The types of which there may be rows: most calls of a live run find none."""
        types = {t for t, rows in self.outside.items() if len(rows)}
        for one in self.parts.found:
            outs = one.block.outs
            types.update(outs[number].type for number in one.block.filled())
        return types

    def records(self, type: str, *, label: bool = False, because: bool = False) -> list[dict[str, Any]]:
        """The rows of :meth:`table`, each as a dict."""
        if not (label or because or type in self.outside):
            parts = self.parts.get(type, ())
            if len(parts) == 1 and len(parts[0]):
                part = parts[0]
                return records_of(type, part.time, part.columns, self.stage.schemas[type], self.stage.kind)
        rows: list[dict[str, Any]] = self.table(type, label=label, because=because).to_pylist()
        return rows

    def pieces(self, type: str, most: int, *, label: bool = False, because: bool = False) -> Iterator[pa.Table]:
        """The rows of :meth:`table`, at most ``most`` at a time; also of a type that is defined but not reported."""
        parts = self.parts
        if type not in self.stage.derived and type not in self.outside:
            parts = Parts(self.stage, self.parts.found, self.stage.defined)
        found = list(parts.get(type, ()))
        if type in self.outside or len(found) != 1:
            table = replace(self, parts=parts).table(type, label=label, because=because)
            yield from (table.slice(i, most) for i in range(0, len(table), most))
            return
        schema, kind = self.stage.schemas[type], self.stage.kind
        for i in range(0, len(found[0]), most):
            part = found[0].take(np.arange(i, min(i + most, len(found[0]))))
            reasons = part.because(kind) if because else None
            yield table_of(type, part.time, part.columns, schema, kind, part.labels if label else None, reasons)


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
