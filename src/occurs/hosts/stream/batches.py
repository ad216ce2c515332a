"""What one micro-batch gives, in this process: for sinks that are fed batch by batch (``foreachBatch``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.outputs import because_type
from occurs.errors import Problem
from occurs.hosts.frequent import Frequent
from occurs.hosts.spark.wide import kinds_of
from occurs.hosts.stream.frequent import frequent_keys
from occurs.hosts.stream.layout import Layout, Path
from occurs.hosts.stream.records import BAD, FIGURES, FOUND, FREQUENT, LATE, SIZES, from_blob, records
from occurs.hosts.stream.state_migration import begun_anew
from occurs.model.types import Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TEXTS = ("reason", "file", "column", "value", "data")
_BAD = pa.schema([*((n, pa.string()) for n in _TEXTS), ("row", pa.int64())])


@dataclass
class MicroBatch:
    """The result of one micro-batch of a stream.

    Attributes:
        found: The detections of every reported type, in time order.
        late: The late rows as JSON texts, if requested.
        bad: The skipped rows: reason, file, column, value, data, row.
        figures: Counts of rows: ``rows`` read, ``bad``, ``outside``, ``empty`` intervals, ``late``, ``found``;
            ``waiting`` and ``kept`` rows of state; ``size``, the bytes of state written; ``frontier`` and ``newest``,
            in ticks.
        timeouts: The partial matches that guards ended, by statement, if requested.
        never: The triggers that can no longer fire, by trigger, if requested.
        warnings: Warnings about definitions that could not restore their state.
        frequent: The keys with many of the rows, as estimated from a sample; the most frequent one first.
        states: The rows of state of the definitions of each type, if requested.
        pasts: The past rows of each type that definitions still need, if requested.
    """

    found: dict[str, pa.Table]
    late: list[str] = field(default_factory=list)
    bad: pa.Table = field(default_factory=_BAD.empty_table)
    figures: dict[str, int | None] = field(default_factory=dict)
    timeouts: dict[str, pa.Table] = field(default_factory=dict)
    never: dict[str, pa.Table] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)
    frequent: list[Frequent] = field(default_factory=list)
    states: dict[str, int] = field(default_factory=dict)
    pasts: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class StreamQuery:
    """One streaming query with the detections of several types.

    Attributes:
        frame: The records of the query, a streaming DataFrame to write in output mode append.
        types: The reported types.
        sides: The types of side outputs, each with the name of its statement.
        notices: The types of notices of triggers, each with the name of its trigger.
    """

    frame: DataFrame
    layout: Layout
    types: tuple[str, ...]
    label: bool
    because: bool
    sides: Mapping[str, str] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)

    def read(self, rows: pa.Table) -> MicroBatch:
        """Return the detections in the records of a micro-batch, ``frame.toArrow()`` inside ``foreachBatch``."""
        found: dict[int, list[pa.Table]] = {}
        figures: dict[str, int | None] = dict.fromkeys(_SUMS, 0)
        figures |= {"frontier": None, "newest": None}
        late: list[str] = []
        bad: list[pa.Table] = []
        anew: set[str] = set()
        common: list[Frequent] = []
        sizes: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        for r in records(rows):
            if r.kind == FOUND and r.blob is not None:
                found.setdefault(r.lane, []).append(from_blob(r.blob))
            elif r.kind == LATE and r.blob is not None:
                late += from_blob(r.blob).column("__data").to_pylist()
            elif r.kind == BAD and r.blob is not None:
                bad.append(bad_rows(r.blob.decode().split("\n")))
            elif r.kind == FREQUENT and r.blob is not None:
                common += frequent_keys(r.blob, self.layout, r.lane)
            elif r.kind == SIZES and r.blob is not None:
                for seat in json.loads(r.blob):
                    for total, own in zip(sizes, seat, strict=True):
                        total.update(own)
            elif r.kind == FIGURES:
                for name in _SUMS:
                    figures[name] = (figures[name] or 0) + getattr(r, name)
                figures["frontier"] = _least(figures["frontier"], r.lo)
                figures["newest"] = r.hi if figures["newest"] is None else max(figures["newest"], r.hi or 0)
                anew |= set(json.loads(r.blob)) if r.blob is not None else set()
        tables = {t: shape.schema.empty_table() for shapes in self._shapes.values() for t, shape in shapes.items()}
        for lane, parts in found.items():
            tables |= dict(_cut(parts, self._shapes[lane]))
        sides = {name: tables[t] for t, name in self.sides.items()}
        never = {name: tables[t] for t, name in self.notices.items()}
        for table in (*sides.values(), *never.values()):
            figures["found"] = (figures["found"] or 0) - len(table)
        bads = pa.concat_tables(bad) if bad else _BAD.empty_table()
        warnings = [begun_anew(anew)] if anew else []
        common.sort(key=lambda k: -k.rows)
        states, pasts = map(dict, sizes)
        found_tables = {t: tables[t] for t in self.types}
        return MicroBatch(found_tables, late, bads, figures, sides, never, warnings, common, states, pasts)

    @cached_property
    def _shapes(self) -> Mapping[int, Mapping[str, _Shape]]:
        """Lane by lane the types that are found there, with the columns that users see."""
        names = {**{t: t for t in self.types}, **self.sides, **self.notices}
        out: dict[int, dict[str, _Shape]] = {}
        for path in self.layout.paths:
            own = out.setdefault(path.lane.number, {})
            for number, t in enumerate(path.wide.reported):
                if t in names:
                    # nothing but time has made notices: they have neither labels nor constituents, as on other hosts
                    made = t not in self.notices
                    label, because = self.label and made, self.because and made
                    own[t] = _Shape.of(path, t, number, names[t], label, because, self.layout.window is not None)
        return out


@dataclass(frozen=True)
class _Shape:
    """How users see the rows of a type.  ``number``: of the type in its lane; ``name``: what users call it;
    ``columns``: those of wide rows that are the columns of ``schema`` behind the first, ``type``."""

    number: int
    name: str
    schema: pa.Schema
    columns: tuple[str, ...]

    @classmethod
    def of(
        cls, path: Path, type: str, number: int, name: str, label: bool, because: bool, query: bool = False
    ) -> _Shape:
        stage, wide = path.lane.group.stage, path.wide
        schema = stage.schemas[type]
        time = pa.timestamp("us", tz="UTC") if stage.kind.timestamp else pa.int64()
        fields = [("time", time, "__time")]
        fields += [("end", time, "__end")] if schema.lasting else []
        for (n, t), (_, kind) in zip(schema, kinds_of(schema)):  # what is of several types is text
            fields.append((n, pa.string() if kind is Type.STRING else schema.arrow_of(n, t), wide.physical[type, n]))
        fields += [("query", time, "__query")] if query else []
        fields += [("final", pa.bool_(), "__final")] if wide.final else []
        fields += [("label", pa.string(), "__label")] if label else []
        fields += [("because", because_type(stage.kind), "__because")] if because else []
        columns = pa.schema([("type", pa.string()), *((n, t) for n, t, _ in fields)])
        return cls(number, name, columns, tuple(c for _, _, c in fields))


def _cut(parts: Sequence[pa.Table], shapes: Mapping[str, _Shape]) -> Iterator[tuple[str, pa.Table]]:
    """The wide rows of a lane type by type, each in order of time, with the columns that users see.

    All rows are sorted at once, and a column is cast once for all types that have it: a type costs little more than
    the cuts of its columns.
    """
    whole = pa.concat_tables(parts)
    keys = [n for n in ("__type", "__query", "__time", "__end", "__label") if n in whole.column_names]
    whole = whole.take(pc.sort_indices(whole, sort_keys=[(n, "ascending") for n in keys])).combine_chunks()
    number = whole.column("__type").to_numpy()
    bounds = np.searchsorted(number, np.arange(number[-1] + 2)).tolist()
    cast: dict[tuple[str, pa.DataType], pa.ChunkedArray] = {}
    for t, shape in shapes.items():
        first, after = bounds[shape.number : shape.number + 2] if shape.number <= number[-1] else (0, 0)
        if first == after:
            continue
        columns = [pa.repeat(pa.scalar(shape.name), after - first)]
        for column, type in zip(shape.columns, shape.schema.types[1:], strict=True):
            values = cast.get((column, type))
            if values is None:
                values = whole.column(column)
                # an attribute without any value travels as text
                values = pa.chunked_array([pa.nulls(len(whole))]) if pa.types.is_null(type) else values.cast(type)
                cast[column, type] = values
            columns.append(values.slice(first, after - first))
        yield t, pa.Table.from_arrays(columns, schema=shape.schema)


_SUMS = ("rows", "bad", "outside", "empty", "late", "found", "waiting", "kept", "size", "read")


def _least(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)


def bad_rows(texts: Sequence[str]) -> pa.Table:
    """Bad rows as JSON, one line per reason."""
    out = []
    for text in texts:
        row = json.loads(text)
        for e in row["found"]:
            origin = {"file": row.get("file"), "row": row.get("row"), "data": row.get("data")}
            out.append({"reason": e["r"], "column": e["n"], "value": e.get("v"), **origin})
    return pa.Table.from_pylist(out, schema=_BAD)
