"""The meaning of one Phenesthe formula in the reference semantics (phenesthe.md sections 4.2 to 4.5).

The meaning of a formula is, per binding of its variables, a set of instants or of intervals; a binding that is not
there has the empty set.  Formulas are those of :func:`occurs.languages.phenesthe.semantics.scope.scoped`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.semantics import intervals
from occurs.languages.phenesthe.semantics.intervals import INFINITY
from occurs.languages.phenesthe.semantics.scope import (
    CONDITION,
    EVENT,
    Project,
    finite,
    negated,
    sort,
    unbound,
    unguarded,
    variables,
)
from occurs.languages.phenesthe.semantics.values import Binding, Conditions, joined, restricted, same
from occurs.model.time import Duration, TimeKind

#: per binding its instants or intervals
Meaning = dict[Binding, set[Any]]


@dataclass(frozen=True)
class Phenomenon:
    """What is known under a name: its sort (or ``fact``), its attributes in order, and its rows: (values, when)."""

    sort: str
    names: tuple[str, ...]
    rows: tuple[tuple[Mapping[str, Any], Any], ...] = ()


@dataclass
class Formulas:
    """The meanings of formulas over the phenomena that are known."""

    known: Mapping[str, Phenomenon]
    kind: TimeKind
    now: int
    #: a formula means the same wherever it stands, as its projections are written down in it
    found: dict[syntax.Relation, Meaning] = field(default_factory=dict)

    @property
    def sorts(self) -> dict[str, str]:
        return {name: p.sort for name, p in self.known.items()}

    def meaning(self, node: syntax.Relation) -> Meaning:
        """The meaning of a formula that is no condition."""
        if node not in self.found:
            self.found[node] = {b: items for b, items in self._meaning(node).items() if items}
        return self.found[node]

    def _meaning(self, node: syntax.Relation) -> Meaning:
        match node:
            case syntax.Atom():
                return self.pooled(self.matches(node), self.known[node.name.text].sort)
            case Project():
                inner = self.meaning(node.operand)
                rows = [(restricted(b, variables(node)), item) for b, items in inner.items() for item in items]
                return self.pooled(rows, sort(node.operand, self.sorts))
            case syntax.Not() | syntax.And() | syntax.Or():
                return self.connective(node)
            case syntax.Start():
                return self.each(node.operand, lambda xs: {x[0] for x in xs})
            case syntax.End():
                return self.each(node.operand, lambda xs: {x[1] for x in xs if x[1] < INFINITY})
            case syntax.In():
                return self.both(node, lambda xs, ys: {t for t in xs if any(y[0] <= t <= y[1] for y in ys)})
            case syntax.MaximalRange():
                return self.leading(node, intervals.maximal_range)
            case syntax.MinimalRange():
                return self.leading(node, intervals.minimal_range)
            case syntax.Complement():
                return self.leading(node, intervals.complement)
            case syntax.Union():
                return {b: intervals.coalesced(items) for b, items in self.either(node).items()}
            case syntax.Intersection():
                return self.both(node, intervals.intersection)
            case syntax.Iteration():
                gap = self.ticks(node.duration, node)
                return self.each(node.operand, lambda ts: intervals.iteration(ts, node.op, gap))
            case syntax.Filter():
                length = self.ticks(node.duration, node)
                return self.each(node.operand, lambda xs: intervals.filtered(xs, node.op, length, self.now))
            case syntax.Related():
                return self.both(node, lambda xs, ys: intervals.related(node.rel, xs, ys))
        raise TypeError(f"not a formula: {type(node).__name__}")

    # --- 4.2 Atoms, projection, joint bindings ------------------------------------------------------------------

    def matches(self, atom: syntax.Atom) -> list[tuple[Binding, Any]]:
        """(binding, when) of every row that an atom matches."""
        phenomenon = self.known[atom.name.text]
        rows = ((self.match(atom, phenomenon, values), when) for values, when in phenomenon.rows)
        return [(b, when) for b, when in rows if b is not None]

    def match(self, atom: syntax.Atom, phenomenon: Phenomenon, values: Mapping[str, Any]) -> Binding | None:
        """The binding with which a row fits an atom; a variable never binds null."""
        bound = Binding()
        for place, argument in enumerate(atom.arguments):
            found = values.get(argument.name.text if argument.name else phenomenon.names[place])
            if isinstance(argument.value, syntax.Constant):
                if not same(found, argument.value.value):
                    return None
            elif isinstance(argument.value, syntax.Variable):
                further = None if found is None else joined(bound, frozenset([(argument.value.name, found)]))
                if further is None:
                    return None
                bound = further
        return bound

    def pooled(self, rows: Iterable[tuple[Binding, Any]], of: str) -> Meaning:
        """The items of each binding: of events and dynamics their set, of states their coalescing union."""
        found: Meaning = {}
        for binding, item in rows:
            found.setdefault(binding, set()).add(item)
        return {b: intervals.coalesced(items) if of == "state" else items for b, items in found.items()}

    def each(self, operand: syntax.Relation, f: Callable[[Any], set[Any]]) -> Meaning:
        """A function of the set of each binding."""
        return {b: f(items) for b, items in self.meaning(operand).items()}

    def both(self, node: Any, f: Callable[[Any, Any], set[Any]]) -> Meaning:
        """A function of the sets of each joint binding that has items on both sides."""
        left, right = self.meaning(node.left), self.meaning(node.right)
        found: Meaning = {}
        for one, xs in left.items():
            for other, ys in right.items():
                theta = joined(one, other)
                if theta is not None:
                    found[theta] = f(xs, ys)
        return found

    def leading(self, node: Any, f: Callable[[Any, Any], set[Any]]) -> Meaning:
        """A function of the sets of each binding of the left side, which has all variables of the right one."""
        self.require(variables(node.right), variables(node.left), node)
        left, right, shared = self.meaning(node.left), self.meaning(node.right), variables(node.right)
        return {b: f(xs, right.get(restricted(b, shared), set())) for b, xs in left.items()}

    def either(self, node: Any) -> Meaning:
        """What either side has, both of the same variables."""
        self.require(variables(node.left) ^ variables(node.right), frozenset(), node)
        left, right = self.meaning(node.left), self.meaning(node.right)
        return {b: left.get(b, set()) | right.get(b, set()) for b in {*left, *right}}

    def require(self, needed: frozenset[str], there: frozenset[str], node: syntax.Relation) -> None:
        if not needed <= there:
            raise unbound(needed - there, node)

    # --- 4.3 Connectives ----------------------------------------------------------------------------------------

    def connective(self, node: Any) -> Meaning:
        """``¬ ∧ ∨`` of events, and ``∧`` of anything with a condition."""
        if isinstance(node, syntax.And):
            for condition, formula in ((node.right, node.left), (node.left, node.right)):
                if sort(condition, self.sorts) == CONDITION:
                    return self.conditioned(formula, condition)
        if sort(node, self.sorts) == EVENT and not finite(node, self.sorts):
            raise unguarded(node)
        match node:
            case syntax.Not():
                return self.meaning(negated(node.operand))
            case syntax.Or():
                return self.either(node)
        left, right = (node.left, node.right) if finite(node.left, self.sorts) else (node.right, node.left)
        if finite(right, self.sorts):
            return self.both(node, lambda xs, ys: xs & ys)
        self.require(variables(right), variables(left), node)
        return {b: {t for t in ts if self.true_at(right, b, t)} for b, ts in self.meaning(left).items()}

    def conditioned(self, formula: syntax.Relation, condition: syntax.Relation) -> Meaning:
        """``φ ∧ C``: φ under each binding that satisfies C, extended by the facts in C."""
        rows = self.meaning(formula).items()
        return {b: items for binding, items in rows for b in self.conditions.solutions(condition, binding)}

    @property
    def conditions(self) -> Conditions:
        return Conditions(lambda atom: {b for b, _ in self.matches(atom)})

    def true_at(self, node: syntax.Relation, binding: Binding, t: int) -> bool:
        """Whether an event formula, or a condition, is true at an instant under a binding of its variables."""
        if sort(node, self.sorts) == CONDITION:
            return bool(self.conditions.solutions(node, binding))
        match node:
            case syntax.Not():
                return not self.true_at(node.operand, binding, t)
            case syntax.And():
                return self.true_at(node.left, binding, t) and self.true_at(node.right, binding, t)
            case syntax.Or():
                return self.true_at(node.left, binding, t) or self.true_at(node.right, binding, t)
        return t in self.meaning(node).get(restricted(binding, variables(node)), set())

    # --- durations ----------------------------------------------------------------------------------------------

    def ticks(self, duration: Duration, node: Any) -> int:
        """A duration in whole ticks."""
        exact = self.kind.convert(duration)
        if exact is None:
            raise DefinitionProblem.of(
                "missing-unit", "the duration and the time column have no common unit", span=node.span
            )
        if exact.denominator != 1 or exact <= 0:
            raise DefinitionProblem.of("bad-duration", "not a positive whole number of ticks", span=node.span)
        return int(exact)
