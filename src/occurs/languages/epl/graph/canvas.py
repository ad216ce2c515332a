"""A canvas: the drawing of one EPL statement as nodes, links and a head, and the kinds of nodes that it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from occurs.languages.epl import syntax

#: the node that stands for the derived event
COMPLEX, EVENT, TEXT = "ComplexEvent", "Event", "Text"


@dataclass(frozen=True)
class Tag:
    """``@Tag(name='..', value='..')``."""

    name: str
    value: str


@dataclass(frozen=True)
class Head:
    """The statement around the pattern.  ``into``: the type that it derives; ``where``: the condition on detections."""

    name: str | None = None
    description: str | None = None
    tags: tuple[Tag, ...] = ()
    priority: int | None = None
    into: str | None = None
    where: str | None = None
    suppress: bool = False
    discard: bool = False


@dataclass(frozen=True)
class Node:
    """A node of a canvas; ``fields``: those of its kind.  ``x``, ``y``: None where it has no place."""

    id: str
    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    x: float | None = None
    y: float | None = None


@dataclass(frozen=True)
class Link:
    """From an operand to its operator, where it has the place ``order`` (from 1)."""

    source: str
    target: str
    order: int = 1


@dataclass(frozen=True)
class Canvas:
    """The drawing of one statement."""

    head: Head = field(default_factory=Head)
    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()


def canvas_data(canvas: Canvas) -> dict[str, Any]:
    """A canvas as plain data for JSON; :func:`canvas_of` gives the same canvas."""
    return {
        "head": asdict(canvas.head) | {"tags": [asdict(t) for t in canvas.head.tags]},
        "nodes": [{"id": n.id, "kind": n.kind, "fields": dict(n.fields), "x": n.x, "y": n.y} for n in canvas.nodes],
        "links": [{"from": k.source, "to": k.target, "order": k.order} for k in canvas.links],
    }


def canvas_of(data: Mapping[str, Any]) -> Canvas:
    """The canvas of plain data that has its shape; members that are missing are as in an empty one."""
    head = dict(data.get("head") or {})
    tags = tuple(Tag(str(t["name"]), str(t["value"])) for t in head.pop("tags", None) or ())
    nodes = (Node(n["id"], n["kind"], n.get("fields") or {}, n.get("x"), n.get("y")) for n in data.get("nodes") or ())
    links = (Link(k["from"], k["to"], k.get("order", 1)) for k in data.get("links") or ())
    return Canvas(Head(**head, tags=tags), tuple(nodes), tuple(links))


@dataclass(frozen=True)
class Kind:
    """How many operands a node has (``most`` None: any number), and its fields with their values in a new node."""

    least: int = 0
    most: int | None = 0
    fields: Mapping[str, Any] = field(default_factory=dict)


_SCHEDULE = ("minute", "hour", "dayOfMonth", "month", "dayOfWeek")
KINDS: dict[str, Kind] = {
    EVENT: Kind(fields={"typeName": "", "tag": None, "conditions": [], "consume": 0}),
    "Every": Kind(1, 1),
    "EveryDistinct": Kind(1, 1, {"keys": [], "expiry": None}),
    "FollowedBy": Kind(2, None, {"limits": []}),
    "And": Kind(2, None),
    "Or": Kind(2, None),
    "Not": Kind(1, 1),
    "Repeat": Kind(1, 1, {"count": 1}),
    "Until": Kind(2, 2, {"low": None, "high": None}),
    "While": Kind(1, 1, {"condition": ""}),
    "Within": Kind(1, 1, {"duration": "", "count": None}),
    "TimeInterval": Kind(fields={"duration": ""}),
    "TimeSchedule": Kind(fields={**dict.fromkeys(_SCHEDULE, "*"), "second": None}),
    COMPLEX: Kind(1, 1, {"typeName": None, "columns": []}),
    TEXT: Kind(fields={"text": ""}),
}
#: the kinds of the nodes of a pattern
KIND_OF: dict[type[syntax.Pattern], str] = {
    syntax.Filter: EVENT,
    syntax.Every: "Every",
    syntax.EveryDistinct: "EveryDistinct",
    syntax.Followed: "FollowedBy",
    syntax.And: "And",
    syntax.Or: "Or",
    syntax.Not: "Not",
    syntax.Repeat: "Repeat",
    syntax.Until: "Until",
    syntax.While: "While",
    syntax.Within: "Within",
    syntax.Interval: "TimeInterval",
    syntax.At: "TimeSchedule",
}
SCHEDULE = (*_SCHEDULE, "second")


def kind_of(node: syntax.Pattern) -> str:
    """The kind of node that shows a pattern; what has none is text."""
    if isinstance(node, syntax.At) and (node.zone is not None or node.below):
        return TEXT
    return KIND_OF.get(type(node), TEXT)
