"""Inscriptions of input arcs as patterns: which values of the variables make the term equal to a token.

Variables, tuples, records, injections, lists and ``cons`` are taken apart; what cannot be (``n + 1``) is evaluated and
compared once its variables have values, from elsewhere in the pattern or from another arc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Call, Expr, Literal, Ref
from occurs.nets.colours import Colour, Value
from occurs.nets.evaluate import Binding, Compiled, compile_term
from occurs.nets.terms import EnumTerm, Inject, ListTerm, RecordTerm, TupleTerm, variables

#: does a value match? writes what it finds into the binding, also if not
Matcher = Callable[[Any, Binding], bool]
#: the way from a token to a part of it: indexes and slices
_Path = tuple[int | slice, ...]
_TAIL = slice(1, None)


def match(term: Expr, value: Value, binding: Mapping[str, Any], colours: Mapping[str, Colour] = {}) -> Binding | None:
    """``binding`` and what ``value`` adds to it if ``term`` is that value, else None.

    >>> from occurs.nets.terms import var
    >>> match(TupleTerm((var("n"), var("m"))), (1, 3), {})
    {'n': 1, 'm': 3}
    >>> match(TupleTerm((var("n"), var("n"))), (1, 3), {}) is None
    True
    """
    found = dict(binding)
    return found if compile_pattern(term, set(found), colours)(value, found) else None


def fits(term: Expr) -> Callable[[Any], bool]:
    """Can a value match at all?  Only the constants, constructors and lengths of the pattern are looked at.

    >>> from occurs.model.types import Type
    >>> from occurs.nets.terms import var
    >>> may = fits(TupleTerm((var("n"), Literal(2, Type.INT), var("n"))))
    >>> may((1, 2, 3)), may((1, 3, 1))
    (True, False)
    """
    match term:
        case Literal() | EnumTerm():
            constant = term.value
            return lambda value: bool(value == constant)
        case TupleTerm() | RecordTerm() | ListTerm():
            size, parts = len(term.parts), [(k, fits(p)) for k, p in enumerate(term.parts) if _fixed(p)]
            return lambda value: len(value) == size and all(f(value[k]) for k, f in parts)
        case Inject():
            constructor, arg = term.constructor, fits(term.arg) if term.arg is not None else _whatever
            return lambda value: value[0] == constructor and arg(value[1])
        case Call() if taken_apart(term):
            head, tail = map(fits, term.args)
            return lambda value: bool(value) and head(value[0]) and tail(value[1:])
    return _whatever


def _fixed(term: Expr) -> bool:
    """Is there anything in the pattern that not every value has?"""
    return isinstance(term, Literal | EnumTerm) or taken_apart(term)


def _whatever(value: Any) -> bool:
    return True


def binds(term: Expr) -> set[str]:
    """The variables to which matching ``term`` gives values."""
    if isinstance(term, Ref):
        return {term.name}
    if taken_apart(term):
        return set().union(*(binds(c) for c in term.children))
    return set()


def needs(term: Expr) -> set[str]:
    """The variables that need a value from elsewhere before ``term`` can be matched."""
    return _computed(term) - binds(term)


def taken_apart(term: Expr) -> bool:
    """Is a token matched with ``term`` part by part?"""
    return isinstance(term, TupleTerm | RecordTerm | ListTerm | Inject) or (
        isinstance(term, Call) and term.name == "cons" and len(term.args) == 2
    )


def _computed(term: Expr) -> set[str]:
    """The variables in what has to be evaluated."""
    if isinstance(term, Ref):
        return set()
    if taken_apart(term):
        return set().union(*(_computed(c) for c in term.children))
    return variables(term)


def compile_pattern(term: Expr, bound: set[str], colours: Mapping[str, Colour] = {}) -> Matcher:
    """``term`` as a matcher, for bindings in which exactly the variables of ``bound`` have values.

    ``colours``: of the variables, needed only for fields of records.  DefinitionProblem for a variable without value.
    """
    missing = needs(term) - bound
    if missing:
        raise DefinitionProblem.of(
            "unbound-variable", f"no token binds `{min(missing)}` before it is needed", span=getattr(term, "span", None)
        )
    seen = set(bound)
    late: list[tuple[_Path, Compiled]] = []
    first = _matcher(term, seen, (), late, colours)
    if not late:
        return first

    def matches(value: Any, binding: Binding) -> bool:
        return first(value, binding) and all(_part(value, path) == f(binding) for path, f in late)

    return matches


def _part(value: Any, path: _Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _anything(value: Any, binding: Binding) -> bool:
    return True


def _matcher(
    term: Expr, seen: set[str], path: _Path, late: list[tuple[_Path, Compiled]], colours: Mapping[str, Colour]
) -> Matcher:
    """``seen`` grows by what is bound; what can only be evaluated later goes to ``late``."""

    def inner(e: Expr, step: int | slice) -> Matcher:
        return _matcher(e, seen, (*path, step), late, colours)

    match term:
        case Ref():
            return _variable(term.name, seen)
        case Literal() | EnumTerm():
            constant = term.value
            return lambda value, binding: bool(value == constant)
        case TupleTerm() | RecordTerm() | ListTerm():
            parts = [(k, inner(part, k)) for k, part in enumerate(term.parts)]
            # constants bind nothing and fit seldom: they are looked at first
            parts.sort(key=lambda p: not isinstance(term.parts[p[0]], Literal | EnumTerm))
            return _all(parts, len(parts))
        case Inject():
            constructor = term.constructor
            arg = _anything if term.arg is None else inner(term.arg, 1)
            return lambda value, binding: value[0] == constructor and arg(value[1], binding)
        case Call() if taken_apart(term):
            head, tail = inner(term.args[0], 0), inner(term.args[1], _TAIL)
            return lambda value, binding: bool(value) and head(value[0], binding) and tail(value[1:], binding)
    if variables(term) <= seen:
        compiled = compile_term(term, colours)
        return lambda value, binding: bool(value == compiled(binding))
    late.append((path, compile_term(term, colours)))
    return _anything


def _variable(name: str, seen: set[str]) -> Matcher:
    if name in seen:
        return lambda value, binding: bool(binding[name] == value)
    seen.add(name)

    def bind(value: Any, binding: Binding) -> bool:
        binding[name] = value
        return True

    return bind


def _all(parts: list[tuple[int, Matcher]], size: int) -> Matcher:
    """A tuple of ``size`` whose parts, by their index, all match."""

    def matches(value: Any, binding: Binding) -> bool:
        if len(value) != size:
            return False
        for k, part in parts:  # noqa: SIM110 (a loop costs half of what `all` does)
            if not part(value[k], binding):
                return False
        return True

    return matches
