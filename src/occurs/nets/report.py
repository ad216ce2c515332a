"""The report of a state space, in the order and words of CPN Tools' (epl-and-nets.md, section 4B, Analysis).

One section is not in reports of CPN Tools: the confluence of the outputs.  Nodes are numbered from 1.
"""

from __future__ import annotations

from collections.abc import Mapping

from occurs.nets.colours import Colour, Value
from occurs.nets.explore import Space
from occurs.nets.explore_properties import Properties
from occurs.nets.ml import value_text
from occurs.nets.report_confluence import Outputs, confluence, default_outputs

_RULE = "-" * 72


def report(space: Space, seconds: float | None = None, outputs: Outputs | None = None) -> str:
    """Format the report of a state space, with the sections and terms of CPN Tools.

    Args:
        space: A state space, complete or partial.
        seconds: The time that the search took, for the report.
        outputs: Returns the outputs of a final marking that the section on confluence compares; by default
            :func:`occurs.nets.report_confluence.default_outputs`.

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
    lines = [f"{n}`{value_text(v, colour)}" for v, n in sorted(tokens.items())]
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
