"""The instances of triggers and the history of each (temporal-logic.md 4.1).

Readings where the specification is silent:

* ``for each c`` without query splits the state types that the trigger reads and that have the column ``c`` (all that
  have it if it reads none of them); an instance begins with the first row that has its value.
* ``observing all`` gives the states at which the instance reads something, too: of derived events.
* A state of ``observing every`` shows the tables and variables of its time, whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from occurs.errors import DefinitionProblem
from occurs.expr import tree
from occurs.expr.reference import OPERATORS, strict, ticks
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.states import Catalogue, Change, State, as_declared, in_order, replay
from occurs.languages.logic.sql import restrictions, sources
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind


@dataclass
class Instance:
    """An instance of a trigger from its activation on: ``generics`` are the values of its generic variables, ``left``
    the time at which it was dropped."""

    trigger: syntax.Trigger
    generics: Mapping[str, Any]
    states: list[State] = field(default_factory=list)
    left: int | None = None


class Histories:
    """The history of a program's input, as its triggers see it.

    ``rows``: of the input; ``made``: events that definitions of other languages derive, in their order.  ``start`` and
    ``until``: the ends of the clock, by default the times of the first and the last row.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        rows: Sequence[Occurrence],
        made: Sequence[Occurrence],
        kind: TimeKind,
        start: int | None,
        until: int | None,
    ) -> None:
        self.catalogue, self.kind, self.made = catalogue, kind, list(made)
        inside = [r for r in rows if (start is None or r.time >= start) and (until is None or r.time <= until)]
        self.rows = in_order(as_declared(r, catalogue) for r in inside)
        self.times = sorted({r.time for r in self.rows})
        self.frontier = until if until is not None else max(self.times, default=0)

    def instances(self, trigger: syntax.Trigger, derived: Sequence[Occurrence]) -> Iterator[Instance]:
        """All instances of a trigger; ``derived``: the events that triggers before it give, in the total order."""
        if trigger.each is None:
            yield self.whole(trigger, derived)
        elif trigger.each.sql is None:
            yield from self.by_columns(trigger, [v.text for v in trigger.each.variables], derived)
        else:
            yield from self.by_query(trigger, trigger.each.sql.text, derived)

    def whole(self, trigger: syntax.Trigger, derived: Sequence[Occurrence]) -> Instance:
        """A trigger that is not generic."""
        reads = Mentions(self.catalogue, {}).reads(trigger.formula)
        states = replay(self.catalogue, self.rows, [*self.made, *derived], reads=reads.__contains__)
        own = [s for s in states if self.seen(trigger, s, reads)]
        return Instance(trigger, {}, self.ticked(trigger, own, states, None))

    def seen(self, trigger: syntax.Trigger, state: State, reads: Reads) -> bool:
        """Is a state one of the trigger's history?"""
        observing = trigger.observing
        everything = observing is not None and observing.every is None
        return touched(state, reads) or (everything and state.of_input)

    def ticked(
        self, trigger: syntax.Trigger, own: Sequence[State], states: Sequence[State], left: int | None
    ) -> list[State]:
        """The own states and those of ``observing every``; ``states``: all."""
        if trigger.observing is None or trigger.observing.every is None or not own:
            return list(own)
        every = ticks(trigger.observing.every, self.kind)
        if every.denominator > 1 or every <= 0:
            raise DefinitionProblem.of("bad-duration", "`observing every` needs a whole number of ticks")
        step = int(every)
        times = {s.time for s in own}
        found = list(own)
        for time in range((own[0].time // step + 1) * step, self.frontier + 1, step):
            if time not in times and (left is None or time < left):
                found.append([s for s in states if s.time <= time][-1].later(time))
        return sorted(found, key=lambda s: s.time)

    # --- generic triggers ---------------------------------------------------------------------------------------------

    def by_columns(
        self, trigger: syntax.Trigger, names: Sequence[str], derived: Sequence[Occurrence]
    ) -> Iterator[Instance]:
        """``for each c``: one instance per value of the columns."""
        reads = Mentions(self.catalogue, dict.fromkeys(names)).reads(trigger.formula)
        split = {t for t, columns in self.catalogue.states.items() if set(names) <= set(columns)}
        split = {t for t in split if t in reads} or split
        keys = [(r, tuple(r.attributes[n] for n in names)) for r in self.rows if r.type in split]
        for key in dict.fromkeys(k for _, k in keys if None not in k):
            generics = dict(zip(names, key, strict=True))
            mine = {id(r) for r, k in keys if k == key}
            rows = [r for r in self.rows if r.type not in split or id(r) in mine]
            of_key = Mentions(self.catalogue, generics).reads(trigger.formula)
            # a variable that is split by is constant; its rows are read all the same
            of_key |= {t: [{}] for t in split if t in reads or not set(reads) & set(self.catalogue.states)}
            states = replay(self.catalogue, rows, [*self.made, *derived], reads=of_key.__contains__, times=self.times)
            first = min(r.time for r in rows if id(r) in mine)
            own = [s for s in states if s.time >= first and self.seen(trigger, s, of_key)]
            yield Instance(trigger, generics, self.ticked(trigger, own, states, None))

    def by_query(self, trigger: syntax.Trigger, sql: str, derived: Sequence[Occurrence]) -> Iterator[Instance]:
        """``for each y in (select ..)``: an instance from the state at which its values enter until they leave."""
        assert trigger.each is not None
        names = [v.text for v in trigger.each.variables]
        every = Mentions(self.catalogue, dict.fromkeys(names)).reads(trigger.formula)
        states = replay(self.catalogue, self.rows, [*self.made, *derived], reads=every.__contains__)
        active: dict[tuple[Any, ...], tuple[Instance, Reads]] = {}
        found: list[Instance] = []
        for state in states:
            entered: set[tuple[Any, ...]] = set()
            if state.of_input:
                now = state.sql.select(sql, {**self.catalogue.constants, "time": state.time})
                keys = [k for k in dict.fromkeys(now.rows) if None not in k]
                for key in [k for k in active if k not in keys]:
                    active.pop(key)[0].left = state.time
                for key in [k for k in keys if k not in active]:
                    generics = dict(zip(names, key, strict=True))
                    instance = Instance(trigger, generics)
                    active[key] = instance, Mentions(self.catalogue, generics).reads(trigger.formula)
                    found.append(instance)
                    entered.add(key)
            for key, (instance, reads) in active.items():
                if key in entered or self.seen(trigger, state, reads):
                    instance.states.append(state)
        for instance in found:
            instance.states = self.ticked(trigger, instance.states, states, instance.left)
        yield from found


# --- what an instance reads -------------------------------------------------------------------------------------------


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
