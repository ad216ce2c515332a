"""Terms evaluated under a binding (epl-and-nets.md, section 4B, Data).

A term is compiled once into closures.  What EPL makes null (division by zero, a list that is too short) is None here;
it goes through operators as in EPL, a guard is true only if it is ``True``, and no token holds it (colours refuse it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.tree import Binary, Call, Expr, In, IsNull, Literal, Ref, Unary
from occurs.nets.colours import Colour, Value
from occurs.nets.functional.running import compile_functional
from occurs.nets.functional.tree import FUNCTIONAL
from occurs.nets.terms import EnumTerm, FieldTerm, Inject, ListTerm, RecordTerm, TupleTerm
from occurs.nets.typing import Typing, fields_of

#: the values of variables
Binding = dict[str, Value]
#: a term as a function of the binding
Compiled = Callable[[Mapping[str, Any]], Any]


def evaluate(
    term: Expr, binding: Mapping[str, Any], colour_hint: Colour | None = None, variables: Mapping[str, Colour] = {}
) -> Value:
    """The value of ``term``; with ``colour_hint`` an InputProblem if it is not of that colour.

    ``variables``: their colours, needed only for fields of records (``#name x``).

    >>> from occurs.nets.terms import var
    >>> from occurs.model.types import Type
    >>> evaluate(TupleTerm((Binary("+", var("n"), Literal(1, Type.INT)), var("m"))), {"n": 1, "m": "x"})
    (2, 'x')
    """
    value: Value = compile_term(term, variables)(binding)
    wrong = None if colour_hint is None else colour_hint.check(value)
    if wrong is not None:
        raise InputProblem.of("bad-value", wrong, value=value)
    return value


def compile_term(term: Expr, variables: Mapping[str, Colour] = {}) -> Compiled:
    """``term`` as a function of the binding.  ``variables``: as for :func:`evaluate`."""

    def inner(e: Expr) -> Compiled:
        return compile_term(e, variables)

    match term:
        case Literal():
            constant = term.value
            return lambda b: constant
        case EnumTerm():
            name = term.value
            return lambda b: name
        case Ref() if term.scope is None and term.index is None:
            variable = term.name
            return lambda b: b[variable]
        case TupleTerm() | RecordTerm() | ListTerm():
            return _tuple([inner(p) for p in term.parts])
        case Inject():
            constructor, arg = term.constructor, (lambda b: ()) if term.arg is None else inner(term.arg)
            return lambda b: (constructor, arg(b))
        case _ if isinstance(term, FUNCTIONAL):
            return compile_functional(term, inner)
        case FieldTerm():
            index, whole = field_index(term, variables), inner(term.arg)
            return lambda b: None if (v := whole(b)) is None else v[index]
        case Unary():
            return _of_known(_UNARY[term.op], [inner(term.arg)])
        case Binary() if term.op in ("and", "or"):
            return _logic(term.op == "or", inner(term.left), inner(term.right))
        case Binary():
            return _binary(_BINARY[term.op], inner(term.left), inner(term.right))
        case IsNull():
            null, operand = not term.negated, inner(term.arg)
            return lambda b: (operand(b) is None) is null
        case In():
            return _member(inner(term.arg), [inner(i) for i in term.items], term.negated)
        case Call() if term.name == "if":
            condition, then, other = map(inner, term.args)
            return lambda b: then(b) if condition(b) is True else other(b)
        case Call() if term.name in FUNCTIONS:
            return _of_known(FUNCTIONS[term.name], [inner(a) for a in term.args])
    what = term.name if isinstance(term, Call | Ref) else type(term).__name__
    raise DefinitionProblem.of("unsupported", f"`{what}` is not supported in nets", span=getattr(term, "span", None))


def field_index(term: FieldTerm, variables: Mapping[str, Colour]) -> int:
    """Where in the tuple of a record or product the field stands."""
    if term.at is not None:
        return term.at
    typing = Typing(variables)
    colour = typing.infer(term.arg)
    names = list(fields_of(colour)) if colour is not None else []
    if term.name in names:
        return names.index(term.name)
    if colour is None and term.name.isdecimal() and term.name != "0":
        return int(term.name) - 1
    raise DefinitionProblem.of(
        "unknown-attribute", "; ".join(typing.wrong) or f"no field `{term.name}`", span=term.span
    )


def _tuple(parts: list[Compiled]) -> Compiled:
    match parts:
        case [a]:
            return lambda b: (a(b),)
        case [a, c]:
            return lambda b: (a(b), c(b))
    return lambda b: tuple([p(b) for p in parts])


def _binary(f: Callable[[Any, Any], Any], left: Compiled, right: Compiled) -> Compiled:
    def apply(b: Mapping[str, Any]) -> Any:
        x, y = left(b), right(b)
        return None if x is None or y is None else f(x, y)

    return apply


def _of_known(f: Callable[..., Any], args: list[Compiled]) -> Compiled:
    """``f`` of the arguments, null if one of them is."""

    def apply(b: Mapping[str, Any]) -> Any:
        given = [a(b) for a in args]
        return None if None in given else f(*given)

    return apply


def _logic(absorbing: bool, left: Compiled, right: Compiled) -> Compiled:
    """Kleene's and (or): the absorbing value wins, then null."""

    def apply(b: Mapping[str, Any]) -> bool | None:
        x = left(b)
        if x is absorbing:
            return x
        y = right(b)
        return y if y is absorbing or x is not None else None

    return apply


def _member(arg: Compiled, items: list[Compiled], negated: bool) -> Compiled:
    def apply(b: Mapping[str, Any]) -> bool | None:
        value = arg(b)
        among = [i(b) for i in items]
        if value is None:
            return None
        if value in among:
            return not negated
        return None if None in among else negated

    return apply


def _remainder(x: float, y: float) -> float | None:
    """With the sign of ``x``, as EPL's ``%`` and ML's ``Int.rem``."""
    if y == 0:
        return None
    if isinstance(x, float) or isinstance(y, float):
        return math.fmod(x, y)
    size = abs(x) % abs(y)
    return size if x >= 0 else -size


def _take(items: tuple[Any, ...], n: int) -> tuple[Any, ...] | None:
    return items[:n] if 0 <= n <= len(items) else None


def _drop(items: tuple[Any, ...], n: int) -> tuple[Any, ...] | None:
    return items[n:] if 0 <= n <= len(items) else None


def _nth(items: tuple[Any, ...], n: int) -> Any:
    return items[n] if 0 <= n < len(items) else None


_UNARY: dict[str, Callable[[Any], Any]] = {"neg": lambda x: -x, "not": lambda x: not x}
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: None if y == 0 else x / y,
    "%": _remainder,
    "mod": lambda x, y: None if y == 0 else x % y,
    "div": lambda x, y: None if y == 0 else x // y,
    "=": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
}
#: the functions of nets, by their names in the tree (``if`` besides)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "append": lambda x, y: x + y,
    "concat": lambda *texts: "".join(texts),
    "cons": lambda head, tail: (head, *tail),
    "length": len,
    "list.drop": _drop,
    "list.nth": _nth,
    "list.take": _take,
    "max": max,
    "min": min,
    "real": float,
}
