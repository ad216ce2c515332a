"""A text case of Phenesthe made ready: its statements, its rows by attribute, what comes out, as values to compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa

from occurs.errors import OccursError
from occurs.languages.phenesthe import syntax
from occurs.languages.phenesthe.parser import parse
from occurs.languages.phenesthe.semantics import Result, Row, evaluate, windows
from occurs.model.types import Type, arrow_type, widen
from occurs.testing.cases import type_of
from occurs.testing.lasting import LastingCase, Written

#: a row of an answer: type, time, end if it lasts, attributes
Line = tuple[Any, ...]


class Loaded:
    """A case whose rules are parsed; OccursError if they are not in the grammar."""

    def __init__(self, case: LastingCase) -> None:
        self.case = case
        self.file, problems = parse(case.rules, f"{case.file}:{case.line}")
        if any(p.severity == "error" for p in problems):
            raise OccursError(problems)

    @cached_property
    def sorts(self) -> dict[str, str]:
        """The sort of every type; ``fact``, and ``changes`` for a state that is read from its changes."""
        declared = [s for s in self.file.statements if isinstance(s, syntax.Declaration)]
        defined = [s for s in self.file.statements if isinstance(s, syntax.Definition)]
        found = {s.name.text: "changes" if s.changes else s.sort for s in declared}
        return {**found, **{s.name.text: s.sort for s in defined}}

    @cached_property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The attributes of every declared or defined type."""
        found: dict[str, tuple[str, ...]] = {}
        for s in self.file.statements:
            if isinstance(s, syntax.Declaration):
                found[s.name.text] = tuple(a.name.text for a in s.attributes)
            elif isinstance(s, syntax.Definition):
                found[s.name.text] = tuple(a.name.text for a in s.head)
        return found

    def attributes(self, row: Written) -> dict[str, Any]:
        """The values of a row by attribute; facts that nobody declares have ``a1``, ``a2``..."""
        return row.attributes(self.names.get(row.type, tuple(f"a{i + 1}" for i in range(len(row.values)))))

    @property
    def history(self) -> list[Row]:
        """The rows as the reference semantics takes them."""
        return [Row(r.type, r.time, self.attributes(r), r.end) for r in self.case.rows if r.time is not None]

    @property
    def facts(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of facts from outside."""
        found: dict[str, list[dict[str, Any]]] = {}
        for row in self.case.facts:
            found.setdefault(row.type, []).append(self.attributes(row))
        return found

    def tables(self) -> dict[str, pa.Table]:
        """One Arrow table per type with rows: ``time``, ``end`` of what lasts, the attributes."""
        kind = arrow_type(Type.TIMESTAMP) if self.case.kind.timestamp else pa.int64()
        found = {}
        for name in dict.fromkeys(r.type for r in self.history):
            rows = [r for r in self.history if r.type == name]
            columns = {"time": pa.array([r.time for r in rows], pa.int64()).cast(kind)}
            if self.sorts[name] in ("state", "dynamic"):
                columns["end"] = pa.array([r.end for r in rows], pa.int64()).cast(kind)
            found[name] = pa.table({**columns, **_columns([r.attributes for r in rows])})
        return found

    def fact_tables(self) -> dict[str, pa.Table]:
        """One Arrow table per fact from outside."""
        return {name: pa.table(_columns(rows)) for name, rows in self.facts.items()}

    def lines(self, rows: Iterable[Written]) -> set[Line]:
        """Rows of the case as they compare."""
        return {line(r.type, self.attributes(r), (r.time, r.end) if r.lasting else (r.time,)) for r in rows}

    def batch(self) -> set[Line]:
        """The answer of the reference semantics over the whole history."""
        start, until = self.case.times.get("start"), self.case.times.get("until")
        return shown(evaluate(self.file, self.history, kind=self.case.kind, facts=self.facts, start=start, until=until))

    def windows(self) -> dict[int, set[Line]]:
        """The answers of the reference semantics by query."""
        times = self.case.times
        found = windows(
            self.file,
            self.history,
            kind=self.case.kind,
            facts=self.facts,
            window=times["window"],
            step=times["step"],
            start=times.get("start"),
        )
        return {query: shown(answer) for query, answer in found.items()}


def line(type_: str, attributes: Mapping[str, Any], when: Line) -> Line:
    """A row as a value under which true and 1 differ, and 1 and 1.0 do not."""
    return (type_, *when, tuple(sorted((n, isinstance(v, bool), v) for n, v in attributes.items())))


def shown(found: Mapping[str, set[Result]]) -> set[Line]:
    """The answer of the reference semantics as lines."""
    return {line(name, dict(row[0]), row[1:]) for name, rows in found.items() for row in rows}


def _columns(rows: Iterable[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """The attributes of rows in the order of their first appearance, of the least type that holds all values."""
    rows = list(rows)
    found = {}
    for name in dict.fromkeys(n for r in rows for n in r):
        values, of = [r.get(name) for r in rows], Type.NULL
        for value in values:
            both = widen(of, type_of(value))
            if both is None:
                raise ValueError(f"{name} has values of different types")
            of = both
        # NaN stays what it is: that it is null is for the reader to see to
        plain = [float(v) if of is Type.FLOAT and v is not None else v for v in values]
        found[name] = pa.array([int(v) if of is Type.TIMESTAMP and v is not None else v for v in plain], arrow_type(of))
    return found
