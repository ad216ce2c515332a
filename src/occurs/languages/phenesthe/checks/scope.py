"""Variables, their scopes, and the sorts of formulas, for the checks and the compiler (phenesthe.md, 3, 4.2 and 4.3).

The reference semantics has a copy of its own on purpose: it shares nothing with the engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from occurs.errors import Span
from occurs.expr.text import Text
from occurs.expr.tree import Ref
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import FACT
from occurs.languages.phenesthe.parser.tree import is_bare, operator_text
from occurs.languages.phenesthe.render import render
from occurs.languages.phenesthe.syntax import Relation


@dataclass(frozen=True)
class Project(Relation):
    """``operand`` for any values of ``gone``: the variables whose smallest formula with all occurrences it is."""

    operand: Relation
    gone: frozenset[str]


def scoped(body: Relation, head: frozenset[str]) -> Relation:
    """The body with a :class:`Project` around every formula where variables that are not in the head end."""
    return _scoped(body, occurrences(body), head)


def _scoped(node: Relation, total: Counter[str], head: frozenset[str]) -> Relation:
    changes: dict[str, Any] = {}
    for field in fields(node):
        part = getattr(node, field.name)
        if isinstance(part, Relation):
            changes[field.name] = _scoped(part, total, head)
    within = occurrences(node)
    complete = {v for v in within if within[v] == total[v] and v not in head}
    gone = {v for v in complete if all(occurrences(part)[v] < total[v] for part in node.parts)}
    inner = replace(node, **changes) if changes else node
    return Project(inner, frozenset(gone)) if gone else inner


def unscoped(node: Relation) -> Relation:
    """The formula as it was written."""
    if isinstance(node, Project):
        return unscoped(node.operand)
    changes: dict[str, Any] = {
        f.name: unscoped(part) for f in fields(node) if isinstance(part := getattr(node, f.name), Relation)
    }
    return replace(node, **changes) if changes else node


def occurrences(node: Relation) -> Counter[str]:
    """How often each variable stands in a formula."""
    return Counter(name for name, _ in occurring(node))


def variables(node: Relation) -> frozenset[str]:
    """The variables of a formula with projections: those that are still there above it."""
    if isinstance(node, Project):
        return variables(node.operand) - node.gone
    if node.parts:
        return frozenset().union(*(variables(part) for part in node.parts))
    return frozenset(occurrences(node))


def occurring(node: Relation) -> list[tuple[str, Span | None]]:
    """Every place of a variable in a formula."""
    found: list[tuple[str, Span | None]] = []
    for part in node.walk():
        if isinstance(part, syntax.Atom):
            found += [(a.value.name, a.value.span) for a in part.arguments if isinstance(a.value, syntax.Variable)]
        elif isinstance(part, syntax.Comparison):
            found += [(e.name, e.span) for e in part.condition.walk() if isinstance(e, Ref)]
    return found


def place(node: Relation) -> Span | None:
    """The place of a formula."""
    while isinstance(node, Project):
        node = node.operand
    found: Span | None = getattr(node, "span", None)
    return found


# --- sorts ------------------------------------------------------------------------------------------------------------


#: of formulas whose sort does not depend on their operands
SORTS: dict[type[Relation], str] = {
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
    syntax.Comparison: FACT,
}


def sort(node: Relation, names: Mapping[str, str]) -> str:
    """``event``, ``state``, ``dynamic``, or ``fact`` for a condition; ``names``: the sorts of the phenomena."""
    if isinstance(node, syntax.Atom):
        return names[node.name.text]
    if isinstance(node, syntax.And | syntax.Or):
        left, right = sort(node.left, names), sort(node.right, names)
        return right if left == FACT else left
    if isinstance(node, Project | syntax.Not | syntax.Filter):
        return sort(node.operand, names)
    return SORTS[type(node)]


def finite(node: Relation, names: Mapping[str, str]) -> bool:
    """Whether the instants of an event formula can be listed (4.3)."""
    match node:
        case syntax.Not():
            return cofinite(node.operand, names)
        case syntax.And():
            return any(finite(part, names) for part in node.parts if sort(part, names) != FACT)
        case syntax.Or():
            return finite(node.left, names) and finite(node.right, names)
        case Project():
            return finite(node.operand, names)
    return True


def cofinite(node: Relation, names: Mapping[str, str]) -> bool:
    """Whether the instants at which an event formula is not true can be listed."""
    match node:
        case syntax.Not():
            return finite(node.operand, names)
        case syntax.And():
            return all(sort(part, names) == "event" and cofinite(part, names) for part in node.parts)
        case syntax.Or():
            return cofinite(node.left, names) or cofinite(node.right, names)
    return False


def inverse(node: Relation) -> Relation:
    """``¬φ`` with the negation inside: of a φ that is true almost always a formula of events."""
    match node:
        case syntax.Not():
            return node.operand
        case syntax.And():
            return syntax.Or(inverse(node.left), inverse(node.right))
        case syntax.Or():
            return syntax.And(inverse(node.left), inverse(node.right))
    return syntax.Not(node)


# --- the checks of one definition -------------------------------------------------------------------------------------


_LEADING: dict[type[Relation], str] = {
    syntax.MaximalRange: "↣",
    syntax.MinimalRange: "~>>",
    syntax.Complement: "\\",
}


def whole(definition: syntax.Definition) -> Relation:
    """The body with the condition of `where`, and a :class:`Project` around the formula where a variable ends."""
    both = definition.body
    if definition.where is not None:
        both = syntax.And(both, definition.where, span=place(definition.body))
    return scoped(both, frozenset(v.name for _, v in definition.variables))


class Scopes:
    """The variables of one definition, all of whose names are known and whose sorts fit."""

    def __init__(self, definition: syntax.Definition, source: Text, sorts: Mapping[str, str]):
        self.definition = definition
        self.source = source
        self.sorts = sorts
        self.reported: set[str] = set()

    def check(self, may_be_clocked: bool) -> bool:
        """Report unbound variables and unguarded negations; returns whether the body is true almost always, as it
        ``may_be``."""
        body = whole(self.definition)
        clocked = may_be_clocked and sort(body, self.sorts) == "event" and not finite(body, self.sorts)
        # under which bindings the body is true, its negation says
        bound = self.bound(inverse(body) if clocked else body)
        for _, value in self.definition.variables:
            if value.name not in bound:
                self._unbound(value.name, "no atom of the formula names it", value.span, "name it in an atom")
        self._finite(body, not clocked)
        return clocked

    def _condition(self, node: Relation) -> bool:
        return sort(node, self.sorts) == FACT

    # --- what is bound -----------------------------------------------------------------------------------------------

    def bound(self, node: Relation) -> frozenset[str]:
        """The variables that a formula binds; reports what its operands may not use."""
        if isinstance(node, syntax.Atom):
            return variables(node)
        if isinstance(node, Project):
            return self.bound(node.operand) - node.gone
        if isinstance(node, syntax.And):
            return self._and(node)
        if isinstance(node, syntax.Or | syntax.Union):
            left, right = self.bound(node.left), self.bound(node.right)
            sign = "∨" if isinstance(node, syntax.Or) else "⊔"
            hint = f"both sides of `{sign}` need the same variables; write `_` for a value that nothing else uses"
            for side, missing in ((node.right, left - right), (node.left, right - left)):
                for name in sorted(missing):
                    self._unbound(name, f"this side of `{sign}` does not bind it", place(side), hint)
            return left | right
        if isinstance(node, syntax.Not) and cofinite(node.operand, self.sorts):
            return self.bound(inverse(node.operand))
        if type(node) in _LEADING:
            first, second = node.parts
            return self._within(first, second, f"`{_LEADING[type(node)]}`")
        return frozenset().union(*(self.bound(part) for part in node.parts))

    def _and(self, node: syntax.And) -> frozenset[str]:
        for condition, formula in ((node.right, node.left), (node.left, node.right)):
            if self._condition(condition):
                bound = self.bound(formula)
                return bound | self._conjoined(condition, bound)
        first, second = (node.left, node.right) if finite(node.left, self.sorts) else (node.right, node.left)
        if finite(first, self.sorts) and not finite(second, self.sorts):
            return self._within(first, second, "`∧ ¬`")
        return self.bound(first) | self.bound(second)

    def _within(self, first: Relation, second: Relation, sign: str) -> frozenset[str]:
        """What ``first`` binds, to which all variables of ``second`` must belong."""
        bound = self.bound(first)
        for name in sorted(self.bound(second) - bound):
            hint = "write `_` for a value that nothing else uses"
            what = f"the formula before {sign} does not bind it" if sign != "`∧ ¬`" else "only a negation names it"
            self._unbound(name, what, self._first(second, name), hint)
        return bound

    def _conjoined(self, node: Relation, bound: frozenset[str]) -> frozenset[str]:
        """What the facts of a condition bind; ``bound``: what the formula binds that it is conjoined with."""
        facts = self._facts(node)
        for part in node.walk():
            inside = facts | bound
            if isinstance(part, Project):
                inside |= self._facts(part.operand)
            for name in sorted(part.gone - inside if isinstance(part, Project) else ()):
                self._loose(part, name)
        for name in sorted(variables(node) - facts - bound):
            self._loose(node, name)
        return facts

    def _loose(self, node: Relation, name: str) -> None:
        hint = (
            "bind it in the formula before the condition, `p(X) ∧ X > 3`; write a condition on the whole after `where`"
        )
        self._unbound(name, "the formula before the condition does not bind it", self._first(node, name), hint)

    def _facts(self, node: Relation) -> frozenset[str]:
        """The variables that the facts in a condition bind."""
        match node:
            case syntax.Atom():
                return variables(node)
            case syntax.And():
                return self._facts(node.left) | self._facts(node.right)
            case syntax.Or():
                return self._facts(node.left) & self._facts(node.right)
            case Project():
                return self._facts(node.operand) - node.gone
        return frozenset()

    def _unbound(self, name: str, why: str, span: Span | None, hint: str) -> None:
        if name not in self.reported:
            self.reported.add(name)
            self.source.report("unbound-variable", f"`{name}` is not bound: {why}", span, hint)

    @staticmethod
    def _first(node: Relation, name: str) -> Span | None:
        return next((span for found, span in occurring(node) if found == name), place(node))

    # --- finite formulas ---------------------------------------------------------------------------------------------

    def _finite(self, node: Relation, needed: bool) -> None:
        """Report co-finite event formulas where a finite one is needed."""
        if self._condition(node):
            return
        if isinstance(node, Project):
            # also below a connective: for a variable that ends here there are no values to be tried
            self._finite(node.operand, True)
            return
        if needed and sort(node, self.sorts) == "event" and not finite(node, self.sorts):
            cause = self._cause(node)
            message = "this is true at infinitely many instants"
            hint = "combine the negation with an event: `a ∧ ¬b`"
            self.source.report("unguarded-negation", message, place(cause), hint)
            needed = False
        connective = isinstance(node, syntax.Not | syntax.And | syntax.Or)
        for part in node.parts:
            self._finite(part, not connective)

    def _cause(self, node: Relation) -> Relation:
        """The smallest part of a formula that makes it co-finite."""
        while True:
            if isinstance(node, Project):
                node = node.operand
            elif isinstance(node, syntax.Or):
                node = node.right if finite(node.left, self.sorts) else node.left
            else:
                return node


# --- notices ----------------------------------------------------------------------------------------------------------


def check_head(definition: syntax.Definition, source: Text) -> None:
    """Report variables of the head that the formula does not have: for definitions with other problems."""
    there = set(occurrences(definition.body))
    for _, value in definition.variables:
        if value.name not in there:
            message = f"`{value.name}` is not bound: no atom of the formula names it"
            source.report("unbound-variable", message, value.span, "name it in an atom")


def notices(definition: syntax.Definition, source: Text) -> None:
    """Readings worth showing: variables that occur once, relations in a row."""
    head = [(v.name, v.span) for _, v in definition.variables]
    body = [at for formula in definition.formulas for at in occurring(formula)]
    times = Counter(name for name, _ in [*head, *body])
    compared = {e.name for f in definition.formulas for n in f.walk() if isinstance(n, syntax.Comparison)
                for e in n.condition.walk() if isinstance(e, Ref)}  # fmt: skip
    for name, span in body:
        if times[name] == 1 and not name.startswith("_") and name not in compared:
            hint = f"did you mean the constant '{name}'? Write `_` for a value that nothing else uses"
            source.report("singleton-variable", f"the variable `{name}` occurs once", span, hint, "notice")
    inner: set[int] = set()
    for outer in definition.body.walk() if not definition.ported else ():
        chained = isinstance(outer, syntax.Related) and isinstance(outer.left, syntax.Related)
        if not isinstance(outer, syntax.Related) or not chained or not is_bare(outer, outer.left):
            continue
        inner.add(id(outer.left))
        if id(outer) not in inner:
            signs = " and ".join(f"`{operator_text(n)}`" for n in (outer.left, outer))
            message = f"{signs} in a row are read as `{render(outer)}`"
            hint = "write the parentheses; Phenesthe groups such chains to the right"
            source.report("chained-relation", message, outer.span, hint, "notice")
