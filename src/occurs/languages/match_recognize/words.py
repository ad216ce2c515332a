"""The words of row patterns: those that cannot be names, units, types, and the functions that read many rows."""

from __future__ import annotations

from occurs.model.types import Type

#: a name like one of these needs quotes, whatever its case
_RESERVED = """
    match_recognize measures pattern define subset after within partition order by one all as running final permute
    seek initial select from where and or not case when then else end"""
RESERVED = frozenset(_RESERVED.split())
#: words with a meaning in an expression: a name like one of these is printed in quotes
_PRINTED = "null true false is in like between distinct interval timestamp cast create view"
QUOTED = RESERVED | frozenset(_PRINTED.split())

#: every spelling of a unit of time, to microseconds
UNITS: dict[str, int] = {
    form: size
    for size, forms in {
        604_800_000_000: ("week", "weeks", "w"),
        86_400_000_000: ("day", "days", "d"),
        3_600_000_000: ("hour", "hours", "hr", "h"),
        60_000_000: ("minute", "minutes", "min", "mins"),
        1_000_000: ("second", "seconds", "sec", "secs", "s"),
        1_000: ("millisecond", "milliseconds", "msec", "msecs", "ms"),
        1: ("microsecond", "microseconds", "usec", "usecs", "us"),
    }.items()
    for form in forms
}
#: units as they are printed, largest first
PRINTED = ((604_800_000_000, "WEEK"), (86_400_000_000, "DAY"), (3_600_000_000, "HOUR"), (60_000_000, "MINUTE"),
           (1_000_000, "SECOND"), (1_000, "MILLISECOND"), (1, "MICROSECOND"))  # fmt: skip
TICKS = ("tick", "ticks")
UNFIXED = ("month", "months", "quarter", "quarters", "year", "years")

#: the types that CAST names
TYPES: dict[str, Type] = {
    **dict.fromkeys(("int", "integer", "bigint", "smallint", "tinyint", "long"), Type.INT),
    **dict.fromkeys(("double", "float", "real"), Type.FLOAT),
    **dict.fromkeys(("string", "varchar", "char", "text"), Type.STRING),
    **dict.fromkeys(("boolean", "bool"), Type.BOOL),
    "timestamp": Type.TIMESTAMP,
}
#: as they are printed
TYPE_WORDS = {Type.INT: "bigint", Type.FLOAT: "double", Type.STRING: "string", Type.BOOL: "boolean",
              Type.TIMESTAMP: "timestamp"}  # fmt: skip

NAVIGATIONS = ("first", "last", "prev", "next")
#: how many arguments each aggregate takes
AGGREGATES = {
    **dict.fromkeys(("count", "sum", "avg", "min", "max", "stddev", "stddev_pop", "array_agg"), 1),
    **dict.fromkeys(("min_by", "max_by"), 2),
}
ROW_FUNCTIONS = ("classifier", "match_number")
