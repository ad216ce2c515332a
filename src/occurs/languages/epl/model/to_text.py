"""From a graphical model to EPL: its tree, and its canonical text (epl-and-nets.md, section 10, Generation).

A condition whose first property is one of event e goes inside e's filter; all its other events must be known there,
that is they stand in an earlier step of a Followed By around e.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from occurs.errors import DefinitionProblem, Problem, raise_problems
from occurs.expr.tree import Binary, Expr, Ref, Unary
from occurs.languages.epl import syntax
from occurs.languages.epl.graph.sources import STAR, Unread, expiry_of, expression_of
from occurs.languages.epl.model import Model, Node, read
from occurs.languages.epl.model.checks import validate
from occurs.languages.epl.model.palette import ARITHMETIC, COMPARISONS, CONDITION, VALUE
from occurs.languages.epl.model.values import duration_of, literal_of, schedule_of, schema_type
from occurs.languages.epl.parser import parse
from occurs.languages.epl.render import render
from occurs.model.types import Type


def text_of(source: str, file: str | None = None) -> str:
    """The EPL text of a model file.  Raises SyntaxProblem or DefinitionProblem with all problems and their nodes."""
    model, problems = read(source, file)
    raise_problems(problems + validate(model, file))
    return shown(file_of(model, file))


def shown(file: syntax.File) -> str:
    """The canonical text of statements."""
    text = render(file)
    # what is shown is what is read: the text runs through the parser
    tree, problems = parse(text)
    raise_problems(problems)
    assert render(tree) == text
    return text


def file_of(model: Model, file: str | None = None) -> syntax.File:
    """The statements of a model without problems.  Raises DefinitionProblem for conditions that belong nowhere."""
    builder = _Statements(model, file)
    schemas = tuple(schema_of(name, attributes) for name, attributes in model.types)
    query = builder.query()
    if builder.problems:
        raise DefinitionProblem(builder.problems)
    return syntax.File((*schemas, query), file)


def _parsed(text: str) -> Expr:
    """An expression that the checks of the model have read."""
    found = expression_of(text)
    assert not isinstance(found, Unread)
    return found


def schema_of(name: str, attributes: tuple[tuple[str, str], ...]) -> syntax.CreateSchema:
    """The statement that declares a type of the domain."""
    written = {"Integer": "int"}
    columns = (
        syntax.Attribute(syntax.Name(n), schema_type(t) or Type.NULL, written.get(t, t.lower())) for n, t in attributes
    )
    return syntax.CreateSchema(syntax.Name(name), tuple(columns))


@dataclass(frozen=True)
class _Step:
    """A pattern around an event, and which of its operands the event is in."""

    node: Node
    operand: int


class _Statements:
    def __init__(self, model: Model, file: str | None):
        self.model, self.file = model, file
        self.problems: list[Problem] = []
        #: of every event the operators around it, the outermost first
        self.paths: dict[str, tuple[_Step, ...]] = {}
        assert model.pattern is not None
        self.root: Node = model.pattern
        self.place(self.root, ())
        self.conditions = self.by_event()

    def report(self, kind: str, message: str, node: Node, hint: str) -> None:
        self.problems.append(Problem(kind, f"{node}: {message}", file=self.file, hint=hint, definition=node.id))

    def place(self, node: Node, path: tuple[_Step, ...]) -> None:
        if node.kind == "Event":
            self.paths[node.id] = path
        for number, child in enumerate(self.below(node)):
            self.place(child, (*path, _Step(node, number)))

    def below(self, node: Node) -> list[Node]:
        """The patterns that a pattern is made of."""
        if node.kind == "WithinTimer":
            return self.model.tops(node)
        out: list[Node] = []
        for operand in self.model.operands[node.id]:
            patterns = self.model.operands[operand.id] if operand.kind == "Range" else (operand,)
            out += [p for p in patterns if self.model.role(p) not in (CONDITION, VALUE)]
        return out

    # --- statements --------------------------------------------------------------------------------------------------

    def query(self) -> syntax.Query:
        (complex_event,) = self.model.of_kind("ComplexEvent")
        events = [o for o in self.model.operands[complex_event.id] if o.kind == "Event"]
        items = [syntax.Item(all_of=syntax.Name(self.tag(e, complex_event))) for e in events]
        for column in (self.model.node[c] for c in complex_event.children):
            items.append(self.item(column))
        into = syntax.Name(str(complex_event.attributes["typeName"]))
        where = _parsed(self.model.where) if self.model.where else None
        marks = self.model.suppress, self.model.discard
        annotations = tuple(self.annotations())
        return syntax.Query(tuple(items), self.pattern(self.root), into, where, False, *marks, annotations)

    def item(self, column: Node) -> syntax.Item:
        """A column; one without a name is named by its value, or stands for several."""
        operand = self.model.operands[column.id][0]
        name = str(column.attributes.get("name") or "")
        star = STAR.fullmatch(str(operand.attributes["text"])) if operand.kind == "Expression" else None
        if star is not None:
            return syntax.Item(all_of=None if star[1] is None else syntax.Name(star[1].strip("`")))
        return syntax.Item(self.value(operand, None), syntax.Name(name) if name else None)

    def annotations(self) -> Iterator[syntax.Annotation]:
        model = self.model
        yield syntax.Annotation(syntax.Name("Name"), model.name)
        if model.description:
            yield syntax.Annotation(syntax.Name("Description"), model.description)
        if model.domain:
            yield syntax.Annotation(syntax.Name("Tag"), arguments=(("name", "domainName"), ("value", model.domain)))
        if model.priority is not None:
            yield syntax.Annotation(syntax.Name("Priority"), model.priority)

    # --- patterns ----------------------------------------------------------------------------------------------------

    def pattern(self, node: Node) -> syntax.Pattern:
        own, operands = node.attributes, self.model.operands[node.id]
        below = [self.pattern(n) for n in self.below(node)]
        match node.kind:
            case "Event":
                tag = self.model.tags[node.id]
                conditions = tuple(self.condition(c, node) for c in self.conditions.get(node.id, ()))
                name = syntax.Name(tag) if tag else None
                return syntax.Filter(syntax.Name(own["typeName"]), name, conditions, own.get("consume") or 0)
            case "Every":
                return syntax.Every(below[0])
            case "EveryDistinct":
                expiry = expiry_of(own["expiry"]) if own.get("expiry") else None
                assert not isinstance(expiry, Unread)
                return syntax.EveryDistinct(below[0], tuple(self.value(k, None) for k in operands[1:]), expiry)
            case "FollowedBy":
                limits = [*(own.get("limits") or ()), *[None] * len(below)]
                return syntax.Followed(tuple(below), tuple(limits[: len(below) - 1]))
            case "And":
                return syntax.And(tuple(below))
            case "Or":
                return syntax.Or(tuple(below))
            case "Not":
                return syntax.Not(below[0])
            case "Repeat":
                return syntax.Repeat(below[0], own["count"])
            case "Until":
                bounds = operands[0].attributes if operands[0].kind == "Range" else {}
                return syntax.Until(bounds.get("low"), bounds.get("high"), below[0], below[1])
            case "While":
                return syntax.While(below[0], self.condition(operands[1], None))
            case "WithinTimer":
                return syntax.Within(below[0], duration_of(node), own.get("count"))
            case "TimeInterval":
                return syntax.Interval(duration_of(node))
            case "TimeSchedule":
                return syntax.At(schedule_of(node))
        raise AssertionError(f"not a pattern: {node}")

    # --- conditions --------------------------------------------------------------------------------------------------

    def by_event(self) -> Mapping[str, list[Node]]:
        """The conditions of every filter, in the order of the nodes: those that are no operands of others."""
        out: dict[str, list[Node]] = {}
        for node in self.model.nodes:
            if node.of.role == VALUE or self.model.role(node) != CONDITION or self.model.operators(node):
                continue
            events = list(self.events(node))
            if node.attributes.get("event"):
                out.setdefault(str(node.attributes["event"]), []).append(node)
                continue
            if not events:
                self.report("unknown-name", "it does not read an event", node, "compare it with a property of an event")
                continue
            first, *others = events
            out.setdefault(first.id, []).append(node)
            for other in dict.fromkeys(e.id for e in others if e is not first and not self.known(e, first)):
                name, here = self.model.node[other], self.model.tags[first.id] or str(first)
                tag = self.model.tags[other] or str(name)
                hint = f"if `{tag}` occurs later, put its property first; otherwise the two cannot be compared"
                self.report("unbound-variable", f"`{tag}` ({other}) is not bound yet at `{here}`", node, hint)
        return out

    def events(self, node: Node) -> Iterator[Node]:
        """The events whose properties a condition or a value reads, from left to right."""
        if node.kind == "EventProperty":
            yield self.model.container[node.id]
        for operand in self.model.operands[node.id]:
            yield from self.events(operand)

    def known(self, event: Node, where: Node) -> bool:
        """Has ``event`` happened when ``where`` is waited for?  Both are in one Followed By, it in an earlier step."""
        one, other = self.paths.get(event.id, ()), self.paths.get(where.id, ())
        for a, b in zip(one, other):
            if a != b:
                return a.node is b.node and a.node.kind == "FollowedBy" and a.operand < b.operand
        return False

    def condition(self, node: Node, own: Node | None) -> Expr:
        operands = self.model.operands[node.id]
        if node.kind == "Condition":
            return _parsed(str(node.attributes["text"]))
        if node.kind == "Not":
            return Unary("not", self.condition(operands[0], own))
        if node.kind in ("And", "Or"):
            parts = [self.condition(o, own) for o in operands]
            out = parts[0]
            for part in parts[1:]:
                out = Binary(node.kind.lower(), out, part)
            return out
        left, right = (self.value(o, own) for o in operands)
        return Binary(COMPARISONS[node.kind], left, right)

    def value(self, node: Node, own: Node | None) -> Expr:
        """``own``: the event in whose filter it stands."""
        if node.kind == "Value":
            found = literal_of(node)
            assert found is not None
            return found
        if node.kind == "Expression":
            return _parsed(str(node.attributes["text"]))
        if node.kind == "EventProperty":
            event = self.model.container[node.id]
            name = str(node.attributes["name"])
            bare = event is own and not self.model.tags[event.id]
            return Ref(None if bare else self.tag(event, node), name)
        left, right = (self.value(o, own) for o in self.model.operands[node.id])
        return Binary(ARITHMETIC[node.kind], left, right)

    def tag(self, event: Node, user: Node) -> str:
        tag = self.model.tags[event.id]
        if not tag:
            self.report("unknown-name", f"{event} has no tag, so it cannot be named here", user, "give the event a tag")
        return tag
