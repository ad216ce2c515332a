"""Spark DataFrames as one history: typed rows side by side, the clock, and the rows that are no part of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from occurs.connect.sparkcolumns import convert, convert_list, type_of
from occurs.connect.tables import to_spark
from occurs.errors import InputProblem, Problem, UsageProblem
from occurs.hosts.spark.footers import Footers, footers
from occurs.hosts.spark.parts import MISFIT, Part, Piece, any_of, kind_of, left_out, part_of
from occurs.hosts.spark.wide import Filling, Kind, arrow_of, ddl_of, input_kinds, wide_columns
from occurs.model.attributes import completed, missing, union, unknown_type
from occurs.model.badrows import hinted, like_it
from occurs.model.history import History
from occurs.model.source import InputOptions, column_of
from occurs.model.special import time_hint, unlikely_times
from occurs.model.ticks import clock_ends
from occurs.model.time import TimeKind
from occurs.model.types import OPS, RESERVED_INPUT, Schema, Type

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from occurs.checked_program import CheckedProgram


#: the type that stands for all those that a program does not know; no event is of a type with this name
OTHERS = "\0others"
#: bad rows that a message shows
_SHOWN = 20
#: a column of wide rows: attribute, type (of lists that of Arrow), and whether its column is found ignoring case
Attribute = tuple[str, Kind, bool]


@dataclass(kw_only=True)
class WideSource:
    """The input as one wide DataFrame: ``__type``, ``__time`` (long), ``__end`` (long), ``__sequence`` and ``__label``
    (null where there are none), and a column per attribute; ``physical`` says which one an attribute of a type is in.

    ``labelled``: types whose rows bring their labels; ``unlabelled``: those of which only some do.
    """

    frame: DataFrame
    schemas: dict[str, Schema]
    kind: TimeKind
    physical: Mapping[tuple[str, str], str]
    has_sequence: bool
    labelled: frozenset[str] = frozenset()
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    notices: list[Problem] = field(default_factory=list)


Source = TypeVar("Source", bound=WideSource)


@dataclass(kw_only=True)
class SparkSource(WideSource):
    """A history.  ``bad``: the rows left out (reason, file, row, column, value, data), None if there are none."""

    clock: tuple[int, int] | None
    counts: dict[str, int]
    bad: DataFrame | None = None


def read(program: CheckedProgram, events: Any, options: InputOptions) -> SparkSource:
    """The input in one wide DataFrame; refuses what the local host refuses.  Runs a job for counts and the clock, and
    a smaller one if the footers of Parquet files have them.

    Raises InputProblem (``missing-column``, ``bad-time``, ``bad-value``) and UsageProblem.
    """
    return prepare(program, events, options).source()


def read_here(session: SparkSession, history: History) -> SparkSource:
    """A history that was read in this process, as wide rows of a session.  Runs no job."""
    columns, physical = wide_columns(history.schemas)
    tables = {t: table for t, table in history.tables.items() if len(table)}
    names = {c for table in tables.values() for c in table.column_names}
    types = {"__type": pa.string(), "__time": pa.int64(), "__end": pa.int64(), "__sequence": pa.int64()}
    types |= {"__label": pa.string(), **{name: arrow_of(kind) for (_, kind), name in columns.items()}}
    filling = Filling(pa.schema(list(types.items())))
    labels: dict[str, int] = {}
    for t, table in tables.items():
        found = {"__type": pa.array([t] * len(table), pa.string())}
        for name in table.column_names:
            column = f"__{name}" if name in RESERVED_INPUT else physical.get((t, name))
            if column is not None:
                found[column] = table.column(name)
        filling.add(len(table), found)
        if "label" in table.column_names:
            labels[t] = table.column("label").null_count
    return SparkSource(
        frame=to_spark(session, pa.Table.from_batches(filling.batches(), filling.schema)),
        schemas=history.schemas,
        kind=history.kind,
        physical=physical,
        has_sequence="sequence" in names,
        labelled=frozenset(t for t, lost in labels.items() if lost < len(tables[t])),
        unlabelled={t: lost for t, lost in labels.items() if 0 < lost < len(tables[t])},
        notices=history.notices,
        clock=history.clock,
        counts=history.counts,
        bad=None if history.bad is None else to_spark(session, history.bad),
    )


def with_others(source: Source, program: CheckedProgram) -> Source:
    """The source with rows of types that the program does not know as rows of the type ``OTHERS``, if a definition
    looks at every row; else as it is."""
    from pyspark.sql import functions as F

    if program.reads_all:
        known = sorted({*source.schemas, *program.reads, *program.declared, *program.defined})
        type = F.col("__type")
        named = F.when(type.isNull() | type.isin(known), type).otherwise(F.lit(OTHERS))
        source.frame = source.frame.withColumn("__type", named)
        source.schemas = {**source.schemas, OTHERS: Schema()}
    return source


def prepare(program: CheckedProgram, events: Any, options: InputOptions) -> Reading:
    """The input with what its schemas say; no job runs.  Raises InputProblem and UsageProblem."""
    if options.bad_rows not in ("error", "skip"):
        raise UsageProblem.of("bad-option", f"invalid bad_rows: `{options.bad_rows}`", hint="use `error` or `skip`")
    options = program.input_options(options)
    owned = program.owned
    reads, external = sorted(program.reads - owned), sorted(program.external)
    frames: dict[str | None, DataFrame] = dict(events) if isinstance(events, Mapping) else {None: events}
    session = next(iter(frames.values())).sparkSession
    # read here: lines have numbers
    frames |= {s.type: to_spark(session, s.table) for s in program.lines(frames, options)}
    kind = kind_of(frames, options)
    parts = [part_of(frame, name, external, kind, options) for name, frame in frames.items()]
    program.refuse_owned([p.own for p in parts if p.own is not None])
    declared = program.declared
    schemas: dict[str, Schema] = {}
    for part in parts:
        for t in [part.own] if part.own is not None else reads:
            if t in declared:
                schemas[t] = completed(declared[t], schemas.get(t), part.seen, tuple(part.columns))
            else:
                schemas[t] = replace(union(schemas.get(t), part.seen, False), ordered=part.own is not None)
    unread = program.unread((p.own, None) for p in parts)
    return Reading(
        reads, options, kind, parts, schemas, declared, frozenset(external), program.refuse_owned, owned, unread
    )


@dataclass
class Reading:
    """The input before any job has looked at it."""

    reads: list[str]
    options: InputOptions
    kind: TimeKind
    parts: list[Part]
    schemas: dict[str, Schema]
    declared: Mapping[str, Schema]
    #: types that no rule defines
    external: frozenset[str]
    #: raises InputProblem for types of which only definitions may make rows, which are ``owned``
    refuse: Callable[[Collection[str]], None]
    owned: frozenset[str]
    #: warnings about tables that no rule reads
    unread: list[Problem]

    def source(self) -> SparkSource:
        """All parts below one another, without the rows that are bad or outside the clock."""
        from pyspark.sql import functions as F

        options = self.options
        columns, physical = self.columns()
        start, until = self.ends()
        pieces = [self.piece(part, columns, start, until) for part in self.parts]
        wide = reduce(lambda one, more: one.unionByName(more), (p.part.frame.select(*p.columns) for p in pieces))
        labels, ends = (any(name in p.columns for p in self.parts) for name in (options.label, options.end))
        types = [*self.reads, *sorted(self.owned)]
        seen = self.from_footers(pieces, types) or survey(wide, types, labels=labels, ends=ends)
        bad: DataFrame | None = None
        empty = sum(s.empty for s in seen.types.values())
        counts = {"rows": seen.rows, "outside": seen.rows - seen.bad - seen.good, "empty": empty, "bad": seen.bad}
        if seen.bad:
            bad = reduce(lambda one, more: one.unionByName(more), (left_out(p) for p in pieces))
            self._judge(bad, counts)
        self.refuse([t for t, s in seen.types.items() if s.good])
        notices = self.complete(seen.types)
        if seen.first is not None and seen.last is not None:
            notices += unlikely_times(self.kind, seen.first, seen.last)
        first = start if start is not None else seen.first
        last = until if until is not None else seen.last
        first, last = (last if first is None else first), (first if last is None else last)
        kept = F.col("__state") == 0
        if empty:  # what ends where it begins has no length
            kept &= F.coalesce(F.col("__end") != F.col("__time"), F.lit(True)) | ~F.col("__type").isin(self.reads)
        return SparkSource(
            frame=wide.where(kept).drop("__state"),
            schemas=self.schemas,
            kind=self.kind,
            physical=physical,
            has_sequence=any(options.sequence in p.columns for p in self.parts),
            labelled=frozenset(t for t, s in seen.types.items() if s.labels),
            unlabelled={t: s.unlabelled for t, s in seen.types.items() if s.labels and s.unlabelled},
            notices=notices,
            clock=None if first is None or last is None else (first, last),
            counts=counts,
            bad=bad,
        )

    def from_footers(self, pieces: Sequence[Piece], types: Sequence[str]) -> Survey | None:
        """The survey without a scan: the figures in the footers of Parquet files, and a look for the types.  None if a
        figure is missing, or if some row may be bad or outside the clock."""
        start, until = self.ends()
        time, type = self.options.time, str(self.options.type)
        ticks = Type.TIMESTAMP if self.kind.timestamp else Type.INT
        found: list[Footers] = []
        for piece in pieces:
            part = piece.part
            read = {time: ticks, type: Type.STRING} if part.own is None else {time: ticks}
            kinds = {name: type_of(part.columns[name][1]) for name in read}
            unknown = {self.options.end, self.options.label} & part.columns.keys()
            if unknown or part.poison or kinds != read or any(r not in _IN_FOOTERS for r, *_ in piece.reasons):
                return None
            own = footers(part.given, read)
            if own is None or (part.own is None and own.ends[type][0] == ""):
                return None
            found.append(own)
        rows = sum(f.rows for f in found)
        first, last = min(f.ends[time][0] for f in found), max(f.ends[time][1] for f in found)
        if (start is not None and first < start) or (until is not None and last > until):
            return None
        parts = [p.part for p in pieces]
        there = {p.own for p in parts} | {t for p in parts if p.own is None for t in _types_in(p, types)}
        return Survey(rows, 0, rows, first, last, {t: Seen(True, 0, 0, 0) for t in types if t in there})

    def columns(self) -> tuple[dict[Attribute, str], dict[tuple[str, str], str]]:
        """One column per (attribute, type), so that types may use one name differently; and (type, attribute) to it."""
        columns: dict[Attribute, str] = {}
        physical: dict[tuple[str, str], str] = {}
        for t, schema in self.schemas.items():
            for attribute, at in input_kinds(schema):
                if at is not Type.NULL:
                    own = (attribute, at, self._loose(t, attribute))
                    physical[(t, attribute)] = columns.setdefault(own, f"c{len(columns)}")
        return columns, physical

    def _loose(self, type: str, attribute: str) -> bool:
        """Is the column of an attribute found ignoring case?"""
        declared = self.declared.get(type)
        return declared is not None and declared.loose and attribute in declared

    def ends(self) -> tuple[int | None, int | None]:
        """The ends of the clock that the options give, in ticks."""
        return clock_ends(self.options.start, self.options.until, self.kind)

    def piece(self, part: Part, columns: Mapping[Attribute, str], start: int | None, until: int | None) -> Piece:
        """The wide rows of a part, with ``__state``: 0 good, 1 outside the clock, 2 bad."""
        from pyspark.sql import functions as F

        misfits = [(MISFIT, name, raw, F.lit(True), lost) for name, raw, lost in part.misfit]
        values = []
        mine = [part.own] if part.own is not None else self.reads
        for (attribute, at, loose), name in columns.items():
            column = column_of(attribute, part.columns, loose)
            lists = not isinstance(at, Type)
            if column is None or lists is not (column in part.lists):
                values.append(F.lit(None).cast(ddl_of(at)).alias(name))
                continue
            raw, spark_type = part.columns[column]
            if lists:
                values.append(convert_list(raw, spark_type).cast(ddl_of(at)).alias(name))
                continue
            value, lost = convert(raw, spark_type, at)
            values.append(value.alias(name))
            users = [t for t in mine if t in self.declared and self.declared[t].get(attribute) is at]
            users = [t for t in users if self._loose(t, attribute) is loose]
            if users and at is not part.attributes.get(column):
                misfits.append((MISFIT, attribute, raw, part.type.isin(users), lost))
            changing = [t for t in users if self.declared[t].changes and attribute == "holds"]
            if changing:
                misfits.append(("null holds", attribute, raw, part.type.isin(changing), value.isNull() & ~lost))
            if attribute == "op" and any("op" in self.declared[t].optional for t in users):
                misfits.append(("unknown op", attribute, raw, part.type.isin(users), ~value.isin(*OPS)))
        read = part.type.isin(self.reads) if self.reads else F.lit(False)
        broken = [c for _, _, _, c in part.bad] + ([] if part.poison is None else [part.poison[2]])
        outside = F.lit(False)
        if start is not None:
            outside |= part.time < start
        if until is not None:
            outside |= part.time > until
        state = F.when(any_of(broken), 2).when(outside, 1)
        state = state.when(any_of([c & who & read for _, _, _, who, c in misfits]), 2).otherwise(0)
        special = [
            part.type.alias("__type"),
            part.time.alias("__time"),
            part.sequence.alias("__sequence"),
            part.label.alias("__label"),
            (part.end if until is None else F.when(part.end <= until, part.end)).alias("__end"),
            state.alias("__state"),
        ]
        # a row is bad for its type or time first, else for all values that do not fit
        readable = ~any_of(broken)
        reasons = [*part.bad, *((r, n, raw, c & who & read & readable) for r, n, raw, who, c in misfits)]
        return Piece(part, [*special, *values], state, reasons)

    def _judge(self, bad: DataFrame, counts: dict[str, int]) -> None:
        """Count the bad rows by reason; an InputProblem if they are not to be left out."""
        from pyspark.sql import functions as F

        first = F.min(F.struct("row", "value")).alias("first")
        grouped = bad.groupBy("reason", "file", "column").agg(F.count(F.lit(1)), first).collect()
        for reason, _, _, n, _ in grouped:
            counts[f"bad: {reason}"] = counts.get(f"bad: {reason}", 0) + n
        if self.options.bad_rows == "skip":
            return
        problems = []
        for reason, file, column, n, (row, value) in sorted(grouped, key=repr)[:_SHOWN]:
            kind = "bad-time" if reason in ("null time", "unreadable time", "unreadable end") else "bad-value"
            if row is None:
                shown = "" if value is None else f", such as {value!r}"
                text = f"{n:,} {'row' if n == 1 else 'rows'}: {reason} in column `{column}`{shown}"
            else:
                shown = "" if value is None else f": {value!r}"
                text = f"row {row}: {reason} in column `{column}`{shown}{like_it(n)}"
            hint = time_hint([value], self.options.time_format) if reason == "unreadable time" else None
            problems.append(Problem(kind, text, file=file, row=row, value=value, hint=hint))
        raise InputProblem(hinted(problems))

    def complete(self, seen: Mapping[str, Seen]) -> list[Problem]:
        """Lasting types and missing columns of declared types, now that the types with rows are known; notices."""
        found = self._complete(seen)
        self._drop_absent(seen)
        return found

    def _complete(self, seen: Mapping[str, Seen]) -> list[Problem]:
        problems, notices = [], list(self.unread)
        live = {t for t, rows in seen.items() if rows.good}
        for part in self.parts:
            for t in [part.own] if part.own is not None else self.reads:
                if t in self.declared and t in self.reads and (part.own is not None or t in live):
                    problems += missing(t, self.declared[t], part.columns, self.options.end, None)
            if self.options.end in part.columns and part.own is not None:
                self._lasts(part.own)
        if problems:
            raise InputProblem(problems)
        for t, rows in seen.items():
            if rows.ends:
                self._lasts(t)
        known = live | {p.own for p in self.parts if p.own is not None} | set(self.declared)
        if any(p.own is None and p.seen.attributes for p in self.parts):
            notices += [unknown_type(t, known) for t in self.reads if t in self.external and t not in known]
        for t in self.declared:
            given = t in live or any(p.own == t for p in self.parts)
            if t in self.reads and not given:
                self.schemas[t] = self.declared[t]
                notices.append(
                    Problem("no-rows", f"the input has no rows of the declared type `{t}`", severity="notice")
                )
        return notices

    def _drop_absent(self, seen: Mapping[str, Seen]) -> None:
        """Types that rules define are input only if they have rows: else the columns of one table are not theirs."""
        given = {t for t, rows in seen.items() if rows.good} | {p.own for p in self.parts} | set(self.declared)
        for t in set(self.schemas) - self.external - given:
            del self.schemas[t]

    def _lasts(self, type: str) -> None:
        if type in self.schemas and type not in self.declared:
            self.schemas[type] = replace(self.schemas[type], lasting=True)


# --- one scan of a history: how many rows there are and how many are bad, when they begin and end ---------------------

#: up to so many types are told apart by a test each, which is cheaper than a grouping by text
FEW = 6


@dataclass(frozen=True)
class Seen:
    """Of one type with rows: are some good?  How many of these have a label, have none, have an end, end where they
    begin?"""

    good: bool
    labels: int
    unlabelled: int
    ends: int
    empty: int = 0


@dataclass(frozen=True)
class Survey:
    """``first`` and ``last``: least and greatest tick of good rows, None without; ``types``: those with rows."""

    rows: int
    bad: int
    good: int
    first: int | None
    last: int | None
    types: dict[str, Seen]


#: why a row may be bad although all columns have their types: nulls, of which footers know the number
_IN_FOOTERS = ("null type", "unreadable time", "null time")
#: rows at the beginning of a table that are looked at first for types
_FIRST = 4_096


def _types_in(part: Part, types: Sequence[str]) -> set[str]:
    """Which of ``types`` the rows of a part have.  Most types are among the first rows; for the others Spark looks into
    the dictionaries of the files before it reads rows."""
    beginning = part.frame.select(part.type.alias("type")).limit(_FIRST).collect()
    there = {row[0] for row in beginning}
    missing = [t for t in types if t not in there]
    if missing:
        rest = part.frame.select(part.type.alias("type")).where(part.type.isin(missing)).distinct().collect()
        there |= {row[0] for row in rest}
    return there


def survey(wide: DataFrame, types: Sequence[str], *, labels: bool, ends: bool) -> Survey:
    """Scan the wide rows (``__type __time __label __end __state``), of ``types`` and of others that only move the
    clock.  ``labels``, ``ends``: may rows have such?"""
    from pyspark.sql import functions as F

    type, time, state = F.col("__type"), F.col("__time"), F.col("__state")
    if not labels and not ends and len(types) <= FEW:
        # four figures and the types, which are cheap; where some row is not good, the figures below say more
        quick = [F.count(F.lit(1)), F.max(state), F.min(time), F.max(time)]
        rows, worst, first, latest, *there = wide.agg(*quick, *(F.max(type == t) for t in types)).collect()[0]
        if not worst:
            given = [t for t, some in zip(types, there, strict=True) if some]
            return Survey(rows, 0, rows, first, latest, dict.fromkeys(given, Seen(True, 0, 0, 0)))
    good = state == 0
    last: Column = time
    if ends:
        last = F.greatest(last, F.col("__end"))
    figures = [
        F.count(F.lit(1)),
        F.coalesce(F.sum((state == 2).cast("long")), F.lit(0)),
        F.coalesce(F.sum(good.cast("long")), F.lit(0)),
        F.min(F.when(good, time)),
        F.max(F.when(good, last)),
    ]
    read = F.when(type.isin(list(types)), type) if types else F.lit(None)
    more = [F.count(F.when(good, F.col("__label"))), F.count(F.when(good, F.col("__end")))]
    more.append(F.count(F.when(good & (F.col("__end") == F.col("__time")), 1)))
    rows = wide.groupBy(read.alias("type")).agg(*figures, *more).collect()
    return Survey(
        sum(r[1] for r in rows),
        sum(r[2] for r in rows),
        sum(r[3] for r in rows),
        min((r[4] for r in rows if r[4] is not None), default=None),
        max((r[5] for r in rows if r[5] is not None), default=None),
        {r[0]: Seen(r[3] > 0, r[6], r[3] - r[6], r[7], r[8]) for r in rows if r[0] is not None},
    )
