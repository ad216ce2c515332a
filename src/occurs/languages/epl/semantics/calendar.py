"""``timer:at`` in the reference semantics of EPL: the next calendar instant after a start (epl-and-nets.md, 4A).

Fields: minute, hour, day of month, month, day of week (0 is Sunday), second (0 if it is not written).  Readings after
Esper: ``*/n`` are the multiples of n in the field's range; if both the day of the month and the day of the week are
restricted, either will do; a range ``low:high`` includes its ends.  A day by a rule (``last``, ``5 last``,
``lastweekday``, ``15 weekday``) is one of every month that is allowed; ``last`` as day of the week is Saturday.  An
instant of a local time that the zone skips does not exist; one that it repeats is two instants.
Only instants at whole ticks count.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

from occurs.languages.epl import syntax

RANGES = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6), (0, 59))
BELOW = (0, 999)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: after so many days every date and day of the week has met (the calendar repeats after 400 years)
DAYS = 146_097


def numbers(field: syntax.Cron, low: int, high: int) -> set[int] | None:
    """The numbers that a field allows; None for ``*``."""
    match field.kind:
        case "any" | "last" | "last_of" | "last_weekday" | "weekday":
            return None
        case "at":
            return {field.low}
        case "step":
            return {n for n in range(low, high + 1) if n % field.low == 0}
        case "range":
            return set(range(field.low, field.high + 1))
    found = [numbers(item, low, high) for item in field.items]
    return None if None in found else {n for some in found if some is not None for n in some}


def next_instant(written: syntax.At, after: int, tick: int, zone: str) -> int | None:
    """The first tick strictly after ``after`` that fits; ticks of ``tick`` microseconds since 1970; None: never."""
    fields = written.fields
    below = [numbers(f, *BELOW) for f in written.below]
    milli = below[0] if below else {0}
    micro = below[1] if len(below) > 1 else {0}
    fractions = [1000 * m + u for m in _all(milli, BELOW) for u in _all(micro, BELOW)]
    allowed = [numbers(f, *r) for f, r in zip(fields, RANGES, strict=False)]
    minute, hour, month_day, month, week_day = allowed[:5]
    second = allowed[5] if len(allowed) > 5 else {0}
    where = ZoneInfo(zone)
    start = EPOCH + timedelta(microseconds=after * tick)
    times = [_all(hour, RANGES[1]), _all(minute, RANGES[0]), _all(second, RANGES[5])]
    # clocks are put back by less than this: no local time further on can come first
    slack = timedelta(hours=0 if zone == "UTC" else 3)
    earliest = start.astimezone(where).replace(tzinfo=None) - slack
    found: int | None = None
    latest = earliest
    for number in range(DAYS):
        day = earliest.date() + timedelta(days=number)
        if (month is not None and day.month not in month) or not _fits(written, day, month_day, week_day):
            continue
        for h, m, s in product(*times):
            local = datetime(day.year, day.month, day.day, h, m, s)
            if found is not None and local > latest:
                return found
            for fold in (0, 1) if local + timedelta(seconds=1) > earliest else ():
                at = local.replace(fold=fold, tzinfo=where).astimezone(UTC)
                exists = at.astimezone(where).replace(tzinfo=None) == local
                whole = (at - EPOCH) // timedelta(microseconds=1)
                fits = (whole + f for f in fractions if (whole + f) % tick == 0 and whole + f > after * tick)
                micros = next(fits, None)
                if exists and micros is not None and (found is None or micros // tick < found):
                    found, latest = micros // tick, local + slack
    return found


def _all(some: set[int] | None, bounds: tuple[int, int]) -> list[int]:
    return sorted(some) if some is not None else list(range(bounds[0], bounds[1] + 1))


def _fits(written: syntax.At, day: date, month_day: set[int] | None, week_day: set[int] | None) -> bool:
    for field in written.fields[2], written.fields[4]:
        if field.kind in syntax.DAY_RULES:
            return _ruled(field, day, field is written.fields[4])
    of_month = month_day is not None and day.day in month_day
    of_week = week_day is not None and day.isoweekday() % 7 in week_day
    if month_day is None:
        return week_day is None or of_week
    return of_month or of_week


def _ruled(rule: syntax.Cron, day: date, of_week: bool) -> bool:
    """Does a rule choose this day of its month?"""
    first, length = day.replace(day=1), monthrange(day.year, day.month)[1]
    days = [first + timedelta(days=n) for n in range(length)]
    weekdays = [d for d in days if d.isoweekday() <= 5]
    match rule.kind:
        case "last":
            return day.isoweekday() == 6 if of_week else day == days[-1]
        case "last_of":
            return day == [d for d in days if d.isoweekday() % 7 == rule.low][-1]
        case "last_weekday":
            return day == weekdays[-1]
    wanted = days[min(rule.low, length) - 1]
    # a Saturday and a Sunday are one day away from the one and two from the other
    return day == min(weekdays, key=lambda d: abs((d - wanted).days))


def shifted(begin: int, by: syntax.Period, tick: int, zone: str) -> int:
    """The tick behind ``begin`` by years, months, weeks and days of local time.

    A local time that the zone skips is as much later as clocks are put forward; of one that it repeats it is the first.
    """
    where = ZoneInfo(zone)
    micros = begin * tick
    local = (EPOCH + timedelta(microseconds=micros)).astimezone(where).replace(tzinfo=None)
    for months in (12 * by.years, by.months):
        year, month = divmod(12 * local.year + local.month - 1 + months, 12)
        local = local.replace(year=year, month=month + 1, day=min(local.day, monthrange(year, month + 1)[1]))
    local += timedelta(weeks=by.weeks, days=by.days)
    at = local.replace(tzinfo=where).astimezone(UTC)
    return (at - EPOCH) // timedelta(microseconds=1) // tick
