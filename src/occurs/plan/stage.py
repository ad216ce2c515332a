"""A stage: definitions that run together in one engine, and all that the engine needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from occurs.expr.tree import Expr, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.aggregate import Windowed
from occurs.operators.pattern import Absent, Pattern, Select
from occurs.operators.sequential import Component
from occurs.operators.timer import TimerSource
from occurs.operators.windows import KeyPart
from occurs.plan.definition import Definition, NetDefinition, PatternDefinition
from occurs.plan.graph import Order, order
from occurs.plan.keys import common_key
from occurs.plan.pipes import PipesDefinition
from occurs.plan.sequences import SequenceDefinition
from occurs.plan.templates import fuse
from occurs.plan.triggers import TriggerDefinition

#: what is evaluated at once
Unit = Pattern | Component | NetDefinition | SequenceDefinition | TriggerDefinition | PipesDefinition


@dataclass(frozen=True)
class Subscribed:
    """External or derived events of ``type`` that pass ``filter`` are reported."""

    type: str
    filter: Expr | None


@dataclass(frozen=True)
class Stage:
    """``levels``: what is evaluated together, level after level; ``completes``: per level the types that are complete
    after it; ``retention``: per type the ticks of the past that are kept."""

    definitions: tuple[Definition, ...]
    order: Order
    levels: tuple[tuple[Unit, ...], ...]
    completes: tuple[frozenset[str], ...]
    schemas: Mapping[str, Schema]
    inputs: frozenset[str]
    timers: tuple[TimerSource, ...]
    retention: Mapping[str, int]
    domains: Mapping[tuple[str, str], str]
    kind: TimeKind
    subscribed: tuple[Subscribed, ...] = ()
    key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def defined(self) -> tuple[str, ...]:
        """Defined types in evaluation order."""
        names: dict[str, None] = {}
        for d in sorted(self.definitions, key=lambda d: d.place):
            names.setdefault(d.output, None)
            if isinstance(d, TriggerDefinition) and d.never:
                names.setdefault(d.never, None)
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
        return {d.output: d.ended for d in self.sequences if d.ended}

    @cached_property
    def notices(self) -> Mapping[str, str]:
        """Side outputs with the notices of triggers that can fire no more, to the names of these."""
        return {d.never: d.trigger for d in self.triggers if d.never}

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
    def patterns(self) -> tuple[Pattern, ...]:
        """Everything that finds something: templates, and the rules of components."""
        units = [u for level in self.levels for u in level]
        found = [u.patterns if isinstance(u, Component) else (u,) for u in units if isinstance(u, Component | Pattern)]
        return tuple(p for patterns in found for p in patterns)

    @cached_property
    def sequences(self) -> tuple[SequenceDefinition, ...]:
        """The patterns over the order of events."""
        return tuple(d for d in self.definitions if isinstance(d, SequenceDefinition))

    @cached_property
    def triggers(self) -> tuple[TriggerDefinition, ...]:
        """The temporal triggers."""
        return tuple(d for d in self.definitions if isinstance(d, TriggerDefinition))

    @cached_property
    def pipes(self) -> tuple[PipesDefinition, ...]:
        """The definitions over pipes."""
        return tuple(d for d in self.definitions if isinstance(d, PipesDefinition))

    @cached_property
    def placed(self) -> frozenset[str]:
        """Types whose rows need a place within their instant over all types."""
        read = frozenset(t for d in (*self.sequences, *self.pipes) for t in (*d.reads, d.output))
        return read.union(*(d.placed for d in self.triggers))

    @cached_property
    def sequenced(self) -> frozenset[str]:
        """Types whose rows keep their sequence numbers."""
        return frozenset(t for d in self.triggers for t in d.sequenced)

    @cached_property
    def unordered(self) -> frozenset[str]:
        """Types of the input whose rows of one time and sequence may come in any order: triggers alone read them, and
        none asks which is the last."""
        others = {t for d in self.definitions if not isinstance(d, TriggerDefinition) for t in d.reads}
        others.update(self.defined, self.placed, *(d.positional for d in self.triggers))
        return self.inputs - others - {s.type for s in self.subscribed}

    @cached_property
    def tables(self) -> frozenset[str]:
        """Types whose rows are changes of tables.  One that says `truncate` (``op``) has no key and concerns every part
        of what is split by a key."""
        return frozenset(t for d in self.triggers for t in d.tables)

    @cached_property
    def numbered(self) -> frozenset[str]:
        """Types whose rows bring sequence numbers."""
        return self.placed | self.sequenced

    @cached_property
    def timed(self) -> bool:
        """Are there timers, so that something may happen where there are no rows at all?"""
        return bool(self.timers) or any(d.timed for d in self.sequences) or any(d.timed for d in self.triggers)

    @property
    def moved_by_clock(self) -> bool:
        """Can something happen when time goes on and no row comes?"""
        return self.timed or bool(self.nets)

    @property
    def decided_by_end(self) -> bool:
        """Are there rows that only the end of the history decides?"""
        return bool(self.nets) or bool(self.pipes)

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
    def makers(self) -> Mapping[str, tuple[tuple[int, int], ...]]:
        """Per defined type the (pattern, rule of the pattern) that define it, in evaluation order; sequences are
        numbered behind the patterns, triggers and pipes behind these."""
        found: dict[str, list[tuple[int, int, int]]] = {}
        for at, p in enumerate(self.patterns):
            for number, info in enumerate(p.rules):
                found.setdefault(info.output, []).append((info.place, at, number))
        for at, d in enumerate((*self.sequences, *self.triggers, *self.pipes), len(self.patterns)):
            found.setdefault(d.output, []).append((d.place, at, 0))
        return {t: tuple((at, number) for _, at, number in sorted(places)) for t, places in found.items()}

    @cached_property
    def sole(self) -> Mapping[str, tuple[int, int]]:
        """(pattern, rule of the pattern) of the types that one rule defines and no subscription filters."""
        return {t: places[0] for t, places in self.makers.items() if len(places) == 1 and t not in self.filters}

    @cached_property
    def sequential(self) -> tuple[Component, ...]:
        return tuple(u for level in self.levels for u in level if isinstance(u, Component))


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
    levels, completes = _units(definitions, graph)
    return Stage(
        tuple(definitions),
        graph,
        levels,
        completes,
        schemas,
        frozenset(inputs - set(timers)),
        tuple(timers.values()),
        retention,
        domains(
            [d.pattern for d in definitions if isinstance(d, PatternDefinition)],
            [p for level in levels for u in level if isinstance(u, Component) and u.by for p in u.patterns],
        ),
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
    definitions: Sequence[Definition], graph: Order
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
        free: list[Pattern] = []
        out: list[Unit] = []
        for unit in level:
            number += 1
            if len(unit) == 1 and unit[0] in absorbed:
                continue
            members = sorted((*unit, *guests.get(number, ())), key=place)
            whole = (NetDefinition, SequenceDefinition, TriggerDefinition, PipesDefinition)
            out += [d for i in members if isinstance(d := definitions[i], whole)]
            rules = [d for i in members if isinstance(d := definitions[i], PatternDefinition)]
            patterns = [d.pattern for d in rules]
            types = frozenset(t for i in unit for t in graph.strict[i])
            if types or any(p.consuming for p in patterns):
                out.append(Component(tuple(patterns), types, common_key(rules)))
            else:
                free += patterns
            for i in members:
                last[definitions[i].output] = at
        levels.append((*out, *fuse(free)))
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
