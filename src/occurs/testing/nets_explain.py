"""Why a net derived what nobody else did, or did not derive what others did: its firings, looked through.

An event is named with its number on F; a firing with its place in the run (from 1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from occurs.languages.epl.nets import Translation
from occurs.languages.epl.nets.core import Firing
from occurs.model.occurrence import Occurrence
from occurs.nets.net import Role
from occurs.nets.transform import encoded
from occurs.testing.compare import Row, row_of, same_row, show
from occurs.testing.nets import NetRun, number_of


@dataclass(frozen=True)
class Fired:
    """A firing of a search: its place in the run, the transition, the tag it took (None: it derived), and the numbers
    of all events bound by then."""

    step: int
    transition: str
    tag: str | None
    numbers: Mapping[str, int]
    statement: int
    #: the number on F that the derived event got
    made: int | None


@dataclass(frozen=True)
class Witness:
    """The run of a net, to be asked.  ``rows``: those of the input, in order."""

    translation: Translation
    ran: NetRun
    rows: Sequence[Occurrence]

    @cached_property
    def on_f(self) -> dict[int, tuple[str, int, dict[str, Any]]]:
        """All events on F by their numbers."""
        net = self.ran.net
        (f,) = {net.holder(p.name) for p in net.places.values() if p.role is Role.F and p.fusion == "F"}
        tokens: Any = self.ran.run.marking.tokens[f]
        return {token[0]: self.translation.types.event(token) for token in tokens}

    @cached_property
    def entered(self) -> dict[int, int]:
        """The number on F of each row that entered, by its place among all rows (from 0)."""
        known = [k for k, row in enumerate(self.rows) if row.type in self.translation.types.events]
        names = ("enter", encoded("enter").t2)
        firings: list[Any] = [b for name, b in self.ran.run.firings if name in names]
        return {known[b["i"] - 1]: b["s"] for b in firings}

    @cached_property
    def fired(self) -> list[Fired]:
        """All firings of searches."""
        by_name = {n: (n, f) for name, f in self.translation.firings.items() for n in (name, encoded(name).t2)}
        out = []
        for step, (name, binding) in enumerate(self.ran.run.firings, 1):
            if name in by_name:
                out.append(_fired(step, name, by_name[name][1], binding))
        return out

    # --- too much ----------------------------------------------------------------------------------------------------

    def why_derived(self, row: Row) -> Iterator[str]:
        """How the net came to derive a row."""
        for k, event in self.on_f.items():
            if not same_row(row_of(Occurrence(event[0], event[1], event[2])), row):
                continue
            made = next((f for f in self.fired if f.made == k), None)
            if made is None:
                continue
            yield f"{self.ran.name} derived it in firing {made.step}, `{made.transition}`, as number {k} on F, from:"
            yield from self.events(made.numbers)
            return

    def events(self, numbers: Mapping[str, int]) -> Iterator[str]:
        """Bound events, one per line."""
        for tag, number in numbers.items():
            yield f"  {tag} = {self.event(number)}" if number else f"  {tag}: no event"

    def event(self, number: int) -> str:
        """An event on F."""
        type_, time, values = self.on_f[number]
        return f"{show(row_of(Occurrence(type_, time, values)))}, number {number} on F"

    # --- too little --------------------------------------------------------------------------------------------------

    def why_missing(self, match: Occurrence) -> Iterator[str]:
        """How far the net came with a match of the reference (with its constituents)."""
        bound = self.numbers(match)
        if bound is None:
            yield f"{self.ran.name} does not have all events of the match on F"
            return
        yield f"the match of {match.type} at {match.time}:"
        yield from self.events(bound)
        statement = next(k for k, q in enumerate(self.translation.queries) if q.number == match.label[0])
        mine = [f for f in self.fired if f.statement == statement]
        for tag, number in bound.items():
            took = [f for f in mine if f.tag == tag and f.numbers[tag] == number and _agree(f.numbers, bound)]
            if took:
                yield f"{self.ran.name} took {tag} in firing {took[0].step}, `{took[0].transition}`"
                continue
            yield f"{self.ran.name} never took number {number} as {tag} with the events before it"
            yield from self.instead(mine, tag, number, bound)
            return
        yield f"{self.ran.name} took all events of the match, but did not derive the output event"

    def instead(self, mine: Sequence[Fired], tag: str, number: int, bound: Mapping[str, int]) -> Iterator[str]:
        """What became of the search that should have taken an event."""
        before = {t: n for t, n in bound.items() if t != tag}
        other = [f for f in mine if f.tag == tag and _agree({**f.numbers, tag: 0}, before) and f.numbers[tag] < number]
        for f in other[-1:]:
            yield f"  firing {f.step}, `{f.transition}`, took {self.event(f.numbers[tag])} instead"
        net = self.ran.net
        for name, firing in self.translation.firings.items():
            black = self.translation.net.transitions[name].black
            if firing.tag != tag or black is None:
                continue
            tokens: Any = self.ran.run.marking.tokens[net.holder(black.init)]
            waiting = sorted(v for v in tokens if {n for n in before.values() if n} >= {e[0] for e in v[1] if e[1]})
            left = ", ".join(f"({v[0]}, {[e[0] for e in v[1]]})" for v in waiting[:5])
            yield f"  on its place `{black.init}` at the end: {left or 'no tokens'}"

    def numbers(self, match: Occurrence) -> dict[str, int] | None:
        """The numbers on F of the events of a match of the reference, by tag; None if one is not there."""
        out: dict[str, int] = {}
        for (tag, _, label), event in zip(match.label[2], match.constituents, strict=True):
            found = self.entered.get(label[1]) if label[0] == "row" else self.derived(event)
            if found is None:
                return None
            out[tag] = found
        return out

    def derived(self, event: Occurrence) -> int | None:
        """The number on F of an event that a statement derived."""
        wanted = row_of(event)
        return next((k for k, (t, x, v) in self.on_f.items() if same_row(row_of(Occurrence(t, x, v)), wanted)), None)


def _fired(step: int, name: str, firing: Firing, binding: Mapping[str, Any]) -> Fired:
    numbers = {tag: number_of(binding[var]) for tag, var in firing.numbers}
    return Fired(step, name, firing.tag, numbers, firing.statement, binding.get("s") if firing.final else None)


def _agree(one: Mapping[str, int], other: Mapping[str, int]) -> bool:
    """Do two have the same events where both have any?"""
    return all(other.get(t, n) == n for t, n in one.items() if n)
