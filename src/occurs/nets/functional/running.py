"""Functional terms as Python functions (Standard ML: call by value, the first clause that matches counts)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Call, Expr, Literal
from occurs.nets.colours import Alias, Colour, members, plain
from occurs.nets.functional.library import LIBRARY, chance, draw, without
from occurs.nets.functional.tree import Apply, Builtin, Case, Copies, Fn, Function, Global, Let, Local, Minus
from occurs.nets.ml import value_text
from occurs.nets.terms import EnumTerm, Inject, ListTerm, RecordTerm, TupleTerm

Compiled = Callable[[Mapping[str, Any]], Any]
#: does a value match?  Puts what the pattern binds into the names
_Matcher = Callable[[Any, dict[str, Any]], bool]


def compile_functional(term: Expr, inner: Callable[[Expr], Compiled]) -> Compiled:
    """``term`` as a function of the binding.  ``inner``: compiles its operands."""
    match term:
        case Local():
            name = _key(term.name)
            return lambda b: b[name]
        case Global():
            function = term.function
            return lambda b: function.call or _made(function, inner)
        case Builtin():
            found = _builtin(term)
            return lambda b: found
        case Apply():
            return _applied(inner(term.function), inner(term.arg))
        case Case():
            choose, arg = _clauses(term.patterns, term.bodies, inner), inner(term.arg)
            return lambda b: choose(b, arg(b))
        case Fn():
            choose = _clauses(term.patterns, term.bodies, inner)
            return lambda b: lambda value: choose(b, value)
        case Let():
            choose, value = _clauses((term.pattern,), (term.body,), inner), inner(term.value)
            return lambda b: choose(b, value(b))
        case Copies():
            count, one = inner(term.count), inner(term.arg)
            return lambda b: _copies(count(b), one(b))
        case Minus():
            left, right = inner(term.left), inner(term.right)
            return lambda b: None if None in (pair := (left(b), right(b))) else without(*pair)
    raise AssertionError(f"no functional term: {term}")


def _key(name: str) -> str:
    """Local names beside the variables of a net, which never have a blank."""
    return f"{name} "


def _copies(count: Any, value: Any) -> tuple[Any, ...] | None:
    return None if count is None or value is None or count < 0 else (value,) * count


def _applied(function: Compiled, arg: Compiled) -> Compiled:
    def apply(b: Mapping[str, Any]) -> Any:
        f, value = function(b), arg(b)
        return None if f is None or value is None else f(value)

    return apply


def _clauses(
    patterns: tuple[Expr, ...], bodies: tuple[Expr, ...], inner: Callable[[Expr], Compiled]
) -> Callable[[Mapping[str, Any], Any], Any]:
    """The body of the first pattern that a value matches; None if there is none, or for the value None."""
    rules = [(_matcher(p), inner(body)) for p, body in zip(patterns, bodies, strict=True)]

    def choose(b: Mapping[str, Any], value: Any) -> Any:
        if value is None:
            return None
        for matches, body in rules:
            bound = dict(b)
            if matches(value, bound):
                return body(bound)
        return None

    return choose


def _made(function: Function, inner: Callable[[Expr], Compiled]) -> Callable[[Any], Any]:
    """A declared function; curried if it takes several arguments one by one."""
    tuples = tuple(TupleTerm(p) if len(p) != 1 else p[0] for p in function.patterns)
    choose = _clauses(tuples, function.bodies, inner)
    count = len(function.patterns[0])

    def take(given: tuple[Any, ...]) -> Callable[[Any], Any]:
        def one(value: Any) -> Any:
            now = (*given, value)
            if len(now) < count:
                return take(now)
            try:
                return choose({}, now if count > 1 else value)
            except RecursionError:
                message = f"the function `{function.name}` calls itself too often"
                raise DefinitionProblem.of("bad-value", message) from None

        return one

    function.call = take(())
    return function.call


# --- patterns ---------------------------------------------------------------------------------------------------------


def _matcher(pattern: Expr) -> _Matcher:
    match pattern:
        case Local(name="_"):
            return lambda value, names: True
        case Local():
            return _binder(_key(pattern.name))
        case Literal() | EnumTerm():
            constant = pattern.value
            return lambda value, names: bool(value == constant)
        case TupleTerm() | RecordTerm() | ListTerm():
            parts = [_matcher(p) for p in pattern.parts]
            size = len(parts)
            return lambda value, names: len(value) == size and all(
                m(v, names) for m, v in zip(parts, value, strict=True)
            )
        case Inject():
            name = pattern.constructor
            held = None if pattern.arg is None else _matcher(pattern.arg)
            return lambda value, names: value[0] == name and (held is None or held(value[1], names))
        case Call(name="cons"):
            head, tail = map(_matcher, pattern.args)
            return lambda value, names: bool(value) and head(value[0], names) and tail(value[1:], names)
    message = "this cannot be a pattern: expected a name, `_`, a constant, a tuple, a record, a list or a constructor"
    raise DefinitionProblem.of("syntax", message, span=getattr(pattern, "span", None))


def _binder(key: str) -> _Matcher:
    def bind(value: Any, names: dict[str, Any]) -> bool:
        names[key] = value
        return True

    return bind


# --- functions that exist ---------------------------------------------------------------------------------------------


def _builtin(term: Builtin) -> Callable[[Any], Any]:
    colour = term.colour
    if colour is None:
        return LIBRARY[term.name]
    if term.name == "ran":
        return lambda unit: draw(all_values(colour)) if chance() else None
    return COLOUR_FUNCTIONS[term.name](colour)


def all_values(colour: Colour) -> tuple[Any, ...]:
    """All values of a finite colour; DefinitionProblem for others."""
    found = members(colour)
    if found is None:
        raise DefinitionProblem.of("unsupported", f"`{colour.name}` has too many values to list them")
    return tuple(found)


def _multiplied(colour: Colour) -> Callable[[Any], Any]:
    """``PR.mult(ms1, ms2)``: all pairs, of a product; records and products of more parts likewise."""
    return lambda lists: tuple(product(*lists))


#: functions that CPN Tools declares with each colour
COLOUR_FUNCTIONS: dict[str, Callable[[Colour], Callable[[Any], Any]]] = {
    "mult": _multiplied,
    "mkstr": lambda colour: lambda value: value_text(value, colour),
    "all": lambda colour: lambda unit: all_values(colour),
    "size": lambda colour: lambda unit: len(all_values(colour)),
    "first": lambda colour: lambda unit: all_values(colour)[0],
    "last": lambda colour: lambda unit: all_values(colour)[-1],
    "ord": lambda colour: lambda value: all_values(colour).index(value),
    "col": lambda colour: lambda number: all_values(colour)[number],
    "legal": lambda colour: lambda value: colour.check(value) is None,
    "lt": lambda colour: lambda pair: _before(colour, pair),
}


def _before(colour: Colour, pair: Any) -> bool:
    kind = plain(colour.of if isinstance(colour, Alias) else colour)
    values = members(kind)
    return bool(pair[0] < pair[1]) if values is None else values.index(pair[0]) < values.index(pair[1])
