"""Types of what flows in a graph of pipes: the types of the ports of every processor (pipes.md, 2.3 and section 3).

``any`` goes anywhere and is checked when values come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Expr, Param
from occurs.model.types import Schema
from occurs.operators.process import tree
from occurs.operators.process.declared import element_of
from occurs.operators.process.function_kinds import Finding, Report, Unfit, kind_of, typed
from occurs.operators.process.kinds import (
    ANY,
    BOOL,
    NULL,
    NUMBER,
    TUPLE,
    Kind,
    goes_into,
    join,
    of_schema,
    tuple_of,
)
from occurs.operators.process.tree import Inner, Node, Pipe, nodes

Kinds = Sequence[Kind]


class Mismatch(Exception):
    """What comes into input ``port`` of ``node`` is of the type ``found``; ``wanted`` says what would fit."""

    def __init__(self, node: Node, port: int, found: Kind, wanted: str) -> None:
        super().__init__(f"input {port} of {node.processor.kind_name} takes {wanted}, not {found}")
        self.node, self.port, self.found, self.wanted = node, port, found, wanted


@dataclass(frozen=True)
class Typing:
    """Where pipes stand: the types of placeholders, of variables, of event types (None: they are not known).

    ``report``: what is told of everything that is wrong with functions; without it the first of it is raised.
    """

    schemas: Mapping[str, Schema] | None = None
    placeholders: tuple[Kind, ...] = ()
    context: Mapping[str, Kind] = field(default_factory=dict)
    report: Report | None = None

    def kinds(self, pipes: Sequence[Pipe]) -> list[Kind]:
        """The types of pipes; Mismatch at the first connection that does not fit, or a problem of a function."""
        done = self.of_all(pipes)
        return [done[id(p.node)][p.port] for p in pipes]

    def of_all(self, pipes: Sequence[Pipe]) -> dict[int, list[Kind]]:
        """The types of the outputs of every node that these pipes need, by the identity of the node."""
        done: dict[int, list[Kind]] = {}
        for node in nodes(pipes):
            done[id(node)] = self.of(node, [done[id(p.node)][p.port] for p in node.inputs])
        return done

    def of(self, node: Node, inputs: Kinds) -> list[Kind]:
        """The types of the outputs of a node, for those of its inputs."""
        p = node.processor
        if isinstance(p, tree.Placeholder):
            return [self.placeholders[p.index] if p.index < len(self.placeholders) else ANY]
        if isinstance(p, tree.Events):
            return [self.events(p)]
        return p.kinds(At(self, node, inputs))

    def events(self, p: tree.Events) -> Kind:
        """The type of the events of some types: the attributes of all of them."""
        if p.item is not None or self.schemas is None or any(t not in self.schemas for t in p.types):
            return p.item or TUPLE
        columns: dict[str, Kind] = {}
        for t in p.types:
            for name, kind in of_schema(self.schemas[t]).columns or ():
                columns[name] = join(columns[name], kind) if name in columns else kind
        return tuple_of(columns.items())

    def inner(self, inner: Inner, inputs: Kinds, variables: Mapping[str, Kind]) -> list[Kind]:
        """The types of the outputs of an inner processor."""
        context = {**self.context, **variables}
        return Typing(self.schemas, tuple(inputs), context, self.report).kinds(inner.outputs)


def need_variables(pipe: Pipe) -> None:
    """DefinitionProblem if a function uses a variable that nothing around it binds."""

    def report(finding: Finding) -> None:
        if isinstance(finding.part, Param):
            raise DefinitionProblem.of(finding.kind, finding.message, hint=finding.hint)

    Typing(report=report).of_all([pipe])


@dataclass(frozen=True)
class At:
    """A node with the types of its inputs."""

    typing: Typing
    node: Node
    inputs: Kinds

    def need(self, port: int, *wanted: Kind, words: str | None = None) -> Kind:
        """The type of an input, which must be one of ``wanted``."""
        found = self.inputs[port]
        if not any(goes_into(found, w) for w in wanted):
            raise self.mismatch(port, words or " or ".join(map(str, wanted)))
        return found

    def mismatch(self, port: int, wanted: str, found: Kind | None = None) -> Mismatch:
        """What comes into an input does not fit."""
        return Mismatch(self.node, port, found or self.inputs[port], wanted)

    def inner(
        self, inner: Inner, inputs: Kinds | None = None, variables: Mapping[str, Kind] | None = None
    ) -> list[Kind]:
        """The types of the outputs of an inner processor; without ``inputs`` those that the processor gives it."""
        given = self.node.processor.inside(self.inputs) if inputs is None else inputs
        return self.typing.inner(inner, given, variables or {})

    def function(self, e: Expr, inputs: Kinds | None = None, variables: Mapping[str, Kind] | None = None) -> Kind:
        """The type of a function of items of the inputs."""
        given, context = self.inputs if inputs is None else inputs, {**self.typing.context, **(variables or {})}
        report = self.typing.report
        return kind_of(e, given, context) if report is None else typed(e, given, context, report)

    def condition(self, e: Expr, inputs: Kinds | None = None, variables: Mapping[str, Kind] | None = None) -> None:
        """A function that must be of bool."""
        found = self.function(e, inputs, variables)
        if not goes_into(found, BOOL):
            finding = Finding("type-mismatch", f"a condition is {found}, not bool", e, None, found, "bool")
            if self.typing.report is None:
                raise Unfit(finding)
            self.typing.report(finding)

    def elements(self, port: int = 0, words: str = "a list, a set or a bag") -> Kind:
        """The type of the elements of a collection."""
        found = self.inputs[port]
        if found not in (ANY, NULL) and not found.collection:
            raise self.mismatch(port, words)
        return element_of(found)

    def amount(self, port: int = 0) -> Kind:
        """The type of numbers."""
        found = self.need(port, NUMBER)
        return found if found.numeric else ANY
