"""Streaming DataFrames as wide rows.  Unlike a history nothing can be counted beforehand: what is bad or outside the
clock is found row by row, on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

from occurs.connect.sparkcolumns import DELAY
from occurs.errors import UsageProblem
from occurs.hosts.spark.parts import Part, Piece
from occurs.hosts.spark.read import Attribute, Reading, Seen, WideSource, prepare
from occurs.model.source import InputOptions
from occurs.model.ticks import duration
from occurs.model.time import TimeKind, ceil_ticks

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from occurs.checked_program import CheckedProgram


@dataclass(kw_only=True)
class StreamSource(WideSource):
    """The frame has three columns more: ``__end`` (long; null, or after the clock: still holds), ``__state`` (0 good, 1
    outside the clock, 2 bad, 3 closing, 4 history, 5 history that is bad) and ``__bad``, of bad rows JSON with the
    reasons; if late rows are wanted also ``__data``: the row as it came, as JSON.

    start, until, delay: of the clock, in ticks.  fields: the columns of the input, name to Spark type.  has_end: may
    rows have ends?
    """

    start: int | None
    until: int | None
    delay: int
    fields: Mapping[str, Any]
    has_end: bool = False

    def lasts(self, type: str) -> bool:
        """Do the rows of a type of the input last?"""
        return type in self.schemas and self.schemas[type].lasting


def read_stream(
    program: CheckedProgram,
    events: Any,
    options: InputOptions,
    watermark: Any = None,
    *,
    delay: int | None = None,
    late: bool = False,
    replay: Any = None,
) -> StreamSource:
    """Streaming DataFrames as one stream of wide rows.  ``delay``: the watermark, if it is known in ticks.  ``replay``:
    streams alike, of history for definitions that are new.  Raises InputProblem and UsageProblem."""
    frames = dict(events) if isinstance(events, Mapping) else {None: events}
    for name, frame in frames.items():
        if not frame.isStreaming:
            where = f" of `{name}`" if name else ""
            text = f"the table{where} is a history, but others are streams"
            raise UsageProblem.of("bad-option", text, hint="pass only streaming DataFrames, or none")
    reading = prepare(program, events, options)
    if delay is None:
        delay = delay_of(watermark, frames, options, reading.kind)
    columns, physical = reading.columns()
    start, until = reading.ends()
    for part in reading.parts:
        _refuse_rows(reading, part)
    pieces = [reading.piece(part, columns, start, until) for part in reading.parts]
    wide = reduce(lambda one, more: one.unionByName(more), (_streamed(p, late, until) for p in pieces))
    if replay is not None:
        wide = wide.unionByName(_history(prepare(program, replay, options), columns), allowMissingColumns=True)
    # what comes is not known: types that rules define are input only if they have a table or a declaration
    notices = reading.complete({t: Seen(True, 0, 0, 0) for t in reading.external})
    fields: dict[str, Any] = {}
    for part in reading.parts:
        for name, (_, t) in part.columns.items():
            fields.setdefault(name, t)
    labels = frozenset(reading.schemas) if any(options.label in p.columns for p in reading.parts) else frozenset()
    return StreamSource(
        frame=wide,
        schemas=reading.schemas,
        kind=reading.kind,
        physical=physical,
        has_sequence=any(options.sequence in p.columns for p in reading.parts),
        labelled=labels,
        notices=notices,
        start=start,
        until=until,
        delay=delay,
        fields=fields,
        has_end=any(options.end in p.columns for p in reading.parts),
    )


def _refuse_rows(reading: Reading, part: Part) -> None:
    """In one table for all types a row of a type of events that ends is bad, and one of a type that is defined."""
    from pyspark.sql import functions as F

    if part.own is None and reading.options.end in part.columns:
        column, _ = part.columns[reading.options.end]
        events = [t for t in reading.reads if t not in reading.schemas or not reading.schemas[t].lasting]
        read = part.type.isin(events) if events else F.lit(False)
        part.bad.append(
            (
                "interval of a type that is declared as an event",
                reading.options.end,
                column,
                read & part.end.isNotNull(),
            )
        )
    if part.own is None and reading.owned:
        found = part.type.isin(sorted(reading.owned))
        part.bad.append(("row of a type that the rules derive", str(reading.options.type), part.type, found))


def _history(reading: Reading, columns: Mapping[Attribute, str]) -> DataFrame:
    """Rows of history; they are not limited by the clock, and what is bad in them is left out."""
    from pyspark.sql import functions as F

    pieces = [reading.piece(part, columns, None, None) for part in reading.parts]
    frames = [p.part.frame.select(*p.columns) for p in pieces]
    wide = reduce(lambda one, more: one.unionByName(more), frames)
    return wide.withColumn("__state", F.when(F.col("__state") == 0, 4).otherwise(5))


def _streamed(piece: Piece, late: bool, until: int | None) -> DataFrame:
    from pyspark.sql import functions as F

    row = piece.part.place[1].alias("row")
    why = F.to_json(F.struct(piece.found.alias("found"), piece.file.alias("file"), row, piece.data.alias("data")))
    columns = [*piece.columns, F.when(piece.state == 2, why).alias("__bad")]
    if late:
        columns.append(piece.data.alias("__data"))
    out = piece.part.frame.select(*columns)
    return out if until is None else out.withColumn("__end", F.when(F.col("__end") <= until, F.col("__end")))


def delay_of(watermark: Any, frames: Mapping[Any, DataFrame], options: InputOptions, kind: TimeKind) -> int:
    """How many ticks a row may come behind one with a greater time: as the option says, else as ``withWatermark`` of
    the DataFrames says (the longest), else 0.  Raises UsageProblem."""
    if watermark is not None:
        return ticks_of(watermark, kind, "watermark")
    found = 0
    for frame in frames.values():
        for f in frame.schema.fields:
            if f.name == options.time and DELAY in f.metadata:
                found = max(found, int(f.metadata[DELAY]))
    return ceil_ticks(Fraction(found * 1000, kind.tick)) if found and kind.tick else found


def ticks_of(value: Any, kind: TimeKind, option: str) -> int:
    """A duration as ticks: text such as "10 minutes" or "90s", a timedelta, or a number of ticks."""
    return ceil_ticks(duration(value, kind, option))
