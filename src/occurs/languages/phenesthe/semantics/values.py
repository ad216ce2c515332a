"""Bindings, terms and conditions in the reference semantics of Phenesthe (phenesthe.md 4.2, 4.3; common.md section 6).

Plain Python values, one at a time.  The overflow of an int64 is the value :data:`OVERFLOW`; it is an error only where
it hides whether a condition is satisfied.  A truth value is the set of the outcomes that are still possible.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from occurs.errors import InputProblem
from occurs.expr import tree
from occurs.languages.kit.reference_functions import FUNCTIONS, string
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics.scope import Project, unbound, variables

#: variable or attribute -> value, as a set of pairs
Binding = frozenset[tuple[str, Any]]
Truth = frozenset[bool | None]
LEAST, GREATEST = -(2**63), 2**63 - 1
OVERFLOW = object()
EITHER: Truth = frozenset((True, False))


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
    """Equal by value: int and float by their exact value, a bool only with a bool; null with nothing."""
    return a is not None and b is not None and isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def clean(value: Any) -> Any:
    """NaN is null, an int beyond int64 an overflow."""
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool) and not LEAST <= value <= GREATEST:
        return OVERFLOW
    return value


# --- terms ------------------------------------------------------------------------------------------------------------


def _modulo(a: Any, b: Any) -> Any:
    """Floors; null by zero."""
    if b == 0 or (isinstance(a, float) and math.isinf(a)):
        return None
    return a % b


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: None if b == 0 else float(a) / float(b),
    "mod": _modulo,
}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": same,
    "!=": lambda a, b: not same(a, b),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def value(term: tree.Expr, binding: Mapping[str, Any]) -> Any:
    """The value of a term; None is null."""
    match term:
        case tree.Literal():
            return clean(term.value)
        case tree.Ref():
            return clean(binding[term.name])
        case tree.Unary("neg"):
            return strict(operator.neg, value(term.arg, binding))
        case tree.Binary():
            return strict(ARITHMETIC[term.op], value(term.left, binding), value(term.right, binding))
        case tree.Call():
            return called(term, binding)
    raise TypeError(f"not a term of Phenesthe: {type(term).__name__}")


def called(term: tree.Call, binding: Mapping[str, Any]) -> Any:
    """The value of a function of the catalogue."""
    if term.name == "if":
        return branch(term.args, binding)
    values = [value(a, binding) for a in term.args]
    if term.name == "coalesce":
        return next((v for v in values if v is not None), None)
    if term.name == "nullif":
        equal = strict(same, *values)
        return OVERFLOW if equal is OVERFLOW else None if equal else values[0]
    if term.name == "string":
        return strict(lambda a: string(a, None), *values)
    return strict(FUNCTIONS[term.name], *values)


def branch(args: Sequence[tree.Expr], binding: Mapping[str, Any]) -> Any:
    """``if(condition, value, condition, value, .., otherwise)``: the value of the first condition that is true."""
    if len(args) == 1:
        return value(args[0], binding)
    test = value(args[0], binding)
    if test is OVERFLOW:
        return OVERFLOW
    return value(args[1], binding) if test is True else branch(args[2:], binding)


def strict(f: Callable[..., Any], *values: Any) -> Any:
    """Null of a null, else an overflow of an overflow, else ``f``."""
    if any(v is None for v in values):
        return None
    if any(v is OVERFLOW for v in values):
        return OVERFLOW
    return clean(f(*values))


# --- conditions -------------------------------------------------------------------------------------------------------


def compared(node: tree.Expr, binding: Mapping[str, Any]) -> Truth:
    """The truth of a comparison, or of ``term in {constants}``: an equality with one of them."""
    if isinstance(node, tree.In):
        equal = (compared(tree.Binary("=", node.arg, item), binding) for item in node.items)
        return kleene(_any, *equal)
    assert isinstance(node, tree.Binary)
    left, right = value(node.left, binding), value(node.right, binding)
    if left is None or right is None:
        return frozenset((None,))
    if left is OVERFLOW or right is OVERFLOW:
        return EITHER
    return frozenset((COMPARISONS[node.op](left, right),))


def kleene(f: Callable[..., bool | None], *operands: Truth) -> Truth:
    """``f`` on all outcomes that are possible."""
    return frozenset(f(*choice) for choice in product(*operands))


def _all(*values: bool | None) -> bool | None:
    if False in values:
        return False
    return None if None in values else True


def _any(*values: bool | None) -> bool | None:
    if True in values:
        return True
    return None if None in values else False


def _not(a: bool | None) -> bool | None:
    return None if a is None else not a


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
        if True in truth and len(truth) > 1:
            raise InputProblem.of("overflow", "overflow of int64 in a condition", span=getattr(node, "span", None))
        return True in truth

    def truth(self, node: syntax.Relation, binding: Binding) -> Truth:
        """What a condition is under a binding of its variables."""
        match node:
            case syntax.Comparison():
                return compared(node.condition, dict(binding))
            case syntax.Atom():
                mine = restricted(binding, variables(node))
                return frozenset((any(joined(mine, row) is not None for row in self.facts(node)),))
            case syntax.Not():
                return kleene(_not, self.truth(node.operand, binding))
            case syntax.And():
                return kleene(_all, self.truth(node.left, binding), self.truth(node.right, binding))
            case syntax.Or():
                return kleene(_any, self.truth(node.left, binding), self.truth(node.right, binding))
            case Project():
                inner = self.extended(node.operand, restricted(binding, variables(node)))
                return kleene(_any, *(self.truth(node.operand, b) for b in inner))
        raise TypeError(f"not a condition of Phenesthe: {type(node).__name__}")
