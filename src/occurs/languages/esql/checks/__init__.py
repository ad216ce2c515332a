"""Everything that can be said of a program in eSQL before a row is read (pipes.md, section 3)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from occurs.errors import Problem, Span, raise_problems
from occurs.expr.text import Text
from occurs.languages.esql import syntax
from occurs.languages.esql.checks.pipes import Builder
from occurs.languages.esql.checks.rates import check_rates
from occurs.languages.esql.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import RESERVED_OUTPUT, Schema
from occurs.operators.process import tree
from occurs.operators.process.durations import duration_problems
from occurs.operators.process.function_kinds import EVENT_TIME, Finding, Unfit
from occurs.operators.process.kinds import ANY, Kind, of_times
from occurs.operators.process.typing import Mismatch, Typing


@dataclass(frozen=True)
class Analysis:
    """What the checks found; where ``problems`` has errors the definitions are not to be run.

    ``kinds``: the type of the items of every definition.  ``reads``: the types of the events that each is made of.
    """

    definitions: tuple[tree.Definition, ...]
    kinds: Mapping[str, Kind]
    reads: Mapping[str, frozenset[str]]
    problems: list[Problem]


def analyse(
    files: Sequence[syntax.File],
    inputs: Mapping[str, Schema] | None = None,
    foreign: Mapping[str, Schema] | None = None,
    *,
    foreign_reads: Mapping[str, Collection[str]] | None = None,
    kind: TimeKind | None = None,
) -> Analysis:
    """Check parsed files as one program.

    ``inputs``: the event types of the data (None: no data is known, and every name that nobody defines is a type).
    ``foreign``: types that other languages declare or define, ``foreign_reads``: of those that they define, what each
    is made of.  ``kind``: what times count, if that is known.
    """
    known = {**(inputs or {}), **(foreign or {})}
    builder = Builder(files, known, inputs is not None)
    definitions = tuple(builder.definitions())
    check_names(builder, definitions, foreign_reads or {})
    check_files(builder, definitions)
    kinds = _Kinds(builder, known, kind)
    for name in builder.entries:
        kinds.check(builder.made(name))
    clean = not any(p.severity == "error" for s in builder.sources for p in s.problems)
    found = {d.name: kinds.of(d.pipe) for d in definitions}
    for d in definitions:
        _check_columns(builder, d, found[d.name])
        if clean:
            check_rates(d, builder)
    said = [p for s in builder.sources for p in _once(s.problems)]
    said += duration_problems([builder.made(name) for name in builder.entries], kind)
    problems = sorted({id(p): p for p in said}.values(), key=Problem.sort_key)
    return Analysis(definitions, found, {d.name: event_types(d.pipe) for d in definitions}, problems)


def definitions(
    text: str, file: str | None = None, inputs: Mapping[str, Schema] | None = None, kind: TimeKind | None = None
) -> tuple[tree.Definition, ...]:
    """The definitions of a text; SyntaxProblem or DefinitionProblem names all that is wrong with it.

    ``inputs``: the event types that are known (None: every name that nobody defines is one).  ``kind``: what times
    count (None: that is not known).
    """
    parsed, problems = parse(text, file)
    analysis = analyse([parsed], inputs, kind=kind)
    raise_problems([*problems, *analysis.problems])
    return analysis.definitions


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """A LET that several definitions use is wrong once."""
    return list({(p.kind, p.message, p.span): p for p in problems}.values())


def _check_columns(builder: Builder, definition: tree.Definition, kind: Kind) -> None:
    entry = builder.entries[definition.name]
    for name, _ in kind.columns or ():
        if name in RESERVED_OUTPUT:
            span = _column_place(entry.statement.pipe, name) or definition.span
            hint = f"reserved names: {', '.join(RESERVED_OUTPUT)}; choose another name with AS"
            entry.source.report(
                "reserved-name", f"`{name}` cannot be the name of a column of `{definition.name}`", span, hint
            )


def _column_place(pipe: syntax.Node, name: str) -> Span | None:
    """Where a SELECT names a column."""
    for node in pipe.walk():
        if isinstance(node, syntax.Column):
            plain = node.value.name if isinstance(node.value, (syntax.Named, syntax.Access)) else None
            if name in (node.name, plain):
                return node.span
    return None


# --- names that programs in several languages share (common.md, section 2) --------------------------------------------


def event_types(pipe: tree.Pipe) -> frozenset[str]:
    """The types whose events a pipe is made of, files whose lines are events among them."""
    sources = [n.processor for n in tree.nodes([pipe])]
    files = {s.source for s in sources if isinstance(s, tree.Lines)}
    return frozenset(t for s in sources if isinstance(s, tree.Events) for t in s.types if t) | files


def check_files(builder: Builder, definitions: Sequence[tree.Definition]) -> None:
    """Report files of one path that are relative to several folders: one path is one source of lines."""
    found: dict[str, PurePath] = {}
    for d in definitions:
        for node in tree.nodes([d.pipe]):
            p = node.processor
            if isinstance(p, tree.Lines):
                folder = PurePath(p.file or "").parent
                if found.setdefault(p.path, folder) != folder:
                    message = f"FILE {p.path!r} refers to files in two folders, {found[p.path]} and {folder}"
                    hint = "a relative path starts at the folder of the rules: put the rules in one folder"
                    builder.entries[d.name].source.report("duplicate-name", message, node.span, hint)


def check_names(
    builder: Builder, definitions: Sequence[tree.Definition], foreign_reads: Mapping[str, Collection[str]]
) -> None:
    """Report definitions that another language has too, and cycles through other languages."""
    reads = {d.name: event_types(d.pipe) for d in definitions}
    for d in definitions:
        source = builder.entries[d.name].source
        if d.name in foreign_reads:
            message = f"`{d.name}` is also defined in another language"
            source.report("duplicate-definition", message, d.span, "rename one of the two definitions")
            continue
        path = _way_back(d.name, {**foreign_reads, **reads})
        if path:
            message = "the definitions form a cycle: " + " -> ".join(path)
            source.report("cycle", message, d.span, "a pipe cannot read events that depend on its own output")


def _way_back(name: str, reads: Mapping[str, Collection[str]]) -> list[str]:
    """A way from a definition through what it reads back to itself; empty if there is none."""
    seen: set[str] = set()
    waiting = [[name]]
    while waiting:
        path = waiting.pop()
        for other in sorted(reads.get(path[-1], ())):
            if other == name:
                return [*path, name]
            if other not in seen:
                seen.add(other)
                waiting.append([*path, other])
    return []


# --- types ------------------------------------------------------------------------------------------------------------


#: how a value of another type is made into what is wanted
_CONVERSIONS = {"number": "number(..)", "text": "text(..)", "bool": "a comparison", "troolean": "troolean(..)",
                "xml": "THE XML OF", "json": "THE JSON OF"}  # fmt: skip
#: their functions are of their inputs
_DIRECT = (tree.Lift, tree.Where, tree.StopWhen, tree.Machine)


def _refused(source: tree.Pipe, found: Kind, target: tree.Node, port: int, wanted: str) -> str:
    return (
        f"cannot connect output {source.port} ({found}) of {source.node.processor.kind_name} "
        f"to input {port} ({wanted}) of {target.processor.kind_name}"
    )


class _Kinds:
    """The types of all pipes; connections and functions that do not fit are reported where they stand."""

    def __init__(self, builder: Builder, inputs: Mapping[str, Schema], times: TimeKind | None) -> None:
        self.builder = builder
        self.done: dict[int, list[Kind]] = {}
        self.at: Text | None = None
        self.node: tree.Node | None = None
        self.typing = Typing(inputs, context={EVENT_TIME: of_times(times)}, report=self._finding)

    def of(self, pipe: tree.Pipe) -> Kind:
        return self.done[id(pipe.node)][pipe.port]

    def check(self, pipe: tree.Pipe) -> None:
        for node in tree.nodes([pipe]):
            if id(node) not in self.done:
                self.done[id(node)] = self._kinds(node)

    def _kinds(self, node: tree.Node) -> list[Kind]:
        self.at, self.node = self.source(node), node
        try:
            return self.typing.of(node, [self.of(p) for p in node.inputs])
        except Mismatch as m:
            self._mismatch(m)
        except Unfit as u:
            self._finding(u.finding)
        return [ANY] * node.outputs

    def source(self, node: tree.Node) -> Text:
        return self.builder.scope_of[id(node)].source

    def _finding(self, f: Finding) -> None:
        assert self.at is not None
        spans: Iterator[Span | None] = (getattr(n, "span", None) for n in f.part.walk())
        span = next((s for s in spans if s is not None), None)
        hint = f.hint
        if hint is None and f.wanted in _CONVERSIONS:
            hint = f"convert with {_CONVERSIONS[f.wanted]}"
        self.at.report(f.kind, f.message + self._connection(f), span, hint)

    def _connection(self, f: Finding) -> str:
        """Of an input of a function that stands between pipes: which ports do not fit."""
        node, part = self.node, f.part
        if node is None or not isinstance(node.processor, _DIRECT) or not isinstance(part, tree.Input):
            return ""
        if f.found is None or part.index >= len(node.inputs):
            return ""
        return ": " + _refused(node.inputs[part.index], f.found, node, part.index, f.wanted or "another type")

    def _mismatch(self, m: Mismatch) -> None:
        given = m.node.inputs[m.port] if m.port < len(m.node.inputs) else None
        message = f"input {m.port} of {m.node.processor.kind_name} takes {m.wanted}, not {m.found}"
        if given is not None:
            message = _refused(given, m.found, m.node, m.port, m.wanted)
        hint = next((f"convert with {how}" for k, how in _CONVERSIONS.items() if k in m.wanted.split()), None)
        span = (given.node.span if given is not None else None) or m.node.span
        self.source(m.node).report("type-mismatch", message, span, hint)
