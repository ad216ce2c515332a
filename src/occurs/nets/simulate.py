"""The fast simulator of nets (epl-and-nets.md, section 4B, Simulation).

It fires exactly as :mod:`occurs.nets.firing` does, but the cost of a firing depends on the tokens that change and not
on the number of all tokens: tokens are indexed by what each transition needs, only transitions whose tokens changed are
tested again, each pair of partial match and row is tested at most once, and transitions that are less urgent than an
enabled one are not tested.
"""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from occurs.nets.firing import Choose, Element, Run, flows
from occurs.nets.net import Marking, Net
from occurs.nets.simulate_memory import Store, Watch
from occurs.nets.simulate_parts import Agenda
from occurs.nets.simulate_plan import rules
from occurs.nets.simulate_rule import Gates, Rule, Ways


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the collection of cycles, that a run does not leave: it would look at every token again and again, for a
    third of the time of a long run."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


class Simulator:
    """Fires the transitions of a net, one at a time.

    Args:
        net: The net.
        seed: Chooses every firing at random, each enabled binding element with the same probability.  Without a seed
            the simulator always fires the first enabled element, in the order of :func:`occurs.nets.firing.enabled`.
        marking: The marking to start from; by default the initial marking of the net.
        choose: A function that takes the list of enabled elements and returns the one to fire.  It replaces ``seed``,
            and costs more the more elements are enabled.

    Examples:
        >>> from occurs.nets.net import Net
        >>> Simulator(Net("empty", (), (), ())).step() is None
        True
    """

    def __init__(
        self, net: Net, seed: int | None = None, marking: Marking | None = None, choose: Choose | None = None
    ) -> None:
        self.net = net
        self._choose = choose
        self.reset(marking, seed)

    def reset(self, marking: Marking | None = None, seed: int | None = None) -> None:
        """Restart from ``marking``, by default from the initial marking of the net.

        Args:
            marking: The marking to start from.
            seed: The seed of the random choices; None for the first enabled element.
        """
        start = self.net.initial if marking is None else marking
        flow = flows(self.net)
        self._random = None if seed is None else random.Random(seed)
        self._agenda = Agenda()
        self._stores = {holder: Store(holder in flow) for holder in self.net.initial.tokens}
        #: the most urgent first
        gates = Gates(self._agenda)
        self._rules = [Rule(self.net, plan, k, self._stores, gates) for k, plan in enumerate(rules(self.net))]
        self._classes: dict[int, int] = {}
        watches: dict[str, list[Watch]] = {holder: [] for holder in self._stores}
        counting: dict[str, int] = dict.fromkeys(self._stores, 0)
        for rule in self._rules:
            priority = rule.plan.transition.priority
            self._classes[priority] = self._classes.get(priority, 0) | rule.bit
            for watch in rule.watch(self._agenda):
                watches[watch.need.holder].append(watch)
            for holder in rule.counting():
                counting[holder] |= rule.bit
        for watch in gates.watches:
            watches[watch.need.holder].append(watch)
        for holder, store in self._stores.items():
            store.watched(watches[holder], self._agenda, counting[holder])
            tokens: list[Any] = sorted(start.tokens.get(holder, Counter()).elements())
            for token in tokens:
                store.add(token)
        self._agenda.dirty = (1 << len(self._rules)) - 1
        #: how often it has fired
        self.steps = 0

    @property
    def marking(self) -> Marking:
        """The current marking, as a copy."""
        return Marking({holder: Counter(store.counts) for holder, store in self._stores.items()})

    def count(self, place: str) -> int:
        """Return the number of tokens on ``place``."""
        return sum(self._stores[self.net.holder(place)].counts.values())

    def enabled(self) -> list[Element]:
        """Return the enabled binding elements: a transition's name and the values of its variables, for each.

        They have the order of :func:`occurs.nets.firing.enabled`.
        """
        return [rule.element(ways) for rule in self._most_urgent() for ways in rule.all()]

    def step(self) -> Element | None:
        """Fire one transition.

        Returns:
            The binding element that fired, or None if no transition is enabled.

        Raises:
            InputProblem: The transition puts a token on a place that cannot hold it.
        """
        found = self._next()
        if found is None:
            return None
        rule, ways = found
        element = rule.fire(ways)
        self.steps += 1
        return element

    def run(self, limit: int | None = None, each: Callable[[Element], None] | None = None) -> Run:
        """Fire until no transition is enabled.

        Args:
            limit: The maximum number of firings.
            each: A function that is called with every firing; the returned run then has no list of firings.

        Returns:
            The final marking and the firings.

        Raises:
            InputProblem: A transition puts a token on a place that cannot hold it.
        """
        firings: list[Element] = []
        hear = firings.append if each is None else each
        end = None if limit is None else self.steps + limit
        with _uncollected():
            while (end is None or self.steps < end) and (element := self.step()) is not None:
                hear(element)
        return Run(self.marking, firings)

    # -- what fires next -----------------------------------------------------------------------------------------------
    def _next(self) -> tuple[Rule, Ways] | None:
        if self._choose is None and self._random is None:
            rule = self._first_ready(False)
            return None if rule is None else (rule, rule.first())
        among = self._most_urgent()
        if not among:
            return None
        if self._choose is not None:
            found = [(rule, ways, rule.element(ways)) for rule in among for ways in rule.all()]
            chosen = self._choose([element for _, _, element in found])
            return next((rule, ways) for rule, ways, element in found if element == chosen)
        assert self._random is not None
        sizes = [rule.size() for rule in among]
        k, n = self._random.randrange(sum(sizes)), 0
        while k >= sizes[n]:
            k -= sizes[n]
            n += 1
        return among[n], among[n].number(k)

    # -- what can fire -----------------------------------------------------------------------------------------------
    def _first_ready(self, whole: bool) -> Rule | None:
        """The first of the most urgent transitions that can fire; ``whole``: will all its bindings be asked for?"""
        agenda = self._agenda
        while bits := agenda.bits():
            low = bits & -bits
            rule = self._rules[low.bit_length() - 1]
            if not agenda.dirty & low or self._settled(rule, whole):
                return rule
        return None

    def _settled(self, rule: Rule, whole: bool) -> bool:
        """Looks at a transition again; can it fire?"""
        agenda, bit = self._agenda, rule.bit
        agenda.dirty &= ~bit
        if rule.settle(whole):
            agenda.ready |= bit
            return True
        agenda.ready &= ~bit
        return False

    def _most_urgent(self) -> list[Rule]:
        """All of the most urgent transitions that can fire; they know all their bindings."""
        first = self._first_ready(True)
        if first is None:
            return []
        agenda, found = self._agenda, []
        bits = self._classes[first.plan.transition.priority] & agenda.bits()
        while bits:
            low = bits & -bits
            bits ^= low
            rule = self._rules[low.bit_length() - 1]
            if self._settled(rule, True):
                found.append(rule)
        return found
