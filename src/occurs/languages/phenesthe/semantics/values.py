"""Bindings, terms and conditions in the reference semantics of Phenesthe (phenesthe.md 4.2, 4.3; common.md section 6).

The overflow of an int64 is an error only where it hides whether a condition is satisfied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from occurs.errors import InputProblem
from occurs.expr import tree
from occurs.expr.dialect import PHENESTHE
from occurs.expr.reference import Evaluator, Undecided, both, either, equal, unless
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics.scope import Project, unbound, variables
from occurs.model.time import TimeKind

#: variable or attribute -> value, as a set of pairs
Binding = frozenset[tuple[str, Any]]


def restricted(binding: Binding, names: Iterable[str]) -> Binding:
    """The part of a binding that is about ``names``."""
    return frozenset((n, v) for n, v in binding if n in names)


def joined(one: Binding, other: Binding) -> Binding | None:
    """Both bindings in one; None if they give one variable two values."""
    values = dict(one)
    if any(n in values and not same(values[n], v) for n, v in other):
        return None
    return frozenset({**dict(other), **values}.items())


def same(a: Any, b: Any) -> bool:
    """Equal by value; null equals nothing."""
    return a is not None and b is not None and equal(a, b)


@dataclass(frozen=True)
class Terms(Evaluator):
    """Terms and comparisons under a binding."""

    binding: Mapping[str, Any]
    dialect = PHENESTHE

    @property
    def kind(self) -> TimeKind:
        raise TypeError("a term of Phenesthe has no lengths of time")

    def leaf(self, node: tree.Expr) -> Any:
        if not isinstance(node, tree.Ref):
            raise TypeError(f"not a term of Phenesthe: {type(node).__name__}")
        return self.binding[node.name]


# --- conditions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Conditions:
    """Conditions over the rows of facts; ``facts``: the bindings an atom of a fact has."""

    facts: Callable[[syntax.Atom], set[Binding]]

    def solutions(self, node: syntax.Relation, binding: Binding) -> set[Binding]:
        """The binding, extended by every way in which fact atoms bind further variables, if the condition is true."""
        found = self.extended(node, binding)
        for b in found:
            if missing := variables(node) - {name for name, _ in b}:
                raise unbound(missing, node)
        return {b for b in found if self.satisfied(node, b)}

    def extended(self, node: syntax.Relation, binding: Binding) -> set[Binding]:
        """All extensions of a binding by the facts in a condition, whether or not it is true of them."""
        match node:
            case syntax.Atom():
                return {b for row in self.facts(node) if (b := joined(binding, row)) is not None}
            case syntax.And():
                return {b for first in self.extended(node.left, binding) for b in self.extended(node.right, first)}
            case syntax.Or():
                return self.extended(node.left, binding) | self.extended(node.right, binding)
            case Project():
                return {restricted(b, {n for n, _ in b} - node.gone) for b in self.extended(node.operand, binding)}
        return {binding}

    def satisfied(self, node: syntax.Relation, binding: Binding) -> bool:
        """Whether a condition is true; an overflow that hides it is an error."""
        truth = self.truth(node, binding)
        if isinstance(truth, Undecided) and True in truth.outcomes:
            raise InputProblem.of("overflow", "overflow of int64 in a condition", span=getattr(node, "span", None))
        return truth is True

    def truth(self, node: syntax.Relation, binding: Binding) -> Any:
        """What a condition is under a binding of its variables: true, false, null or Undecided."""
        match node:
            case syntax.Comparison():
                return Terms(dict(binding)).value(node.condition)
            case syntax.Atom():
                mine = restricted(binding, variables(node))
                return any(joined(mine, row) is not None for row in self.facts(node))
            case syntax.Not():
                return unless(True, self.truth(node.operand, binding))
            case syntax.And():
                return both(self.truth(node.left, binding), self.truth(node.right, binding))
            case syntax.Or():
                return either(self.truth(node.left, binding), self.truth(node.right, binding))
            case Project():
                inner = self.extended(node.operand, restricted(binding, variables(node)))
                return reduce(either, (self.truth(node.operand, b) for b in inner), False)
        raise TypeError(f"not a condition of Phenesthe: {type(node).__name__}")
