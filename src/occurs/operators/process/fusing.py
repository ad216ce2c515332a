"""Functions of functions as one: what operators of Python build piece by piece is evaluated at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from occurs.expr.tree import Binary, Call, Expr, IsNull, Literal, Unary, rewrite
from occurs.operators.process.tree import Attribute, Input, Lift, Node, Pipe, nodes

_PLAIN = (Literal, Input, Attribute, Unary, Binary, IsNull, Call)
#: a function is not made of more parts than these
_MOST = 200


def fused(pipes: Sequence[Pipe]) -> list[Pipe]:
    """The pipes over a graph in which a function that only another one uses is part of that one.

    Values, steps and what items are about stay the same: both functions see the same fronts.
    """
    found = nodes(pipes)
    uses = Counter(id(p.node) for n in found for p in n.inputs)
    uses.update(id(p.node) for p in pipes)
    done: dict[int, Node] = {}
    for node in found:
        inputs = tuple(Pipe(done[id(p.node)], p.port) for p in node.inputs)
        once = [uses[id(p.node)] == 1 for p in node.inputs]
        new = _joined(node, inputs, once)
        if new is None:
            new = node if inputs == node.inputs else replace(node, inputs=inputs)
        done[id(node)] = new
    return [Pipe(done[id(p.node)], p.port) for p in pipes]


def _joined(node: Node, inputs: Sequence[Pipe], once: Sequence[bool]) -> Node | None:
    """The node with the functions before it inside, if there are such and it can take them."""
    p = node.processor
    if not isinstance(p, Lift) or p.early or not all(_plain(f) for f in _functions(p)):
        return None
    parts: list[Expr | None] = [_function(pipe) if alone else None for pipe, alone in zip(inputs, once)]
    size = sum(_size(f) for f in _functions(p)) * max(_size(e) for e in parts if e is not None) if any(parts) else 0
    if not size or size > _MOST:
        return None
    wider: list[Pipe] = []
    places: list[Expr] = []
    for pipe, part in zip(inputs, parts):
        if part is None:
            places.append(_place(pipe, wider))
        else:
            inside = [_place(i, wider) for i in pipe.node.inputs]
            places.append(rewrite(part, lambda n, inside=inside: inside[n.index] if isinstance(n, Input) else None))  # type: ignore[misc]

    def over(e: Expr) -> Expr:
        return rewrite(e, lambda n: places[n.index] if isinstance(n, Input) else None)

    lift = Lift(tuple(map(over, p.functions)), None if p.where is None else over(p.where))
    return replace(node, processor=lift, inputs=tuple(wider))


def _place(pipe: Pipe, wider: list[Pipe]) -> Input:
    """The input that a pipe is on."""
    if pipe not in wider:
        wider.append(pipe)
    return Input(wider.index(pipe))


def _functions(p: Lift) -> tuple[Expr, ...]:
    return p.functions if p.where is None else (*p.functions, p.where)


def _function(pipe: Pipe) -> Expr | None:
    """The function that a pipe is of, if it can stand inside of another."""
    p = pipe.node.processor
    whole = isinstance(p, Lift) and len(p.functions) == 1 and p.where is None and not p.early
    return p.functions[0] if whole and isinstance(p, Lift) and _plain(p.functions[0]) else None


def _plain(e: Expr) -> bool:
    return all(isinstance(n, _PLAIN) for n in e.walk())


def _size(e: Expr) -> int:
    return sum(1 for _ in e.walk())
