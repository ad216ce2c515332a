"""The text cases of Phenesthe as a user runs them: a program, tables, what was found."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.textcases.phenesthe import LastingCase, Line, Loaded, line, load_lasting_cases

import occurs
from occurs.engine.engine import Engine
from occurs.errors import InputProblem
from occurs.hosts.detections import Detections
from occurs.hosts.local import calls, history_rows
from occurs.model.history import InputOptions, Source
from occurs.program import Program

CASES = load_lasting_cases(Path(__file__).parents[1] / "cases" / "phenesthe")


def instant(case: LastingCase, name: str) -> int | datetime | None:
    ticks = case.times.get(name)
    if ticks is None or not case.kind.timestamp:
        return ticks
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=ticks)


def input_of(case: LastingCase) -> tuple[list[Source], dict[str, Any]]:
    """The tables of a case, one per type and the attributes that rows of it have, and the options of ``detect``."""
    loaded = Loaded(case)
    tables = []
    for name, table in loaded.tables().items():
        rows = [frozenset(r.attributes) for r in loaded.history if r.type == name]
        for given in dict.fromkeys(rows):
            at = [i for i, attributes in enumerate(rows) if attributes == given]
            columns = [n for n in table.column_names if n in given or n in ("time", "end")]
            tables.append(Source(table.select(columns).take(at), name))
    if not tables:  # nothing happened, at integer times
        name = next(n for n, sort in loaded.sorts.items() if sort != "fact")
        names = [] if loaded.sorts[name] == "event" else ["holds"] if loaded.sorts[name] == "changes" else ["end"]
        fields = [(n, pa.int64()) for n in ("time", *names, *loaded.names[name])]
        tables = [Source(pa.schema(fields).empty_table(), name)]
    options = {"start": instant(case, "start"), "until": instant(case, "until")}
    if not case.kind.timestamp:
        options["time_unit"] = case.kind.unit
    return tables, {k: v for k, v in options.items() if v is not None}


def lines_of(tables: dict[str, pa.Table]) -> list[Line]:
    """Detections as they compare, with those that come twice."""
    out = []
    for name, table in tables.items():
        plain = {}
        for column in table.column_names:
            values = table.column(column)
            plain[column] = (values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values).to_pylist()
        attributes = [n for n in plain if n not in ("type", "time", "end")]
        for i in range(len(table)):
            when = tuple(plain[n][i] for n in ("time", "end") if n in plain)
            out.append(line(name, {n: plain[n][i] for n in attributes}, when))
    return out


def found_in(found: Detections) -> list[Line]:
    return lines_of({t: found.arrow(t) for t in found})


def program_of(case: LastingCase) -> Program:
    return occurs.parse(case.rules, "phenesthe", name=case.file)


@pytest.mark.parametrize("case", [c for c in CASES if c.expected is not None and c.mode == "batch"], ids=str)
def test_a_batch_gives_what_is_written(case: LastingCase) -> None:
    tables, options = input_of(case)
    found = program_of(case).detect(tables, facts=Loaded(case).fact_tables(), **options)
    assert case.expected is not None
    assert sorted(found_in(found), key=repr) == sorted(Loaded(case).lines(case.expected[None]), key=repr)


@pytest.mark.parametrize("case", [c for c in CASES if c.error is not None and c.mode == "batch"], ids=str)
def test_what_is_wrong_is_refused(case: LastingCase) -> None:
    def run() -> None:
        program = program_of(case)
        tables, options = input_of(case)
        program.detect(tables, facts=Loaded(case).fact_tables(), **options)

    with pytest.raises(occurs.OccursError) as raised:
        run()
    assert case.error in {p.kind for p in raised.value.problems}


@pytest.mark.parametrize("case", [c for c in CASES if c.expected is not None and c.mode == "append"], ids=str)
def test_rows_come_when_they_are_final(case: LastingCase) -> None:
    """Tick by tick; every call goes on from the saved state of the one before."""
    tables, options = input_of(case)
    program = program_of(case).checked.adjusted(facts=Loaded(case).fact_tables())
    history = program.history(tables, InputOptions(**options))
    stage = program.plan(history.schemas, history.kind)
    assert history.clock is not None
    start, until = history.clock
    pieces: dict[str, bytes] = {}
    got: dict[int | str, set[Line]] = {}
    rows = history_rows(stage, history, False)
    left = {t: r.time for t, r in rows.items()}
    parts = dict(calls(rows, until, 1))
    for frontier in range(start, until + 1):
        engine = Engine.restore(stage, pieces) if pieces else Engine(stage)
        new = {t: r.take((left[t] == frontier).nonzero()[0]) for t, r in rows.items()}
        result = engine.advance(new, frontier, start)
        if lines := set(lines_of({t: result.table(t) for t in stage.reported})):
            got[frontier] = lines
        pieces = engine.save()
    assert set(parts) <= {*range(start, until + 1)}
    result = Engine.restore(stage, pieces).advance({}, until, start, closing=True)
    if lines := set(lines_of({t: result.table(t) for t in stage.reported})):
        got["closing"] = lines
    assert case.expected is not None
    assert got == {at: Loaded(case).lines(rows) for at, rows in case.expected.items() if rows and at is not None}


@pytest.mark.parametrize(("time", "end"), [(5, 2**63 - 1), (2**63 - 1, None)])
def test_the_last_tick_is_no_time_of_what_lasts(time, end):
    program = occurs.parse("input state p, q. state s : p minus q.", "phenesthe")
    rows = {"p": pa.table({"time": [time], "end": pa.array([end], pa.int64())})}
    with pytest.raises(InputProblem, match="the largest tick, which is reserved") as raised:
        program.detect(rows)
    assert raised.value.kind == "bad-time"
    before = {"p": pa.table({"time": [5], "end": [2**63 - 2]}), "q": pa.table({"time": [6], "end": [2**63 - 3]})}
    assert program.detect(before)["s"].to_pylist() == []
