"""The reference semantics of pipes: what definitions give on a finite history (pipes.md 4).

A transcription that is meant to be checked by reading: every processor is a function from whole traces to whole traces.
It shares nothing with the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem
from occurs.expr.tree import Expr
from occurs.languages.esql.semantics.expressions import selects, value_of
from occurs.languages.esql.semantics.formula import formula
from occurs.languages.esql.semantics.inner import MEANING as OF_INNER
from occurs.languages.esql.semantics.processors import MEANING as OF_ITEMS
from occurs.languages.esql.semantics.traces import Item, Moment, Trace
from occurs.languages.esql.semantics.values import Fault
from occurs.model.occurrence import Occurrence
from occurs.model.time import Duration, TimeKind
from occurs.operators.process import tree
from occurs.operators.process.tree import Definition, Inner, Node, Pipe, every_node, nodes
from occurs.operators.process.values import Record

_MEANING: dict[type[tree.Processor], Callable[..., list[Trace]]] = {
    **OF_ITEMS,
    **OF_INNER,
    tree.Formula: formula,
}


@dataclass(frozen=True)
class Found:
    """One row of a definition: its value, the numbers of the events of its step and of the one that it speaks of.

    ``step`` is the number of all events if only closing gives it.
    """

    name: str
    value: Any
    step: int
    time: int
    about: int
    about_time: int


def evaluate(
    definitions: Sequence[Definition],
    history: Sequence[Occurrence],
    *,
    kind: TimeKind,
    ended: bool = False,
    start: int | None = None,
    until: int | None = None,
    files: Mapping[str, Sequence[str]] | None = None,
) -> list[Occurrence]:
    """All rows of all definitions, by time, step, place of the definition, position in its output.

    ``history``: the events, in any order.  ``ended``: nothing comes any more; what only that decides has the time of
    the end of the clock, ``until`` or the last event.  ``files``: the lines of the files that are read, unless
    these are events of the history already.  A row has the columns of the tuple that an item is, or one column
    ``value``; ``about`` if the definition asks for it.  Raises InputProblem (``bad-value``, ``overflow``),
    DefinitionProblem (``missing-unit``).
    """
    run = Run(definitions, history, kind=kind, ended=ended, start=start, until=until, files=files)
    rows = [(f.time, f.step, place, n, f) for place, d in enumerate(definitions) for n, f in enumerate(run.of(d))]
    about = {d.name: d.about for d in definitions}
    return [_row(f, about[f.name]) for *_, f in sorted(rows, key=lambda r: r[:4])]


def _row(found: Found, about: bool) -> Occurrence:
    value = found.value
    attributes = dict(value.columns) if isinstance(value, Record) else {"value": value}
    if about:
        attributes["about"] = found.about_time
    return Occurrence(found.name, found.time, attributes, label=(found.name, found.step, found.about))


@dataclass
class Run:
    """One evaluation of a history."""

    definitions: Sequence[Definition]
    history: Sequence[Occurrence]
    kind: TimeKind = field(kw_only=True)
    ended: bool = field(default=False, kw_only=True)
    start: int | None = field(default=None, kw_only=True)
    until: int | None = field(default=None, kw_only=True)
    files: Mapping[str, Sequence[str]] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        pipes = [d.pipe for d in self.definitions]
        paths = {n.processor.path for n in every_node(pipes) if isinstance(n.processor, tree.Lines)}
        lines = [_line(p, i, text) for p in sorted(paths) for i, text in enumerate((self.files or {}).get(p, ()))]
        inside = [e for e in (*self.history, *lines) if self.inside(e.time)]
        self.events = sorted(inside, key=in_order)
        last = max((e.time for e in inside), default=0) if self.until is None else self.until
        #: closing
        self.end = Moment(len(self.events), last)
        self.scope = Scope(self, {}, ())

    def inside(self, time: int) -> bool:
        """Whether a time is on the clock."""
        return (self.start is None or time >= self.start) and (self.until is None or time <= self.until)

    def of(self, definition: Definition) -> list[Found]:
        """The rows of a definition, in the order of its output."""
        try:
            (trace,) = self.scope.traces([definition.pipe])
        except InputProblem as problem:
            raise InputProblem([replace(p, definition=definition.name) for p in problem.problems]) from problem
        times = [e.time for e in self.events]
        return [Found(definition.name, i.value, i.at.step, i.at.time, i.about, times[i.about]) for i in trace.items]

    def source(self, processor: tree.Processor) -> Trace:
        """The events of some types, or the lines of a file: item i is the event itself."""
        wanted: tuple[str, ...] = ()
        if isinstance(processor, tree.Events):
            wanted = processor.types
        elif isinstance(processor, tree.Lines):
            wanted = (_file_type(processor.path),)
        items = [Item(_item(e), Moment(n, e.time), n) for n, e in enumerate(self.events) if e.type in wanted]
        return Trace(tuple(items), self.end if self.ended else None)


def _file_type(path: str) -> str:
    return f"FILE {path}"


def _line(path: str, number: int, text: str) -> Occurrence:
    return Occurrence(_file_type(path), number, {"line": text})


def _item(event: Occurrence) -> Any:
    """An event as a tuple; a line as a text; an event with the one attribute of no name is that value."""
    if event.type.startswith("FILE "):
        return event.attributes["line"]
    if list(event.attributes) == [""]:
        return event.attributes[""]
    return Record(tuple(event.attributes.items()), (event.type, event.time))


def in_order(event: Occurrence) -> tuple[Any, ...]:
    """The total order: time, sequence (null least), type, values in the order of the names of their attributes."""
    values = [_ascending(event.attributes[n]) for n in sorted(event.attributes)]
    sequence = (0, 0) if event.sequence is None else (1, event.sequence)
    return event.time, sequence, event.type, values


def _ascending(value: Any) -> tuple[Any, ...]:
    """Null least, then false, true, numbers, texts, lists element by element."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return 1, value
    if isinstance(value, (int, float)):
        return 2, value
    return (3, value) if isinstance(value, str) else (4, tuple(_ascending(v) for v in value))


@dataclass(frozen=True)
class Scope:
    """Where a processor stands: in the program, or in a fresh copy of an inner processor.

    ``context``: the variables.  ``inputs``: of the inner processor.  ``beginning``: before the first event.
    """

    whole: Run
    context: Mapping[str, Any]
    inputs: tuple[Trace, ...]
    beginning: Moment = Moment(-1, -(2**62))

    def ticks(self, duration: Duration) -> Fraction:
        """How many ticks a duration has."""
        exact = self.whole.kind.convert(duration)
        if exact is None:
            raise DefinitionProblem.of("missing-unit", "the duration and the time column have no common unit")
        return Fraction(exact)

    def traces(self, pipes: Sequence[Pipe]) -> list[Trace]:
        """What flows in pipes of this scope."""
        done: dict[int, list[Trace]] = {}
        for node in nodes(pipes):
            done[id(node)] = self.of(node, [done[id(p.node)][p.port] for p in node.inputs])
        return [done[id(p.node)][p.port] for p in pipes]

    def of(self, node: Node, inputs: list[Trace]) -> list[Trace]:
        """The outputs of a node for its inputs."""
        processor = node.processor
        if isinstance(processor, tree.Placeholder):
            return [self.inputs[processor.index]]
        if isinstance(processor, (tree.Events, tree.Lines)):
            return [self.whole.source(processor)]
        try:
            meaning = _MEANING.get(type(processor), processor.meaning)
            return meaning(processor, inputs, self)
        except Fault as fault:
            what = f"{processor.kind_name}{f' {node.name!r}' if node.name else ''}"
            message = f"item {fault.item} of {what}: {fault.value!r} {fault.message}"
            raise InputProblem.of(fault.kind, message, row=fault.item, value=fault.value, **node.place) from fault

    def value(self, function: Expr, front: Sequence[Any]) -> Any:
        """The value of a function of a front; None is null."""
        return value_of(function, front, self.context)

    def selects(self, condition: Expr, front: Sequence[Any]) -> bool:
        """Whether a guard is true of a front: null selects nothing."""
        return selects(condition, front, self.context)

    def inside(self, inputs: Sequence[Trace], variables: Mapping[str, Any] | None = None) -> Scope:
        """The scope of a fresh copy of an inner processor."""
        return Scope(self.whole, {**self.context, **(variables or {})}, tuple(inputs))

    def run(self, inner: Inner, inputs: Sequence[Trace], variables: Mapping[str, Any] | None = None) -> list[Trace]:
        """What a fresh copy of an inner processor makes of these traces."""
        return self.inside(inputs, variables).traces(inner.outputs)
