"""The text cases of Phenesthe for hosts: tables as users give them, and many cases as one program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from tests.textcases.phenesthe import LastingCase, Line, Loaded, line, load_lasting_cases

import occurs
from occurs.connect.tables import to_arrow
from occurs.errors import OccursError
from occurs.model.types import Type, arrow_type, widen
from occurs.testing.cases import type_of

CASES = load_lasting_cases(Path(__file__).parents[1] / "cases" / "phenesthe")
BATCH = [c for c in CASES if c.mode == "batch"]
#: before the names of a case among others
_PREFIX = "case{}x"


def lines_of(tables: Mapping[str, pa.Table]) -> list[Line]:
    """Detections as they compare, with those that come twice."""
    out = []
    for name, table in tables.items():
        plain = {n: _ticks(table.column(n)).to_pylist() for n in table.column_names}
        attributes = [n for n in plain if n not in ("type", "time", "end")]
        for i in range(len(table)):
            when = tuple(plain[n][i] for n in ("time", "end") if n in plain)
            out.append(line(name, {n: plain[n][i] for n in attributes}, when))
    return sorted(out, key=repr)


def _ticks(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column


def labels_of(tables: Mapping[str, pa.Table]) -> list[str]:
    """Rows with their labels, as text: to be equal byte for byte."""
    return sorted(repr(tuple(row.values())) for table in tables.values() for row in table.to_pylist())


@dataclass
class Together:
    """Cases as one program over one table: the names of each case got a prefix of their own."""

    cases: list[LastingCase] = field(default_factory=list)
    attributes: dict[str, Type] = field(default_factory=dict)

    def takes(self, case: LastingCase) -> bool:
        """Does a case count time like the others, and use attributes as they do?  Worked examples are by themselves."""
        if self.cases and _apart(self.cases[0]) != _apart(case):
            return False
        return all(self.attributes.get(n, t) is t for n, t in attributes_of(case).items())

    def add(self, case: LastingCase) -> None:
        self.cases.append(case)
        self.attributes.update(attributes_of(case))

    @property
    def worked(self) -> bool:
        """Are these the worked examples of the specification?"""
        return _apart(self.cases[0])[0]

    @property
    def options(self) -> dict[str, Any]:
        return options_of(self.cases[0])

    @cached_property
    def facts(self) -> dict[str, pa.Table]:
        return {_PREFIX.format(n) + t: f for n, c in enumerate(self.cases) for t, f in Loaded(c).fact_tables().items()}

    @cached_property
    def program(self) -> occurs.Program:
        text = "\n".join(renamed(case, _PREFIX.format(n)) for n, case in enumerate(self.cases))
        return occurs.parse(text, "phenesthe")

    @cached_property
    def table(self) -> pa.Table:
        """All rows: the attributes of all types side by side, null where a type has none of the name."""
        rows = [(_PREFIX.format(n) + r.type, r) for n, c in enumerate(self.cases) for r in Loaded(c).history]
        time = arrow_type(Type.TIMESTAMP) if self.cases[0].kind.timestamp else pa.int64()
        columns = {"type": pa.array([t for t, _ in rows], pa.string())}
        columns["time"] = pa.array([r.time for _, r in rows], pa.int64()).cast(time)
        columns["end"] = pa.array([r.end for _, r in rows], pa.int64()).cast(time)
        for name, kind in self.attributes.items():
            values = [r.attributes.get(name) for _, r in rows]
            plain = [float(v) if kind is Type.FLOAT and v is not None else v for v in values]
            columns[name] = pa.array([int(v) if kind is Type.TIMESTAMP and v is not None else v for v in plain],
                                     arrow_type(kind))  # fmt: skip
        return pa.table(columns)

    @cached_property
    def expected(self) -> list[Line]:
        """What the cases say."""
        out = []
        for n, case in enumerate(self.cases):
            assert case.expected is not None
            out += [(_PREFIX.format(n) + name, *rest) for name, *rest in Loaded(case).lines(case.expected[None])]
        return sorted(out, key=repr)

    def here(self, **options: Any) -> dict[str, pa.Table]:
        """What this process finds."""
        found = self.program.detect(self.table, facts=self.facts, **self.options, **options)
        return {t: found.arrow(t) for t in found}


def _apart(case: LastingCase) -> tuple[Any, ...]:
    return Path(case.file).stem == "worked", case.kind, case.times


def found_on_spark(found: Any, here: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """What Spark found, with the columns that the local host gives; types that agree about attributes in one job."""
    jobs: list[tuple[list[str], dict[str, pa.DataType]]] = []
    for t, table in here.items():
        own = {f.name: f.type for f in table.schema}
        fitting = [job for job in jobs if all(job[1].get(n, kind) == kind for n, kind in own.items())]
        jobs += [] if fitting else [([], {})]
        types, attributes = fitting[0] if fitting else jobs[-1]
        types.append(t)
        attributes.update(own)
    out = {}
    for types, _ in jobs:
        rows = to_arrow(found.together(*types))
        for t in types:
            out[t] = rows.filter(pc.equal(rows.column("type"), t)).select(here[t].column_names)
    found.unpersist()
    return out


def options_of(case: LastingCase) -> dict[str, Any]:
    """Those of ``detect``."""
    out = {n: moment(t) if case.kind.timestamp else t for n, t in case.times.items()}
    return out if case.kind.timestamp else {**out, "time_unit": case.kind.unit}


def moment(micros: int) -> str:
    return pa.array([micros], pa.int64()).cast(pa.timestamp("us", tz="UTC")).cast(pa.string())[0].as_py()


def attributes_of(case: LastingCase) -> dict[str, Type]:
    """The attributes of the input, with the least types that hold all their values."""
    found: dict[str, Type] = {}
    for row in Loaded(case).history:
        for name, value in row.attributes.items():
            both = widen(found.get(name, Type.NULL), type_of(value))
            if both is None:
                raise ValueError(f"{name} has values of different types")
            found[name] = both
    return found


def renamed(case: LastingCase, before: str) -> str:
    """The rules with a prefix before every name of a type or a fact.

    Names are found in the text outside of quotes and comments; where one of them is also a constant or an attribute the
    case says something else than before, and :func:`in_programs` finds out.
    """
    loaded = Loaded(case)
    names = {*loaded.sorts, *loaded.facts, *re.findall(r"\bfact\s+(\w+)", case.rules)}
    words = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    pieces = re.split(r"""('[^'\n]*'|"[^"\n]*"|(?:#|%|--)[^\n]*)""", case.rules)
    for at in range(0, len(pieces), 2):
        pieces[at] = re.sub(rf"(?<!\w)({words})(?!\w)", before + r"\1", pieces[at])
    return "".join(pieces)


@lru_cache(maxsize=1)
def in_programs() -> tuple[list[Together], list[LastingCase]]:
    """All cases with an answer: (most of them in few programs, those that say something else among others)."""
    cases = [c for c in BATCH if c.error is None]
    found: list[Together] = []
    rest: list[LastingCase] = []
    for case in cases:
        if not _agrees(case):
            rest.append(case)
            continue
        fitting = [one for one in found if one.takes(case)] or [Together()]
        found += [] if fitting[0] in found else fitting
        fitting[0].add(case)
    out = []
    for one in found:
        kept, lost = _agreeing(one)
        few = len(kept.cases) < 3
        out += [] if few else [kept]
        rest += lost + (kept.cases if few else [])
    return out, rest


def _agrees(case: LastingCase) -> bool:
    """Does the renamed case still give its answer over one table?"""
    one = Together()
    try:
        one.add(case)
        return lines_of(one.here()) == one.expected
    except (OccursError, ValueError):
        return False


def _agreeing(one: Together) -> tuple[Together, list[LastingCase]]:
    """Without the cases that say something else where the clock goes on."""
    wrong = {line[0] for line in set(lines_of(one.here())) ^ set(one.expected)}
    kept, lost = Together(), []
    for n, case in enumerate(one.cases):
        if any(t.startswith(_PREFIX.format(n)) for t in wrong):
            lost.append(case)
        else:
            kept.add(case)
    if not lost:
        return kept, []
    best, more = _agreeing(kept)
    return best, lost + more
