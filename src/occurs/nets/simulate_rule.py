"""One transition of the fast simulator: its parts, its ways to fire, what a firing changes (see :mod:`simulate`)."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any

from occurs.errors import InputProblem
from occurs.nets.colours import Value
from occurs.nets.firing import Element, number_of
from occurs.nets.firing_plan import where
from occurs.nets.net import Arc, Net
from occurs.nets.simulate_join import Pair
from occurs.nets.simulate_memory import Store, Watch
from occurs.nets.simulate_parts import Agenda, Gate, Part, Search, Single, Way
from occurs.nets.simulate_plan import PartPlan, RulePlan

#: a way for every part of a transition: one binding element
Ways = tuple[Way, ...]


class Rule:
    """``index``: its place in the order of urgency; ``bit``: in the sets of the agenda."""

    def __init__(self, net: Net, plan: RulePlan, index: int, stores: dict[str, Store], gates: Gates) -> None:
        self.plan = plan
        self.name = plan.transition.name
        self.index = index
        self.bit = 1 << index
        self._net = net
        self._parts = [_part(p, gates, self.bit) for p in plan.parts]
        counts = [[stores[n.holder].counts for n in p.needs] for p in plan.parts]
        #: the parts that are no gates, those that cost least first
        self._own = sorted(
            (p for p in zip(self._parts, counts, strict=True) if not isinstance(p[0], Gate)),
            key=lambda part: not isinstance(part[0], Single),
        )
        self._takes = [(part, need, stores[holder]) for part, need, holder in plan.takes]
        self._puts = [(arc, stores[holder], term, safe) for arc, holder, term, safe in plan.puts]
        #: can a token that is taken be given back?
        self._meets = bool({id(t[2]) for t in self._takes} & {id(p[1]) for p in self._puts})

    def watch(self, agenda: Agenda) -> list[Watch]:
        """Those that tell its parts."""
        return [
            Watch(need, part, side, agenda, self.bit)
            for part, plan in zip(self._parts, self.plan.parts, strict=True)
            if plan.gate is None
            for side, need in enumerate(plan.needs)
        ]

    def counting(self) -> set[str]:
        """The holders on which it has to be known how often a token is there."""
        several: set[str] = set()
        for plan in self.plan.parts:
            holders = [n.holder for n in plan.needs]
            several |= {h for h in holders if holders.count(h) > 1}
        return several

    # -- ways --------------------------------------------------------------------------------------------------------
    def settle(self, whole: bool) -> bool:
        """Catches up; can it fire, as far as this transition alone is concerned and if no gate is empty?"""
        if self.plan.never:
            return False
        for part, counts in self._own:
            part.settle(counts, whole)
            if not part.size():
                return False
        return True

    def size(self) -> int:
        """How many binding elements it has, settled as a whole."""
        return prod(part.size() for part in self._parts)

    def first(self) -> Ways:
        # the parts do not depend on each other: the least of all is the least of each
        return tuple([part.first() for part in self._parts])

    def number(self, k: int) -> Ways:
        """Binding element ``k`` (from 0) in the order of bindings."""
        several = [p for p, part in enumerate(self._parts) if part.size() > 1]
        if len(several) > 1:
            return self.all()[k]
        chosen = [part.first() for part in self._parts]
        if several:
            chosen[several[0]] = self._parts[several[0]].way(k)
        return tuple(chosen)

    def all(self) -> list[Ways]:
        """All binding elements, in order."""
        found = list(product(*(part.ways() for part in self._parts)))
        if len(self._parts) > 1:
            positions = [position for plan in self.plan.parts for position in plan.positions]
            order = sorted(range(len(positions)), key=lambda k: positions[k])

            def tokens(ways: Ways) -> list[Any]:
                flat = [token for way in ways for token in way[0]]
                return [flat[k] for k in order]

            found.sort(key=tokens)
        return found

    def element(self, ways: Ways) -> Element:
        binding: dict[str, Value] = {}
        for _, bound in ways:
            binding.update(bound)
        for name in self.plan.hidden:
            del binding[name]
        return self.name, binding

    # -- firing ------------------------------------------------------------------------------------------------------
    def fire(self, ways: Ways) -> Element:
        """Changes the stores.  InputProblem, before any change, if a token may not be put where it should be."""
        element = self.element(ways)
        binding = element[1]
        taken = [(store, ways[part][0][need]) for part, need, store in self._takes]
        given: list[tuple[Store, Value]] = []
        for arc, store, term, safe in self._puts:
            value = term(binding)
            if not safe:
                self._check(arc, self._net.places[arc.place].colour.check(value), value)
            if store.flow:
                self._check(arc, _twice(store, value, taken, given), value)
            given.append((store, value))
        if self._meets:
            for change in list(given):
                if change in taken:
                    taken.remove(change)
                    given.remove(change)
        for store, value in taken:
            store.remove(value)
        for store, value in given:
            store.add(value)
        return element

    def _check(self, arc: Arc, wrong: str | None, value: Value) -> None:
        if wrong is not None:
            message = f"{where(self._net, self.name)} puts {value!r} on {where(self._net, arc.place)}: {wrong}"
            raise InputProblem.of("bad-value", message, value=value)


def _twice(
    store: Store, value: Value, taken: list[tuple[Store, Value]], given: list[tuple[Store, Value]]
) -> str | None:
    """What is wrong if ``value`` is put on a flow: its number may be there, and not among what is taken."""
    number = number_of(value)
    here = store.numbers[number]
    here += sum(s is store and number_of(v) == number for s, v in given)
    here -= sum(s is store and number_of(v) == number for s, v in taken)
    return f"a token with the number {number} already exists" if here > 0 else None


class Gates:
    """The gates of a simulator, by their numbers, and who watches their places."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self._gates: dict[int, Gate] = {}
        self.watches: list[Watch] = []

    def of(self, plan: PartPlan, number: int, bit: int) -> Gate:
        """The gate ``number``, with one transition more."""
        gate = self._gates.get(number)
        if gate is None:
            gate = self._gates[number] = Gate(self._agenda)
            self.watches.append(Watch(plan.needs[0], gate, 0, self._agenda, 0))
        gate.bits |= bit
        return gate


def _part(plan: PartPlan, gates: Gates, bit: int) -> Part:
    if plan.gate is not None:
        return gates.of(plan, plan.gate, bit)
    if plan.join is not None:
        return Pair(plan)
    # what a transition that takes one token from one place needs is sorted, and no more
    return Single() if len(plan.needs) == 1 and plan.black is None else Search(plan)
