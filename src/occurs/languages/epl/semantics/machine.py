"""One statement in the reference semantics of EPL: its instances, their order, its matches (epl-and-nets.md, 4A).

Readings where the specification is silent: matches of one event (or one timer instant) are suppressed and discarded
before ``where`` is asked; two matches share an event also if a filter without tag matched it; of lists that begin alike
the shorter comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, inf, isfinite
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem, Problem
from occurs.expr import tree
from occurs.expr.reference import Undecided, conjunction, ticks
from occurs.languages.epl import syntax
from occurs.languages.epl.semantics.calendar import next_instant, shifted
from occurs.languages.epl.semantics.expressions import Expressions
from occurs.languages.epl.semantics.instances import (
    KINDS,
    OTHER,
    Binding,
    Bound,
    Filter,
    Instance,
    Parent,
    Timer,
    Within,
    events_of,
)
from occurs.model.elements import index_step
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration, TimeKind
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class World:
    """What all statements share: kind of time, zone, schemas, and per type all types whose events are of it."""

    kind: TimeKind
    zone: str
    schemas: Mapping[str, Schema]
    kinds: Mapping[str, frozenset[str]]
    #: the place of an event in the total order
    position: Callable[[Occurrence], int]


@dataclass(frozen=True)
class Timeout:
    """A guard ended what had not ended: the statement, when, what its instance was started with and what was known
    below it, without what is part of another binding and without the empty one.  ``number``: of the query."""

    statement: str
    time: int
    binding: Mapping[str, Bound]
    waiting: tuple[Mapping[str, Bound], ...]
    number: int = 0


def named(pattern: syntax.Pattern) -> tuple[syntax.Pattern, list[syntax.Filter]]:
    """The pattern with a tag for every filter (``#0``, ``#1`` .. in pattern order), and the filters in that order."""
    filters: list[syntax.Filter] = []

    def walk(p: Any) -> Any:
        if isinstance(p, syntax.Filter):
            one = replace(p, tag=p.tag or syntax.Name(f"#{len(filters)}"))
            filters.append(one)
            return one
        if isinstance(p, syntax.Until):
            return replace(p, operand=walk(p.operand), end=walk(p.end))
        if isinstance(p, syntax.And | syntax.Or | syntax.Followed):
            return replace(p, operands=tuple(walk(o) for o in p.operands))
        return replace(p, operand=walk(p.operand)) if p.children else p

    return walk(pattern), filters


class Machine(Parent):
    """The running pattern of one statement."""

    def __init__(self, name: str, query: syntax.Query, world: World, start: int) -> None:
        self.name, self.query, self.world = name, query, world
        self.pattern, self.leaves = named(query.pattern)
        if query.simple:
            self.pattern = syntax.Every(self.pattern)
        self.tags = list(dict.fromkeys(f.tag.text for f in self.leaves if f.tag is not None))
        self.types = {f.tag.text: f.type.text for f in self.leaves if f.tag is not None}
        self.now = start
        self.count = 0
        #: everything that was ever started, in order; what has ended is not live
        self.filters: list[Filter] = []
        self.timers: list[Timer] = []
        self.found: list[Binding] = []
        self.timeouts: list[Timeout] = []
        self.root: Instance = KINDS[type(self.pattern)](self, self, self.pattern, {}, OTHER)
        self.root.start()

    def reads(self, type_: str) -> bool:
        return any(type_ in self.world.kinds.get(t, {t}) for t in self.types.values())

    # --- what instances ask --------------------------------------------------------------------------------------

    def next_number(self) -> int:
        self.count += 1
        return self.count

    def ticks(self, duration: Duration) -> int:
        exact = ticks(duration, self.world.kind)
        if not isinstance(exact, int) or exact <= 0:
            raise DefinitionProblem.of("bad-duration", f"{exact} ticks are not a positive whole number")
        return exact

    def later(self, duration: Duration, binding: Binding) -> int:
        """The tick at which a length of time that begins now ends."""
        if isinstance(duration, syntax.Computed):
            return self.now + self.computed(duration, binding)
        return self.later_than(self.now, duration)

    def computed(self, duration: syntax.Computed, binding: Binding) -> int:
        """The ticks of a length that is computed from earlier events."""
        if self.world.kind.tick is None:
            raise DefinitionProblem.of("missing-unit", "a length needs a time with a unit")
        found = Fraction(0)
        for expr, size in duration.parts:
            value = self.value(expr, binding, "a length of time")
            if value is None or not isfinite(value):
                raise InputProblem.of("bad-value", f"a length of time in `{self.name}` at {self.now} is {value}")
            found += Fraction(value) * size / self.world.kind.tick
        if round(found) < 1:
            raise InputProblem.of("bad-value", f"a length of time in `{self.name}` at {self.now} is not positive")
        return round(found)

    def repetitions(self, pattern: syntax.Repeat | syntax.Until, binding: Binding) -> tuple[int, int | None]:
        """The least and the greatest number of repetitions, as they begin; computed ones may be exchanged."""
        low, high = (
            self.value(n, binding, "a number of repetitions") if isinstance(n, tree.Expr) else n
            for n in syntax.bounds_of(pattern)
        )
        if not syntax.computed(pattern):
            return low or 0, high
        given = [n for n in (low, high) if n is not None]
        if isinstance(pattern, syntax.Repeat) and not given:
            raise InputProblem.of("bad-value", f"a number of repetitions in `{self.name}` at {self.now} is null")
        if len(given) == 2:
            low, high = min(given), max(given)
        if (low is not None and low < 0) or (high is not None and high < 1):
            raise InputProblem.of("bad-value", f"a number of repetitions in `{self.name}` at {self.now} is {given}")
        return low or 0, high

    def later_than(self, begin: int, duration: Duration) -> int:
        """The tick at which a length of time that begins at ``begin`` ends."""
        if not isinstance(duration, syntax.Period):
            return begin + self.ticks(duration)
        if self.world.kind.tick is None:
            raise DefinitionProblem.of("missing-unit", "months need a time with a unit")
        rest = self.ticks(Duration(duration.rest)) if duration.rest else 0
        return shifted(begin, duration, self.world.kind.tick, self.world.zone) + rest

    def instants(self, schedule: syntax.Schedule, start: int) -> Iterator[int]:
        """The ticks of a schedule behind its start."""
        tick = self.world.kind.tick
        if tick is None:
            raise DefinitionProblem.of("missing-unit", "a schedule needs a time with a unit")
        at = start if schedule.date is None else ceil(Fraction(schedule.date, tick))
        left: float = 1 if schedule.repetitions is None else schedule.repetitions
        left = inf if left < 0 else left
        if schedule.period is not None and (schedule.date is None or schedule.repetitions is None):
            at = self.later_than(at, schedule.period)
        fixed = schedule.period is not None and not isinstance(schedule.period, syntax.Period)
        if at <= start and fixed and schedule.period is not None:
            # a date may lie long ago
            passed = (start - at) // self.ticks(schedule.period)
            left -= passed
            at += passed * self.ticks(schedule.period)
        while left > 0:
            if at > start:
                yield at
            left -= 1
            if schedule.period is None:
                return
            at = self.later_than(at, schedule.period)

    def next_instant(self, at: syntax.At) -> int | None:
        if self.world.kind.tick is None:
            raise DefinitionProblem.of("missing-unit", "a calendar needs a time with a unit")
        return next_instant(at, self.now, self.world.kind.tick, at.zone or self.world.zone)

    def accepts(self, pattern: syntax.Filter, binding: Binding, event: Occurrence) -> bool:
        if event.type not in self.world.kinds.get(pattern.type.text, {pattern.type.text}):
            return False
        assert pattern.tag is not None
        place = Place(self, {**binding, pattern.tag.text: event}, pattern.tag.text)
        return self.decided(conjunction(place.value(c) for c in pattern.conditions))

    def holds(self, condition: tree.Expr, binding: Binding) -> bool:
        return self.decided(Place(self, binding, self.only).value(condition))

    def decided(self, outcome: Any) -> bool:
        """True only if true; an overflow is an error only where it hides whether it is."""
        if isinstance(outcome, Undecided) and True in outcome.outcomes:
            raise self.overflow("a condition")
        return outcome is True

    def value(self, expr: tree.Expr, binding: Binding, what: str) -> Any:
        value = Place(self, binding, self.only).value(expr)
        if isinstance(value, Undecided):
            raise self.overflow(what)
        return round(value) if isinstance(value, Fraction) else value

    def key(self, expr: tree.Expr, binding: Binding) -> Any:
        """A value by which keys are equal; false is not 0."""
        value = self.value(expr, binding, "a key")
        return (isinstance(value, bool), value)

    def overflow(self, what: str) -> InputProblem:
        message = f"a number overflows 64-bit integers in {what} of `{self.name}` at {self.now}"
        return InputProblem(Problem("overflow", message, definition=self.name))

    @property
    def only(self) -> str | None:
        """The tag whose attributes may be named alone outside the filters: that of ``from Type(..)``."""
        return self.tags[0] if self.query.simple else None

    # --- what instances tell -------------------------------------------------------------------------------------

    def child_true(self, child: Instance, binding: Binding, over: bool) -> None:
        self.found.append(binding)

    def child_false(self, child: Instance) -> None:
        """The pattern has ended."""

    def timed_out(self, guard: Within) -> None:
        waiting = [b for one in _below(guard) if one.group == OTHER and (b := one.partial())]
        longest = [b for i, b in enumerate(waiting) if not _extended(b, waiting, i)]
        self.timeouts.append(Timeout(self.name, self.now, guard.binding, tuple(longest)))

    # --- one event, one instant of timers ------------------------------------------------------------------------

    def due(self) -> int | None:
        """When the next timer is due; the start of the clock, if the pattern is true at once."""
        if self.found:
            return self.now
        self.timers = [t for t in self.timers if t.live]
        return min((t.due for t in self.timers if t.due is not None), default=None)

    def instant(self, now: int) -> list[Binding]:
        """Fires all timers that are due now, in the order in which they were started; the matches in their order."""
        self.now = now
        for timer in sorted((t for t in self.timers if t.due == now), key=lambda t: t.number):
            if timer.live:
                timer.fire()
        return self.matches()

    def event(self, event: Occurrence) -> list[Binding]:
        """Informs all waiting filters that accept the event; the matches that it completes in their order."""
        self.now = event.time
        self.filters = [f for f in self.filters if f.live]
        accepting = [f for f in self.filters if f.accepts(event)]
        level = max((f.pattern.consume for f in accepting), default=0)
        chosen = [f for f in accepting if f.pattern.consume == level]
        for f in sorted(chosen, key=lambda f: (f.group, f.number)):
            if f.live:
                f.inform(event)
        return self.matches()

    def matches(self) -> list[Binding]:
        """What was found since, in the order of emission, after suppressing and discarding."""
        found, self.found = sorted(self.found, key=self.rank), []
        kept = found
        if self.query.suppress:
            kept = []
            taken: set[int] = set()
            for binding in found:
                events = {id(e) for e in events_of(binding)}
                if not events & taken:
                    kept.append(binding)
                    taken |= events
        if self.query.discard and found and self.root.live:
            self.root.discard({id(e) for binding in found for e in events_of(binding)})
        where = self.query.where
        return self.ordered([b for b in kept if where is None or self.holds(where, b)])

    def ordered(self, found: list[Binding]) -> list[Binding]:
        """In the order of `order by`; those with equal values stay in their order."""
        for sort in reversed(self.query.order):
            values = [self.value(self.without_columns(sort.expr), b, "order by") for b in found]
            # null is least
            keys = [(v is not None, v) for v in values]
            places = sorted(range(len(found)), key=lambda i: keys[i][:1] if values[i] is None else keys[i],
                            reverse=sort.descending)  # fmt: skip
            found = [found[i] for i in places]
        return found

    def without_columns(self, expr: tree.Expr) -> tree.Expr:
        """The value of a column in the place of its name."""
        columns = {i.name.text: i.expr for i in self.query.items if i.name is not None and i.expr is not None}

        def rule(node: tree.Expr) -> tree.Expr | None:
            bare = isinstance(node, tree.Ref) and node.scope is None and node.index is None
            return columns.get(node.name) if bare else None  # type: ignore[attr-defined]

        return tree.rewrite(expr, rule)

    def rank(self, binding: Binding) -> list[tuple[Any, ...]]:
        """Tag by tag in pattern order, earlier events first, unbound last."""
        out: list[tuple[Any, ...]] = []
        for tag in self.tags:
            bound = binding.get(tag)
            events = () if bound is None else bound if isinstance(bound, tuple) else (bound,)
            out.append((bound is None, [self.world.position(e) for e in events]))
        return out


def _below(instance: Instance) -> list[Instance]:
    """All instances below one, parents first."""
    return [one for c in instance.children for one in (c, *_below(c))]


def _extended(binding: Binding, others: list[Binding], at: int) -> bool:
    """Is it part of a longer one, or the same as an earlier one?"""
    for i, other in enumerate(others):
        if i != at and _part_of(binding, other) and (i < at or not _part_of(other, binding)):
            return True
    return False


def _part_of(binding: Binding, other: Binding) -> bool:
    return all(tag in other and _begins(bound, other[tag]) for tag, bound in binding.items())


def _begins(bound: Bound, other: Bound) -> bool:
    """Is it the same event, or are the events of one list the first ones of the other?"""
    if isinstance(bound, tuple) and isinstance(other, tuple):
        return len(bound) <= len(other) and all(a is b for a, b in zip(bound, other))
    return bound is other


@dataclass(frozen=True)
class Place(Expressions):
    """Where an expression stands: a statement, what is bound, and the tag whose attributes need no tag."""

    machine: Machine
    binding: Binding
    own: str | None

    def meant(self, ref: tree.Ref) -> tuple[str | None, str]:
        """The tag and the attribute of a name; `a.b` where no event is called `a` is the value `b` in the record `a`
        of the event at hand, `a[0]` and `a[0].b` a value in its list `a`."""
        if ref.index is not None and (ref.scope or ref.name) not in self.machine.tags:
            behind = index_step(ref.index) if ref.scope is None else f"{index_step(ref.index)}.{ref.name}"
            ref = tree.Ref(None, f"{ref.scope or ref.name}{behind}")
        if ref.scope is None and self.own is None:
            # of the only event that has it
            schemas = {t: self.schema(t) for t in self.binding if not t.startswith("#")}
            has = [t for t, s in schemas.items() if s is not None and s.get(ref.name) is not None]
            return next(iter(has or [t for t, s in schemas.items() if s is None or s.rest]), None), ref.name
        if ref.scope is None or ref.scope in self.machine.tags:
            return ref.scope or self.own, ref.name
        return self.own, f"{ref.scope}.{ref.name}"

    def referred(self, ref: tree.Ref) -> Any:
        """The value of an attribute; null if the event is not there."""
        tag, name = self.meant(ref)
        bound = self.binding.get(tag or "")
        if isinstance(bound, tuple):
            at = ref.index or 0
            bound = bound[at] if at < len(bound) else None
        if bound is None:
            return None
        return bound.time if name == "time" else bound.attributes.get(name)

    @property
    def kind(self) -> TimeKind:
        return self.machine.world.kind

    def type_of(self, ref: tree.Ref) -> Type | None:
        """The declared type of an attribute; None if it is not known."""
        tag, name = self.meant(ref)
        if name == "time":
            return Type.TIMESTAMP if self.kind.timestamp else Type.INT
        schema = self.schema(tag or "")
        return None if schema is None else schema.get(name)

    def schema(self, tag: str) -> Schema | None:
        """That of the events of a tag."""
        return self.machine.world.schemas.get(self.machine.types.get(tag, ""))
