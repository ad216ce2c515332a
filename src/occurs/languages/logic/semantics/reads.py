"""What an instance of a trigger reads (temporal-logic.md 4.1, *Reads*)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from occurs.expr import tree
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.states import Catalogue, Change, State
from occurs.languages.logic.semantics.text import restrictions, sources
from occurs.languages.logic.semantics.values import OPERATORS, strict

#: per type what is read of it: the rows that have all these values in these columns, for one of the mappings
Reads: TypeAlias = dict[str, list[dict[str, Any]]]

#: stands for a value that changes
_ANY = object()


class Mentions:
    """The types that a formula mentions, and the rows of them.  ``generics``: values of the generic variables."""

    def __init__(self, catalogue: Catalogue, generics: Mapping[str, Any]) -> None:
        self.catalogue = catalogue
        self.fixed = {**catalogue.constants, **generics}
        self.columns = {n: [c.name.text for c in t.columns] for n, t in catalogue.tables.items()}

    def reads(self, formula: syntax.Formula) -> Reads:
        """All of them."""
        found: Reads = {}
        for type_, values in self.of(formula, frozenset()):
            found.setdefault(type_, []).append(values)
        return found

    def of(self, node: tree.Expr, bound: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """(type, values by column) of every mention; ``bound``: global variables."""
        match node:
            case syntax.Assign():
                yield from self.of(node.term, bound)
                yield from self.of(node.operand, bound | {node.variable.text})
                return
            case syntax.Exists():
                values = {n: v for n, v in self.fixed.items() if n not in bound}
                yield from self.of_sql(node.sql.text, values, bound)
            case tree.Ref(scope=None):
                if node.name not in bound and node.name not in self.fixed and node.name != "time":
                    yield from self.of_name(node.name)
            case tree.Ref() if f"{node.scope}.{node.name}" in self.catalogue.variables:
                yield from self.of_name(f"{node.scope}.{node.name}")
            case tree.Ref():
                yield str(node.scope), {}
            case syntax.Apply():
                yield from self.of_application(node, bound)
        for child in node.children:
            yield from self.of(child, bound)

    def of_name(self, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """A database variable, a table, a view or an event alone."""
        if name in self.catalogue.variables:
            yield self.catalogue.variables[name], {}
        elif name in self.catalogue.views:
            yield from self.of_sql(self.catalogue.views[name].sql.text, {}, frozenset())
        elif name in self.catalogue.tables or name in self.catalogue.events:
            yield name, {}

    def of_application(self, node: syntax.Apply, bound: frozenset[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """``T(k1, ..)``, ``E(attr = ..)``, a view with parameters."""
        catalogue = self.catalogue
        values = [self.constant(a, bound) for a in node.args]
        if node.name in catalogue.views:
            names = [p.text for p in catalogue.views[node.name].parameters]
        elif node.name in catalogue.tables:
            names = [c.name.text for c in catalogue.tables[node.name].keys]
        elif node.name in catalogue.events:
            names = list(catalogue.events[node.name])
        else:
            return
        named = [n if n is not None else names[at] for at, n in enumerate(node.names)]
        known = {n: v for n, v in zip(named, values, strict=True) if v is not _ANY}
        if node.name in catalogue.views:
            yield from self.of_sql(catalogue.views[node.name].sql.text, known, frozenset())
        else:
            yield node.name, known

    def constant(self, term: tree.Expr, bound: frozenset[str]) -> Any:
        """The value of a literal, a constant, a generic variable or a name that means nothing else."""
        if isinstance(term, tree.Literal):
            return term.value
        if isinstance(term, tree.Unary) and isinstance(term.arg, tree.Literal):
            return strict(lambda a: -a, term.arg.value)
        if not isinstance(term, tree.Ref) or term.scope is not None or term.name in bound:
            return _ANY
        if term.name in self.fixed:
            return self.fixed[term.name]
        catalogue = self.catalogue
        names = (catalogue.variables, catalogue.views, catalogue.tables, catalogue.events)
        return _ANY if term.name == "time" or any(term.name in n for n in names) else term.name

    def of_sql(
        self, sql: str, values: Mapping[str, Any], relations: Iterable[str]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        """The tables of a SELECT, those of the views in it wholly.  ``values``: of the parameters that are known."""
        hidden = {r.lower() for r in relations}
        tables = {n.lower(): n for n in self.catalogue.tables if n.lower() not in hidden}
        views = {n.lower(): v for n, v in self.catalogue.views.items() if n.lower() not in hidden}
        restricted = restrictions(sql, self.columns)
        for name in dict.fromkeys(s.name.lower() for s in sources(sql)):
            if name in tables:
                by = restricted.get(tables[name], {})
                yield tables[name], {c: values[p] for c, p in by.items() if p in values}
            elif name in views:
                yield from self.of_sql(views[name].sql.text, {}, ())


def is_read(change: Change, reads: Reads) -> bool:
    """Is a row that was written one of those that are read?"""
    wanted = reads.get(change.type, [])
    if change.rows is None:
        return bool(wanted)
    equal = OPERATORS["="]
    return any(
        all(n in row and strict(equal, row[n], v) is True for n, v in values.items())
        for values in wanted
        for row in change.rows
    )


def touched(state: State, reads: Reads) -> bool:
    """Was a row that is read written at the time of the state?"""
    return any(is_read(c, reads) for c in state.changes)
