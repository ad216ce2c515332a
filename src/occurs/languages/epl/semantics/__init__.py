"""The reference semantics of EPL: what statements derive from a finite history (epl-and-nets.md section 4A).

A direct transcription, event by event, that is meant to be checked by reading; it keeps everything and shares nothing
with the engine.  The patterns are in :mod:`instances` (and their core once more, as a function, in
:mod:`core`), one statement in :mod:`machine`; here are the clock, the chains and ``select``.

Readings where the specification is silent: a statement without ``insert into`` and ``@Name`` has the number of its
query in the program, from 1, in its name; ``select *`` of ``from Type(..)`` are the attributes of the type; the structs
of ``*`` and ``tag.*`` have the attributes of the filter's type, also of an event of a type that inherits it; an item
without a name has that of the last attribute in it; a tag alone (``select a``) is its struct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from occurs.expr import tree
from occurs.languages.epl import syntax
from occurs.languages.epl.semantics.instances import Binding
from occurs.languages.epl.semantics.machine import Machine, Timeout, World
from occurs.languages.kit.reference_rows import as_declared, place
from occurs.model.elements import last_name
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type


def evaluate(
    statements: Sequence[syntax.Statement],
    schemas: Mapping[str, Schema],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    zone: str = "UTC",
    start: int | None = None,
    until: int | None = None,
) -> list[Occurrence]:
    """All derived events in the total order.

    ``statements`` have passed the checks; ``schemas`` by type (attributes inherited included); ``start`` and ``until``
    are the ends of the clock in ticks, by default the times of the first and the last event.  Structs are dicts.  The
    label of a derived event is (number of the query, due time or None, ((tag, index or None, label), ..)), its
    constituents are the events of that in the same order.  Raises InputProblem (``overflow``, ``bad-value``).
    """
    run = Run(statements, schemas, history, kind, zone, start, until)
    run.all_instants()
    return run.derived


def timeouts(
    statements: Sequence[syntax.Statement],
    schemas: Mapping[str, Schema],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    zone: str = "UTC",
    start: int | None = None,
    until: int | None = None,
) -> list[Timeout]:
    """What guards have ended, by time, then statement."""
    run = Run(statements, schemas, history, kind, zone, start, until)
    run.all_instants()
    found = [replace(t, number=q.number) for q in run.queries if q.machine is not None for t in q.machine.timeouts]
    return sorted(found, key=lambda t: t.time)


def output_name(query: syntax.Query, number: int) -> str:
    """The type that query ``number`` (from 1) derives."""
    if query.into is not None:
        return query.into.text
    names = [a.value for a in query.annotations if a.name.text.lower() == "name"]
    return str(names[-1]) if names else f"stmt_{number}"


def parents(statements: Sequence[syntax.Statement]) -> dict[str, frozenset[str]]:
    """Per type of which others inherit: itself and all of those."""
    direct = {s.name.text: {n.text for n in s.inherits} for s in statements if isinstance(s, syntax.CreateSchema)}

    def above(name: str, seen: frozenset[str]) -> set[str]:
        return {name}.union(*(above(n, seen | {n}) for n in direct.get(name, set()) - seen))

    kinds: dict[str, set[str]] = {}
    for name in direct:
        for over in above(name, frozenset((name,))):
            kinds.setdefault(over, {over}).add(name)
    return {name: frozenset(some) for name, some in kinds.items()}


def evaluation_order(reads: Sequence[set[str]], gives: Sequence[str]) -> list[int]:
    """A query comes after all that derive what it reads; else by place."""
    order: list[int] = []
    while len(order) < len(gives):
        left = [i for i in range(len(gives)) if i not in order]
        order.append(next(i for i in left if not any(gives[j] in reads[i] for j in left if j != i)))
    return order


@dataclass
class _Query:
    """A query, its place in the evaluation order and its running pattern."""

    number: int
    query: syntax.Query
    type: str
    reads: set[str]
    machine: Machine | None = None
    out: list[Occurrence] = field(default_factory=list)


class Run:
    """One evaluation of a history."""

    def __init__(
        self,
        statements: Sequence[syntax.Statement],
        schemas: Mapping[str, Schema],
        history: Sequence[Occurrence],
        kind: TimeKind,
        zone: str,
        start: int | None,
        until: int | None,
    ) -> None:
        self.schemas = schemas
        #: the number of every event in the total order, by its identity
        self.positions: dict[int, int] = {}
        self.world = World(kind, zone, schemas, parents(statements), lambda e: self.positions[id(e)])
        inside = [e for e in history if (start is None or e.time >= start) and (until is None or e.time <= until)]
        rows = [replace(e, label=("row", n), attributes=as_declared(e, schemas)) for n, e in enumerate(inside)]
        self.rows = sorted(rows, key=lambda e: (e.time, *place(e), e.label))
        self.start = min((e.time for e in inside), default=None) if start is None else start
        self.until = max((e.time for e in inside), default=None) if until is None else until
        queries = [s for s in statements if isinstance(s, syntax.Query)]
        found = [
            _Query(n, q, output_name(q, n), {t for f in _types(q.pattern) for t in self.world.kinds.get(f, {f})})
            for n, q in enumerate(queries, 1)
        ]
        order = evaluation_order([q.reads for q in found], [q.type for q in found])
        self.queries = [found[i] for i in order]
        self.derived: list[Occurrence] = []
        #: of lists and maps: no attributes of their own
        self.elements = syntax.elements_of(tuple(statements))

    @property
    def machines(self) -> list[Machine]:
        return [q.machine for q in self.queries if q.machine is not None]

    def all_instants(self) -> None:
        """The clock from its start to its end: every timer at its own due time, before the rows of that time."""
        if self.start is None or self.until is None:
            return
        for q in self.queries:
            q.machine = Machine(q.type, q.query, self.world, self.start)
        left = list(self.rows)
        while True:
            due = [d for m in self.machines if (d := m.due()) is not None]
            now = min([*due, *(e.time for e in left[:1])], default=None)
            if now is None or now > self.until:
                return
            if now in due:
                self.timers(now)
            while left and left[0].time == now:
                self.row(left.pop(0))

    def timers(self, now: int) -> None:
        """Phase 0: all timers due now, query by query in evaluation order, and what is derived from their matches."""
        new: list[Occurrence] = []
        for q in self.queries:
            assert q.machine is not None
            own = [self.emit(q, b, now, due=True) for b in q.machine.instant(now)] if q.machine.due() == now else []
            for e in [e for e in new if e.type in q.reads]:
                own += [self.emit(q, b, now, due=False) for b in q.machine.event(e)]
            new += own

    def row(self, row: Occurrence) -> None:
        """A row, and directly behind it what is derived from it."""
        self.positions[id(row)] = len(self.positions)
        new = [row]
        for q in self.queries:
            assert q.machine is not None
            for e in [e for e in new if e.type in q.reads]:
                new += [self.emit(q, b, row.time, due=False) for b in q.machine.event(e)]

    def emit(self, q: _Query, binding: Binding, now: int, due: bool) -> Occurrence:
        """The event that a match derives."""
        assert q.machine is not None
        bound: list[tuple[str, int | None, Occurrence]] = []
        for tag in q.machine.tags:
            found = binding.get(tag)
            if isinstance(found, tuple):
                bound += [(tag, i, e) for i, e in enumerate(found)]
            elif found is not None:
                bound.append((tag, None, found))
        label = (q.number, now if due else None, tuple((tag, i, e.label) for tag, i, e in bound))
        schema = self.schemas.get(q.type)
        attributes = {
            n: _widened(v, None if schema is None else schema.get(n)) for n, v in self.selected(q, binding).items()
        }
        event = Occurrence(q.type, now, attributes, label=label, constituents=tuple(e for _, _, e in bound))
        self.positions[id(event)] = len(self.positions)
        self.derived.append(event)
        return event

    # --- select -------------------------------------------------------------------------------------------------

    def selected(self, q: _Query, binding: Binding) -> dict[str, Any]:
        """The columns of a derived event."""
        machine = q.machine
        assert machine is not None
        out: dict[str, Any] = {}
        for item in q.query.items:
            if item.all_of is not None:
                tag = item.all_of.text
                out |= dict.fromkeys(self.names(machine, tag, None))
                out |= self.struct(machine, tag, binding.get(tag)) or {}
            elif (one := self.event_named(machine, item.expr)) is not None:
                bound: Any = binding.get(one)
                at = None if not isinstance(item.expr, tree.Ref) else item.expr.index
                if at is not None:
                    bound = bound[at] if bound is not None and at < len(bound) else None
                out[item.name.text if item.name is not None else one] = self.struct(machine, one, bound)
            elif item.expr is not None:
                name = item.name.text if item.name is not None else _last_attribute(item.expr)
                out[name] = machine.value(item.expr, binding, f"the value of {name}")
            elif q.query.simple:
                out |= self.struct(machine, machine.tags[0], binding[machine.tags[0]])
            else:
                for tag in (t for t in machine.tags if not t.startswith("#")):
                    out[tag] = self.struct(machine, tag, binding.get(tag))
        return out

    def event_named(self, machine: Machine, expr: tree.Expr | None) -> str | None:
        """The tag that an item names alone (``select a``), if it is no attribute of ``from Type(..)``."""
        if not isinstance(expr, tree.Ref) or expr.scope is not None or expr.name not in machine.tags:
            return None
        own = machine.query.simple and expr.name in self.names(machine, expr.name, None)
        return None if own else expr.name

    def names(self, machine: Machine, tag: str, event: Occurrence | None) -> list[str]:
        schema = self.schemas.get(machine.types[tag])
        if schema is not None:
            return [n for n, _ in schema.attributes if n not in self.elements]
        return [] if event is None else list(event.attributes)

    def struct(self, machine: Machine, tag: str, bound: Any) -> Any:
        """A dict per event, a list of them for a repeated tag, null for none."""
        if bound is None:
            return None
        if isinstance(bound, tuple):
            return [self.struct(machine, tag, e) for e in bound]
        return {n: bound.attributes.get(n) for n in self.names(machine, tag, bound)}


def _types(pattern: syntax.Pattern) -> set[str]:
    """The types that a pattern names."""
    own = {pattern.type.text} if isinstance(pattern, syntax.Filter) else set()
    return own.union(*(_types(c) for c in pattern.children))


def _last_attribute(expr: tree.Expr) -> str:
    return last_name([n.name for n in expr.walk() if isinstance(n, tree.Ref)][-1])


def _widened(value: Any, type_: Type | None) -> Any:
    """An int where another statement for the type gives floats is a float; a duration is whole ticks."""
    if isinstance(value, float) and type_ is Type.DURATION:
        return round(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and type_ is Type.FLOAT else value


__all__ = ["Occurrence", "Run", "Timeout", "evaluate", "timeouts"]
