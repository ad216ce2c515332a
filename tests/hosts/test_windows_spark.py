"""Window mode on Spark in batch: what this process finds, query by query, labels included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from examples.maritime import ais
from lastingcases import found_on_spark
from test_spark_phenesthe import SEA, modes, voyages
from test_windows import WINDOWS, by_query, input_of, lengths, program_of
from test_windows import same as agree
from tests.textcases.phenesthe import LastingCase, Loaded

import occurs
from occurs.connect.writers import in_order
from occurs.errors import OccursError
from occurs.hosts.spark.task import Share, make_engine_task
from occurs.hosts.spark.wide import Inlet, Wide
from occurs.hosts.windows import Asked
from occurs.model.source import InputOptions, Source
from occurs.options import Window
from occurs.program import Program

pytestmark = pytest.mark.spark
#: seconds: (window, step)
PAIRS = [(3600, 600), (7200, 7200), (14400, 7200), (28800, 7200), (86400, 86400), (259200, 259200)]
RANGE = "input event a, b, c. state s : a ~> b. event n : a."
QUIET = RANGE + "event quiet : ¬c. event calm : ¬(a ∨ b). event late : ¬b ∧ ¬c."


def times(**of: list[int]) -> dict[str, pa.Table]:
    return {t: pa.table({"time": pa.array(values, pa.int64())}) for t, values in of.items()}


def same(
    spark: Any, program: Program, tables: dict[str, pa.Table], partitions: int = 3, *, counted: bool = True,
    **options: Any,
) -> dict[str, pa.Table]:  # fmt: skip
    """What both hosts find: the same rows in the same order once they are sorted, with columns of the same types.

    ``counted``: what is counted is looked at, too, which takes jobs of its own."""
    local = program.detect(tables, **{"with_label": True, **options})
    here = {t: local.arrow(t) for t in local}
    frames = {t: spark.createDataFrame(table) for t, table in tables.items()}
    found = program.detect(frames, partitions=partitions, **{"with_label": True, **options})
    assert list(found) == list(here)
    if counted:
        assert found.counts == local.counts
    assert [(p.kind, p.message) for p in found.notices] == [(p.kind, p.message) for p in local.notices]
    there = found_on_spark(found, here)
    for t, table in here.items():
        if not options.get("because"):
            assert there[t].schema.types == table.schema.types
        assert in_order(there[t]).to_pylist() == table.to_pylist(), t
    return here


# -- the text cases ----------------------------------------------------------------------------------------------------
def tables_of(case: LastingCase) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """One table per type: Spark is not given several."""
    given, options = input_of(case)
    tables: dict[str, pa.Table] = {}
    for source in given:
        assert isinstance(source, Source)
        assert source.type is not None
        before = [tables[source.type]] if source.type in tables else []
        tables[source.type] = pa.concat_tables([*before, source.table], promote_options="permissive")
    return tables, options | lengths(case, case.times["window"], case.times["step"])


@pytest.mark.share(6)
@pytest.mark.parametrize(
    ("number", "partitions"),
    [
        pytest.param(n, p, id=f"{case.name}-{p}", marks=[] if p == (1, 3, 8)[n % 3] else pytest.mark.long)
        for n, case in enumerate(WINDOWS)
        for p in (1, 3, 8)
    ],
)
def test_every_query_gives_what_is_written(spark: Any, number: int, partitions: int) -> None:
    case = WINDOWS[number]
    assert case.expected is not None
    tables, options = tables_of(case)
    loaded = Loaded(case)
    here = same(spark, program_of(case), tables, partitions, counted=False, facts=loaded.fact_tables(), **options)
    wanted = {int(at or 0): loaded.lines(rows) for at, rows in case.expected.items()}
    agree(by_query({t: table.drop_columns("label") for t, table in here.items()}), wanted, case.name)


# -- keys --------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_many_ships_are_split_by_ship(spark: Any) -> None:
    """Open rows stand in one query after the other, in whatever partition they are."""
    program, tables = occurs.parse(SEA, "phenesthe"), voyages(60, 4000)
    options = {"time_unit": "s", "window": 150, "step": 40}
    assert modes(program, tables, time_unit="s") == ["keyed"]
    here = same(spark, program, tables, 6, **options)
    assert all(len(set(t["query"].to_pylist())) > 20 for t in here.values())
    stopped = here["stopped"].filter(here["stopped"]["end"].is_null())
    assert len(stopped) > 2 * len(set(zip(stopped["Ship"].to_pylist(), stopped["time"].to_pylist())))


@pytest.mark.slow
def test_a_head_without_the_key(spark: Any) -> None:
    """Of what has no common key all is in one partition, and what is not connected with it is split all the same."""
    text = SEA + "event busy(Port) : start(moored(_, Port)). state any(Port) : enters(_, Port) ~> leaves(_, Port)."
    program, tables = occurs.parse(text + "state still : stops(_) ~> goes(_).", "phenesthe"), voyages(9, 600)
    assert sorted(modes(program, tables, time_unit="s")) == ["keyed", "rules"]
    here = same(spark, program, tables, 3, time_unit="s", window="90 s", step="30 s", start=5, until=700)
    assert all(len(t) > 5 for t in here.values())


@pytest.mark.slow
def test_of_what_rows_are_made(spark: Any) -> None:
    here = same(spark, occurs.parse(SEA, "phenesthe"), voyages(5, 300), time_unit="s", window=90, step=45, because=True)
    assert all(here["trip"]["because"].to_pylist())


def test_a_picture(spark: Any) -> None:
    """Every row is drawn at every query, as in this process."""
    program, given = occurs.parse(RANGE, "phenesthe"), times(a=[7, 20], b=[12])
    options = {"time_unit": "s", "window": 10, "step": 5}
    local = program.detect(given, **options).timeline(only=["s"])
    there = program.detect({t: spark.createDataFrame(table) for t, table in given.items()}, **options)
    rows = [sorted(map(repr, drawn.tables["s"].to_pylist())) for drawn in (local, there.timeline(only=["s"]))]
    assert len(rows[0]) == 4
    assert rows[0] == rows[1]


# -- what there is none of ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("options", "expected"), [({}, 0), ({"start": 3}, 9), ({"start": 3, "until": 12}, 19)])
@pytest.mark.slow
def test_an_empty_history(spark: Any, options: dict[str, Any], expected: int) -> None:
    """Without a clock there are no queries; an instant is a clock."""
    program = occurs.parse(QUIET, "phenesthe")
    here = same(spark, program, times(a=[]), time_unit="s", window=10, step=5, **options)
    assert here["s"].column_names == ["type", "time", "end", "query", "label"]
    assert len(here["quiet"]) == expected


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.slow
def test_a_type_without_rows(spark: Any, partitions: int) -> None:
    """What is true almost always is so where no row comes, too."""
    given = times(a=[7, 20], b=[12])
    here = same(spark, occurs.parse(QUIET, "phenesthe"), given, partitions, time_unit="s", window=10, step=5)
    assert [len(here[t]) for t in ("quiet", "calm", "late")] == [30, 25, 28]


@pytest.mark.slow
def test_bad_rows_and_what_binds_nothing(spark: Any) -> None:
    program = occurs.parse("input state p(K). state s(K) : p(K). event e(K) : end(p(K)).", "phenesthe")
    rows = {"time": [1, 4, 5, None, 9, 11], "end": [4, 9, 2, 3, None, 11], "K": ["x", "x", "y", "y", None, "x"]}
    table = {"p": pa.table({n: pa.array(v, pa.string() if n == "K" else pa.int64()) for n, v in rows.items()})}
    here = same(spark, program, table, bad_rows="skip", time_unit="s", window=6, step=3)
    assert [tuple(r.values())[1:5] for r in here["s"].to_pylist()] == [
        (1, None, "x", 3), (1, None, "x", 6), (1, 9, "x", 9), (1, 9, "x", 12),
    ]  # fmt: skip


# -- time --------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_at_the_limits_of_time(spark: Any) -> None:
    far = 2**62
    program, given = occurs.parse(RANGE, "phenesthe"), times(a=[-far, far], b=[-far + 1])
    here = same(spark, program, given, time_unit="s", window=2**62, step=2**62)
    assert here["s"]["query"].to_pylist() == [-far, 0, far]
    same(spark, program, given, time_unit="s", window=2**64, step=2**62)
    here = same(spark, program, times(a=[-7, -3], b=[-5]), time_unit="s", window=2**64, step=2**63)
    assert here["s"]["query"].to_pylist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "options", "kind"),
    [
        (RANGE, {"window": 10, "step": 1}, "too-many-queries"),
        (RANGE, {"window": 5, "step": 10}, "bad-option"),
        (RANGE, {"window": "10 s", "step": "1.5 s"}, "bad-duration"),
        (RANGE + " event quiet : ¬c.", {"window": 2_000_000, "step": 2_000_000}, "too-many-instants"),
    ],
)
def test_what_is_refused(spark: Any, text: str, options: dict[str, Any], kind: str) -> None:
    program, given = occurs.parse(text, "phenesthe"), times(a=[0, 10**7])
    raised = []
    for tables in (given, {t: spark.createDataFrame(table) for t, table in given.items()}):
        with pytest.raises(OccursError) as caught:
            program.detect(tables, time_unit="s", **options).arrow("quiet")
        raised.append((type(caught.value), caught.value.kind, caught.value.problems[0].message))
    assert raised[0] == raised[1]
    assert raised[0][1] == kind


def test_a_task_keeps_no_more_than_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows go into the engine before their query, and out of the task before the last one."""
    monkeypatch.setattr("occurs.hosts.spark.task.BUDGET", 5)
    program, given = occurs.parse(RANGE, "phenesthe"), times(a=list(range(0, 400, 10)), b=list(range(5, 400, 10)))
    history = program.checked.history(given, InputOptions(time_unit="s"))
    stage = program.checked.plan(history.schemas, history.kind)
    assert history.clock is not None
    asked = Asked.over(Window(200, 100), history.clock, False)
    inlets = tuple(Inlet(t, False, False, ()) for t in ("a", "b"))
    wide = Wide.of(stage, False, False, step=100)
    run = make_engine_task([Share(stage, history.clock, history.clock[0], asked)], wide, inlets, False)
    rows = sorted((time, type) for type, name in enumerate("ab") for time in given[name]["time"].to_pylist())
    columns = {"__type": pa.array([t for _, t in rows], pa.int16()), "__time": pa.array([t for t, _ in rows])}
    taken = 0

    def batches() -> Any:
        nonlocal taken
        for batch in pa.table(columns).to_batches(max_chunksize=4):
            taken += 1
            yield batch

    out, seen = [], []
    for batch in run(batches()):
        seen.append(taken)
        out += [(r["__time"], r["__end"], r["__query"], r["__times"]) for r in batch.to_pylist() if r["__type"] == 0]
    assert seen[0] < 12 < seen[-1] == 20
    assert sorted(out, key=repr) == sorted(
        [(t, t + 5, -(-(t + 5) // 100) * 100, min(2, 5 - -(-(t + 5) // 100))) for t in range(0, 400, 10)]
        + [(t, None, t, 1) for t in range(0, 400, 100)], key=repr
    )  # fmt: skip


# -- ships -------------------------------------------------------------------------------------------------------------
SHIPS = Path(__file__).parents[2] / "examples" / "maritime" / "maritime.phen"


def check(spark: Any, tables: dict[str, pa.Table], window: int, step: int, partitions: int) -> None:
    program = occurs.load(SHIPS)
    here = same(spark, program, tables, partitions, window=f"{window} s", step=f"{step} s", with_label=False)
    whole = program.detect(tables)
    for type in whole:  # every row that has ended is there at some query, and no other
        ended = whole.arrow(type)
        ended = {tuple(r.values()) for r in ended.filter(ended["end"].is_valid()).to_pylist()}
        rows = here[type].drop_columns("query")
        rows = rows.filter(rows["end"].is_valid()).to_pylist()
        assert {tuple(r.values()) for r in rows} == ended, type
        assert ended, type


@pytest.mark.parametrize(
    ("window", "step"), [pytest.param(*p, marks=[] if n == 3 else pytest.mark.long) for n, p in enumerate(PAIRS)]
)
@pytest.mark.slow
def test_ships(spark: Any, window: int, step: int) -> None:
    check(spark, ais.maritime(10, 2.0, seed=3, every=300), window, step, 4)
