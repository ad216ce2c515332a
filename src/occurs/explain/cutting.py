"""Only the rows that a question can need are read: those of some types, up to a time, with a key (why.md, section 11).

In this process a large table is cut before its rows are checked; on Spark types, times, key and columns are filters of
the plan, so that only the slice is collected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.checked_program import CheckedProgram
from occurs.connect.tables import kind_of, to_arrow
from occurs.errors import LimitProblem, OccursError
from occurs.explain.question import Question
from occurs.explain.words import when
from occurs.model.history import History
from occurs.model.source import InputOptions, Source
from occurs.model.ticks import duration
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type

#: languages of which no rule looks ahead
BACKWARD = frozenset(("tesla", "epl"))
#: rows of the beginning of a table from which its types are known
HEAD = 20_000


@dataclass(frozen=True)
class Read:
    """The events that are read, with the options to read them with.

    ``key``: per type the attribute, and its value, of the rows that were read; empty: rows with all values.  ``low``:
    rows that ended before this tick were not read.
    """

    events: Any
    options: InputOptions
    key: Mapping[str, tuple[str, Any]]
    low: int | None = None


@dataclass(frozen=True)
class Extent:
    """What decides which rows are read: arguments of ``why_not``."""

    type: str
    between: Any
    where: Any
    reach: Any
    max_rows: int

    def ends(self, kind: TimeKind, clock: tuple[int, int] | None) -> tuple[int, int]:
        """The first and the last tick that is asked about."""
        found = Question.of(self.type, None, self.between, Schema(), kind, clock)
        return found.first, found.last


class Needs:
    """The types, the key and the times that the rules of a question read.

    ``schemas``: of the types of the input.
    """

    def __init__(self, program: CheckedProgram, asked: Extent, schemas: Mapping[str, Schema], kind: TimeKind):
        from occurs.explain.world import World

        self.asked, self.kind, self.schemas = asked, kind, schemas
        self.world = World(program, History({}, dict(schemas), kind, None, {}), asked.type)
        self.types = self.world.inputs
        #: whether rows after the asked time decide nothing
        self.backward = {r.language for r in self.world.closure} <= BACKWARD

    def high(self, clock: tuple[int, int] | None) -> int | None:
        """The last tick whose rows matter; None: there is none."""
        return self.asked.ends(self.kind, clock)[1] if self.backward else None

    def key(self) -> Mapping[str, tuple[str, Any]]:
        """Per type the attribute that the question fixes, and its value, if that is a partition key."""
        where = self.asked.where
        if not isinstance(where, Mapping):
            return {}
        from occurs.plan.keys import common_key

        types = {r.defines for r in self.world.closure}
        plan = self.world.program.plan(self.schemas, self.kind)
        definitions = [d for d in plan.definitions if d.output in types]
        for definition in (d for d in definitions if d.output == self.asked.type):
            key = common_key(definitions)
            for choice in definition.choices:
                fixed = [n for n in choice.passes if n in where]
                own = dict(choice.attributes)
                if fixed and key and all(t in key for t in own):
                    several = range(len(next(iter(key.values()))))
                    at = next((i for i in several if all(key[t][i] in own[t] for t in own)), None)
                    if at is not None:
                        return {t: (names[at], where[fixed[0]]) for t, names in key.items()}
        return {}

    def path(self) -> int | None:
        """The longest path of retentions that lead to the type, in ticks; None: there is no bound."""
        depth: dict[str, int] = {}

        def back(of: str, path: tuple[str, ...]) -> int | None:
            if of in path:
                return None
            if of not in depth:
                most = 0
                for rule in self.world.makers(of):
                    if rule.clauses.reach is None or rule.clauses.consumes:
                        return None
                    for t in rule.clauses.reads:
                        below = back(t, (*path, of))
                        if below is None:
                            return None
                        most = max(most, rule.clauses.reach + below)
                depth[of] = most
            return depth[of]

        return back(self.asked.type, ())

    def low(self, clock: tuple[int, int], count: int, latest: Any) -> int | None:
        """The first tick whose rows are read, None if all are; ``latest``: the time of the earliest of the latest
        rows.  Raises LimitProblem if ``count`` rows are too many and cannot be fewer."""
        first, most = self.asked.ends(self.kind, clock)[0], self.asked.max_rows
        if self.asked.reach is not None:
            low = max(clock[0], first - int(duration(self.asked.reach, self.kind, "reach")))
            return low if low > clock[0] else None
        if count <= most:
            return None
        path = self.path()
        if path is None:
            text = f"the question needs {count} rows, and at most {most} are read (max_rows)"
            hint = "a definition can look back without a bound: raise max_rows, or set start"
            raise LimitProblem.of("too-many-rows", text, hint=hint)
        low = min(latest(most), first - 2 * path)
        return low if low > clock[0] else None


def fitting_types(schemas: Mapping[str, Schema], key: Mapping[str, tuple[str, Any]]) -> bool:
    """Whether the values of a key have the types of their attributes, so that columns can be compared with them."""
    for t, (name, value) in key.items():
        of = schemas[t].get(name) if t in schemas else None
        text = isinstance(value, str) and of is Type.STRING
        whole = isinstance(value, int) and not isinstance(value, bool) and of is Type.INT
        if not (text or whole or (value is None and of is not None)):
            return False
    return True


# -- in this process ---------------------------------------------------------------------------------------------------
def read_here(program: CheckedProgram, events: Any, options: InputOptions, asked: Extent) -> Read:
    """Tables of this process: of a large one only the rows with the asked key."""
    whole = Read(events, options, {})
    tables = _listed(events)
    if tables is None or sum(len(table) for _, table in tables) <= asked.max_rows or not asked.where:
        return whole
    try:
        sample = program.history(_with(events, [_slice(t, 0, HEAD) for _, t in tables]), options)
        needs = Needs(program, asked, sample.schemas, sample.kind)
        key = needs.key()
    except OccursError:  # reading all of it says what is wrong
        return whole
    if not key or not fitting_types(sample.schemas, key) or not needs.types <= key.keys():
        return whole
    times = [found for _, table in tables if (found := _times(table, options)) is not None]
    if len(times) < len(tables):
        return whole
    spans = [(pc.min(t).as_py(), max(pc.max(e).as_py() or 0, pc.max(t).as_py())) for t, e in times if len(t)]
    clock = min(a for a, _ in spans), max(b for _, b in spans)
    if not _many(tables, times, needs, options, clock):
        return whole
    kept = [_with_key(t, table, key, options) for t, table in tables]
    if any(k is None for k in kept):
        return whole
    return Read(_with(events, kept), _on_clock(options, clock, sample.kind), key)


def _listed(events: Any) -> list[tuple[str | None, Any]] | None:
    """The tables of the input with their types; None for others than of this process."""
    if isinstance(events, Mapping):
        return [(t, table) for t, table in events.items()] if all(map(_here, events.values())) else None
    if isinstance(events, list | tuple):
        plain = all(isinstance(s, Source) and not s.torn for s in events)
        return [(s.type, s.table) for s in events] if plain else None
    return [(None, events)] if _here(events) else None


def _here(table: Any) -> bool:
    return isinstance(table, pa.Table) or (kind_of(table) in ("pandas", "polars") and hasattr(table, "__len__"))


def _with(events: Any, tables: Sequence[Any]) -> Any:
    """Other tables in place of those of the input."""
    if isinstance(events, Mapping):
        return dict(zip(events, tables, strict=True))
    if isinstance(events, list | tuple):
        return [replace(s, table=table) for s, table in zip(events, tables, strict=True)]
    return tables[0]


def _slice(table: Any, start: int, stop: int) -> Any:
    return table.iloc[start:stop] if kind_of(table) == "pandas" else table[start:stop]


def _column(table: Any, name: str) -> pa.ChunkedArray | None:
    """A column as Arrow; None if there is none, or if its values are of several kinds."""
    if kind_of(table) == "arrow":
        return table[name] if name in table.column_names else None
    if name not in table.columns:
        return None
    if kind_of(table) == "polars":
        return table.select(name).to_arrow()[name]
    try:
        return pa.chunked_array([pa.array(table[name], from_pandas=True)])
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return None


def _times(table: Any, options: InputOptions) -> tuple[pa.ChunkedArray, pa.ChunkedArray] | None:
    """The times and the ends of a table as ticks; None if they are not plain."""
    out: list[pa.ChunkedArray] = []
    for name in (options.time, options.end):
        column = None if name is None else _column(table, name)
        if column is None and name == options.end:
            out.append(out[0])
            continue
        if column is None or options.time_format:
            return None
        of = column.type
        if not (pa.types.is_timestamp(of) or pa.types.is_integer(of)):
            return None
        column = column.cast(pa.timestamp("us", of.tz), safe=False) if pa.types.is_timestamp(of) else column
        out.append(column.cast(pa.int64()))
    return out[0], out[1]


def _many(
    tables: Sequence[tuple[str | None, Any]], times: Sequence[Any], needs: Needs, options: InputOptions,
    clock: tuple[int, int],
) -> bool:  # fmt: skip
    """Whether more rows than may be read can matter; the tables are looked at from the beginning until it is clear."""
    high = needs.high(clock)
    types = pa.array(sorted({*needs.types, *(n for n, t in options.type_names.items() if t in needs.types)}))
    count, step = 0, 2 * needs.asked.max_rows
    for (own, table), (time, _) in zip(tables, times, strict=True):
        for start in range(0, len(table), step):
            part = time.slice(start, step)
            mask = pc.fill_null(pc.is_valid(part) if high is None else pc.less_equal(part, high), False)
            if own is None:
                column = None if options.type is None else _column(_slice(table, start, start + step), options.type)
                if column is None or not pa.types.is_string(column.type):
                    return False
                mask = pc.and_(mask, pc.is_in(column, types))
            elif own not in needs.types:
                break
            count += pc.sum(mask).as_py() or 0
            if count > needs.asked.max_rows:
                return True
    return False


def _with_key(own: str | None, table: Any, key: Mapping[str, tuple[str, Any]], options: InputOptions) -> Any:
    """The rows of a table with the asked key, as Arrow; None if it cannot be cut."""
    wanted = key if own is None else {t: k for t, k in key.items() if t == own}
    if not wanted:
        return table
    mask = None
    for name, value in dict.fromkeys(wanted.values()):
        column = _column(table, name)
        if column is None:
            return None
        try:
            test = pc.is_null(column) if value is None else pc.equal(column, value)
        except pa.ArrowException:
            return None
        mask = test if mask is None else pc.or_kleene(mask, test)
    at = np.flatnonzero(pc.fill_null(mask, False).to_numpy())
    if kind_of(table) == "pandas":
        return to_arrow(table.iloc[at])
    return table.take(pa.array(at)) if kind_of(table) == "arrow" else table[at]


def _on_clock(options: InputOptions, clock: tuple[int, int], kind: TimeKind) -> InputOptions:
    """Options with the clock of all rows."""
    first, last = (when(t, kind) if kind.timestamp else t for t in clock)
    start = first if options.start is None else options.start
    return replace(options, start=start, until=last if options.until is None else options.until)


# -- on Spark ----------------------------------------------------------------------------------------------------------
def read_spark(program: CheckedProgram, events: Any, options: InputOptions, asked: Extent) -> Read:
    """DataFrames: a survey counts the rows and finds the clock, then one job collects the slice."""
    from occurs.hosts.spark.read import prepare

    reading = prepare(program, events, options)
    frames: dict[str | None, Any] = dict(events) if isinstance(events, Mapping) else {None: events}
    if program.reads_all or len(reading.parts) != len(frames) or (None in frames and options.type is None):
        return Read({t: to_arrow(f) for t, f in frames.items()}, options, {})
    needs = Needs(program, asked, reading.schemas, reading.kind)
    return _OnSpark(program, frames, options, asked, reading, needs).read()


class _OnSpark:
    """The DataFrames of one question."""

    def __init__(
        self, program: CheckedProgram, frames: Mapping[str | None, Any], options: InputOptions, asked: Extent,
        reading: Any, needs: Needs,
    ):  # fmt: skip
        self.program, self.frames, self.options, self.asked = program, frames, options, asked
        self.reading, self.needs = reading, needs
        found = needs.key()
        fits = bool(found) and fitting_types(reading.schemas, found) and needs.types <= found.keys()
        self.found = found if fits and all(self._has(t, n) for t, (n, _) in found.items()) else {}

    def _has(self, type: str, name: str) -> bool:
        frame = self.frames.get(type, self.frames.get(None))
        return frame is not None and name in frame.columns

    def read(self) -> Read:
        """The slice, collected."""
        counted = self._survey()
        if counted is None:
            return Read({t: to_arrow(f) for t, f in self.frames.items()}, self.options, {})
        clock, count, with_key = counted
        key = self.found if count > self.asked.max_rows else {}
        low = self.needs.low(clock, with_key if key else count, lambda most: self._latest(most, key, clock))
        tables = {}
        for t, frame in self.frames.items():
            if t is None or t in self.needs.types:
                tables[t] = to_arrow(self._columns(t, frame.where(self._rows(t, frame, key, clock, low))))
            else:
                tables[t] = to_arrow(frame.limit(0))
        return Read(tables, _on_clock(self.options, clock, self.needs.kind), key, low)

    def _survey(self) -> tuple[tuple[int, int], int, int] | None:
        """The clock, the rows that can matter, and those among them with the key; None: there are no rows."""
        from functools import reduce

        from pyspark.sql import functions as F

        pieces = []
        high = None if self.asked.between is None else self.needs.high((0, 0))
        for part, t in zip(self.reading.parts, self.frames, strict=True):
            mine = self._types(t, part.type) & (part.time.isNotNull() if high is None else part.time <= high)
            own = {n: column for n, (column, _) in part.columns.items()}
            keyed = mine & self._keyed(t, own, self.found) if self.found else mine
            pieces.append(part.frame.select(
                part.time.alias("a"), F.greatest(part.time, part.end).alias("b"), mine.alias("m"), keyed.alias("k")
            ))  # fmt: skip
        rows = reduce(lambda one, more: one.unionByName(more), pieces)
        found = rows.agg(
            F.min("a").alias("a"), F.max("b").alias("b"), F.count(F.when(F.col("m"), 1)).alias("m"),
            F.count(F.when(F.col("k"), 1)).alias("k"),
        ).first()  # fmt: skip
        if found is None or found["a"] is None:
            return None
        start, until = self.reading.ends()
        clock = (int(found["a"]) if start is None else start), (int(found["b"]) if until is None else until)
        return clock, int(found["m"]), int(found["k"])

    def _latest(self, most: int, key: Mapping[str, tuple[str, Any]], clock: tuple[int, int]) -> int:
        """The time of the earliest of the latest rows that can matter."""
        from functools import reduce

        from pyspark.sql import functions as F

        pieces = [
            frame.where(self._rows(t, frame, key, clock, None)).select(self._ticks(frame).alias("a"))
            for t, frame in self.frames.items()
            if t is None or t in self.needs.types
        ]
        rows = reduce(lambda one, more: one.unionByName(more), pieces)
        return int(rows.orderBy(F.col("a").desc()).limit(most).agg(F.min("a").alias("a")).first()["a"])

    def _ticks(self, frame: Any) -> Any:
        """The times of a DataFrame as ticks."""
        from pyspark.sql import functions as F

        column = F.col(self.options.time)
        stamps = dict(frame.dtypes).get(self.options.time, "").startswith("timestamp")
        return F.unix_micros(column.cast("timestamp")) if stamps else column.cast("long")

    def _types(self, own: str | None, type: Any) -> Any:
        """Whether a row is of a type that matters; ``type``: the column of the types."""
        from pyspark.sql import functions as F

        if own is not None:
            return F.lit(own in self.needs.types)
        written = {*self.needs.types, *(str(n) for n, t in self.program.assigned.items() if t in self.needs.types)}
        return type.cast("string").isin(sorted(written))

    def _keyed(self, own: str | None, columns: Mapping[str, Any], key: Mapping[str, tuple[str, Any]]) -> Any:
        """Whether a row has the asked key."""
        from pyspark.sql import functions as F

        out = F.lit(False)
        for name, value in dict.fromkeys(key.values() if own is None else [key[own]] if own in key else []):
            out |= columns[name].isNull() if value is None else columns[name] == F.lit(value)
        return out

    def _rows(
        self, own: str | None, frame: Any, key: Mapping[str, tuple[str, Any]], clock: tuple[int, int], low: int | None
    ) -> Any:
        """Whether a row can matter: its type, its time, its key."""
        from pyspark.sql import functions as F

        wanted = self._types(own, F.col(str(self.options.type)) if own is None else None)
        time, high = self._bounded(frame, str(self.options.time)), self.needs.high(clock)
        if time is not None and high is not None:
            wanted &= time[0] <= time[1](high)
        if time is not None and low is not None:
            end = None if self.options.end not in frame.columns else self._bounded(frame, str(self.options.end))
            wanted &= time[0] >= time[1](low) if end is None else F.coalesce(end[0] >= end[1](low), F.lit(True))
        columns = {n: F.col(f"`{n}`") for n in frame.columns}
        return wanted & self._keyed(own, columns, key) if key else wanted

    def _bounded(self, frame: Any, name: str) -> Any:
        """A column of times, and how ticks are compared with it; None if it is not plain."""
        from pyspark.sql import functions as F

        of = dict(frame.dtypes).get(name)
        if of == "timestamp":
            return F.col(name), lambda ticks: F.timestamp_micros(F.lit(ticks))
        if of in ("bigint", "int", "smallint", "tinyint"):
            return F.col(name), F.lit
        return None

    def _columns(self, own: str | None, frame: Any) -> Any:
        """The columns that count: those of declared types, all if a type is not declared."""
        types = self.needs.types if own is None else {own} & self.needs.types
        declared = self.program.declared
        if not types <= declared.keys() or any(declared[t].loose for t in types):
            return frame
        o = self.options
        kept = {o.type, o.time, o.end, o.sequence, o.label, *(n for t in types for n in declared[t].names)}
        return frame.select(*(f"`{c}`" for c in frame.columns if c in kept))
