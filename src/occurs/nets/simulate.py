"""The fast simulator of nets (epl-and-nets.md, section 4B, Simulation).

It fires exactly as :mod:`occurs.nets.firing` does, but the cost of a firing depends on the tokens that change and not
on the number of all tokens: tokens are indexed by what each transition needs, only transitions whose tokens changed are
tested again, each pair of partial match and row is tested at most once, and transitions that are less urgent than an
enabled one are not tested.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any

from occurs.errors import InputProblem, UsageProblem
from occurs.model.collector import uncollected
from occurs.nets.colours import Value
from occurs.nets.evaluate import Binding
from occurs.nets.firing import (
    Choose,
    Element,
    Plan,
    Run,
    bindings,
    changes,
    flows,
    later,
    number_of,
    where,
    wrong_token,
)
from occurs.nets.net import Arc, Marking, Net
from occurs.nets.simulate_needs import Agenda, Gate, Pair, Part, Search, Single, Way
from occurs.nets.simulate_plan import Need, PartPlan, RulePlan, rules
from occurs.nets.timing import Time, world


@dataclass(frozen=True)
class Choice:
    """A transition that can fire.

    Attributes:
        transition: Its name.
        bindings: The values of its variables, of the first of its bindings.
        count: The number of all its bindings.
    """

    transition: str
    bindings: list[Binding]
    count: int


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

    def reset(
        self, marking: Marking | None = None, seed: int | None = None, *, steps: int = 0, choosing: Any = None
    ) -> None:
        """Restart from ``marking``, by default from the initial marking of the net.

        Args:
            marking: The marking to start from.
            seed: The seed of the random choices; None for the first enabled element.
            steps: The number of firings that lead to ``marking``.
            choosing: A state of random choices to go on with, instead of a seed.
        """
        start = self.net.initial if marking is None else marking
        flow = flows(self.net)
        self._random = None if seed is None else random.Random(seed)
        #: random values of a run without a seed
        self._draws: random.Random | None = None
        if choosing is not None:
            own, state = choosing
            source = random.Random()
            source.setstate(state)
            self._random, self._draws = (None, source) if own else (source, None)
        self._agenda = Agenda()
        self._stores = {holder: Store(holder in flow) for holder in self.net.initial.tokens}
        #: the most urgent first
        gates = Gates(self._agenda)
        self._time = start.time
        self._rules: list[Rule] = [
            Rule(self.net, plan, k, self._stores, gates)
            if plan.whole is None
            else WholeRule(self, plan, k, self._stores, gates)
            for k, plan in enumerate(rules(self.net))
        ]
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
        self._changes = {rule.name: rule.changed() for rule in self._rules}
        #: how often it has fired
        self.steps = steps

    @property
    def marking(self) -> Marking:
        """The current marking, as a copy."""
        return Marking({holder: Counter(store.counts) for holder, store in self._stores.items()}, self._time)

    @property
    def time(self) -> Time:
        """The model time; 0 in nets without time."""
        return self._time

    @property
    def chance(self) -> random.Random | None:
        """Where random functions of the net get their values from: the random choices, or a source of their own."""
        if self._random is None and any(r.plan.whole is not None and r.plan.whole.chance for r in self._rules):
            self._draws = self._draws or random.Random(0)
            return self._draws
        return self._random

    def count(self, place: str) -> int:
        """Return the number of tokens on ``place``."""
        return sum(self._stores[self.net.holder(place)].counts.values())

    def enabled(self) -> list[Element]:
        """Return the enabled binding elements: a transition's name and the values of its variables, for each.

        They have the order of :func:`occurs.nets.firing.enabled`.
        """
        return [rule.element(ways) for rule in self._most_urgent() for ways in rule.all()]

    def choices(self, most: int) -> list[Choice]:
        """Return the transitions that can fire, each with its first bindings.

        Args:
            most: The maximum number of bindings to list of each transition, at least 1.

        Returns:
            The transitions of :meth:`enabled`, with their bindings in the same order.
        """
        return [
            Choice(rule.name, [rule.element(ways)[1] for ways in rule.all(most)], rule.size())
            for rule in self._most_urgent()
        ]

    def fire(self, element: Element) -> None:
        """Fire an enabled binding element.

        Args:
            element: A transition's name and the values of its variables.

        Raises:
            UsageProblem: The element is not enabled (``not-enabled``), or the transition does not exist.
            InputProblem: The transition puts a token on a place that cannot hold it.
        """
        name, _ = element
        rule = next((rule for rule in self._most_urgent() if rule.name == name), None)
        ways = None if rule is None else next((w for w in rule.all() if rule.element(w) == element), None)
        if rule is None or ways is None:
            if name not in self.net.transitions:
                raise UsageProblem.of("unknown-name", f"the net {self.net.name} has no transition `{name}`")
            which = "is not enabled" if rule is None else "is not enabled with these values"
            text = f"{where(self.net, name)} {which}"
            raise UsageProblem.of("not-enabled", text, hint=self._instead())
        rule.fire(ways)
        self.steps += 1

    def _instead(self) -> str:
        """What can fire now, for a hint."""
        names = [rule.name for rule in self._most_urgent()]
        listed = ", ".join(f"`{n}`" for n in names[:5]) + (", .." if len(names) > 5 else "")
        return f"enabled: {listed}" if names else "no transition is enabled"

    def tokens(self, place: str) -> Mapping[Value, int]:
        """Return how often each token is on ``place``, as a view that firings change."""
        return self._stores[self.net.holder(place)].counts

    def changes(self, transition: str) -> tuple[str, ...]:
        """Return the places whose tokens a firing of ``transition`` may change, by :meth:`Net.holder`.

        Places to which it only gives back what it takes are left out.
        """
        return self._changes[transition]

    @property
    def choosing(self) -> Any:
        """The state of random choices and values, for :meth:`reset`; None if there are none."""
        if self._random is not None:
            return False, self._random.getstate()
        return None if self._draws is None else (True, self._draws.getstate())

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
        with uncollected():
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
        """The first of the most urgent transitions that can fire; ``whole``: will all its bindings be asked for?

        If there is none, time goes on until there is.
        """
        found = self._ready_now(whole)
        if found is not None or not self.net.timed:
            return found
        before = self._time
        held = [(h, self._stores[h].counts) for h in self.net.timed]
        for time in later(self.net, held, before):
            self._at(time)
            found = self._ready_now(whole)
            if found is not None:
                return found
        self._at(before)
        return None

    def _at(self, time: Time) -> None:
        """Set the model time; what depends on it is looked at again."""
        self._time = time
        for rule in self._rules:
            if rule.plan.whole is not None:
                self._agenda.dirty |= rule.bit

    def _ready_now(self, whole: bool) -> Rule | None:
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


# --- one transition: its parts, its ways to fire, what a firing changes -----------------------------------------------


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

    def changed(self) -> tuple[str, ...]:
        """The holders whose tokens a firing may change."""
        return tuple(dict.fromkeys([h for _, _, h in self.plan.takes] + [h for _, h, _, _ in self.plan.puts]))

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

    def all(self, most: int | None = None) -> list[Ways]:
        """All binding elements, in order; or the first ``most``."""
        # the first of all are made of the first of every part, as the parts do not depend on each other
        found = list(product(*(islice(part.ways(), most) for part in self._parts)))
        if len(self._parts) > 1:
            positions = [position for plan in self.plan.parts for position in plan.positions]
            order = sorted(range(len(positions)), key=lambda k: positions[k])

            def tokens(ways: Ways) -> list[Any]:
                flat = [token for way in ways for token in way[0]]
                return [flat[k] for k in order]

            found.sort(key=tokens)
        return found[:most]

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


class WholeRule(Rule):
    """A transition whose bindings are searched as the reference does, anew after each change of its places."""

    def __init__(
        self, simulator: Simulator, plan: RulePlan, index: int, stores: dict[str, Store], gates: Gates
    ) -> None:
        super().__init__(simulator.net, plan, index, stores, gates)
        assert plan.whole is not None
        self._whole: Plan = plan.whole
        self._simulator = simulator
        self._stores = stores
        self._found: list[Binding] = []

    def counting(self) -> set[str]:
        return {t.holder for t in self._whole.takes}

    def changed(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([t.holder for t in self._whole.takes] + [p.holder for p in self._whole.puts]))

    def settle(self, whole: bool) -> bool:
        plan, now = self._whole, self._simulator.time
        pools = [plan.pool(t, Counter(self._stores[t.holder].counts), now) for t in plan.wanted]
        with world(now):
            self._found = bindings(plan, pools)
        return bool(self._found)

    def size(self) -> int:
        return len(self._found)

    def first(self) -> Ways:
        return self.number(0)

    def number(self, k: int) -> Ways:
        return (((), self._found[k]),)

    def all(self, most: int | None = None) -> list[Ways]:
        return [self.number(k) for k in range(len(self._found))][:most]

    def element(self, ways: Ways) -> Element:
        return self.name, dict(ways[0][1])

    def fire(self, ways: Ways) -> Element:
        element, net = self.element(ways), self._net
        counts = {h: store.counts for h, store in self._stores.items()}
        simulator = self._simulator
        taken, given = changes(net, self._whole, element[1], counts, simulator.time, simulator.chance)
        out = [(self._stores[h], token) for h, token in taken]
        into: list[tuple[Store, Value]] = []
        for arc, holder, token in given:
            store = self._stores[holder]
            self._check(arc, wrong_token(net, arc, token), token)
            if store.flow:
                self._check(arc, _twice(store, token, out, into), token)
            into.append((store, token))
        for store, token in out:
            store.remove(token)
        for store, token in into:
            store.add(token)
        return element


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


# --- the marking, and who is told of its changes ----------------------------------------------------------------------


class Watch:
    """The tokens of one place that fit one need of one transition.  Tells its part, and marks its transition."""

    __slots__ = ("_agenda", "_bit", "_matches", "_part", "_side", "_tests", "need")

    def __init__(self, need: Need, part: Part, side: int, agenda: Agenda, bit: int) -> None:
        self.need = need
        self._matches = need.matches
        self._tests = need.tests
        self._part = part
        self._side = side
        self._agenda = agenda
        self._bit = bit

    def put(self, token: Value) -> None:
        binding: Binding = {}
        if not self._matches(token, binding):
            return
        for test in self._tests:
            if test(binding) is not True:
                return
        self._part.put(self._side, token, binding)
        self._agenda.dirty |= self._bit

    def drop(self, token: Value) -> None:
        if self._part.drop(self._side, token):
            self._agenda.dirty |= self._bit


class Store:
    """The tokens of a place (of all places fused with it).

    ``flow``: every number may stand here once; ``numbers``: how often each does.  Watches are found by a constant that
    they want at one place of the token.
    """

    __slots__ = ("_agenda", "_always", "_at", "_by_constant", "_counting", "counts", "flow", "numbers")

    def __init__(self, flow: bool) -> None:
        self.flow = flow
        self.counts: dict[Value, int] = {}
        self.numbers: Counter[Value] = Counter()
        self._at: int | None = None
        self._by_constant: dict[object, list[Watch]] = {}
        self._always: list[Watch] = []
        self._agenda: Agenda | None = None
        self._counting = 0

    def watched(self, watches: list[Watch], agenda: Agenda, counting: int) -> None:
        """Who is told from now on; ``counting``: the bits of transitions to which it matters how often a token is
        there."""
        self._agenda = agenda if counting else None
        self._counting = counting
        places = Counter(k for w in watches for k, _ in w.need.fixed)
        self._at = max(places, key=lambda k: (places[k], -k)) if places else None
        for w in watches:
            constant = dict(w.need.fixed)
            if self._at in constant:
                self._by_constant.setdefault(constant[self._at], []).append(w)
            else:
                self._always.append(w)

    def _told(self, token: Any) -> list[Watch]:
        if self._at is None:
            return self._always
        fixed = self._by_constant.get(token[self._at], [])
        return fixed + self._always if self._always else fixed

    def add(self, token: Value) -> None:
        """One token more."""
        counts = self.counts
        if self.flow:
            self.numbers[number_of(token)] += 1
        before = counts.get(token, 0)
        counts[token] = before + 1
        if not before:
            for watch in self._told(token):
                watch.put(token)
        if self._agenda is not None:
            self._agenda.dirty |= self._counting

    def remove(self, token: Value) -> None:
        """One token less; it is there."""
        counts = self.counts
        if self.flow:
            self.numbers[number_of(token)] -= 1
        before = counts[token]
        if before > 1:
            counts[token] = before - 1
        else:
            del counts[token]
            for watch in self._told(token):
                watch.drop(token)
        if self._agenda is not None:
            self._agenda.dirty |= self._counting
