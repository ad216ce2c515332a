"""From EPL to a graphical model (epl-and-nets.md, section 10: text to model to text is the identity on the canonical
form).  What the palette has no nodes for is a node with EPL text; what a model has no place for is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from occurs.errors import Span, raise_problems
from occurs.expr.text import Text
from occurs.expr.tree import Binary, Expr, Ref, Unary, rewrite
from occurs.languages.epl import syntax
from occurs.languages.epl.model import Link, Model, Node
from occurs.languages.epl.model.checks import validate
from occurs.languages.epl.model.palette import ARITHMETIC, COMPARISONS, CONDITION, VALUE
from occurs.languages.epl.model.values import duration_attributes, schedule_attributes, value_attributes, value_type
from occurs.languages.epl.parser import parse
from occurs.languages.epl.render import item_text, render
from occurs.languages.epl.render.expressions import duration_text
from occurs.languages.epl.syntax import chained
from occurs.languages.epl.timers import cron_text, timer_of
from occurs.model.time import Duration
from occurs.model.types import Type

_COMPARISONS = {op: kind for kind, op in COMPARISONS.items()}
_ARITHMETIC = {op: kind for kind, op in ARITHMETIC.items()}
_TYPES = {Type.INT: "Long", Type.FLOAT: "Double", Type.STRING: "String", Type.BOOL: "Boolean",
          Type.TIMESTAMP: "Timestamp"}  # fmt: skip
_ROOT = {"name": str, "description": str, "priority": int}


def model_of(text: str, file: str | None = None, unnamed: str = "stmt_1") -> Model:
    """The model of a text with one statement, and the schemas of its types; ``unnamed``: the name of the statement if
    it has none, nor a type that it derives.

    Raises SyntaxProblem, and DefinitionProblem (``unsupported``) with all that the palette cannot express.
    """
    tree, problems = parse(text, file)
    raise_problems(problems)
    builder = _Nodes(Text(text, file), unnamed)
    model = builder.file(tree)
    raise_problems(builder.source.problems)
    assert model is not None
    model = laid_out(settled(model))
    raise_problems(validate(model, file))
    return model


class _Nodes:
    def __init__(self, source: Text, unnamed: str):
        self.source, self.unnamed = source, unnamed
        self.nodes: dict[str, Node] = {}
        self.links: list[Link] = []
        #: per tag its event; per event and attribute the properties
        self.events: dict[str, str] = {}
        self.properties: dict[tuple[str, str], list[str]] = {}
        self.filters: list[tuple[syntax.Filter, str]] = []
        self.schemas: dict[str, syntax.CreateSchema] = {}

    def refuse(self, what: str, span: Span | None, hint: str | None = None) -> None:
        self.source.report("unsupported", f"the palette does not support {what}", span, hint)

    # --- nodes and links ---------------------------------------------------------------------------------------------

    def add(self, kind: str, attributes: Mapping[str, Any] | None = None, operands: Sequence[str] = ()) -> str:
        """A new node; its operands are linked to it in their order."""
        id = f"n{len(self.nodes) + 1}"
        self.nodes[id] = Node(id, kind, dict(attributes or {}))
        for order, operand in enumerate(operands, 1):
            self.links.append(Link(operand, id, order))
        return id

    def put(self, child: str, container: str) -> None:
        node = self.nodes[container]
        self.nodes[container] = replace(node, children=(*node.children, child))

    def find(self, tag: str, attribute: str, taken: Sequence[str] = ()) -> str:
        """The property of an event; another one of the name where the first is an operand already."""
        known = self.properties.setdefault((tag, attribute), [])
        free = next((p for p in known if p not in taken), None)
        if free is not None:
            return free
        schema = self.schemas.get(self.nodes[self.events[tag]].attributes["typeName"])
        types = {a.name.text: a.type for a in schema.attributes} if schema is not None else {}
        type = _TYPES.get(types.get(attribute, Type.NULL), UNKNOWN)
        id = self.add("EventProperty", {"name": attribute, "type": type})
        self.put(id, self.events[tag])
        known.append(id)
        return id

    # --- statements --------------------------------------------------------------------------------------------------

    def file(self, tree: syntax.File) -> Model | None:
        queries = [s for s in tree.statements if isinstance(s, syntax.Query)]
        for schema in (s for s in tree.statements if isinstance(s, syntax.CreateSchema)):
            self.schemas[schema.name.text] = schema
            if schema.inherits or schema.form or schema.annotations:
                self.refuse("a schema with anything but attributes", schema.span)
        for variable in (s for s in tree.statements if isinstance(s, syntax.CreateVariable)):
            self.refuse("a variable", variable.span, "write its value where it is used")
        for query in queries[1:]:
            self.refuse("a second statement", query.span, "a model has one pattern: write one file for each")
        if not queries:
            self.source.report("never-completes", "this text has no pattern", None)
            return None
        return self.query(queries[0])

    def query(self, query: syntax.Query) -> Model:
        if query.order:
            hint = "remove it: a model has no order among the matches of one event"
            self.refuse("`order by`", query.order[0].span, hint)
        for node in query.pattern.walk():
            numbers = [getattr(node, name, None) for name in ("limits", "count", "consume", "fields", "below")]
            if any(isinstance(e, syntax.Parameter) for e in syntax.expressions(tuple(numbers))):
                self.refuse("a parameter in the place of a number", node.span, "write the number")
        tags = Counter(n.tag.text for n in query.pattern.walk() if isinstance(n, syntax.Filter) and n.tag is not None)
        for tag in (t for t, number in tags.items() if number > 1):
            self.refuse(f"a tag of several events (`{tag}`)", query.span, "give each event a tag of its own")
        query = as_pattern(query)
        root, domain = self.annotations(query.annotations)
        into = query.into.text if query.into is not None else str(root.get("name") or self.unnamed)
        pattern = self.pattern(query.pattern)
        self.conditions()
        complex_event = self.add("ComplexEvent", {"typeName": into})
        self.select(query.items, complex_event)
        if pattern is not None and self.nodes[pattern].kind != "Event":
            events = sum(link.target == complex_event for link in self.links)
            self.links.append(Link(pattern, complex_event, events + 1))
        types = tuple(
            (name, tuple((a.name.text, a.written) for a in schema.attributes)) for name, schema in self.schemas.items()
        )
        return Model(
            str(root.get("name") or into),
            tuple(self.nodes.values()),
            tuple(self.links),
            str(root.get("description", "")),
            domain,
            root.get("priority"),
            types,
            where="" if query.where is None else render(query.where),
            suppress=query.suppress,
            discard=query.discard,
        )

    def annotations(self, found: Sequence[syntax.Annotation]) -> tuple[dict[str, Any], str]:
        """The attributes of the pattern that annotations say, and its domain."""
        out: dict[str, Any] = {}
        domain = ""
        for a in found:
            word = a.name.text.lower()
            tagged = dict(a.arguments)
            if word in _ROOT and isinstance(a.value, _ROOT[word]) and word not in out:
                out[word] = a.value
            elif word == "tag" and tagged.get("name") == "domainName" and isinstance(tagged.get("value"), str):
                domain = str(tagged["value"])
            else:
                hint = "write @Name, @Description, @Tag(name='domainName', value='..') and @Priority, each once"
                self.refuse(f"@{a.name.text}", a.span, hint)
        return out, domain

    def select(self, items: Sequence[syntax.Item], complex_event: str) -> None:
        columns = False
        for order, item in enumerate(items, 1):
            if item.all_of is not None and item.all_of.text in self.events and not columns:
                self.links.append(Link(self.events[item.all_of.text], complex_event, order))
                continue
            columns = True
            if item.expr is None:
                value = self.add("Expression", {"text": item_text(item)})
            else:
                value = self.value(item.expr, None) or self.add("Expression", {"text": render(item.expr)})
            name = {} if item.name is None else {"name": item.name.text}
            self.put(self.add("ComplexEventProperty", name, [value]), complex_event)

    # --- patterns ----------------------------------------------------------------------------------------------------

    def pattern(self, p: syntax.Pattern) -> str | None:
        """The node of a pattern; None if it, or something below it, is refused."""
        if isinstance(p, syntax.Filter):
            return self.event(p)
        if isinstance(p, syntax.Interval):
            return self.timer("TimeInterval", p.duration, p.span)
        if isinstance(p, syntax.At) and not p.plain:
            hint = "a schedule has numbers for the minute, hour, day of month, month, day of week and second"
            self.source.report("unsupported", "this `timer:at` has no node in the model", p.span, hint)
            return None
        if isinstance(p, syntax.At):
            texts = tuple(map(cron_text, p.fields))
            return self.add("TimeSchedule", schedule_attributes(p.fields, texts))
        if isinstance(p, syntax.Timer):
            hint = "write `timer:at(..)` or `timer:interval(..)`"
            self.source.report("unsupported", f"`{timer_of(p).word}` has no node in the model", p.span, hint)
            return None
        found = [self.pattern(c) for c in p.children]
        below = [b for b in found if b is not None]
        if len(below) < len(found):
            return None
        match p:
            case syntax.Every():
                return self.add("Every", operands=below)
            case syntax.EveryDistinct():
                return self.distinct(p, below[0])
            case syntax.Not():
                return self.add("Not", operands=below)
            case syntax.And():
                return self.add("And", operands=below)
            case syntax.Or():
                return self.add("Or", operands=below)
            case syntax.Followed():
                limits = {"limits": list(p.limits)} if any(limit is not None for limit in p.limits) else {}
                return self.add("FollowedBy", limits, below)
            case syntax.Repeat() | syntax.Until() if syntax.computed(p):
                self.refuse("a computed number of repetitions", p.span, "write a number")
                return None
            case syntax.Repeat():
                return self.add("Repeat", {"count": p.count}, below)
            case syntax.Until():
                bounds = {n: v for n, v in (("low", p.low), ("high", p.high)) if v is not None}
                first = self.add("Range", bounds, below[:1]) if bounds else below[0]
                return self.add("Until", operands=[first, below[1]])
            case syntax.Within():
                guard = self.timer("WithinTimer", p.duration, p.span, {} if p.count is None else {"count": p.count})
                if guard is not None:
                    self.put(below[0], guard)
                return guard
            case syntax.While():
                condition = self.condition(p.condition, None)
                if condition is None:
                    condition = self.add("Condition", {"text": render(p.condition)})
                return self.add("While", operands=[below[0], condition])
        raise AssertionError(f"not a pattern: {p}")

    def event(self, p: syntax.Filter) -> str | None:
        tag = "" if p.tag is None else p.tag.text
        number = sum(n.kind == "Event" for n in self.nodes.values()) + 1
        own: dict[str, Any] = {} if tag == f"a{number}" else {"tag": tag}
        own |= {"consume": p.consume} if p.consume else {}
        id = self.add("Event", {"typeName": p.type.text, **own})
        self.events[tag or id] = id
        self.filters.append((p, tag or id))
        schema = self.schemas.get(p.type.text)
        for attribute in schema.attributes if schema is not None else ():
            self.find(tag or id, attribute.name.text)
        return id

    def timer(
        self, kind: str, duration: Duration, span: Span | None, more: Mapping[str, Any] | None = None
    ) -> str | None:
        attributes = duration_attributes(duration)
        if attributes is None:
            self.refuse("a duration of zero or with fractions of a microsecond", span)
            return None
        return self.add(kind, {**attributes, **(more or {})})

    def distinct(self, p: syntax.EveryDistinct, operand: str) -> str:
        keys: list[str] = []
        for k in p.keys:
            keys.append(self.value(k, None, keys) or self.add("Expression", {"text": render(k)}))
        expiry = {} if p.expiry is None else {"expiry": duration_text(p.expiry)}
        return self.add("EveryDistinct", expiry, [operand, *keys])

    # --- expressions: None where the palette has no nodes for one ----------------------------------------------------

    def conditions(self) -> None:
        """The conditions of all filters, in the order of the pattern."""
        for p, tag in self.filters:
            for c in p.conditions:
                first = next((r for r in c.walk() if isinstance(r, Ref)), None)
                own = first is not None and first.scope in (None, tag)
                if not own or self.condition(c, tag) is None:
                    self.add("Condition", {"text": render(c), "event": self.events[tag]})

    def condition(self, e: Expr, own: str | None) -> str | None:
        """The node of a condition; ``own``: the tag whose attributes need none."""
        if not self.drawable(e, own, _COMPARISONS):
            return None
        if isinstance(e, Unary):
            return self.add("Not", operands=[self.part(e.arg, own)])
        if isinstance(e, Binary) and e.op in ("and", "or"):
            parts = [self.part(part, own) for part in chained(e.op, e)]
            return self.add(e.op.capitalize(), operands=parts)
        assert isinstance(e, Binary)
        return self.binary(_COMPARISONS[e.op], e, own)

    def part(self, e: Expr, own: str | None) -> str:
        found = self.condition(e, own)
        assert found is not None
        return found

    def binary(self, kind: str, e: Binary, own: str | None) -> str:
        left = self.value(e.left, own)
        right = self.value(e.right, own, () if left is None else (left,))
        assert left is not None
        assert right is not None
        return self.add(kind, operands=[left, right])

    def value(self, e: Expr, own: str | None, taken: Sequence[str] = ()) -> str | None:
        if not self.drawable(e, own, _ARITHMETIC):
            return None
        attributes = value_attributes(e)
        if attributes is not None:
            return self.add("Value", attributes)
        if isinstance(e, Ref):
            return self.find(str(e.scope if e.scope is not None else own), e.name, taken)
        assert isinstance(e, Binary)
        return self.binary(_ARITHMETIC[e.op], e, own)

    def drawable(self, e: Expr, own: str | None, kinds: Mapping[str, str]) -> bool:
        """Whether the palette has nodes for a condition (``kinds``: comparisons) or a value (arithmetic)."""
        if kinds is _COMPARISONS:
            if isinstance(e, Unary):
                return e.op == "not" and self.drawable(e.arg, own, kinds)
            if isinstance(e, Binary) and e.op in ("and", "or"):
                return all(self.drawable(part, own, kinds) for part in chained(e.op, e))
        elif value_attributes(e) is not None:
            return True
        elif isinstance(e, Ref):
            tag = e.scope if e.scope is not None else own
            return e.index is None and e.name != "time" and tag in self.events
        if not isinstance(e, Binary) or e.op not in kinds:
            return False
        return self.drawable(e.left, own, _ARITHMETIC) and self.drawable(e.right, own, _ARITHMETIC)


def as_pattern(query: syntax.Query) -> syntax.Query:
    """A query without a pattern, `from A(..)`, as one with the pattern that means the same: `every a1=A(..)`."""
    if not query.simple or not isinstance(query.pattern, syntax.Filter):
        return query
    tag = query.pattern.tag or syntax.Name("a1")

    def scoped(e: Expr) -> Expr:
        def rule(one: Expr) -> Expr | None:
            if not isinstance(one, Ref) or one.index is not None or one.scope == tag.text:
                return None
            return Ref(tag.text, one.name if one.scope is None else f"{one.scope}.{one.name}", span=one.span)

        return rewrite(e, rule)

    def item(i: syntax.Item) -> syntax.Item:
        if i.expr is None:
            return replace(i, all_of=tag)
        return replace(i, expr=scoped(i.expr))

    where = None if query.where is None else scoped(query.where)
    pattern = syntax.Every(replace(query.pattern, tag=tag))
    return replace(query, pattern=pattern, items=tuple(map(item, query.items)), where=where, simple=False)


# --- types of properties, and places on the canvas --------------------------------------------------------------------


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
        if node.kind == "Expression":
            return UNKNOWN
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
