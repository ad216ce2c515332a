"""The functions of EPL."""

from __future__ import annotations

#: by their names here, to their names in the catalogue
FUNCTIONS = {"abs": "abs", "coalesce": "coalesce", "max": "greatest", "min": "least"}
