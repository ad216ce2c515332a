"""Schedules of ISO 8601 as ``timer:schedule`` takes them (epl-and-nets.md, section 2)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

from occurs.languages.epl.syntax import Period
from occurs.languages.epl.words import UNITS
from occurs.model.time import Duration

_PERIOD = re.compile(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?")


def from_iso(text: str) -> dict[str, Any]:
    """The arguments ``date``, ``repetitions`` and ``period`` of a schedule; raises ValueError with the reason."""
    parts = text.strip().split("/")
    out: dict[str, Any] = {}
    if len(parts) > 1 and parts[0].startswith("R"):
        repeat = parts.pop(0)[1:]
        if repeat and not repeat.isdecimal():
            raise ValueError(f"`R{repeat}` is not a number of repetitions")
        out["repetitions"] = int(repeat) if repeat else -1
        if not parts[-1].startswith("P"):
            raise ValueError("a period is missing behind the number of repetitions")
    if len(parts) > 2 or not all(parts):
        raise ValueError(f"`{text}` has not the parts `R<n>/<date>/<period>`")
    if parts[-1].startswith("P"):
        out["period"] = period_of(parts.pop())
    if parts:
        microseconds_of(parts[0])
        out["date"] = parts[0]
    return out


def period_of(text: str) -> Duration:
    """``P1Y2M10DT2H30M``; raises ValueError."""
    found = _PERIOD.fullmatch(text)
    counts = [int(n or 0) for n in found.groups()] if found else []
    if not any(counts):
        raise ValueError(f"`{text}` is not a period such as `P1DT2H`")
    years, months, weeks, days, hours, minutes, seconds = counts
    rest = Fraction(hours * UNITS["hour"] + minutes * UNITS["min"] + seconds * UNITS["sec"])
    fixed = (7 * weeks + days) * UNITS["day"]
    if not years and not months:
        return Duration(fixed + rest)
    return Period((366 * years + 31 * months) * UNITS["day"] + fixed + rest, False, years, months, weeks, days, rest)


def microseconds_of(text: str) -> int:
    """A time of ISO 8601, UTC without a zone, in microseconds since 1970; raises ValueError."""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"`{text}` is not a time such as `2024-05-01T08:00:00Z`") from None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
