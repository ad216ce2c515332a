"""The functions of TESLA (tesla.md, section 2)."""

from __future__ import annotations

AGGREGATES = ("avg", "sum", "min", "max", "count", "stddev", "median", "first", "last")
#: the scalar functions that the language names
SCALARS = (
    *("abs", "round", "floor", "ceil", "sqrt", "power"),
    *("lower", "upper", "length", "concat", "coalesce", "least", "greatest"),
)
FUNCTIONS = frozenset(SCALARS)


def is_function(name: str) -> bool:
    """Whether ``name`` (lower case) is a scalar function of TESLA."""
    return name in FUNCTIONS
