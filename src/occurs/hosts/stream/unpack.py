"""From records back to rows: what an earlier stage hands on, and what users see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import UsageProblem
from occurs.hosts.spark.wide import Kind, arrow_of, because_ddl, ddl_of, joint, kinds_of
from occurs.hosts.stream.layout import Path
from occurs.hosts.stream.records import DDL, FOUND, LATE, NAMES, SCHEMA, from_blob, records

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class Handed:
    """What a lane hands on to a stage: the rows of ``types``, with columns (name in the lane's wide rows, name there,
    type)."""

    path: Path
    types: tuple[str, ...]
    columns: tuple[tuple[str, str, Kind], ...]


def handed_ddl(handed: Sequence[Handed], labelled: bool) -> str:
    """The columns that :func:`make_unpacker` gives."""
    parts = [DDL, "__type string", "__time bigint", "__derived boolean"]
    parts += ["__label string"] if labelled else []
    parts += [f"{c} {ddl_of(t)}" for h in handed for _, c, t in h.columns]
    return ", ".join(parts)


def make_unpacker(handed: Sequence[Handed], labelled: bool) -> Callable[[Batches], Batches]:
    """Records pass; behind those with rows that are handed on come these rows, with no ``kind``."""
    fields = [*SCHEMA, pa.field("__type", pa.string()), pa.field("__time", pa.int64())]
    fields += [pa.field("__derived", pa.bool_())]
    fields += [pa.field("__label", pa.string())] if labelled else []
    fields += [pa.field(c, arrow_of(t)) for h in handed for _, c, t in h.columns]
    schema = pa.schema(fields)
    by_lane = {h.path.lane.number: h for h in handed}

    def rows(h: Handed, blob: bytes) -> pa.Table | None:
        table = from_blob(blob)
        names = h.path.wide.reported
        numbers = [n for n, t in enumerate(names) if t in h.types]
        number = table.column("__type").to_numpy()
        mine = np.isin(number, numbers)
        if not mine.any():
            return None
        table = table.filter(pa.array(mine))
        found = {"__type": pa.array(np.array(names, object)[number[mine]], pa.string())}
        found |= {"__time": table.column("__time"), "__derived": pa.array(np.ones(len(table), np.bool_))}
        found |= {"__label": table.column("__label")} if labelled else {}
        found |= {there: table.column(c) for c, there, _ in h.columns}
        nothing = {f.name: pa.nulls(len(table), f.type) for f in schema if f.name not in found}
        both = {**found, **nothing}
        return pa.table([both[f.name] for f in schema], schema=schema)

    def unpack(batches: Batches) -> Batches:
        for b in batches:
            if b.num_rows == 0:
                continue
            arrays = [b.column(f.name) if f.name in NAMES else pa.nulls(b.num_rows, f.type) for f in schema]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            for r in records(b):
                h = by_lane.get(r.lane) if r.kind == FOUND else None
                table = rows(h, r.blob) if h is not None and r.blob is not None else None
                if table is not None:
                    yield from table.combine_chunks().to_batches()

    return unpack


@dataclass(frozen=True)
class Shown:
    """What users see of the detections of several types: their attributes side by side; ``lasting``: some last;
    ``final``: they say whether they are."""

    paths: tuple[Path, ...]
    types: tuple[str, ...]
    attributes: tuple[tuple[str, Kind], ...]
    label: bool
    because: bool
    lasting: bool = False
    final: bool = False

    @classmethod
    def of(cls, paths: Sequence[Path], types: Sequence[str], label: bool, because: bool) -> Shown:
        """Raises UsageProblem if attributes of one name are of kinds that do not go together."""
        kinds: dict[str, Kind] = {}
        first: dict[str, str] = {}
        lasting = False
        for t in types:
            schemas = next(p.lane.group.stage.schemas for p in paths if t in p.wide.reported)
            lasting = lasting or schemas[t].lasting
            for name, kind in kinds_of(schemas[t]):
                both = joint(kinds.get(name, kind), kind)
                if both is None:
                    text = f"attribute `{name}` is {kinds[name]} in `{first[name]}`, but {kind} in `{t}`"
                    raise UsageProblem.of("bad-option", text, hint="name types that agree: together(..)")
                kinds[name] = both
                first.setdefault(name, t)
        return cls(tuple(paths), tuple(types), tuple(kinds.items()), label, because, lasting, paths[0].wide.final)

    @property
    def ddl(self) -> str:
        """Times as ticks, attributes numbered (names are the user's)."""
        parts = ["type string", "time bigint", *(["end bigint"] if self.lasting else [])]
        parts += [f"a{n} {ddl_of(t)}" for n, (_, t) in enumerate(self.attributes)]
        parts += ["final boolean"] if self.final else []
        parts += ["label string"] if self.label else []
        parts += [f"because {because_ddl(self.paths[0].wide.kind)}"] if self.because else []
        return ", ".join(parts)

    def table(self, path: Path, blob: bytes) -> pa.Table | None:
        """The rows of a FOUND record; None if there are none of these types."""
        table = from_blob(blob)
        names, schemas = path.wide.reported, path.lane.group.stage.schemas
        number = table.column("__type").to_numpy()
        mine = np.isin(number, [n for n, t in enumerate(names) if t in self.types])
        if not mine.any():
            return None
        if not mine.all():
            table, number = table.filter(pa.array(mine)), number[mine]
        n = len(table)
        found = {"type": pa.array(np.array(names, object)[number], pa.string()), "time": table.column("__time")}
        if self.lasting:
            found["end"] = table.column("__end") if path.wide.lasting else pa.nulls(n, pa.int64())
        for i, (name, kind) in enumerate(self.attributes):
            used = dict.fromkeys(path.wide.physical[(t, name)] for t in names if t in self.types and name in schemas[t])
            values = [table.column(c).cast(arrow_of(kind)) for c in used]
            found[f"a{i}"] = _first(values) if values else pa.nulls(n, arrow_of(kind))
        found |= {"final": table.column("__final")} if self.final else {}
        found |= {"label": table.column("__label")} if self.label else {}
        found |= {"because": table.column("__because")} if self.because else {}
        return pa.table(found)


def _first(columns: Sequence[pa.ChunkedArray]) -> pa.ChunkedArray:
    """Row by row the first value that is there."""
    if len(columns) == 1 or not pa.types.is_nested(columns[0].type):
        return pc.coalesce(*columns) if len(columns) > 1 else columns[0]
    out = columns[-1]
    for column in reversed(columns[:-1]):
        out = pc.if_else(column.is_valid(), column, out)
    return out


def make_reader(shown: Shown) -> Callable[[Batches], Batches]:
    """The rows of FOUND records."""
    by_lane = {p.lane.number: p for p in shown.paths}

    def read(batches: Batches) -> Batches:
        for b in batches:
            for r in records(b):
                if r.kind == FOUND and r.blob is not None and r.lane in by_lane:
                    table = shown.table(by_lane[r.lane], r.blob)
                    if table is not None:
                        yield from table.combine_chunks().to_batches()

    return read


def late_data(batches: Batches) -> Batches:
    """The rows of LATE records, as JSON: one column ``data``."""
    for b in batches:
        for r in records(b):
            if r.kind == LATE and r.blob is not None:
                table = from_blob(r.blob)
                yield from pa.table({"data": table.column("__data")}).to_batches()
