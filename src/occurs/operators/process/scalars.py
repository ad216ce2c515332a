"""Functions of pipes on single values: where no column of plain values is (pipes.md, 2.2; common.md, section 6).

A null argument makes a result null, except where a function sees its nulls.  What an int64 cannot hold is LOST; it
becomes a Fault only if the result needs it.  What an input does not have yet is MISSING: only AND, OR, IMPLIES and
``if`` do without it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from occurs.expr import tree
from occurs.expr.functions import CATALOGUE
from occurs.expr.signature import STRING, single
from occurs.operators.process import documents
from occurs.operators.process.function_kinds import SHARED
from occurs.operators.process.tree import Attribute, EverySlice, Foreign, Input, ListOf, SetOf, TrooleanLiteral, TupleOf
from occurs.operators.process.values import (
    Bag,
    Fault,
    Map,
    Record,
    Set,
    Sharp,
    Troolean,
    distinct,
    elements,
    key,
    number,
)

# --- An expression ----------------------------------------------------------------------------------------------------


def value_of(node: tree.Expr, leaf: Callable[[tree.Expr], Any], variables: Mapping[str, Any]) -> Any:
    """The value of an expression; ``leaf`` gives those of its leaves."""

    def of(part: tree.Expr) -> Any:
        return value_of(part, leaf, variables)

    match node:
        case tree.Literal():
            return bounded(node.value)
        case TrooleanLiteral():
            return Troolean(node.value)
        case EverySlice():
            return Sharp.ALL
        case Attribute():
            found = of(node.of)
            if found is not None and not isinstance(found, (Record, _Lost)):
                raise Fault("bad-value", f"is not a tuple with an attribute `{node.name}`", found)
            return found.get(node.name) if isinstance(found, Record) else found
        case tree.Unary(op="not"):
            return opposite(of(node.arg))
        case tree.Unary():
            return strict(of_numbers(lambda a: -a), [of(node.arg)])
        case tree.Binary(op="and" | "or"):
            return kleene([of(node.left), of(node.right)], node.op == "or")
        case tree.Binary():
            return strict(COMPARE.get(node.op) or ARITHMETIC[node.op], [of(node.left), of(node.right)])
        case tree.IsNull():
            found = of(node.arg)
            return found if isinstance(found, _Lost) else (found is None) != node.negated
        case tree.Call():
            return _call(node, of, variables)
        case ListOf() | SetOf() | TupleOf():
            parts = [of(i) for i in node.items]
            lost = lost_of(parts)
            if lost is not None:
                return lost
            if isinstance(node, TupleOf):
                return Record(tuple(zip(node.names, parts)))
            return tuple(parts) if isinstance(node, ListOf) else Set(distinct(parts))
    return leaf(node)


def strict(f: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Missing if an argument is, else null if one is, else lost if one is, else ``f``."""
    lost = lost_of(args)
    if lost is not MISSING and any(a is None for a in args):
        return None
    return bounded(f(*args)) if lost is None else lost


def _call(node: tree.Call, of: Callable[[tree.Expr], Any], variables: Mapping[str, Any]) -> Any:
    name = node.name
    if name == "implies":
        return kleene([opposite(of(node.args[0])), of(node.args[1])], True)
    if name == "coalesce":
        return next((v for v in map(of, node.args) if v is not None), None)
    if name == "if":
        *pairs, default = node.args
        for test, value in zip(pairs[::2], pairs[1::2]):
            found = of(test)
            if isinstance(found, _Lost):
                return found
            if found is True:
                return of(value)
        return of(default)
    args = [of(a) for a in node.args]
    if name == EAGER:
        return MISSING if MISSING in args else next((v for v in args if v is not None), None)
    if name in SEEING:
        return args[0] if isinstance(args[0], _Lost) else SEEING[name](args[0])
    if name in XPATH:
        run = XPATH[name]
        return strict(lambda document, path: run(document, path, variables), args)
    return strict(STRICT[name], args)


#: ``coalesce`` that looks at all its arguments
EAGER = "coalesce all"


def eager(node: tree.Expr) -> tree.Expr:
    """A function of items that may be MISSING: there every ``coalesce`` asks for all its arguments."""
    made = node.with_children(tuple(map(eager, node.children))) if node.children else node
    return tree.Call(EAGER, made.args) if isinstance(made, tree.Call) and made.name == "coalesce" else made


def leaf_of(node: tree.Expr, items: Sequence[Any], variables: Mapping[str, Any]) -> Any:
    """The value of a leaf of a function, for the items of one front."""
    match node:
        case Input():
            return items[node.index]
        case tree.Param():
            return variables[node.name]
        case tree.Ref():
            if MISSING in items:
                return MISSING
            return next((v.get(node.name) for v in items if isinstance(v, Record) and v.has(node.name)), None)
        case Foreign():
            args = [value_of(a, lambda n: leaf_of(n, items, variables), variables) for a in node.args]
            return foreign(node, args)
    raise AssertionError(node)


def foreign(node: Foreign, args: Sequence[Any]) -> Any:
    """A user's function of one front; null if an argument is."""
    lost = lost_of(args)
    if lost is not MISSING and any(a is None for a in args):
        return None
    if lost is not None:
        return lost
    function = node.function
    found = function.run(*(np.array([a]) for a in args)) if function.vectorised else function.run(*args)
    found = found[node.output] if len(function.outputs) > 1 else found
    return found[0].item() if function.vectorised else found


# --- Numbers ----------------------------------------------------------------------------------------------------------


class _Lost:
    """What stands for a value that is not known."""


LEAST, GREATEST = -(2**63), 2**63 - 1
T, F, U = Troolean.TRUE, Troolean.FALSE, Troolean.UNKNOWN
LOST, MISSING = _Lost(), _Lost()


def lost_of(values: Sequence[Any]) -> _Lost | None:
    """MISSING if one is, else LOST if one is."""
    found = [v for v in values if isinstance(v, _Lost)]
    return None if not found else MISSING if MISSING in found else LOST


def bounded(value: Any) -> Any:
    """LOST if it is an int beyond int64."""
    return LOST if type(value) is int and not LEAST <= value <= GREATEST else value


def needed(value: Any) -> Any:
    """The value of a result.  Raises Fault if it is lost."""
    if value is LOST:
        raise Fault("overflow", "an integer does not fit in 64 bits", None)
    return value


def of_numbers(f: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        for a in args:
            if not number(a):
                raise Fault("bad-value", "is not a number", a)
        return f(*args)

    return apply


def divide(a: Any, b: Any) -> float:
    """As IEEE has it: by zero infinite, of zero by zero NaN."""
    x, y = float(a), float(b)
    if y:
        return x / y
    if not x or math.isnan(x):
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _mod(a: Any, b: Any) -> Any:
    if not b:
        return None
    return math.nan if isinstance(a, float) and math.isinf(a) else a % b


def power(a: Any, b: Any) -> Any:
    """An int of ints with an exponent of at least 0; null outside the real numbers."""
    if isinstance(a, int) and isinstance(b, int) and b >= 0:
        return a**b if abs(a) <= 1 or b <= 63 else LOST
    if not a and b < 0:
        return None
    try:
        return math.pow(a, b)
    except ValueError:
        return None
    except OverflowError:
        return -math.inf if a < 0 and float(b) % 2 == 1 else math.inf


ARITHMETIC: dict[str, Callable[..., Any]] = {
    "+": of_numbers(lambda a, b: a + b),
    "-": of_numbers(lambda a, b: a - b),
    "*": of_numbers(lambda a, b: a * b),
    "/": of_numbers(divide),
    "mod": of_numbers(_mod),
    "div": of_numbers(lambda a, b: a // b if b else None),
}


def equal(a: Any, b: Any) -> bool:
    """By value; NaN equals nothing."""
    if number(a) and number(b):
        return bool(a == b)
    return key(a) == key(b)


def _ordered(f: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def apply(a: Any, b: Any) -> bool:
        for one, other in ((a, b), (b, a)):
            if not number(one) and not isinstance(one, str):
                raise Fault("bad-value", "cannot be ordered", one)
            if isinstance(one, str) is not isinstance(other, str):
                raise Fault("bad-value", "cannot be compared with a value of another type", one)
        return f(a, b)

    return apply


COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": equal,
    "!=": lambda a, b: not equal(a, b),
    "<": _ordered(lambda a, b: bool(a < b)),
    ">": _ordered(lambda a, b: bool(a > b)),
    "<=": _ordered(lambda a, b: bool(a <= b)),
    ">=": _ordered(lambda a, b: bool(a >= b)),
}


def truth(value: Any) -> Any:
    """A truth value, null, or lost.  Raises Fault."""
    if value is None or isinstance(value, (_Lost, bool, Troolean)):
        return value
    raise Fault("bad-value", "is neither true nor false", value)


def opposite(value: Any) -> Any:
    found = truth(value)
    if isinstance(found, Troolean):
        return F if found is T else T if found is F else U
    return not found if isinstance(found, bool) else found


def kleene(values: Sequence[Any], decisive: bool) -> Any:
    """AND (``decisive`` false), OR (true): a Troolean if one operand is."""
    found = [truth(v) for v in values]
    three = any(isinstance(v, Troolean) for v in found)
    strong: Any = T if decisive else F
    weak: Any = F if decisive else T
    if any(v is decisive or v is strong for v in found):
        return strong if three else decisive
    lost = lost_of(found)
    if lost is not None:
        return lost
    if None in found:
        return None
    if U in found:
        return U
    return weak if three else not decisive


def members(value: Any) -> tuple[Any, ...]:
    found = elements(value)
    if found is None:
        raise Fault("bad-value", "is not a list, set or bag", value)
    return found


def _values(value: Any) -> tuple[Any, ...]:
    """The members of a collection, the values of a map."""
    return tuple(v for _, v in value.items) if isinstance(value, Map) else members(value)


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return len(value.items) if isinstance(value, Map) else len(members(value))


def _map(value: Any) -> Map:
    if not isinstance(value, Map):
        raise Fault("bad-value", "is not a map", value)
    return value


def element(value: Any, at: Any) -> Any:
    """Of a list from 0 on, of a map at a key, of a tuple by name; null if there is none."""
    if isinstance(value, (Map, Record)):
        return value.get(at)
    if not isinstance(value, tuple):
        raise Fault("bad-value", "is not a list, map or tuple", value)
    if not isinstance(at, int) or isinstance(at, bool):
        raise Fault("bad-value", "is not a valid list index", at)
    return value[at] if 0 <= at < len(value) else None


def contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str) and isinstance(wanted, str):
        return wanted in value
    inside = tuple(k for k, _ in value.items) if isinstance(value, Map) else elements(value)
    if inside is None:
        raise Fault("bad-value", "is not a collection", value)
    return any(v is not None and equal(v, wanted) for v in inside)


#: an argument of a predicate that stands for all
ANY_ARGUMENT = "_"


def holds(predicate: Any, *arguments: Any) -> bool:
    """Whether a set of lists has the list of these arguments; ``_`` on either side is equal to everything."""
    rows = elements(predicate)
    if rows is None:
        raise Fault("bad-value", "is not a set of lists", predicate)
    return any(_answers(row, arguments) for row in rows if row is not None)


def _answers(row: Any, arguments: Sequence[Any]) -> bool:
    if not isinstance(row, tuple):
        raise Fault("bad-value", "is not a list of arguments", row)
    return len(row) == len(arguments) and all(
        ANY_ARGUMENT in (a, b) or equal(a, b) for a, b in zip(row, arguments, strict=True)
    )


def total(values: Sequence[Any]) -> Any:
    """The sum, nulls left out."""
    out: Any = 0
    for v in values:
        if v is not None:
            out = ARITHMETIC["+"](out, v)
    return bounded(out)


def mean(values: Sequence[Any]) -> Any:
    """The exact mean as a float, nulls left out; null of none."""
    there = [v for v in values if v is not None]
    for v in there:
        if not number(v):
            raise Fault("bad-value", "is not a number", v)
    if not there:
        return None
    if all(isinstance(v, int) for v in there):
        return sum(there) / len(there)
    if all(map(math.isfinite, there)):
        return float(sum(map(Fraction, there)) / len(there))
    return sum(map(float, there)) / len(there)


def _of_text(f: Callable[..., Any]) -> Callable[..., Any]:
    def apply(first: Any, *rest: Any) -> Any:
        if not isinstance(first, str):
            raise Fault("bad-value", "is not text", first)
        return f(first, *rest)

    return apply


def _substring(a: str, start: int, size: int | None = None) -> str:
    first = len(a) + start if start < 0 else max(start, 1) - 1
    stop = len(a) if size is None else first + max(0, size)
    return a[max(0, first) : max(0, stop)]


@lru_cache(maxsize=256)
def pattern(text: str) -> re.Pattern[str] | None:
    """A regular expression, None if it is none."""
    try:
        return re.compile(text)
    except re.error:
        return None


def _matches(a: str, expression: Any) -> Any:
    found = pattern(expression)
    return None if found is None else found.search(a) is not None


_NUMBER = re.compile(r"[ \t\n\r]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t\n\r]*")


def as_number(a: Any) -> Any:
    """A float, null of what does not read as a number."""
    if isinstance(a, str):
        return float(a) if _NUMBER.fullmatch(a) else None
    return float(a) if number(a) else None


def _rounded(f: Callable[[float], Any]) -> Callable[[Any], Any]:
    return lambda a: float(f(a)) if isinstance(a, float) and math.isfinite(a) else a


def _half_away(a: float) -> float:
    return math.copysign(math.floor(abs(Fraction(a)) + Fraction(1, 2)), a)


def _signum(a: Any) -> Any:
    return None if a != a else (a > 0) - (a < 0)


def extreme(greatest: bool) -> Callable[[Any, Any], Any]:
    """Of two numbers or two texts; NaN if one is."""

    def apply(a: Any, b: Any) -> Any:
        if isinstance(a, str) is not isinstance(b, str):
            raise Fault("bad-value", "cannot be compared with a value of another type", b)
        if a != a or b != b:
            return a if a != a else b
        return max(a, b) if greatest else min(a, b)

    return apply


#: null if an argument is
STRICT: dict[str, Callable[..., Any]] = {
    "abs": of_numbers(abs),
    "sqrt": of_numbers(lambda a: None if a < 0 else math.sqrt(a)),
    "floor": of_numbers(_rounded(math.floor)),
    "ceil": of_numbers(_rounded(math.ceil)),
    "round": of_numbers(_rounded(_half_away)),
    "signum": of_numbers(_signum),
    "maximum": extreme(True),
    "minimum": extreme(False),
    "power": of_numbers(power),
    "number": as_number,
    "text": documents.text,
    "size": _size,
    "values": lambda m: Bag(tuple(v for _, v in _map(m).items)),
    "keys": lambda m: Set(tuple(k for k, _ in _map(m).items)),
    "get": element,
    "element": element,
    "contains": contains,
    "holds": holds,
    "in": lambda value, collection: contains(collection, value),
    "sum": lambda c: total(_values(c)),
    "mean": lambda c: mean(_values(c)),
    "count": lambda c: sum(v is not None for v in _values(c)),
    "all": lambda c: kleene(_values(c), False),
    "any": lambda c: kleene(_values(c), True),
    "concat": lambda *parts: "".join(map(documents.text, parts)),
    "split": _of_text(lambda a, by: tuple(a.split(by)) if by else (a,)),
    "starts_with": _of_text(lambda a, part: a.startswith(part)),
    "ends_with": _of_text(lambda a, part: a.endswith(part)),
    "matches": _of_text(_matches),
    "replace": _of_text(lambda a, old, new: a.replace(old, new) if old else a),
    "substring": _of_text(_substring),
    "json_path": documents.json_path,
}


def _of_catalogue(name: str) -> Callable[..., Any]:
    """A function of texts and whole numbers."""
    known = CATALOGUE[name]
    run = single(known)

    def apply(*values: Any) -> Any:
        for value, kind in zip(values, known.params):
            wanted = str if kind == STRING else int
            if type(value) is not wanted:
                raise Fault("bad-value", "is not text" if wanted is str else "is not a whole number", value)
        return run(*values)

    return apply


STRICT |= {name: _of_catalogue(name) for name in SHARED}


def _troolean(a: Any) -> Troolean:
    return T if a in (True, T) else F if a in (False, F) else U


SEEING: dict[str, Callable[..., Any]] = {
    "troolean": lambda a: _troolean(a) if a is None or isinstance(a, (bool, Troolean)) else U,
    "soft": lambda a: T if a is True or a is T else U,
    "hard": lambda a: F if a is False or a is F else U,
}
#: of a document, a path and the variables
XPATH = {
    "xpath": documents.xpath,
    "xpath_text": documents.xpath_text,
    "xpath_number": documents.xpath_number,
}
