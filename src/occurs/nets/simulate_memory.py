"""The marking of the fast simulator, and who is told of its changes (epl-and-nets.md, section 4B, Simulation)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from occurs.nets.colours import Value
from occurs.nets.evaluate import Binding
from occurs.nets.firing import number_of
from occurs.nets.simulate_parts import Agenda, Part
from occurs.nets.simulate_plan import Need


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
