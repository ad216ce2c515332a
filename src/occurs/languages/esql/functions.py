"""The functions of eSQL and of pipes that the catalogue of all languages has."""

from __future__ import annotations

from occurs.operators.process.function_kinds import SHARED

#: by their names here, to their names in the catalogue
FUNCTIONS = {
    **{name: name for name in (*SHARED, "abs", "floor", "ceil", "if", "coalesce", "sqrt", "starts_with", "ends_with")},
    "signum": "sign",
}
