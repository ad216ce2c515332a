"""The reference semantics of temporal triggers: when they fire on a finite history (temporal-logic.md section 4).

A transcription that is meant to be checked by reading: every trigger is evaluated from scratch, over the whole of its
activation, at each of its states.  It shares nothing with the engine.  The states are in :mod:`.states`, whose
history a trigger has in :mod:`.histories`, what formulas mean in :mod:`.formula`.

When a trigger can fire no more is defined by the residual (:mod:`.residual`).  ``on never emit`` gives no events here,
as a notice may come earlier than it must.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.reference import ticks
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.formula import Looking, core
from occurs.languages.logic.semantics.histories import Histories, Instance, Mentions
from occurs.languages.logic.semantics.states import Catalogue, ascending, output_type
from occurs.languages.logic.semantics.values import Lost, problem_of
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type


@dataclass(frozen=True)
class Firing:
    """An instance fires at state number ``at`` of its history; its activation began at state number ``since``."""

    instance: Instance
    at: int
    since: int

    @property
    def time(self) -> int:
        return self.instance.states[self.at].time


def evaluate(
    definitions: Sequence[syntax.Definition],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    inputs: Mapping[str, Schema] | None = None,
    schemas: Mapping[str, Schema] | None = None,
    made: Sequence[Occurrence] = (),
    start: int | None = None,
    until: int | None = None,
) -> list[Occurrence]:
    """All derived events, by time, type and attributes.

    ``definitions`` (of all files) have passed the checks.  ``history``: the rows of the input; changes of tables have
    the attribute ``op``, perhaps ``old``.  ``inputs``: the types seen in the data, ``schemas`` those that triggers give
    (an int where they have a float becomes one).  ``made``: events that other languages derive.  ``start``, ``until``:
    the ends of the clock.  The label of an event is (trigger, values of the generic variables, time).  Raises
    InputProblem (``overflow``, ``bad-value``, ``conflicting-values``), DefinitionProblem (``bad-sql``, ``cycle``).
    """
    return [event for _, event in Run(definitions, history, kind, inputs, made, start, until).all_events(schemas)]


class Run:
    """One evaluation of a history."""

    def __init__(
        self,
        definitions: Sequence[syntax.Definition],
        history: Sequence[Occurrence],
        kind: TimeKind,
        inputs: Mapping[str, Schema] | None = None,
        made: Sequence[Occurrence] = (),
        start: int | None = None,
        until: int | None = None,
    ) -> None:
        self.catalogue = Catalogue(definitions, inputs or {})
        self.kind = kind
        self.histories = Histories(self.catalogue, history, made, kind, start, until)

    def all_events(self, schemas: Mapping[str, Schema] | None = None) -> list[tuple[Firing, Occurrence]]:
        """All firings with their events, by time, type and attributes."""
        found: list[_Found] = []
        for place, trigger in enumerate(evaluation_order(self.catalogue)):
            instances = self.histories.instances(trigger, [f.event for f in found])
            found += self.of_trigger(place, instances, (schemas or {}).get(output_type(trigger)))
            found.sort(key=_Found.order)
        found.sort(key=lambda f: (f.event.time, f.event.type, f.order()[2]))
        return [(f.firing, f.event) for f in found]

    def instances(self) -> list[Instance]:
        """All instances of all triggers, each with its history."""
        order = evaluation_order(self.catalogue)
        read = {type_ for t in order for type_ in types_read(self.catalogue, t)}
        found: list[_Found] = []
        out: list[Instance] = []
        for place, trigger in enumerate(order):
            instances = list(self.histories.instances(trigger, [f.event for f in found]))
            out += instances
            if output_type(trigger) in read:
                found = sorted([*found, *self.of_trigger(place, instances, None)], key=_Found.order)
        return out

    def of_trigger(self, place: int, instances: Iterable[Instance], schema: Schema | None) -> list[_Found]:
        """The firings of the instances of a trigger that has a ``place`` in the evaluation order."""
        return [_Found(place, f, self.event(f, schema)) for i in instances for f in self.firings(i)]

    def firings(self, instance: Instance) -> Iterator[Firing]:
        """4.4: every state is asked for a hit, over all states since the activation."""
        trigger, states = instance.trigger, instance.states
        formula = core(trigger.formula)
        gap = None if trigger.gap is None else ticks(trigger.gap, self.kind)
        since, last = 0, None
        for n, state in enumerate(states):
            if gap is not None and last is not None and state.time - last < gap:
                continue  # a hit would change nothing
            look = Looking(self.catalogue, self.kind, states[since : n + 1], instance.generics)
            hit = look.hit(formula, trigger.past)
            if isinstance(hit, Lost):
                raise self.undecided(hit, trigger)
            if hit:
                yield Firing(instance, n, since)
                last = state.time
                if not trigger.continues:
                    since = n + 1

    def event(self, firing: Firing, schema: Schema | None) -> Occurrence:
        """What a firing gives."""
        instance, trigger = firing.instance, firing.instance.trigger
        attributes: dict[str, Any] = dict(instance.generics)
        if trigger.emit is not None:
            look = Looking(self.catalogue, self.kind, [instance.states[firing.at]], instance.generics)
            attributes = {n.text: look.value(t, 0, {}) for n, t in trigger.emit.arguments}
        for value in attributes.values():
            if isinstance(value, Lost):
                raise self.undecided(value, trigger)
        attributes = {n: _given(v, None if schema is None else schema.get(n)) for n, v in attributes.items()}
        label = (trigger.name.text, tuple(instance.generics.values()), firing.time)
        return Occurrence(output_type(trigger), firing.time, attributes, label=label)

    def undecided(self, lost: Lost, trigger: syntax.Trigger) -> InputProblem:
        """What was lost and is needed."""
        return InputProblem(replace(problem_of(lost), definition=trigger.name.text))


@dataclass(frozen=True)
class _Found:
    """A firing of the trigger at a place of the evaluation order."""

    place: int
    firing: Firing
    event: Occurrence

    def order(self) -> tuple[Any, ...]:
        """The total order: time, place, values."""
        values = [ascending(self.event.attributes[n]) for n in sorted(self.event.attributes)]
        return self.event.time, self.place, values


def types_read(catalogue: Catalogue, trigger: syntax.Trigger) -> set[str]:
    """The types that a trigger reads."""
    names = [v.text for v in trigger.each.variables] if trigger.each else []
    return set(Mentions(catalogue, dict.fromkeys(names)).reads(trigger.formula))


def evaluation_order(catalogue: Catalogue) -> list[syntax.Trigger]:
    """A trigger comes after all that give what it reads; else by place.  DefinitionProblem (``cycle``)."""
    left = list(catalogue.triggers)
    order: list[syntax.Trigger] = []
    reads = {t.name.text: types_read(catalogue, t) for t in left}
    while left:
        ready = [t for t in left if not any(output_type(o) in reads[t.name.text] for o in left)]
        if not ready:
            raise DefinitionProblem.of("cycle", f"the triggers form a cycle: {', '.join(t.name.text for t in left)}")
        order.append(ready[0])
        left.remove(ready[0])
    return order


def _given(value: Any, type_: Type | None) -> Any:
    """An int where the type has floats is a float; a duration is whole ticks."""
    if isinstance(value, Fraction):
        return round(value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and type_ is Type.FLOAT else value
