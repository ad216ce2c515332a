"""The words of EPL: those that cannot be names, those of its dialect that Occurs does not take, units and functions."""

from __future__ import annotations

#: a name like one of these needs backquotes in our texts, whatever its case
_RESERVED = """
    create insert into select distinct istream rstream irstream from where as and or not until every while is null
    true false in between like case when then else end"""
RESERVED = frozenset(_RESERVED.split())
#: words that Esper keeps for itself: a name like one of these is printed with backquotes
_KEYWORDS = """
    window regexp escape sum avg max min coalesce median stddev avedev count outer inner join left right full on by
    group having all any some output events first last values order asc desc schema unidirectional pattern sql
    metadatasql prev prevtail prevwindow prevcount prior exists weekday lastweekday instanceof typeof cast
    current_timestamp delete snapshot set variable table at index limit offset update match_recognize measures define
    partition matches after for using merge matched expression new start context initiated terminated cube rollup
    grouping grouping_id sets year years month months week weeks day days hour hours minute minutes min sec second
    seconds msec millisecond milliseconds usec microsecond microseconds timer"""
KEYWORDS = RESERVED | frozenset(_KEYWORDS.split())

#: every spelling of a unit of time, to microseconds
UNITS: dict[str, int] = {
    form: size
    for size, forms in {
        604_800_000_000: ("week", "weeks"),
        86_400_000_000: ("day", "days"),
        3_600_000_000: ("hour", "hours"),
        60_000_000: ("min", "minute", "minutes"),
        1_000_000: ("sec", "second", "seconds"),
        1_000: ("msec", "millisecond", "milliseconds"),
        1: ("usec", "microsecond", "microseconds"),
    }.items()
    for form in forms
}
#: units as they are printed, (one, several), largest first
PRINTED = (
    (604_800_000_000, "week", "weeks"),
    (86_400_000_000, "day", "days"),
    (3_600_000_000, "hour", "hours"),
    (60_000_000, "min", "min"),
    (1_000_000, "sec", "sec"),
    (1_000, "msec", "msec"),
    (1, "usec", "usec"),
)
#: abbreviations of other languages, to the unit that is meant
OTHER_UNITS = {
    "w": "weeks", "d": "days", "h": "hours", "hr": "hours", "hrs": "hours", "m": "min", "mins": "min", "s": "sec",
    "secs": "sec", "ms": "msec", "msecs": "msec", "us": "usec", "µs": "usec", "usecs": "usec",
}  # fmt: skip
UNFIXED = ("month", "months", "year", "years")

#: functions over many events, which EPL has and this language has not
_AGGREGATES = """
    avg sum count stddev avedev median first last window prev prevtail prevwindow prevcount prior rate nth sorted
    maxby minby maxbyever minbyever fmin fmax fsum favg fcount countever countby leaving"""
AGGREGATES = frozenset(_AGGREGATES.split())
