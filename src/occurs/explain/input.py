"""The events of a question: read once, cut to the slice that can matter, and with rows added (why.md, section 11)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.checked_program import CheckedProgram
from occurs.connect.tables import kind_of, like, sources_of, to_arrow
from occurs.errors import LimitProblem, UsageProblem, did_you_mean
from occurs.explain.cutting import Extent, Needs, Read, read_here, read_spark
from occurs.explain.words import json_time
from occurs.explain.world import added_to
from occurs.model.history import History, InputOptions, Source
from occurs.model.time import TimeKind
from occurs.options import OPTIONS, among, named, sample_of


@dataclass(frozen=True)
class Sliced:
    """The rows that a question looks at.

    ``clock``: of the whole input.  ``outside``: the history without ``start`` and ``until``, if these were given.
    ``complete``: whether no row that may matter was cut.
    """

    history: History
    clock: tuple[int, int] | None
    outside: History | None = None
    complete: bool = True
    notes: tuple[str, ...] = ()

    def again(self, history: History, added: Mapping[str, pa.Table], fixed: tuple[bool, bool]) -> History:
        """A history with rows added; ``fixed``: whether its start and its end were given."""
        if not added:
            return history
        tables = dict(history.tables)
        for type, more in added.items():
            before = tables.get(type)
            tables[type] = more if before is None else pa.concat_tables([before, more], promote_options="permissive")
        return added_to(history, tables, added.values(), fixed)


@dataclass(frozen=True)
class Input:
    """Events with the options of :meth:`occurs.Program.detect` that describe them.

    ``sample``: a table of the kind that answers have, None for sources of files.  ``keywords``: the options as given.
    """

    events: Any
    sample: Any
    options: InputOptions
    zone: str
    ended: bool
    facts: Any
    keywords: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, program: CheckedProgram, events: Any, keywords: Mapping[str, Any]) -> tuple[CheckedProgram, Input]:
        """From the arguments of ``why`` and ``why_not``; also the program as the options adjust it.

        Raises UsageProblem for an option that is not one of the input, and for a stream.
        """
        known = [o.name for o in OPTIONS if o.of in ("input", "rules")] + ["ended", "max_instances"]
        for name in keywords:
            if name not in known:
                raise UsageProblem.of(
                    "bad-option", f"unknown option `{name}`", hint=did_you_mean(name, known, "options")
                )
        given = among(keywords, "input")
        rules = among(keywords, "rules")
        if "max_instances" in keywords:
            rules["max_instances"] = keywords["max_instances"]
        adjusted = program.adjusted(**rules)
        events = named(events, program.assigned)
        sample = sample_of(events)
        if sample is not None and kind_of(sample) == "spark":
            program.require("spark")
            if sample.isStreaming:
                hint = (
                    "the state of a stream does not explain its past: pass the range of its source as a batch table, "
                )
                hint += "late= the rows of --late, and until= the frontier that was reached"
                raise UsageProblem.of("bad-option", "a streaming DataFrame cannot be explained", hint=hint)
        ended = keywords.get("ended", True)
        if not isinstance(ended, bool):
            raise UsageProblem.of("bad-option", f"ended must be True or False, not {ended!r}")
        made = cls(events, sample, InputOptions(**given), keywords.get("zone", "UTC"), ended, keywords.get("facts"),
                   dict(keywords))  # fmt: skip
        return adjusted, made

    @property
    def cut(self) -> bool:
        """Whether a start or an end of the clock was given."""
        return any(self.fixed)

    @property
    def fixed(self) -> tuple[bool, bool]:
        """Whether the start of the clock was given, and its end."""
        return self.options.start is not None, self.options.until is not None

    def history(
        self, program: CheckedProgram, type: str, between: Any, *, reach: Any = None, max_rows: int = 100_000,
        where: Any = None,
    ) -> Sliced:  # fmt: skip
        """The slice that a question about a type looks at.  Raises LimitProblem if it is too large."""
        asked = Extent(type, between, where, reach, max_rows)
        spark = self.sample is not None and kind_of(self.sample) == "spark"
        read = (read_spark if spark else read_here)(program, self.events, self.options, asked)
        history = program.history(read.events, read.options)
        clock, notes, complete = history.clock, [], True
        bad = history.counts.get("bad", 0)
        if bad:
            why = ", ".join(f"{n}: {c}" for n, c in sorted(history.counts.items()) if n.startswith("bad: "))
            notes.append(f"{bad} unreadable rows were skipped and not searched ({why})")
        outside = None
        if self.cut:
            outside = program.history(read.events, replace(read.options, start=None, until=None))
        total = sum(map(len, history.tables.values()))
        if total > max_rows or reach is not None or read.key or read.low is not None:
            history, more, complete = _cut(program, history, asked, read)
            notes += more
        return Sliced(history, clock, outside, complete, tuple(notes))

    # -- late rows, added rows ---------------------------------------------------------------------------------------
    def late_rows(self, program: CheckedProgram, late: Any, types: Collection[str]) -> Iterator[tuple[str, pa.Table]]:
        """The late rows of some types, one by one, as rows of a history."""
        if late is None:
            return
        given = sources_of(named(late, program.assigned))
        history = program.history(given, replace(self.options, start=None, until=None))
        for type in sorted(types & history.tables.keys()):
            table = history.tables[type]
            names = [n for n in table.column_names if n != "label"]
            for i in range(len(table)):
                yield type, table.slice(i, 1).select(names)

    def with_rows(self, added: Mapping[str, pa.Table]) -> Any:
        """The events as given, with more rows (tables of a history, by type)."""
        events = self.events
        for type, table in added.items():
            for row in table.to_pylist():
                events = self._with_row(events, type, row)
        return events

    def _with_row(self, events: Any, type: str, row: Mapping[str, Any]) -> Any:
        if isinstance(events, Mapping):
            key = type if type in events or None not in events else None
            table = events.get(key)
            if table is None:
                first = next(iter(events.values()))
                first = to_arrow(first.limit(1)) if kind_of(first) == "spark" else to_arrow(first)
                of = _exact(first.schema.field(self.options.time).type, row)
                made = pa.table({n: [v] for n, v in self._named(row, of, type).items()})
                return {**events, type: like(self.sample, made)}
            return {**events, key: self._appended(table, key, type, row)}
        if isinstance(events, list | tuple):
            return self._in_sources(list(events), type, row)
        return self._appended(events, None, type, row)

    def _in_sources(self, sources: list[Any], type: str, row: Mapping[str, Any]) -> list[Any]:
        given = _kind_of_time(sources, self.options)
        kind = None if given is None else _exact(given, row)
        made = self._named(row, kind, type)
        typed = {k: v for k, v in made.items() if k != self.options.type}
        return [*sources, Source(pa.table({n: [v] for n, v in typed.items()}), type)]

    def _named(self, row: Mapping[str, Any], of: pa.DataType | None, type: str) -> dict[str, Any]:
        """A row under the names of the columns of the input."""
        o = self.options
        names = {"time": o.time, "end": o.end, "sequence": o.sequence, "label": o.label}
        out: dict[str, Any] = {} if o.type is None else {o.type: type}
        for name, value in row.items():
            target = names.get(name, name)
            if target is not None:
                out[target] = _timed(value, of) if name in ("time", "end") else value
        return out

    def _appended(self, table: Any, key: str | None, type: str, row: Mapping[str, Any]) -> Any:
        spark = kind_of(table) == "spark"
        arrow = to_arrow(table.limit(1)) if spark else to_arrow(table)
        at = arrow.schema.get_field_index(self.options.time)
        of = _exact(arrow.schema.field(at).type, row)
        for name in (self.options.time, self.options.end):
            i = -1 if name is None or spark else arrow.schema.get_field_index(name)
            if i >= 0 and pa.types.is_temporal(arrow.schema.field(i).type):
                arrow = arrow.set_column(i, name, arrow.column(i).cast(of))
        values = self._named(row, of, type)
        if key is not None:
            values.pop(self.options.type or "", None)
        columns = {}
        for f in arrow.schema:
            value = values.get(f.name)
            columns[f.name] = _cell(value, f.type)
        more = pa.table(columns)
        if spark:
            return table.unionByName(like(table, more))
        whole = pa.concat_tables([arrow, more], promote_options="permissive")
        return like(table, whole)


def _exact(of: pa.DataType, row: Mapping[str, Any]) -> pa.DataType:
    """The type of a column of times that can hold those of a row, too: instead of seconds or days microseconds, if the
    row needs them."""
    ticks = pa.array([row.get("time"), row.get("end")], pa.int64())
    if not pa.types.is_temporal(of):
        return of
    exact = ticks.cast(pa.timestamp("us"))
    if exact.cast(of, safe=False).cast(pa.timestamp("us")).equals(exact):
        return of
    return pa.timestamp("us", of.tz if pa.types.is_timestamp(of) else None)


def _timed(value: Any, of: pa.DataType | None) -> Any:
    """Ticks as a value of a time column."""
    if value is None or of is None:
        return value
    if pa.types.is_timestamp(of):
        return pa.scalar(value, pa.int64()).cast(pa.timestamp("us", tz="UTC")).cast(of).as_py()
    if pa.types.is_date(of):
        return pa.scalar(value, pa.int64()).cast(pa.timestamp("us")).cast(of).as_py()
    if pa.types.is_string(of) or pa.types.is_large_string(of):
        return json_time(value, TimeKind())
    return value


def _kind_of_time(sources: Sequence[Any], options: InputOptions) -> pa.DataType | None:
    for source in sources:
        if isinstance(source, Source) and options.time in source.table.column_names:
            return source.table.schema.field(options.time).type
    return None


def without_because(table: pa.Table) -> pa.Table:
    """Rows as `detect` returns them, without labels and constituents."""
    return table.drop_columns([n for n in ("label", "because") if n in table.column_names])


# -- the slice ---------------------------------------------------------------------------------------------------------
def _cut(program: CheckedProgram, history: History, asked: Extent, read: Read) -> tuple[History, list[str], bool]:
    """The rows up to the asked time that are near enough; what is to be said of it; whether nothing else can matter."""
    needs = Needs(program, asked, history.schemas, history.kind)
    clock = history.clock
    assert clock is not None
    notes: list[str] = []
    tables = {t: table for t, table in history.tables.items() if t in needs.types}
    high = needs.high(clock)
    if high is not None:
        tables = {t: table.filter(pc.less_equal(table["time"], high)) for t, table in tables.items()}
    key = read.key
    if not key and sum(map(len, tables.values())) > asked.max_rows:
        key = needs.key()
        for t, (name, value) in key.items():
            if t in tables:
                test = pc.is_null(tables[t][name]) if value is None else pc.equal(tables[t][name], value)
                tables[t] = tables[t].filter(test)
    if key:
        names = ", ".join(sorted({n for n, _ in key.values()}))
        notes.append(f"only rows with the asked {names} were read, so clauses that equate {names} were not relaxed")

    def latest(most: int) -> int:
        times = np.concatenate([table["time"].to_numpy() for table in tables.values()])
        return int(np.partition(times, len(times) - most)[len(times) - most])

    low = read.low
    if low is None:
        low = needs.low(clock, sum(map(len, tables.values())), latest)
    if low is None:
        return replace(history, tables=tables), notes, not key
    tables = {t: table.filter(_after(table, low)) for t, table in tables.items()}
    kept = sum(map(len, tables.values()))
    if kept > asked.max_rows:
        text = f"the question needs {kept} rows, and at most {asked.max_rows} are read (max_rows)"
        raise LimitProblem.of("too-many-rows", text, hint="raise max_rows, or set start")
    notes.append("rows long before the asked time were not read (reach, max_rows)")
    return replace(history, tables=tables, clock=(low, clock[1])), notes, False


def _after(table: pa.Table, low: int) -> pa.ChunkedArray:
    """Which rows are, or still hold, at a tick or later."""
    if "end" not in table.column_names:
        return pc.greater_equal(table["time"], low)
    return pc.fill_null(pc.greater_equal(table["end"], low), True)


def _cell(value: Any, of: pa.DataType) -> pa.Array:
    """One value as a column; a column without values takes the type of the value."""
    if value is None:
        return pa.nulls(1, of)
    return pa.array([value]) if pa.types.is_null(of) else pa.array([value]).cast(of)
