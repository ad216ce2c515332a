"""Types of what flows in a graph of pipes: the types of the ports of every processor (pipes.md, 2.3 and section 3).

``any`` goes anywhere and is checked when values come.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from occurs.errors import DefinitionProblem
from occurs.expr.tree import Expr, Param
from occurs.model.types import Schema
from occurs.operators.process import tree
from occurs.operators.process.function_kinds import Finding, Report, Unfit, joined, kind_of, typed
from occurs.operators.process.kinds import (
    ANY,
    BOOL,
    DURATION,
    IMAGE,
    INT,
    JSON,
    NULL,
    NUMBER,
    TEXT,
    TIME,
    TROOLEAN,
    TUPLE,
    XML,
    Kind,
    bag_of,
    goes_into,
    join,
    list_of,
    map_of,
    of_schema,
    set_of,
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
        if isinstance(p, tree.Lines):
            return [TEXT]
        return _RULES[type(p)](_At(self, node, p, inputs))

    def events(self, p: tree.Events) -> Kind:
        """The type of the events of some types: the attributes of all of them."""
        if p.item is not None or self.schemas is None or any(t not in self.schemas for t in p.types):
            return p.item or TUPLE
        columns: dict[str, Kind] = {}
        for t in p.types:
            for name, kind in of_schema(self.schemas[t]).columns or ():
                columns[name] = join(columns[name], kind) if name in columns else kind
        return tuple_of(columns.items())

    def inner(self, inner: Inner, inputs: Kinds, variables: Mapping[str, Kind] | None = None) -> list[Kind]:
        """The types of the outputs of an inner processor."""
        context = {**self.context, **(variables or {})}
        return Typing(self.schemas, tuple(inputs), context, self.report).kinds(inner.outputs)


def need_variables(pipe: Pipe) -> None:
    """DefinitionProblem if a function uses a variable that nothing around it binds."""

    def report(finding: Finding) -> None:
        if isinstance(finding.part, Param):
            raise DefinitionProblem.of(finding.kind, finding.message, hint=finding.hint)

    Typing(report=report).of_all([pipe])


@dataclass(frozen=True)
class _At:
    """A node with the types of its inputs."""

    typing: Typing
    node: Node
    p: Any
    inputs: Kinds

    def need(self, port: int, *wanted: Kind, words: str | None = None) -> Kind:
        """The type of an input, which must be one of ``wanted``."""
        found = self.inputs[port]
        if not any(goes_into(found, w) for w in wanted):
            raise Mismatch(self.node, port, found, words or " or ".join(map(str, wanted)))
        return found

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
            raise Mismatch(self.node, port, found, words)
        return found.args[0] if found.args else ANY

    def amount(self, port: int = 0) -> Kind:
        """The type of numbers."""
        found = self.need(port, NUMBER)
        return found if found.numeric else ANY


def _same(at: _At) -> list[Kind]:
    return [at.inputs[0]]


def _of_numbers(kind: Kind | None = None) -> Callable[[_At], list[Kind]]:
    """Numbers come in; numbers of the same type go out, or this one."""

    def rule(at: _At) -> list[Kind]:
        found = at.amount()
        return [kind or found]

    return rule


def _lift(at: _At) -> list[Kind]:
    if at.p.where is not None:
        at.condition(at.p.where)
    return [at.function(f) for f in at.p.functions]


def _cumulate(at: _At) -> list[Kind]:
    word, item = at.p.function, at.inputs[0]
    start = NULL if at.p.start is None else at.function(at.p.start, ())
    if not isinstance(word, str):
        so_far = join(start, item) if at.p.start is None else start
        return [join(so_far, at.function(word, (so_far, item)))]
    if word in ("conjunction", "disjunction"):
        return [join(at.need(0, TROOLEAN), start)]
    if word == "bag union":
        return [bag_of(at.elements())]
    if word in ("maximum", "minimum"):
        return [join(at.need(0, NUMBER, TEXT, TIME, DURATION), start)]
    found = at.amount()
    return [NUMBER if word == "division" else join(found, start)]


def _guarded(at: _At) -> list[Kind]:
    at.need(len(at.inputs) - 1, BOOL)
    return list(at.inputs[:-1])


def _window(at: _At) -> list[Kind]:
    return at.typing.inner(at.p.inner, at.inputs)


def _slice(at: _At) -> list[Kind]:
    key = at.function(at.p.key)
    if at.p.exploded and key.name in ("list", "set"):
        key = key.args[0]
    (value,) = at.typing.inner(at.p.inner, at.inputs, {"slice": key})
    if at.p.until is not None:
        at.condition(at.p.until, (value,), {"slice": key})
    if at.p.form == "each":
        return [tuple_of((("key", key), ("value", value)))]
    return [list_of(value) if at.p.form == "last" else map_of(key, value)]


def _where(at: _At) -> list[Kind]:
    at.condition(at.p.condition)
    return _same(at)


def _merge(at: _At) -> list[Kind]:
    return [joined(at.inputs)]


def _insert(at: _At) -> list[Kind]:
    return [join(at.inputs[0], at.function(at.p.value, ()))]


def _repeat_by(at: _At) -> list[Kind]:
    at.need(1, INT)
    return _same(at)


def _pack(at: _At) -> list[Kind]:
    at.need(1, BOOL)
    return [list_of(at.inputs[0])]


def _each(at: _At) -> list[Kind]:
    if at.inputs[0].collection and at.inputs[0].name != "list":
        raise Mismatch(at.node, 0, at.inputs[0], "a list")
    return at.typing.inner(at.p.inner, (at.elements(words="a list"),))


def _reset(at: _At) -> list[Kind]:
    at.need(1, BOOL)
    return at.typing.inner(at.p.inner, at.inputs[:1])


def _collect(at: _At) -> list[Kind]:
    return [{"list": list_of, "set": set_of, "bag": bag_of}[at.p.into](at.inputs[0])]


def _threshold(at: _At) -> list[Kind]:
    return [join(at.amount(), INT)]


def _text_to(kind: Kind) -> Callable[[_At], list[Kind]]:
    def rule(at: _At) -> list[Kind]:
        at.need(0, TEXT)
        return [kind]

    return rule


def _regex(at: _At) -> list[Kind]:
    at.need(0, TEXT)
    return [tuple_of((n, TEXT) for n in at.p.names)]


#: what plots are of, by what they are
_PLOTTED = {
    "scatter": (("list", "set", "bag", "map"), "a collection of (x, y)"),
    "heatmap": (("list", "set", "bag", "map"), "rows of numbers or a map"),
    "histogram": (("list", "set", "bag"), "a collection of numbers"),
}


def _plot(at: _At) -> list[Kind]:
    names, words = _PLOTTED[at.p.what]
    if at.inputs[0].name not in (*names, "any", "null"):
        raise Mismatch(at.node, 0, at.inputs[0], words)
    return [IMAGE]


def _formula(at: _At) -> list[Kind]:
    wanted = (BOOL, TROOLEAN) if at.p.troolean else (BOOL,)
    for part in at.p.root.walk():
        if isinstance(part, tree.Atom):
            at.need(part.index, *wanted)
        elif isinstance(part, tree.Given):
            at.condition(part.value, ()) if not at.p.troolean else at.function(part.value, ())
        elif isinstance(part, tree.Quantified):
            _quantified(at, part, wanted)
    return [TROOLEAN if at.p.troolean else BOOL]


def _quantified(at: _At, part: tree.Quantified, wanted: tuple[Kind, ...]) -> None:
    over = at.inputs[part.input]
    domain = at.function(part.domain, (over,))
    if domain not in (ANY, NULL) and domain.name not in ("list", "set"):
        raise Mismatch(at.node, part.input, domain, "a list or a set as the domain of a quantifier")
    element = domain.args[0] if domain.args else ANY
    (body,) = at.typing.inner(part.body, (over,), {part.variable: element})
    if not any(goes_into(body, w) for w in wanted):
        raise Mismatch(at.node, part.input, body, "a body of " + " or ".join(map(str, wanted)))


def _machine(at: _At) -> list[Kind]:
    registers = {n: at.function(e, ()) for n, e in at.p.registers}
    transitions = [t for s in at.p.states for t in s.transitions]
    for _ in range(len(registers) + 1):
        # what is set widens a register, and what depends on it in turn
        for t in transitions:
            for name, new in t.sets:
                registers[name] = join(registers.get(name, NULL), at.function(new, None, registers))
    for t in transitions:
        if t.condition is not None:
            at.condition(t.condition, None, registers)
    return [joined([at.function(s.output, None, registers) for s in at.p.states if s.output is not None])]


_RULES: dict[type[tree.Processor], Callable[[_At], list[Kind]]] = {
    tree.Lift: _lift,
    tree.Cumulate: _cumulate,
    **dict.fromkeys(
        (tree.Decimate, tree.Freeze, tree.Trim, tree.First, tree.Last, tree.Every, tree.Repeat, tree.Print), _same
    ),
    tree.Filter: _guarded,
    tree.Window: _window,
    tree.Slice: _slice,
    tree.Where: _where,
    tree.StopWhen: _where,
    tree.Merge: _merge,
    tree.Insert: _insert,
    tree.RepeatBy: _repeat_by,
    tree.Pack: _pack,
    tree.Unpack: lambda at: [at.elements()],
    tree.Each: _each,
    tree.Reset: _reset,
    tree.Collect: _collect,
    tree.CollectMap: lambda at: [map_of(at.inputs[0], at.inputs[1])],
    tree.Moment: _of_numbers(NUMBER),
    tree.Deviation: _of_numbers(NUMBER),
    tree.Count: lambda at: [INT],
    tree.Threshold: _threshold,
    tree.Smooth: _of_numbers(NUMBER),
    tree.Peaks: _threshold,
    tree.Plateaus: _of_numbers(NUMBER),
    tree.DeadTime: _threshold,
    tree.Xml: _text_to(XML),
    tree.Json: _text_to(JSON),
    tree.Tuples: _text_to(TUPLE),
    tree.Regex: _regex,
    tree.Plot: _plot,
    tree.Formula: _formula,
    tree.Machine: _machine,
}
