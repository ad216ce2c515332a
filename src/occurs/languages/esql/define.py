"""eSQL as a language of the house: texts to definitions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.errors import Problem
from occurs.languages.esql import syntax
from occurs.languages.esql.checks import Analysis, analyse
from occurs.languages.esql.checks.paths import with_paths
from occurs.languages.esql.compile import boxes, identity, kept, loops, ordered, single, splits, statements, text_files
from occurs.languages.esql.editing import begun, bound, outline, pieces, words
from occurs.languages.esql.parser import parse
from occurs.languages.kit.language import Given, Known, Part, Slot, Texts
from occurs.model.history import History
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.source import LINE, TextFile
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.definition import Choice, Definition, Node
from occurs.operators.process import tree
from occurs.operators.process.columns import column_of
from occurs.operators.process.definition import PipesDefinition
from occurs.operators.process.kinds import Kind
from occurs.operators.process.outputs import column, columns_of, schema_of

__all__ = ["LISTS", "Esql", "begun", "bound", "check", "outline", "pieces", "read", "words"]

#: columns of lists are read
LISTS = True


def read(texts: Sequence[Given]) -> Texts[syntax.File]:
    """Parse (text, file name, language) triples; all problems are kept.  Phrases are known in the texts behind."""
    files: list[syntax.File] = []
    problems: list[Problem] = []
    phrases: list[syntax.Phrase] = []
    for text, name, _ in texts:
        file, found = parse(text, name, phrases)
        files.append(file)
        problems += found
        phrases += [s for s in file.statements if isinstance(s, syntax.Phrase)]
    return Texts(tuple(files), tuple(problems))


def check(texts: Texts[syntax.File], known: Known) -> Esql:
    """Check parsed files against what is known."""
    schemas = {**(known.inputs or {}), **known.foreign}
    texts = replace(texts, files=tuple(with_paths(f, schemas) for f in texts.files))
    analysis = analyse(texts.files, known.inputs, known.foreign, foreign_reads=known.made, kind=known.kind)
    timestamps = known.kind is None or known.kind.timestamp
    return Esql(texts, analysis, schemas, timestamps)


@dataclass(frozen=True)
class Esql(Part):
    """The part of a program that is in eSQL.

    ``given``: the types that are known from elsewhere.  ``timestamps``: are times timestamps?
    """

    texts: Texts[syntax.File]
    analysis: Analysis
    given: Mapping[str, Schema]
    timestamps: bool = True

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        for i, file in enumerate(self.texts.files):
            for j, s in enumerate(file.statements):
                if isinstance(s, syntax.Definition):
                    found.setdefault(s.output, (i, j))
        return [found[d.name] for d in self.analysis.definitions]

    @cached_property
    def defined(self) -> dict[str, Schema]:
        kinds = self.analysis.kinds
        return {d.name: schema_of(kinds[d.name], d.about, self.timestamps) for d in self.analysis.definitions}

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        lines = dict.fromkeys(self.text_files, Schema(((LINE, Type.STRING),)))
        return {**{t: self.given[t] for t in self.reads if t in self.given}, **lines, **self.defined}

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(t for types in self.analysis.reads.values() for t in types)

    @cached_property
    def text_files(self) -> dict[str, TextFile]:
        """The files whose lines are events, by the type of these."""
        return text_files(self.analysis.definitions)

    @property
    def owned(self) -> frozenset[str]:
        return frozenset(self.defined)

    @cached_property
    def nodes(self) -> list[Node]:
        reads = self.analysis.reads
        return [Node(d.name, frozenset(reads[d.name]), frozenset()) for d in self.analysis.definitions]

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """Compiled definitions, in the order of the text."""
        out: list[Definition] = []
        for d, slot in zip(self.analysis.definitions, slots, strict=True):
            reads = self.analysis.reads[d.name]
            columns = {t: frozenset(self.given[t].names) for t in reads if t in self.given}
            columns |= {t: frozenset({LINE}) for t in reads & self.text_files.keys()}
            out.append(
                PipesDefinition(
                    dict.fromkeys(sorted(reads), 0),
                    frozenset(reads),
                    {t: columns.get(t, frozenset()) for t in reads},
                    d.name,
                    slot.place,
                    self.identity(d),
                    d.pipe,
                    self.analysis.kinds[d.name],
                    d.about,
                    single(d.pipe),
                    ordered(d.pipe),
                    boxes(d.pipe),
                    frozenset(reads & self.text_files.keys()),
                    loops=loops(d.pipe),
                    splits=self.splits(d.pipe),
                    kept=kept(d.pipe),
                    file=d.file,
                    span=d.span,
                )
            )
        return out

    def splits(self, pipe: tree.Pipe) -> tuple[Choice, ...]:
        """The ways to split a definition; Spark does not split by lists."""
        found, given = splits(pipe), self.given
        return tuple(
            c for c in found if all(t not in given or set(names) <= set(given[t].plain) for t, names in c.attributes)
        )

    def identity(self, definition: tree.Definition) -> str:
        """What a definition is found again by."""
        return identity(definition, self._statements)

    @cached_property
    def _statements(self) -> Mapping[str, syntax.Let | syntax.Definition]:
        return statements(self.texts.files)

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives."""
        from occurs.languages.esql.semantics import evaluate  # runs do without it

        mine = [self.analysis.definitions[i] for i in chosen]
        start, until = history.clock if history.clock is not None else (None, None)
        rows = _rows(history, {t for d in mine for t in self.analysis.reads[d.name]})
        found = evaluate(mine, rows, kind=history.kind, ended=True, start=start, until=until)
        kinds = self.analysis.kinds
        return {d.name: _table(d, kinds[d.name], self.defined[d.name], found) for d in mine}


# --- the reference semantics on tables --------------------------------------------------------------------------------


def _rows(history: History, types: Collection[str]) -> list[Occurrence]:
    """The events of some types; timestamps are int microseconds."""
    rows = occurrences({t: history.tables[t] for t in sorted(types & history.tables.keys())})
    return [replace(o, attributes={n: _taken(v) for n, v in o.attributes.items()}) for o in rows]


def _taken(value: Any) -> Any:
    return tuple(map(_taken, value)) if isinstance(value, list) else value


def _table(definition: tree.Definition, kind: Kind, schema: Schema, found: Sequence[Occurrence]) -> pa.Table:
    """The rows of a definition as a table: int64 ``time`` and its columns."""
    mine = [o for o in found if o.type == definition.name]
    names, arrays = ["time"], [pa.array([o.time for o in mine], pa.int64())]
    for name, of in columns_of(kind):
        values = [o.attributes.get(name) for o in mine]
        names.append(name)
        arrays.append(column(column_of(values), of).cast(schema[name]).output())
    if definition.about:
        about = pa.array([o.attributes["about"] for o in mine], pa.int64())
        names.append("about")
        arrays.append(about.cast(pa.timestamp("us", "UTC")) if schema["about"] is Type.TIMESTAMP else about)
    return pa.Table.from_arrays(arrays, names=names)
