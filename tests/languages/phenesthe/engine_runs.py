"""Cases of Phenesthe run by the engine, for tests: as answers, and as what the laws are checked over."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from phenesthe_running import Input, Running
from tests.textcases.phenesthe import Line, Loaded, line

from occurs.errors import OccursError
from occurs.languages.phenesthe.checks import Analysis, analyse
from occurs.languages.phenesthe.compile import Compiled, compile_all
from occurs.languages.phenesthe.semantics import Row
from occurs.model.types import Schema, Type, arrow_type, from_arrow
from occurs.operators.rows import Rows


def checked(loaded: Loaded, windows: bool = False) -> Analysis:
    """The checks with the types as the tables have them; OccursError if they find an error."""
    seen = {}
    for name, table in {**loaded.tables(), **loaded.fact_tables()}.items():
        columns = ((f.name, from_arrow(f.type)) for f in table.schema if f.name not in ("time", "end"))
        seen[name] = Schema(tuple((n, t) for n, t in columns if t is not None))
    analysis = analyse([loaded.file], seen, kind=loaded.case.kind, windows=windows)
    errors = [p for p in analysis.problems if p.severity == "error"]
    if errors:
        raise OccursError(errors)
    return analysis


def tables(analysis: Analysis, rows: Sequence[Row]) -> dict[str, list[pa.Table]]:
    """Rows in a table per type and set of attributes."""
    found: dict[str, list[pa.Table]] = {}
    by_table = sorted(rows, key=lambda r: (r.type, sorted(r.attributes)))
    for (name, attributes), group in itertools.groupby(by_table, key=lambda r: (r.type, sorted(r.attributes))):
        part, known = list(group), {n.lower(): t for n, t in analysis.phenomena[name].attributes}
        columns = {"time": pa.array([r.time for r in part], pa.int64())}
        if analysis.phenomena[name].sort != "event" and not analysis.phenomena[name].changes:
            columns["end"] = pa.array([r.end for r in part], pa.int64())
        for a in attributes:
            type = Type.BOOL if a == "holds" else known.get(a.lower(), Type.NULL)
            values = [r.attributes[a] for r in part]
            if type is Type.FLOAT:
                values = [None if v is None else float(v) for v in values]
            columns[a] = pa.array(values, pa.int64() if type is Type.TIMESTAMP else arrow_type(type))
        found.setdefault(name, []).append(pa.table(columns))
    return found


def lines(found: Mapping[str, Rows]) -> list[Line]:
    """Rows as they compare."""
    out = []
    for name, rows in found.items():
        columns = {n: _values(c) for n, c in rows.columns.items()}
        ends = columns.pop("end", None)
        for i, time in enumerate(rows.time.tolist()):
            when = (time,) if ends is None else (time, ends[i])
            out.append(line(name, {n: c[i] for n, c in columns.items()}, when))
    return out


def _values(column: Any) -> list[Any]:
    if column.type is Type.TIMESTAMP:
        return [int(v) if known else None for v, known in zip(column.values, column.is_valid(), strict=True)]
    return column.arrow.to_pylist()  # type: ignore[no-any-return]


class Engine:
    """A case at work (``tests.laws.phenesthe.Run``)."""

    def __init__(self, loaded: Loaded, state: Any = None) -> None:
        self.analysis = checked(loaded)
        self.definitions: tuple[Compiled, ...] = compile_all(self.analysis, loaded.case.kind, loaded.fact_tables())
        self.frontier = 0
        self.run = Running(self.definitions)
        if state is not None:
            saved, self.frontier = state
            self.run = Running.restored(self.definitions, saved, self.frontier)

    def advance(self, rows: Sequence[Row], frontier: int) -> list[Line]:
        self.frontier = frontier
        return lines(self.run.advance(Input(self.analysis.phenomena, tables(self.analysis, rows)).rows, frontier))

    def close(self) -> list[Line]:
        return lines(self.run.advance({}, self.frontier, closing=True))

    def save(self) -> Any:
        return self.run.saved(), self.frontier

    def held(self) -> int:
        return sum(d.net.rows(self.run.states[d.name]) for d in self.definitions)


def key(definitions: Sequence[Compiled]) -> dict[str, tuple[str, ...]] | None:
    """An attribute per type by which a program can be split and its output merged, None if there is none."""
    return _chosen(list(definitions), {})


def _chosen(left: list[Compiled], chosen: dict[str, str]) -> dict[str, tuple[str, ...]] | None:
    if not left:
        return {type: (attribute,) for type, attribute in chosen.items()}
    definition, *rest = left
    for choice in definition.choices:
        places = [[(t, a) for a in attributes if chosen.get(t, a) == a] for t, attributes in choice.attributes]
        for taken in itertools.product(*places):
            for head in sorted(choice.passes):
                found = _chosen(rest, {**chosen, **dict(taken), definition.name: head})
                if found is not None:
                    return found
    return None
