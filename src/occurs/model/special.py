"""The special columns of a table: type, time and end of every row, the kind of time, the clock."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import InputProblem, Problem, UsageProblem
from occurs.model.attribute_types import clean
from occurs.model.badrows import MISFIT, SKIP, BadRows
from occurs.model.elements import with_elements
from occurs.model.lists import list_type
from occurs.model.source import (
    InputOptions,
    Intake,
    Source,
    input_problem,
    ints,
    listed,
    records,
    time_column,
    type_column,
)
from occurs.model.ticks import cast_what_fits, parse_timestamps, to_ticks
from occurs.model.time import TIMESTAMP, UNIT_MICROSECONDS, TimeKind
from occurs.model.timeformat import MONTH, TimeFormat
from occurs.model.types import RESERVED_INPUT, Schema, Type, from_arrow
from occurs.model.values import python_values, short, taken


def take_in(
    source: Source,
    number: int,
    declared: Mapping[str, Schema],
    inputs: Collection[str] | None,
    external: Collection[str] | None,
    options: InputOptions,
    bad: BadRows,
    problems: list[Problem],
) -> Intake | None:
    """The special columns of one source; rows without type or time are noted as bad.  None: nothing to read."""
    if options.elements:
        source = replace(source, table=with_elements(source.table, options.elements))
    table, n = source.table, len(source.table)
    names = table.column_names
    if not names and not n:
        return None
    before = len(problems)
    for name in {c for c in names if names.count(c) > 1}:
        problems.append(input_problem("duplicate-name", f"two columns are called `{name}`", source))
    problems += [input_problem("bad-value", text, source, hint) for text, hint in records(options, names)]
    if len(problems) > before:
        return None
    if options.time not in names:
        kinds = dict(zip(names, table.schema.types, strict=True))
        stamps = [n for n in names if pa.types.is_timestamp(kinds[n])]
        text = f"there is no time column `{options.time}`"
        named = source.hint or time_column(options, names, stamps)
        problems.append(input_problem("missing-column", text, source, named))
        if source.hint is not None:  # the columns are not what they seem: no need to look for the next one
            return None
    typed = source.type is None and options.type in names
    only = source.type
    if source.type is None and not typed:
        choice = inputs if external is None else external
        if choice is not None and len(choice) <= 1:
            only = next(iter(choice), "")
        else:
            likely = [] if choice is None else _naming(table, choice)
            hint = source.hint or type_column(options, names, likely, choice or ())
            reads = "" if choice is None else f", but the program reads {listed(choice)}"
            column = f" `{options.type}`" if options.type else ""
            problems.append(input_problem("missing-column", f"there is no type column{column}{reads}", source, hint))
    if len(problems) > before:
        return None
    if typed and not names_types(kind := table.schema.field(options.type).type):
        text = f"the type column `{options.type}` is of type {short(kind)} and cannot name event types"
        problems.append(
            input_problem("bad-value", text, source, "it must be text, or the integers that the rules assign to types")
        )
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
            kind = table.schema.field(column).type
            which = "" if pa.types.is_null(kind) else f", which is {from_arrow(kind) or kind}"
            told = f"{first} in column `{column}`{which}"
            bad.add(number, reason, problem, column, at[codes[at] >= 0], told, source.hint)
            codes[at] = -1
    as_text = source.as_text if options.time_format is not None else {}
    given = as_text.get(options.time, table.column(options.time))
    times, stamped = to_ticks(given, integers=options.time_unit is not None, written=options.written)
    if times.null_count:
        lost = times.is_null().to_numpy() & (codes >= 0)
        absent = table.column(options.time).is_null(nan_is_null=True).to_numpy()
        bad.add(number, "null time", "bad-time", options.time, np.flatnonzero(lost & absent))
        unreadable = np.flatnonzero(lost & ~absent)
        values = taken(given, pa.array(unreadable[:_LOOKED_AT]))
        helps = time_hint(python_values(values), options.time_format)
        bad.add(number, "unreadable time", "bad-time", options.time, unreadable, hint=helps)
        codes = np.where(lost, -1, codes).astype(codes.dtype)
    time = ints(times)
    end = None
    if options.end is not None and options.end in names:
        given = as_text.get(options.end, table.column(options.end))
        end, also = to_ticks(given, integers=stamped is False, written=options.written)
        there = ~clean(table.column(options.end)).is_null().to_numpy()
        lost = end.is_null().to_numpy() & there
        if also is not None and stamped is not None and also != stamped:
            lost = there
        early = ~end.is_null().to_numpy() & (ints(end) < time) & (codes >= 0) & ~lost
        bad.add(number, "unreadable end", "bad-time", options.end, np.flatnonzero(lost & (codes >= 0)))
        bad.add(number, "end before time", "bad-value", options.end, np.flatnonzero(early))
        codes = np.where(lost | early, -1, codes).astype(codes.dtype)
        if end.null_count == n and source.type is None:
            end = None
    schema = _attributes(table.schema, frozenset(options.special), options.lists, not typed)
    return Intake(source, number, codes, types, time, end, stamped, schema)


#: the latest table and its attributes, by how they are read: tables that are pushed are alike, and a schema of Arrow
#: is compared in far less time than it is hashed
_latest: dict[tuple[frozenset[str | None], bool, bool], tuple[pa.Schema, Schema]] = {}


def _attributes(table: pa.Schema, special: frozenset[str | None], with_lists: bool, ordered: bool) -> Schema:
    """The attributes of a table: its columns but the ``special`` ones."""
    key = special, with_lists, ordered
    before = _latest.get(key)
    if before is None or not before[0].equals(table):
        before = _latest[key] = table, _attributes_of(table.remove_metadata(), special, with_lists, ordered)
    return before[1]


@lru_cache(256)
def _attributes_of(table: pa.Schema, special: frozenset[str | None], with_lists: bool, ordered: bool) -> Schema:
    kinds = {f.name: f.type for f in table if f.name not in special and f.name not in RESERVED_INPUT}
    found = {c: list_type(k) for c, k in kinds.items()} if with_lists else {}
    lists = {c: k for c, k in found.items() if k is not None}
    pairs = [(c, Type.RECORD if c in lists else from_arrow(k)) for c, k in kinds.items()]
    known = tuple((c, t) for c, t in pairs if t is not None)
    return Schema(known, ordered=ordered, records=tuple(lists.items()))


#: values that are looked at to see in which format they are
_LOOKED_AT = 1_000


def _naming(table: pa.Table, types: Collection[str]) -> list[str]:
    """The columns of text that hold names of event ``types``."""
    wanted = pa.array(sorted(types), pa.string())
    text = (n for n in table.column_names if from_arrow(table.schema.field(n).type) is Type.STRING)
    return [n for n in text if pc.any(pc.is_in(_names(table.column(n)), wanted)).as_py()]


def _codes(column: pa.ChunkedArray, options: InputOptions, bad: BadRows, number: int) -> tuple[np.ndarray, list[str]]:
    """The type column as small integers, and their names; -1 where it is null or unreadable (a bad row)."""
    known = pa.types.is_dictionary(column.type) and from_arrow(column.type) is Type.STRING
    if not known or (column.num_chunks > 1 and any(chunk.dictionary.null_count for chunk in column.chunks)):
        text, lost = _names(column), np.zeros(0, np.int64)
        if text.null_count > column.null_count:
            lost = np.flatnonzero(text.is_null().to_numpy() & column.is_valid().to_numpy())
            bad.add(number, "unreadable type", "bad-value", options.type, lost)
        column = text.dictionary_encode()
    else:
        lost = np.zeros(0, np.int64)
    array = column.chunk(0) if column.num_chunks == 1 else column.unify_dictionaries().combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # an empty column has no chunk, a huge one several
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], pa.string()).dictionary_encode()
    names = [None if v is None else str(v) for v in array.dictionary.to_pylist()]
    small = np.int16 if len(names) < 2**15 else np.int32  # NumPy sorts int16 by radix
    if array.null_count:
        codes = array.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(small)
    else:
        codes = array.indices.to_numpy(zero_copy_only=False).astype(small)
    unnamed = [i for i, v in enumerate(names) if not v]
    if unnamed:
        codes = np.where(np.isin(codes, unnamed), -1, codes).astype(small)
    empty_rows = np.flatnonzero(codes < 0) if unnamed or array.null_count else ()
    if len(empty_rows):
        bad.add(number, "null type", "bad-value", options.type, np.setdiff1d(empty_rows, lost))
    return codes, [options.type_names.get(v or "", v or "") for v in names]


def names_types(t: pa.DataType) -> bool:
    """May a column of this Arrow type be the type column?  Numbers are ids of types; bytes are UTF-8."""
    if pa.types.is_dictionary(t):
        return names_types(t.value_type)
    return (
        from_arrow(t) is not None
        or pa.types.is_binary(t)
        or pa.types.is_large_binary(t)
        or (pa.types.is_fixed_size_binary(t))
    )


def _names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A type column as text, null where it cannot be read."""
    t = column.type
    if pa.types.is_dictionary(t):
        return _names(column.cast(t.value_type))
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return column
    return cast_what_fits(column.cast(pa.binary()) if pa.types.is_fixed_size_binary(t) else column, pa.string())


def time_kind(intakes: list[Intake], options: InputOptions) -> TimeKind:
    """The one kind of time of all sources; InputProblem if they differ, UsageProblem for timestamps with a unit."""
    stamped = [i for i in intakes if i.stamped is True]
    counted = [i for i in intakes if i.stamped is False]
    if stamped and counted:
        a, b = stamped[0].source, counted[0].source
        where = f"{a.file or a.type or 'one table'} has timestamps, {b.file or b.type or 'another'} integers"
        raise InputProblem(
            input_problem("bad-time", f"all tables of a run must have the same kind of time: {where}", b)
        )
    if stamped:
        if options.time_unit is not None:
            text = f"time unit `{options.time_unit}` is for integer times; column `{options.time}` has timestamps"
            raise UsageProblem.of("bad-option", text)
        return TIMESTAMP
    if counted or options.time_unit is not None:
        return TimeKind(timestamp=False, unit=options.time_unit)
    return TIMESTAMP


def bound(one: Intake, start: int | None, until: int | None, counts: Counter[str]) -> None:
    """Take out, and count, the rows outside [start, until]."""
    if start is None and until is None:
        return
    time = one.time
    if not len(time) or ((start is None or time.min() >= start) and (until is None or time.max() <= until)):
        return
    out = outside(one, start, until)
    if not out.any():
        return
    counts["outside"] += int(out.sum())
    one.leave_out(out)


def outside(one: Intake, start: int | None, until: int | None) -> np.ndarray:
    """The accepted rows outside [start, until], bool (n)."""
    out = np.zeros(len(one.time), bool)
    if start is not None:
        out |= one.time < start
    if until is not None:
        out |= one.time > until
    return out & (one.codes >= 0)


#: the years in which events are likely to be, in microseconds since 1970
_LIKELY = range(
    *(int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp()) * 1_000_000 for year in (1980, 2101))
)  # fmt: skip


def unlikely_times(kind: TimeKind, first: int, last: int) -> list[Problem]:
    """A warning if all times of a history, from ``first`` to ``last``, are before 1980 or after 2100.

    Integer times may count from anywhere.  They are unlikely only if they would be likely in another unit.
    """
    if kind.tick is None:
        return []
    begin, end = first * kind.tick, last * kind.tick
    if not (end < _LIKELY.start or begin >= _LIKELY.stop):
        return []
    if kind.timestamp:
        text, hint = f"all times are {_span(begin, end)}", "the integers that they were made from may have another unit"
        return [Problem("unlikely-time", text, severity="warning", hint=hint)]
    for unit in ("s", "ms", "us"):
        if first * UNIT_MICROSECONDS[unit] in _LIKELY and last * UNIT_MICROSECONDS[unit] in _LIKELY:
            text = f"read as {kind.unit} since 1970, all times are {_span(begin, end)}"
            hint = f"did you mean time unit {unit}? The times would then be from " + " to ".join(
                _date(t * UNIT_MICROSECONDS[unit]) for t in (first, last)
            )
            return [Problem("unlikely-time", text, severity="warning", hint=hint)]
    if first // 1_000 in _LIKELY and last // 1_000 in _LIKELY:
        text = f"read as {kind.unit} since 1970, all times are {_span(begin, end)}"
        hint = "if they are nanoseconds, divide them by 1,000 and use time unit us"
        return [Problem("unlikely-time", text, severity="warning", hint=hint)]
    return []


def _span(begin: int, end: int) -> str:
    return f"from {_date(begin)} to {_date(end)}"


def _date(microseconds: int) -> str:
    """The day of a time, or its year where Python's calendar has no such day."""
    try:
        return str((dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=microseconds)).date())
    except OverflowError:
        return f"the year {1970 + microseconds // 31_556_952_000_000:,}"


def times_of(intakes: list[Intake]) -> tuple[int, int] | None:
    """The first and the last time of an accepted row of any type; None if there is none."""
    lows, highs = [], []
    for one in intakes:
        time = one.time if one.whole else one.time[one.codes >= 0]
        if len(time):
            lows.append(int(time[0] if one.increasing else time.min()))
            highs.append(int(time[-1] if one.increasing else time.max()))
    return (min(lows), max(highs)) if lows else None


def clock_of(
    intakes: list[Intake], times: tuple[int, int] | None, start: int | None, until: int | None
) -> tuple[int, int] | None:
    """First and last tick: of all accepted rows of all types, or as given; ``times``: see :func:`times_of`."""
    highs = [] if times is None else [times[1]]
    for one in intakes:
        if one.end is not None:
            end = one.end.filter(pa.array(one.codes >= 0))
            if until is not None:
                end = pc.if_else(pc.greater(end, until), None, end)
            greatest = pc.max(end).as_py()
            highs += [] if greatest is None else [greatest]
    first = start if start is not None else None if times is None else times[0]
    last = until if until is not None else max(highs, default=None)
    if first is None and last is None:
        return None
    first, last = (last if first is None else first), (first if last is None else last)
    return (first, last) if first is not None and last is not None else None


# --- times that could not be read: hints with the common formats in which they would be -------------------------------
# Nothing is read by a guess: `05/01/2024` has two readings, and the next file may show another one.

_DAYS = (
    "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d/%m/%y",
    "%m/%d/%y", "%d.%m.%y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d %Y", "%b %d, %Y", "%d/%b/%Y",
    "%a, %d %b %Y", "%a %d %b %Y", "%Y-%m-%d", "%Y %b %d",
)  # fmt: skip
_HOURS = ("", "%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%H:%M:%S,%f", "%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%H%M%S")
_ZONES = ("", " %z", "%z", " %Z")
_BETWEEN = (" ", "T", ":", ", ")
_WHOLE = ("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Z %Y", "%a %b %d %H:%M:%S %z %Y")
_SYSLOG = re.compile(rf"\s*(?:[a-z]{{3}} )?{MONTH}\s+\d+\s+\d\d:\d\d", re.IGNORECASE)


@lru_cache(1)
def _common() -> tuple[tuple[str, re.Pattern[str] | None, re.Pattern[str] | None], ...]:
    """The common formats, the likeliest first, each with what a text has to begin and to end with.

    There are thousands of formats, of few days and few hours: most of them are ruled out by these two.
    """
    first = {d: TimeFormat.of(d).pattern.removesuffix(r"\s*$") for d in _DAYS}
    last = {
        (b, h, z): TimeFormat.of(f"{_DAYS[0]}{b}{h}{z}").pattern.removeprefix(first[_DAYS[0]])
        for h in _HOURS[1:] for z in _ZONES for b in _BETWEEN
    }  # fmt: skip
    begins = {d: re.compile(pattern, re.ASCII) for d, pattern in first.items()}
    ends = {(b, h, z): re.compile(pattern, re.ASCII) for (b, h, z), pattern in last.items()}
    timed = ((f"{d}{b}{h}{z}", begin, end) for (b, h, z), end in ends.items() for d, begin in begins.items())
    return (*((d, begin, None) for d, begin in begins.items()), *timed, *((f, None, None) for f in _WHOLE))


def _likely(text: str) -> list[str]:
    """The common formats that a text has the form of."""
    fits: dict[re.Pattern[str] | None, bool] = {None: True}
    out = []
    for written, begin, end in _common():
        if begin not in fits:
            fits[begin] = begin is not None and begin.match(text) is not None
        if fits[begin] and end not in fits:
            fits[end] = end is not None and end.search(text) is not None
        if fits[begin] and fits[end] and re.match(TimeFormat.of(written).pattern, text, re.ASCII):
            out.append(written)
    return out


def formats_of(values: list[str]) -> list[str]:
    """The common formats in which all of some texts are times, the likeliest first; none of no texts."""
    first = pa.chunked_array([pa.array(values[:1], pa.string())])
    likely = _likely(values[0].lower()) if values else []
    every = pa.chunked_array([pa.array(values, pa.string())])
    fitting = (f for f in likely if not parse_timestamps(TimeFormat.of(f).iso(first)).null_count)
    return [f for f in fitting if not parse_timestamps(TimeFormat.of(f).iso(every)).null_count]


def time_hint(values: list[object], wanted: str | None) -> str | None:
    """What helps to read some times that could not be read; ``wanted``: the format in which they were expected."""
    texts = [v for v in values if isinstance(v, str)]
    found = formats_of(texts)
    if found:
        quoted = [f'"{f}"' for f in found]
        text = f"read them with --time-format {quoted[0]}"
        if len(found) > 1 and (found[0][1], found[1][1]) == ("d", "m"):
            text += f" if the day comes first, or with --time-format {quoted[1]} if the month does"
        return f"{text} (Python: time_format=..)"
    if wanted is not None:
        return f'they do not match --time-format "{wanted}"; {SKIP}'
    if texts and _SYSLOG.match(texts[0]):
        example = f"2024 {texts[0].strip()}"
        return f'they have no year; put it before each time, `{example}`, and use --time-format "%Y %b %d %H:%M:%S"'
    if texts and re.fullmatch(r"\s*\d{1,2}:\d\d(:\d\d)?([.,]\d+)?\s*", texts[0]):
        return "a time of day has no date; put the date before it, as in 2024-01-05T09:00:00"
    numbers = [v for v in values if isinstance(v, float) and abs(v) < 1e12]
    if numbers:
        return f"times must be whole numbers: write {round(numbers[0] * 1000)} with --time-unit ms"
    return None
