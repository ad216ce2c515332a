"""TESLA as a language of the house: texts to definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa

from occurs.expr.tree import Binary, Literal, Ref
from occurs.languages.kit.language import Given, Known, Part, Slot, Texts, derived_table
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks import Analysis, ResolvedRule, analyse
from occurs.languages.tesla.checks.catalogue import TIMER
from occurs.languages.tesla.checks.plain import ZONE
from occurs.languages.tesla.checks.types import types_read
from occurs.languages.tesla.compile import compile_rule
from occurs.languages.tesla.editing import begun as begun
from occurs.languages.tesla.editing import bound as bound
from occurs.languages.tesla.editing import outline as outline
from occurs.languages.tesla.editing import pieces as pieces
from occurs.languages.tesla.editing import words as words
from occurs.languages.tesla.parser import parse
from occurs.model.history import History
from occurs.model.occurrence import Occurrence, occurrences
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.definition import Definition, Node, Subscribed
from occurs.operators.select.definition import PatternDefinition


def read(texts: Sequence[Given]) -> Texts[syntax.File]:
    """Parse (text, file name, language) triples; all problems are kept."""
    return Texts.read(texts, parse)


def check(texts: Texts[syntax.File], known: Known) -> Tesla:
    """Check parsed files against what is known."""
    analysis = analyse(texts.files, inputs=known.inputs, foreign=known.foreign, kind=known.kind)
    return Tesla(texts, analysis).in_zone(known.zone)


@dataclass(frozen=True)
class Tesla(Part):
    """The TESLA part of a program."""

    texts: Texts[syntax.File]
    analysis: Analysis

    def in_zone(self, zone: str) -> Tesla:
        """The timers that name no ``TZ`` of their own in this time zone; identities stay as they are."""
        if zone == "UTC":
            return self
        named = Binary("=", Ref(None, ZONE), Literal(zone, Type.STRING))

        def names(timer: syntax.Event) -> set[str]:
            return {n.name for c in timer.constraints for n in c.walk() if isinstance(n, Ref)}

        def placed(r: ResolvedRule) -> ResolvedRule:
            timer = r.rule.terminator
            if timer.type.text != TIMER or ZONE in names(timer):
                return r
            return replace(r, rule=replace(r.rule, terminator=replace(timer, constraints=(*timer.constraints, named))))

        return replace(self, analysis=replace(self.analysis, rules=tuple(map(placed, self.analysis.rules))))

    @cached_property
    def at(self) -> list[tuple[int, int]]:
        return self.texts.places(syntax.Rule)

    @property
    def schemas(self) -> dict[str, Schema]:
        return self.analysis.schemas

    @cached_property
    def defined(self) -> dict[str, Schema]:
        names = [r.rule.type.text for r in self.analysis.rules]
        return {t: self.analysis.schemas[t] for t in names if t in self.analysis.schemas}

    @cached_property
    def declared(self) -> dict[str, Schema]:
        return {t: s for t, s in self.analysis.schemas.items() if t in self.analysis.declared}

    @cached_property
    def reads(self) -> frozenset[str]:
        out = {s.type.text for s in self.analysis.subscriptions}
        return frozenset(out.union(*(types_read(r.rule) for r in self.analysis.rules)) - {TIMER})

    @property
    def assigned(self) -> Mapping[int, str]:
        return self.analysis.assigns

    @property
    def subscribed(self) -> list[Subscribed]:
        return [Subscribed(s.type.text, s.filter) for s in self.analysis.subscriptions]

    @cached_property
    def nodes(self) -> list[Node]:
        return [
            Node(r.rule.type.text, frozenset({r.rule.terminator.type.text}), r.rule.looked_back)
            for r in self.analysis.rules
        ]

    def definitions(self, kind: TimeKind, slots: Sequence[Slot], facts: Mapping[str, pa.Table]) -> list[Definition]:
        """Compiled rules, in program order."""
        out: list[Definition] = []
        seen: dict[str, int] = {}
        for r, slot in zip(self.analysis.rules, slots, strict=True):
            name = r.rule.name.text if r.rule.name else r.definition
            identity = f"tesla/{r.rule.type.text}/{name}"
            again = seen[identity] = seen.get(identity, -1) + 1
            # equal definitions are told apart by a number, not by file or place
            named = f"{identity}/{again}" if again else identity
            c = compile_rule(r, named, slot.place, self.analysis.schemas, slot.strict, kind)
            out.append(PatternDefinition(c.reads, c.positional, c.columns, c.pattern, c.looks_back, c.timer))
        return out

    def reference(self, chosen: Sequence[int], history: History, facts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
        """What the reference semantics derives."""
        from occurs.languages.tesla.semantics import evaluate  # runs do without it

        start, until = history.clock if history.clock is not None else (None, None)
        rules = [self.analysis.rules[i].rule for i in chosen]
        schemas = {**history.schemas, **self.analysis.schemas}
        found = evaluate(rules, schemas, occurrences(history.tables), kind=history.kind, start=start, until=until)
        return _tables(found, [r.type.text for r in rules], schemas)

    def asked(self, history: History) -> dict[str, pa.Table] | None:
        """The rows that subscriptions ask for."""
        from occurs.languages.tesla.semantics import evaluate  # runs do without it

        subscriptions = self.analysis.subscriptions
        if not subscriptions:
            return None
        schemas = {**history.schemas, **self.analysis.schemas}
        found = evaluate([], schemas, occurrences(history.tables), kind=history.kind, subscriptions=subscriptions)
        return _tables(found, [s.type.text for s in subscriptions], schemas)


def _tables(found: Sequence[Occurrence], types: Sequence[str], schemas: Mapping[str, Schema]) -> dict[str, pa.Table]:
    return {t: derived_table(schemas.get(t, Schema()), [e for e in found if e.type == t]) for t in dict.fromkeys(types)}
