"""Variables, their scopes and the finiteness of formulas (phenesthe.md, sections 3, 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Mapping

from occurs.errors import Span
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks_notices import occurring
from occurs.languages.phenesthe.checks_phenomenon import FACT
from occurs.languages.phenesthe.checks_sorts import place
from occurs.languages.phenesthe.scope import Project, cofinite, finite, inverse, scoped, sort, variables
from occurs.languages.phenesthe.syntax import Relation
from occurs.languages.text import Text

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
    return scoped(both, head_variables(definition))


def head_variables(definition: syntax.Definition) -> frozenset[str]:
    return frozenset(a.value.name for a in definition.head if isinstance(a.value, syntax.Variable))


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
        bound = self.bound(body)
        for argument in self.definition.head:
            value = argument.value
            if isinstance(value, syntax.Variable) and value.name not in bound:
                self._unbound(value.name, "no atom of the formula names it", value.span, "name it in an atom")
        clocked = may_be_clocked and sort(body, self.sorts) == "event" and not finite(body, self.sorts)
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
            "bind it in the formula before the condition, `p(X) "
            "∧ X > 3`; write a condition on the whole after `where`"
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
