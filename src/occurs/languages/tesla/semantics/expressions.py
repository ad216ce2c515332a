"""Expressions in the reference semantics of TESLA: what it adds to those of every language (common.md section 6)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.expr.aggregates import AGGREGATES
from occurs.languages.kit.reference_expressions import clean
from occurs.languages.kit.reference_expressions import evaluate as evaluate_shared
from occurs.languages.kit.reference_expressions import static_type as type_of_shared
from occurs.languages.tesla import syntax
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Type

if TYPE_CHECKING:
    from occurs.languages.tesla.semantics import Place


def ticks(duration: Duration, kind: TimeKind) -> Fraction:
    """The exact number of ticks of a duration; DefinitionProblem (``missing-unit``) if the time has no unit."""
    exact = kind.convert(duration)
    if exact is None:
        raise DefinitionProblem.of("missing-unit", "the duration and the time column have no common unit")
    return exact


def evaluate(node: tree.Expr, scope: Place) -> Any:
    """The value of an expression; None is null, Undecided an overflow that matters."""
    match node:
        case tree.DurationLiteral():
            return clean(ticks(node.value, scope.kind))
        case tree.Ref():
            return clean(scope.attribute(node.scope, node.name))
        case tree.Param():
            return clean(scope.parameter(node.name))
        case tree.Annotated():
            return evaluate(node.arg, scope)
        case syntax.Aggregate():
            return clean(scope.aggregate(node))
    return evaluate_shared(node, lambda part: evaluate(part, scope), lambda part: static_type(part, scope))


def static_type(node: tree.Expr, scope: Place) -> Type | None:
    """FLOAT and TIMESTAMP where the type is one; anything else is of no consequence here."""
    match node:
        case tree.Ref():
            return scope.type_of(node.scope, node.name)
        case tree.Param():
            return scope.type_of_parameter(node.name)
        case tree.Annotated():
            return node.type
        case syntax.Aggregate():
            return AGGREGATES[node.function].result or scope.type_of_aggregated(node)
    return type_of_shared(node, lambda part: static_type(part, scope))
