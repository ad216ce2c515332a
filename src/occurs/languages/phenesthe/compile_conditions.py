"""Conditions that are conjoined with formulas, as nodes (phenesthe.md, section 4.3).

A condition is a conjunction of parts: facts that hold (they join, and may bind further variables), facts that do not,
comparisons, and anything else, which is judged binding by binding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.expr.tree import Binary, Call, Expr, Literal, Ref, Unary
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.compile_facts import FactTables
from occurs.languages.phenesthe.compile_net import Building, Formula
from occurs.languages.phenesthe.scope import Project, variables
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.types import Type
from occurs.operators.lasting.conditions import FactRows, Known, Unknown, Where
from occurs.operators.lasting.judging import Exists, Judged, Member


def has_facts(condition: Relation) -> bool:
    return any(isinstance(n, syntax.Atom) for n in condition.walk())


def parts(condition: Relation) -> Iterator[Relation]:
    """The operands of a chain of ``∧``, left to right."""
    if isinstance(condition, syntax.And):
        yield from parts(condition.left)
        yield from parts(condition.right)
    else:
        yield condition


def expression(condition: Relation) -> Expr:
    """A condition without facts."""
    match condition:
        case syntax.Comparison():
            return condition.condition
        case syntax.Not():
            return Unary("not", expression(condition.operand))
        case syntax.And():
            return Binary("and", expression(condition.left), expression(condition.right))
        case syntax.Or():
            return Binary("or", expression(condition.left), expression(condition.right))
    raise TypeError(f"not a condition without facts: {type(condition).__name__}")


def computes(condition: Expr) -> bool:
    """Whether there is arithmetic, or a function, in a condition, which might overflow."""
    signs = ("+", "-", "*", "/", "mod", "neg")
    return any((isinstance(e, Binary | Unary) and e.op in signs) or isinstance(e, Call) for e in condition.walk())


class Conditions:
    """The conditions of one definition; ``name``: the definition, for messages."""

    def __init__(self, net: Building, facts: FactTables, name: str) -> None:
        self.net = net
        self.facts = facts
        self.name = name

    def conjoined(self, formula: Formula, condition: Relation) -> Formula:
        """``φ ∧ C``: φ under the bindings that satisfy C, extended by the facts in it."""
        positive, negative, compared, rest = self._sorted(condition)
        for atom, kept in positive:
            formula = self._known(formula, atom, kept)
        for atom, kept in negative:
            formula = self._unknown(formula, atom, kept)
        if compared:
            formula = self.where(formula, _all([expression(c) for c in compared]))
        for part in rest:
            formula = self._judged(formula, part)
        return formula

    def where(self, formula: Formula, condition: Expr) -> Formula:
        """With a condition on variables of the formula."""
        types = tuple(self.net.types[v] for v in formula.variables)
        node = Where(formula.sort, formula.variables, types, condition, self.name)
        return self.net.made(node, formula.sort, formula)

    def _sorted(self, condition: Relation) -> tuple[
        list[tuple[syntax.Atom, frozenset[str]]], list[tuple[syntax.Atom, frozenset[str]]], list[Relation],
        list[Relation],
    ]:  # fmt: skip
        """Facts that hold, facts that do not (each with the variables that count), comparisons, and the rest."""
        positive, negative, compared, rest = [], [], [], []
        for part in parts(condition):
            if (atom := _fact(part)) is not None:
                positive.append((atom, variables(part)))
            elif isinstance(part, syntax.Not) and (atom := _fact(part.operand)) is not None:
                negative.append((atom, variables(part)))
            elif has_facts(part):
                rest.append(part)
            else:
                compared.append(part)
        return positive, negative, compared, rest

    def _known(self, formula: Formula, atom: syntax.Atom, kept: frozenset[str]) -> Formula:
        if not kept:
            return formula if self.facts.any(atom) else self._never(formula)
        fact = self._fact_rows(atom, kept)
        union = tuple(sorted({*formula.variables, *fact.variables}))
        return self.net.made(Known(formula.sort, formula.variables, union, fact), formula.sort, formula)

    def _unknown(self, formula: Formula, atom: syntax.Atom, kept: frozenset[str]) -> Formula:
        if not kept:
            return self._never(formula) if self.facts.any(atom) else formula
        return self.net.made(
            Unknown(formula.sort, formula.variables, self._fact_rows(atom, kept)), formula.sort, formula
        )

    def _never(self, formula: Formula) -> Formula:
        return self.where(formula, Literal(False, Type.BOOL))

    def _fact_rows(self, atom: syntax.Atom, kept: frozenset[str]) -> FactRows:
        known = self.facts.phenomena[atom.name.text]
        for attribute, value in known.arguments(atom):
            if isinstance(value, syntax.Variable):
                self.net.typed(value.name, known.type_of(attribute))
        return self.facts.rows(atom, kept)

    # --- what is judged binding by binding ---------------------------------------------------------------------------

    def _judged(self, formula: Formula, condition: Relation) -> Formula:
        """A part with facts below ``∨`` or ``¬``, or with variables of its own.

        Variables that its facts bind take all values that the facts have: of those that make it true no other would.
        """
        for name in sorted(variables(condition) - set(formula.variables)):
            domain = self._domain(condition, name)
            union = tuple(sorted({*formula.variables, name}))
            formula = self.net.made(Known(formula.sort, formula.variables, union, domain), formula.sort, formula)
        test = self._test(condition)
        types = tuple(self.net.types[v] for v in formula.variables)
        node = Judged(formula.sort, formula.variables, types, test, self.name)
        return self.net.made(node, formula.sort, formula)

    def _test(self, condition: Relation) -> Expr:
        match condition:
            case syntax.Comparison():
                return condition.condition
            case syntax.Not():
                return Unary("not", self._test(condition.operand))
            case syntax.And():
                return Binary("and", self._test(condition.left), self._test(condition.right))
            case syntax.Or():
                return Binary("or", self._test(condition.left), self._test(condition.right))
        if (atom := _fact(condition)) is not None:
            kept = variables(condition)
            return Member(self._fact_rows(atom, kept)) if kept else Literal(self.facts.any(atom), Type.BOOL)
        assert isinstance(condition, Project)
        test = self._test(condition.operand)
        joined = [
            self._fact_rows(atom, variables(part))
            for part in parts(condition.operand)
            if (atom := _fact(part)) is not None and variables(part)
        ]
        there = {v for fact in joined for v in fact.variables}
        joined += [self._domain(condition.operand, v) for v in sorted(condition.gone - there)]
        used = {e.name for e in test.walk() if isinstance(e, Ref)}
        return Exists(tuple(joined), test, tuple((v, self.net.types[v]) for v in sorted(used)))

    def _domain(self, condition: Relation, name: str) -> FactRows:
        """The values that the facts in a condition have for a variable."""
        atoms = [n for n in condition.walk() if isinstance(n, syntax.Atom) and name in variables(n)]
        return self.facts.united([self._fact_rows(atom, frozenset((name,))) for atom in atoms], self.net.types[name])


def _fact(condition: Relation) -> syntax.Atom | None:
    """The fact of a condition that is one, some of its variables pooled or not."""
    while isinstance(condition, Project):
        condition = condition.operand
    return condition if isinstance(condition, syntax.Atom) else None


def _all(conditions: Sequence[Expr]) -> Expr:
    out = conditions[0]
    for c in conditions[1:]:
        out = Binary("and", out, c)
    return out
