"""Changes of a net by the texts of its elements: initial tokens, guards, priorities and inscriptions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from occurs.errors import DefinitionProblem, OccursError, Problem
from occurs.nets.ml_parser import Names, parse_constant, parse_guard, parse_tokens, parse_values
from occurs.nets.net import PRIORITIES, Arc, Net, Page, Place, Transition
from occurs.nets.validate import violations

T = TypeVar("T")


@dataclass(frozen=True)
class Change:
    """A new text, as CPN ML.

    Attributes:
        element: A place (``initial``) or a transition.
        what: Which of its texts.
        text: The text; empty for no tokens and no guard.
        place: Of an arc, its place.
        into: Of an arc, whether it leads into the transition; None for both directions.
    """

    element: str
    what: Literal["initial", "guard", "priority", "arc"]
    text: str
    place: str | None = None
    into: bool | None = None


def edited(net: Net, changes: Sequence[Change]) -> Net:
    """Change texts of a net.

    The initial tokens of a fused place become those of all places of its fusion.

    Args:
        net: The net.
        changes: The changes, all of which are made, or none.

    Returns:
        The changed net.

    Raises:
        DefinitionProblem: There is no such element, a text cannot be read, or the net would break rules; all problems
            are listed, each with the element.
    """
    work = _Editor(net)
    for change in changes:
        work.apply(change)
    problems = work.problems
    if not problems:
        problems = [v.problem(work.net) for v in violations(work.net)]
    if problems:
        raise DefinitionProblem(problems)
    return work.net


class _Editor:
    def __init__(self, net: Net) -> None:
        self.net = net
        equalities = frozenset(f"eq_{c.name}" for c in net.colours)
        declared = {f.name: f for f in net.functions}
        self.names = Names(net.colour_of, net.colours, equalities=equalities, declared=declared)
        self.problems: list[Problem] = []

    def apply(self, change: Change) -> None:
        known = self.net.places if change.what == "initial" else self.net.transitions
        if change.element not in known:
            what = "place" if change.what == "initial" else "transition"
            self._wrong(change, "unknown-name", f"the net has no {what} `{change.element}`")
            return
        match change.what:
            case "initial":
                self._initial(change)
            case "guard":
                guard = self._read(change, lambda text: parse_guard(text, self.names))
                self._transition(change, lambda t: t if guard is None else replace(t, guard=guard))
            case "priority":
                level = self._priority(change)
                self._transition(change, lambda t: t if level is None else replace(t, priority=level))
            case "arc":
                self._arc(change)

    def _read(self, change: Change, parse: Callable[[str], T]) -> T | None:
        """What a text says; None if it cannot be read."""
        try:
            return parse(change.text)
        except OccursError as error:
            what = {"initial": "initial tokens", "arc": "inscription"}.get(change.what, change.what)
            for p in error.problems:
                self.problems.append(
                    replace(p, message=f"{what} of `{change.element}`: {p.message}", node=change.element)
                )
        return None

    def _wrong(self, change: Change, kind: str, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(kind, message, hint=hint, node=change.element))

    def _initial(self, change: Change) -> None:
        holder = self.net.holder(change.element)
        colour = self.net.places[change.element].colour
        values = self._read(change, lambda text: parse_values(text, self.names, colour))
        if values is None:
            return

        def filled(place: Place) -> Place:
            return replace(place, initial=values) if self.net.holder(place.name) == holder else place

        self._pages(lambda page: replace(page, places=tuple(map(filled, page.places))))

    def _priority(self, change: Change) -> int | None:
        text = change.text.strip()
        if text in PRIORITIES:
            return PRIORITIES[text]
        value = self._read(change, lambda t: parse_constant(t, self.names))
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        if value is not None:
            hint = f"use a whole number from 0, or one of {', '.join(PRIORITIES)}"
            self._wrong(change, "bad-value", f"priority of `{change.element}`: {text} is not a priority", hint)
        return None

    def _transition(self, change: Change, new: Callable[[Transition], Transition]) -> None:
        def changed(t: Transition) -> Transition:
            return new(t) if t.name == change.element else t

        self._pages(lambda page: replace(page, transitions=tuple(map(changed, page.transitions))))

    def _arc(self, change: Change) -> None:
        mine = list(self._arcs(change))
        if not mine:
            text = f"the net has no such arc between `{change.place}` and `{change.element}`"
            self._wrong(change, "unknown-name", text)
            return
        colour = self.net.places[mine[0].place].colour
        terms = self._read(change, lambda text: parse_tokens(text, self.names, colour))
        if terms is None:
            return

        def changed(arc: Arc) -> Arc:
            return replace(arc, terms=terms) if any(arc is a for a in mine) else arc

        self._pages(lambda page: replace(page, arcs=tuple(map(changed, page.arcs))))

    def _arcs(self, change: Change) -> Iterator[Arc]:
        for arc in self.net.arcs:
            if (arc.transition, arc.place) == (change.element, change.place) and change.into in (None, arc.input):
                yield arc

    def _pages(self, new: Callable[[Page], Page]) -> None:
        self.net = replace(self.net, pages=tuple(map(new, self.net.pages)))
