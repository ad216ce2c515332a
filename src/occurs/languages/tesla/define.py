"""TESLA as a language of the house: texts to definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from occurs.errors import Problem
from occurs.expr.tree import Binary, Literal, Ref
from occurs.languages.tesla import syntax
from occurs.languages.tesla.checks import Analysis, ResolvedRule, analyse
from occurs.languages.tesla.checks_timer import ZONE
from occurs.languages.tesla.compile import TIMER, compile_rule, looked_back
from occurs.languages.tesla.parser import parse
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.plan.definition import Definition, PatternDefinition
from occurs.plan.graph import Node, order
from occurs.plan.stage import Subscribed

__all__ = ["Tesla", "Texts"]


@dataclass(frozen=True)
class Texts:
    """Parsed files with the problems of their syntax."""

    files: tuple[syntax.File, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Tesla:
    """The TESLA part of a program, checked against the schemas that are known (None: no data yet)."""

    analysis: Analysis

    @staticmethod
    def read(texts: Sequence[tuple[str, str | None]]) -> Texts:
        """Parse (text, file name) pairs; all problems are kept."""
        files, problems = [], []
        for text, name in texts:
            file, found = parse(text, name)
            files.append(file)
            problems += found
        return Texts(tuple(files), tuple(problems))

    @classmethod
    def check(cls, texts: Texts, inputs: Mapping[str, Schema] | None, kind: TimeKind | None) -> Tesla:
        return cls(analyse(texts.files, inputs=inputs, kind=kind))

    def in_zone(self, zone: str) -> Tesla:
        """The timers that name no ``TZ`` of their own in this time zone; identities stay as they are."""
        named = Binary("=", Ref(None, ZONE), Literal(zone, Type.STRING))

        def names(timer: syntax.Event) -> set[str]:
            return {n.name for c in timer.constraints for n in c.walk() if isinstance(n, Ref)}

        def placed(r: ResolvedRule) -> ResolvedRule:
            timer = r.rule.terminator
            if timer.type.text != TIMER or ZONE in names(timer):
                return r
            return replace(r, rule=replace(r.rule, terminator=replace(timer, constraints=(*timer.constraints, named))))

        return Tesla(replace(self.analysis, rules=tuple(map(placed, self.analysis.rules))))

    @property
    def problems(self) -> list[Problem]:
        return self.analysis.problems

    @cached_property
    def defined(self) -> set[str]:
        return {r.rule.type.text for r in self.analysis.rules}

    @cached_property
    def declared(self) -> dict[str, Schema]:
        """The schemas that the texts declare: input rows must fit them."""
        return {t: s for t, s in self.analysis.schemas.items() if t in self.analysis.declared}

    @cached_property
    def reads(self) -> set[str]:
        """Every type that rules read or subscriptions name."""
        out = {s.type.text for s in self.analysis.subscriptions}
        for r in self.analysis.rules:
            out |= {r.rule.terminator.type.text} | looked_back(r.rule)
        return out - {TIMER}

    def definitions(self, kind: TimeKind) -> list[Definition]:
        """Compiled rules, in program order, with their places in the evaluation order."""
        rules = self.analysis.rules
        graph = order(
            [Node(r.rule.type.text, frozenset({r.rule.terminator.type.text}), looked_back(r.rule)) for r in rules]
        )
        out: list[Definition] = []
        seen: dict[str, int] = {}
        for i, r in enumerate(rules):
            name = r.rule.name.text if r.rule.name else r.definition
            identity = f"tesla/{r.rule.type.text}/{name}"
            again = seen[identity] = seen.get(identity, -1) + 1
            # equal definitions are told apart by a number, not by file or place
            named = replace(r, definition=f"{identity}/{again}" if again else identity)
            c = compile_rule(named, graph.places[i], self.analysis.schemas, graph.strict[i], kind)
            out.append(PatternDefinition(c.reads, c.positional, c.columns, c.pattern, c.looks_back, c.timer))
        return out

    @property
    def subscribed(self) -> list[Subscribed]:
        return [Subscribed(s.type.text, s.filter) for s in self.analysis.subscriptions]
