"""Expressions in the reference semantics of EPL: what it adds to those of every language (common.md section 6).

Readings where the specification is silent: ``between`` takes its ends in either order and is null if any of the three
is; ``in [l:h)`` is ``l <= x and x < h`` (ends as written, Kleene's ``and``); ``min`` and ``max`` are null if any
argument is; of ``case`` without ``else`` the rest is null.  Durations are compared exactly; as values they are the
nearest whole number of ticks (of two the even one).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.languages.epl import syntax
from occurs.languages.kit.reference_expressions import (
    OPERATORS,
    as_float,
    both,
    branch,
    clean,
    one_of,
    outcomes,
    strict,
    unless,
    widest,
)
from occurs.languages.kit.reference_expressions import evaluate as evaluate_shared
from occurs.languages.kit.reference_expressions import static_type as type_of_shared
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

if TYPE_CHECKING:
    from occurs.languages.epl.semantics.machine import Place

#: names of functions of the catalogue that are others here
_RENAMED = {"min": "least", "max": "greatest"}


def ticks(duration: Duration, kind: TimeKind) -> int | Fraction:
    """The exact number of ticks; DefinitionProblem (``missing-unit``) if the time has no unit."""
    exact = kind.convert(duration)
    if exact is None:
        raise DefinitionProblem.of("missing-unit", "a duration and the time of the events have no common unit")
    return int(exact) if exact.denominator == 1 else exact


def evaluate(node: tree.Expr, scope: Place) -> Any:
    """The value of an expression; None is null, Undecided an overflow that matters."""

    def value(part: tree.Expr) -> Any:
        return evaluate(part, scope)

    match node:
        case tree.DurationLiteral():
            return clean(ticks(node.value, scope.kind))
        case tree.Ref():
            return clean(scope.value(node))
        case tree.Binary(op="=" | "!=" | "<" | "<=" | ">" | ">="):
            return strict(OPERATORS[node.op], *_compared((node.left, node.right), scope))
        case syntax.Between():
            x, low, high = _compared((node.arg, node.low, node.high), scope)
            return unless(node.negated, strict(lambda x, a, b: min(a, b) <= x <= max(a, b), x, low, high))
        case syntax.InRange():
            x, low, high = _compared((node.arg, node.low, node.high), scope)
            above = strict(OPERATORS[">=" if node.closed[0] else ">"], x, low)
            below = strict(OPERATORS["<=" if node.closed[1] else "<"], x, high)
            return unless(node.negated, both(above, below))
        case tree.In():
            x, *items = _compared((node.arg, *node.items), scope)
            return unless(node.negated, one_of(x, items))
        case syntax.Concat():
            return strict(lambda a, b: a + b, value(node.left), value(node.right))
        case syntax.Case():
            return as_float(branch(node.parts, value), static_type(node, scope))
    return evaluate_shared(_renamed(node), value, lambda part: static_type(part, scope))


def _renamed(node: tree.Expr) -> tree.Expr:
    """A function by its name in the catalogue."""
    return replace(node, name=_RENAMED[node.name]) if isinstance(node, tree.Call) and node.name in _RENAMED else node


def static_type(node: tree.Expr, scope: Place) -> Type | None:
    """FLOAT and TIMESTAMP where the type is one; anything else is of no consequence here."""
    match node:
        case tree.Ref():
            return scope.type_of(node)
        case syntax.Case():
            return widest([static_type(v, scope) for v in outcomes(node.parts)])
    return type_of_shared(_renamed(node), lambda part: static_type(part, scope))


def _compared(nodes: tuple[tree.Expr, ...], scope: Place) -> list[Any]:
    """The values of things that are compared: a text literal beside a timestamp is one."""
    beside = any(static_type(n, scope) is Type.TIMESTAMP for n in nodes)
    return [
        microseconds(n.value)
        if beside and isinstance(n, tree.Literal) and isinstance(n.value, str)
        else evaluate(n, scope)
        for n in nodes
    ]


def microseconds(text: str) -> int:
    """An ISO time, UTC if it has no zone."""
    at = datetime.fromisoformat(text)
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
