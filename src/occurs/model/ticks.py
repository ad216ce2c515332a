"""Columns and single values of time to int64 ticks (common.md, section 1: ``time``)."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import UsageProblem, did_you_mean
from occurs.model.time import UNIT_MICROSECONDS, UNITS, Duration, TimeKind, exact_number
from occurs.model.timeformat import TimeFormat
from occurs.model.values import is_text, short

#: ISO 8601 as people and tools write it; Arrow's parser is the judge, this only keeps it from failing on whole columns
_ISO = r"^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?)?\s?(Z|[+-]\d\d(:?\d\d)?)?$"
_ZONED = r"\d\d:\d\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_WHOLE = r"^\s*[+-]?\d{1,19}\s*$"


def to_ticks(
    column: pa.ChunkedArray, *, integers: bool = False, written: TimeFormat | None = None
) -> tuple[pa.ChunkedArray, bool | None]:
    """Ticks of a time column, null where there is none, and whether they are timestamps (None: nothing to tell by).

    Timestamps and dates become microseconds since 1970 UTC; naive ones are read as UTC; those that are not whole in
    microseconds are null.  Text is ISO 8601, or whole numbers if ``integers`` or if the first readable value is one.
    Whole floats count as integers.  A column of any other type is null throughout.  ``written``: text, and whole
    numbers as their digits, is in this format instead.
    """
    t = column.type
    if pa.types.is_dictionary(t):
        return to_ticks(column.cast(t.value_type), integers=integers, written=written)
    if written is not None and (pa.types.is_floating(t) or pa.types.is_decimal(t)):
        return to_ticks(whole_numbers(column), written=written)
    if written is not None and (is_string(t) or pa.types.is_integer(t)):
        return parse_timestamps(written.iso(column)).cast(pa.int64()), True
    if pa.types.is_null(t):
        return column.cast(pa.int64()), None
    if pa.types.is_timestamp(t) or pa.types.is_date(t):
        return timestamps(column).cast(pa.int64()), True
    if pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t):
        return whole_numbers(column), False
    if is_string(t):
        text = column.cast(pa.string())
        whole = pc.match_substring_regex(text, _WHOLE)
        if not integers:
            clear = pc.or_(whole, pc.match_substring_regex(text, _ISO))
            first = pc.index(clear, pa.scalar(True)).as_py()
            if first < 0:
                return pa.chunked_array([pa.nulls(len(text), pa.int64())]), None
            integers = whole[first].as_py()
        if integers:
            return numbers_in_text(text, pa.int64()), False
        return parse_timestamps(text).cast(pa.int64()), True
    return pa.chunked_array([pa.nulls(len(column), pa.int64())]), None


def is_string(t: pa.DataType) -> bool:
    return pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t)


def timestamps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Any timestamp or date column as timestamp[us, UTC]; null where it is not whole in microseconds."""
    utc = pa.timestamp("us", tz="UTC")
    t = column.type
    if pa.types.is_date32(t):
        return _scaled(column.cast(pa.int32()).cast(pa.int64()), 86_400_000_000)
    if pa.types.is_date64(t):
        return _scaled(column.cast(pa.int64()), 1_000)
    if t.unit == "ns":
        ticks = column.cast(pa.int64())
        micro = pc.divide(ticks, 1000)  # truncates, so the product shows whether it was whole
        whole = pc.equal(pc.multiply(micro, 1000), ticks)
        return pc.if_else(whole, micro, None).cast(utc)
    if t.unit == "us":
        return column.cast(pa.int64()).cast(utc)
    return _scaled(column.cast(pa.int64()), 1_000 if t.unit == "ms" else 1_000_000)


def _scaled(ticks: pa.ChunkedArray, factor: int) -> pa.ChunkedArray:
    """``ticks`` of ``factor`` microseconds as timestamp[us, UTC]; null where the product does not fit int64."""
    limit = (2**63 - 1) // factor
    fits = pc.and_(pc.less_equal(ticks, limit), pc.greater_equal(ticks, -limit))
    return pc.multiply(pc.if_else(fits, ticks, None), factor).cast(pa.timestamp("us", tz="UTC"))


def whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers and whole floats or decimals as int64; null where they are none or do not fit."""
    t = column.type
    if pa.types.is_uint64(t):
        column = pc.if_else(pc.less_equal(column, pa.scalar(2**63 - 1, pa.uint64())), column, None)
    elif pa.types.is_decimal(t):
        return cast_what_fits(pc.if_else(pc.equal(pc.floor(column), column), column, None), pa.int64())
    if pa.types.is_floating(t):
        column = column.cast(pa.float64())
        inside = pc.and_(pc.greater_equal(column, -(2.0**63)), pc.less(column, 2.0**63))
        column = pc.if_else(pc.and_(inside, pc.equal(pc.floor(column), column)), column, None)
    return column.cast(pa.int64())


def numbers_in_text(text: pa.ChunkedArray, t: pa.DataType) -> pa.ChunkedArray:
    """Text that is a number as ``t`` (int64 or float64); null elsewhere, also where it is too great for int64."""
    if pa.types.is_integer(t):
        pattern = _WHOLE
    else:
        pattern = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
    trimmed = pc.utf8_trim_whitespace(pc.if_else(pc.match_substring_regex(text, pattern), text, None))
    plain = pc.replace_substring_regex(trimmed, r"^\+", "")
    return cast_what_fits(plain, t)


def parse_timestamps(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """ISO 8601 text as timestamp[us, UTC]: with a zone or an offset converted, without one read as UTC; else null."""
    utc = pa.timestamp("us", tz="UTC")
    fine = pc.if_else(pc.match_substring_regex(text, _ISO), text, None)
    # nine digits of a second are accepted if the last three are zero
    fine = pc.replace_substring_regex(pc.replace_substring(fine, ",", "."), r"(\.\d{6})0{1,3}", r"\1")
    zoned = pc.match_substring_regex(fine, _ZONED)
    if pc.any(zoned).as_py():
        with_zone = cast_what_fits(pc.if_else(zoned, fine, None), utc)
        naive = cast_what_fits(pc.if_else(zoned, None, fine), pa.timestamp("us"))
        return pc.coalesce(with_zone, naive.cast(pa.int64()).cast(utc))
    return cast_what_fits(fine, pa.timestamp("us")).cast(pa.int64()).cast(utc)


def cast_what_fits(column: pa.ChunkedArray, t: pa.DataType) -> pa.ChunkedArray:
    """Cast, with null for the values that cannot be (found by halving, so that good columns cost one cast)."""
    try:
        return column.cast(t)
    except pa.ArrowInvalid:
        if len(column) == 1:
            return pa.chunked_array([pa.nulls(1, t)])
        half = len(column) // 2
        low, high = cast_what_fits(column.slice(0, half), t), cast_what_fits(column.slice(half), t)
        return pa.chunked_array([*low.chunks, *high.chunks], type=t)


def instant(value: int | str | dt.datetime | dt.date, kind: TimeKind, option: str) -> int:
    """The tick an option such as ``--start`` names: ISO 8601 or datetime for timestamps, a whole number for integers.

    Raises UsageProblem, naming ``option``, if it is neither or does not go with the run's kind of time.
    """
    if isinstance(value, dt.date):
        if not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        value = value.isoformat()
    if isinstance(value, str) and not kind.timestamp and re.fullmatch(_WHOLE, value, re.ASCII):
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and not kind.timestamp:
        if not -(2**63) <= value < 2**63:
            raise UsageProblem.of("bad-time", f"{option}: {short(value)} does not fit into 64 bits")
        return value
    if isinstance(value, str) and kind.timestamp and is_text(value):
        parsed = parse_timestamps(pa.chunked_array([pa.array([value.strip()])])).cast(pa.int64())[0].as_py()
        if parsed is not None:
            return int(parsed)
    wanted = "write it as 2024-01-05T09:00:00Z" if kind.timestamp else "write a whole number, as in the time column"
    expected = "a timestamp" if kind.timestamp else "a whole number"
    raise UsageProblem.of("bad-time", f"{option} {short(value)}: expected {expected}", hint=wanted)


def clock_ends(start: Any, until: Any, kind: TimeKind) -> tuple[int | None, int | None]:
    """The ticks that the options ``--start`` and ``--until`` name (None: not given).  Raises UsageProblem."""
    first = None if start is None else instant(start, kind, "--start")
    last = None if until is None else instant(until, kind, "--until")
    if first is not None and last is not None and first > last:
        raise UsageProblem.of("bad-option", f"--start {start} is after --until {until}")
    return first, last


def duration(value: Any, kind: TimeKind, option: str) -> Fraction:
    """The ticks of a duration that an option gives: text such as "10 minutes" or "90s", a timedelta, or a number of
    ticks.  Raises UsageProblem, naming ``option``."""
    found: Duration | None = None
    if isinstance(value, bool):
        pass
    elif isinstance(value, dt.timedelta):
        micros = value.days * 86_400_000_000 + value.seconds * 1_000_000 + value.microseconds
        found = Duration(Fraction(micros))
    elif isinstance(value, int):
        found = Duration(Fraction(value), ticks=True)
    elif isinstance(value, str) and (m := re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([^\W\d]*)\s*", value)):
        amount, unit = exact_number(m[1]), m[2]
        name = UNITS.get(unit) or UNITS.get(unit.lower())
        if unit and name is None:
            hint = did_you_mean(unit, list(UNITS), "units")
            raise UsageProblem.of("unknown-unit", f"{option} `{value}`: unknown unit `{unit}`", hint=hint)
        ticks = not unit or name == "tick"
        if amount is not None:
            found = Duration(amount if ticks else amount * UNIT_MICROSECONDS[str(name)], ticks=ticks)
    if found is None or found.amount < 0:
        hint = 'write a duration such as "10 s" or "5 min"'
        raise UsageProblem.of("bad-duration", f"{option} must be a duration, not {short(value)}", hint=hint)
    if found.amount == 0:
        return Fraction(0)
    exact = kind.convert(found)
    if exact is None:
        hint = (
            'add a unit, such as "10 s"'
            if kind.timestamp
            else "specify the unit of integer times: --time-unit (Python: time_unit=..)"
        )
        text = f"{option} {short(value)} cannot be converted to the times of this input"
        raise UsageProblem.of("missing-unit", text, hint=hint)
    return exact


def time_unit(unit: str | None) -> str | None:
    """The checked ``--time-unit``; UsageProblem if it is none."""
    if unit is not None and not (isinstance(unit, str) and unit in UNIT_MICROSECONDS):
        meant = UNITS.get(unit.lower()) if isinstance(unit, str) else None
        hint = "use one of us, ms, s, min, h, d" + (
            f"; for {unit}, use `{meant}`" if meant in UNIT_MICROSECONDS else ""
        )
        raise UsageProblem.of("unknown-unit", f"unknown time unit {short(unit)}", hint=hint)
    return unit
