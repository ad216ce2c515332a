"""Pipes that were composed in Python, as a part of a program (pipes.md, 2.3).

What they give is what eSQL gives for the same graph: only where the definitions come from differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from occurs.errors import Problem, did_you_mean
from occurs.languages.esql.checks import Analysis, event_types
from occurs.languages.esql.define import LISTS, Esql
from occurs.languages.kit.language import Given, Known, Texts
from occurs.model.time import TimeKind
from occurs.model.types import RESERVED_OUTPUT, Schema
from occurs.operators.process import tree
from occurs.operators.process.durations import duration_problems
from occurs.operators.process.function_kinds import EVENT_TIME, Unfit
from occurs.operators.process.kinds import ANY, TUPLE, Kind, goes_into, of_schema, of_times, tuple_of
from occurs.operators.process.tree import spelling
from occurs.operators.process.typing import Mismatch, Typing

__all__ = ["LISTS", "PythonPipes", "check", "read"]


def read(texts: Sequence[Given]) -> Texts[tree.Definition]:
    """There is no text to read: pipes are given by :func:`occurs.pipes.program`."""
    return Texts((), ())


def check(texts: Texts[tree.Definition], known: Known) -> PythonPipes:
    """Check definitions against what is known."""
    seen = {**(known.inputs or {}), **known.foreign}
    kinds = _Kinds(seen, known.inputs is not None, known.kind)
    found = {d.name: kinds.of(d) for d in texts.files}
    reads = {d.name: event_types(d.pipe) for d in texts.files}
    problems = [*kinds.problems, *duration_problems([d.pipe for d in texts.files], known.kind)]
    analysis = Analysis(texts.files, found, reads, problems)
    timestamps = known.kind is None or known.kind.timestamp
    return PythonPipes(Texts((), ()), analysis, seen, timestamps)


class PythonPipes(Esql):
    """Definitions that have no text."""

    @property
    def at(self) -> list[tuple[int, int]]:
        return [(0, i) for i in range(len(self.analysis.definitions))]

    def identity(self, definition: tree.Definition) -> str:
        """What a definition is found again by."""
        return f"pipes/{definition.name}/{spelling((definition.pipe,))}"


@dataclass(frozen=True)
class _Sources(Typing):
    """The types of events are those of the data, where they are known."""

    def events(self, p: tree.Events) -> Kind:
        known = self.schemas is not None and all(t in self.schemas for t in p.types)
        return super().events(replace(p, item=None)) if known else p.item or TUPLE


class _Kinds:
    """The types of the items of definitions, and what is wrong with them."""

    def __init__(self, seen: Mapping[str, Schema], complete: bool, times: TimeKind | None) -> None:
        self.seen, self.complete = seen, complete
        self.typing = _Sources(seen, context={EVENT_TIME: of_times(times)})
        self.problems: list[Problem] = []

    def report(self, kind: str, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(kind, message, hint=hint))

    def of(self, definition: tree.Definition) -> Kind:
        for node in tree.nodes([definition.pipe]):
            if isinstance(node.processor, tree.Events):
                self.source(definition.name, node.processor)
        try:
            (found,) = self.typing.kinds([definition.pipe])
        except Mismatch as problem:
            self.report("type-mismatch", f"`{definition.name}`: {problem}")
            return ANY
        except Unfit as problem:
            finding = problem.finding
            self.report(finding.kind, f"`{definition.name}`: {finding.message}", finding.hint)
            return ANY
        for name, _ in found.columns or ():
            if name in RESERVED_OUTPUT:
                self.report("reserved-name", f"`{name}` cannot be the name of a column of `{definition.name}`")
        return found

    def source(self, name: str, p: tree.Events) -> None:
        """Are the events there, and what the pipe takes them for?"""
        missing = [t for t in p.types if t not in self.seen]
        for t in missing if self.complete else ():
            hint = did_you_mean(t, self.seen, "event types")
            self.report("unknown-name", f"`{name}` reads events of the unknown type `{t}`", hint)
        if p.item is not None and p.item != ANY and p.item.name != "tuple":
            hint = f'select an attribute: pipes.source("{p.types[0]}", type={{"v": ..}}).v'
            self.report("type-mismatch", f"`{name}`: the events of `{p.types[0]}` are tuples, not {p.item}", hint)
        elif not missing and p.item is not None and p.item.columns is not None:
            columns = [c for t in p.types for c in of_schema(self.seen[t]).columns or ()]
            own = dict(columns)
            fits = tuple_of((n, k) for n, k in p.item.columns if n in own and not goes_into(own[n], k))
            for n, k in fits.columns or ():
                self.report("type-mismatch", f"`{name}`: `{p.types[0]}.{n}` is {own[n]}, not {k}")
