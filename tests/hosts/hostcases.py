"""Text cases for hosts: many cases of one kind of time as one program, and histories as Spark DataFrames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import occurs
from occurs.errors import OccursError
from occurs.languages.tesla.semantics import Occurrence
from occurs.model.source import InputOptions
from occurs.testing.cases import Case, load_cases
from occurs.testing.compare import occurrences_of

FOLDER = Path(__file__).parents[1] / "cases" / "tesla"


def all_cases() -> list[Case]:
    return [c for path in sorted(FOLDER.glob("*.md")) for c in load_cases(path)]


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


def on_spark(spark: Any, program: occurs.Program, tables: dict[str, pa.Table], **options: Any) -> list[Occurrence]:
    """The detections; integers and timestamps as the local host's."""
    found = program.detect({t: spark.createDataFrame(table) for t, table in tables.items()}, **options)
    try:
        return occurrences_of({t: found.arrow(t) for t in found})
    finally:
        found.unpersist()


def here(program: occurs.Program, tables: dict[str, pa.Table], **options: Any) -> list[Occurrence]:
    found = program.detect(tables, **options)
    return occurrences_of({t: found.arrow(t) for t in found})


# -- many cases as one program -----------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Batch:
    """Cases whose types got a prefix each, so that they are one program over one mapping."""

    cases: tuple[Case, ...]
    rules: str
    tables: dict[str, pa.Table]

    @property
    def expected(self) -> list[Occurrence]:
        out = []
        for number, case in enumerate(self.cases):
            out += [replace(e, type=f"{prefix(number)}{e.type}") for e in case.expected or ()]
        return out


def prefix(number: int) -> str:
    return f"case{number}__"


def combinable(case: Case) -> bool:
    """Nothing in it depends on the clock of the whole, or reports less than all, or is an error."""
    apart = ("Timer", "Subscribe", "Assign")
    return (
        case.error is None
        and case.start is None
        and case.until is None
        and not any(word in case.rules for word in apart)
        and bool(case.events)
    )


def combined(cases: Iterable[Case]) -> list[Batch]:
    """One batch per kind of time; cases that do not come out right in one are the caller's to find."""
    by_kind: dict[tuple[bool, str | None], list[Case]] = {}
    for case in cases:
        by_kind.setdefault((case.kind.timestamp, case.kind.unit), []).append(case)
    out = []
    for some in by_kind.values():
        rules, tables = [], {}
        for number, case in enumerate(some):
            rules.append(renamed(case, prefix(number)))
            tables.update({prefix(number) + t: table for t, table in case.tables().items()})
        out.append(Batch(tuple(some), "\n".join(rules), tables))
    return out


def renamed(case: Case, before: str) -> str:
    """The rules with a prefix before every type, and before the names of rules.

    Types are found in the places where the grammar has them; a role that is called by its type becomes ``Type as
    Type``-less: every mention of the name outside of strings and of ``where Name =`` targets is renamed alike.
    """
    program = occurs.parse(case.rules)
    types = set(program.bind(dict(case.inputs), case.kind).analysis.schemas)
    types |= program.reads | set(case.inputs)
    names = set(re.findall(r"\brule\s+(\w+)\s*:", case.rules))
    words = "|".join(sorted(map(re.escape, types | names), key=len, reverse=True))
    pieces = re.split(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|(?:#|--)[^\n]*)""", case.rules)
    for at in range(0, len(pieces), 2):
        # not after a dot or `$` (an attribute, a parameter)
        pieces[at] = re.sub(rf"(?<![\w.$])({words})(?!\w)", before + r"\1", pieces[at])
    return "".join(p for at, p in enumerate(pieces) if at % 2 == 0 or not p.startswith(("#", "--")))


def agrees(case: Case, number: int) -> bool:
    """Does the renamed case still give its answer here?  If a name has two meanings in it, it is tested alone."""
    from occurs.testing.compare import difference

    text = renamed(case, prefix(number))
    tables = {prefix(number) + t: table for t, table in case.tables().items()}
    expected = [replace(e, type=f"{prefix(number)}{e.type}") for e in case.expected or ()]
    try:
        return difference(expected, here(occurs.parse(text), tables, **keywords(case))) is None
    except OccursError:
        return False


def split(cases: Sequence[Case]) -> tuple[list[Case], list[Case]]:
    """(cases that can share a program, those that cannot)."""
    together = [c for c in cases if combinable(c) and agrees(c, 0)]
    return together, [c for c in cases if c not in together]


def options_of(case: Case) -> InputOptions:
    return InputOptions(**keywords(case))
