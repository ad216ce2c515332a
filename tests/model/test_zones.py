"""Local time and instants against ``zoneinfo``, in both directions."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from occurs.model.zones import changes, instants, local_times

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAIVE = EPOCH.replace(tzinfo=None)
MICROSECOND, HOUR = timedelta(microseconds=1), 3_600_000_000
#: half an hour of summer time; a day that was left out; rules that name each year to 2086 and 2087; summer time over
#: New Year; summer time that ended for good; a distance with seconds
ZONES = ["Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Gaza", "Africa/Casablanca",
         "America/Santiago", "Europe/Dublin", "America/Mexico_City", "Asia/Kolkata", "Africa/Monrovia"]  # fmt: skip


def shown(at: int, zone: str) -> int:
    local = (EPOCH + at * MICROSECOND).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return (local - NAIVE) // MICROSECOND


def shown_at(local: int, zone: str, fold: int) -> int:
    """The instant of a local time that the clocks do show."""
    return ((NAIVE + local * MICROSECOND).replace(tzinfo=ZoneInfo(zone), fold=fold) - EPOCH) // MICROSECOND


def micros(year: int, month: int = 1, day: int = 1, hour: int = 0) -> int:
    return (datetime(year, month, day, hour, tzinfo=UTC) - EPOCH) // MICROSECOND


def some_instants(zone: str) -> list[int]:
    """Of 1970 to 2200: any, and such that are near a change."""
    rng = random.Random(zone)
    first, last = micros(1970), micros(2200)
    near = changes(zone, first, last)[0][1:].tolist()
    found = [rng.randrange(first, last) for _ in range(3000)]
    found += [at + by for at in near for by in (-1, 0, 1, rng.randrange(-2 * HOUR, 2 * HOUR))]
    return [at for at in found if first <= at < last]


@pytest.mark.parametrize("zone", ZONES)
def test_local_times_are_those_of_zoneinfo(zone: str) -> None:
    times = some_instants(zone)
    assert local_times(np.array(times), zone).tolist() == [shown(at, zone) for at in times]
    for at in times[::97]:  # one by one: the tables cover few years
        assert local_times(np.array([at]), zone).tolist() == [shown(at, zone)]


@pytest.mark.parametrize("zone", ZONES)
def test_instants_are_those_of_zoneinfo(zone: str) -> None:
    """Also where the clocks show a time twice or never."""
    rng = random.Random(zone)
    times = some_instants(zone)
    local = [shown(at, zone) + rng.choice((0, 0, HOUR // 2, HOUR)) for at in times]
    earliest, latest = (instants(np.array(local), zone, latest=late).tolist() for late in (False, True))
    kinds = set()
    for show, early, late in zip(local, earliest, latest, strict=True):
        one, other = (shown_at(show, zone, fold) for fold in (0, 1))
        if shown(one, zone) == show:
            assert (early, late) == (one, other)
            kinds.add("once" if early == late else "twice")
        else:  # the first instant that shows a later time
            assert early == late
            assert shown(early - 1, zone) < show < shown(early, zone)
            kinds.add("never")
    assert kinds == {"once", "twice", "never"} or zone in ("Asia/Kolkata", "Africa/Monrovia")


def test_summer_time_has_no_last_year() -> None:
    for year in (2037, 2038, 2100, 2499, 2500, 2899, 2900, 9998):
        times = [micros(year, month, day, 12) for month in (1, 3, 7, 10, 12) for day in (1, 28, 31)]
        for zone in ("Europe/Rome", "America/Santiago"):
            assert local_times(np.array(times), zone).tolist() == [shown(at, zone) for at in times]
            assert instants(local_times(np.array(times), zone), zone).tolist() == times


def test_the_ends_of_int64() -> None:
    """Times that no calendar names do no harm to others."""
    times = np.array([micros(2050, 7), np.iinfo(np.int64).max - 5 * HOUR, np.iinfo(np.int64).min + 5 * HOUR])
    assert local_times(times, "Europe/Rome")[0] == times[0] + 2 * HOUR
    assert instants(times, "Europe/Rome")[0] == times[0] - 2 * HOUR


def test_nothing() -> None:
    nothing = np.zeros(0, np.int64)
    assert not len(local_times(nothing, "Europe/Rome"))
    assert not len(instants(nothing, "Europe/Rome"))
