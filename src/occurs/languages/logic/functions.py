"""The functions of FTL and PTL."""

from __future__ import annotations

#: by their names here, which are those of the catalogue; ``time_of_day`` is a duration of its own
FUNCTIONS = ("abs", "floor", "ceil", "round", "sqrt", "length", "lower", "upper", "coalesce", "hour", "minute",
             "time_of_day")  # fmt: skip
