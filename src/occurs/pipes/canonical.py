"""The one spelling of a graph of pipes, by which a definition without text is known again."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from occurs.pipes.graph import Inner, Pipe, UserFunction, nodes


def spelling(pipes: tuple[Pipe, ...]) -> str:
    """The nodes in their order, each with its processor and its inputs; functions of Python by name."""
    place = {id(n): i for i, n in enumerate(nodes(pipes))}
    lines = [
        f"{_written(n.processor)}({' '.join(f'{place[id(p.node)]}.{p.port}' for p in n.inputs)})" for n in nodes(pipes)
    ]
    return "; ".join([*lines, " ".join(f"{place[id(p.node)]}.{p.port}" for p in pipes)])


def _written(value: Any) -> str:
    if isinstance(value, Inner):
        return "{" + spelling(value.outputs) + "}"
    if isinstance(value, UserFunction):
        return f"function {value.name}"
    if is_dataclass(value) and not isinstance(value, type):
        parts = (f"{f.name}={_written(getattr(value, f.name))}" for f in fields(value) if f.name != "span")
        return f"{type(value).__name__}[{', '.join(parts)}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_written, value))})"
    return repr(value)
