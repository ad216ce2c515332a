"""Temporal triggers (FTL, PTL) as a language of the house: texts to definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from occurs.languages.kit.language import Given, Known, Part, Slot, Texts, derived_table, input_tables
from occurs.languages.logic import syntax
from occurs.languages.logic.checks import Analysis, ResolvedTrigger, analyse
from occurs.languages.logic.compile import (
    CHANGES,
    begins_of,
    choices,
    columns_of,
    kept_by,
    noticing_of,
    observes,
    operator_of,
    ordered,
    rule_of,
    types_read,
)
from occurs.languages.logic.editing import begun as begun
from occurs.languages.logic.editing import bound as bound
from occurs.languages.logic.editing import outline as outline
from occurs.languages.logic.editing import pieces as pieces
from occurs.languages.logic.editing import words as words
from occurs.languages.logic.parser import parse
from occurs.model.canonical import canonical
from occurs.model.history import History
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.definition import Definition, Node
from occurs.operators.temporal.definition import TriggerDefinition
from occurs.operators.temporal.general import General
from occurs.operators.temporal.reach import overlap

LANGUAGE = "logic"


def read(texts: Sequence[Given]) -> Texts[syntax.File]:
    """Parse (text, file name, language) triples; all problems are kept."""
    parsed = [parse(text, name, past=language == "ptl") for text, name, language in texts]
    return Texts(tuple(file for file, _ in parsed), tuple(p for _, found in parsed for p in found))


def check(texts: Texts[syntax.File], known: Known) -> Logic:
    """Check parsed files against what is known."""
    analysis = analyse(
        texts.files, known.inputs, known.foreign, known.kind, foreign_reads=known.made, max_formula=known.max_formula
    )
    return Logic(texts, analysis, known)


@dataclass(frozen=True)
class Logic(Part):
    """The FTL and PTL part of a program."""

    texts: Texts[syntax.File]
    analysis: Analysis
    known: Known

    @property
    def triggers(self) -> tuple[ResolvedTrigger, ...]:
        """In the order of the text."""
        return self.analysis.triggers

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        return self.texts.places(syntax.Trigger)

    @cached_property
    def declared(self) -> dict[str, Schema]:
        return {n: self._with_changes(n, s) for n, s in self.analysis.declared.items()}

    def _with_changes(self, name: str, schema: Schema) -> Schema:
        """Rows of tables are changes: they may have ``op``, and ``old`` as JSON text."""
        if name not in self.analysis.tables:
            return schema
        more = tuple((n, Type.STRING) for n in CHANGES if n not in schema)
        return replace(schema, attributes=schema.attributes + more, optional=tuple(n for n, _ in more))

    @cached_property
    def defined(self) -> dict[str, Schema]:
        return {t.name: self.analysis.schemas[t.name] for t in self.triggers if t.name in self.analysis.schemas}

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        found = {n: self._with_changes(n, s) for n, s in self.analysis.schemas.items()}
        inputs = self.known.inputs or {}
        return found | {n: inputs[n] for t in self._reads for n in t if n not in found and n in inputs}

    @cached_property
    def _everything(self) -> frozenset[str]:
        """The types of the program's input: what is declared, and what is read and not made."""
        others = {*self.known.foreign, *(self.known.inputs or ())}
        read = {n for t in self.triggers for n in (*t.reads, *t.inputs)}
        return frozenset({*self.analysis.declared, *others, *read} - set(self.defined) - self.known.made.keys())

    @cached_property
    def _reads(self) -> list[frozenset[str]]:
        """The types that every trigger reads."""
        return [types_read(t, self.analysis, self._everything) for t in self.triggers]

    @cached_property
    def reads(self) -> frozenset[str]:
        return frozenset(n for t in self._reads for n in t)

    @property
    def looks_ahead(self) -> bool:
        return any(not t.trigger.past for t in self.triggers)

    @cached_property
    def reads_all(self) -> bool:
        return any(observes(t) for t in self.triggers)

    @cached_property
    def nodes(self) -> list[Node]:
        return [Node(t.name, reads, frozenset()) for t, reads in zip(self.triggers, self._reads, strict=True)]

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """Compiled triggers, in the order of the text."""
        out: list[Definition] = []
        for resolved, slot in zip(self.triggers, slots, strict=True):
            rule = rule_of(resolved, self.analysis, self.schemas, kind, self._everything)
            known = rule.sources
            kept, size = kept_by(rule)
            operator = operator_of(rule)
            back, whole = overlap(rule, operator)
            reads = frozenset((*known.tables, *known.states, *known.events))
            out.append(
                TriggerDefinition(
                    dict.fromkeys(sorted(reads), 0),
                    ordered(rule) | (frozenset(known.events) if rule.asks_who else frozenset()),
                    columns_of(rule),
                    resolved.name,
                    slot.place,
                    f"{LANGUAGE}/{resolved.name}/{rule.name}",
                    rule.name,
                    operator,
                    rule.generics,
                    frozenset(known.events) if rule.asks_who else frozenset(),
                    frozenset((*known.tables, *known.states)),
                    frozenset(known.tables),
                    splits=choices(rule, self.known.inputs or {}),
                    kept=kept,
                    timed=rule.every is not None,
                    future=not rule.past,
                    size=size,
                    thorough=General(rule, reasons=True),
                    noticing=noticing_of(rule),
                    stateful=isinstance(operator, General),
                    begins=begins_of(rule, operator),
                    overlap=back,
                    whole=whole,
                    text=f"{resolved.text} {canonical(known)}",
                    file=resolved.file,
                    span=resolved.trigger.span,
                )
            )
        return out

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives."""
        from occurs.languages.logic.semantics import evaluate  # runs do without it

        mine = [self.triggers[i].trigger for i in chosen]
        given: list[syntax.Definition] = [d for f in self.texts.files for d in f.definitions]
        definitions = [d for d in given if not isinstance(d, syntax.Trigger) or any(d is t for t in mine)]
        start, until = history.clock if history.clock is not None else (None, None)
        rows, made = _given(history)
        inputs = {n: s for n, s in {**self.schemas, **history.schemas}.items() if n not in self.analysis.tables}
        found = evaluate(
            definitions, rows, kind=history.kind, inputs=inputs, schemas=self.defined, made=made, start=start,
            until=until,
        )  # fmt: skip
        return {
            n: derived_table(self.defined[n], [e for e in found if e.type == n])
            for n in {self.triggers[i].name for i in chosen}
        }


def _given(history: History) -> tuple[list[Occurrence], list[Occurrence]]:
    """The rows of the input, and what definitions have made, in their order."""
    made = [(e.time, m.place, n, e) for m in history.made for n, e in enumerate(occurrences({m.type: m.table}))]
    return occurrences(input_tables(history)), [e for *_, e in sorted(made, key=lambda e: e[:3])]
