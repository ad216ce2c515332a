"""From records back to rows: what an earlier stage hands on, and what users see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.hosts.spark.wide import Kind, arrow_of, because_ddl, ddl_of, joint_kinds
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
    by_lane = {h.path.lane.number: (h, Chosen.of(h.path, h.types)) for h in handed}

    def rows(h: Handed, chosen: Chosen, blob: bytes) -> pa.Table | None:
        table = chosen.rows(from_blob(blob))
        if table is None:
            return None
        found = {"__type": chosen.names_of(table), "__time": table.column("__time")}
        found |= {"__derived": pa.array(np.ones(len(table), np.bool_))}
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
                mine = by_lane.get(r.lane) if r.kind == FOUND else None
                table = rows(*mine, r.blob) if mine is not None and r.blob is not None else None
                if table is not None:
                    yield from table.combine_chunks().to_batches()

    return unpack


@dataclass(frozen=True)
class Chosen:
    """Some of the types of a lane.  ``mine``: of every type of the lane, by its number, whether it is one of them;
    ``names``: of all."""

    mine: np.ndarray
    names: pa.Array

    @classmethod
    def of(cls, path: Path, types: Collection[str]) -> Chosen:
        wanted = set(types)
        return cls(np.array([t in wanted for t in path.wide.reported], np.bool_), pa.array(path.wide.reported))

    def rows(self, table: pa.Table) -> pa.Table | None:
        """The rows of these types among wide ones; None if there are none."""
        mine = self.mine[table.column("__type").to_numpy()]
        if not mine.any():
            return None
        return table if mine.all() else table.filter(pa.array(mine))

    def names_of(self, table: pa.Table) -> pa.ChunkedArray:
        """The types of wide rows by name."""
        return pa.chunked_array([self.names]).take(table.column("__type").combine_chunks())


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
        schemas = {t: p.lane.group.stage.schemas[t] for p in paths for t in p.wide.reported}
        kinds = joint_kinds((t, schemas[t]) for t in types)
        lasting = any(schemas[t].lasting for t in types)
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

    def reader(self, path: Path) -> Callable[[bytes], pa.Table | None]:
        """What makes the rows of these types out of a FOUND record of a lane; None if it has none of them."""
        chosen = Chosen.of(path, self.types)
        wanted = set(self.types)
        schemas = path.lane.group.stage.schemas
        sources: dict[str, dict[str, None]] = {}
        for (t, name), column in path.wide.physical.items():
            if t in wanted and name in schemas[t]:
                sources.setdefault(name, {})[column] = None

        def read(blob: bytes) -> pa.Table | None:
            table = chosen.rows(from_blob(blob))
            return None if table is None else self._shown(table, chosen, sources)

        return read

    def _shown(self, table: pa.Table, chosen: Chosen, sources: Mapping[str, Collection[str]]) -> pa.Table:
        """Rows as users see them; ``sources``: the columns that may have an attribute."""
        n = len(table)
        found = {"type": chosen.names_of(table), "time": table.column("__time")}
        if self.lasting:
            found["end"] = table.column("__end") if "__end" in table.column_names else pa.nulls(n, pa.int64())
        for i, (name, kind) in enumerate(self.attributes):
            values = [table.column(c).cast(arrow_of(kind)) for c in sources.get(name, ())]
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
    by_lane = {p.lane.number: shown.reader(p) for p in shown.paths}

    def read(batches: Batches) -> Batches:
        for b in batches:
            for r in records(b):
                if r.kind == FOUND and r.blob is not None and r.lane in by_lane:
                    table = by_lane[r.lane](r.blob)
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
