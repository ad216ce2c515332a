"""Conditions that are conjoined with formulas, as nodes (phenesthe.md, section 4.3).

A condition is a conjunction of parts: facts that hold (they join, and may bind further variables), facts that do not,
comparisons, and anything else, which is judged binding by binding.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.expr.tree import Binary, Call, Expr, Literal, Ref, Unary
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks.catalogue import Phenomenon
from occurs.languages.phenesthe.checks.scope import Project, variables
from occurs.languages.phenesthe.compile.building import Building, Formula
from occurs.languages.phenesthe.syntax import Relation
from occurs.model.types import Type, arrow_type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.interval.atoms import code_of
from occurs.operators.interval.bindings import joint
from occurs.operators.interval.conditions import Exists, FactRows, Known, Member, Where
from occurs.operators.interval.values import Values


def has_facts(condition: Relation) -> bool:
    return any(isinstance(n, syntax.Atom) for n in condition.walk())


def parts(condition: Relation) -> Iterator[Relation]:
    """The operands of a chain of ``∧``, left to right."""
    if isinstance(condition, syntax.And):
        yield from parts(condition.left)
        yield from parts(condition.right)
    else:
        yield condition


def expression(condition: Relation, other: Callable[[Relation], Expr] | None = None) -> Expr:
    """A condition as an expression; ``other``: what becomes of facts and projections in it (None: there are none)."""
    match condition:
        case syntax.Comparison():
            return condition.condition
        case syntax.Not():
            return Unary("not", expression(condition.operand, other))
        case syntax.And() | syntax.Or():
            op = "and" if isinstance(condition, syntax.And) else "or"
            return Binary(op, expression(condition.left, other), expression(condition.right, other))
    if other is None:
        raise TypeError(f"not a condition without facts: {type(condition).__name__}")
    return other(condition)


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
        negative, compared, rest = list[Relation](), list[Expr](), list[Relation]()
        for part in parts(condition):
            if (atom := _fact(part)) is not None:
                formula = self._known(formula, atom, variables(part))
            elif isinstance(part, syntax.Not) and _fact(part.operand) is not None:
                negative.append(part)
            elif has_facts(part):
                rest.append(part)
            else:
                compared.append(expression(part))
        for part in negative:
            formula = self._judged(formula, part)
        if compared:
            formula = self.where(formula, _all(compared))
        for part in rest:
            formula = self._judged(formula, part)
        return formula

    def where(self, formula: Formula, condition: Expr) -> Formula:
        """With a condition on variables of the formula."""
        types = tuple(self.net.types[v] for v in formula.variables)
        node = Where(formula.sort, formula.variables, types, condition, self.name)
        return self.net.made(node, formula.sort, formula)

    def _known(self, formula: Formula, atom: syntax.Atom, kept: frozenset[str]) -> Formula:
        if not kept:
            return formula if self.facts.any(atom) else self._never(formula)
        fact = self._fact_rows(atom, kept)
        union = tuple(sorted({*formula.variables, *fact.variables}))
        return self.net.made(Known(formula.sort, formula.variables, union, fact), formula.sort, formula)

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
        return self.where(formula, expression(condition, self._member))

    def _member(self, condition: Relation) -> Expr:
        """A fact, or a projection, as an expression."""
        if (atom := _fact(condition)) is not None:
            kept = variables(condition)
            return Member(self._fact_rows(atom, kept)) if kept else Literal(self.facts.any(atom), Type.BOOL)
        assert isinstance(condition, Project)
        test = expression(condition.operand, self._member)
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


# --- facts ------------------------------------------------------------------------------------------------------------


class FactTables:
    """The facts of a program: rows that are written in it, and tables from outside by name.

    A column of a table is found by its name, else ignoring case if only one fits; where there is none it is null.
    """

    def __init__(self, phenomena: Mapping[str, Phenomenon], outside: Mapping[str, pa.Table]) -> None:
        self.phenomena = phenomena
        self.outside = outside
        self._values = Values()
        self._tables: dict[str, tuple[dict[str, Column], int]] = {}

    def any(self, atom: syntax.Atom) -> bool:
        """Whether a row fits an atom."""
        return len(self._fitting(atom)[1]) > 0

    def rows(self, atom: syntax.Atom, kept: Collection[str]) -> FactRows:
        """The bindings of the atom's variables that are ``kept``, of which there is at least one, each once."""
        read, at = self._fitting(atom)
        variables = tuple(sorted(v for v in read if v in kept))
        columns, _ = self._table(atom.name.text)
        return self._distinct(variables, [columns[read[v]].take(at) for v in variables])

    def united(self, rows: Sequence[FactRows], type: Type) -> FactRows:
        """The rows of facts of one and the same variable, of ``type``."""
        parts = [r.table.column(0) for r in rows]
        columns = [Column.of(p, from_arrow(p.type) or Type.NULL).cast(type) for p in parts]
        return self._distinct(rows[0].variables, [Column.concat(columns)])

    def _distinct(self, variables: tuple[str, ...], columns: Sequence[Column]) -> FactRows:
        (key,) = joint([(tuple(self._values.encode(c) for c in columns), len(columns[0]))])
        first = np.sort(np.unique(key, return_index=True)[1])
        return FactRows(variables, pa.table({v: c.take(first).arrow for v, c in zip(variables, columns)}))

    def _fitting(self, atom: syntax.Atom) -> tuple[dict[str, str], np.ndarray]:
        """The attribute that each variable of an atom is read from, and the numbers of the rows that fit."""
        columns, n = self._table(atom.name.text)
        fits = np.ones(n, np.bool_)
        read: dict[str, str] = {}
        for attribute, value in self.phenomena[atom.name.text].arguments(atom):
            if isinstance(value, syntax.Anything):
                continue
            codes = self._values.encode(columns[attribute])
            if isinstance(value, syntax.Constant):
                fits &= codes == code_of(self._values, Literal(value.value, value.type))
            else:
                fits &= (codes >= 0) & (codes == self._values.encode(columns[read.setdefault(value.name, attribute)]))
        return read, np.flatnonzero(fits)

    def _table(self, name: str) -> tuple[dict[str, Column], int]:
        """All rows of a fact, by attribute, and their number."""
        if name not in self._tables:
            known = self.phenomena[name]
            given = self.outside.get(name)
            outside = 0 if given is None else given.num_rows
            columns = {}
            for place, (attribute, type) in enumerate(known.attributes):
                written = [_plain(row.values[place].value, type) for row in known.rows]
                array = pa.array(written, pa.int64() if type is Type.TIMESTAMP else arrow_type(type))
                parts = [Column.of(array, type)]
                if given is not None:
                    parts.append(_column(given, attribute, type))
                columns[attribute] = Column.concat(parts)
            self._tables[name] = columns, len(known.rows) + outside
        return self._tables[name]


def _column(table: pa.Table, attribute: str, type: Type) -> Column:
    """A column of a table of facts as the type that the fact has everywhere."""
    alike = [n for n in table.column_names if n.lower() == attribute.lower()]
    name = attribute if attribute in alike else alike[0] if len(alike) == 1 else None
    if name is None:
        return Column.nulls(type, table.num_rows)
    array = table.column(name)
    return Column.of(array, from_arrow(array.type) or Type.NULL).cast(type)


def _plain(value: Any, type: Type) -> Any:
    return float(value) if type is Type.FLOAT else value
