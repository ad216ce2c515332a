"""EPL as a language of the house: texts to definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.expr.text import Text
from occurs.languages.epl import syntax
from occurs.languages.epl.checks import Analysis, ResolvedQuery, analyse, retention
from occurs.languages.epl.compile import choices, columns_of, compile_query, looks_at_one, timeouts
from occurs.languages.epl.editing import begun as begun
from occurs.languages.epl.editing import bound as bound
from occurs.languages.epl.editing import layout as layout
from occurs.languages.epl.editing import outline as outline
from occurs.languages.epl.editing import pieces as pieces
from occurs.languages.epl.editing import words as words
from occurs.languages.epl.naming import alike as alike
from occurs.languages.epl.naming import named as named
from occurs.languages.epl.parser import parse
from occurs.languages.kit.language import Given, Known, Part, Slot, Texts, input_tables
from occurs.model.elements import without
from occurs.model.history import History
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.time import TimeKind, duration
from occurs.model.types import Schema, Type
from occurs.operators.definition import Definition, Node
from occurs.operators.sequence import tree
from occurs.operators.sequence.definition import SequenceDefinition, nodes
from occurs.operators.sequence.tree import record_of

LANGUAGE = "epl"


def read(texts: Sequence[Given]) -> Texts[syntax.File]:
    """Parse (text, file name, language) triples; all problems are kept."""
    return Texts.read(texts, parse)


def check(texts: Texts[syntax.File], known: Known) -> Epl:
    """Check parsed files against what is known."""
    analysis = analyse(
        texts.files, known.inputs, known.foreign, known.kind, foreign_reads=known.made, values=known.values
    )
    return Epl(replace(texts, files=analysis.files), analysis, known.zone)


@dataclass(frozen=True)
class Epl(Part):
    """The EPL part of a program.  ``zone``: of calendars."""

    texts: Texts[syntax.File]
    analysis: Analysis
    zone: str = "UTC"

    @property
    def queries(self) -> tuple[ResolvedQuery, ...]:
        """In the order of the text."""
        return self.analysis.queries

    @property
    def elements(self) -> frozenset[str]:
        return self.analysis.elements

    @property
    def takes(self) -> frozenset[str]:
        return self.analysis.takes

    def spelled(self, texts: Sequence[str]) -> list[str]:
        out = []
        for text, written in zip(texts, self.analysis.written, strict=True):
            source, behind = Text(text, None), len(text)
            parts: list[str] = []
            for span, value in sorted(written, key=lambda w: source.offsets(w[0]), reverse=True):
                start, end = source.offsets(span)
                parts += [text[end:behind], value or "".join(c if c == "\n" else " " for c in text[start:end])]
                behind = start
            out.append("".join([text[:behind], *reversed(parts)]))
        return out

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        return self.texts.places(syntax.Query)

    @property
    def declared(self) -> dict[str, Schema]:
        return self.analysis.declared

    @cached_property
    def defined(self) -> dict[str, Schema]:
        out: dict[str, Schema] = {}
        for q in self.queries:
            out.setdefault(q.name, _schema(q))
        return out

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        return {**self.analysis.schemas, **self.defined}

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(t for q in self.queries for t in q.reads)

    @cached_property
    def nodes(self) -> list[Node]:
        return [Node(q.name, frozenset(q.reads), frozenset()) for q in self.queries]

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """Compiled queries, in the order of the text."""
        out: list[Definition] = []
        seen: Counter[str] = Counter()
        titles = Counter(q.title or q.name for q in self.queries)
        listed: Counter[str] = Counter()
        for q, slot in zip(self.queries, slots, strict=True):
            identity = f"epl/{q.name}/{q.title or q.text}"
            again, title = seen[identity], q.title or q.name
            seen[identity] += 1
            listed[title] += 1
            pattern = compile_query(q, kind, self.zone)
            found = SequenceDefinition(
                dict.fromkeys(q.reads, 0),
                frozenset(q.reads),
                columns_of(q, pattern),
                q.name,
                slot.place,
                # equal definitions are told apart by a number, not by file or place
                f"{identity}/{again}" if again else identity,
                pattern,
                looks_at_one(pattern.root),
                splits=choices(pattern),
                kept=_kept(q, kind),
                file=q.file,
                span=q.query.span,
            )
            if any(isinstance(n, tree.Within) for n in nodes(pattern.root)):
                name = f"{title} {listed[title]}" if titles[title] > 1 else title
                shown = {t: without(s, self.elements) for t, s in self.schemas.items()}
                found = replace(found, guards=timeouts(q, found, shown, name))
            out.append(found)
        return out

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives.

        Events that queries of this language made before have places within their instants that rows cannot say: so
        those queries run once more.
        """
        from occurs.languages.epl.semantics import evaluate  # runs do without it

        before = {m.type for m in history.made if m.language == LANGUAGE}
        mine = [i for i, q in enumerate(self.queries) if i in chosen or q.name in before]
        statements: list[syntax.Statement] = [s for f in self.texts.files for s in f.statements]
        statements = [s for s in statements if isinstance(s, syntax.CreateSchema)]
        statements += [replace(q.query, into=syntax.Name(q.name)) for q in (self.queries[i] for i in mine)]
        start, until = history.clock if history.clock is not None else (None, None)
        schemas = {**history.schemas, **self.schemas}
        found = evaluate(
            statements, schemas, _given(history), kind=history.kind, zone=self.zone, start=start, until=until
        )
        out: dict[str, pa.Table] = {}
        for name in dict.fromkeys(self.queries[i].name for i in chosen):
            numbers = {mine.index(i) + 1 for i in chosen if self.queries[i].name == name}
            out[name] = _table(self.defined[name], [e for e in found if e.label[0] in numbers])
        return out


def _schema(q: ResolvedQuery) -> Schema:
    """The columns of the derived event, those that are events too."""
    records = {o.name: o.struct for o in q.outputs if o.struct is not None}
    names = dict.fromkeys([o.name for o in q.outputs])
    names |= {n: None for n in q.schema.names if n not in names}
    types = [(n, Type.RECORD if n in records else q.schema.get(n) or Type.NULL) for n in names]
    arrow = []
    for name, struct in records.items():
        record = record_of(struct.attributes)
        arrow.append((name, pa.list_(record) if struct.many else record))
    return Schema(tuple(types), records=tuple(arrow))


def _kept(q: ResolvedQuery, kind: TimeKind) -> tuple[str, ...]:
    """What a query keeps, in words."""
    out = []
    for wait in retention(q):
        if wait.bound is None:
            many = ", any number of partial matches" if wait.grows else ""
            out.append(f"{wait.tag}: until the pattern is complete{many} [unbounded]")
        elif wait.bound.amount:
            length = duration(int(kind.convert(wait.bound) or 0), kind)
            out.append(f"{wait.tag}: at most {length}, then the partial match is complete or dropped")
    for node in q.pattern.walk():
        if isinstance(node, syntax.EveryDistinct):
            expiry = node.expiry
            length = "[unbounded]" if expiry is None else f"for {duration(int(kind.convert(expiry) or 0), kind)}"
            out.append(f"every-distinct: one row per key {length}")
    return tuple(out)


def _given(history: History) -> list[Occurrence]:
    """The rows that the reference semantics takes: those of the input, and behind them in every instant what other
    languages have derived."""
    out = occurrences(input_tables(history))
    last = max((e.sequence for e in out if e.sequence is not None), default=0)
    others = sorted((m for m in history.made if m.language != LANGUAGE), key=lambda m: m.place)
    for e in (e for m in others for e in occurrences({m.type: m.table})):
        last += 1
        out.append(replace(e, sequence=last))
    return out


def _table(schema: Schema, found: Sequence[Occurrence]) -> pa.Table:
    """Results of the reference as rows; ``sequence`` is their order."""
    rows: list[dict[str, Any]] = [{"time": e.time, "sequence": n, **e.attributes} for n, e in enumerate(found)]
    fields = [pa.field("time", pa.int64()), pa.field("sequence", pa.int64()), *schema.arrow()]
    return pa.Table.from_pylist(rows, pa.schema(fields))
