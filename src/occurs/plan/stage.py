"""A stage: definitions that run together in one engine, and all that the engine needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from occurs.expr.tree import Expr, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.aggregate import Windowed
from occurs.operators.contract import Moves, Operator, Order, Out
from occurs.operators.pattern import Absent, Pattern, Select
from occurs.operators.sequential import Sequential
from occurs.operators.templates import Template
from occurs.operators.timer import TimerSource
from occurs.operators.windows import KeyPart
from occurs.plan.definition import Definition, NetDefinition, PatternDefinition
from occurs.plan.graph import Order as Graph
from occurs.plan.graph import order
from occurs.plan.keys import common_key
from occurs.plan.triggers import TriggerDefinition

#: what is evaluated at once
Unit = NetDefinition | Operator


@dataclass(frozen=True)
class Subscribed:
    """External or derived events of ``type`` that pass ``filter`` are reported."""

    type: str
    filter: Expr | None


@dataclass(frozen=True)
class Stage:
    """``retention``: per type the ticks of the past that are kept."""

    definitions: tuple[Definition, ...]
    order: Graph
    schemas: Mapping[str, Schema]
    inputs: frozenset[str]
    timers: tuple[TimerSource, ...]
    retention: Mapping[str, int]
    kind: TimeKind
    subscribed: tuple[Subscribed, ...] = ()
    key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def defined(self) -> tuple[str, ...]:
        """Defined types in evaluation order."""
        names: dict[str, None] = {}
        for d in sorted(self.definitions, key=lambda d: d.place):
            names.setdefault(d.output, None)
            names.update((side.type, None) for side in d.sides)
        return tuple(names)

    @cached_property
    def reported(self) -> tuple[str, ...]:
        """Types that are reported, in evaluation order: all that are defined, or those subscribed to."""
        if not self.subscribed:
            return self.defined
        wanted = {s.type for s in self.subscribed}
        return (*(t for t in self.defined if t in wanted), *sorted(wanted - set(self.defined)))

    @cached_property
    def sides(self) -> Mapping[str, str]:
        """Reported types that are side outputs, to the names that users know them by."""
        return {side.type: side.name for d in self.definitions for side in d.sides if not side.notices}

    @cached_property
    def notices(self) -> Mapping[str, str]:
        """Side outputs with the notices of triggers that can fire no more, to the names of these."""
        return {side.type: side.name for d in self.definitions for side in d.sides if side.notices}

    @cached_property
    def found(self) -> tuple[str, ...]:
        """Reported types that are no side outputs."""
        return tuple(t for t in self.reported if t not in self.sides and t not in self.notices)

    @cached_property
    def derived(self) -> Mapping[str, None]:
        """Reported types that rules define, in evaluation order."""
        defined = set(self.defined)
        return {t: None for t in self.reported if t in defined}

    @cached_property
    def filters(self) -> Mapping[str, tuple[Expr | None, ...]]:
        """Per type the filters of its subscriptions."""
        return {t: tuple(s.filter for s in found) for t, found in self.subscriptions.items()}

    @cached_property
    def subscriptions(self) -> Mapping[str, tuple[Subscribed, ...]]:
        """Per type what is asked for of it."""
        out: dict[str, list[Subscribed]] = {}
        for s in self.subscribed:
            out.setdefault(s.type, []).append(s)
        return {t: tuple(found) for t, found in out.items()}

    @cached_property
    def reads(self) -> frozenset[str]:
        """Types that definitions read."""
        return frozenset(t for d in self.definitions for t in d.reads)

    @cached_property
    def _laid(self) -> tuple[tuple[tuple[Unit, ...], ...], tuple[frozenset[str], ...]]:
        return _units(self.definitions, self.order, self.schemas, self.kind)

    @property
    def levels(self) -> tuple[tuple[Unit, ...], ...]:
        """What is evaluated together, level after level."""
        return self._laid[0]

    @property
    def completes(self) -> tuple[frozenset[str], ...]:
        """Per level the types that are complete after it."""
        return self._laid[1]

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """What is evaluated, in order."""
        return tuple(u for level in self.levels for u in level)

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        return tuple(u for u in self.units if isinstance(u, Operator))

    @cached_property
    def outs(self) -> tuple[Out, ...]:
        """The outputs of all operators."""
        return tuple(out for o in self.operators for out in o.outs)

    @cached_property
    def domains(self) -> Mapping[tuple[str, str], str]:
        """For every attribute that is equated with others the name of their common domain of values."""
        return domains(
            [d.pattern for d in self.definitions if isinstance(d, PatternDefinition)],
            [p for o in self.sequential if o.by for p in o.patterns],
        )

    @cached_property
    def triggers(self) -> tuple[TriggerDefinition, ...]:
        """The temporal triggers."""
        return tuple(d for d in self.definitions if isinstance(d, TriggerDefinition))

    @cached_property
    def placed(self) -> frozenset[str]:
        """Types whose rows need a place within their instant over all types."""
        read = {p.type for o in self.operators for p in o.ports if p.order is Order.PLACE or p.makers}
        made = {out.type for o in self.operators if any(p.order is Order.PLACE for p in o.ports) for out in o.outs}
        return frozenset(read | made)

    @cached_property
    def sequenced(self) -> frozenset[str]:
        """Types whose rows keep their sequence numbers."""
        return frozenset(p.type for o in self.operators for p in o.ports if p.sequence)

    @cached_property
    def unordered(self) -> frozenset[str]:
        """Types of the input whose rows of one time and sequence may arrive in any order: no reader depends on it."""
        ordered = {p.type for o in self.operators for p in o.ports if p.order is not Order.ANY}
        running = {name for o in self.operators for name in o.members}
        others = {t for d in self.definitions if d.identity not in running for t in d.reads}
        return self.inputs - ordered - others - self.placed - {*self.defined, *self.subscriptions}

    @cached_property
    def tables(self) -> frozenset[str]:
        """Types with rows that have no key and concern every part of what is split by a key (`truncate` of a table)."""
        return frozenset(p.type for o in self.operators for p in o.ports if p.everywhere)

    @cached_property
    def numbered(self) -> frozenset[str]:
        """Types whose rows bring sequence numbers."""
        return self.placed | self.sequenced

    @cached_property
    def timed(self) -> bool:
        """Are there timers, so that something may happen where there are no rows at all?"""
        return bool(self.timers) or self._moved(Moves.CLOCK)

    def _moved(self, by: Moves) -> bool:
        return any(by in o.moves for o in self.operators)

    @property
    def moved_by_clock(self) -> bool:
        """Can something happen when time goes on and no row comes?"""
        return self.timed or bool(self.nets)

    @property
    def decided_by_end(self) -> bool:
        """Are there rows that only the end of the history decides?"""
        return bool(self.nets) or self._moved(Moves.END)

    @cached_property
    def nets(self) -> Mapping[str, NetDefinition]:
        """The types that nets define."""
        return {d.output: d for d in self.definitions if isinstance(d, NetDefinition)}

    @cached_property
    def row_types(self) -> frozenset[str]:
        """Types that definitions read as rows: what a net defines another one reads as it is derived."""
        return frozenset(
            t for d in self.definitions for t in d.reads if t not in self.nets or not isinstance(d, NetDefinition)
        )

    @cached_property
    def makers(self) -> Mapping[str, tuple[int, ...]]:
        """Per defined type the numbers of the outputs that define it, in evaluation order."""
        found: dict[str, list[tuple[int, int]]] = {}
        for number, out in enumerate(self.outs):
            found.setdefault(out.type, []).append((out.place, number))
        return {t: tuple(number for _, number in sorted(places)) for t, places in found.items()}

    @cached_property
    def sole(self) -> Mapping[str, int]:
        """The numbers of the outputs whose type no other output defines and no subscription filters."""
        return {t: numbers[0] for t, numbers in self.makers.items() if len(numbers) == 1 and t not in self.filters}

    @cached_property
    def sequential(self) -> tuple[Sequential, ...]:
        """The rules that are evaluated instant by instant."""
        return tuple(o for o in self.operators if isinstance(o, Sequential))


def make_stage(
    definitions: Sequence[Definition],
    schemas: Mapping[str, Schema],
    kind: TimeKind,
    subscribed: Sequence[Subscribed] = (),
    key: Mapping[str, tuple[str, ...]] | None = None,
) -> Stage:
    """A stage of ``definitions``, which carry their places."""
    graph = order([d.node for d in definitions])
    retention: dict[str, int] = {}
    inputs: set[str] = set()
    timers: dict[str, TimerSource] = {}
    for d in definitions:
        for t, back in d.reads.items():
            retention[t] = max(retention.get(t, 0), back)
        if d.timer is not None:
            timers[d.timer.name] = d.timer
        inputs |= set(d.reads)
    inputs |= {s.type for s in subscribed}
    return Stage(
        tuple(definitions),
        graph,
        schemas,
        frozenset(inputs - set(timers)),
        tuple(timers.values()),
        retention,
        kind,
        tuple(subscribed),
        dict(key or {}),
    )


def with_births(stage: Stage, births: Mapping[str, int]) -> Stage:
    """The stage with definitions (by identity) that see rows after a tick only."""
    if not births:
        return stage
    definitions = []
    for d in stage.definitions:
        born = births.get(d.identity)
        definitions.append(d if born is None else d.after(born))
    return make_stage(definitions, stage.schemas, stage.kind, stage.subscribed, stage.key)


def _units(
    definitions: Sequence[Definition], graph: Graph, schemas: Mapping[str, Schema], kind: TimeKind
) -> tuple[tuple[tuple[Unit, ...], ...], tuple[frozenset[str], ...]]:
    """What is evaluated together, level by level, and the types that each level completes."""

    def place(i: int) -> int:
        return definitions[i].place

    makers: dict[str, list[int]] = {}
    for i, d in enumerate(definitions):
        if isinstance(d, PatternDefinition):
            makers.setdefault(d.output, []).append(i)
    absorbed: dict[int, int] = {}
    units = [unit for level in graph.levels for unit in level]
    for number, unit in enumerate(units):
        own = set(unit)
        least = min(place(i) for i in unit)
        # a rule that defines a fed-back type but comes later in the order runs inside, so that rows of one instant lie
        # in the order of their rules
        for t in {t for i in unit for t in graph.strict[i]}:
            absorbed |= {i: number for i in makers.get(t, ()) if i not in own and place(i) > least}
    guests: dict[int, list[int]] = {}
    for i, host in absorbed.items():
        guests.setdefault(host, []).append(i)
    levels = []
    last: dict[str, int] = {}
    number = -1
    for at, level in enumerate(graph.levels):
        out: list[Unit] = []
        alike: dict[type[Operator], list[Operator]] = {}
        for unit in level:
            number += 1
            if len(unit) == 1 and unit[0] in absorbed:
                continue
            members = sorted((*unit, *guests.get(number, ())), key=place)
            out += [d for i in members if isinstance(d := definitions[i], NetDefinition)]
            made = [o for i in members if (o := definitions[i].operator(schemas, kind)) is not None]
            rules = [o for o in made if isinstance(o, Template)]
            types = frozenset(t for i in unit for t in graph.strict[i])
            if types or any(o.pattern.consuming for o in rules):
                key = common_key([d for i in members if isinstance(d := definitions[i], PatternDefinition)])
                out.append(Sequential.of(rules, types, key))
                made = [o for o in made if not isinstance(o, Template)]
            for operator in made:
                alike.setdefault(type(operator), []).append(operator)
            for i in members:
                last[definitions[i].output] = at
        levels.append((*out, *(o for family, found in alike.items() for o in family.fuse(found))))
    completes: list[set[str]] = [set() for _ in levels]
    for t, at in last.items():
        completes[at].add(t)
    return tuple(levels), tuple(map(frozenset, completes))


def domains(patterns: Sequence[Pattern], split: Sequence[Pattern] = ()) -> dict[tuple[str, str], str]:
    """For every attribute that is equated with others the name of their common domain of values.

    ``split``: rules whose events are told apart by key; there what a rule hands on is in one domain with its origin.
    """
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def find(a: tuple[str, str]) -> tuple[str, str]:
        parent.setdefault(a, a)
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    for p in patterns:
        types = [s.type for s in p.role_sources]
        for own, parts in _equated(p):
            for part in parts:
                a, b = find((own, part.own)), find((types[part.role], part.attribute))
                parent[max(a, b)] = min(a, b)
    for p in split:
        types = [s.type for s in p.role_sources]
        for name, e, _ in p.outputs:
            if isinstance(e, Ref) and e.scope is not None and e.name != "time":
                a, b = find((p.rules[0].output, name)), find((types[int(e.scope)], e.name))
                parent[max(a, b)] = min(a, b)
    return {a: "{}.{}".format(*find(a)) for a in list(parent)}


def stage_key(definitions: Sequence[Definition]) -> dict[str, tuple[str, ...]]:
    """The attributes by which all definitions together can be split; empty if there are none."""
    return common_key(definitions)


def _equated(p: Pattern) -> list[tuple[str, tuple[KeyPart, ...]]]:
    found: list[tuple[str, tuple[KeyPart, ...]]] = []
    for s in p.steps:
        if isinstance(s, Select | Absent):
            found.append((s.source.type, s.keys))
    for e in p.expressions:
        for n in e.walk():
            if isinstance(n, Windowed):
                found.append((n.source.type, n.keys))
    return found
