"""What is wrong with a graphical model, all at once, each with the node it is about (epl-and-nets.md, section 10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from occurs.errors import Problem, did_you_mean
from occurs.languages.epl.model import Model
from occurs.languages.epl.model_checks_nodes import NodeChecks, names_of
from occurs.languages.epl.model_kinds import REFUSED, TYPES, VALUE
from occurs.languages.epl.model_values import schema_type
from occurs.languages.expressions import DEEPEST


def validate(model: Model, file: str | None = None) -> list[Problem]:
    """Every problem of a model whose form is right; ``definition`` of each is the id of its node.  None: it has a
    text, if all conditions find the event they belong to, which :mod:`model_text` says."""
    return _Checks(model, file).run()


class _Checks(NodeChecks):
    def run(self) -> list[Problem]:
        self.whole()
        self.domain()
        self.tags()
        right = [n for n in self.model.nodes if n.of.role != REFUSED]
        for node in self.model.nodes:
            if node.of.role == REFUSED:
                self.report("unsupported", node.of.why, node)
                continue
            self.attributes(node)
            self.inside(node)
            self.links(node)
        if not self.cycles():
            for node in right:
                self.meaning(node)
            self.reach()
        return self.problems

    def whole(self) -> None:
        model = self.model
        if not model.name.strip():
            self.report("unknown-name", "the pattern has no name")
        if model.priority is not None and model.priority < 0:
            self.report("bad-bound", f"the priority is {model.priority}, but must be at least 0")
        if not model.of_kind("Event"):
            self.report("never-completes", "the pattern has no event")
        found = model.of_kind("ComplexEvent")
        if len(found) != 1:
            said = f"this one has {names_of(found)}" if found else "this one has none"
            self.report("arity", f"a pattern must have exactly one complex event: {said}")

    def domain(self) -> None:
        for name in _twice(name for name, _ in self.model.types):
            self.report("duplicate-definition", f"two types are called `{name}`")
        for name, attributes in self.model.types:
            for attribute in _twice(a for a, _ in attributes):
                self.report("duplicate-name", f"`{name}` has two attributes called `{attribute}`")
            for attribute, type in attributes:
                if schema_type(type) is None:
                    hint = did_you_mean(type, TYPES, "types")
                    self.report("unknown-name", f"`{name}.{attribute}` has an unknown type: `{type}`", hint=hint)
        types = {name: [a for a, _ in attributes] for name, attributes in self.model.types}
        for event in self.model.of_kind("Event"):
            known = types.get(str(event.attributes.get("typeName")))
            for node in (self.model.node[c] for c in event.children if known is not None):
                name = str(node.attributes.get("name"))
                if node.kind == "EventProperty" and known is not None and name not in known:
                    hint = did_you_mean(name, known, "attributes")
                    self.report("unknown-attribute", f"the type of {event} has no attribute `{name}`", node, hint)

    def tags(self) -> None:
        tags = self.model.tags
        for tag in _twice(t for t in tags.values() if t):
            first, second, *_ = (n for n in self.model.of_kind("Event") if tags[n.id] == tag)
            self.report("duplicate-name", f"{first} has the tag `{tag}` as well", second)

    def cycles(self) -> bool:
        """Reports nodes that are operands of themselves, by way of others or of what they contain, and what is nested
        too deeply."""
        height: dict[str, int] = {}
        for node in self.model.nodes:
            path: list[str] = []
            stack = [(node.id, False)]
            while stack:
                at, left = stack.pop()
                below = self.below(at)
                if left:
                    path.pop()
                    height[at] = 1 + max((height[b] for b in below), default=0)
                    if height[at] > DEEPEST:
                        text = f"operators are nested more than {DEEPEST} levels deep"
                        self.report("bad-bound", text, self.model.node[at])
                        return True
                elif at in path:
                    around = " <- ".join([*path[path.index(at) :], at])
                    self.report("cycle", f"the links form a cycle: {around}", self.model.node[at])
                    return True
                elif at not in height:
                    path.append(at)
                    stack += [(at, True), *((b, False) for b in below)]
        return False

    def below(self, id: str) -> list[str]:
        """The operands of a node, and what is inside a Within timer."""
        inside = self.model.node[id].children if self.model.node[id].kind == "WithinTimer" else ()
        return [*(n.id for n in self.model.operands[id]), *inside]

    def reach(self) -> None:
        """Reports what is no part of the pattern of the complex event."""
        model = self.model
        for node in model.tops():
            if node is not model.pattern:
                hint = "link it to an operator of the pattern, or delete it"
                self.report("never-completes", "it is not part of the pattern of the complex event", node, hint)
        for node in model.nodes:
            if node.of.role == VALUE and node.kind != "EventProperty" and not model.users[node.id]:
                self.report("sort", "it is not used", node, "link it to an operator or to a property")


def _twice(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]
