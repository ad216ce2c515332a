"""The report of a state space, in the order and words of CPN Tools' (epl-and-nets.md, section 4B, Analysis).

One section is not in reports of CPN Tools: the confluence of the outputs.  Nodes are numbered from 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from occurs.nets.colours import Colour, Int, Product, Value, plain
from occurs.nets.evaluate import Binding
from occurs.nets.explore import Properties, Space
from occurs.nets.firing import Element
from occurs.nets.ml import token_text, value_text
from occurs.nets.net import Marking, Net, Place, Role

_RULE = "-" * 72


def report(space: Space, seconds: float | None = None, outputs: Outputs | None = None) -> str:
    """Format the report of a state space, with the sections and terms of CPN Tools.

    Args:
        space: A state space, complete or partial.
        seconds: The time that the search took, for the report.
        outputs: Returns the outputs of a final marking that the section on confluence compares; by default
            :func:`occurs.nets.report.default_outputs`.

    Returns:
        The text of the report.
    """
    known = Properties(space)
    parts = [
        _statistics(space, known, seconds),
        _bounds(space, known),
        _homes(known),
        _liveness(space, known),
        _fairness(known),
        confluence(space, outputs or default_outputs(space.net), known).text(),
    ]
    if not space.complete:
        left = len(space.nodes) - space.expanded
        warning = f"PARTIAL: {_count(left, 'node')} of {len(space.nodes)} not expanded; the results below may change."
        parts.insert(0, warning)
    return "\n\n\n".join(parts) + "\n"


def multiset(tokens: Mapping[Value, int], colour: Colour, indent: str = "") -> str:
    """Format tokens as a multiset of CPN ML, one value per line, sorted by value; ``empty`` without tokens.

    Examples:
        >>> from occurs.nets.colours import Int
        >>> print(multiset({3: 1, 1: 2}, Int("INT")))
        2`1++
        1`3
    """
    lines = [f"{n}`{token_text(v, colour)}" for v, n in sorted(tokens.items())]
    return f"++\n{indent}".join(lines) or "empty"


def _statistics(space: Space, known: Properties, seconds: float | None) -> str:
    took = [] if seconds is None else [f"     Secs:   {seconds:.0f}"]
    lines = [
        *_title("Statistics"),
        "  State Space",
        f"     Nodes:  {len(space.nodes)}",
        f"     Arcs:   {len(space.steps)}",
        *took,
        f"     Status: {'Full' if space.complete else 'Partial'}",
        "",
        "  Scc Graph",
        f"     Nodes:  {len(known.components)}",
        f"     Arcs:   {known.arcs_between}",
    ]
    return "\n".join(lines)


def _bounds(space: Space, known: Properties) -> str:
    net = space.net
    # 1: the number of the instance, of which hierarchical nets have more
    names = {p: f"{net.page_of[p]}'{p} 1" for p in net.places}
    width = max([len(n) for n in names.values()], default=0) + 2
    lines = [*_title("Boundedness Properties"), "  Best Integer Bounds", f"     {'':{width}}Upper      Lower"]
    for p, name in names.items():
        bounds = known.bounds[net.holder(p)]
        lines.append(f"     {name:{width}}{bounds.upper:<11}{bounds.lower}")
    for what in ("Upper", "Lower"):
        lines += ["", f"  Best {what} Multi-set Bounds"]
        for p, name in names.items():
            bounds = known.bounds[net.holder(p)]
            tokens = bounds.upper_tokens if what == "Upper" else bounds.lower_tokens
            indent = " " * (5 + width)
            lines.append(f"     {name:{width}}{multiset(tokens, net.places[p].colour, indent)}")
    return "\n".join(lines)


def _homes(known: Properties) -> str:
    homes = known.home_markings
    return "\n".join([*_title("Home Properties"), "  Home Markings", f"     {_nodes(homes, len(known.space.nodes))}"])


def _liveness(space: Space, known: Properties) -> str:
    so_far = "" if space.complete else " (so far)"
    lines = [
        *_title("Liveness Properties"),
        f"  Dead Markings{so_far}",
        f"     {_nodes(known.dead_markings, len(space.nodes))}",
        "",
        f"  Dead Transition Instances{so_far}",
        *_transitions(known, known.dead_transitions),
        "",
        "  Live Transition Instances",
        *_transitions(known, known.live_transitions),
    ]
    return "\n".join(lines)


def _fairness(known: Properties) -> str:
    lines = _title("Fairness Properties")
    fairness = known.fairness
    if fairness is not None:
        for what, names in (
            ("Impartial Transition Instances", fairness.impartial),
            ("Fair Transition Instances", fairness.fair),
            ("Just Transition Instances", fairness.just),
            ("Transition Instances with No Fairness", fairness.none),
        ):
            lines += [f"  {what}", *_transitions(known, names), ""]
        return "\n".join(lines[:-1])
    if known.space.complete:
        line = "No infinite occurrence sequences."
    elif known.endless:
        line = "There are infinite occurrence sequences; the fair transitions are unknown (partial)."
    else:
        line = "No infinite occurrence sequences so far; the result is unknown (partial)."
    return "\n".join([*lines, f"     {line}"])


def _nodes(nodes: list[int] | None, total: int) -> str:
    if nodes is None:
        return "unknown (partial)"
    if not nodes:
        return "None"
    if len(nodes) == total and total > 1:
        return "All"
    listed = ",".join(str(n + 1) for n in nodes[:10])
    return f"{len(nodes)} [{listed},...]" if len(nodes) > 10 else f"[{listed}]"


def _transitions(known: Properties, names: list[str] | None) -> list[str]:
    if names is None:
        return ["     unknown (partial)"]
    if not names:
        return ["     None"]
    if len(names) == len(known.transitions):
        return ["     All"]
    return [f"     {known.space.net.page_of[t]}'{t} 1" for t in names]


def _title(text: str) -> list[str]:
    return [f" {text}", _RULE]


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


# --- confluence of outputs --------------------------------------------------------------------------------------------
# Do all runs to the end give the same outputs?  Inside an instant the order of outputs is free, and with it their
# numbers: they are not compared.  If the outputs of two runs differ nevertheless, both are shown, a shortest one each.


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
            yield f"{h}: {n}`{token_text(value, net.places[h].colour)}"


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
                f"Unknown (partial): all runs that have ended so far produce the same outputs (dead markings: {dead})."
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
