"""The functions of pipes in their reference semantics (pipes.md 2.2): plain Python, one value at a time.

A null argument makes the result null, but of ``if``, ``coalesce``, ``troolean hard soft``; outside its domain every
function is null.  Aggregates of collections (``sum mean``) leave nulls out; ``all any`` are Kleene's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from occurs.languages.esql import semantics_documents as documents
from occurs.languages.esql.semantics_arithmetic import ARITHMETIC, Fault, clean, contains, kleene
from occurs.languages.esql.semantics_values import Bag, Map, Record, Set, Troolean, elements, number
from occurs.languages.reference_functions import FUNCTIONS as OF_CATALOGUE

_NUMBER = re.compile(r"[ \t\n\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\r]*")


def of_number(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` of arguments that are numbers."""

    def apply(*values: Any) -> Any:
        for v in values:
            if not number(v):
                raise Fault("bad-value", "is not a number", v)
        return f(*values)

    return apply


def of_text(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` of a text, and of arguments that are texts or ints."""

    def apply(first: Any, *rest: Any) -> Any:
        if not isinstance(first, str):
            raise Fault("bad-value", "is not text", first)
        return f(first, *rest)

    return apply


def _whole(f: Callable[[Any], int]) -> Callable[[Any], Any]:
    """Ints stay ints, floats floats."""
    return lambda a: a if not isinstance(a, float) or not math.isfinite(a) else float(f(a))


def _round(a: Any) -> Any:
    """Halves away from zero."""
    if not isinstance(a, float) or not math.isfinite(a):
        return a
    nearest = math.floor(abs(Fraction(a)) + Fraction(1, 2))
    return math.copysign(nearest, a)


def _signum(a: Any) -> Any:
    return None if isinstance(a, float) and math.isnan(a) else (a > 0) - (a < 0)


def _extreme(greatest: bool) -> Callable[[Any, Any], Any]:
    """Of two numbers or two texts; NaN if one is."""

    def apply(a: Any, b: Any) -> Any:
        if isinstance(a, str) != isinstance(b, str):
            raise Fault("bad-value", "cannot be compared with a value of another type", b)
        nan = next((v for v in (a, b) if isinstance(v, float) and math.isnan(v)), None)
        if nan is not None:
            return nan
        return max(a, b) if greatest else min(a, b)

    return apply


def _number(a: Any) -> Any:
    """Of text that reads as a number; null of what does not, or is neither text nor number."""
    if isinstance(a, str):
        return float(a) if _NUMBER.fullmatch(a) else None
    return float(a) if number(a) else None


def text(value: Any) -> str:
    """A value as text; of a whole number without a point."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Troolean):
        return value.value
    if isinstance(value, (str, int, float)):
        return str(documents.whole(value))
    return documents.text(value)


# --- collections ----------------------------------------------------------------------------------------------------


def _elements(value: Any) -> tuple[Any, ...]:
    found = elements(value)
    if found is None:
        raise Fault("bad-value", "is not a list, set or bag", value)
    return found


def _inside(value: Any) -> tuple[Any, ...]:
    """The elements of a collection, the values of a map."""
    return tuple(v for _, v in value.items) if isinstance(value, Map) else _elements(value)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Map):
        return len(value.items)
    return len(_elements(value))


def _map(value: Any) -> Map:
    if not isinstance(value, Map):
        raise Fault("bad-value", "is not a map", value)
    return value


def element(collection: Any, at: Any) -> Any:
    """``a[i]``: element ``i`` of a list from 0, the value at a key of a map, a column of a tuple; null if none is."""
    if isinstance(collection, Map):
        return collection.get(at)
    if isinstance(collection, Record):
        return collection.get(at)
    if not isinstance(collection, tuple):
        raise Fault("bad-value", "is not a list, map or tuple", collection)
    if not isinstance(at, int) or isinstance(at, bool):
        raise Fault("bad-value", "is not a valid list index", at)
    return collection[at] if 0 <= at < len(collection) else None


def total(values: tuple[Any, ...]) -> Any:
    """The sum of the numbers, nulls left out; 0 of none."""
    there = [v for v in values if v is not None]
    found: Any = 0
    for v in there:
        found = ARITHMETIC["+"](found, v)
    return clean(found)


def average(values: tuple[Any, ...]) -> Any:
    """The mean of the numbers, nulls left out; null of none."""
    there = [v for v in values if v is not None]
    if not there:
        return None
    for v in there:
        ARITHMETIC["neg"](v)
    if all(not isinstance(v, float) or math.isfinite(v) for v in there):
        return as_float(sum(map(Fraction, there), Fraction(0)) / len(there))
    return sum(map(float, there)) / len(there)


def as_float(exact: Fraction) -> float:
    """The nearest float; infinite beyond float64."""
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


# --- text -----------------------------------------------------------------------------------------------------------


def _substring(a: str, start: int, size: int | None = None) -> str:
    """From character ``start`` (from 1; negative: from the end), ``size`` characters or to the end."""
    first = len(a) + start if start < 0 else max(start, 1) - 1
    stop = len(a) if size is None else first + max(0, size)
    return a[max(0, first) : max(0, stop)]


def _matches(a: str, pattern: str) -> Any:
    """Whether the regular expression matches somewhere; null if it is none."""
    try:
        return re.search(pattern, a) is not None
    except re.error:
        return None


def _soft(a: Any) -> Troolean:
    return Troolean.TRUE if a in (True, Troolean.TRUE) else Troolean.UNKNOWN


def _hard(a: Any) -> Troolean:
    return Troolean.FALSE if a in (False, Troolean.FALSE) else Troolean.UNKNOWN


def _troolean(a: Any) -> Troolean:
    return a if isinstance(a, Troolean) else {True: Troolean.TRUE, False: Troolean.FALSE}.get(a, Troolean.UNKNOWN)


#: null of null
STRICT: dict[str, Callable[..., Any]] = {
    "abs": of_number(abs),
    "sqrt": of_number(lambda a: None if a < 0 else math.sqrt(a)),
    "floor": of_number(_whole(math.floor)),
    "ceil": of_number(_whole(math.ceil)),
    "round": of_number(_round),
    "signum": of_number(_signum),
    "maximum": _extreme(True),
    "minimum": _extreme(False),
    "power": ARITHMETIC["power"],
    "number": _number,
    "text": text,
    "size": _size,
    "values": lambda m: Bag(tuple(v for _, v in _map(m).items)),
    "keys": lambda m: Set(tuple(k for k, _ in _map(m).items)),
    "get": element,
    "element": element,
    "contains": contains,
    "in": lambda value, collection: contains(collection, value),
    "sum": lambda c: total(_inside(c)),
    "mean": lambda c: average(_inside(c)),
    "all": lambda c: kleene(_inside(c), False),
    "any": lambda c: kleene(_inside(c), True),
    "concat": lambda *parts: "".join(map(text, parts)),
    "split": of_text(lambda a, by: tuple(a.split(by)) if by else (a,)),
    "starts_with": of_text(lambda a, part: a.startswith(part)),
    "ends_with": of_text(lambda a, part: a.endswith(part)),
    "matches": of_text(_matches),
    "replace": of_text(lambda a, old, new: a.replace(old, new) if old else a),
    "substring": of_text(_substring),
    "json_path": documents.json_path,
}

#: of texts and whole numbers, as all languages have them; what each argument must be
SHARED: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("lower", "upper", "length", "reverse", "md5", "sha256"), (str,)),
    **dict.fromkeys(("left", "right", "repeat", "char_at", "bucket"), (str, int)),
    **dict.fromkeys(("trim", "ltrim", "rtrim", "position", "strpos", "regexp_like"), (str, str)),
    **dict.fromkeys(("lpad", "rpad"), (str, int, str)),
    "regexp_replace": (str, str, str),
    "regexp_extract": (str, str, int),
    "split_part": (str, str, int),
}


def _shared(name: str) -> Callable[..., Any]:
    def apply(*values: Any) -> Any:
        for value, kind in zip(values, SHARED[name]):
            if type(value) is not kind:
                raise Fault("bad-value", "is not text" if kind is str else "is not a whole number", value)
        return OF_CATALOGUE[name](*values)

    return apply


STRICT |= {name: _shared(name) for name in SHARED}

#: they see their nulls
SEEING: dict[str, Callable[..., Any]] = {"troolean": _troolean, "hard": _hard, "soft": _soft}

#: of a path, a document and the variables of the context
XPATH: dict[str, Callable[..., Any]] = {
    "xpath": documents.xpath,
    "xpath_text": documents.xpath_text,
    "xpath_number": documents.xpath_number,
}
