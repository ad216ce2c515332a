"""The functions of TESLA (tesla.md, section 2)."""

from __future__ import annotations

from occurs.expr.aggregates import AGGREGATES
from occurs.expr.functions import CATALOGUE

#: the scalar functions: all of the common catalogue
FUNCTIONS = frozenset(CATALOGUE) - frozenset(AGGREGATES)


def is_function(name: str) -> bool:
    """Whether ``name`` (lower case) is a scalar function of TESLA."""
    return name in FUNCTIONS
