"""Text cases for hosts: many cases of one kind of time as one program, and what Spark finds as plain rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import occurs
from occurs.connect.tables import to_arrow
from occurs.errors import OccursError
from occurs.model.occurrence import Occurrence
from occurs.model.types import Type, arrow_type
from occurs.testing.cases import Case, load_cases
from occurs.verify.compare import difference, occurrences_of

FOLDER = Path(__file__).parents[1] / "cases" / "tesla"


@lru_cache(maxsize=1)
def all_cases() -> tuple[Case, ...]:
    return tuple(c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path))


@contextmanager
def configured(spark: Any, settings: Mapping[str, str]) -> Iterator[None]:
    """Spark with these settings; afterwards with those that it had."""
    before = {name: spark.conf.get(name) for name in settings}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


def keywords(case: Case) -> dict[str, Any]:
    """The options of ``detect``."""
    unit = None if case.kind.timestamp else case.kind.unit
    out: dict[str, Any] = {"time_unit": unit}
    for name, ticks in (("start", case.start), ("until", case.until)):
        if ticks is not None:
            out[name] = stamp(ticks) if case.kind.timestamp else ticks
    return out


def stamp(micros: int) -> str:
    return pa.array([micros], pa.int64()).cast(pa.timestamp("us", tz="UTC")).cast(pa.string())[0].as_py()


# -- answers as plain rows ---------------------------------------------------------------------------------------------
def here(program: occurs.Program, tables: Any, **options: Any) -> list[Occurrence]:
    """The detections of the local host."""
    found = program.detect(tables, **options)
    return occurrences_of({t: found.arrow(t) for t in found})


def on_spark(spark: Any, program: occurs.Program, tables: Any, **options: Any) -> list[Occurrence]:
    """The detections on Spark; integers and timestamps as the local host's."""
    if isinstance(tables, Mapping):
        frames: Any = {t: spark.createDataFrame(table) for t, table in tables.items()}
    else:
        frames = spark.createDataFrame(tables)
    found = program.detect(frames, **options)
    try:
        return occurrences_of({t: found.arrow(t) for t in found})
    finally:
        found.unpersist()


def in_few_jobs(found: Any, schemas: Mapping[str, pa.Schema]) -> list[Occurrence]:
    """All detections of a Spark run, whose types have these ``schemas``: types that agree about attributes together."""
    jobs: list[tuple[list[str], dict[str, pa.DataType]]] = []
    for t in found:
        own = {f.name: f.type for f in schemas[t]}
        fitting = [job for job in jobs if all(job[1].get(n, kind) == kind for n, kind in own.items())]
        jobs += [] if fitting else [([], {})]
        types, attributes = fitting[0] if fitting else jobs[-1]
        types.append(t)
        attributes.update(own)
    out = []
    for types, _ in jobs:
        rows = to_arrow(found.together(*types))
        for t in types:
            mine = rows.filter(pc.equal(rows.column("type"), t)).select(schemas[t].names)
            out += occurrences_of({t: mine})
    return out


def labelled(rows: Iterable[Occurrence]) -> list[tuple[Any, ...]]:
    """Rows with label and constituents, in an order of their own: to be equal byte for byte."""
    return sorted((r.type, r.time, r.attributes["label"], repr(r.attributes["because"])) for r in rows)


def bare(rows: Iterable[Occurrence]) -> list[Occurrence]:
    """Rows without label and constituents."""
    out = []
    for r in rows:
        own = {n: v for n, v in r.attributes.items() if n not in ("label", "because")}
        out.append(replace(r, attributes=own))
    return out


# -- many cases as one program -----------------------------------------------------------------------------------------
@dataclass
class Batch:
    """Cases whose types got a prefix each and are declared, so that they are one program over one table."""

    cases: list[Case] = field(default_factory=list)
    attributes: dict[str, Type] = field(default_factory=dict)

    def takes(self, case: Case) -> bool:
        if len(self.cases) >= 60:
            return False
        if self.cases and (self.cases[0].kind, subscribes(self.cases[0])) != (case.kind, subscribes(case)):
            return False
        return all(self.attributes.get(n, t) is t for s in case.inputs.values() for n, t in s)

    def add(self, case: Case) -> None:
        self.cases.append(case)
        self.attributes.update({n: t for s in case.inputs.values() for n, t in s})

    @property
    def name(self) -> str:
        return f"{len(self.cases)} cases such as {self.cases[0].name}"

    @property
    def options(self) -> dict[str, Any]:
        return keywords(self.cases[0])

    @cached_property
    def program(self) -> occurs.Program:
        return occurs.parse("\n".join(renamed(case, prefix(n)) for n, case in enumerate(self.cases)))

    @cached_property
    def table(self) -> pa.Table:
        rows = [(prefix(n) + e.type, e) for n, case in enumerate(self.cases) for e in case.events]
        times = pa.array([e.time for _, e in rows], pa.int64())
        columns = {"type": pa.array([t for t, _ in rows])}
        columns["time"] = times.cast(pa.timestamp("us", tz="UTC")) if self.cases[0].kind.timestamp else times
        columns["sequence"] = pa.array([e.sequence for _, e in rows], pa.int64())
        for name, kind in self.attributes.items():
            values = [e.attributes.get(name) for _, e in rows]
            plain = [v if v is None or kind in (Type.STRING, Type.BOOL) else _number(v, kind) for v in values]
            columns[name] = pa.array(plain, arrow_type(kind))
        return pa.table(columns)

    @cached_property
    def expected(self) -> list[Occurrence]:
        """What the cases say; a case that says nothing (a random program) what the local host finds."""
        out = []
        for n, case in enumerate(self.cases):
            rows = case.expected
            if rows is None:
                rows = tuple(here(occurs.parse(case.rules), case.tables(), **keywords(case)))
            words, before = mentions(case), prefix(n)
            for e in rows:
                # a type may be the name of an attribute as well
                own = {before + a if a in words else a: v for a, v in e.attributes.items()}
                out.append(replace(e, type=before + e.type, attributes=own))
        return out


def _number(value: Any, kind: Type) -> Any:
    return float(value) if kind is Type.FLOAT else int(value)


def prefix(number: int) -> str:
    return f"case{number}__"


def subscribes(case: Case) -> bool:
    return "Subscribe" in case.rules


def combinable(case: Case) -> bool:
    """Does nothing in it depend on the clock or the numbers of the whole, and is it no error?"""
    if case.error is not None or case.start is not None or case.until is not None or not case.events:
        return False
    if "Timer" in case.rules or "Assign" in case.rules:
        return False
    program = occurs.parse(case.rules)
    if not program.checked.external <= {*case.inputs, *program.declared}:
        return False  # in one table with others a type without rows has their attributes
    return all(t is not Type.NULL for s in case.inputs.values() for _, t in s)


def combined(cases: Iterable[Case]) -> tuple[list[Batch], list[Case]]:
    """(the cases in batches, those that have to run alone)."""
    batches: list[Batch] = []
    alone: list[Case] = []
    for case in cases:
        single = Batch()
        single.add(case)
        if not combinable(case) or not _agrees(single):
            alone.append(case)
            continue
        batch = next((b for b in batches if b.takes(case)), None)
        if batch is None:
            batch = Batch()
            batches.append(batch)
        batch.add(case)
    # a session costs more than a case: what would be a batch of few runs alone
    few = [b for b in batches if len(b.cases) < 3]
    return [b for b in batches if b not in few], alone + [c for b in few for c in b.cases]


def _agrees(batch: Batch) -> bool:
    """Does the renamed case still give its answer here?  If a name has two meanings in it, it is tested alone."""
    try:
        return difference(batch.expected, here(batch.program, batch.table, **batch.options)) is None
    except OccursError:
        return False


def renamed(case: Case, before: str) -> str:
    """The rules with a prefix before every type and every name of a rule, and declarations of all types of events.

    Mentions are found in the text, outside of quotes, comments and behind a dot; where that is not what the grammar
    means, the case gives another answer, and :func:`combined` finds out.
    """
    words = "|".join(sorted(map(re.escape, mentions(case)), key=len, reverse=True))
    pieces = re.split(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(?:#|--)[^\n]*)""", case.rules)
    for at in range(0, len(pieces), 2):
        # not after a dot or `$` (an attribute, a parameter), not where a value is given to a name
        pieces[at] = re.sub(rf"(?<![\w.$])({words})(?!\w)", before + r"\1", pieces[at])
    text = "".join(p for at, p in enumerate(pieces) if at % 2 == 0 or not p.startswith(("#", "--")))
    return "\n".join([*_declarations(case, before), text])


def mentions(case: Case) -> set[str]:
    """The types of a case and the names of its rules."""
    program = occurs.parse(case.rules)
    types = set(program.checked.bind(dict(case.inputs), case.kind).schemas)
    return types | program.checked.reads | set(case.inputs) | set(re.findall(r"\brule\s+(\w+)\s*:", case.rules))


def _declarations(case: Case, before: str) -> Iterator[str]:
    program = occurs.parse(case.rules)
    for t, schema in case.inputs.items():
        if t not in program.declared:
            yield f"event {before}{t}({', '.join(f'{n}: {at}' for n, at in schema)})"
