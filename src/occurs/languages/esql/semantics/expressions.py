"""Functions in the reference semantics of pipes: the value of an expression for one front (pipes.md 2.2).

An expression is evaluated for the items of a front, in a context of variables.  A null argument makes the result of a
function null, but of ``if``, ``coalesce``, ``troolean hard soft``; outside its domain every function is null.
Aggregates of collections (``sum mean``) leave nulls out; ``all any`` are Kleene's.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from occurs.expr import tree
from occurs.expr.functions import CATALOGUE
from occurs.expr.reference_functions import NUMBER, nearest_float, substring
from occurs.languages.esql.semantics import documents
from occurs.languages.esql.semantics.values import (
    ARITHMETIC,
    COMPARISONS,
    LOST,
    Fault,
    Lost,
    clean,
    contains,
    elements_of,
    equal,
    is_true,
    kleene,
    number,
    of_numbers,
    opposite,
    set_of,
    strict,
)
from occurs.operators.process import tree as pipes
from occurs.operators.process.values import Bag, Map, Record, Set, Sharp, Troolean

Context = Mapping[str, Any]


def value_of(node: tree.Expr, front: Sequence[Any], context: Context) -> Any:
    """The value of a function that somebody needs: Fault if an overflow keeps it from being known."""
    found = evaluate(node, front, context)
    if isinstance(found, Lost):
        raise Fault("overflow", "an integer does not fit in 64 bits", None)
    return found


def selects(node: tree.Expr, front: Sequence[Any], context: Context) -> bool:
    """Whether a guard is true: null selects nothing."""
    return is_true(value_of(node, front, context))


def evaluate(node: tree.Expr, front: Sequence[Any], context: Context) -> Any:
    """The value of a function; None is null."""

    def of(part: tree.Expr) -> Any:
        return evaluate(part, front, context)

    match node:
        case tree.Literal():
            return clean(node.value)
        case pipes.TrooleanLiteral():
            return Troolean(node.value)
        case pipes.EverySlice():
            return Sharp.ALL
        case pipes.Input():
            return front[node.index]
        case tree.Param():
            return context[node.name]
        case tree.Ref():
            return next((v.get(node.name) for v in front if isinstance(v, Record) and v.has(node.name)), None)
        case pipes.Attribute():
            return strict(lambda v: _attribute(v, node.name), of(node.of))
        case tree.Unary(op="not"):
            return opposite(of(node.arg))
        case tree.Unary():
            return strict(ARITHMETIC["neg"], of(node.arg))
        case tree.Binary(op="and"):
            return kleene([of(node.left), of(node.right)], False)
        case tree.Binary(op="or"):
            return kleene([of(node.left), of(node.right)], True)
        case tree.Binary():
            run = COMPARISONS.get(node.op) or ARITHMETIC[node.op]
            return strict(run, of(node.left), of(node.right))
        case tree.IsNull():
            found = of(node.arg)
            return LOST if isinstance(found, Lost) else (found is None) != node.negated
        case tree.Call(name="implies"):
            return kleene([opposite(of(node.args[0])), of(node.args[1])], True)
        case tree.Call(name="if"):
            return _if(node, front, context)
        case tree.Call(name="coalesce"):
            return next((v for v in map(of, node.args) if v is not None), None)
        case tree.Call():
            return _call(node.name, [of(a) for a in node.args], context)
        case pipes.ListOf():
            return _whole([of(i) for i in node.items], tuple)
        case pipes.SetOf():
            return _whole([of(i) for i in node.items], set_of)
        case pipes.TupleOf():
            return _whole([of(i) for i in node.items], lambda v: Record(tuple(zip(node.names, v))))
        case pipes.Foreign():
            return _foreign(node, [of(a) for a in node.args])
    raise AssertionError(node)


def _attribute(value: Any, name: str) -> Any:
    if not isinstance(value, Record):
        raise Fault("bad-value", f"is not a tuple with an attribute `{name}`", value)
    return value.get(name)


def _if(node: tree.Call, front: Sequence[Any], context: Context) -> Any:
    """``if(c, a, b)``; more pairs of a condition and a value may stand in front."""
    *pairs, default = node.args
    for condition, value in zip(pairs[::2], pairs[1::2]):
        found = evaluate(condition, front, context)
        if isinstance(found, Lost):
            return LOST
        if found is True:
            return evaluate(value, front, context)
    return evaluate(default, front, context)


def _call(name: str, args: list[Any], context: Context) -> Any:
    if name in SEEING:
        return LOST if LOST in args else SEEING[name](*args)
    if name in XPATH:
        return strict(lambda document, path: XPATH[name](document, path, context), *args)
    return strict(STRICT[name], *args)


def _whole(parts: list[Any], build: Any) -> Any:
    return LOST if any(isinstance(p, Lost) for p in parts) else build(parts)


def _foreign(node: pipes.Foreign, args: list[Any]) -> Any:
    """A user's function, row by row: of arrays of one if it is vectorised.  Null if an argument is."""
    if None in args or LOST in args:
        return None if None in args else LOST
    function = node.function
    if function.vectorised:
        import numpy as np

        args = [np.array([a]) for a in args]
    found = function.run(*args)
    found = found[node.output] if len(function.outputs) > 1 else found
    return found[0].item() if function.vectorised else found


# --- functions --------------------------------------------------------------------------------------------------------


def of_text(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` of a text, and of arguments that are texts or ints."""

    def apply(first: Any, *rest: Any) -> Any:
        if not isinstance(first, str):
            raise Fault("bad-value", "is not text", first)
        return f(first, *rest)

    return apply


def _rounded(f: Callable[[Any], int]) -> Callable[[Any], Any]:
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
        return float(a) if NUMBER.fullmatch(a) else None
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


def _inside(value: Any) -> tuple[Any, ...]:
    """The elements of a collection, the values of a map."""
    return tuple(v for _, v in value.items) if isinstance(value, Map) else elements_of(value)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Map):
        return len(value.items)
    return len(elements_of(value))


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
        return nearest_float(sum(map(Fraction, there), Fraction(0)) / len(there))
    return sum(map(float, there)) / len(there)


# --- text -----------------------------------------------------------------------------------------------------------


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


def holds(predicate: Any, *arguments: Any) -> bool:
    """Whether a set of lists has a list of these arguments: each is equal, or one of the two is ``_``."""
    for row in elements_of(predicate):
        if row is None:
            continue
        if not isinstance(row, tuple):
            raise Fault("bad-value", "is not a list of arguments", row)
        alike = [a == "_" or b == "_" or equal(a, b) is True for a, b in zip(row, arguments)]
        if len(row) == len(arguments) and all(alike):
            return True
    return False


def _troolean(a: Any) -> Troolean:
    return a if isinstance(a, Troolean) else {True: Troolean.TRUE, False: Troolean.FALSE}.get(a, Troolean.UNKNOWN)


#: null of null
STRICT: dict[str, Callable[..., Any]] = {
    "abs": of_numbers(abs),
    "sqrt": of_numbers(lambda a: None if a < 0 else math.sqrt(a)),
    "floor": of_numbers(_rounded(math.floor)),
    "ceil": of_numbers(_rounded(math.ceil)),
    "round": of_numbers(_round),
    "signum": of_numbers(_signum),
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
    "holds": holds,
    "in": lambda value, collection: contains(collection, value),
    "sum": lambda c: total(_inside(c)),
    "mean": lambda c: average(_inside(c)),
    "count": lambda c: len([v for v in _inside(c) if v is not None]),
    "all": lambda c: kleene(_inside(c), False),
    "any": lambda c: kleene(_inside(c), True),
    "concat": lambda *parts: "".join(map(text, parts)),
    "split": of_text(lambda a, by: tuple(a.split(by)) if by else (a,)),
    "starts_with": of_text(lambda a, part: a.startswith(part)),
    "ends_with": of_text(lambda a, part: a.endswith(part)),
    "matches": of_text(_matches),
    "replace": of_text(lambda a, old, new: a.replace(old, new) if old else a),
    "substring": of_text(substring),
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
        known = CATALOGUE[name].reference
        assert known is not None
        return known(*values)

    return apply


STRICT |= {name: _shared(name) for name in SHARED}

#: they see their nulls
SEEING: dict[str, Callable[..., Any]] = {"troolean": _troolean, "hard": _hard, "soft": _soft}

#: of a document, a path and the variables of the context
XPATH: dict[str, Callable[..., Any]] = {
    "xpath": documents.xpath,
    "xpath_text": documents.xpath_text,
    "xpath_number": documents.xpath_number,
}
