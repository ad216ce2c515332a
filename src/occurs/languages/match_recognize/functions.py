"""The functions of row patterns: those of the common catalogue, under the names that SQL has for them."""

from __future__ import annotations

from occurs.expr.functions import CATALOGUE

#: conversions have a form of their own, CAST
_CASTS = ("string", "float", "number", "int", "timestamp")
#: SQL's names -> those of the catalogue; ``mod(x, y)`` is ``x % y``
_OTHERS = {
    "ceiling": "ceil", "truncate": "trunc", "pow": "power", "char_length": "length", "character_length": "length",
    "substr": "substring", "ucase": "upper", "lcase": "lower",
}  # fmt: skip
#: by their names here, to their names in the catalogue
FUNCTIONS = {**{name: name for name in CATALOGUE if name not in _CASTS}, **_OTHERS, "mod": "mod"}
