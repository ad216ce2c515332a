"""A program over a history as a stream, in this process and without Spark: what the JVM does is done here in Python.

Rows are made wide, put into buckets, cut into micro-batches and sent through packers, buckets and unpackers, stage
after stage, as ``occurs.hosts.stream.detect`` wires them.  Tasks, the order of records and of buckets are drawn anew in
every micro-batch, as Spark promises none.
"""

from __future__ import annotations

import json
import random
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import occurs
import spreading
from occurs.checked_program import CheckedProgram
from occurs.connect.sparkerrors import translate
from occurs.engine.state import meta_from_ipc
from occurs.hosts.spark.read import OTHERS
from occurs.hosts.spark.wide import arrow_of
from occurs.hosts.stream import bucket as memory_of
from occurs.hosts.stream.batches import MicroBatch, StreamQuery
from occurs.hosts.stream.bucket import Bucket
from occurs.hosts.stream.bucket_rows import make_packer, make_unpacker
from occurs.hosts.stream.detect import _handed, lay_out
from occurs.hosts.stream.grouped import SLOTS, make_router
from occurs.hosts.stream.layout import Path as LanePath
from occurs.hosts.stream.records import GROUPED, NAMES, Record, batch, records
from occurs.hosts.stream.source import StreamSource
from occurs.hosts.stream.state_migration import pieces_of
from occurs.model.history import InputOptions, Source
from occurs.model.occurrence import Occurrence
from occurs.model.types import Schema, Type
from occurs.options import Window, named
from occurs.plan.partitioning import groups
from occurs.verify.compare import occurrences_of


class Store:
    """Bytes by name; refuses what only a mistake would do: rewriting or dropping what is not there."""

    def __init__(self) -> None:
        self.value: bytes | None = None
        self.pieces: dict[str, bytes] = {}

    def meta(self) -> bytes | None:
        return self.value

    def set_meta(self, data: bytes) -> None:
        self.value = data

    def get(self, name: str) -> bytes:
        return self.pieces[name]

    def put(self, name: str, data: bytes) -> None:
        kept = any(kind in name for kind in ("/state/",))
        again = kept or name == "program" or name.endswith("/consumed")
        assert again or name not in self.pieces, f"{name} is written twice"
        self.pieces[name] = data

    def drop(self, name: str) -> None:
        assert name in self.pieces, f"{name} is dropped, but not there"
        del self.pieces[name]

    def copy(self) -> Store:
        out = Store()
        out.value, out.pieces = self.value, dict(self.pieces)
        return out

    def check(self) -> None:
        """Every piece of a lane is named by the entry, and every named one is there."""
        assert self.value is not None
        known = set()
        for lane, entry in meta_from_ipc(self.value)["lanes"].items():
            known |= {f"{lane}/{name}" for name in pieces_of(entry)}
        kept = {name for name in self.pieces if "/" in name}
        assert known == kept, f"pieces: {sorted(known ^ kept)}"


@dataclass
class How:
    """How a history becomes a stream.  ``size``: rows of a micro-batch (None: all); ``delay``: in ticks; ``shuffled``:
    in disorder within the delay; ``memory``: ``kept``, ``forgetful`` (state is read back at every step), ``mixed``, or
    ``crash`` (micro-batches are begun, lost, and run again); ``apart``: the end comes in a micro-batch of its own;
    ``one_scan``: rows of the input for later stages travel through the first (None: with every other seed);
    ``grouped``: so many buckets share the records of a task (None: two with every third seed); ``divide``: so many
    buckets share the rules of one key (None: 1, 2 or 7 by the seed); ``share``: the state of a lane is written when
    the rows taken since then, so many times, are more than what operators keep, however little that is (0: only first,
    at a change of rules, and at an end that decides something; None: by the seed 0, 1 or as the constants say).

    With odd seeds what is not remembered is in local files, and nothing is read from a store that began here.  With
    every third seed the detections are also compared with those that tasks would write."""

    buckets: int = 3
    size: int | None = 7
    delay: int = 0
    shuffled: bool = False
    memory: str = "kept"
    because: bool = True
    late: bool = False
    skip: bool = False
    apart: bool = True
    seed: int = 0
    one_scan: bool | None = None
    grouped: int | None = None
    divide: int | None = None
    share: int | None = None


@dataclass
class Answer:
    """What a stream gave: all detections, the figures of all micro-batches, late rows, bad rows."""

    found: list[Occurrence] = field(default_factory=list)
    batches: list[MicroBatch] = field(default_factory=list)

    def total(self, name: str) -> int:
        return sum(b.figures[name] or 0 for b in self.batches)

    @property
    def late(self) -> list[dict[str, Any]]:
        return [json.loads(text) for b in self.batches for text in b.late]


class InStream:
    """One query over the types of ``tables``; :attr:`rows` are the wide rows of all of them, in order of time."""

    def __init__(
        self,
        program: occurs.Program | CheckedProgram,
        tables: Mapping[str, pa.Table] | Sequence[Source],
        options: InputOptions,
        how: How,
    ):
        self.how, self.rng = how, random.Random(how.seed)
        program = program.checked if isinstance(program, occurs.Program) else program
        program = program.reasoning() if how.because else program
        given: Any = list(tables)
        if isinstance(tables, Mapping):
            given = named(dict(tables), program.assigned)
        pairs = list(given.items()) if isinstance(given, Mapping) else [(s.type, s.table) for s in given]
        history = program.history(given, options)
        self.stage = program.plan(history.schemas, history.kind)
        whole = history
        if options.start is not None or options.until is not None:
            whole = program.history(given, replace(options, start=None, until=None))
        start, until = (
            None if asked is None else end
            for asked, end in zip((options.start, options.until), history.clock or (None, None))
        )
        columns: dict[tuple[str, Any], str] = {}
        physical: dict[tuple[str, str], str] = {}
        schemas = {t: s for t, s in history.schemas.items() if t in program.reads}
        known = {*schemas, *program.reads, *program.declared, *program.defined}
        self._others = program.reads_all
        if self._others:  # as `with_others` does
            schemas[OTHERS] = Schema()
            self.stage = program.plan(schemas, history.kind)
        for t, schema in schemas.items():
            for name, kind in schema:
                if kind is not Type.NULL:
                    of = schema.arrow_of(name, kind) if kind is Type.RECORD else kind
                    physical[(t, name)] = columns.setdefault((name, of), f"c{len(columns)}")
        self.source = StreamSource(
            frame=cast("Any", None),
            schemas=schemas,
            kind=history.kind,
            physical=physical,
            has_sequence=any("sequence" in t.column_names for t in whole.tables.values()),
            labelled=frozenset(t for t, table in whole.tables.items() if "label" in table.column_names),
            start=start,
            until=until,
            delay=how.delay,
            fields={},
            has_end=any("end" in t.column_names for _, t in pairs),
        )
        parts = groups(self.stage.definitions, self.stage)
        token = uuid.uuid4().hex
        self.layout = lay_out(
            parts, self.source, how.buckets, token, label=how.because, because=how.because, late=how.late,
            skip=how.skip, final=program.provisional,
            window=None if program.window is None else Window.of(*program.window, history.kind),
            one_scan=how.seed % 2 == 0 if how.one_scan is None else how.one_scan,
            divide=random.Random(how.seed).choice((1, 2, 7)) if how.divide is None else how.divide,
        )  # fmt: skip
        self.layout = replace(self.layout, grouped=2 * (how.seed % 3 == 1) if how.grouped is None else how.grouped)
        asked = self.stage.found, how.because, how.because, self.stage.sides, self.stage.notices
        self.query = StreamQuery(cast("Any", None), self.layout, *asked)
        self._share = random.Random(how.seed).choice((None, 1, 0)) if how.share is None else how.share
        self.stores: dict[tuple[int, int], Store] = {}
        self._begun: set[tuple[int, int]] = set()
        #: detections that stayed with the tasks, where that was compared
        self.spread = 0
        self._local = tempfile.TemporaryDirectory() if how.memory != "kept" and how.seed % 2 else None
        kinds = {c: arrow_of(kind) for (_, kind), c in columns.items()}
        special = {c: pa.string() for c in ("__type", "__label", "__bad", "__data")}
        special |= {"__time": pa.int64(), "__end": pa.int64(), "__sequence": pa.int64(), "__state": pa.int32()}
        self.schema = pa.schema([*special.items(), *kinds.items()])
        renamed = {t: OTHERS if self._others and t not in known else t for t in whole.tables}
        made = [self._wide(renamed[t], table) for t, table in whole.tables.items()]
        made += [self._unread(t, table) for t, table in pairs if t is not None and t not in whole.tables and len(table)]
        rows = pa.concat_tables([self.schema.empty_table(), *made])
        self.rows = rows.take(pc.sort_indices(rows, sort_keys=[("__time", "ascending")]))

    # -- rows ----------------------------------------------------------------------------------------------------------
    def _wide(self, type: str, table: pa.Table) -> pa.Table:
        columns = {"__time": table.column("time").cast(pa.int64())}
        columns |= self._ends(table)
        for special in ("sequence", "label"):
            if special in table.column_names:
                columns[f"__{special}"] = table.column(special)
        for name in table.column_names:
            place = self.source.physical.get((type, name))
            if place is not None:
                columns[place] = table.column(name).cast(self.schema.field(place).type)
        return self._filled(type, columns)

    def _unread(self, type: str, table: pa.Table) -> pa.Table:
        return self._filled(type, {"__time": table.column("time").cast(pa.int64()), **self._ends(table)})

    def _ends(self, table: pa.Table) -> dict[str, Any]:
        if "end" not in table.column_names:
            return {}
        end, until = table.column("end").cast(pa.int64()), self.source.until
        return {"__end": end if until is None else pc.if_else(pc.greater(end, until), None, end)}

    def _filled(self, type: str, columns: Mapping[str, Any]) -> pa.Table:
        times = columns["__time"].to_pylist()
        start, until = self.source.start, self.source.until
        out = [(start is not None and t < start) or (until is not None and t > until) for t in times]
        data = [json.dumps({"type": type, "time": t, "row": n}) for n, t in enumerate(times)]
        both = {"__type": pa.array([type] * len(times), pa.string()), "__state": pa.array(out).cast(pa.int32())}
        both |= {"__data": pa.array(data, pa.string()), **columns}
        arrays = [both[f.name] if f.name in both else pa.nulls(len(times), f.type) for f in self.schema]
        return pa.table(arrays, schema=self.schema)

    def cut(self) -> list[pa.Table]:
        """The rows as micro-batches; within the delay no row is late, whatever the order."""
        rows, size = self.rows, self.how.size
        if self.how.shuffled:
            when = [t + self.rng.random() * self.how.delay for t in rows.column("__time").to_pylist()]
            rows = rows.take(pa.array(sorted(range(len(when)), key=when.__getitem__), pa.int64()))
        if size is None:
            return [rows] if len(rows) else []
        return [rows.slice(n, size) for n in range(0, len(rows), size)]

    # -- running -------------------------------------------------------------------------------------------------------
    def run(self, parts: list[pa.Table] | None = None) -> Answer:
        """All micro-batches and the end.  Raises what the program or the input is refused for."""
        parts = self.cut() if parts is None else parts
        steps = [(p, False) for p in parts]
        if self.how.apart or not parts:
            steps.append((self.rows.slice(0, 0), True))
        else:
            steps[-1] = (parts[-1], True)
        out = Answer()
        before: int | None = None
        for rows, closing in steps:
            records = self.micro_batch(rows, closing)
            got = self.query.read(records)
            if self.how.seed % 3 == 0:
                self.spread += spreading.compare(self.query, records, got, 300 * (self.how.seed % 2))
            found = occurrences_of(got.found)
            frontier = got.figures["frontier"]
            assert frontier is not None or not found
            # each detection comes as soon as its instant is complete, and no sooner
            prompt = not self.stage.families and all(d.delay == 0 for d in self.stage.definitions)
            for e in found if prompt else ():
                assert before is None or e.time > before, (before, e)
                assert e.time <= cast("int", frontier), (e, frontier)
            before = frontier
            out.found += found
            out.batches.append(got)
        return out

    def micro_batch(self, rows: pa.Table, closing: bool = False) -> pa.Table:
        """The records of one micro-batch, as Spark gives them to a sink."""
        if self.how.memory == "crash" and self.rng.random() < 0.6:
            saved = {key: store.copy() for key, store in self.stores.items()}
            self._stages(rows, closing, self.rng.randint(0, 6))
            self.stores = saved
        found = self._stages(rows, closing, None)
        assert found is not None
        for store in self.stores.values():
            store.check()
        return found

    def _stages(self, rows: pa.Table, closing: bool, patience: int | None) -> pa.Table | None:
        """All stages; with ``patience``: until so many records were made, then everything is lost."""
        before: pa.RecordBatch | None = None
        made = 0
        for depth in range(self.layout.depth):
            found: list[Record] = []
            mine: dict[int, list[Record]] = {}
            for r in self._packed(depth, rows, before, closing):
                mine.setdefault(r.bucket, []).append(r)
            assert set(mine) == set(self.layout.ids) or not (rows.num_rows or closing), "a bucket hears nothing"
            for number in self.rng.sample(sorted(mine), len(mine)):
                self.rng.shuffle(mine[number])
                if self.how.memory == "forgetful" or (self.how.memory != "kept" and self.rng.random() < 0.4):
                    memory_of._memories.clear()
                if (depth, number) not in self.stores:
                    self._begun.add((depth, number))
                store = self.stores.setdefault((depth, number), Store())
                local = None if self._local is None else Path(self._local.name)
                bucket = Bucket(self.layout, depth, number, store, local)
                with pytest.MonkeyPatch.context() as patch:
                    if self._share is not None:
                        patch.setattr(memory_of, "SMALL", 0)
                        patch.setattr(memory_of, "STEP", 1)
                        patch.setattr(memory_of, "SHARE", self._share)
                    for r in bucket.step(mine[number]):
                        found.append(r)
                        made += 1
                        if patience is not None and made > patience:
                            return None
                if local is not None and (depth, number) in self._begun:
                    assert bucket.read == 0, f"{bucket.read} bytes are not in local files"
            before = batch(found)
        assert before is not None
        return pa.Table.from_batches([before])

    def _packed(self, depth: int, rows: pa.Table, before: pa.RecordBatch | None, closing: bool) -> Iterator[Record]:
        packed = self._from_tasks(depth, rows, before, closing)
        if depth > 0 or not self.layout.grouped:
            yield from packed
            return
        mine: dict[int, list[Record]] = {}
        for r in packed:
            mine.setdefault(r.bucket * SLOTS + r.lane if r.kind == GROUPED else -1, []).append(r)
        for found in mine.values():
            yield from _told(lambda found=found: make_router(self.layout)(iter([batch(found)])))

    def _from_tasks(
        self, depth: int, rows: pa.Table, before: pa.RecordBatch | None, closing: bool
    ) -> Iterator[Record]:
        table = self._stage_input(depth, rows, before, closing)
        task = [self.rng.randrange(3) for _ in range(len(table))]
        for number in range(3):
            part = table.filter(pa.array([t == number for t in task], pa.bool_()))
            pieces = part.to_batches(max_chunksize=self.rng.choice((1, 5, 1000)))
            yield from _told(lambda pieces=pieces: make_packer(self.layout, depth)(iter(pieces)))

    def _stage_input(self, depth: int, rows: pa.Table, before: pa.RecordBatch | None, closing: bool) -> pa.Table:
        """The columns that ``chain._stage_input`` selects."""
        layout, paths = self.layout, self.layout.fed(depth)
        if before is None:
            if closing:
                end = {f.name: [3] if f.name == "__state" else [None] for f in rows.schema}
                rows = pa.concat_tables([rows, pa.table(end, schema=rows.schema)])
        else:
            read = {i.type for p in paths for i in p.inlets if not i.derived}
            good = [s == 0 and t in read for s, t in zip(*(rows.column(c).to_pylist() for c in ("__state", "__type")))]
            good = [False] * len(rows) if layout.one_scan else good
            rows = rows.filter(pa.array(good, pa.bool_())).drop_columns(["__state", "__bad", "__data"])
            rows = rows.append_column("__derived", pa.array([False] * len(rows), pa.bool_()))
            unpacked = make_unpacker(_handed(layout, depth), layout.labelled)(iter([before]))
            rows = pa.concat_tables([rows, pa.Table.from_batches(list(unpacked))], promote_options="default")
        if before is None and len(paths) > len(layout.at(0)):
            rows = rows.append_column("__derived", pa.array([False] * len(rows), pa.bool_()))
            for h in (h for p in paths for h in _handed(layout, p.lane.depth)):
                for _, name, kind in (c for c in h.columns if c[1] not in rows.column_names):
                    rows = rows.append_column(name, pa.nulls(len(rows), arrow_of(kind)))
        places = {f"__b{p.lane.number}": self._places(p, rows, before is None) for p in paths}
        matter = [any(row) for row in zip(*([b is not None for b in found] for found in places.values()))]
        ends = ["__end"] if before is None and self.source.has_end else []
        columns = list(dict.fromkeys(["__type", "__time", *ends, *(c for p in paths for c in p.columns)]))
        out: dict[str, Any] = {n: rows.column(n) for n in (["__state", "__bad"] if before is None else NAMES)}
        for c in columns:
            column = rows.column(c)
            if not c.startswith("__"):
                column = pc.if_else(pa.array(matter, pa.bool_()), column, pa.scalar(None, column.type))
            out[c] = column
        if layout.types:
            numbers = {t: n for n, t in enumerate(layout.types)}
            out["__type"] = pa.array([numbers.get(t) for t in rows.column("__type").to_pylist()], pa.int16())
        return pa.table({**out, **{n: pa.array(found, pa.int32()) for n, found in places.items()}})

    def _places(self, path: LanePath, rows: pa.Table, first: bool) -> list[int | None]:
        """The bucket of every row in a lane."""
        n, group = len(rows), path.lane.group
        types, times = rows.column("__type").to_pylist(), rows.column("__time").to_pylist()
        states = rows.column("__state").to_pylist() if first else [0] * n
        derived = [False] * n if first else [bool(d) for d in rows.column("__derived").to_pylist()]
        inlets = {(i.type, i.derived): i for i in path.inlets}
        used = {c for i in path.inlets for _, _, c in i.columns if c}
        values = {c: rows.column(c).to_pylist() for c in used}
        out: list[int | None] = []
        kinds: list[set[Type]] = []
        if group.mode == "keyed":
            for position in range(len(next(iter(group.stage.key.values())))):
                asked = {i: group.stage.key[i.type][position] for i in path.inlets if i.type in group.stage.key}
                kinds.append({k for i, wanted in asked.items() for name, k, c in i.columns if name == wanted and c})
        for row in range(n):
            inlet = inlets.get((types[row], derived[row]))
            if states[row] != 0 or types[row] is None or inlet is None:
                out.append(None)
            elif group.mode == "keyed":
                place = {name: c for name, _, c in inlet.columns if c}
                key = []
                for position, mixed in enumerate(kinds):
                    name = group.stage.key[inlet.type][position] if inlet.type in group.stage.key else ""
                    key.append(_plain(values[place[name]][row] if name in place else None, len(mixed) > 1))
                out.append((crc32(repr(key).encode()) + path.lane.part) % self.layout.buckets)
            elif group.mode == "free":
                out.append(crc32(f"{types[row]} {times[row]}".encode()) % self.layout.buckets)
            else:
                out.append(0)
        return out


def _plain(value: Any, mixed: bool) -> Any:
    """Equal values alike: 1 and 1.0, -0.0 and 0.0."""
    if mixed and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    return value + 0.0 if isinstance(value, float) else value


def _told(run: Callable[[], Iterator[pa.RecordBatch]]) -> Iterator[Record]:
    """Records; problems that travel in the text of an exception are raised as they were."""
    try:
        for b in run():
            yield from records(b)
    except RuntimeError as error:
        ours = translate(error)
        if ours is None:
            raise
        raise ours from error


def as_stream(
    program: occurs.Program, tables: Mapping[str, pa.Table], options: InputOptions, how: How | None = None
) -> Answer:
    """What ``program`` finds in ``tables`` as a stream."""
    return InStream(program, tables, options, how or How()).run()
