"""Text cases of EPL for hosts: their options, and many cases of one kind of time as one program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from hostcases import keywords
from tests.textcases.epl import EplCase, load_cases

import occurs
from occurs.languages.epl import syntax
from occurs.languages.epl.render import render
from occurs.model.types import Type, arrow_type
from occurs.program import Program

FOLDER = Path(__file__).parents[1] / "cases" / "epl"
#: cases in a batch: plans of Spark grow with their number
MOST = 50


@lru_cache(maxsize=1)
def all_cases() -> tuple[EplCase, ...]:
    return tuple(load_cases(FOLDER))


def program_of(case: EplCase) -> Program:
    return Program(occurs.parse(case.rules, language="epl", values=case.values).checked.adjusted(zone=case.zone))


def right(cases: Iterable[EplCase]) -> list[EplCase]:
    """Those that have an answer."""
    return [c for c in cases if c.error is None]


# -- many cases as one program -----------------------------------------------------------------------------------------
@dataclass
class Batch:
    """Cases whose types got a prefix each and are created, so that they are one program over one table.

    They share a clock, so what timers do may differ from each alone: what this process finds is the measure.
    """

    cases: list[EplCase] = field(default_factory=list)
    attributes: dict[str, Type] = field(default_factory=dict)

    def takes(self, case: EplCase) -> bool:
        first = self.cases[0] if self.cases else case
        if len(self.cases) >= MOST or (first.kind, first.zone) != (case.kind, case.zone):
            return False
        return all(self.attributes.get(n, t) is t for s in case.inputs.values() for n, t in s)

    def add(self, case: EplCase) -> None:
        self.cases.append(case)
        self.attributes.update({n: t for s in case.inputs.values() for n, t in s})

    @property
    def name(self) -> str:
        return f"{len(self.cases)} cases such as {self.cases[0].name}"

    @property
    def options(self) -> dict[str, Any]:
        return keywords(self.cases[0])

    @cached_property
    def program(self) -> Program:
        text = "\n".join(render(renamed(case, f"case{n}__")) for n, case in enumerate(self.cases))
        return Program(occurs.parse(text, language="epl").checked.adjusted(zone=self.cases[0].zone))

    @cached_property
    def table(self) -> pa.Table:
        rows = [(f"case{n}__{e.type}", e) for n, case in enumerate(self.cases) for e in case.events]
        times = pa.array([e.time for _, e in rows], pa.int64())
        columns = {"type": pa.array([t for t, _ in rows], pa.string())}
        columns["time"] = times.cast(pa.timestamp("us", tz="UTC")) if self.cases[0].kind.timestamp else times
        columns["sequence"] = pa.array([e.sequence for _, e in rows], pa.int64())
        for name, kind in self.attributes.items():
            values = [_plain(e.attributes.get(name), kind) for _, e in rows]
            columns[name] = pa.array(values, arrow_type(kind))
        return pa.table(columns)


def _plain(value: Any, kind: Type) -> Any:
    if value is None or kind in (Type.STRING, Type.BOOL):
        return value
    return float(value) if kind is Type.FLOAT else int(value)


def combined(cases: Iterable[EplCase]) -> tuple[list[Batch], list[EplCase]]:
    """(the cases in batches, those that have to run alone)."""
    batches: list[Batch] = []
    alone: list[EplCase] = []
    for case in cases:
        known = all(t not in (Type.NULL, Type.RECORD) for s in case.inputs.values() for _, t in s)
        # a timer of seconds would go on for all years of a clock that calendars share
        calendar = case.kind.timestamp and "timer:" in case.rules
        clocked = case.start is not None or case.until is not None
        if case.error is not None or clocked or calendar or not case.events or not known:
            alone.append(case)
            continue
        batch = next((b for b in batches if b.takes(case)), None)
        if batch is None:
            batch = Batch()
            batches.append(batch)
        batch.add(case)
    return batches, alone


def renamed(case: EplCase, before: str) -> syntax.File:
    """The statements with a prefix before every type; all types of events are created."""
    statements: list[syntax.Statement] = []
    created = {s.name.text for s in case.file_tree.statements if isinstance(s, syntax.CreateSchema)}
    for t, schema in case.inputs.items():
        if t not in created:
            columns = tuple(syntax.Attribute(syntax.Name(n), at) for n, at in schema)
            statements.append(syntax.CreateSchema(syntax.Name(before + t), columns))

    def own(name: syntax.Name) -> syntax.Name:
        return syntax.Name(before + name.text)

    def pattern(node: Any) -> Any:
        if isinstance(node, syntax.Filter):
            return replace(node, type=own(node.type))
        if isinstance(node, syntax.Until):
            return replace(node, operand=pattern(node.operand), end=pattern(node.end))
        if isinstance(node, syntax.And | syntax.Or | syntax.Followed):
            return replace(node, operands=tuple(map(pattern, node.operands)))
        return replace(node, operand=pattern(node.operand)) if node.children else node

    queries = iter(case.analysis.queries)
    for s in case.analysis.files[0].statements:
        if isinstance(s, syntax.CreateSchema):
            statements.append(replace(s, name=own(s.name), inherits=tuple(map(own, s.inherits)), annotations=()))
        elif isinstance(s, syntax.Query):
            name = syntax.Name(next(queries).name)
            statements.append(replace(s, into=own(name), pattern=pattern(s.pattern), annotations=()))
    return syntax.File(tuple(statements))
