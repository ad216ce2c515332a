"""The one spelling of a graph of pipes, by which a definition without text is found again."""

from __future__ import annotations

from typing import Any

from occurs.model.canonical import canonical
from occurs.pipes.graph import Inner, Pipe, UserFunction, nodes


def spelling(pipes: tuple[Pipe, ...]) -> str:
    """The nodes in their order, each with its processor and its inputs; functions of Python by name."""
    place = {id(n): i for i, n in enumerate(nodes(pipes))}
    lines = [
        f"{canonical(n.processor, _own)}({' '.join(f'{place[id(p.node)]}.{p.port}' for p in n.inputs)})"
        for n in nodes(pipes)
    ]
    return "; ".join([*lines, " ".join(f"{place[id(p.node)]}.{p.port}" for p in pipes)])


def _own(value: Any) -> str | None:
    """Inner graphs are spelled as graphs; a function of Python has nothing but its name that lasts."""
    if isinstance(value, Inner):
        return spelling(value.outputs)
    return value.name if isinstance(value, UserFunction) else None
