"""What is special about values, times and ways to split: Spark gives what this process gives."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hostcases import bare, configured, here, labelled, on_spark

import occurs
from occurs.errors import InputProblem, UsageProblem
from occurs.hosts.spark import task
from occurs.hosts.spark.shares import slices
from occurs.hosts.spark.wide import Inlet, Wide
from occurs.model.source import InputOptions
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.plan.partitioning import groups
from occurs.verify.compare import difference, occurrences_of

pytestmark = pytest.mark.spark
KEYED = "define CE(K, V) from A(K = $k) and each B(K = $k) within 5 ms from A where K = $k, V = B.V"
LAST = "define L(V) from A() and last B() within 5 ms from A where V = B.V"
FREE = "define F(V) from A(V > 1) where V = A.V"
ALONE = "define C(V) from A() and last B() within 9 ms from A where V = B.V consuming B"


def modes(text: str, tables: Any, **options: Any) -> list[str]:
    program = occurs.parse(text)
    history = program.checked.history(tables, InputOptions(**options))
    stage = program.checked.plan(history.schemas, history.kind)
    return [g.mode for g in groups(stage.definitions, stage)]


def alike(spark: Any, text: str, tables: Any, partitions: int = 4, **options: Any) -> int:
    """The number of detections: the same on both hosts, labels included."""
    program = occurs.parse(text)
    options = {"time_unit": "ms", **options}
    expected = here(program, tables, because=True, **options)
    found = on_spark(spark, program, tables, partitions=partitions, because=True, **options)
    assert labelled(found) == labelled(expected)
    assert difference(bare(expected), bare(found)) is None
    plain = on_spark(spark, program, tables, partitions=partitions, **options)
    assert difference(bare(expected), plain) is None
    return len(expected)


def rows(kind: pa.DataType, a: list[Any], b: list[Any]) -> dict[str, pa.Table]:
    return {
        "A": pa.table({"time": pa.array([10] * len(a), pa.int64()), "K": pa.array(a, kind)}),
        "B": pa.table({"time": pa.array([8] * len(b), pa.int64()), "K": pa.array(b, kind), "V": range(len(b))}),
    }


def many(count: int, step: int = 1) -> dict[str, pa.Table]:
    n = range(count)
    return {
        "A": pa.table({"time": [i * step for i in n], "K": [i % 7 for i in n], "V": [i % 5 for i in n]}),
        "B": pa.table({"time": [i * step + i % 3 for i in n], "K": [i % 5 for i in n], "V": [i % 11 for i in n]}),
    }


# -- keys --------------------------------------------------------------------------------------------------------------
def test_null_keys(spark: Any) -> None:
    assert alike(spark, KEYED, rows(pa.int64(), [1, None, 2], [1, None, None])) == 1


@pytest.mark.slow
def test_keys_of_mixed_numbers(spark: Any) -> None:
    tables = rows(pa.int64(), [1, 2, 3, None], [1])
    tables["B"] = rows(pa.float64(), [], [1.0, 2.5, 3.0, float("nan"), None])["B"]
    assert modes(KEYED, tables, time_unit="ms") == ["keyed"]
    assert alike(spark, KEYED, tables) == 2


@pytest.mark.slow
def test_integer_keys_that_no_float_holds(spark: Any) -> None:
    tables = rows(pa.int64(), [2**53 + 1, 2**53], [1])
    tables["B"] = rows(pa.float64(), [], [float(2**53)])["B"]
    assert alike(spark, KEYED, tables) == 1


@pytest.mark.slow
def test_zeros_of_both_signs_are_one_key(spark: Any) -> None:
    assert alike(spark, KEYED, rows(pa.float64(), [0.0, -0.0], [-0.0, 0.0])) == 4


@pytest.mark.slow
def test_a_key_that_is_not_a_number_is_null(spark: Any) -> None:
    nan = float("nan")
    assert alike(spark, KEYED, rows(pa.float64(), [nan, 1.0], [nan, 1.0])) == 1


@pytest.mark.slow
def test_keys_of_text_times_and_truth_values(spark: Any) -> None:
    assert alike(spark, KEYED, rows(pa.string(), ["a", "", "ä"], ["", "a ", "ä"])) == 2
    assert alike(spark, KEYED, rows(pa.bool_(), [True, False], [True, True])) == 2
    moment = dt.datetime(2024, 3, 31, 0, 30, tzinfo=dt.UTC)
    assert alike(spark, KEYED, rows(pa.timestamp("us", tz="UTC"), [moment], [moment])) == 1


# -- times -------------------------------------------------------------------------------------------------------------
@pytest.fixture
def elsewhere(spark: Any) -> Iterator[Any]:
    with configured(spark, {"spark.sql.session.timeZone": "America/New_York"}):
        yield spark


STAMPED = "define CE(W) from A(W > timestamp '2024-03-10T01:00:00Z') and each B() within 2 h from A where W = A.W"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
@pytest.mark.parametrize("unit", ["us", "ns"])
@pytest.mark.slow
def test_timestamps_of_all_kinds_in_a_session_that_is_not_utc(elsewhere: Any, zone: str, unit: str) -> None:
    """The hour that New York skips, and the one that comes twice."""
    times = [dt.datetime(2024, 3, 10, h, 30) for h in (6, 7, 8)] + [dt.datetime(2024, 11, 3, h, 30) for h in (5, 6)]
    column = pa.array(times, pa.timestamp("us", tz=zone)).cast(pa.timestamp(unit, tz=zone))
    tables = {"A": pa.table({"time": column, "W": column}), "B": pa.table({"time": column})}
    program = occurs.parse(STAMPED)
    expected = here(program, tables)
    assert len(expected) == 9
    frames = {t: elsewhere.createDataFrame(table) for t, table in tables.items()}
    found = program.detect(frames, partitions=3)
    assert difference(expected, collected(found)) is None


def collected(found: Any) -> list[Any]:
    return occurrences_of({t: found.arrow(t) for t in found})


def test_naive_timestamps_of_spark(elsewhere: Any) -> None:
    frame = elsewhere.sql("select timestamp_ntz'2024-03-10 02:30:00.000001' as time, 'A' as type, 1 as V")
    (row,) = collected(occurs.parse("define F(V) from A() where V = A.V").detect(frame))
    assert row.time == int(dt.datetime(2024, 3, 10, 2, 30, tzinfo=dt.UTC).timestamp()) * 10**6 + 1


@pytest.mark.slow
def test_instants_with_and_without_sequence(spark: Any) -> None:
    values = [3, 1, 2]
    tables = rows(pa.int64(), [1], [1, 1, 1])
    tables["B"] = tables["B"].set_column(2, "V", pa.array(values))
    assert alike(spark, LAST, tables) == 1
    tables["B"] = tables["B"].append_column("sequence", pa.array([2, 9, None]))
    program = occurs.parse(LAST)
    assert [r.attributes["V"] for r in on_spark(spark, program, tables, time_unit="ms")] == [1]
    assert alike(spark, LAST, tables) == 1


@pytest.mark.slow
def test_extreme_times(spark: Any) -> None:
    ends = [-(2**62), 0, 2**62]
    tables = {"A": pa.table({"time": ends, "V": [1, 2, 3]}), "B": pa.table({"time": ends, "V": [1, 2, 3]})}
    assert alike(spark, LAST, tables) == 3
    assert slices((ends[0], ends[2]), 5, 8).ends == ((ends[0], ends[2]),)


# -- ways to split -----------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_slices_of_time_look_back_exactly_as_far_as_the_window(spark: Any) -> None:
    """Partners exactly one window before, across the boundary of slices, for every place of the boundary."""
    tables = many(40)
    assert modes(LAST, tables, time_unit="ms") == ["slices"]
    for partitions in (1, 2, 3, 7):
        assert alike(spark, LAST, tables, partitions) == 40


@pytest.mark.slow
def test_what_a_slice_hands_on_inside_itself(spark: Any) -> None:
    """Two windows deep: the overlap is the sum of both."""
    text = LAST + "\ndefine M(V) from B() and first L() within 7 ms from B where V = L.V"
    assert modes(text, many(5), time_unit="ms") == ["slices"]
    assert alike(spark, text, many(60), 5) > 50


def test_slices_cover_the_clock() -> None:
    for clock in ((0, 0), (-7, 12), (5, 104)):
        for overlap in (0, 1, 9, 10**6):
            found = slices(clock, overlap, 6).ends
            assert found[0][0] == clock[0]
            assert found[-1][1] == clock[1]
            assert all(b[0] == a[1] + 1 for a, b in pairwise(found))
            assert len(found) == 1 or all(last - first + 1 >= overlap for first, last in found[:-1])


@pytest.mark.slow
def test_rules_over_all_partitions(spark: Any) -> None:
    """What cannot be split shares the partitions, rule by rule; a type that one rule reads goes only there."""
    text = ALONE + "\ndefine D(V) from B() and first A() within 9 ms from B where V = A.V consuming A"
    text += "\ndefine E() from Timer(S%1 == 0) and last A() within 1 s from Timer consuming A"
    tables = many(50, 40)
    assert modes(text, tables, time_unit="ms") == ["rules"]
    for partitions in (1, 2, 8):
        assert alike(spark, text, tables, partitions) > 20


@pytest.mark.slow
def test_stages_between_keys(spark: Any) -> None:
    text = KEYED + "\ndefine N(V, C) from CE() where V = CE.V, C = COUNT(CE(V = CE.V)) within 9 ms from CE"
    text += "\ndefine O(V) from A(V = $v) and each N(V = $v) within 9 ms from A where V = N.C"
    tables = many(80)
    assert modes(text, tables, time_unit="ms").count("keyed") >= 1
    assert alike(spark, text, tables, 5) > 80


@pytest.mark.slow
def test_row_by_row(spark: Any) -> None:
    tables = many(50)
    tables["A"] = pa.concat_tables([tables["A"]] * 2)
    assert modes(FREE, tables, time_unit="ms") == ["free"]
    assert alike(spark, FREE, tables) == 60


@pytest.mark.slow
def test_timers_where_nothing_happens(spark: Any) -> None:
    text = "define T(N) from Timer(S%1 == 0) where N = COUNT(A()) within 2 s from Timer"
    tables = {"A": pa.table({"time": [500, 90_500], "V": [1, 1]})}
    assert alike(spark, text, tables) == 90
    nothing = {"A": pa.table({"time": pa.array([], pa.int64()), "V": pa.array([], pa.int64())})}
    assert alike(spark, text, nothing) == 0
    assert alike(spark, text, nothing, start=0, until=60_000) == 61


@pytest.mark.slow
def test_nothing_at_all(spark: Any) -> None:
    nothing = {t: table.slice(0, 0) for t, table in many(1).items()}
    for text in (KEYED, LAST, FREE, ALONE):
        assert alike(spark, text, nothing) == 0


# -- what is asked for -------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_only_and_subscriptions(spark: Any) -> None:
    tables = many(30)
    program = occurs.parse(f"{KEYED}\n{LAST}\n{FREE}")
    frames = {t: spark.createDataFrame(table) for t, table in tables.items()}
    found = program.detect(frames, time_unit="ms", only=["F"])
    assert list(found) == ["F"]
    assert found.arrow("F").num_rows == program.detect(tables, time_unit="ms", only=["F"]).count("F")
    with pytest.raises(UsageProblem, match="`G` is not reported"):
        program.detect(frames, time_unit="ms", only=["G"])
    alike(spark, f"{KEYED}\n{LAST}\n{FREE}\nSubscribe(L, V > 5)\nSubscribe(B, V = 2)", tables)


def test_bad_rows(spark: Any) -> None:
    kinds = pa.array(["A", None, "A", "", "B"])
    table = pa.table({"type": kinds, "time": pa.array([1, 2, None, 4, 5]), "V": pa.array([2, 2, 2, 2, 2])})
    program = occurs.parse(FREE + "\ndefine G(V) from B() where V = B.V")
    with pytest.raises(InputProblem) as caught:
        program.detect(spark.createDataFrame(table), time_unit="ms")
    assert {p.kind for p in caught.value.problems} == {"bad-time", "bad-value"}
    found = program.detect(spark.createDataFrame(table), time_unit="ms", bad_rows="skip")
    local = program.detect(table, time_unit="ms", bad_rows="skip")
    assert found.counts == local.counts
    assert sorted(r["reason"] for r in found.bad.collect()) == sorted(local.bad.column("reason").to_pylist())
    assert difference(here(program, table, time_unit="ms", bad_rows="skip"), collected(found)) is None


@pytest.mark.slow
def test_columns_of_one_table_are_not_those_of_derived_types(spark: Any) -> None:
    rules = "define X(V) from A() where V = 1\ndefine Y(V) from X() where V = X.V"
    program = occurs.parse(f"{rules}\nSubscribe(Y)\nSubscribe(Q)")
    for kinds, values in ((["A"], ["text"]), (["A", "X"], [1, 2])):
        table = pa.table({"type": kinds, "time": range(len(kinds)), "V": values})
        local = program.detect(table, time_unit="ms")
        found = program.detect(spark.createDataFrame(table), time_unit="ms")
        assert sorted(map(tuple, found["Y"].collect())) == sorted(tuple(r.values()) for r in local["Y"].to_pylist())
        assert [p.kind for p in found.notices] == [p.kind for p in local.notices]
        assert found["Q"].count() == 0


@pytest.mark.slow
def test_types_that_a_declaration_leaves_open(spark: Any) -> None:
    rule = "define X(K, V) from A($k, 3) and last B(K = $k) within 9 ms from A where K = $k, V = B.V"
    table = pa.table({"type": ["A", "A", "B"], "time": [5, 6, 1], "K": ["a", "b", "a"], "V": [3, 4, 2]})
    assert alike(spark, f"event A(K, V: int)\nevent B(K, V)\n{rule}", table) == 1


# -- together, caches, memory ------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_types_together(spark: Any) -> None:
    tables = many(30)
    frames = {t: spark.createDataFrame(table) for t, table in tables.items()}
    text = f"{KEYED}\n{LAST}\n{FREE}\ndefine H(V) from A() where V = A.V + 0.5\ndefine I(V) from A() where V = 'a'"
    program = occurs.parse(text)
    found, local = program.detect(frames, time_unit="ms"), program.detect(tables, time_unit="ms")
    rows = found.together("CE", "L", "F", "H")
    assert rows.columns == ["type", "time", "K", "V"]
    assert dict(rows.dtypes)["V"] == "double"
    counts = {row["type"]: row["count"] for row in rows.groupBy("type").count().collect()}
    assert counts == {t: local.count(t) for t in ("CE", "L", "F", "H")}
    with pytest.raises(UsageProblem, match="attribute `V` is"):
        found.together()
    with pytest.raises(UsageProblem, match="`CF` is not reported"):
        found.together("CF")


@pytest.mark.slow
def test_caches_are_freed_and_tables_stay_usable(spark: Any) -> None:
    """What two types share is computed once, until it is freed."""
    jvm = spark.sparkContext._jsc.sc()
    before = jvm.getPersistentRDDs().size()
    frames = {t: spark.createDataFrame(table) for t, table in many(30).items()}
    found = occurs.parse(f"{FREE}\ndefine H(V) from A() where V = A.V").detect(frames, time_unit="ms")
    counts = {t: frame.count() for t, frame in found.items()}
    assert counts == {"F": 18, "H": 30}
    assert jvm.getPersistentRDDs().size() > before
    found.unpersist()
    assert jvm.getPersistentRDDs().size() == before
    assert {t: frame.count() for t, frame in found.items()} == counts
    one = occurs.parse(FREE).detect(frames, time_unit="ms")
    assert one["F"].count() == 18
    assert jvm.getPersistentRDDs().size() == before


def test_an_engine_holds_the_retention_and_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows in memory do not grow with the partition."""
    most = []
    advance = task.Engine.advance
    for size in (20_000, 80_000):
        held = [0]

        def counting(self: Any, new: Any, *arguments: Any, held: Any = held, **named: Any) -> Any:
            past = sum(len(rows) for rows in self.state.pasts.values())
            held[0] = max(held[0], past + sum(len(rows) for rows in new.values()))
            return advance(self, new, *arguments, **named)

        monkeypatch.setattr(task.Engine, "advance", counting)
        monkeypatch.setattr(task, "BUDGET", 1000)
        detections = one_task(size)
        monkeypatch.undo()
        assert detections == size // 2
        most.append(held[0])
    assert most[0] == most[1]
    assert most[0] < 1000 + 2 * 100


def one_task(size: int) -> int:
    """One task over ``size`` rows in time order, a window of 100 of them back; how many detections came out."""
    program = occurs.parse("define L(V) from A() and last B() within 100 ms from A where V = B.V")
    schema = Schema((("V", Type.INT),))
    stage = program.checked.plan({"A": schema, "B": schema}, TimeKind(False, "ms"))
    inlets = [Inlet(t, False, False, (("V", Type.INT, "c0"),)) for t in ("A", "B")]
    share = task.Share(stage, (0, size), 0)
    run = task.make_engine_task([share], Wide.of(stage, False, False), inlets, False)

    def batches() -> Iterator[pa.RecordBatch]:
        for first in range(0, size, 500):
            time = list(range(first, first + 500))
            kinds = ["B" if t % 2 == 0 else "A" for t in time]
            table = pa.table({"__type": kinds, "__time": time, "c0": time})
            yield from table.to_batches()

    return sum(b.num_rows for b in run(batches()))


@pytest.mark.parametrize("stamped", [False, True])
@pytest.mark.slow
def test_tables_of_this_process_by_a_session(spark: Any, stamped: bool) -> None:
    """Bad rows, rows of types that nobody reads, labels, nulls and the clock are those of a run in this process."""
    ticks = [1, 5, 5, 7, 9, 30, None]
    table = pa.table(
        {
            "type": ["A", "B", "B", "C", "A", "Other", "A"],
            "time": pa.array(ticks, pa.int64()).cast(pa.timestamp("us", tz="UTC")) if stamped else pa.array(ticks),
            "label": ["a", "b", "c", "d", "e", "f", "g"],
            "K": [1, 1, 2, None, 2, 9, 1],
            "V": [None, 1.5, 2.5, 3.5, None, 0.0, 1.0],
        }
    )
    text = f"{KEYED}\n{LAST}" if not stamped else KEYED.replace("5 ms", "5 us")
    program, options = occurs.parse(text), {"bad_rows": "skip", "because": True}
    if not stamped:
        options["time_unit"] = "ms"
    expected = program.detect(table, **options)
    found = program.detect(table, session=spark, **options)
    assert any(len(expected[t]) for t in expected)
    for t in expected:
        got = pa.table(found[t].toArrow())
        assert sorted(map(repr, got.to_pylist())) == sorted(map(repr, expected[t].to_pylist()))
    assert {k: found.counts[k] for k in expected.counts} == expected.counts
    assert found.bad.toArrow().to_pylist() == expected.bad.to_pylist()
    with pytest.raises(InputProblem, match="null time"):
        program.detect(table, session=spark, **{**options, "bad_rows": "error"})
