"""The two ends of the way into Python and back: wide Arrow batches to rows of types, detections to wide batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.engine.engine import Engine
from occurs.engine.order import input_rows
from occurs.engine.results import TypeRows
from occurs.errors import InputProblem, LimitProblem, OccursError, Problem, Span
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

#: rows that an engine gets per call
BUDGET = 250_000

_DDL = {Type.INT: "bigint", Type.FLOAT: "double", Type.STRING: "string", Type.BOOL: "boolean", Type.TIMESTAMP: "bigint"}
_BECAUSE = "array<struct<role:string,type:string,time:{t},end:{t},label:string>>"


@dataclass(frozen=True)
class Wide:
    """The columns of all reported types side by side: ``physical`` says which one an attribute of a type is in."""

    reported: tuple[str, ...]
    fields: tuple[tuple[str, Type], ...]
    physical: Mapping[tuple[str, str], str]
    kind: TimeKind
    label: bool
    because: bool

    @classmethod
    def of(cls, stage: Stage, label: bool, because: bool) -> Wide:
        columns: dict[tuple[str, Type], str] = {}
        physical = {}
        for t in stage.reported:
            for name, at in stage.schemas[t]:
                physical[(t, name)] = columns.setdefault((name, at), f"o{len(columns)}")
        fields = tuple((c, at) for (_, at), c in columns.items())
        return cls(stage.reported, fields, physical, stage.kind, label, because)

    @property
    def ddl(self) -> str:
        time = "timestamp" if self.kind.timestamp else "bigint"
        parts = ["__type string", "__time bigint", *(f"{c} {_DDL.get(t, 'string')}" for c, t in self.fields)]
        parts += ["__label string"] if self.label else []
        parts += [f"__because {_BECAUSE.format(t=time)}"] if self.because else []
        return ", ".join(parts)

    def batches(self, found: TypeRows, schemas: Mapping[str, Schema]) -> Iterator[pa.RecordBatch]:
        """Detections of one call, type by type."""
        for t in self.reported:
            if found.count(t) == 0:
                continue
            table = found.table(t, label=self.label, because=self.because)
            n = len(table)
            mine = {self.physical[(t, name)]: name for name, _ in schemas[t]}
            arrays = [table.column("type"), table.column("time").cast(pa.int64())]
            names = ["__type", "__time"]
            for c, at in self.fields:
                names.append(c)
                if c in mine:
                    column = table.column(mine[c])
                    arrays.append(column.cast(pa.int64()) if at is Type.TIMESTAMP else column)
                else:
                    arrays.append(pa.nulls(n, _ARROW.get(at, pa.string())))
            if self.label:
                names.append("__label")
                arrays.append(table.column("label"))
            if self.because:
                names.append("__because")
                arrays.append(table.column("because"))
            yield from pa.table(arrays, names=names).to_batches(max_chunksize=100_000)


_ARROW = {
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.int64(),
}


def make_engine_task(
    stage: Stage,
    wide: Wide,
    physical: Mapping[tuple[str, str], str],
    clock: tuple[int, int] | None,
    slices: Sequence[tuple[int, int]] | None,
    labelled: bool,
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function that ``mapInArrow`` runs over a partition sorted by (slice,) time."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            if clock is None:
                return
            if slices is None:
                yield from _stream(stage, wide, physical, batches, clock, clock[0], labelled)
            else:
                for number, part in _by_slice(batches):
                    first, last = slices[number]
                    yield from _stream(stage, wide, physical, part, (clock[0], last), first, labelled)
        except OccursError as error:
            # Spark hands on the text of an exception only: the problems travel in it
            raise RuntimeError("occurs-problems:" + problems_to_json(error)) from error

    return run


def _by_slice(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, Iterator[pa.RecordBatch]]]:
    """Runs of equal ``__slice``, in order; each must be used up before the next."""
    waiting: list[tuple[int, pa.RecordBatch]] = []

    def pieces() -> Iterator[tuple[int, pa.RecordBatch]]:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            number = batch.column(batch.schema.get_field_index("__slice")).to_numpy()
            cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(number)]
            for a, b in pairwise(cuts):
                yield int(number[a]), batch.slice(a, b - a)

    source = pieces()
    first = next(source, None)
    if first is not None:
        waiting.append(first)
    while waiting:
        number = waiting[0][0]

        def own(number: int = number) -> Iterator[pa.RecordBatch]:
            while waiting and waiting[0][0] == number:
                yield waiting.pop()[1]
                following = next(source, None)
                if following is not None:
                    waiting.append(following)

        yield number, own()


def _stream(
    stage: Stage,
    wide: Wide,
    physical: Mapping[tuple[str, str], str],
    batches: Iterator[pa.RecordBatch],
    clock: tuple[int, int],
    emit_from: int,
    labelled: bool,
) -> Iterator[pa.RecordBatch]:
    """Rows in time order through an engine; what lies before ``emit_from`` only fills the past."""
    engine = Engine(stage, labelled=labelled)
    held: list[pa.RecordBatch] = []
    rows = 0
    overlap_done = emit_from <= clock[0]
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch)
        rows += batch.num_rows
        if rows < BUDGET:
            continue
        table = pa.Table.from_batches(held)
        time = table.column("__time").to_numpy()
        cut = int(np.searchsorted(time, time[-1], side="left"))
        if cut == 0:
            continue
        frontier = int(time[-1]) - 1
        ready = table.slice(0, cut)
        for found in _calls(engine, stage, physical, ready, frontier, clock, emit_from, overlap_done, labelled):
            yield from wide.batches(found, stage.schemas)
        overlap_done = overlap_done or frontier >= emit_from
        held = table.slice(cut).to_batches()
        rows = table.num_rows - cut
    table = pa.Table.from_batches(held) if held else None
    for found in _calls(engine, stage, physical, table, clock[1], clock, emit_from, overlap_done, labelled):
        yield from wide.batches(found, stage.schemas)


def _calls(
    engine: Engine,
    stage: Stage,
    physical: Mapping[tuple[str, str], str],
    table: pa.Table | None,
    frontier: int,
    clock: tuple[int, int],
    emit_from: int,
    overlap_done: bool,
    labelled: bool,
) -> Iterator[TypeRows]:
    rows = _rows(stage, physical, table, labelled)
    if not overlap_done:
        before = {t: r.slice(0, int(np.searchsorted(r.time, emit_from))) for t, r in rows.items()}
        engine.advance(before, min(frontier, emit_from - 1), clock[0])
        if frontier < emit_from:
            return
        rows = {t: r.slice(int(np.searchsorted(r.time, emit_from))) for t, r in rows.items()}
    yield engine.advance(rows, frontier, clock[0])


def _rows(
    stage: Stage, physical: Mapping[tuple[str, str], str], table: pa.Table | None, labelled: bool
) -> dict[str, Rows]:
    """The rows of each type, in the total order."""
    out: dict[str, Rows] = {}
    if table is None or table.num_rows == 0:
        return out
    codes = table.column("__type").combine_chunks().dictionary_encode()
    codes = codes.chunk(0) if isinstance(codes, pa.ChunkedArray) else codes
    for number, t in enumerate(codes.dictionary.to_pylist()):
        if t not in stage.inputs:
            continue
        part = table.filter(pc.equal(codes.indices, number)) if len(codes.dictionary) > 1 else table
        schema = stage.schemas.get(t, Schema())
        names, arrays = ["time"], [part.column("__time")]
        if "__sequence" in table.column_names:
            names.append("sequence")
            arrays.append(part.column("__sequence"))
        if "__label" in table.column_names and part.column("__label").null_count == 0:
            names.append("label")
            arrays.append(part.column("__label"))
        present = []
        for name, at in schema:
            column = physical.get((t, name))
            if column is not None and column in table.column_names:
                present.append((name, at))
                names.append(name)
                values = part.column(column)
                arrays.append(values.cast(pa.timestamp("us", tz="UTC")) if at is Type.TIMESTAMP else values)
        out[t] = input_rows(t, pa.table(arrays, names=names), Schema(tuple(present)), labelled)
    return out


# -- problems across processes -----------------------------------------------------------------------------------------
def problems_to_json(error: OccursError) -> str:
    """One line of JSON."""
    problems = [{**asdict(p), "related": [], "value": repr(p.value)} for p in error.problems]
    return json.dumps({"class": type(error).__name__, "problems": problems})


def problems_from_json(data: Mapping[str, Any]) -> OccursError:
    problems = []
    for p in data["problems"]:
        span = Span(**p["span"]) if p["span"] else None
        problems.append(Problem(**{**p, "span": span, "related": ()}))
    return (LimitProblem if data["class"] == "LimitProblem" else InputProblem)(problems)
