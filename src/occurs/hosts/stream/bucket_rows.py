"""The ways into a stateful stage and out of it: wide rows to records for buckets, and records back to rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.sparkerrors import problems_in_text
from occurs.errors import InputProblem, Problem
from occurs.hosts.spark.inlets import TRUNCATE, sweeping
from occurs.hosts.spark.wide import Kind, arrow_of, because_ddl, ddl_of, joint_kinds
from occurs.hosts.stream.clock import Clock, Ends
from occurs.hosts.stream.grouped import Groups
from occurs.hosts.stream.layout import Layout, Path
from occurs.hosts.stream.records import (
    BAD,
    CLOCK,
    DDL,
    FOUND,
    LATE,
    NAMES,
    REPLAY,
    REPLAY_CLOCK,
    ROWS,
    SCHEMA,
    STRAYS,
    Record,
    batch,
    from_blob,
    records,
    to_blob,
)

#: rows that are packed at once
CHUNK = 100_000
#: rows without a reader for which a record of their own is worth its while
SHARE = 4_096
#: bad rows that a message shows
_SHOWN = 20

Batches = Iterator[pa.RecordBatch]


def make_packer(layout: Layout, depth: int) -> Callable[[Batches], Batches]:
    """The function that ``mapInArrow`` runs: wide rows, with a bucket ``__b<lane>`` each or null, to records.

    Records among the rows (``kind`` is not null) pass.  Of the input (depth 0) every task tells all buckets the least
    and the greatest time of its rows; where buckets are grouped, each group (see :mod:`occurs.hosts.stream.grouped`).
    """

    def pack(batches: Batches) -> Batches:
        with problems_in_text():
            yield from _Packing(layout, depth).run(batches)

    return pack


class _Packing:
    def __init__(self, layout: Layout, depth: int):
        self.layout = layout
        self.paths = layout.at(depth)
        #: lanes of later stages, whose rows of the input pass through the stages before
        self.later = layout.fed(depth)[len(self.paths) :]
        self.first = depth == 0
        self.clock = Clock(0)
        self.history = Clock(0)
        self.rows = self.bad = self.outside = self.empty = 0
        self.closing = False
        self.ends = Ends()
        self.groups = Groups(layout) if self.first and layout.grouped else None

    def run(self, batches: Batches) -> Batches:
        held: list[pa.RecordBatch] = []
        n = 0
        for rows in batches:
            if rows.num_rows == 0:
                continue
            held.append(rows)
            n += rows.num_rows
            if n >= CHUNK:
                yield from self.chunk(pa.Table.from_batches(held))
                held, n = [], 0
        if held:
            yield from self.chunk(pa.Table.from_batches(held))
        if self.groups is not None:
            clock = next(self.clocks()) if self.rows or self.closing else None
            yield from self.groups.packed(clock)
        elif self.first and (self.rows or self.closing):
            yield batch(self.clocks())
        if self.history.newest is not None:
            past = self.history
            yield batch(
                Record(REPLAY_CLOCK, number, lo=past.least, hi=past.newest, last=past.last)
                for number in self.layout.ids
            )

    def clocks(self) -> Iterator[Record]:
        """To every bucket what was seen; the counts to one."""
        for b, number in enumerate(self.layout.ids):
            counts = {n: getattr(self, n) for n in ("rows", "bad", "outside", "empty")} if b == 0 else {}
            lo, hi, blob = self.clock.least, self.clock.newest, self.ends.blob
            yield Record(CLOCK, number, lo=lo, hi=hi, closing=self.closing, blob=blob, **counts)

    def chunk(self, table: pa.Table) -> Batches:
        if "kind" in table.column_names:
            passing = table.filter(table.column("kind").is_valid())
            yield from passing.select(NAMES).cast(SCHEMA).to_batches()
            table = table.filter(table.column("kind").is_null())
        if "__state" in table.column_names:
            bad = table.filter(pc.equal(table.column("__state"), 2))
            if bad.num_rows:
                yield from self.left_out(bad)
            history = table.filter(pc.greater(table.column("__state"), 3))
            if history.num_rows:
                yield from self.replay(history.filter(pc.equal(history.column("__state"), 4)))
                table = table.filter(pc.less(table.column("__state"), 4))
            table = self.seen(table)
        if table.num_rows == 0:
            return
        paths = (*self.paths, *self.later)
        found: list[Record] = []
        if self.groups is None:
            found += (r for path in paths for r in self.packed(path, table))
        else:
            yield from self.groups.packed()  # the rows before, without the clock, which comes with the last ones
            for path in paths:
                self.groups.add(path, self.shares(path, table, self.layout.grouped))
        if self.first:
            found += self.strays(table)
        if found:
            yield batch(found)

    def replay(self, table: pa.Table) -> Batches:
        """Rows of history: they move no clock but their own."""
        if table.num_rows:
            time = table.column("__time").to_numpy()
            last = pc.max(table.column("__end")).as_py() if "__end" in table.column_names else None
            self.history.see(int(time.min()), int(time.max()), last)
            found = [replace(r, kind=REPLAY) for path in self.paths for r in self.packed(path, table)]
            if found:
                yield batch(found)

    def seen(self, table: pa.Table) -> pa.Table:
        """The good rows; all of them move the clock, whatever type they are of."""
        state = table.column("__state").to_numpy()
        control = int((state == 3).sum())
        self.closing = self.closing or control > 0
        self.rows += len(state) - control
        outside = state == 1
        self.outside += int(outside.sum())
        until = self.layout.until
        if until is not None and outside.any():
            newest = int(table.filter(pa.array(outside)).column("__time").to_numpy().max())
            if newest > until:
                self.clock.see(None, newest)  # what comes after the end says that the end has come
        if (state != 0).any():
            table = table.filter(pa.array(state == 0))
        if table.num_rows:
            time = table.column("__time").to_numpy()
            self.clock.see(int(time.min()), int(time.max()))
            if "__end" in table.column_names:
                self.empty += pc.sum(pc.equal(table.column("__end"), table.column("__time"))).as_py() or 0
                self.ends.see(table)
        return table

    def left_out(self, bad: pa.Table) -> Batches:
        """Bad rows refuse the run, or travel on with their reasons."""
        self.bad += bad.num_rows
        texts = bad.column("__bad").to_pylist()
        if not self.layout.skip:
            raise InputProblem(problems_of(texts[:_SHOWN], bad.num_rows))
        yield batch([Record(BAD, self.layout.ids[0], bad=len(texts), blob="\n".join(texts).encode())])

    def packed(self, path: Path, table: pa.Table) -> Iterator[Record]:
        for b, rows in self.shares(path, table):
            yield Record(ROWS, self.layout.ids[b], path.lane.number, blob=to_blob(rows))

    def shares(self, path: Path, table: pa.Table, grouped: int = 0) -> Iterator[tuple[int, pa.Table]]:
        """The rows of a lane that there are, bucket by bucket; ``grouped``: so many buckets at a time, with the column
        ``__bucket``."""
        bucket = table.column(f"__b{path.lane.number}")
        if bucket.null_count == len(bucket):
            return
        home = self.home(path, table)
        mine = np.flatnonzero(bucket.is_valid().to_numpy())
        if path.lane.split:
            rows, number = mine, pc.fill_null(bucket, 0).to_numpy()[mine]
            counted = None if home is None else home[rows]
            everywhere = self.everywhere(path, table)[mine]
            if everywhere.any():
                buckets = self.layout.buckets
                copies = np.repeat(mine[everywhere], buckets), np.tile(np.arange(buckets), int(everywhere.sum()))
                other = copies[1] != np.repeat(number[everywhere], buckets)
                counted = np.ones(len(rows), np.bool_) if counted is None else counted
                counted = np.concatenate([counted, np.zeros(int(other.sum()), np.bool_)])  # a copy is not counted
                rows, number = (np.concatenate([own, more[other]]) for own, more in zip((rows, number), copies))
        else:
            parts = self.by_type(path, table, mine)
            rows = np.concatenate([own for _, own in parts])
            number = np.concatenate([np.full(len(own), b) for b, own in parts])
            counted = None
            if home is not None:
                counted = np.concatenate([home[own] & self.reads_first(path, table, own, b) for b, own in parts])
        order = np.argsort(number, kind="stable")
        rows, number = rows[order], number[order]
        there = set(table.column_names)
        columns = table.select([c for c in path.columns if c in there])
        share = number // max(1, grouped)
        cuts = [0, *(np.flatnonzero(np.diff(share)) + 1).tolist(), len(share)]
        for first, after in pairwise(cuts if len(share) else []):
            part = columns.take(pa.array(rows[first:after]))
            if counted is not None:
                part = part.append_column("__home", pa.array(counted[order[first:after]]))
            if grouped:
                part = part.append_column("__bucket", pa.array(number[first:after].astype(np.int32)))
            yield int(share[first]), part.combine_chunks()

    def everywhere(self, path: Path, table: pa.Table) -> np.ndarray:
        """Which rows are for every bucket: those that take all rows of a table away."""
        out = np.zeros(table.num_rows, np.bool_)
        for type, column in sweeping(path.lane.group, path.inlets).items():
            if path.lane.group.mode == "keyed" and column in table.column_names:
                told = pc.fill_null(pc.equal(table.column(column), TRUNCATE), False).to_numpy()
                out |= told & (self.types(table) == type) if told.any() else told
        return out

    def home(self, path: Path, table: pa.Table) -> np.ndarray | None:
        """Of which rows is this the first lane?  None: of all (late rows are counted once)."""
        if not self.first or path.lane.depth > 0 or (len(self.paths) == 1 and path.lane.split):
            return None
        out = np.ones(table.num_rows, np.bool_)
        for other in self.paths:
            if other is path:
                break
            out &= table.column(f"__b{other.lane.number}").is_null().to_numpy()
        return out

    def by_type(self, path: Path, table: pa.Table, rows: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """The rows for every bucket of a lane that is not split: those of the types that are read there."""
        types = self.types(table)[rows]
        return [
            (b, rows[np.isin(types, [t for t, readers in path.lane.readers.items() if b in readers])])
            for b in sorted(path.lane.stages)
        ]

    def reads_first(self, path: Path, table: pa.Table, rows: np.ndarray, b: int) -> np.ndarray:
        own = [t for t, readers in path.lane.readers.items() if readers[0] == b]
        return np.isin(self.types(table)[rows], own)

    def types(self, table: pa.Table) -> np.ndarray:
        """The names of the types, as objects."""
        column = table.column("__type")
        if pa.types.is_integer(column.type):
            return np.array([*self.layout.types, ""], object)[pc.fill_null(column, -1).to_numpy()]
        return np.array(column.to_pylist(), object)

    def strays(self, table: pa.Table) -> Iterator[Record]:
        """Rows that no definition reads: they may be late, too.  All buckets know when, and many rows are dealt to all
        of them."""
        mask = np.ones(table.num_rows, np.bool_)
        for path in self.paths:
            mask &= table.column(f"__b{path.lane.number}").is_null().to_numpy()
        if mask.any():
            names = ["__time", "__data"] if self.layout.late else ["__time"]
            part = table.filter(pa.array(mask)).select(names).combine_chunks()
            buckets = self.layout.buckets
            shares = min(buckets, -(-len(part) // SHARE))
            cuts = np.linspace(0, len(part), shares + 1).astype(np.int64).tolist()
            dealt = int(part.column("__time")[0].as_py())  # tasks begin at different buckets
            for n, (first, last) in enumerate(pairwise(cuts)):
                number = self.layout.ids[(dealt + n) % buckets]
                yield Record(STRAYS, number, blob=to_blob(part.slice(first, last - first).combine_chunks()))


def problems_of(texts: list[str], total: int) -> list[Problem]:
    """Bad rows, as JSON with their reasons, in the words of the other hosts."""
    problems = []
    for text in texts:
        row = json.loads(text)
        for found in row["found"]:
            reason, value = found["r"], found.get("v")
            kind = "bad-time" if reason.endswith("time") and reason != "end before time" else "bad-value"
            where = f"row {row['row']}: " if row.get("row") is not None else ""
            shown = "" if value is None else f": {value!r}"
            message = f"{where}{reason} in column `{found['n']}`{shown}"
            problems.append(Problem(kind, message, file=row.get("file"), row=row.get("row"), value=value))
    hint = "to skip and count such rows, use --bad-rows skip (Python: bad_rows='skip')"
    if total > len(texts):
        hint = f"and {total - len(texts):,} more bad rows; {hint}"
    last = problems[-1]
    problems[-1] = Problem(last.kind, last.message, file=last.file, row=last.row, value=last.value, hint=hint)
    return problems


# --- from records back to rows: what an earlier stage hands on, and what users see -----------------------------------


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
    ``final``: they say whether they are; ``query``: they say which query of window mode gives them."""

    paths: tuple[Path, ...]
    types: tuple[str, ...]
    attributes: tuple[tuple[str, Kind], ...]
    label: bool
    because: bool
    lasting: bool = False
    final: bool = False
    query: bool = False

    @classmethod
    def of(cls, paths: Sequence[Path], types: Sequence[str], label: bool, because: bool, query: bool = False) -> Shown:
        """Raises UsageProblem if attributes of one name are of kinds that do not go together."""
        schemas = {t: p.lane.group.stage.schemas[t] for p in paths for t in p.wide.reported}
        kinds = joint_kinds((t, schemas[t]) for t in types)
        lasting = any(schemas[t].lasting for t in types)
        attributes = tuple(kinds.items())
        return cls(tuple(paths), tuple(types), attributes, label, because, lasting, paths[0].wide.final, query)

    @property
    def ddl(self) -> str:
        """Times as ticks, attributes numbered (names are the user's)."""
        parts = ["type string", "time bigint", *(["end bigint"] if self.lasting else [])]
        parts += [f"a{n} {ddl_of(t)}" for n, (_, t) in enumerate(self.attributes)]
        parts += ["query bigint"] if self.query else []
        parts += ["final boolean"] if self.final else []
        parts += ["label string"] if self.label else []
        parts += [f"because {because_ddl(self.paths[0].wide.kind)}"] if self.because else []
        return ", ".join(parts)

    def reader(self, path: Path) -> Callable[[bytes], pa.Table | None]:
        """What makes the rows of these types out of a FOUND record of a lane; None if it has none of them."""
        chosen = Chosen.of(path, self.types)
        sources = {
            name: {c: None if of is None else Chosen.of(path, of).mine for c, of in columns.items()}
            for name, columns in path.wide.sources(self.types).items()
        }

        def read(blob: bytes) -> pa.Table | None:
            table = chosen.rows(from_blob(blob))
            return None if table is None else self._shown(table, chosen, sources)

        return read

    def _shown(
        self, table: pa.Table, chosen: Chosen, sources: Mapping[str, Mapping[str, np.ndarray | None]]
    ) -> pa.Table:
        """Rows as users see them; ``sources``: the columns that may have an attribute, and by the numbers of types
        whether it is that of their rows (None: of all that have the column)."""
        n, number = len(table), table.column("__type").to_numpy()
        found = {"type": chosen.names_of(table), "time": table.column("__time")}
        if self.lasting:
            found["end"] = table.column("__end") if "__end" in table.column_names else pa.nulls(n, pa.int64())
        for i, (name, kind) in enumerate(self.attributes):
            values = []
            for c, mine in sources.get(name, {}).items():
                value = table.column(c).cast(arrow_of(kind))
                here = None if mine is None else pa.array(mine[number])
                values.append(value if here is None else pc.if_else(here, value, pa.scalar(None, value.type)))
            found[f"a{i}"] = _first(values) if values else pa.nulls(n, arrow_of(kind))
        found |= {"query": table.column("__query")} if self.query else {}
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
