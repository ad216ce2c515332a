"""What is wrong with a graphical model, all at once, each with the node it is about (epl-and-nets.md, section 10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from occurs.errors import Problem, did_you_mean
from occurs.languages.epl.graph.sources import STAR, Unread, expiry_of, expression_of
from occurs.languages.epl.model import Model, Node
from occurs.languages.epl.model.palette import (
    ACTION,
    COLUMN,
    COMPLEX,
    CONDITION,
    CONTAINERS,
    FLAG,
    LIMITS,
    LOGICAL,
    NAME,
    PATTERN,
    REFUSED,
    TYPES,
    UNITS,
    VALUE,
    WHOLE,
)
from occurs.languages.epl.model.values import cron_of, literal_of, schema_type, value_type
from occurs.languages.kit.expressions import DEEPEST
from occurs.model.types import Type


def validate(model: Model, file: str | None = None) -> list[Problem]:
    """Every problem of a model whose form is right; ``definition`` of each is the id of its node.

    A model without a problem has a text if every condition finds its event, which :mod:`to_text` decides.
    """
    return _Checks(model, file).run()


class _Checks:
    def __init__(self, model: Model, file: str | None = None):
        self.model, self.file = model, file
        self.problems: list[Problem] = []

    def report(self, kind: str, message: str, node: Node | None = None, hint: str | None = None) -> None:
        text, id = (message, None) if node is None else (f"{node}: {message}", node.id)
        self.problems.append(Problem(kind, text, file=self.file, hint=hint, definition=id))

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

    # --- without looking at others -----------------------------------------------------------------------------------

    def attributes(self, node: Node) -> None:
        known = node.of.attributes
        for name in sorted(node.attributes.keys() - known.keys()):
            hint = did_you_mean(name, known, "attributes")
            self.report("unknown-attribute", f"it has no attribute `{name}`", node, hint)
        right = True
        for name, sort in known.items():
            if name in node.of.needed or node.attributes.get(name) is not None:
                wanted = misfit(node.attributes.get(name), sort)
                right = right and not wanted
                if wanted:
                    self.report("type-mismatch", f"`{name}` must be {wanted}", node)
        if right:
            self.values(node)

    def values(self, node: Node) -> None:
        """What the attributes of single kinds may be."""
        own = node.attributes
        if node.kind in ("TimeInterval", "WithinTimer", "Range", "Event"):
            for name in (n for n, sort in node.of.attributes.items() if sort == WHOLE and (own.get(n) or 0) < 0):
                self.report("bad-bound", f"`{name}` is {own[name]}, but must be at least 0", node)
        if node.kind in ("TimeInterval", "WithinTimer") and not any(own.get(u) for u in UNITS):
            self.report("bad-duration", f"its duration is zero: set at least one of {', '.join(UNITS)}", node)
        elif node.kind == "Range":
            low, high = own.get("low"), own.get("high")
            if low is None and high is None:
                self.report("bad-bound", "it has neither `low` nor `high`", node)
            elif high == 0 or (low is not None and high is not None and low > high):
                self.report(
                    "bad-bound", f"from {low or 0} to {high} times: low must be at most high, and high at least 1", node
                )
        elif node.kind == "Repeat" and own["count"] < 1:
            self.report("bad-bound", f"`count` is {own['count']}, but must be at least 1", node)
        elif node.kind == "FollowedBy" and len(own.get("limits") or ()) >= max(1, len(self.model.operands[node.id])):
            self.report("arity", f"it has {len(own['limits'])} limits, but a limit belongs to an arrow", node)
        elif node.kind in ("Expression", "Condition"):
            star = node.kind == "Expression" and STAR.fullmatch(own["text"])
            found = None if star else expression_of(own["text"])
            if isinstance(found, Unread):
                self.report(found.kind, f"`{own['text']}`: {found.message}", node, found.hint)
            event = own.get("event")
            if event and (event not in self.model.node or self.model.node[event].kind != "Event"):
                self.report("unknown-name", f"`{event}` is not an event", node, "write the id of an event")
        elif node.kind == "EveryDistinct" and own.get("expiry"):
            expiry = expiry_of(own["expiry"])
            if isinstance(expiry, Unread):
                self.report("bad-duration", f"`{own['expiry']}`: {expiry.message}", node, "write for example `5 min`")
        elif node.kind == "TimeSchedule":
            for name in (n for n in node.of.attributes if n in own and cron_of(n, own[n]) is None):
                hint = "write for example `*`, `5`, `*/15`, `9:17` or `[1, 15]`"
                self.report("bad-bound", f"`{own[name]}` is not valid as {name}", node, hint)
        elif node.kind in ("Value", "EventProperty"):
            if value_type(node) is None:
                hint = did_you_mean(own["type"], TYPES, "types")
                self.report("unknown-name", f"there is no type `{own['type']}`", node, hint)
            elif node.kind == "Value" and literal_of(node) is None:
                self.report("type-mismatch", f"`{own['value']}` is not a valid {own['type']}", node)

    def inside(self, node: Node) -> None:
        wanted = CONTAINERS.get(node.kind)
        for child in (self.model.node[c] for c in node.children):
            other = self.model.container[child.id]
            if wanted is None or (wanted and child.kind != wanted):
                only = f"only nodes of the kind {wanted} can be inside it" if wanted else None
                self.report("sort", f"{child} cannot be inside it", node, only)
            elif other is not node:
                self.report("sort", f"{child} is inside {other} as well", node)
        owner = _OWNERS.get(node.kind)
        here = self.model.container.get(node.id)
        if owner is not None and (here is None or here.kind != owner):
            self.report("sort", f"it must be inside a node of the kind {owner}", node)

    def links(self, node: Node) -> None:
        links = [k for k in self.model.links if k.target == node.id]
        sources = [self.model.node[k.source] for k in links]
        n, least, most = len(links), node.of.least, node.of.most
        if n < least or (most is not None and n > most):
            self.report("arity", f"{_links(n)} to it, but it takes {_takes(least, most)}", node)
        orders = sorted(k.order for k in links)
        if node.kind == "ComplexEvent":
            if len(set(orders)) < n:
                self.report("arity", f"the orders of the links to it must differ: {orders}", node)
        elif orders != list(range(1, n + 1)):
            self.report("arity", f"its operands have the orders {orders} instead of 1 to {n}", node)
        for twice in dict.fromkeys(s.id for s in sources if sources.count(s) > 1):
            self.report("duplicate-name", f"{self.model.node[twice]} is linked to it twice", node)
        for source in sources:
            if source.kind == node.kind and not node.of.alike:
                self.report("sort", f"{source} is of the same kind and cannot be linked to it", node)
            if source.kind == "EventProperty" and source.attributes.get("nested") is True:
                self.report("sort", f"{source} is nested and cannot be linked", node)

    # --- what is linked to what (there are no circles) ---------------------------------------------------------------

    def meaning(self, node: Node) -> None:
        operands, role = self.model.operands[node.id], node.of.role
        users = self.model.operators(node)
        if self.model.role(node) in (PATTERN, CONDITION) and len(users) > 1:
            hint = "a part of a pattern can only be used once: copy it"
            self.report("sort", f"it is an operand of several nodes: {names_of(users)}", node, hint)
        if role in (VALUE, CONDITION, COLUMN):
            self.all_of(node, operands, VALUE)
            self.types(node, operands)
        elif role == LOGICAL and len({self.model.role(o) for o in operands} & {PATTERN, CONDITION}) > 1:
            self.report("sort", "its operands must be either all patterns or all conditions", node)
        elif role == LOGICAL and operands:
            self.all_of(node, operands, CONDITION if self.model.role(node) == CONDITION else PATTERN)
        elif role == ACTION:
            self.all_of(node, operands, COMPLEX)
        elif role == COMPLEX:
            self.complex_event(node, operands)
        elif node.kind == "WithinTimer":
            found = self.model.tops(node)
            if len(found) != 1:
                self.report(
                    "arity", f"it must contain exactly one pattern, but contains {names_of(found) or 'none'}", node
                )
        elif node.kind == "EveryDistinct" and operands:
            self.all_of(node, operands[:1], PATTERN)
            self.all_of(node, operands[1:], VALUE)
        elif node.kind in ("Until", "While") and len(operands) == 2:
            if node.kind == "While" or operands[0].kind != "Range":
                self.all_of(node, operands[:1], PATTERN)
            self.all_of(node, operands[1:], PATTERN if node.kind == "Until" else CONDITION)
        elif node.kind != "While":
            self.all_of(node, operands, PATTERN)
        if node.kind == "Range" and not any(
            u.kind == "Until" and self.model.operands[u.id][0] is node for u in self.model.users[node.id]
        ):
            self.report("sort", "it must be the first operand of an Until", node)

    def all_of(self, node: Node, operands: Sequence[Node], role: str) -> None:
        for operand in operands:
            if self.model.role(operand) != role:
                self.report("sort", f"{operand} must be a {role} here", node)

    def types(self, node: Node, operands: Sequence[Node]) -> None:
        """Of comparisons and arithmetic."""
        if node.of.role == COLUMN or len(operands) != 2:
            return
        one, other = map(self.type, operands)
        if one is None or other is None:
            return
        if node.of.role == VALUE and not (one.numeric and other.numeric):
            self.report("type-mismatch", f"it needs numbers, not {one} and {other}", node)
        elif {one, other} == {Type.TIMESTAMP, Type.STRING}:
            pass  # a string beside a time is read as one
        elif node.of.role == CONDITION and one is not other and not (one.numeric and other.numeric):
            self.report("type-mismatch", f"it compares {one} with {other}", node)
        elif node.of.role == CONDITION and one is Type.BOOL and node.kind not in ("Equal", "NotEqual"):
            self.report("type-mismatch", "bools have no order: only equality can be compared", node)

    def type(self, node: Node) -> Type | None:
        """Of a value; None: it is not known."""
        if node.kind in ("EventProperty", "Value"):
            return value_type(node)
        if node.of.role != VALUE or node.kind == "Expression":
            return None
        found = [self.type(o) for o in self.model.operands[node.id]]
        return Type.FLOAT if node.kind == "Division" or Type.FLOAT in found else Type.INT

    def complex_event(self, node: Node, operands: Sequence[Node]) -> None:
        names = Counter(str(self.model.node[c].attributes.get("name") or "") for c in node.children)
        for name in (n for n, count in names.items() if n and count > 1):
            self.report("duplicate-name", f"two properties are called `{name}`", node)
        if not node.children and not any(o.kind == "Event" for o in operands):
            hint = "add a property, or link an event to it to take all attributes of the event"
            self.report("arity", "it has no properties", node, hint)
        patterns = [o for o in operands if o.kind != "Event"]
        self.all_of(node, patterns, PATTERN)
        if len(patterns) > 1:
            self.report("arity", f"it has several patterns: {names_of(patterns)}", node)

    # --- the whole model ---------------------------------------------------------------------------------------------

    def whole(self) -> None:
        model = self.model
        if not model.name.strip():
            self.report("unknown-name", "the pattern has no name")
        if model.priority is not None and model.priority < 0:
            self.report("bad-bound", f"the priority is {model.priority}, but must be at least 0")
        if model.where and isinstance(found := expression_of(model.where), Unread):
            self.report(found.kind, f"`where`: {found.message}", hint=found.hint)
        if not model.of_kind("Event", "TimeInterval", "TimeSchedule"):
            self.report("never-completes", "the pattern has no event and no timer")
        complex_events = model.of_kind("ComplexEvent")
        if len(complex_events) != 1:
            said = f"this one has {names_of(complex_events)}" if complex_events else "this one has none"
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


_OWNERS = {"EventProperty": "Event", "ComplexEventProperty": "ComplexEvent"}


def names_of(nodes: Sequence[Node]) -> str:
    return ", ".join(map(str, nodes))


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def misfit(value: Any, sort: str) -> str:
    """What an attribute must be, if it is not."""
    if sort == WHOLE:
        return "" if _whole(value) else "a whole number"
    if sort == LIMITS:
        whole = isinstance(value, list) and all(v is None or (_whole(v) and v > 0) for v in value)
        return "" if whole else "a list of whole numbers from 1 and null"
    if sort == FLAG:
        return "" if isinstance(value, bool) else "true or false"
    if not isinstance(value, str):
        return "a string"
    return "a name" if sort == NAME and (not value.strip() or set(value) & set("`\n")) else ""


def _links(n: int) -> str:
    return "there is no link" if n == 0 else "there is one link" if n == 1 else f"there are {n} links"


def _takes(least: int, most: int | None) -> str:
    if most is None:
        return f"{least} or more"
    return "none" if most == 0 else str(most) if least == most else f"{least} to {most}"
