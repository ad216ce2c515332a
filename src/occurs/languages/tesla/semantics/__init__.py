"""The reference semantics of TESLA: what a set of rules derives from a finite history (tesla.md section 4).

A direct transcription, instant by instant and binding by binding, that is meant to be checked by reading.  It takes
time quadratic and worse, keeps everything, and shares nothing with the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from occurs.errors import InputProblem, Problem
from occurs.expr import tree
from occurs.expr.aggregates import AGGREGATES, plain_aggregate
from occurs.expr.reference import OVERFLOW, Evaluator, Undecided, conjunction, ticks
from occurs.languages.kit.reference_rows import as_declared, place
from occurs.languages.tesla import syntax
from occurs.languages.tesla.semantics.rules import TIMER, Constraint, Reading, evaluation_order, read, strict_types
from occurs.languages.tesla.semantics.timers import unit_starts
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type


def evaluate(
    rules: Sequence[syntax.Rule],
    schemas: Mapping[str, Schema],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    subscriptions: Sequence[syntax.Subscription] = (),
    start: int | None = None,
    until: int | None = None,
) -> list[Occurrence]:
    """The reported events in the total order: those that are subscribed, or all derived ones if none are.

    ``rules`` have passed the checks; ``start`` and ``until`` are the ends of the clock in ticks, by default the times
    of the first and the last event.  Raises InputProblem (``overflow``, ``bad-value``).
    """
    run = Run(rules, schemas, history, kind, start, until)
    run.all_instants()
    if not subscriptions:
        return run.in_order(run.derived)
    return run.in_order([e for e in [*run.given, *run.derived] if run.subscribed(e, subscriptions)])


class Run:
    """One evaluation of a history."""

    def __init__(
        self,
        rules: Sequence[syntax.Rule],
        schemas: Mapping[str, Schema],
        history: Sequence[Occurrence],
        kind: TimeKind,
        start: int | None,
        until: int | None,
    ):
        self.kind = kind
        self.schemas = schemas
        self.readings = [read(i, r, kind) for i, r in enumerate(rules)]
        self.strict = strict_types(rules)
        self.order = evaluation_order(rules)
        inside = [e for e in history if (start is None or e.time >= start) and (until is None or e.time <= until)]
        self.given = [replace(e, label=("row", n), attributes=as_declared(e, schemas)) for n, e in enumerate(inside)]
        self.start = min((e.time for e in inside), default=None) if start is None else start
        self.until = max((e.time for e in inside), default=None) if until is None else until
        self.derived: list[Occurrence] = []
        #: events that have happened so far, this instant's included
        self.known: list[Occurrence] = []
        #: per rule the labels it has consumed
        self.consumed: list[set[tuple[Any, ...]]] = [set() for _ in rules]

    # --- order --------------------------------------------------------------------------------------------------

    def key(self, event: Occurrence) -> tuple[Any, ...]:
        """The place of an event in the total order: external events, then timers, then derived ones by rule."""
        if event.label[0] == "row":
            return (event.time, 0, *place(event), event.label[1])
        if event.label[0] == TIMER:
            return (event.time, 1)
        return (event.time, 2, self.order.index(event.label[0]), tuple(self.key(c) for c in event.constituents))

    def in_order(self, events: Sequence[Occurrence]) -> list[Occurrence]:
        return sorted(events, key=self.key)

    # --- instants -----------------------------------------------------------------------------------------------

    def all_instants(self) -> None:
        """Every instant once, in order, when all its external events are there; the rules in evaluation order."""
        timers = self.timers()
        for now in sorted({e.time for e in self.given} | {t.time for fired in timers for t in fired}):
            self.known += [e for e in self.given if e.time == now]
            for index in self.order:
                rule = self.readings[index]
                if rule.rule.terminator.type.text == TIMER:
                    terminators = [t for t in timers[index] if t.time == now]
                else:
                    terminators = [e for e in self.known if e.time == now and e.type == rule.rule.terminator.type.text]
                self.instant(rule, [t for t in terminators if self.satisfies(rule, 0, (t,))])

    def timers(self) -> list[list[Occurrence]]:
        """Per rule its timers in [start, until], before their constraints are judged; none without a Timer."""
        if self.start is None or self.until is None:
            return [[] for _ in self.readings]
        return [
            [
                Occurrence(TIMER, now, fields, label=(TIMER, now))
                for now, fields in unit_starts(r.rule.terminator, self.start, self.until, self.kind, self.fails)
            ]
            if r.rule.terminator.type.text == TIMER
            else []
            for r in self.readings
        ]

    def fails(self, constraint: tree.Expr, fields: dict[str, Any]) -> bool:
        """Whether a constraint of a timer is false or null with these calendar fields."""
        outcome = Place(self, None, (), Occurrence(TIMER, 0, fields)).value(constraint)
        return outcome is False or outcome is None

    def instant(self, rule: Reading, terminators: Sequence[Occurrence]) -> None:
        """What a rule derives at one instant; what it consumes counts from the next one."""
        kept = [b for t in terminators for b in self.bindings(rule, (t,)) if self.kept(rule, b)]
        for binding in kept:
            event = self.emitted(rule, binding)
            self.derived.append(event)
            self.known.append(event)
        self.consumed[rule.index] |= {binding[role].label for binding in kept for role in rule.consuming}

    def emitted(self, rule: Reading, binding: tuple[Occurrence, ...]) -> Occurrence:
        """The event of a kept binding: the terminator's time, attributes from ``where``."""
        values = {}
        for assignment in rule.rule.where:
            value = Place(self, rule, binding, None).value(assignment.expr)
            if isinstance(value, Undecided):
                raise _overflow(rule, f"the value of {assignment.name}", binding[0])
            values[assignment.name.text] = value
        schema = self.schemas.get(rule.rule.type.text)
        names = [a.name.text for a in rule.rule.attributes]
        attributes = {n: _widened(values[n], schema.get(n) if schema else None) for n in names}
        label = (rule.index, tuple(e.label for e in binding))
        return Occurrence(rule.rule.type.text, binding[0].time, attributes, label=label, constituents=binding)

    # --- candidacy ----------------------------------------------------------------------------------------------

    def bindings(self, rule: Reading, bound: tuple[Occurrence, ...]) -> Iterator[tuple[Occurrence, ...]]:
        """All ways to bind the remaining roles, in their order; a choice that fails later is not replaced."""
        role = len(bound)
        if role == len(rule.roles):
            yield bound
            return
        selection = rule.rule.selections[role - 1]
        candidates = self.in_order(self.possible(rule, role, bound))
        if selection.policy == "last":
            candidates.reverse()
        # an overflow is an error only where the choice depends on it
        certain: Iterator[Occurrence] = (e for e in candidates if self.satisfies(rule, role, (*bound, e)))
        if selection.policy != "each":
            certain = islice(certain, selection.k - 1, selection.k)
        for event in list(certain):
            yield from self.bindings(rule, (*bound, event))

    def possible(self, rule: Reading, role: int, bound: tuple[Occurrence, ...]) -> list[Occurrence]:
        """The events that are candidates for a role, given those bound before it, if its constraints are true."""
        reference, window = rule.windows[role]
        anchor = bound[reference]
        taken = {e.label for e in bound}
        gone = self.consumed[rule.index] if role in rule.consuming else set()
        return [
            e
            for e in self.visible(rule, rule.roles[role].type.text, bound[0].time)
            if anchor.time - window <= e.time <= anchor.time and e.label not in taken and e.label not in gone
        ]

    def visible(self, rule: Reading, type_name: str, now: int) -> list[Occurrence]:
        """The events of a type that a rule may look back at; of its own component only strictly earlier ones."""
        strictly = type_name in self.strict[rule.index]
        return [e for e in self.known if e.type == type_name and (e.time < now if strictly else e.time <= now)]

    def satisfies(self, rule: Reading, role: int, bound: tuple[Occurrence, ...]) -> bool:
        """Whether every constraint that belongs to the role is true, its event being the last of ``bound``."""
        return self.decided(rule, bound, conjunction(self.outcome(rule, c, bound) for c in rule.belonging[role]))

    def outcome(self, rule: Reading, test: Constraint, bound: tuple[Occurrence, ...]) -> Any:
        own = None if test.owner is None else bound[test.owner]
        return Place(self, rule, bound, own).value(test.expr)

    def decided(self, rule: Reading, bound: tuple[Occurrence, ...], outcome: Any) -> bool:
        """True only if true; an overflow is an error only where it hides whether it is."""
        if isinstance(outcome, Undecided) and True in outcome.outcomes:
            raise _overflow(rule, "a constraint", bound[-1])
        return outcome is True

    # --- after selection ----------------------------------------------------------------------------------------

    def kept(self, rule: Reading, binding: tuple[Occurrence, ...]) -> bool:
        """Extra windows, negations and conditions with aggregates, of a complete binding."""
        outcomes: list[Any] = [self.outcome(rule, c, binding) for c in rule.afterwards]
        for item in rule.rule.items:
            if isinstance(item, syntax.ExtraWithin):
                event, anchor = binding[rule.number(item.role.text)], binding[rule.number(item.within.role.text)]
                outcomes.append(anchor.time - ticks(item.within.duration, self.kind) <= event.time <= anchor.time)
            elif isinstance(item, syntax.Negation):
                outcomes.append(self.absent(rule, item, binding))
        return self.decided(rule, binding, conjunction(outcomes))

    def absent(self, rule: Reading, item: syntax.Negation, binding: tuple[Occurrence, ...]) -> Any:
        """No event of the type, other than those bound, with ``after < time <= upto`` and its constraints true."""
        after, upto = self.bounds(rule, item.interval, binding)
        bound = {e.label for e in binding}
        some: Any = False
        for e in self.visible(rule, item.event.type.text, binding[0].time):
            if after < e.time <= upto and e.label not in bound:
                blocks = self.selects(rule, item.event, e, binding)
                if blocks is True:
                    return False
                some = OVERFLOW if isinstance(blocks, Undecided) else some
        return OVERFLOW if isinstance(some, Undecided) else True

    def selects(self, rule: Reading, event: syntax.Event, e: Occurrence, bound: tuple[Occurrence, ...]) -> Any:
        """Whether the constraints of a negated or aggregated event are true of ``e``: True, False or Undecided."""
        outcome = conjunction(Place(self, rule, bound, e).value(c) for c in event.constraints)
        return outcome if isinstance(outcome, Undecided) and True in outcome.outcomes else outcome is True

    def bounds(self, rule: Reading, interval: syntax.Interval, bound: tuple[Occurrence, ...]) -> tuple[Any, int]:
        """(earlier, later) end of an interval in ticks."""
        if isinstance(interval, syntax.Within):
            anchor = bound[rule.number(interval.role.text)].time
            return anchor - ticks(interval.duration, self.kind), anchor
        times = [bound[rule.number(n.text)].time for n in (interval.one, interval.other)]
        return min(times), max(times)

    # --- subscriptions ------------------------------------------------------------------------------------------

    def subscribed(self, event: Occurrence, subscriptions: Sequence[syntax.Subscription]) -> bool:
        """Whether some subscription of the event's type has a filter that is true of it."""
        for subscription in subscriptions:
            if subscription.type.text == event.type:
                outcome = True
                if subscription.filter is not None:
                    outcome = Place(self, None, (), event).value(subscription.filter)
                if isinstance(outcome, Undecided) and True in outcome.outcomes:
                    raise InputProblem.of("overflow", f"overflow of int64 in Subscribe({event.type}, ...)")
                if outcome is True:
                    return True
        return False


@dataclass(frozen=True)
class Place(Evaluator):
    """Where an expression stands: a rule, the events its roles are bound to so far, and the event at hand."""

    run: Run
    rule: Reading | None
    bound: tuple[Occurrence, ...]
    own: Occurrence | None

    @property
    def kind(self) -> TimeKind:
        return self.run.kind

    def leaf(self, node: tree.Expr) -> Any:
        if isinstance(node, syntax.Aggregate):
            return self.aggregate(node)
        event, name = self.meant(node)
        return _value(event, name)

    def leaf_type(self, node: tree.Expr) -> Type | None:
        if isinstance(node, syntax.Aggregate):
            of = None if node.attribute is None else self.declared(node.event.type.text, node.attribute)
            return AGGREGATES[node.function].result or of
        event, name = self.meant(node)
        return None if event is None else self.declared(event.type, name)

    def meant(self, node: tree.Expr) -> tuple[Occurrence | None, str]:
        """The event and the attribute that a name or ``$name`` stands for."""
        if isinstance(node, tree.Param):
            assert self.rule is not None
            role, attribute = self.rule.parameters[node.name]
            return self.bound[role], attribute
        if not isinstance(node, tree.Ref):
            raise TypeError(f"not an expression of TESLA: {type(node).__name__}")
        if node.scope is None or self.rule is None:
            return self.own, node.name
        return self.bound[self.rule.number(node.scope)], node.name

    def declared(self, type_name: str, name: str) -> Type | None:
        """The type of an attribute by its schema; of the occurrence time by the kind of time."""
        if name == "time":
            return Type.TIMESTAMP if self.kind.timestamp else Type.INT
        schema = self.run.schemas.get(type_name)
        return None if schema is None else schema.get(name)

    def aggregate(self, node: syntax.Aggregate) -> Any:
        """Over the visible events with constraints true and ``earlier <= time <= later``, in the total order."""
        assert self.rule is not None
        earlier, later = self.run.bounds(self.rule, node.interval, self.bound)
        chosen = []
        for e in self.run.visible(self.rule, node.event.type.text, self.bound[0].time):
            if earlier <= e.time <= later:
                outcome = self.run.selects(self.rule, node.event, e, self.bound)
                if isinstance(outcome, Undecided):
                    return OVERFLOW
                if outcome:
                    chosen.append(e)
        if node.attribute is None:
            return len(chosen)
        values = [_value(e, node.attribute) for e in self.run.in_order(chosen)]
        known = [v for v in values if v is not None]
        return plain_aggregate(node.function, known, node.percent)


def _value(event: Occurrence | None, name: str) -> Any:
    assert event is not None
    return event.time if name == "time" else event.attributes.get(name)


def _widened(value: Any, type_: Type | None) -> Any:
    """An int where another rule for the type gives floats is a float."""
    whole = value is None or isinstance(value, bool | str | float | list)
    return value if whole or (isinstance(value, int) and type_ is not Type.FLOAT) else float(value)


def _overflow(rule: Reading, what: str, event: Occurrence) -> InputProblem:
    message = f"overflow of int64 in {what} at {event.type}@{event.time}"
    return InputProblem(Problem("overflow", message, definition=rule.name, value=event.time))


__all__ = ["Occurrence", "Run", "evaluate"]
