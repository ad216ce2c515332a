"""Do all runs to the end give the same outputs?  (epl-and-nets.md, section 4B, Analysis: confluence of outputs.)

Inside an instant the order of outputs is free, and with it their numbers: they are not compared.  If the outputs of two
runs differ nevertheless, both are shown, a shortest one each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from occurs.nets.colours import Int, Product, plain
from occurs.nets.evaluate import Binding
from occurs.nets.explore import Space
from occurs.nets.explore_properties import Properties
from occurs.nets.firing import Element
from occurs.nets.ml import value_text
from occurs.nets.net import Marking, Net, Place, Role

#: what is compared of a dead marking: texts, each with its count
Outputs = Callable[[Marking], frozenset[str]]


def default_outputs(net: Net) -> Outputs:
    """Return a function that lists the outputs of a marking.

    The outputs are the tokens of the F' places, or else of the F places, without their numbers.  In a net that has no
    such places they are all tokens.
    """
    for role in (Role.OUTPUT, Role.F):
        flows = dict.fromkeys(net.holder(p.name) for p in net.places.values() if p.role is role and _of_rows(p))
        if flows:
            return lambda marking: frozenset(_rows(net, marking, list(flows)))
    return lambda marking: frozenset(_everything(net, marking))


def _of_rows(place: Place) -> bool:
    """Is its colour (number, type code, time, payload)?"""
    colour = plain(place.colour)
    return (
        isinstance(colour, Product)
        and len(colour.parts) == 4
        and all(isinstance(plain(c), Int) for c in colour.parts[:3])
    )


def _rows(net: Net, marking: Marking, holders: list[str]) -> Iterator[str]:
    for h in holders:
        colour = plain(net.places[h].colour)
        assert isinstance(colour, Product)
        counted: Counter[str] = Counter()
        for value, n in marking.tokens[h].items():
            assert isinstance(value, tuple)
            counted[f"{value_text(value[3], colour.parts[3])} at {value[2]}"] += n
        for row, n in counted.items():
            yield f"{h}: {n}`{row}"


def _everything(net: Net, marking: Marking) -> Iterator[str]:
    for h, tokens in marking.tokens.items():
        for value, n in tokens.items():
            yield f"{h}: {n}`{value_text(value, net.places[h].colour)}"


@dataclass(frozen=True)
class Run:
    """A shortest run to a dead marking.

    Attributes:
        firings: The binding elements that fired.
        only: The outputs that the other run does not have.
    """

    firings: list[Element]
    only: list[str]


@dataclass(frozen=True)
class Confluence:
    """Whether all runs that end produce the same outputs.

    Attributes:
        classes: The nodes of the dead markings (from 0), grouped by their outputs.
        net: The net.
        runs: A run to each of the first two groups; None if there are fewer than two groups.
        complete: Whether the state space is complete.
        endless: Whether some runs never end.
    """

    classes: tuple[tuple[int, ...], ...]
    net: Net
    runs: tuple[Run, Run] | None
    complete: bool
    endless: bool

    @property
    def confluent(self) -> bool | None:
        """Whether the net is confluent; None if that is unknown: the space is partial and no two runs differ so far."""
        if len(self.classes) > 1:
            return False
        return True if self.complete else None

    def text(self) -> str:
        """Format the last section of a report."""
        lines = [" Confluence of Outputs", "-" * 72, f"     {self._verdict()}"]
        if self.endless:
            lines.append("     Runs that never end are not compared.")
        if self.runs is not None:
            together = _common(*(r.firings for r in self.runs))
            lines.append(f"     The first {together} firings of the two runs are the same.")
            for k, run in enumerate(self.runs):
                steps, node = len(run.firings), self.classes[k][0] + 1
                lines += ["", f"  Run {k + 1}, to node {node}: {steps} firings, shown from firing {together + 1}"]
                lines += [f"     {name}  {self._bound(binding)}" for name, binding in run.firings[together:]]
                lines += [
                    "   outputs that the other run does not have:",
                    *(f"     {t}" for t in run.only or ["nothing"]),
                ]
        return "\n".join(lines)

    def _verdict(self) -> str:
        dead = sum(map(len, self.classes))
        if not dead:
            return f"No dead markings{'' if self.complete else ' so far'}: nothing to compare."
        if len(self.classes) > 1:
            return f"No: the {dead} dead markings have {len(self.classes)} different outputs."
        if not self.complete:
            return (
                "Unknown (partial): all runs that have ended so "
                f"far produce the same outputs (dead markings: {dead})."
            )
        return f"Yes: all runs that end produce the same outputs (dead markings: {dead})."

    def _bound(self, binding: Binding) -> str:
        colours = self.net.colour_of
        return ", ".join(f"{name}={value_text(value, colours[name])}" for name, value in binding.items())


def confluence(space: Space, outputs: Outputs, known: Properties | None = None) -> Confluence:
    """Compare the outputs of all dead markings.

    Args:
        space: A state space.
        outputs: Returns the outputs of a marking, as texts.
        known: The properties of the space, if they are already computed.
    """
    known = known or Properties(space)
    classes: dict[frozenset[str], list[int]] = {}
    for node in known.dead_markings:
        classes.setdefault(outputs(space.marking(node)), []).append(node)
    runs = None
    if len(classes) > 1:
        (a, (first, *_)), (b, (second, *_)), *_ = classes.items()
        runs = Run(space.path(first), sorted(a - b)), Run(space.path(second), sorted(b - a))
    return Confluence(tuple(map(tuple, classes.values())), space.net, runs, space.complete, known.endless)


def _common(a: list[Element], b: list[Element]) -> int:
    same = 0
    while same < min(len(a), len(b)) and a[same] == b[same]:
        same += 1
    return same
