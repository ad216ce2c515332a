"""What one micro-batch gives, in this process: for sinks that are fed batch by batch (``foreachBatch``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import Problem
from occurs.found import called
from occurs.hosts.spark.wide import Kind, kinds_of
from occurs.hosts.stream.adopt import begun_anew
from occurs.hosts.stream.layout import Layout
from occurs.hosts.stream.records import BAD, FIGURES, FOUND, LATE, from_blob, records
from occurs.hosts.stream.unpack import Shown
from occurs.model.types import Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TEXTS = ("reason", "file", "column", "value", "data")
_BAD = pa.schema([*((n, pa.string()) for n in _TEXTS), ("row", pa.int64())])


@dataclass
class MicroBatch:
    """``found``: the detections of every reported type, as the other hosts give them, in order of time.  ``late``: JSON
    texts, a row each (if asked for).  ``bad``: reason, file, column, value, data, row.  ``timeouts``: per statement the
    partial matches that guards ended, ``never``: per trigger when instances were found to be able to fire no more (if
    asked for).

    ``figures``: rows, bad, outside, empty (end = time), late, found; waiting, kept (rows held at the end), size (bytes
    of state written), frontier and newest (ticks).  ``warnings``: definitions that could not take over their state.
    """

    found: dict[str, pa.Table]
    late: list[str] = field(default_factory=list)
    bad: pa.Table = field(default_factory=_BAD.empty_table)
    figures: dict[str, int | None] = field(default_factory=dict)
    timeouts: dict[str, pa.Table] = field(default_factory=dict)
    never: dict[str, pa.Table] = field(default_factory=dict)
    warnings: list[Problem] = field(default_factory=list)


@dataclass(frozen=True)
class StreamQuery:
    """One query that finds ``types``; ``frame``: its records, with output mode append.  ``sides``: side outputs, to the
    names that users know them by; ``notices``: those with notices of triggers, to the names of these."""

    frame: DataFrame
    layout: Layout
    types: tuple[str, ...]
    label: bool
    because: bool
    sides: Mapping[str, str] = field(default_factory=dict)
    notices: Mapping[str, str] = field(default_factory=dict)

    def read(self, rows: pa.Table) -> MicroBatch:
        """The records of a micro-batch (``frame.toArrow()`` inside ``foreachBatch``)."""
        parts: dict[str, list[pa.Table]] = {t: [] for t in self._all}
        shown = self._shown
        figures: dict[str, int | None] = dict.fromkeys(_SUMS, 0)
        figures |= {"frontier": None, "newest": None}
        late: list[str] = []
        bad: list[pa.Table] = []
        anew: set[str] = set()
        for r in records(rows):
            if r.kind == FOUND and r.blob is not None:
                for t, table in self._found(shown, r.lane, r.blob).items():
                    parts[t].append(table)
            elif r.kind == LATE and r.blob is not None:
                late += from_blob(r.blob).column("__data").to_pylist()
            elif r.kind == BAD and r.blob is not None:
                bad.append(bad_rows(r.blob.decode().split("\n")))
            elif r.kind == FIGURES:
                for name in _SUMS:
                    figures[name] = (figures[name] or 0) + getattr(r, name)
                figures["frontier"] = _least(figures["frontier"], r.lo)
                figures["newest"] = r.hi if figures["newest"] is None else max(figures["newest"], r.hi or 0)
                anew |= set(json.loads(r.blob)) if r.blob is not None else set()
        found = {t: self._table(t, parts[t]) for t in self.types}
        ended = {name: called(self._table(t, parts[t]), name) for t, name in self.sides.items()}
        never = {name: self._notice(called(self._table(t, parts[t]), name)) for t, name in self.notices.items()}
        for table in (*ended.values(), *never.values()):
            figures["found"] = (figures["found"] or 0) - len(table)
        whole = pa.concat_tables(bad) if bad else _BAD.empty_table()
        return MicroBatch(found, late, whole, figures, ended, never, [begun_anew(anew)] if anew else [])

    def _notice(self, table: pa.Table) -> pa.Table:
        """Without label and constituents, as other hosts give notices: nothing has made them but time."""
        own = {"label"} if self.label else set()
        own |= {"because"} if self.because else set()
        return table.select([n for n in table.column_names if n not in own])

    @property
    def _all(self) -> tuple[str, ...]:
        return (*self.types, *self.sides, *self.notices)

    @property
    def _shown(self) -> Mapping[str, Shown]:
        return {t: Shown.of(self.layout.paths, (t,), self.label, self.because) for t in self._all}

    def _found(self, shown: Mapping[str, Shown], lane: int, blob: bytes) -> dict[str, pa.Table]:
        path = next(p for p in self.layout.paths if p.lane.number == lane)
        out = {}
        for t in self._all:
            if t in path.wide.reported:
                table = shown[t].table(path, blob)
                if table is not None:
                    out[t] = table
        return out

    def _table(self, type: str, parts: Sequence[pa.Table]) -> pa.Table:
        """All rows of a type in order of time, with the columns that users see."""
        path = next(p for p in self.layout.paths if type in p.wide.reported)
        stage = path.lane.group.stage
        time = pa.timestamp("us", tz="UTC") if stage.kind.timestamp else pa.int64()
        stamp = pa.timestamp("us", tz="UTC")
        schema = stage.schemas[type]
        kinds = zip(schema, kinds_of(schema))  # what is of several types is text
        attributes = [(n, stamp if t is Type.TIMESTAMP else _arrow(schema, n, t, k)) for (n, t), (_, k) in kinds]
        lasting = schema.lasting
        fields = [("type", pa.string()), ("time", time), *([("end", time)] if lasting else []), *attributes]
        fields += [("final", pa.bool_())] if path.wide.final else []
        fields += [("label", pa.string())] if self.label else []
        if not parts:
            return pa.schema(fields).empty_table()
        table = pa.concat_tables(parts)
        order = [("time", "ascending"), *([("end", "ascending")] * lasting), *([("label", "ascending")] * self.label)]
        table = table.take(pc.sort_indices(table, sort_keys=order))
        names = [n for n, _ in fields] + ["because"] * self.because
        # an attribute without any value travels as text
        arrays = [
            pa.nulls(len(c), t) if pa.types.is_null(t) else c.cast(t) for c, (_, t) in zip(table.columns, fields)
        ] + table.columns[len(fields) :]
        return pa.table(arrays, names=names)


_SUMS = ("rows", "bad", "outside", "empty", "late", "found", "waiting", "kept", "size")


def _arrow(schema: Schema, name: str, type: Type, kind: Kind) -> pa.DataType:
    return pa.string() if kind is Type.STRING else schema.arrow_of(name, type)


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
