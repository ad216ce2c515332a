"""Functions of times, in UTC; a time is int64 microseconds since 1970."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr.signature import CATALOGUE, STRING, TIMESTAMP, Function, function
from occurs.model.types import Type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SAMPLE = datetime(2024, 1, 5, 9, 7, 30, 250_000, tzinfo=UTC)


def _stamps(x: pa.Array) -> pa.Array:
    return x.view(pa.timestamp("us"))


def _field(name: str, doc: str, kernel: Any, example: int, **options: Any) -> None:
    def run(x: pa.Array) -> pa.Array:
        return kernel(_stamps(x), **options).cast(pa.int64())

    CATALOGUE[name] = Function(name, doc, (TIMESTAMP,), Type.INT, 1, 1, run, example=((_SAMPLE,), example))


_field("year", "The year.", pc.year, 2024)
_field("quarter", "The quarter of the year, 1 to 4.", pc.quarter, 1)
_field("month", "The month, 1 to 12.", pc.month, 1)
_field("week", "The week of the year by ISO 8601, 1 to 53.", pc.iso_week, 1)
_field("day", "The day of the month, 1 to 31.", pc.day, 5)
_field("dayofyear", "The day of the year, 1 to 366.", pc.day_of_year, 5)
_MONDAY = {"count_from_zero": False, "week_start": 1}
_field("dayofweek", "The day of the week: Monday is 1, Sunday 7.", pc.day_of_week, 5, **_MONDAY)
_field("hour", "The hour, 0 to 23.", pc.hour, 9)
_field("minute", "The minute, 0 to 59.", pc.minute, 7)
_field("second", "The second, 0 to 59.", pc.second, 30)
_field("millisecond", "The millisecond of the second, 0 to 999.", pc.millisecond, 250)

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")


@function(STRING, TIMESTAMP, result=Type.TIMESTAMP, literal=(0,), example=(("hour", _SAMPLE), 1_704_445_200_000_000))
def date_trunc(unit: str, x: pa.Array) -> pa.Array:
    """The start of the year, quarter, month, week (Monday), day, hour, minute, second or millisecond; else null."""
    unit = unit.lower().removesuffix("s")
    if unit not in UNITS:
        return pa.nulls(len(x), pa.int64())
    return pc.floor_temporal(_stamps(x), unit=unit, week_starts_monday=True).view(pa.int64())


@function(TIMESTAMP, result=Type.FLOAT, example=((_SAMPLE,), 1_704_445_650.25))
def epoch(x: pa.Array) -> pa.Array:
    """Seconds since 1970 UTC."""
    return pc.divide(x.cast(pa.float64(), safe=False), 1e6)


_CLOCK = r"(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)"
_ISO = re.compile(rf"(\d{{4}}-\d{{2}}-\d{{2}})(?:[T ]{_CLOCK}\s?(Z|z|[+-]\d{{2}}(?::?\d{{2}})?)?)?", re.ASCII)


def read_time(text: str) -> int | None:
    """Microseconds since 1970 of a time in ISO 8601; without zone: UTC; None if it is none.

    >>> read_time("1970-01-01T01:00+01:00"), read_time("1970-01-02"), read_time("soon")
    (0, 86400000000, None)
    """
    found = _ISO.fullmatch(text.strip())
    if not found:
        return None
    day, clock, zone = found.groups()
    try:
        at = datetime.fromisoformat(f"{day}T{clock or '00:00'}{(zone or 'Z').upper()}")
        return (at - _EPOCH) // timedelta(microseconds=1)
    except (ValueError, OverflowError):  # no such day or hour: the documented answer is null
        return None


def read_times(x: pa.Array) -> pa.Array:
    """A column of text as int64 microseconds; each distinct text is read once."""
    column = x.dictionary_encode()
    read = pa.array([None if t is None else read_time(t) for t in column.dictionary.to_pylist()], pa.int64())
    return read.take(column.indices)
