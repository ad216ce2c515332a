"""Rows that still hold, told before they have ended: the text cases, random programs, streams, labels."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from instream import How, InStream
from test_local_lasting import CASES, input_of, lines_of, program_of
from test_stream_lasting import options_of
from tests.amount import first
from tests.generators.random_phenesthe import random_program
from tests.generators.random_phenesthe_shrink import text_of
from tests.textcases.phenesthe import LastingCase, Line, Loaded, shown

import occurs
from occurs.engine.engine import Engine
from occurs.errors import OccursError
from occurs.hosts.local import history_rows
from occurs.languages.phenesthe.semantics import evaluate
from occurs.model.history import InputOptions, Source

UPDATE = [c for c in CASES if c.mode == "update"]
When = int | str
#: per frontier the rows that are final and those that are not
Told = dict[When, tuple[list[Line], list[Line]]]


def split(tables: dict[str, pa.Table]) -> tuple[list[Line], list[Line]]:
    """Final rows and the others, without the column that says so."""
    out: tuple[list[Line], list[Line]] = [], []
    for type, table in tables.items():
        for wanted, lines in zip((True, False), out):
            part = table.filter(pa.compute.equal(table.column("final"), wanted)).drop_columns("final")
            lines += lines_of({type: part})
    return out


def in_calls(case: LastingCase, provisional: bool, restart: bool, instants: list[int] | None = None) -> Told:
    """What a case gives at every frontier, tick by tick if no ``instants`` are given."""
    tables, options = input_of(case)
    program = program_of(case).checked.adjusted(facts=Loaded(case).fact_tables(), provisional=provisional)
    history = program.history(tables, InputOptions(**options))
    stage = program.plan(history.schemas, history.kind)
    if history.clock is None:
        return {}
    start, until = history.clock
    rows = history_rows(stage, history, False)
    engine, before = Engine(stage), None
    got: Told = {}
    for frontier in [*(instants or range(start, until + 1)), "closing"]:
        now = until if frontier == "closing" else int(frontier)
        new = {t: r.take(((r.time <= now) & (before is None or r.time > before)).nonzero()[0]) for t, r in rows.items()}
        if restart:
            engine = Engine.restore(stage, engine.save()) if before is not None else engine
        result = engine.advance(new, now, start, closing=frontier == "closing")
        final, open = split({t: result.table(t, final=True) for t in stage.reported})
        if final or open:
            got[frontier] = final, open
        before = now
    return got


def wanted_of(case: LastingCase) -> Told:
    """Before the closing an open row is a provisional one."""
    assert case.expected is not None
    out: Told = {}
    for at, rows in case.expected.items():
        open = [r for r in rows if at != "closing" and r.lasting and r.end is None]
        final = [r for r in rows if r not in open]
        if rows:
            out[at if at is not None else 0] = sorted(Loaded(case).lines(final)), sorted(Loaded(case).lines(open))
    return out


@pytest.mark.parametrize("case", UPDATE, ids=str)
@pytest.mark.parametrize("restart", [False, True], ids=["kept", "restored"])
def test_open_rows_are_told_when_they_are_certain(case: LastingCase, restart: bool) -> None:
    assert in_calls(case, True, restart) == wanted_of(case)


@pytest.mark.parametrize("case", UPDATE, ids=str)
@pytest.mark.parametrize("memory", ["kept", "forgetful"])
def test_streams_tell_them_as_well(case: LastingCase, memory: str) -> None:
    """Tick by tick; a row that nobody reads tells every tick, behind the rows of the tick."""
    ends = [t for r in case.rows for t in (r.time, r.end) if t is not None]
    clock = pa.table({"time": pa.array(range(min(ends), max(ends) + 1), pa.int64())})
    program = program_of(case).checked.adjusted(provisional=True)
    sources = [*input_of(case)[0], Source(clock, "every tick")]
    stream = InStream(program, sources, options_of(case), How(2, None, -1, memory=memory, because=False))
    times = stream.rows.column("__time").to_numpy()
    got: Told = {}
    for at in range(min(ends), max(ends) + 1):
        found = stream.query.read(stream.micro_batch(stream.rows.filter(pa.array(times == at)))).found
        got[at] = split(found)
    got["closing"] = split(stream.query.read(stream.micro_batch(stream.rows.slice(0, 0), True)).found)
    assert {at: rows for at, rows in got.items() if any(rows)} == wanted_of(case)


def check(seed: int) -> None:
    """What is told of a random program is true, told once, and comes to an end; what is final is so as without it."""
    rng = random.Random(seed)
    case = random_program(rng)
    start, until = case.times.get("start", -(2**62)), case.times.get("until", 2**62)
    ends = {t for r in case.rows for t in (r.time, r.end) if t is not None}
    instants = sorted(t for t in ends if start <= t <= until)
    told = f"seed {seed}\n{text_of(case)}"
    try:
        loaded = Loaded(case)
        plain = in_calls(case, False, False, instants)
        got = in_calls(case, True, bool(seed % 2), instants)
    except OccursError:
        return  # the laws of random programs see to it
    assert {at: sorted(f, key=repr) for at, (f, _) in got.items() if f} == {
        at: sorted(f, key=repr) for at, (f, _) in plain.items() if f
    }, told
    pending: set[Any] = set()
    for at, (final, rows) in got.items():
        # where several phenomena begin together each may be told when those before have ended
        pending -= {_identity(row) for row in final}
        assert len({_identity(row) for row in rows} - pending) == len(rows), f"{told}\nat {at}: told twice"
        pending |= {_identity(row) for row in rows}
    assert not pending, f"{told}\nnever ended"
    assert not got.get("closing", ([], []))[1], told
    for at, (_, rows) in got.items():
        if not rows:
            continue
        first = case.times.get("start")
        answer = evaluate(loaded.file, loaded.history, kind=case.kind, facts=loaded.facts, start=first, until=int(at))
        known = {_identity(row) for row in shown(answer)}
        assert {_identity(row) for row in rows} <= known, f"{told}\nat {at}"


def _identity(row: Line) -> Any:
    """Type, time and attributes of a row."""
    return row[0], row[1], row[-1]


@pytest.mark.parametrize("tens", first(range(10), 1, 5))
def test_random_programs(tens: int) -> None:
    for seed in range(10 * tens, 10 * tens + 10):
        check(seed)


RULES = [
    ("input event a(k), b(k). state s(K) : a(K) ~> b(K). event begins(K) : start(s(K)).", None, "phenesthe"),
    ("event a(k: int)\ndefine X(k)\nfrom begins(K = $k)\nwhere k = $k", None, "tesla"),
]
ROWS = {"a": pa.table({"time": [1, 5], "k": [1, 2]}), "b": pa.table({"time": [3], "k": [1]})}


def test_all_types_say_whether_they_are_final_and_a_state_keeps_its_label() -> None:
    program = occurs.Program(RULES).checked.adjusted(provisional=True)
    stream = InStream(program, ROWS, InputOptions(time_unit="s"), How(2, 1, -1, because=False))
    stream.query = type(stream.query)(stream.query.frame, stream.layout, stream.query.types, False, False)
    batches = stream.run().batches
    columns = {t: table.column_names for t, table in batches[0].found.items()}
    assert columns["s"] == ["type", "time", "end", "K", "final"]
    assert (columns["begins"], columns["X"]) == (["type", "time", "K", "final"], ["type", "time", "k", "final"])
    found = [row for b in batches for row in b.found["s"].select(["time", "end", "K", "final"]).to_pylist()]
    assert [tuple(r.values()) for r in found] == [
        (1, None, 1, False), (1, 3, 1, True), (5, None, 2, False), (5, None, 2, True),
    ]  # fmt: skip
    assert {f for b in batches for t in ("begins", "X") for f in b.found[t].column("final").to_pylist()} == {True}

    labelled = InStream(program, ROWS, InputOptions(time_unit="s"), How(2, 1, -1, because=True)).run().batches
    names = labelled[0].found["s"].column_names
    assert names == ["type", "time", "end", "K", "final", "label", "because"]
    label: dict[int, set[str]] = {}
    for batch in labelled:
        for row in batch.found["s"].to_pylist():
            label.setdefault(row["K"], set()).add(row["label"])
    assert [len(one) for one in label.values()] == [1, 1]


def test_a_history_has_nothing_to_tell_beforehand() -> None:
    with pytest.raises(occurs.UsageProblem, match="only available on a stream"):
        occurs.Program(RULES).detect(ROWS, time_unit="s", provisional=True)
