"""When the timers of patterns are due: lengths of time, schedules, calendars (see :mod:`.pattern_machine`)."""

from __future__ import annotations

import numpy as np

from occurs.kernel import kernel
from occurs.operators.kernels import pattern_tables as T

#: the kinds of timers
INTERVAL, AT, SCHEDULE = range(T.TIMERS, T.TIMERS + 3)


@kernel
def due(
    reg: np.ndarray, mine: np.ndarray, node: np.ndarray, calendars: np.ndarray, tick: int, segments: np.ndarray,
    until: int,
) -> int:  # fmt: skip
    """When the timer of an instance is due: it has just been started, or stays and has been due.

    ``mine``: the instance; ``node``: its node.  NEVER if it is not, or if a calendar has no instant up to ``until``.
    """
    if node[T.KIND] == INTERVAL:
        return later(node, tick, segments, reg[T.NOW], reg[T.ANSWER] if node[T.LENGTH] else node[T.ONE])
    if node[T.KIND] == AT:
        return next_instant(calendars[node[T.ONE]], tick, segments, node[T.ZONE], reg[T.NOW], until)
    return _scheduled(mine, node, reg[T.NOW], tick, segments)


# -- lengths of time and schedules -------------------------------------------------------------------------------------
@kernel
def after(now: int, ticks: int) -> int:
    return T.NEVER if now > T.NEVER - ticks else now + ticks


@kernel
def later(node: np.ndarray, tick: int, segments: np.ndarray, now: int, ticks: int) -> int:
    """The end of a length of time that begins now: years, months and days of local time, then ticks."""
    if not node[T.SHIFTED]:
        return after(now, ticks)
    micros = now * tick
    second = micros // 1_000_000
    part = micros - second * 1_000_000
    ahead = 0
    for k in range(len(segments)):
        if segments[k, 0] == node[T.ZONE] and segments[k, 1] <= second:
            ahead = segments[k, 2]
    local = second + ahead
    day = local // _DAY
    year, month, of_month = _civil(day)
    for months in (12 * node[T.YEARS], node[T.MONTHS]):
        whole = 12 * year + month - 1 + months
        year, month = whole // 12, whole % 12 + 1
        of_month = min(of_month, _length(year, month))
    local += (_day_of(year, month, of_month) + node[T.DAYS] - day) * _DAY
    for k in range(len(segments)):
        if segments[k, 0] != node[T.ZONE]:
            continue
        ends = k + 1 == len(segments) or segments[k + 1, 0] != node[T.ZONE]
        if ends or local - segments[k, 2] < segments[k + 1, 1]:
            second = local - segments[k, 2]
            if k > 0 and segments[k - 1, 0] == node[T.ZONE] and second < segments[k, 1]:
                # clocks skip it: as much later as they are put forward
                second = local - segments[k - 1, 2]
            break
    return after((second * 1_000_000 + part) // tick, ticks)


@kernel
def _scheduled(mine: np.ndarray, node: np.ndarray, now: int, tick: int, segments: np.ndarray) -> int:
    """The next instant of a schedule behind now, NEVER if there is none."""
    most, n = node[T.TWO], mine[T.COUNT]
    if n == 0:
        n = np.int64(1)
        at = node[T.DATE] if node[T.FOUR] else now
        if not node[T.THREE]:
            at = later(node, tick, segments, at, node[T.ONE])
    else:
        n += 1
        at = later(node, tick, segments, mine[T.DUE], node[T.ONE])
    if at <= now and not node[T.SHIFTED] and node[T.ONE] > 0:
        n += (now - at) // node[T.ONE] + 1
        at += ((now - at) // node[T.ONE] + 1) * node[T.ONE]
    while at <= now and node[T.SHIFTED] and (most < 0 or n < most):
        n += 1
        at = later(node, tick, segments, at, node[T.ONE])
    mine[T.COUNT] = n
    return at if at > now and (most < 0 or n <= most) else T.NEVER


# -- calendars ---------------------------------------------------------------------------------------------------------
#: where the numbers allowed begin in a calendar: second, minute, hour, day of month, month, day of week
SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY = 0, 60, 120, 144, 176, 189
#: rules for days: the last of a month, the last of Monday to Friday, the one of these nearest to day n, the last day of
#: the week n
LAST_DAY, LAST_WEEKDAY, NEAREST, LAST_OF = 196, 197, 198, 230
MILLISECOND, MICROSECOND, ALLOWED = 237, 1237, 2237
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
def _length(year: int, month: int) -> int:
    """Days of a month."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


@kernel
def _day_of(year: int, month: int, of_month: int) -> int:
    """The day since 1970-01-01 of a date."""
    y = year - 1 if month <= 2 else year
    era = y // 400
    of_era = y - era * 400
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + of_month - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


@kernel
def _ruled(allowed: np.ndarray, year: int, month: int, of_month: int, of_week: int) -> bool:
    """Does a rule choose this day?  ``of_week``: 0 is Sunday."""
    last = _length(year, month)
    if (allowed[LAST_DAY] and of_month == last) or (allowed[LAST_OF + of_week] and of_month > last - 7):
        return True
    if of_week == 0 or of_week == 6:
        return False
    if allowed[LAST_WEEKDAY] and (of_month == last or (of_month >= last - 2 and of_week == 5)):
        return True
    for n in range(1, 32):
        if allowed[NEAREST + n]:
            near = min(n, last)
            day = (of_week + near - of_month) % 7
            if day == 6:
                near += -1 if near > 1 else 2
            elif day == 0:
                near += -2 if near == last else 1
            if near == of_month:
                return True
    return False


@kernel
def _first(allowed: np.ndarray, low: int, high: int) -> int:
    """The first local second that is allowed in [low, high); ``high`` if there is none.

    If both the day of the month and the day of the week are restricted, either will do.
    """
    both = not allowed[DAY + 1 : DAY + 32].all() and not allowed[WEEKDAY:LAST_DAY].all()
    rules = allowed[LAST_DAY:MILLISECOND].any()
    day = low // _DAY
    within = low - day * _DAY
    while day * _DAY < high:
        year, month, of_month = _civil(day)
        if not allowed[MONTH + month]:
            # the next month begins at most 31 days on
            day += 1
            while _civil(day)[2] != 1:
                day += 1
            within = 0
            continue
        of_week = allowed[WEEKDAY + (day + 4) % 7]
        if (
            (allowed[DAY + of_month] and of_week)
            or (both and (allowed[DAY + of_month] or of_week))
            or (rules and _ruled(allowed, year, month, of_month, (day + 4) % 7))
        ):
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
def next_instant(allowed: np.ndarray, tick: int, segments: np.ndarray, zone: int, now: int, until: int) -> int:
    """The first instant in ticks after ``now`` at most at ``until``, NEVER if there is none.

    ``allowed``: which numbers (ALLOWED booleans); ``tick``: microseconds per tick; ``segments`` (n, 3): a zone, from
    which second of UTC on its local time is so many seconds ahead.  A local time that occurs twice is taken the first
    time only.
    """
    if until <= now:
        return T.NEVER
    # from the second of now to that of until
    if tick >= 1_000_000:
        unit = tick // 1_000_000
        first, last = now * unit + 1, until * unit
    else:
        unit = 1_000_000 // tick
        first, last = now // unit, until // unit
    for k in range(len(segments)):
        if segments[k, 0] != zone:
            continue
        ahead = segments[k, 2]
        low = max(first, segments[k, 1])
        ends = k + 1 == len(segments) or segments[k + 1, 0] != zone
        high = last + 1 if ends else min(last + 1, segments[k + 1, 1])
        if k > 0 and segments[k - 1, 0] == zone:
            low = max(low, segments[k, 1] + segments[k - 1, 2] - ahead)
        while low < high:
            found = _first(allowed, low + ahead, high + ahead) - ahead
            if found == high:
                break
            if tick < 1_000_000:
                part = _part(allowed, tick, now - found * unit)
                if part >= 0:
                    at = found * unit + part
                    return at if at <= until else T.NEVER
            elif found % unit == 0 and allowed[MILLISECOND] and allowed[MICROSECOND]:
                return found // unit
            low = found + 1
    return T.NEVER


@kernel
def _part(allowed: np.ndarray, tick: int, now: int) -> int:
    """The first tick after ``now`` within a second that is allowed; -1 if there is none."""
    for milli in range(1000):
        if allowed[MILLISECOND + milli]:
            for micro in range(1000):
                part = 1000 * milli + micro
                if allowed[MICROSECOND + micro] and part % tick == 0 and part // tick > now:
                    return part // tick
    return -1
