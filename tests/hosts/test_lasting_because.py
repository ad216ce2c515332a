"""Of what rows over instants and intervals are made: every part is a row, the parts alone give the row again, and they
do not depend on the calls in which it was found."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from instream import How, InStream
from test_local_lasting import input_of
from tests.generators.random_phenesthe import random_program
from tests.textcases.phenesthe import LastingCase, Loaded

import occurs
from occurs.engine.engine import Engine
from occurs.errors import OccursError
from occurs.hosts.local import history_rows
from occurs.model.history import InputOptions, Source
from occurs.plan.stage import Stage

Row = dict[str, Any]

TEXT = """
input event stop_start(vessel), stop_end(vessel), fast(vessel), slow(vessel).
input event enters(vessel, area), leaves(vessel, area).
input state held(vessel).
state stopped(V) : stop_start(V) ~> stop_end(V).
state in_port(V, P) : enters(V, P) ~> leaves(V, P).
state moored(V, P) : stopped(V) ⊓ in_port(V, P).
dynamic trip(V, A, B) : end(moored(V, A)) before ((fast(V) ~> slow(V)) before start(moored(V, B))).
state near(V) : in_port(V, _).
event quick(V) : (fast(V) ∧ ¬stop_end(V)) in held(V).
"""
EVENTS = {
    "stop_start": [(5,), (30,)], "stop_end": [(20,)], "fast": [(22,)], "slow": [(27,)],
    "enters": [(1, "x"), (23, "y"), (25, "a")], "leaves": [(23, "x"), (40, "y")],
}  # fmt: skip


def tables() -> dict[str, pa.Table]:
    out = {}
    for type, rows in EVENTS.items():
        columns = {"time": [r[0] for r in rows], "vessel": [1] * len(rows)}
        out[type] = pa.table(columns | ({"area": [r[1] for r in rows]} if len(rows[0]) > 1 else {}))
    out["held"] = pa.table({"time": [10], "end": [26], "vessel": [1]})
    return out


def because(found: Any, type: str) -> dict[tuple[Any, ...], list[tuple[Any, ...]]]:
    """Per row of a type, told by its time and end, the parts without labels."""
    return {
        (r["time"], r.get("end"), *(r[n] for n in ("P", "A", "B") if n in r)): [
            (p["role"], p["type"], p["time"], p["end"]) for p in r["because"]
        ]
        for r in found[type].to_pylist()
    }


def test_what_rows_are_made_of():
    found = occurs.parse(TEXT, language="phenesthe").detect(tables(), because=True)
    assert because(found, "stopped") == {
        (5, 20): [("stop_start(V)", "stop_start", 5, None), ("stop_end(V)", "stop_end", 20, None)],
        (30, None): [("stop_start(V)", "stop_start", 30, None)],
    }
    # what holds beyond the row has no end there
    assert because(found, "moored")[30, 40, "y"] == [
        ("in_port(V, P)", "in_port", 23, 40), ("stopped(V)", "stopped", 30, None),
    ]  # fmt: skip
    assert because(found, "trip")[20, 30, "x", "y"] == [
        ("moored(V, A)", "moored", 5, 20), ("fast(V)", "fast", 22, None), ("slow(V)", "slow", 27, None),
        ("moored(V, B)", "moored", 30, None),
    ]  # fmt: skip
    # one of the ways in which it holds without a gap
    assert because(found, "near") == {
        (1, None): [("in_port(V, _)", "in_port", 1, 23), ("in_port(V, _)", "in_port", 23, 40),
                    ("in_port(V, _)", "in_port", 25, None)],
    }  # fmt: skip
    assert because(found, "quick") == {(22, None): [("held(V)", "held", 10, 26), ("fast(V)", "fast", 22, None)]}
    assert [len(r["because"]) for r in found["moored"].to_pylist()] == [2, 2, 2]


def test_nothing_is_remembered_if_nobody_asks():
    program = occurs.parse(TEXT, language="phenesthe")
    history = program.checked.history(tables(), InputOptions())
    rows, sizes = None, []
    for asked in (program.checked, program.checked.reasoning()):
        stage = asked.plan(history.schemas, history.kind)
        rows = history_rows(stage, history, labelled=True)
        engine = Engine(stage, labelled=True)
        engine.advance({t: r.slice(0, int(np.searchsorted(r.time, 24))) for t, r in rows.items()}, 24, 1)
        sizes.append(sum(n.endswith(".remembered") for n in engine.save()))
    assert sizes[0] == 0 < sizes[1]


# --- random programs --------------------------------------------------------------------------------------------------
def planned(seed: int) -> tuple[LastingCase, Any, Any, Stage] | None:
    """A random program with its history, planned so that it knows of what rows are made; None if that fails."""
    case = random_program(random.Random(seed), clock=False)
    loaded = Loaded(case)
    tables, options = input_of(case)
    try:
        program = occurs.parse(case.rules, "phenesthe").checked.adjusted(facts=loaded.fact_tables()).reasoning()
        history = program.history(tables, InputOptions(**options))
        return case, program, history, program.plan(history.schemas, history.kind)
    except OccursError:
        return None


def run(stage: Stage, history: Any, cuts: list[int], rng: random.Random | None = None) -> dict[str, Row]:
    """Every row by its label, with its parts; ``rng``: the engine starts anew between some calls."""
    rows, (start, until) = history_rows(stage, history, labelled=True), history.clock
    engine, since, out = Engine(stage, labelled=True), start - 1, {}
    for frontier in cuts:
        part = {t: r.take(np.flatnonzero((r.time > since) & (r.time <= frontier))) for t, r in rows.items()}
        found = engine.advance(part, frontier, start, closing=frontier == until)
        for type in stage.reported:
            for row in found.table(type, label=True, because=True).to_pylist():
                out[row["label"]] = row
        since = frontier
        if rng is not None and rng.random() < 0.3 and frontier != until:
            engine = Engine.restore(stage, engine.save(), labelled=True)
    return out


def check(seed: int) -> int:
    """How many rows were looked at."""
    found = planned(seed)
    if found is None or found[2].clock is None:
        return 0
    _, _, history, stage = found
    start, until = history.clock
    rng = random.Random(seed)
    try:
        whole = run(stage, history, [until])
    except OccursError:
        return 0
    labels = {*whole, *(x for t, r in history_rows(stage, history, labelled=True).items() for x in hexes(r.labels))}
    for row in whole.values():
        assert row["because"], f"seed {seed}: {row}"
        assert {p["label"] for p in row["because"]} <= labels, f"seed {seed}: {row}"
    cuts = sorted({*rng.sample(range(start, until + 1), min(until - start, 6)), until})
    parts = run(stage, history, cuts, rng)
    for label, row in whole.items():
        assert shown(parts[label]) == shown(row), f"seed {seed}, {cuts}: {row}"
    return len(whole)


def hexes(labels: Any) -> list[str]:
    return labels.hex().cast(pa.string()).to_pylist()


def shown(row: Row) -> list[tuple[Any, ...]]:
    return [(p["role"], p["type"], p["time"], p["label"]) for p in row["because"]]


@pytest.mark.share(4)
@pytest.mark.parametrize("part", range(2))
def test_parts_are_rows_and_the_same_in_all_calls(part: int) -> None:
    assert sum(check(seed) for seed in range(100 * part, 100 * part + 20)) > 60


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_many_parts_are_rows_and_the_same_in_all_calls(part: int) -> None:
    assert sum(check(seed) for seed in range(1000 + 50 * part, 1050 + 50 * part)) > 100


# --- hosts ------------------------------------------------------------------------------------------------------------
def everything(tables: dict[str, pa.Table]) -> dict[str, tuple[Any, ...]]:
    """Every row by its label, with its parts."""
    rows = [r for table in tables.values() for r in table.to_pylist()]
    return {r["label"]: (r["time"], r.get("end"), *map(tuple, map(dict.values, r["because"]))) for r in rows}


@pytest.mark.parametrize("memory", ["kept", "forgetful"])
def test_a_stream_says_the_same_as_a_batch(memory: str) -> None:
    program = occurs.parse(TEXT, language="phenesthe")
    sources = [Source(table, type) for type, table in tables().items()]
    here = program.detect(tables(), because=True)
    for size in (1, 7):
        how = How(size=size, memory=memory, because=True)
        stream = InStream(program.checked.reasoning(), sources, InputOptions(), how)
        there: dict[str, tuple[Any, ...]] = {}
        for batch in stream.run().batches:
            there |= everything(batch.found)
        assert there == everything({t: here.arrow(t) for t in here})


@pytest.mark.slow
@pytest.mark.spark
def test_spark_says_the_same_and_draws_it(spark: Any) -> None:
    program = occurs.parse(TEXT, language="phenesthe")
    here = program.detect(tables(), because=True)
    there = program.detect({t: spark.createDataFrame(table) for t, table in tables().items()}, because=True)
    assert everything({t: there.arrow(t) for t in there}) == everything({t: here.arrow(t) for t in here})
    shown = there.timeline("V", only=["trip", "moored"]).page()
    wanted = here.timeline("V", only=["trip", "moored"]).page()
    assert [(g.name, [(lane.type, lane.start.tolist()) for lane in g.lanes]) for g in shown.groups] == [
        (g.name, [(lane.type, lane.start.tolist()) for lane in g.lanes]) for g in wanted.groups
    ]
