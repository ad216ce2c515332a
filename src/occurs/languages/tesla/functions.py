"""The functions of TESLA (tesla.md, section 2)."""

from __future__ import annotations

from occurs.expr.functions import CATALOGUE

AGGREGATES = ("avg", "sum", "min", "max", "count", "stddev", "median", "percentile", "first", "last")
#: the scalar functions: those that the language names and the rest of the common catalogue
FUNCTIONS = frozenset(CATALOGUE) - frozenset(AGGREGATES)


def is_function(name: str) -> bool:
    """Whether ``name`` (lower case) is a scalar function of TESLA."""
    return name in FUNCTIONS
