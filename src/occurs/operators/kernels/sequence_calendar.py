"""The next instant of a calendar (``timer:at``)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels.sequence_tables import NEVER

#: where the numbers allowed begin in a calendar: second, minute, hour, day of month, month, day of week
SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY, ALLOWED = 0, 60, 120, 144, 176, 189, 196
_DAY = 86_400


@kernel
def _civil(day: int) -> tuple[int, int, int]:
    """Year, month and day of month of a day since 1970-01-01 (of the Gregorian calendar, also before it began)."""
    z = day + 719_468
    era = z // 146_097
    of_era = z - era * 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    m = (5 * of_year + 2) // 153
    month = m + 3 if m < 10 else m - 9
    return year + era * 400 + (1 if month <= 2 else 0), month, of_year - (153 * m + 2) // 5 + 1


@kernel
def _first(allowed: np.ndarray, low: int, high: int) -> int:
    """The first local second that is allowed in [low, high); ``high`` if there is none.

    If both the day of the month and the day of the week are restricted, either will do.
    """
    both = not allowed[DAY + 1 : DAY + 32].all() and not allowed[WEEKDAY:ALLOWED].all()
    day = low // _DAY
    within = low - day * _DAY
    while day * _DAY < high:
        _, month, of_month = _civil(day)
        if not allowed[MONTH + month]:
            # the next month begins at most 31 days on
            day += 1
            while _civil(day)[2] != 1:
                day += 1
            within = 0
            continue
        of_week = allowed[WEEKDAY + (day + 4) % 7]
        if (allowed[DAY + of_month] and of_week) or (both and (allowed[DAY + of_month] or of_week)):
            hour = within // 3600
            minute = within // 60 % 60
            second = within % 60
            while hour < 24:
                if allowed[HOUR + hour]:
                    while minute < 60:
                        if allowed[MINUTE + minute]:
                            while second < 60:
                                if allowed[SECOND + second]:
                                    return min(high, day * _DAY + hour * 3600 + minute * 60 + second)
                                second += 1
                        second = 0
                        minute += 1
                minute = 0
                second = 0
                hour += 1
        day += 1
        within = 0
    return high


@kernel
def next_instant(allowed: np.ndarray, tick: int, segments: np.ndarray, now: int, until: int) -> int:
    """The first instant in ticks after ``now`` at most at ``until``, NEVER if there is none.

    ``allowed``: which numbers (ALLOWED booleans); ``tick``: microseconds per tick; ``segments`` (n, 2): from which
    second of UTC on local time is so many seconds ahead.  A local time that occurs twice is taken the first time only.
    """
    if until <= now:
        return NEVER
    # whole seconds after now, up to until
    if tick >= 1_000_000:
        unit = tick // 1_000_000
        first, last = now * unit + 1, until * unit
    else:
        unit = 1_000_000 // tick
        first, last = now // unit + 1, until // unit
    for k in range(len(segments)):
        ahead = segments[k, 1]
        low = max(first, segments[k, 0])
        high = last + 1 if k + 1 == len(segments) else min(last + 1, segments[k + 1, 0])
        if k > 0:
            low = max(low, segments[k, 0] + segments[k - 1, 1] - ahead)
        while low < high:
            found = _first(allowed, low + ahead, high + ahead) - ahead
            if found == high:
                break
            if tick < 1_000_000:
                return found * unit
            if found % unit == 0:
                return found // unit
            low = found + 1
    return NEVER
