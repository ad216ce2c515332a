"""A simulator that can be taken back, and that stops where it is told to.

Markings are kept from time to time; going back starts from one of them and fires again what was fired then.  Only
choices that were made from outside are kept one by one: all others follow from the marking and the random state.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import InputProblem, UsageProblem
from occurs.model.collector import uncollected
from occurs.nets.firing import Element
from occurs.nets.net import Marking, Net
from occurs.nets.simulate import Choice, Simulator

#: firings between two markings that are kept, as long as all of them together have at most so many different tokens
EVERY, MOST_TOKENS = 1_000, 2_000_000
#: so many firings before the one that it has gone back to, a marking is kept: often one more is taken back
NEAR = 50


@dataclass(frozen=True)
class Breaks:
    """Where a run stops: behind a firing of a transition, and when a place gets a number of tokens.

    Attributes:
        transitions: The names of transitions.
        places: The numbers of tokens by the names of places.
    """

    transitions: frozenset[str] = frozenset()
    places: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Stop:
    """Why a run stopped.

    Attributes:
        reason: ``end`` (no transition is enabled), ``steps`` (so many firings were asked for), ``break``, or ``asked``
            (the function that hears of firings wants no more).
        element: The transition or place of a break.
    """

    reason: str
    element: str | None = None


@dataclass(frozen=True)
class _Kept:
    """A marking that is kept, its place in the run, and the state of random choices there."""

    steps: int
    marking: Marking
    choosing: Any


class Stepper:
    """Fires the transitions of a net one by one, forth and back.

    Args:
        net: The net.
        seed: Chooses firings at random, as in :class:`occurs.nets.simulate.Simulator`.
    """

    def __init__(self, net: Net, seed: int | None = None) -> None:
        self.net = net
        self._simulator = Simulator(net, seed)
        self._begin()

    def _begin(self) -> None:
        self._every = EVERY
        #: the places that may have changed since the last marking that is kept
        self._changed: set[str] = set()
        self._kept = [_Kept(0, self._simulator.marking, self._simulator.choosing)]
        #: what was chosen from outside, by the number of firings before it
        self._chosen: dict[int, Element] = {}

    @property
    def steps(self) -> int:
        """The number of firings."""
        return self._simulator.steps

    @property
    def marking(self) -> Marking:
        """The current marking, as a copy."""
        return self._simulator.marking

    @property
    def simulator(self) -> Simulator:
        """The simulator, to be asked for tokens and choices only."""
        return self._simulator

    def choices(self, most: int) -> list[Choice]:
        """Return the transitions that can fire, each with its first ``most`` bindings."""
        return self._simulator.choices(most)

    def reset(self, seed: int | None = None) -> None:
        """Restart from the initial marking, with random choices if there is a seed."""
        self._simulator.reset(None, seed)
        self._begin()

    # -- forth ---------------------------------------------------------------------------------------------------------

    def step(self) -> Element | None:
        """Fire the next transition; None if none is enabled.  Raises InputProblem, and is where it was."""
        before = self.steps
        try:
            element = self._simulator.step()
        except InputProblem:
            self._return(before)  # a random choice was made that must not count
            raise
        if element is not None:
            self._fired(element)
        return element

    def fire(self, element: Element) -> None:
        """Fire a binding element.  Raises UsageProblem if it is not enabled, InputProblem as :meth:`step`."""
        before = self.steps
        self._simulator.fire(element)
        self._chosen[before] = element
        self._fired(element)

    def run(
        self,
        limit: int | None = None,
        breaks: Breaks | None = None,
        each: Callable[[Element], bool] | None = None,
    ) -> Stop:
        """Fire one transition after another.

        Args:
            limit: The maximum number of firings.
            breaks: Where to stop.
            each: A function that is called with every firing, and returns whether to go on.

        Returns:
            Why the run stopped.

        Raises:
            UsageProblem: A break names an element that the net does not have.
            InputProblem: A transition puts a token on a place that cannot hold it.
        """
        breaks = breaks or Breaks()
        known = self._checked(breaks)
        end = None if limit is None else self.steps + limit
        with uncollected():
            return self._run(end, breaks, known, each)

    def _run(
        self, end: int | None, breaks: Breaks, known: dict[str, int], each: Callable[[Element], bool] | None
    ) -> Stop:
        while end is None or self.steps < end:
            element = self.step()
            if element is None:
                return Stop("end")
            more = each is None or each(element)
            found = self._broken(element[0], breaks, known)
            if found is not None:
                return Stop("break", found)
            if not more:
                return Stop("asked")
        return Stop("steps")

    def _checked(self, breaks: Breaks) -> dict[str, int]:
        """The tokens now on the places of breaks."""
        for names, what, have in (
            (breaks.transitions, "transition", self.net.transitions),
            (breaks.places, "place", self.net.places),
        ):
            for name in names:
                if name not in have:
                    raise UsageProblem.of("unknown-name", f"the net {self.net.name} has no {what} `{name}`")
        return {place: self._simulator.count(place) for place in breaks.places}

    def _broken(self, transition: str, breaks: Breaks, known: dict[str, int]) -> str | None:
        """The first break that a firing reaches; ``known``, the tokens before it, is brought up to date."""
        found = transition if transition in breaks.transitions else None
        changed = self._simulator.changes(transition) if known else ()
        for place, wanted in breaks.places.items():
            if self.net.holder(place) not in changed:
                continue
            before, after = known[place], self._simulator.count(place)
            known[place] = after
            if found is None and (before < wanted <= after or after == wanted != before):
                found = place
        return found

    # -- back ----------------------------------------------------------------------------------------------------------

    def back(self, n: int) -> None:
        """Take back the last ``n`` firings.  The state is then what it was before them, random choices included.

        Raises:
            UsageProblem: There were fewer firings.
        """
        if not 0 <= n <= self.steps:
            text = f"{n} firings cannot be taken back: there were {self.steps}"
            raise UsageProblem.of("bad-option", text)
        self._return(self.steps - n)

    def _return(self, steps: int) -> None:
        while self._kept[-1].steps > steps:
            self._kept.pop()
        last = self._kept[-1]
        self._simulator.reset(last.marking, steps=last.steps, choosing=last.choosing)
        self._chosen = {k: e for k, e in self._chosen.items() if k < steps}
        self._changed = set()
        while self.steps < steps:
            if self.steps == steps - NEAR and self.steps > self._kept[-1].steps:
                self._keep()
            again = self._chosen.get(self.steps)
            if again is None:
                again = self._simulator.step()
                assert again is not None
            else:
                self._simulator.fire(again)
            self._changed.update(self._simulator.changes(again[0]))

    def _fired(self, element: Element) -> None:
        self._changed.update(self._simulator.changes(element[0]))
        if self.steps - self._kept[-1].steps >= self._every:
            self._keep()

    def _keep(self) -> None:
        """Keep the marking; what has not changed is shared with the last one."""
        before = self._kept[-1].marking.tokens
        tokens = {p: Counter(self._simulator.tokens(p)) if p in self._changed else c for p, c in before.items()}
        self._kept.append(_Kept(self.steps, Marking(tokens), self._simulator.choosing))
        self._changed = set()
        if len(self._kept) > 2 and _size(k.marking for k in self._kept) > MOST_TOKENS:
            self._kept = self._kept[::2]
            self._every *= 2
            self._changed = set(before)  # the last one may be another now


def _size(markings: Iterable[Marking]) -> int:
    """The different tokens of markings together, those that they share counted once."""
    found = {id(tokens): len(tokens) for marking in markings for tokens in marking.tokens.values()}
    return sum(found.values())
