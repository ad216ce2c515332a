"""The intake: tables as they come to a :class:`History` of typed events with int64 times (common.md, section 1)."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, Problem, UsageProblem, did_you_mean
from occurs.model.badrows import BadRows
from occurs.model.natural import clean, fit
from occurs.model.ticks import instant, time_unit, to_ticks
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import RESERVED_INPUT, Schema, Type, arrow_type, from_arrow, widen

MISFIT = "value does not fit"

Instant = int | str | dt.datetime | dt.date


@dataclass(frozen=True)
class InputOptions:
    """How the input is to be read.  The five names are those of the special columns; None: there is none.

    ``time_unit``: what an integer time counts (us, ms, s, min, h, d).  ``type_names``: names for the values of the type
    column (TESLA's ``Assign``).
    """

    type: str | None = "type"
    time: str = "time"
    end: str | None = "end"
    sequence: str | None = "sequence"
    label: str | None = "label"
    time_unit: str | None = None
    start: Instant | None = None
    until: Instant | None = None
    bad_rows: Literal["error", "skip"] = "error"
    type_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def special(self) -> tuple[str | None, ...]:
        return (self.type, self.time, self.end, self.sequence, self.label)


@dataclass(frozen=True)
class Source:
    """A table with its origin.

    ``type``: all its rows are of this type.  ``file`` names it in messages.  ``rows``: the place of each row in the
    file, counted from 1 (None: 1, 2, ..).  ``text``: values were written as text, so a declared type decides how they
    are read; ``as_text``: columns in their original spelling.  ``torn``: (row, text) of what was not a row at all.
    ``misfits``: column -> index of a row -> the value that was not of the column's type (the table has null there).
    """

    table: pa.Table
    type: str | None = None
    file: str | None = None
    rows: np.ndarray | None = None
    text: bool = False
    as_text: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    torn: Sequence[tuple[int, str]] = ()
    misfits: Mapping[str, Mapping[int, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class History:
    """Accepted rows per type, in no particular order.

    ``tables``: columns ``time`` (int64 ticks, no nulls), for lasting types ``end`` (int64, null: still holds), if the
    input has them ``sequence`` (int64) and ``label`` (string), then the attributes (int64, float64, string, bool,
    timestamp[us, UTC]; null if a column has no values and no declared type).  ``schemas``: of every type seen or
    declared.  ``clock``: first and last tick of the history, None without rows.  ``counts``: ``rows`` read,
    ``outside`` [start, until], ``empty`` (end = time), ``bad``, and ``bad: <reason>``.  ``bad``: see ``BadRows``.
    """

    tables: dict[str, pa.Table]
    schemas: dict[str, Schema]
    kind: TimeKind
    clock: tuple[int, int] | None
    counts: dict[str, int]
    bad: pa.Table | None = None
    notices: list[Problem] = field(default_factory=list)


@dataclass
class _Intake:
    """One source with its special columns read: ``codes`` index ``types``, -1 for rows that are out."""

    source: Source
    number: int
    codes: np.ndarray
    types: list[str]
    time: np.ndarray
    end: pa.ChunkedArray | None
    stamped: bool | None
    schema: Schema


def normalise(
    tables: Mapping[str | None, pa.Table] | Sequence[Source],
    *,
    schemas: Mapping[str, Schema] | None = None,
    inputs: Collection[str] | None = None,
    read_columns: Mapping[str, Collection[str]] | None = None,
    external: Collection[str] | None = None,
    options: InputOptions | None = None,
) -> History:
    """Read ``tables`` (type -> table; None: a table with a type column) as ``options`` say.

    ``schemas``: declared types.  ``inputs``: the types to keep (None: all).  ``read_columns``: type -> attributes to
    keep (others: all).  ``external``: those of ``inputs`` that no rule defines; a table without type
    column belongs to the only one.

    Raises InputProblem (``missing-column``, ``bad-time``, ``bad-value``) and UsageProblem.
    """
    options, declared = options or InputOptions(), dict(schemas or {})
    time_unit(options.time_unit)
    if options.bad_rows not in ("error", "skip"):
        raise UsageProblem.of("bad-option", f"bad rows: `{options.bad_rows}`", hint="`error` or `skip`")
    sources = _sources(tables)
    bad = BadRows(sources)
    problems: list[Problem] = []
    intakes = []
    for number, source in enumerate(sources):
        taken = _special(source, number, declared, inputs, external, options, bad, problems)
        if taken is not None:
            intakes.append(taken)
    if problems:
        raise InputProblem(problems)
    kind = _kind(intakes, options)
    start = None if options.start is None else instant(options.start, kind, "--start")
    until = None if options.until is None else instant(options.until, kind, "--until")
    if start is not None and until is not None and start > until:
        raise UsageProblem.of("bad-option", f"--start {options.start} is after --until {options.until}")

    counts: Counter[str] = Counter(rows=sum(len(s.table) + len(s.torn) for s in sources), outside=0, empty=0)
    for one in intakes:
        _bound(one, start, until, counts)
    parts: dict[str, list[pa.Table]] = {}
    for one in intakes:
        for name, table in _types(one, declared, inputs, read_columns, options, bad, until).items():
            parts.setdefault(name, []).append(table)
    seen, notices = _schemas(intakes, declared, inputs, problems)
    if problems:
        raise InputProblem(problems)
    bad.judge(options.bad_rows)
    out = {}
    for name, found in parts.items():
        out[name] = _concat(name, found, problems)
    if problems:
        raise InputProblem(problems)
    for name in inputs or ():
        if name not in out and name in seen:
            out[name] = _empty(seen[name], read_columns and read_columns.get(name))
    clock = _clock(intakes, start, until)
    for name, table in out.items():
        counts["empty"] += _count_empty(table)
        out[name] = _drop_empty(table)
    return History(out, seen, kind, clock, {**counts, **bad.counts()}, bad.table(), notices)


def _sources(tables: Mapping[str | None, pa.Table] | Sequence[Source]) -> list[Source]:
    if isinstance(tables, Mapping):
        return [Source(table, name) for name, table in tables.items()]
    return list(tables)


def _special(
    source: Source,
    number: int,
    declared: Mapping[str, Schema],
    inputs: Collection[str] | None,
    external: Collection[str] | None,
    options: InputOptions,
    bad: BadRows,
    problems: list[Problem],
) -> _Intake | None:
    """The special columns of one source; rows without type or time are noted as bad.  None: nothing to read."""
    table, n = source.table, len(source.table)
    names = table.column_names
    if not names and not n:
        return None
    before = len(problems)
    for name in {c for c in names if names.count(c) > 1}:
        problems.append(_input("duplicate-name", f"two columns are called `{name}`", source))
    if options.time not in names:
        hint = did_you_mean(options.time, names, "columns")
        problems.append(_input("missing-column", f"there is no time column `{options.time}`", source, hint))
    typed = source.type is None and options.type in names
    only = source.type
    if source.type is None and not typed:
        choice = inputs if external is None else external
        if choice is not None and len(choice) <= 1:
            only = next(iter(choice), "")
        else:
            hint = did_you_mean(options.type or "type", names, "columns")
            reads = "" if choice is None else f", and the program reads {_listed(choice)}"
            problems.append(_input("missing-column", f"there is no type column `{options.type}`{reads}", source, hint))
    if len(problems) > before:
        return None
    if typed:
        codes, types = _codes(table.column(options.type), options, bad, number)
    else:
        codes, types = np.zeros(n, np.int16), [only or ""]
    if source.misfits and (typed or inputs is None or only in inputs):
        codes = codes.copy()
        for column, values in source.misfits.items():
            at = np.fromiter(values, np.int64)
            reason, problem = ("unreadable time", "bad-time") if column == options.time else (MISFIT, "bad-value")
            first = values[int(at[0])]
            told = f"{first} in column `{column}`, which is {from_arrow(table.schema.field(column).type)}"
            bad.add(number, reason, problem, column, at[codes[at] >= 0], told)
            codes[at] = -1
    times, stamped = to_ticks(table.column(options.time), integers=options.time_unit is not None)
    if times.null_count:
        lost = times.is_null().to_numpy() & (codes >= 0)
        absent = table.column(options.time).is_null(nan_is_null=True).to_numpy()
        bad.add(number, "null time", "bad-time", options.time, np.flatnonzero(lost & absent))
        bad.add(number, "unreadable time", "bad-time", options.time, np.flatnonzero(lost & ~absent))
        codes = np.where(lost, -1, codes).astype(codes.dtype)
    time = _ints(times)
    end = None
    if options.end in names:
        end, also = to_ticks(table.column(options.end), integers=stamped is False)
        given = ~clean(table.column(options.end)).is_null().to_numpy()
        lost = end.is_null().to_numpy() & given
        if also is not None and stamped is not None and also != stamped:
            lost = given
        early = ~end.is_null().to_numpy() & (_ints(end) < time) & (codes >= 0) & ~lost
        bad.add(number, "unreadable end", "bad-time", options.end, np.flatnonzero(lost & (codes >= 0)))
        bad.add(number, "end before time", "bad-value", options.end, np.flatnonzero(early))
        codes = np.where(lost | early, -1, codes).astype(codes.dtype)
        if end.null_count == n and source.type is None:
            end = None
    pairs = [
        (c, from_arrow(table.schema.field(c).type))
        for c in names
        if c not in options.special and c not in RESERVED_INPUT
    ]
    schema = Schema(tuple((c, t) for c, t in pairs if t is not None), ordered=not typed)
    return _Intake(source, number, codes, types, time, end, stamped, schema)


def _codes(column: pa.ChunkedArray, options: InputOptions, bad: BadRows, number: int) -> tuple[np.ndarray, list[str]]:
    """The type column as small integers, and their names; -1 where it is null (a bad row)."""
    t = column.type
    if not pa.types.is_dictionary(t):
        if not (pa.types.is_string(t) or pa.types.is_large_string(t)):
            column = column.cast(pa.string())
        column = column.dictionary_encode()
    array = column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # an empty column has no chunk, a huge one several
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.string()).dictionary_encode()
    names = [None if v is None else str(v) for v in array.dictionary.to_pylist()]
    small = np.int16 if len(names) < 2**15 else np.int32  # NumPy sorts int16 by radix
    if array.null_count:
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(small)
    else:
        codes = array.indices.to_numpy(zero_copy_only=False).astype(small)
    if None in names or "" in names:
        empty = [i for i, v in enumerate(names) if not v]
        codes = np.where(np.isin(codes, empty), -1, codes).astype(small)
    bad.add(number, "null type", "bad-value", options.type, np.flatnonzero(codes < 0))
    return codes, [options.type_names.get(v or "", v or "") for v in names]


def _kind(intakes: list[_Intake], options: InputOptions) -> TimeKind:
    """The one kind of time of all sources; InputProblem if they differ, UsageProblem for timestamps with a unit."""
    stamped = [i for i in intakes if i.stamped is True]
    counted = [i for i in intakes if i.stamped is False]
    if stamped and counted:
        a, b = stamped[0].source, counted[0].source
        where = f"{a.file or a.type or 'one table'} has timestamps, {b.file or b.type or 'another'} integers"
        raise InputProblem(_input("bad-time", f"all tables of a run count time alike: {where}", b))
    if stamped:
        if options.time_unit is not None:
            text = f"time unit `{options.time_unit}` is for integer times; column `{options.time}` has timestamps"
            raise UsageProblem.of("bad-option", text)
        return TIMESTAMP
    if counted or options.time_unit is not None:
        return TimeKind(timestamp=False, unit=options.time_unit)
    return TIMESTAMP


def _bound(one: _Intake, start: int | None, until: int | None, counts: Counter[str]) -> None:
    """Take out, and count, the rows outside [start, until]."""
    if start is None and until is None:
        return
    out = np.zeros(len(one.time), bool)
    if start is not None:
        out |= one.time < start
    if until is not None:
        out |= one.time > until
    out &= one.codes >= 0
    counts["outside"] += int(out.sum())
    one.codes = np.where(out, -1, one.codes).astype(one.codes.dtype)


def _types(
    one: _Intake,
    declared: Mapping[str, Schema],
    inputs: Collection[str] | None,
    read_columns: Mapping[str, Collection[str]] | None,
    options: InputOptions,
    bad: BadRows,
    until: int | None,
) -> dict[str, pa.Table]:
    """The rows of one source by type, in one pass: rows are grouped by a stable sort of the type codes."""
    out: dict[str, pa.Table] = {}
    lowest = one.codes.min(initial=0)
    if len(one.types) == 1 and lowest >= 0:
        groups: dict[int, np.ndarray | None] = {0: None}
    else:
        order = np.argsort(one.codes, kind="stable")
        counts = np.bincount(one.codes.astype(np.int64) + 1, minlength=len(one.types) + 1)
        stops = np.cumsum(counts)
        groups = {c: order[stops[c] : stops[c + 1]] for c in range(len(one.types)) if counts[c + 1]}
    merged: dict[str, list[pa.Table]] = {}
    for code, rows in groups.items():
        name = one.types[code]
        if inputs is not None and name not in inputs:
            continue
        read = read_columns and read_columns.get(name)
        merged.setdefault(name, []).append(_rows(one, name, rows, declared.get(name), read, options, bad, until))
    for name, parts in merged.items():  # two ids may have one name
        out[name] = parts[0] if len(parts) == 1 else pa.concat_tables(parts)
    return out


def _rows(
    one: _Intake,
    name: str,
    rows: np.ndarray | None,
    schema: Schema | None,
    read: Collection[str] | None,
    options: InputOptions,
    bad: BadRows,
    until: int | None,
) -> pa.Table:
    """The rows of one type in one source; values that do not fit are noted, and their rows left out."""
    table = one.source.table
    index = None if rows is None else pa.array(rows)

    def take(column: pa.ChunkedArray) -> pa.ChunkedArray:
        return column if index is None else column.take(index)

    columns: dict[str, pa.ChunkedArray] = {}
    columns["time"] = pa.chunked_array([pa.array(one.time if rows is None else one.time[rows])])
    lost: np.ndarray | None = None

    def note(column: str, before: pa.ChunkedArray, after: pa.ChunkedArray, expected: Type) -> None:
        nonlocal lost
        if after.null_count > before.null_count:
            missed = after.is_null().to_numpy() & ~before.is_null().to_numpy()
            at = np.flatnonzero(missed)
            observed = from_arrow(before.type) or Type.STRING
            bad.add(
                one.number, MISFIT, "bad-value", column, at if rows is None else rows[at],
                f"{observed} value in column `{column}` of `{name}`, which is {expected}",
            )  # fmt: skip
            lost = missed if lost is None else lost | missed

    if one.end is not None:
        end = take(one.end)
        if end.null_count < len(end) or one.source.type is not None:
            columns["end"] = end if until is None else pc.if_else(pc.greater(end, until), None, end)
    for special, expected in ((options.sequence, Type.INT), (options.label, Type.STRING)):
        if special is not None and special in table.column_names:
            before = clean(take(table.column(special)))
            if expected is Type.STRING and from_arrow(before.type) is Type.INT:
                before = before.cast(pa.string())
            after = fit(before, expected, text=one.source.text)
            after = pa.chunked_array([pa.nulls(len(before), arrow_type(expected))]) if after is None else after
            note(special, before, after, expected)
            if before.null_count == len(before):
                continue  # as if there were none
            columns["sequence" if expected is Type.INT else "label"] = after
    for column, want in schema or one.schema:
        if read is not None and column not in read:
            continue
        if column not in table.column_names:  # a problem that `_schemas` reports
            continue
        spelled = schema is not None and want is Type.STRING and column in one.source.as_text
        before = clean(take(one.source.as_text[column] if spelled else table.column(column)))
        after = fit(before, want if schema is not None else None, text=one.source.text)
        if after is None:
            after = pa.chunked_array([pa.nulls(len(before), arrow_type(want))])
        note(column, before, after, want)
        columns[column] = after
    out = pa.table(columns)
    if lost is not None:
        kept = ~lost
        gone = np.flatnonzero(lost)
        one.codes[gone if rows is None else rows[gone]] = -1
        out = out.filter(pa.array(kept))
    return out


def _schemas(
    intakes: list[_Intake], declared: Mapping[str, Schema], inputs: Collection[str] | None, problems: list[Problem]
) -> tuple[dict[str, Schema], list[Problem]]:
    """Schemas of all types; missing columns of declared types go to ``problems``, the rest to notices."""
    seen: dict[str, Schema] = {}
    notices: list[Problem] = []
    present: set[str] = set()
    shared = Schema(ordered=False)
    for one in intakes:
        live = np.bincount(one.codes.astype(np.int64) + 1, minlength=len(one.types) + 1)[1:]
        for code, name in enumerate(one.types):
            if one.source.type is None and not live[code]:
                continue
            present.add(name)
            lasting = one.end is not None and (
                one.source.type is not None or bool((~one.end.is_null().to_numpy() & (one.codes == code)).any())
            )
            if name in declared:
                seen[name] = declared[name]
                known = one.source.table.column_names
                if inputs is None or name in inputs:
                    for column, _ in declared[name]:
                        if column not in known:
                            hint = did_you_mean(column, known, "columns")
                            text = f"column `{column}` of `{name}` is declared, but missing"
                            problems.append(_input("missing-column", text, one.source, hint))
            else:
                seen[name] = _union(seen.get(name), one.schema, lasting)
        if one.source.type is None and not one.schema.ordered:
            shared = _union(shared, one.schema, False)
    for name in sorted(inputs or ()):
        if name not in seen and name not in declared and shared.attributes:
            seen[name] = shared
    for name, schema in declared.items():
        seen.setdefault(name, schema)
        if name not in present and (inputs is None or name in inputs):
            notices.append(Problem("no-rows", f"there are no rows of the declared type `{name}`", severity="notice"))
    seen.pop("", None)
    return seen, notices


def _union(one: Schema | None, other: Schema, lasting: bool) -> Schema:
    if one is None:
        return Schema(other.attributes, other.ordered, lasting)
    found = dict(one.attributes)
    for name, t in other:
        found[name] = widen(found.get(name, t), t) or t
    return Schema(tuple(found.items()), one.ordered and one.names == other.names, one.lasting or lasting)


def _concat(name: str, parts: list[pa.Table], problems: list[Problem]) -> pa.Table:
    """One table of the parts of several sources: int widens to float, a missing column is null."""
    if len(parts) == 1:
        return parts[0]
    try:
        return pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        text = f"the tables of `{name}` have columns of unlike types: {error}"
        problems.append(Problem("bad-value", text, hint=f"declare them: event {name}(...)"))
        return parts[0]


def _empty(schema: Schema, read: Collection[str] | None) -> pa.Table:
    fields = [(n, arrow_type(t)) for n, t in schema if read is None or n in read]
    head = [("time", pa.int64()), *([("end", pa.int64())] if schema.lasting else [])]
    return pa.schema([*head, *fields]).empty_table()


def _clock(intakes: list[_Intake], start: int | None, until: int | None) -> tuple[int, int] | None:
    """First and last tick: of all accepted rows of all types, or as given."""
    lows, highs = [], []
    for one in intakes:
        live = one.codes >= 0
        time = one.time if live.all() else one.time[live]
        if len(time):
            lows.append(int(time.min()))
            highs.append(int(time.max()))
        if one.end is not None and len(time):
            end = one.end.filter(pa.array(live))
            if until is not None:
                end = pc.if_else(pc.greater(end, until), None, end)
            greatest = pc.max(end).as_py()
            highs += [] if greatest is None else [greatest]
    first = start if start is not None else min(lows, default=None)
    last = until if until is not None else max(highs, default=None)
    if first is None and last is None:
        return None
    first, last = (last if first is None else first), (first if last is None else last)
    return (first, last) if first is not None and last is not None else None


def _count_empty(table: pa.Table) -> int:
    return 0 if "end" not in table.column_names else pc.sum(pc.equal(table["end"], table["time"])).as_py() or 0


def _drop_empty(table: pa.Table) -> pa.Table:
    if not _count_empty(table):
        return table
    return table.filter(pc.fill_null(pc.not_equal(table["end"], table["time"]), True))


def _ints(column: pa.ChunkedArray) -> np.ndarray:
    """int64 values, 0 where null."""
    return (column.fill_null(0) if column.null_count else column).to_numpy()


def _input(kind: str, message: str, source: Source, hint: str | None = None) -> Problem:
    file = source.file or (f"<{source.type}>" if source.type else None)
    return Problem(kind, message, file=file, hint=hint)


def _listed(names: Collection[str]) -> str:
    return ", ".join(f"`{n}`" for n in sorted(names))
