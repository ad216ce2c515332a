"""What a model made of a text still lacks: types of properties that no schema says, and places on the canvas."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from occurs.languages.epl.model import Model, Node
from occurs.languages.epl.model_kinds import CONDITION, VALUE
from occurs.languages.epl.model_values import value_type

#: the type of a property before anything is known of it
UNKNOWN = ""
#: how far nodes are apart, and how far one inside another is below the one before it
ACROSS, DOWN, INSIDE = 180, 120, 30


def settled(model: Model) -> Model:
    """With a type for every property: what it is compared or computed with, a text if that does not say it."""
    found: dict[tuple[str, str], str] = {}

    def name(node: Node) -> tuple[str, str]:
        return str(model.container[node.id].attributes["typeName"]), str(node.attributes["name"])

    def type_of(node: Node) -> str:
        if node.kind == "EventProperty":
            return str(node.attributes["type"]) or found.get(name(node), UNKNOWN)
        if node.kind == "Value":
            return str(node.attributes["type"])
        known = filter(None, map(type_of, model.operands[node.id]))
        return "Double" if node.kind == "Division" else next(known, "Long")

    users = [n for n in model.nodes if model.operands[n.id] and n.of.role in (CONDITION, VALUE)]
    while True:
        before = len(found)
        for node in users:
            operands = model.operands[node.id]
            number = "Long" if node.of.role == VALUE else UNKNOWN
            known = next(filter(None, map(type_of, operands)), number)
            for operand in operands if known else ():
                if operand.kind == "EventProperty" and not type_of(operand):
                    found[name(operand)] = known
        if len(found) == before:
            break
    nodes = [
        replace(n, attributes={**n.attributes, "type": found.get(name(n), "String")})
        if n.kind == "EventProperty" and value_type(n) is None
        else n
        for n in model.nodes
    ]
    return replace(model, nodes=tuple(nodes))


def laid_out(model: Model) -> Model:
    """Operands side by side above their operators; what is inside a container below one another."""
    places: dict[str, tuple[int, int]] = {}
    height = {n.id: _height(model, n) for n in model.nodes}
    listed = INSIDE * max((len(n.children) for n in model.of_kind("Event")), default=0)
    taken: set[tuple[int, int]] = set()
    column = 0
    for node in _leftwards(model):
        if node.id in places:
            continue
        below = [places[o.id][0] for o in _parts(model, node) if o.id in places]
        if not below:
            below, column = [column * ACROSS], column + 1
        at = sum(below) // len(below), height[node.id] * (DOWN + listed)
        while at in taken:
            at = at[0] + ACROSS // 2, at[1]
        places[node.id] = at
        taken.add(at)
        for number, child in enumerate(node.children if node.kind != "WithinTimer" else (), 1):
            places[child] = places[node.id][0], places[node.id][1] + number * INSIDE
    nodes = [replace(n, x=places[n.id][0], y=places[n.id][1]) for n in model.nodes]
    return replace(model, nodes=tuple(nodes))


def _parts(model: Model, node: Node) -> list[Node]:
    inside = [model.node[c] for c in node.children] if node.kind == "WithinTimer" else []
    return [*model.operands[node.id], *inside]


def _height(model: Model, node: Node) -> int:
    """How many operators are above one another up to a node."""
    return max((1 + _height(model, o) for o in _parts(model, node)), default=0)


def _leftwards(model: Model) -> Iterator[Node]:
    """Events first, then operands before their operators."""
    done: set[str] = set()

    def visit(node: Node) -> Iterator[Node]:
        if node.id in done or (node.id in model.container and model.container[node.id].kind == "Event"):
            return
        done.add(node.id)
        for part in _parts(model, node):
            yield from visit(part)
        if node.id not in model.container or model.container[node.id].kind == "WithinTimer":
            yield node

    for event in model.of_kind("Event"):
        yield from visit(event)
    for node in model.nodes:
        yield from visit(node)
