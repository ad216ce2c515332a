"""A stage: definitions that run together in one engine, and all that the engine needs to know of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from occurs.expr.tree import Expr
from occurs.model.collector import uncollected
from occurs.model.graphs import depths
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.blocks import Out
from occurs.operators.contract import Moves, Operator, Order
from occurs.operators.definition import Definition, Options, Subscribed
from occurs.operators.timer import Timer, TimerSource
from occurs.plan.graph import Order as Graph
from occurs.plan.graph import order
from occurs.plan.keys import common_key

if TYPE_CHECKING:
    from occurs.plan.segments import Segment


@dataclass(frozen=True)
class Stage:
    """``retention``: per type the ticks of the past that are kept.  ``hidden``: definitions that run for others of
    their family only, and are not reported."""

    definitions: tuple[Definition, ...]
    order: Graph
    schemas: Mapping[str, Schema]
    inputs: frozenset[str]
    timers: tuple[TimerSource, ...]
    retention: Mapping[str, int]
    kind: TimeKind
    subscribed: tuple[Subscribed, ...] = ()
    key: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hidden: tuple[Definition, ...] = ()

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
    @uncollected()
    def _laid(self) -> _Layout:
        both = (*self.definitions, *self.hidden)
        return _Layout(both, len(self.hidden), self.order, self.schemas, self.kind)

    @property
    def levels(self) -> Sequence[Sequence[Operator]]:
        """The operators of the definitions, level after level: those of one level do not depend on each other."""
        return self._laid.levels

    @cached_property
    def steps(self) -> tuple[tuple[Sequence[Operator], frozenset[str]], ...]:
        """The operators of one level after the other, timers first, each level with the types that it completes and
        that are read as rows."""
        timers = [Timer.of(source) for source in self.timers]
        first = [(timers, frozenset(source.name for source in self.timers))] if timers else []
        found = (*first, *zip(self.levels, self._laid.completes, strict=True))
        return tuple((operators, completes & self.row_types) for operators, completes in found)

    @cached_property
    def operators(self) -> tuple[Operator, ...]:
        """All operators, in evaluation order."""
        return tuple(o for level, _ in self.steps for o in level)

    @cached_property
    def still(self) -> frozenset[Operator]:
        """Operators that only rows of the input move, and closing."""

        def moved_by_input(operator: Operator) -> bool:
            read = {port.type for port in operator.ports}
            return operator.moves <= {Moves.END} and not operator.feeds_back and self.made.isdisjoint(read)

        return frozenset(filter(moved_by_input, self.operators))

    @cached_property
    def shown(self) -> Mapping[str, None]:
        """Types that operators read."""
        return dict.fromkeys(port.type for operator in self.operators for port in operator.ports)

    @cached_property
    def made(self) -> frozenset[str]:
        """Types of which definitions or timers make rows."""
        return frozenset((*self.defined, *(source.name for source in self.timers)))

    @cached_property
    def remembered(self) -> tuple[str, ...]:
        """Types of which past rows are kept."""
        return tuple(sorted(t for t, back in self.retention.items() if back and t in self.row_types))

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """Types of the input, or made here, that are subscribed to."""
        return tuple(sorted((self.inputs | self.made).intersection(self.subscriptions)))

    @cached_property
    def chained(self) -> bool:
        """Does a definition read the rows that another one makes?"""
        return not self.row_types.isdisjoint(self.defined)

    @cached_property
    def identities(self) -> Mapping[int, str]:
        """The identity of the definition at each place."""
        return {d.place: d.identity for d in self.definitions}

    @cached_property
    def segments(self) -> tuple[Segment, ...]:
        """The segments of the stage, see :mod:`occurs.plan.segments`."""
        from occurs.plan.segments import segments  # which makes stages of them

        return segments(self)

    def born(self, births: Mapping[str, int]) -> Stage:
        """This stage with definitions of which those in ``births`` (by identity) see only rows after that tick.

        The last one is kept: every bucket that is read anew asks for it, and thousands of definitions take seconds."""
        if not births:
            return self
        if not self._born or self._born[0][0] != births:

            def adapted(d: Definition) -> Definition:
                return d.adapted(Options(born=births[d.identity])) if d.identity in births else d

            definitions, hidden = map(adapted, self.definitions), map(adapted, self.hidden)
            made = make_stage([*definitions], self.schemas, self.kind, self.subscribed, self.key, [*hidden])
            self._born[:] = [(dict(births), made)]
        return self._born[0][1]

    @cached_property
    def _born(self) -> list[tuple[dict[str, int], Stage]]:
        return []

    @cached_property
    def outs(self) -> tuple[Out, ...]:
        """The outputs of all operators."""
        return tuple(out for o in self.operators for out in o.outs)

    @cached_property
    def domains(self) -> Mapping[tuple[str, str], str]:
        """For every attribute that is equated with others the name of their common domain of values."""
        return domains([pair for o in self.operators for pair in o.equated])

    @cached_property
    def placed(self) -> frozenset[str]:
        """Types whose rows need a place within their instant over all types."""
        readers = {p.type for o in self.operators for p in o.ports}
        # rows that have to stand in one order with those of others
        shared = readers | {out.type for out in self.outs if out.type not in self.sole}
        asking = [o for o in self.operators if o.needs_places or any(out.type in shared for out in o.outs)]
        read = {p.type for o in asking for p in o.ports if p.order is Order.PLACE or p.makers}
        made = {out.type for o in asking if any(p.order is Order.PLACE for p in o.ports) for out in o.outs}
        return frozenset(read | made)

    @cached_property
    def sequenced(self) -> frozenset[str]:
        """Types whose rows keep their sequence numbers."""
        return frozenset(p.type for o in self.operators for p in o.ports if p.sequence)

    @cached_property
    def unordered(self) -> frozenset[str]:
        """Types of the input whose rows of one time and sequence may arrive in any order: no reader depends on it."""
        ordered = {p.type for o in self.operators for p in o.ports if p.order is not Order.ANY}
        return self.inputs - ordered - self.placed - {*self.defined, *self.subscriptions}

    @cached_property
    def tables(self) -> frozenset[str]:
        """Types with rows that have no key and concern every part of what is split by a key (`truncate` of a table)."""
        return frozenset(p.type for o in self.operators for p in o.ports if p.everywhere)

    @cached_property
    def numbered(self) -> frozenset[str]:
        """Types whose rows bring sequence numbers."""
        return self.placed | self.sequenced

    def _moved(self, *by: Moves) -> bool:
        return any(o.moves.intersection(by) for o in self.operators)

    @cached_property
    def timed(self) -> bool:
        """Can something happen at an instant where there are no rows at all?"""
        return self._moved(Moves.CLOCK)

    @cached_property
    def moved_by_clock(self) -> bool:
        """Can something happen when time goes on and no row comes?"""
        return self._moved(Moves.CLOCK, Moves.FRONTIER)

    @cached_property
    def decided_by_end(self) -> bool:
        """Are there rows that only the end of the history decides?"""
        return self._moved(Moves.END)

    @cached_property
    def silent(self) -> frozenset[str] | None:
        """Types of the input whose rows complete nothing: something is reported only when a row of another type comes,
        or at the end of the history.  None: at any time."""
        definitions = (*self.definitions, *self.hidden)
        if self.timers or any(d.silent is None for d in definitions):
            return None
        heard = {t for d in definitions for t in d.reads if t not in (d.silent or ())}
        return self.inputs - heard - self.subscriptions.keys() - set(self.defined)

    @cached_property
    def families(self) -> Mapping[str, Definition]:
        """Types whose readers of the same family read more than rows, with the definitions that derive them."""
        return {d.output: d for d in (*self.definitions, *self.hidden) if d.family}

    def reads_rows(self, definition: Definition) -> list[str]:
        """The types that a definition reads as rows."""
        own, families = definition.family, self.families
        return [t for t in definition.reads if not own or t not in families or families[t].family != own]

    @cached_property
    def row_types(self) -> frozenset[str]:
        """Types that definitions read as rows."""
        return frozenset(t for d in (*self.definitions, *self.hidden) for t in self.reads_rows(d))

    @cached_property
    def late(self) -> frozenset[str]:
        """Types whose rows may be known after later ones."""
        return frozenset(d.output for d in self.definitions if d.lasting or d.delay != 0)

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


def make_stage(
    definitions: Sequence[Definition],
    schemas: Mapping[str, Schema],
    kind: TimeKind,
    subscribed: Sequence[Subscribed] = (),
    key: Mapping[str, tuple[str, ...]] | None = None,
    hidden: Sequence[Definition] = (),
) -> Stage:
    """A stage of ``definitions``, which carry their places."""
    graph = order([d.node for d in (*definitions, *hidden)])
    retention: dict[str, int] = {}
    inputs: set[str] = set()
    timers: dict[str, TimerSource] = {}
    for d in (*definitions, *hidden):
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
        tuple(hidden),
    )


@dataclass(frozen=True)
class _Unit:
    """Definitions (their numbers) that are evaluated together.  ``types``: those that feed back; ``again``: definitions
    of other units of the same family that they read, and that run here once more, unreported."""

    members: tuple[int, ...]
    types: frozenset[str] = frozenset()
    again: frozenset[int] = frozenset()


class _Layout:
    """What is evaluated together, level by level, and the types that each level completes."""

    def __init__(
        self, definitions: Sequence[Definition], hidden: int, graph: Graph, schemas: Mapping[str, Schema],
        kind: TimeKind,
    ) -> None:  # fmt: skip
        """The last ``hidden`` definitions are not reported."""
        self.definitions, self.graph, self.schemas, self.kind = definitions, graph, schemas, kind
        self.reported = len(definitions) - hidden
        self.makers: dict[str, list[int]] = {}
        for i, d in enumerate(definitions):
            self.makers.setdefault(d.output, []).append(i)
        units = [*self._alone(), *self._families()]
        unit_of = {i: n for n, unit in enumerate(units) for i in unit.members}
        reads = [{unit_of[j] for i in (*unit.members, *unit.again) for j in self._made(i)} for unit in units]
        depth = depths([read - {n} for n, read in enumerate(reads)])
        by_level: list[list[_Unit]] = [[] for _ in range(max(depth, default=-1) + 1)]
        done: dict[str, int] = {}
        for unit, level in zip(units, depth, strict=True):
            by_level[level].append(unit)
            for i in unit.members:
                done[definitions[i].output] = max(level, done.get(definitions[i].output, 0))
        self.levels = [self._operators(sorted(found, key=lambda u: self._place(u.members[0]))) for found in by_level]
        completes: list[set[str]] = [set() for _ in by_level]
        for t, level in done.items():
            completes[level].add(t)
        self.completes = [frozenset(found) for found in completes]

    def _place(self, i: int) -> int:
        return self.definitions[i].place

    def _made(self, i: int) -> list[int]:
        """The definitions whose detections one reads."""
        return [j for t in self.definitions[i].reads for j in self.makers.get(t, ())]

    def _alone(self) -> list[_Unit]:
        """Definitions by themselves, and those that feed one another."""
        found = [unit for level in self.graph.levels for unit in level if not self.definitions[unit[0]].family]
        absorbed: dict[int, int] = {}
        types = [frozenset(t for i in unit for t in self.graph.strict[i]) for unit in found]
        for number, unit in enumerate(found):
            least, kind = min(map(self._place, unit)), type(self.definitions[unit[0]])
            # a rule that defines a fed-back type but comes later in the order runs inside, so that rows of one instant
            # lie in the order of their rules
            more = (i for t in types[number] for i in self.makers.get(t, ()) if i not in unit)
            absorbed |= {i: number for i in more if self._place(i) > least and type(self.definitions[i]) is kind}
        guests: dict[int, list[int]] = {}
        for i, host in absorbed.items():
            guests.setdefault(host, []).append(i)
        return [
            _Unit(tuple(sorted((*unit, *guests.get(number, ())), key=self._place)), types[number])
            for number, unit in enumerate(found)
            if len(unit) > 1 or unit[0] not in absorbed
        ]

    def _families(self) -> list[_Unit]:
        """Definitions of one family, as few units as possible: what a unit reads from outside is complete before it."""
        family = [d.family for d in self.definitions]
        if not any(family):
            return []
        phase = [0] * len(family)
        for unit in (unit for level in self.graph.levels for unit in level):
            own = family[unit[0]]
            before = {j for i in unit for j in self._made(i)} - set(unit)
            # one more behind another family, or rows: a unit must not read what is made of its own detections
            most = max((phase[j] + (family[j] not in ("", own)) for j in before), default=0)
            for i in unit:
                phase[i] = most
        members: dict[tuple[str, int], list[int]] = {}
        for i in sorted(range(len(family)), key=self._place):
            if family[i]:
                members.setdefault((family[i], phase[i]), []).append(i)
        return [_Unit(tuple(found), again=self._again(found)) for found in members.values()]

    def _again(self, members: Sequence[int]) -> frozenset[int]:
        """The definitions of the same family that ``members`` read, and those that these read."""
        family, known, waiting = self.definitions[members[0]].family, set(members), list(members)
        while waiting:
            more = {j for j in self._made(waiting.pop()) if self.definitions[j].family == family} - known
            known |= more
            waiting += more
        return frozenset(known.difference(members))

    def _operators(self, units: Sequence[_Unit]) -> tuple[Operator, ...]:
        """The operators of a level."""
        out: list[Operator] = []
        alike: dict[type[Operator], list[Operator]] = {}
        for unit in units:
            made = {i: self.definitions[i].operator(self.schemas, self.kind) for i in (*unit.members, *unit.again)}
            for i in (*unit.again, *(i for i in unit.members if i >= self.reported)):
                made[i] = made[i].unreported()
            found = [made[i] for i in sorted(made, key=self._place)]
            if unit.types or any(o.stepwise for o in found):
                key = common_key([self.definitions[i] for i in unit.members])
                out.append(type(found[0]).in_steps(found, unit.types, key))
            else:
                alike.setdefault(type(found[0]), []).extend(found)
        return (*out, *(o for family, found in alike.items() for o in family.fuse(found)))


def domains(equated: Sequence[tuple[tuple[str, str], tuple[str, str]]]) -> dict[tuple[str, str], str]:
    """For every attribute that is equated with others the name of their common domain of values."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def find(a: tuple[str, str]) -> tuple[str, str]:
        parent.setdefault(a, a)
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        return a

    for one, other in equated:
        a, b = find(one), find(other)
        parent[max(a, b)] = min(a, b)
    return {a: "{}.{}".format(*find(a)) for a in list(parent)}


def stage_key(definitions: Sequence[Definition]) -> dict[str, tuple[str, ...]]:
    """The attributes by which all definitions together can be split; empty if there are none."""
    return common_key(definitions)
