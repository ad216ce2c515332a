"""One instance of a trigger from its activation on, and the closures that all of them share (temporal-logic.md 4.4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from occurs.model.types import Type
from occurs.operators.temporal.future import Ahead
from occurs.operators.temporal.past import OfPresent, Record
from occurs.operators.temporal.reasons import STATES, Trail, Trails, Witness
from occurs.operators.temporal.residual import FALSE, Residual, Several, leaves
from occurs.operators.temporal.rule import Rule
from occurs.operators.temporal.tables import State
from occurs.operators.temporal.terms import Term, Test
from occurs.operators.temporal.tree import lowered
from occurs.operators.temporal.values import Lost, told


class Instance:
    """``generics``: the values of the generic variables, ``values`` the same by name.  ``variables``: those of the
    states that it has for its own.  ``past``: what operators that look back keep.  ``records``: of states, the oldest
    first.  ``since``: the time at which the activation began (None: it has not yet), ``last``: of the last firing.
    ``over``: it can fire no more.  ``next_tick``: the next state of `observing every`."""

    __slots__ = (
        "generics", "last", "next_tick", "over", "past", "records", "residual", "since", "trails", "values", "variables"
    )  # fmt: skip

    def __init__(self, generics: tuple[Any, ...], values: dict[str, Any], variables: dict[str, Any]) -> None:
        self.generics, self.values, self.variables = generics, values, variables
        self.past: list[Any] = []
        self.records: deque[Record] = deque()
        self.residual: Residual = FALSE
        self.since: int | None = None
        self.last: int | None = None
        self.over = False
        self.next_tick: int | None = None
        #: how its obligations have come about, if that is asked for
        self.trails: Trails | None = None

    @property
    def size(self) -> int:
        """How many obligations, records and values are kept."""
        kept = sum(len(k) if isinstance(k, tuple) else 1 for k in self.past)
        return 1 + kept + len(self.records) + sum(isinstance(leaf, tuple) for leaf in leaves(self.residual))


@dataclass(frozen=True)
class Compiled:
    """The closures of a trigger: ``test`` of a past one, ``ahead`` of a future one; ``terms`` of its events;
    ``witness``: why a past one fires, if that is asked for."""

    rule: Rule
    present: OfPresent
    test: Test | None
    ahead: Ahead | None
    terms: tuple[Term, ...] | None
    witness: Witness | None = None

    @classmethod
    def of(cls, rule: Rule, reasons: bool = False) -> Compiled:
        """Of a trigger; ``reasons``: it can be asked why it fires."""
        present = OfPresent(rule.sources, rule.kind)
        formula = lowered(rule.formula)
        test = present.test(formula) if rule.past else None
        first = not rule.continues and rule.gap is None
        ahead = None if rule.past else Ahead(formula, present, first)
        emit = rule.emit
        terms = None if emit is None else tuple(present.term(e) for _, e in emit)
        witness = Witness(present, formula) if reasons and rule.past else None
        return cls(rule, present, test, ahead, terms, witness)

    def activate(self, instance: Instance) -> None:
        """Afresh: nothing before is seen again."""
        instance.past = [o.fresh() for o in self.present.operators]
        instance.records = deque()
        instance.since = None
        if self.ahead is not None:
            instance.residual = self.ahead.root.pending(True, instance.values)

    def advance(self, instance: Instance, s: State, reasons: bool = False) -> bool:
        """A new state: does the instance fire?  InputProblem if something that is not known decides.

        ``reasons``: keep how that has come about; then that of a firing is in ``instance.trails.hit``.
        """
        rule, r, present = self.rule, instance.values, self.present
        if instance.since is None:
            instance.since = s.time
        if present.steps or present.recording:
            self._look_back(instance, s)
        free = rule.gap is None or instance.last is None or s.time - instance.last >= rule.gap
        if self.ahead is None:
            assert self.test is not None
            hit = self.test(s, r)
        else:
            if reasons:
                instance.trails = Trails() if instance.trails is None else instance.trails
                instance.trails.hit = ()
            hit, instance.residual = self.ahead.step(instance.residual, r, s, instance.trails)
        if free and type(hit) is Lost:
            raise told(hit, rule.name, s.time)
        fired = free and hit is True
        if fired:
            instance.last = s.time
            if not rule.continues:
                hits = () if instance.trails is None else instance.trails.hit
                self.activate(instance)
                if instance.trails is not None:
                    instance.trails = Trails()
                    instance.trails.hit = hits
                return True
        if self.ahead is not None:
            residual = instance.residual
            if residual is FALSE:
                instance.over = True
            elif type(residual) is not tuple and (rule.continues or rule.gap is not None):
                instance.over = type(residual) is not Several or not residual.waits
            if instance.over:
                instance.past, instance.records = [], deque()
        return fired

    def _look_back(self, instance: Instance, s: State) -> None:
        """What goes on from state to state."""
        present = self.present
        s.past = [None] * len(present.operators)
        if present.recording:
            self._forget(instance, s.time)
            s.record = Record(s.time, [None] * present.slots, instance.records[-1] if instance.records else None)
        r = instance.values
        for goes_on, at, step in present.steps:
            if goes_on:
                instance.past[at], s.past[at] = step.advance(instance.past[at], s, r)
            else:
                s.record.values[at] = step(s, r)
        if present.recording:
            instance.records.append(s.record)

    def _forget(self, instance: Instance, time: int) -> None:
        """Records that nobody looks at any more."""
        far, records = self.present.reach, instance.records
        least, cut = 0 if self.witness is None else STATES, False
        while len(records) > max(far.states, least) and time - records[far.states].time > far.ticks:
            records.popleft()
            cut = True
        if cut and records:
            records[0].before = None

    def reasons(self, instance: Instance, s: State) -> Trail:
        """The states and remembered values of one way in which a firing has come about."""
        if instance.trails is not None:
            return instance.trails.hit
        assert self.witness is not None
        return self.witness.of(s.record, instance.values)

    def given(self, instance: Instance, s: State) -> tuple[Any, ...]:
        """The attributes of the event of a firing.  InputProblem for what is not known."""
        if self.terms is None:
            found = instance.generics
        else:
            found = tuple(t(s, instance.values) for t in self.terms)
        return tuple(self._fit(v, kind, s.time) for v, (_, kind) in zip(found, self.rule.outputs, strict=True))

    def _fit(self, value: Any, kind: Type, time: int) -> Any:
        """A value as its column has it: an int where there are floats is a float, a duration is whole ticks."""
        if type(value) is Lost:
            raise told(value, self.rule.name, time)
        if type(value) is Fraction:
            value = round(value)
        if type(value) is int:
            return float(value) if kind is Type.FLOAT else bool(value) if kind is Type.BOOL else value
        return value
