"""The functions of FTL and PTL."""

from __future__ import annotations

from occurs.expr.functions import CATALOGUE

#: by their names here, which are those of the catalogue; ``time_of_day`` is a duration of its own.  Terms have no
#: conditions for ``if``, and what is a time is not told from a number when a trigger runs, as ``string`` needs it.
FUNCTIONS = (*(frozenset(CATALOGUE) - {"if", "nullif", "string"}), "time_of_day")
