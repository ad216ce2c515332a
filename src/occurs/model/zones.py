"""Local time: what the clocks of a time zone show at an instant, and the instant at which they show it.

Instants and local times are int64 microseconds since 1970.  The rules are those of ``zoneinfo``, for every year: Arrow
knows no summer time after 2037.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = 1_000_000
_DAY = 86_400
#: no zone changed its clocks before this year
_FIRST = 1800
#: the calendar repeats after 400 years; rules that name single years end before ``_LAST - _CYCLE``
_CYCLE, _CYCLE_SECONDS, _LAST = 400, 146_097 * _DAY, 2500
#: the last year that int64 holds as a whole
_WHOLE = 294_246
_INT64 = np.iinfo(np.int64)


def zone_problem(zone: str) -> str | None:
    """What is wrong with the name of a time zone, or None.  An offset such as `+02:00` names no zone."""
    if re.match(r"[+-]?\d", zone):
        ahead = "`Etc/GMT-2` is 2 hours ahead of UTC"
        return f"`{zone}` is an offset, not a time zone; use a name such as `Europe/Rome`; {ahead}"
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"unknown time zone `{zone}`; use a name such as `Europe/Rome`"
    return None


def changes(zone: str, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """The instants from which on local time is another distance ahead of UTC, and that distance.

    All changes in [first, last] and two days around are there.  The first instant is the least int64.
    """
    return _table(zone, _year_of(first // _SECOND - 2 * _DAY), _year_of(last // _SECOND + 2 * _DAY))


def _year_of(second: int) -> int:
    """The year, or the nearest of which there is a table."""
    year = np.datetime64(second // _DAY, "D").astype("M8[Y]").astype(np.int64) + 1970
    return min(max(int(year), _FIRST), _WHOLE)


def local_times(instants: np.ndarray, zone: str) -> np.ndarray:
    """What the clocks show."""
    if zone == "UTC" or not len(instants):
        return instants
    starts, ahead = changes(zone, int(instants.min()), int(instants.max()))
    return instants + ahead[np.searchsorted(starts[1:], instants, "right")]


def instants(local: np.ndarray, zone: str, *, latest: bool = False) -> np.ndarray:
    """When the clocks show it: of two instants the earlier, or the ``latest``.

    For a local time that the clocks skip it is the instant at which they skip it.
    """
    if zone == "UTC" or not len(local):
        return local
    starts, ahead = changes(zone, int(local.min()), int(local.max()))
    if latest:
        at = np.searchsorted(starts[1:] + ahead[1:], local, "right")
        return np.minimum(local - ahead[at], np.append(starts[1:], _INT64.max)[at])
    at = np.searchsorted(starts[1:] + ahead[:-1], local, "right")
    return np.maximum(local - ahead[at], starts[at])


@lru_cache(maxsize=64)
def _table(zone: str, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """``changes`` of these years."""
    found: list[tuple[int, int]] = []
    for year in range(first, last + 1):
        cycles = max(0, (year - _LAST) // _CYCLE + 1)  # years from _LAST on are read in the cycle before it
        for second, by in _year(zone, year - cycles * _CYCLE):
            if not found or found[-1][1] != by:
                found.append((second + cycles * _CYCLE_SECONDS, by))
    starts, ahead = np.array(found, np.int64).T * _SECOND
    starts[0] = _INT64.min
    return starts, ahead


@lru_cache(maxsize=4096)
def _year(zone: str, year: int) -> list[tuple[int, int]]:
    """The start of the year in UTC and every change in it, and how far ahead of UTC local time is then; in seconds.

    No two changes of a zone are less than a day apart.
    """
    rules = ZoneInfo(zone)

    def ahead(second: int) -> int:
        at = (_EPOCH + timedelta(seconds=second)).astimezone(rules).utcoffset()
        assert at is not None
        return at // timedelta(seconds=1)

    begin, end = ((datetime(y, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) for y in (year, year + 1))
    found = [(begin, ahead(begin))]
    for day in range(begin, end, _DAY):
        if ahead(day + _DAY) != found[-1][1]:
            seconds = range(day + 1, day + _DAY + 1)
            change = seconds[bisect_left(seconds, True, key=lambda second: ahead(second) != found[-1][1])]
            if change < end:
                found.append((change, ahead(change)))
    return found
