"""Functions of times, in UTC or a zone; a time is int64 microseconds since 1970."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.expr import reference_functions as plain
from occurs.expr.node import PHYSICAL
from occurs.expr.signature import STRING, TIMESTAMP, reference
from occurs.expr.signature import function as declare
from occurs.model.types import Type
from occurs.model.zones import instants, local_times, zone_problem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SAMPLE = datetime(2024, 1, 5, 9, 7, 30, 250_000, tzinfo=UTC)


function = partial(declare, topic="times")


def _moved(run: Callable[[np.ndarray, str], np.ndarray], x: pa.Array, zone: str) -> pa.Array:
    """Times from UTC to a zone or back, as timestamps without a zone."""
    if zone != "UTC":
        valid = x.is_valid().to_numpy(zero_copy_only=False)
        times = np.zeros(len(x), np.int64)
        times[valid] = run(x.view(pa.int64()).drop_null().to_numpy(), zone)
        x = pa.array(times, mask=~valid)
    return x.view(pa.timestamp("us"))


def _local(x: pa.Array, zone: str) -> pa.Array:
    """The times that clocks of a zone show, without a zone."""
    return _moved(local_times, x, zone)


def _calendar(
    name: str,
    doc: str,
    kernel: Callable[[pa.Array], pa.Array],
    result: Type,
    own: Callable[[datetime], Any],
    example: Any,
) -> None:
    """A function of a time, and of a zone if one is given, by what clocks show there; ``own``: for the reference."""

    def run(x: pa.Array, zone: str = "UTC") -> pa.Array:
        if zone_problem(zone):
            return pa.nulls(len(x), PHYSICAL[result])
        return kernel(_local(x, zone)).cast(PHYSICAL[result])

    run.__doc__ = doc + " In UTC, or in the given time zone."
    run.__name__ = name
    given = (_SAMPLE, "Europe/Rome")
    problem = {1: zone_problem}
    reference(plain.calendar(own))(run)
    function(TIMESTAMP, STRING, result=result, least=1, literal=(1,), problem=problem, example=(given, example))(run)


def _field(
    name: str, doc: str, kernel: Callable[..., pa.Array], own: Callable[[datetime], int], example: int, **more: Any
) -> None:
    _calendar(name, doc, lambda x: kernel(x, **more), Type.INT, own, example)


_MONDAY = {"count_from_zero": False, "week_start": 1}
_field("year", "The year.", pc.year, lambda at: at.year, 2024)
_field("quarter", "The quarter of the year, 1 to 4.", pc.quarter, lambda at: (at.month + 2) // 3, 1)
_field("month", "The month, 1 to 12.", pc.month, lambda at: at.month, 1)
_field("week", "The week of the year by ISO 8601, 1 to 53.", pc.iso_week, lambda at: at.isocalendar().week, 1)
_field("day", "The day of the month, 1 to 31.", pc.day, lambda at: at.day, 5)
_field("dayofyear", "The day of the year, 1 to 366.", pc.day_of_year, lambda at: at.timetuple().tm_yday, 5)
_field(
    "dayofweek", "The day of the week: Monday is 1, Sunday 7.", pc.day_of_week, lambda at: at.isoweekday(), 5, **_MONDAY
)
_field("hour", "The hour, 0 to 23.", pc.hour, lambda at: at.hour, 10)
_field("minute", "The minute, 0 to 59.", pc.minute, lambda at: at.minute, 7)
_field("second", "The second, 0 to 59.", pc.second, lambda at: at.second, 30)
_field(
    "millisecond", "The millisecond of the second, 0 to 999.", pc.millisecond, lambda at: at.microsecond // 1000, 250
)


def _weekday(x: pa.Array) -> pa.Array:
    """0 for Monday."""
    return pc.day_of_week(x, count_from_zero=True, week_start=1)


def _date(x: pa.Array) -> pa.Array:
    return pc.floor_temporal(x, unit="day").cast(pa.date32()).cast(pa.string())


_calendar("day_name", "The English name of the weekday.", lambda x: pa.array(plain.DAYS).take(_weekday(x)),
          Type.STRING, lambda at: plain.DAYS[at.weekday()], "Friday")  # fmt: skip
_calendar("month_name", "The English name of the month.",
          lambda x: pa.array(plain.MONTHS).take(pc.subtract(pc.month(x), 1)), Type.STRING,
          lambda at: plain.MONTHS[at.month - 1], "January")  # fmt: skip
_calendar("is_weekend", "True on Saturday and Sunday.", lambda x: pc.greater_equal(_weekday(x), 5),
          Type.BOOL, lambda at: at.weekday() >= 5, False)  # fmt: skip
_calendar("date", "The date as text, `2024-01-05`.", _date, Type.STRING, lambda at: at.date().isoformat(), "2024-01-05")

UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond")
#: units that are there twice when the clocks go back
_SHORT = ("hour", "minute", "second", "millisecond")


def _unit(word: str) -> str | None:
    unit = word.lower().removesuffix("s")
    return unit if unit in UNITS else None


@function(
    STRING,
    TIMESTAMP,
    STRING,
    result=Type.TIMESTAMP,
    least=2,
    literal=(0, 2),
    problem={2: zone_problem},
    example=(("day", _SAMPLE, "Europe/Rome"), 1_704_409_200_000_000),
)
@reference(plain.partial(plain.trunc))
def date_trunc(unit: str, x: pa.Array, zone: str = "UTC") -> pa.Array:
    """The start of the year, quarter, month, week (Monday), day, hour, minute, second or millisecond, in UTC or in the
    given time zone; null for another unit."""
    short = _unit(unit)
    if short is None or zone_problem(zone):
        return pa.nulls(len(x), pa.int64())
    start = pc.floor_temporal(_local(x, zone), unit=short, week_starts_monday=True)
    # what clocks show twice is the first, what they skip is the instant behind the gap
    first = _moved(instants, start, zone).view(pa.int64())
    if short not in _SHORT:
        return first
    # of an hour that is there twice, the one that ``x`` is in
    last = _moved(partial(instants, latest=True), start, zone).view(pa.int64())
    return pc.if_else(pc.less_equal(last, x), last, first)


@function(TIMESTAMP, result=Type.FLOAT, example=((_SAMPLE,), 1_704_445_650.25))
@reference(lambda a: a / 1e6)
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
