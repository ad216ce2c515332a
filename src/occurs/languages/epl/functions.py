"""The functions of EPL."""

from __future__ import annotations

from occurs.expr.functions import CATALOGUE

#: by their names here, to their names in the catalogue: all of it, and two that Esper calls otherwise
FUNCTIONS = {**{name: name for name in CATALOGUE}, "max": "greatest", "min": "least"}
