"""Phenesthe as a language of the house: texts to definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.language import Given, Known, Part, Slot, Texts
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.checks import Analysis, ResolvedDefinition, analyse
from occurs.languages.phenesthe.checks.catalogue import FACT, Phenomenon
from occurs.languages.phenesthe.compile import compile_all
from occurs.languages.phenesthe.editing import begun as begun
from occurs.languages.phenesthe.editing import bound as bound
from occurs.languages.phenesthe.editing import outline as outline
from occurs.languages.phenesthe.editing import pieces as pieces
from occurs.languages.phenesthe.editing import words as words
from occurs.languages.phenesthe.parser import parse
from occurs.model.history import History
from occurs.model.occurrence import attributes_of, columns_of
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type, arrow_type
from occurs.operators.definition import Definition, Node
from occurs.operators.interval.definition import IntervalDefinition


def read(texts: Sequence[Given]) -> Texts[syntax.File]:
    """Parse (text, file name, language) triples; all problems are kept."""
    return Texts.read(texts, _parsed)


def _parsed(text: str, file: str | None) -> tuple[syntax.File, list[Problem]]:
    """A text in which nothing stands is no program (phenesthe.md, section 8)."""
    parsed, problems = parse(text, file)
    if not text.strip():
        hint = "a definition: `state underway(V) : fast(V) ~> slow(V).`"
        source = Text(text, file)
        problems = [source.problem("syntax", "the text is empty: it has no statement", source.span(0, 0), hint)]
    return parsed, problems


def check(texts: Texts[syntax.File], known: Known) -> Phenesthe:
    """Check parsed files against what is known."""
    seen = {**(known.inputs or {}), **known.facts}
    # as long as it is not known what times count it is not known either whether there will be windows
    windows = known.kind is None or known.window is not None
    analysis = analyse(texts.files, seen, known.foreign, known.kind, foreign_reads=known.made, windows=windows)
    return Phenesthe(texts, analysis, known.window)


@dataclass(frozen=True)
class Phenesthe(Part):
    """The Phenesthe part of a program.  ``window``: its length in
    ticks, in window mode."""

    texts: Texts[syntax.File]
    analysis: Analysis
    window: int | None = None

    @cached_property
    def _statements(self) -> list[tuple[tuple[int, int], syntax.Statement]]:
        return [((i, j), s) for i, f in enumerate(self.texts.files) for j, s in enumerate(f.statements)]

    @cached_property
    def _declarations(self) -> dict[str, syntax.Declaration]:
        return {s.name.text: s for _, s in reversed(self._statements) if isinstance(s, syntax.Declaration)}

    @cached_property
    def _definitions(self) -> list[tuple[tuple[int, int], ResolvedDefinition]]:
        """In the order of the text."""
        resolved = {id(d.definition): d for d in self.analysis.definitions}
        return [(at, resolved[id(s)]) for at, s in self._statements if id(s) in resolved]

    @property
    def at(self) -> list[tuple[int, int]]:
        return [at for at, _ in self._definitions]

    @property
    def _phenomena(self) -> Mapping[str, Phenomenon]:
        return self.analysis.phenomena

    def _is_type(self, name: str) -> bool:
        return name in self._phenomena and self._phenomena[name].sort != FACT

    @cached_property
    def declared(self) -> dict[str, Schema]:
        out = {}
        for name, d in self._declarations.items():
            if d.sort != FACT:
                known = self._phenomena[name]
                attributes = tuple((a.name.text, known.type_of(a.name.text)) for a in d.attributes)
                held = (("holds", Type.BOOL),) if d.changes else ()
                lasting = known.schema.lasting and not d.changes
                out[name] = Schema(attributes + held, True, lasting, d.changes, d.rest, loose=True)
        return out

    @cached_property
    def defined(self) -> dict[str, Schema]:
        return {d.name: d.schema for _, d in self._definitions}

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        return {name: p.schema for name, p in self._phenomena.items() if p.sort != FACT}

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(t for _, d in self._definitions for t in d.reads if self._is_type(t))

    @cached_property
    def facts(self) -> dict[str, Schema]:
        """The declared ones, in the types that are declared: rows in the program only have to go with those outside."""
        facts = {n: d for n, d in self._declarations.items() if self._phenomena[n].sort == FACT}
        types = {n: {a.name.text: a.type or Type.NULL for a in d.attributes} for n, d in facts.items()}
        return {
            n: replace(s, attributes=tuple((a, types[n].get(a, t)) for a, t in s), rest=facts[n].rest)
            for n, s in ((n, self._phenomena[n].schema) for n in facts)
        }

    @property
    def windows(self) -> bool:
        return True

    @property
    def owned(self) -> frozenset[str]:
        return frozenset(self.defined)

    @cached_property
    def nodes(self) -> list[Node]:
        return [Node(d.name, frozenset(filter(self._is_type, d.reads)), frozenset()) for _, d in self._definitions]

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """Compiled definitions, in the order of the text."""
        compiled = {c.name: c for c in compile_all(self.analysis, kind, facts, self.window)}
        out: list[Definition] = []
        for (_, d), slot in zip(self._definitions, slots, strict=True):
            c = compiled[d.name]
            out.append(
                IntervalDefinition(
                    dict.fromkeys((*c.inputs, *c.read), 0),
                    frozenset(),
                    c.columns,
                    c.name,
                    slot.place,
                    f"phenesthe/{c.name}/{d.text}",
                    d.definition.sort,
                    c.net,
                    c.answer,
                    c.delay,
                    # where the key ends below the head the rows of all keys would have to be united
                    splits=tuple(choice for choice in c.choices if choice.passes),
                    kept=tuple(f"{k.formula}: {k}, until {k.until}" for k in c.kept),
                    costs=c.warnings,
                    file=d.file,
                    span=d.definition.span,
                )
            )
        return out

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives."""
        from occurs.languages.phenesthe.semantics import Row, evaluate  # runs do without it

        mine = [self._definitions[i][1] for i in chosen]
        defined = {d.name for d in mine}
        others = {t for d in mine for t in d.reads if self._is_type(t)} - defined
        statements: list[syntax.Statement] = [d.definition for d in mine]
        statements += [s for _, s in self._statements if isinstance(s, syntax.Fact)]
        statements += [d for n, d in self._declarations.items() if d.sort == FACT]
        statements += [self._input(t) for t in sorted(others)]
        start, until = history.clock if history.clock is not None else (None, None)
        rows = [Row(t, *row) for t in sorted(others) if t in history.tables for row in _rows(history.tables[t])]
        outside = {n: t.to_pylist() for n, t in facts.items()}
        found = evaluate(statements, rows, kind=history.kind, facts=outside, start=start, until=until)
        return {d.name: _table(self.defined[d.name], found[d.name]) for d in mine}

    def _input(self, type: str) -> syntax.Declaration:
        """A type as input of the reference semantics, whoever defines it."""
        known = self._phenomena[type]
        names = tuple(syntax.Attribute(syntax.Name(n)) for n in known.names)
        return syntax.Declaration(known.sort, syntax.Name(type), names, changes=known.changes)


def _rows(table: pa.Table) -> Iterator[tuple[Any, Any, Any]]:
    """Time (of timestamps: int microseconds), attributes and end of the rows of a history."""
    columns = columns_of(table)
    ends = columns.get("end", [None] * len(table))
    return zip(columns["time"], attributes_of(columns), ends, strict=True)


def _table(schema: Schema, found: set[Any]) -> pa.Table:
    """Results of the reference as rows."""
    fields = [pa.field("time", pa.int64()), *([pa.field("end", pa.int64())] if schema.lasting else [])]
    fields += [pa.field(n, arrow_type(t)) for n, t in schema]
    rows = []
    for values, *when in found:
        times = dict(zip(("time", "end"), when, strict=False))
        rows.append({**{n: _fit(v, schema[n]) for n, v in values}, **times})
    return pa.Table.from_pylist(rows, pa.schema(fields))


def _fit(value: Any, of: Type) -> Any:
    return float(value) if of is Type.FLOAT and value is not None else value
