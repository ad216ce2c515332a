"""The instances of triggers and the history of each (temporal-logic.md 4.1).

Readings where the specification is silent:

* ``for each c`` without query splits the state types that the trigger reads and that have the column ``c`` (all that
  have it if it reads none of them); an instance begins with the first row that has its value.
* ``observing all`` gives the states at which the instance reads something, too: of derived events.
* A state of ``observing every`` shows the tables and variables of its time, whoever wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.languages.logic import syntax
from occurs.languages.logic.semantics.reads import Mentions, Reads, touched
from occurs.languages.logic.semantics.states import Catalogue, State, as_declared, in_order, replay
from occurs.languages.logic.semantics.values import ticks
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
