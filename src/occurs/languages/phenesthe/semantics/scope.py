"""Variables, scopes and sorts of Phenesthe formulas in the reference semantics (phenesthe.md sections 3, 4.2, 4.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.languages.phenesthe import syntax

EVENT, CONDITION = "event", "fact"


@dataclass(frozen=True)
class Project(syntax.Relation):
    """``operand`` for any values of ``gone``: the variables whose smallest formula with all occurrences it is."""

    operand: syntax.Relation
    gone: frozenset[str]


def scoped(body: syntax.Relation, head: frozenset[str]) -> syntax.Relation:
    """The body with a :class:`Project` around every formula where variables that are not in the head end."""
    return _scoped(body, occurrences(body), head)


def _scoped(node: syntax.Relation, total: Counter[str], head: frozenset[str]) -> syntax.Relation:
    changes: dict[str, Any] = {}
    for field in fields(node):
        part = getattr(node, field.name)
        if isinstance(part, syntax.Relation):
            changes[field.name] = _scoped(part, total, head)
    within = occurrences(node)
    complete = {v for v in within if within[v] == total[v] and v not in head}
    gone = {v for v in complete if all(occurrences(part)[v] < total[v] for part in node.parts)}
    inner = replace(node, **changes) if changes else node
    return Project(inner, frozenset(gone)) if gone else inner


def occurrences(node: syntax.Relation) -> Counter[str]:
    """How often each variable stands in a formula."""
    found: Counter[str] = Counter()
    for part in node.walk():
        if isinstance(part, syntax.Atom):
            found.update(a.value.name for a in part.arguments if isinstance(a.value, syntax.Variable))
        elif isinstance(part, syntax.Comparison):
            found.update(e.name for e in part.condition.walk() if isinstance(e, tree.Ref))
    return found


def variables(node: syntax.Relation) -> frozenset[str]:
    """The variables of a formula with projections: those that are still there above it."""
    if isinstance(node, Project):
        return variables(node.operand) - node.gone
    if node.parts:
        return frozenset().union(*(variables(part) for part in node.parts))
    return frozenset(occurrences(node))


# --- sorts ------------------------------------------------------------------------------------------------------------

#: of formulas whose sort does not depend on their operands
SORTS: dict[type[syntax.Relation], str] = {
    syntax.Start: "event",
    syntax.End: "event",
    syntax.In: "event",
    syntax.Iteration: "state",
    syntax.MaximalRange: "state",
    syntax.MinimalRange: "state",
    syntax.Union: "state",
    syntax.Intersection: "state",
    syntax.Complement: "state",
    syntax.Related: "dynamic",
    syntax.Comparison: CONDITION,
}


def sort(node: syntax.Relation, names: Mapping[str, str]) -> str:
    """``event``, ``state``, ``dynamic``, or ``fact`` for a condition; ``names``: the sorts of the phenomena."""
    if isinstance(node, syntax.Atom):
        return names[node.name.text]
    if isinstance(node, syntax.And | syntax.Or):
        left, right = sort(node.left, names), sort(node.right, names)
        return right if left == CONDITION else left
    if isinstance(node, Project | syntax.Not | syntax.Filter):
        return sort(node.operand, names)
    return SORTS[type(node)]


def finite(node: syntax.Relation, names: Mapping[str, str]) -> bool:
    """Whether the instants of an event formula can be listed (4.3)."""
    match node:
        case syntax.Not():
            return cofinite(node.operand, names)
        case syntax.And():
            return any(finite(part, names) for part in node.parts if sort(part, names) != CONDITION)
        case syntax.Or():
            return finite(node.left, names) and finite(node.right, names)
        case Project():
            return finite(node.operand, names)
    return True


def cofinite(node: syntax.Relation, names: Mapping[str, str]) -> bool:
    """Whether the instants at which an event formula is not true can be listed."""
    match node:
        case syntax.Not():
            return finite(node.operand, names)
        case syntax.And():
            return all(sort(part, names) == EVENT and cofinite(part, names) for part in node.parts)
        case syntax.Or():
            return cofinite(node.left, names) or cofinite(node.right, names)
    return False


def negated(node: syntax.Relation) -> syntax.Relation:
    """``¬φ`` of a co-finite φ with the negation moved inwards, so that what it lists shows."""
    match node:
        case syntax.Not():
            return node.operand
        case syntax.And():
            return syntax.Or(negated(node.left), negated(node.right))
        case syntax.Or():
            return syntax.And(negated(node.left), negated(node.right))
    return syntax.Not(node)


def unguarded(node: syntax.Relation) -> DefinitionProblem:
    """The error of a formula that would have infinitely many instants; the checks find it first."""
    return DefinitionProblem.of("unguarded-negation", "true at infinitely many instants", span=_span(node))


def unbound(names: frozenset[str], node: syntax.Relation) -> DefinitionProblem:
    """The error of variables that nothing binds; the checks find it first."""
    return DefinitionProblem.of("unbound-variable", f"unbound variables: {', '.join(sorted(names))}", span=_span(node))


def _span(node: syntax.Relation) -> Any:
    return getattr(node, "span", None)
