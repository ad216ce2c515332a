"""Row patterns as a language of the house: texts to definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.errors import Problem
from occurs.expr.text import Text
from occurs.languages.kit.language import Given, Known, Part, Slot, Texts, input_tables
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks import Analysis, ResolvedQuery, analyse
from occurs.languages.match_recognize.compile import choices, compile_query, costs, delay, kept, timeouts
from occurs.languages.match_recognize.editing import begun as begun
from occurs.languages.match_recognize.editing import bound as bound
from occurs.languages.match_recognize.editing import layout as layout
from occurs.languages.match_recognize.editing import outline as outline
from occurs.languages.match_recognize.editing import pieces as pieces
from occurs.languages.match_recognize.editing import words as words
from occurs.languages.match_recognize.parser import parse
from occurs.model.history import History
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.definition import Definition, Node
from occurs.operators.rowpattern.definition import RowPatternDefinition
from occurs.operators.rowpattern.tree import Key

LANGUAGE = "match_recognize"


def read(texts: Sequence[Given]) -> Texts[syntax.File]:
    """Parse (text, file name, language) triples; all problems are kept."""
    return Texts.read(texts, parse)


def check(texts: Texts[syntax.File], known: Known) -> RowPatterns:
    """Check parsed files against what is known."""
    analysis = analyse(texts.files, known.inputs, known.foreign, known.kind, foreign_reads=known.made)
    return RowPatterns(texts, analysis)


@dataclass(frozen=True)
class RowPatterns(Part):
    """The row patterns of a program."""

    texts: Texts[syntax.File]
    analysis: Analysis

    @property
    def queries(self) -> tuple[ResolvedQuery, ...]:
        """In the order of the text."""
        return self.analysis.queries

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        return self.texts.places(syntax.Query)

    @cached_property
    def defined(self) -> dict[str, Schema]:
        out: dict[str, Schema] = {}
        for q in self.queries:
            out.setdefault(q.name, q.schema)
        return out

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        return {**self.analysis.schemas, **self.defined}

    @property
    def owned(self) -> frozenset[str]:
        return frozenset(self.defined)

    @property
    def closed_only(self) -> list[Problem]:
        files = [self.texts.files[i] for i, _ in self.at]
        found = [(f, q) for f, q in zip(files, self.queries, strict=True) if q.order[0] != Key("time")]
        return [_needs_end(Text(f.text, f.file), q) for f, q in found]

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(q.source for q in self.queries)

    @cached_property
    def nodes(self) -> list[Node]:
        return [Node(q.name, frozenset({q.source}), frozenset()) for q in self.queries]

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """Compiled queries, in the order of the text."""
        out: list[Definition] = []
        seen: Counter[str] = Counter()
        for q, slot in zip(self.queries, slots, strict=True):
            identity = f"{LANGUAGE}/{q.name}/{q.name if q.query.name is not None else q.text}"
            again = seen[identity]
            seen[identity] += 1
            matching = compile_query(q, kind)
            words, bound = kept(q, matching, kind)
            found = RowPatternDefinition(
                {q.source: 0},
                frozenset({q.source}),
                {q.source: matching.needs},
                q.name,
                slot.place,
                # equal definitions are told apart by a number, not by file or place
                f"{identity}/{again}" if again else identity,
                matching,
                delay(q, matching),
                bound=bound,
                splits=choices(matching),
                kept=words,
                costs=costs(q, matching, q.file),
                file=q.file,
                span=q.query.span,
            )
            if matching.within is not None:
                found = replace(found, timed=timeouts(found, q, q.name))
            out.append(found)
        return out

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives."""
        from occurs.languages.match_recognize.semantics import evaluate  # runs do without it

        mine = [self.queries[i] for i in chosen]
        start, until = history.clock if history.clock is not None else (None, None)
        schemas = {**history.schemas, **self.schemas}
        found = evaluate(mine, schemas, _given(history), kind=history.kind, start=start, until=until)
        return {q.name: _table(self.defined[q.name], [e for e in found if e.type == q.name]) for q in mine}


def _needs_end(source: Text, q: ResolvedQuery) -> Problem:
    """The problem of a query whose order only the end of the history decides."""
    message = f"`{q.name}` needs a history that is closed: its ORDER BY does not begin with `time`"
    hint = "begin ORDER BY with `time`, or run it over a closed history"
    return source.problem("unsupported", message, q.query.clause.order[0].column.span, hint)


def _given(history: History) -> list[Occurrence]:
    """The rows that the reference semantics takes: those of the input, and behind them in every instant what other
    definitions have derived, in its order."""
    out = occurrences(input_tables(history))
    last = max((e.sequence for e in out if e.sequence is not None), default=0)
    made = sorted(history.made, key=lambda m: m.place)
    for e in (e for m in made for e in occurrences({m.type: m.table})):
        last += 1
        out.append(replace(e, sequence=last))
    return out


def _table(schema: Schema, found: Sequence[Occurrence]) -> pa.Table:
    """Results of the reference as rows; ``sequence`` is their order."""
    rows: list[dict[str, Any]] = [{"time": e.time, "sequence": n, **e.attributes} for n, e in enumerate(found)]
    fields = [pa.field("time", pa.int64()), pa.field("sequence", pa.int64()), *schema.arrow()]
    return pa.Table.from_pylist(rows, pa.schema(fields))
