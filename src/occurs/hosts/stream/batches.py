"""What one micro-batch gives, in this process: for sinks that are fed batch by batch (``foreachBatch``)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import Problem
from occurs.hosts.frequent import Frequent
from occurs.hosts.stream.frequent import frequent_keys
from occurs.hosts.stream.layout import Layout
from occurs.hosts.stream.records import BAD, COUNTED, DDL, FIGURES, FOUND, FREQUENT, LATE, SIZES, from_blob, records
from occurs.hosts.stream.shapes import Shape, cut
from occurs.hosts.stream.spread import MOST, Shapes, Spread, make_counter
from occurs.hosts.stream.state_migration import begun_anew

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TEXTS = ("reason", "file", "column", "value", "data")
_BAD = pa.schema([*((n, pa.string()) for n in _TEXTS), ("row", pa.int64())])


@dataclass
class MicroBatch:
    """The result of one micro-batch of a stream.

    Attributes:
        found: The detections of every reported type, in time order; empty if they are in ``spread``.
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
        spread: The detections as DataFrames, if they stayed with the tasks of Spark (see :meth:`StreamQuery.batch`).
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
    spread: Spread | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of detections of every reported type."""
        there = {} if self.spread is None else self.spread.rows
        return {t: there.get(t, len(table)) for t, table in self.found.items()}

    def newest(self, type: str) -> int | None:
        """The greatest time of the detections of a type, in ticks; None if there are none."""
        if self.spread is not None:
            return self.spread.newest.get(type)
        newest: int | None = pc.max(self.found[type].column("time").cast(pa.int64())).as_py()
        return newest


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

    @contextmanager
    def batch(self, frame: DataFrame) -> Iterator[MicroBatch]:
        """Give a micro-batch for a sink that Spark's tasks write to.

        If the micro-batch has many detections, they stay with the tasks: ``spread`` has them as DataFrames, and
        ``found`` is empty.

        Args:
            frame: The DataFrame that ``foreachBatch`` gets.  It is cached while the body of the ``with`` runs.
        """
        frame.persist()
        try:
            tasks = int(frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 1)
            counted = frame.mapInArrow(make_counter(self.reported, MOST // tasks), DDL)
            yield self.read(counted.toArrow(), Spread(frame, self.reported))
        finally:
            frame.unpersist()

    def read(self, rows: pa.Table, spread: Spread | None = None) -> MicroBatch:
        """Return the detections in the records of a micro-batch.

        Args:
            rows: The records, ``frame.toArrow()`` inside ``foreachBatch``.
            spread: What gets the numbers of detections, where some of them stayed with the tasks.
        """
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
            elif r.kind == COUNTED and r.blob is not None and spread is not None:
                for t, number, newest in json.loads(r.blob):
                    spread.add(t, number, newest)
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
        tables = dict(self._empty)
        for lane, parts in found.items():
            tables |= dict(cut(parts, self._shapes[lane]))
        sides = {name: tables[t] for t, name in self.sides.items()}
        never = {name: tables[t] for t, name in self.notices.items()}
        for table in (*sides.values(), *never.values()):
            figures["found"] = (figures["found"] or 0) - len(table)
        bads = pa.concat_tables(bad) if bad else _BAD.empty_table()
        warnings = [begun_anew(anew)] if anew else []
        common.sort(key=lambda k: -k.rows)
        states, pasts = map(dict, sizes)
        found_tables = {t: tables[t] for t in self.types}
        if spread is not None and spread.rows:
            # other tasks gave theirs, as they had few: all are written from the tasks
            for t, table in found_tables.items():
                if len(table):
                    spread.add(t, len(table), pc.max(table.column("time").cast(pa.int64())).as_py())
                    found_tables[t] = table.schema.empty_table()
        else:
            spread = None
        return MicroBatch(found_tables, late, bads, figures, sides, never, warnings, common, states, pasts, spread)

    @property
    def reported(self) -> Shapes:
        """The shapes of the reported types, lane by lane."""
        return {n: {t: shape for t, shape in own.items() if t in self.types} for n, own in self._shapes.items()}

    @cached_property
    def _empty(self) -> Mapping[str, pa.Table]:
        """No rows of any type that is found: of thousands, few are found in a micro-batch."""
        return {t: shape.schema.empty_table() for shapes in self._shapes.values() for t, shape in shapes.items()}

    @cached_property
    def _shapes(self) -> Mapping[int, Mapping[str, Shape]]:
        """Lane by lane the types that are found there, with the columns that users see."""
        names = {**{t: t for t in self.types}, **self.sides, **self.notices}
        out: dict[int, dict[str, Shape]] = {}
        for path in self.layout.paths:
            own = out.setdefault(path.lane.number, {})
            for number, t in enumerate(path.wide.reported):
                if t in names:
                    # nothing but time has made notices: they have neither labels nor constituents, as on other hosts
                    made = t not in self.notices
                    label, because = self.label and made, self.because and made
                    own[t] = Shape.of(path, t, number, names[t], label, because, self.layout.window is not None)
        return out


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
