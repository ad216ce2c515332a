"""Graphical models of patterns, as the editor saves them: `.pattern.json` (epl-and-nets.md, section 10).

A file is a JSON object::

    {"name": "Fire", "description": "", "domain": "Buildings", "priority": 0,
     "types": [{"name": "Smoke", "attributes": [{"name": "area", "type": "string"}]}],
     "nodes": [{"id": "n1", "kind": "Event", "typeName": "Smoke", "children": ["n2"], "x": 0, "y": 0}, ..],
     "links": [{"from": "n1", "to": "n3", "order": 1}, ..]}

Links run from the operand to the operator; ``children`` lists what is inside a container.  ``types``, which may be left
out, are those of the domain that the pattern uses: they become ``create schema``.  ``tag`` of an event may be left
out: then events have the tags ``a1``, ``a2`` .. in the order of their nodes; an empty one is none.  What the editor
keeps for itself (``x``, ``y``, ``creationDate``, ``deployed``) is kept.

What the palette has no nodes for is EPL text: a node ``Expression`` with a ``text`` is a value, and a node
``Condition`` with a ``text`` a condition, in the filter of the event whose id is its ``event``.  A column without a
name is named by its value, which may be ``*`` or ``a1.*``.  A Within timer may have a ``count`` (``timer:withinmax``),
an event the level ``consume``, an Every Distinct a duration ``expiry``, a Followed By ``limits`` (whole numbers and
null) of its arrows, and the model ``where``, ``suppress`` and ``discard``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from occurs.errors import Problem, did_you_mean
from occurs.languages.epl.model.palette import ACTION, COMPLEX, KINDS, LOGICAL, PATTERN, Kind

_FLAGS = ("suppress", "discard")
_ROOT = (
    *("name", "description", "domain", "priority", "where"),
    *_FLAGS,
    *("creationDate", "deployed", "types", "nodes", "links"),
)
_NODE = ("id", "kind", "x", "y", "children")


@dataclass(frozen=True)
class Node:
    """``attributes``: those of its kind, as they are in the file; ``children``: ids of what is inside."""

    id: str
    kind: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    children: tuple[str, ...] = ()
    x: float = 0
    y: float = 0

    @property
    def of(self) -> Kind:
        return KINDS[self.kind]

    def __str__(self) -> str:
        return f"{self.id} ({self.kind})"


@dataclass(frozen=True)
class Link:
    """From an operand to its operator, where it has the place ``order`` (from 1)."""

    source: str
    target: str
    order: int = 1


@dataclass(frozen=True)
class Model:
    """``types``: (name, ((attribute, type), ..)).  ``where``: the condition on detections as EPL; ``suppress``,
    ``discard``: the annotations of the pattern.  ``more``: what the editor keeps for itself."""

    name: str
    nodes: tuple[Node, ...] = ()
    links: tuple[Link, ...] = ()
    description: str = ""
    domain: str = ""
    priority: int | None = None
    types: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    more: Mapping[str, Any] = field(default_factory=dict)
    where: str = ""
    suppress: bool = False
    discard: bool = False

    @cached_property
    def node(self) -> Mapping[str, Node]:
        return {n.id: n for n in self.nodes}

    @cached_property
    def operands(self) -> Mapping[str, tuple[Node, ...]]:
        """What is linked to each node, in order."""
        found: dict[str, list[Link]] = {n.id: [] for n in self.nodes}
        for link in self.links:
            found[link.target].append(link)
        ordered = {to: sorted(some, key=lambda k: k.order) for to, some in found.items()}
        return {to: tuple(self.node[k.source] for k in some) for to, some in ordered.items()}

    @cached_property
    def users(self) -> Mapping[str, tuple[Node, ...]]:
        """What each node is linked to."""
        found: dict[str, list[Node]] = {n.id: [] for n in self.nodes}
        for link in self.links:
            found[link.source].append(self.node[link.target])
        return {n: tuple(some) for n, some in found.items()}

    @cached_property
    def container(self) -> Mapping[str, Node]:
        """What each node is inside of."""
        return {child: n for n in self.nodes for child in n.children}

    @cached_property
    def tags(self) -> Mapping[str, str]:
        """The tag of every event; empty: it has none."""
        events = [n for n in self.nodes if n.kind == "Event"]
        return {n.id: str(n.attributes.get("tag", f"a{i}")) for i, n in enumerate(events, 1)}

    def of_kind(self, *kinds: str) -> list[Node]:
        return [n for n in self.nodes if n.kind in kinds]

    def role(self, node: Node) -> str:
        """What a node stands for; And, Or and Not are what their first operand is.  There must be no circles."""
        while node.of.role == LOGICAL and self.operands[node.id]:
            node = self.operands[node.id][0]
        return PATTERN if node.of.role == LOGICAL else node.of.role

    def operators(self, node: Node) -> list[Node]:
        """What a node is an operand of: neither the complex event nor an action."""
        return [u for u in self.users[node.id] if u.of.role not in (COMPLEX, ACTION)]

    def tops(self, within: Node | None = None) -> list[Node]:
        """The patterns that are no operands: inside a Within timer, or in none."""
        inside = {c for n in self.of_kind("WithinTimer") for c in n.children}
        mine = inside if within is None else set(within.children)
        return [
            n
            for n in self.nodes
            if (n.id in mine) is (within is not None) and self.role(n) == PATTERN and not self.operators(n)
        ]

    @property
    def pattern(self) -> Node | None:
        """That of the complex event: the operator that is linked to it, else the first one that is no operand."""
        linked = (o for c in self.of_kind("ComplexEvent") for o in self.operands[c.id] if o.kind != "Event")
        return next(linked, None) or next(iter(self.tops()), None)


def dump(model: Model) -> str:
    """The text of the file; :func:`read` gives the same model."""
    out: dict[str, Any] = {"name": model.name, "description": model.description, "domain": model.domain}
    out |= {} if model.priority is None else {"priority": model.priority}
    out |= {"where": model.where} if model.where else {}
    out |= {flag: True for flag in _FLAGS if getattr(model, flag)}
    out |= model.more
    if model.types:
        out["types"] = [
            {"name": name, "attributes": [{"name": n, "type": t} for n, t in attributes]}
            for name, attributes in model.types
        ]
    lines = [f'  "nodes": [\n{_lines(map(_node_entry, model.nodes))}\n  ]']
    links = ({"from": k.source, "to": k.target, "order": k.order} for k in model.links)
    lines.append(f'  "links": [\n{_lines(links)}\n  ]')
    head = json.dumps(out, indent=2, ensure_ascii=False)[:-2]
    return ",\n".join([head, *lines]) + "\n}\n"


def _lines(entries: Any) -> str:
    """One object a line: changes are seen as lines."""
    return ",\n".join(f"    {json.dumps(e, ensure_ascii=False)}" for e in entries)


def _node_entry(node: Node) -> dict[str, Any]:
    children = {"children": list(node.children)} if node.children else {}
    return {"id": node.id, "kind": node.kind, **node.attributes, **children, "x": node.x, "y": node.y}


def read(text: str, file: str | None = None) -> tuple[Model, list[Problem]]:
    """The model in a text, and every problem of its form: what is no JSON, missing, unknown or of another type.

    Nodes and links with a problem are left out.  Problems have the kinds ``syntax``, ``unknown-name``, ``unsupported``,
    ``duplicate-name``; ``definition`` is the id of the node.
    """
    reader = _Reader(file)
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        reader.report("syntax", f"this is not valid JSON: {error}")
        return Model(""), reader.problems
    if not isinstance(data, dict):
        reader.report("syntax", "a model is a JSON object: name, description, domain, priority, nodes, links")
        return Model(""), reader.problems
    return reader.model(data), reader.problems


class _Reader:
    def __init__(self, file: str | None):
        self.file = file
        self.problems: list[Problem] = []

    def report(self, kind: str, message: str, node: str | None = None, hint: str | None = None) -> None:
        self.problems.append(Problem(kind, message, file=self.file, hint=hint, definition=node))

    def model(self, data: Mapping[str, Any]) -> Model:
        for name in data.keys() - set(_ROOT):
            self.report("unknown-name", f"a model has no `{name}`", hint=did_you_mean(name, _ROOT, "keys"))
        texts = {n: self.text(data.get(n, ""), n) for n in ("name", "description", "domain", "where")}
        flags = {n: data.get(n, False) for n in _FLAGS}
        for name in (n for n in _FLAGS if not isinstance(flags[n], bool)):
            self.report("syntax", f"`{name}` must be true or false, not {json.dumps(flags[name])}")
            flags[name] = False
        priority = data.get("priority")
        if priority is not None and not _whole(priority):
            self.report("syntax", f"the priority must be a whole number, not {json.dumps(priority)}")
            priority = None
        nodes: dict[str, Node] = {}
        for place, entry in enumerate(self.objects(data, "nodes"), 1):
            node = self.node(entry, place)
            if node is not None and node.id in nodes:
                self.report("duplicate-name", f"two nodes have the id `{node.id}`", node.id)
            elif node is not None:
                nodes[node.id] = node
        known = {str(e.get("id")) for e in self.objects(data, "nodes")}
        for node in nodes.values():
            for child in node.children:
                if child not in known:
                    self.report("unknown-name", f"{node} lists `{child}`, which is not a node", node.id)
        kept = [
            Node(n.id, n.kind, n.attributes, tuple(c for c in n.children if c in nodes), n.x, n.y)
            for n in nodes.values()
        ]
        links = [k for entry in self.objects(data, "links") if (k := self.link(entry, known)) is not None]
        links = [k for k in links if k.source in nodes and k.target in nodes]
        more = {n: data[n] for n in ("creationDate", "deployed") if n in data}
        types = self.types(data)
        rest: dict[str, Any] = {**texts, **flags}
        return Model(priority=priority, nodes=tuple(kept), links=tuple(links), types=types, more=more, **rest)

    def objects(self, data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        found = data.get(name, [])
        if isinstance(found, list) and all(isinstance(e, dict) for e in found):
            return found
        problem = Problem("syntax", f"`{name}` must be a list of objects", file=self.file)
        self.problems += [problem] if problem not in self.problems else []
        return []

    def text(self, value: Any, what: str, node: str | None = None) -> str:
        if not isinstance(value, str):
            self.report("syntax", f"{what} must be a string, not {json.dumps(value)}", node)
            return ""
        return value

    def node(self, entry: Mapping[str, Any], place: int) -> Node | None:
        id, kind = entry.get("id"), entry.get("kind")
        if not isinstance(id, str) or not id:
            self.report("syntax", f"node {place} has no id")
            return None
        known = {k.lower(): k for k in KINDS}
        name = known.get(str(kind).replace(" ", "").lower())
        if name is None:
            hint = did_you_mean(str(kind), KINDS, "kinds")
            self.report("unknown-name", f"`{id}` has an unknown kind: {json.dumps(kind)}", id, hint)
            return None
        children = entry.get("children", [])
        if not isinstance(children, list) or not all(isinstance(c, str) for c in children):
            self.report("syntax", f"the `children` of `{id}` must be a list of ids", id)
            children = []
        at = {n: v for n in ("x", "y") if isinstance(v := entry.get(n, 0), int | float)}
        attributes = {n: v for n, v in entry.items() if n not in _NODE}
        return Node(id, name, attributes, tuple(children), **at)

    def link(self, entry: Mapping[str, Any], known: set[str]) -> Link | None:
        ends = {n: entry.get(n) for n in ("from", "to")}
        for name, end in ends.items():
            if end not in known:
                self.report("unknown-name", f"a link goes {name} {json.dumps(end)}, which is not a node")
                return None
        order = entry.get("order", 1)
        if not _whole(order):
            self.report(
                "syntax", f"the order of a link must be a whole number, not {json.dumps(order)}", str(ends["to"])
            )
            return None
        return Link(str(ends["from"]), str(ends["to"]), order)

    def types(self, data: Mapping[str, Any]) -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
        out = []
        for entry in self.objects(data, "types"):
            name = self.text(entry.get("name"), "the name of a type")
            columns = [(a.get("name"), a.get("type")) for a in self.objects(entry, "attributes")]
            out.append((name, tuple((self.text(n, f"an attribute of `{name}`"), self.text(t, "its type"))
                                    for n, t in columns)))  # fmt: skip
        return tuple(out)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
