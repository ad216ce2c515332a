"""The functions of Phenesthe, in conditions (an extension)."""

from __future__ import annotations

from occurs.expr.functions import CATALOGUE

#: by their names here, which are those of the catalogue
FUNCTIONS = frozenset(CATALOGUE)
