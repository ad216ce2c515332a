"""The intake: what common.md says of input, clock, bad rows, schemas."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from occurs.errors import InputProblem, UsageProblem
from occurs.model.history import InputOptions, Source, normalise
from occurs.model.time import TIMESTAMP, TimeKind
from occurs.model.types import Schema, Type

SKIP = InputOptions(bad_rows="skip")
NOON = 1_704_456_000_000_000  # 2024-01-05T12:00:00Z in microseconds


def shared(**columns):
    return {None: pa.table(columns)}


def one(**columns):
    return {"A": pa.table(columns)}


def test_rows_are_grouped_by_type_and_only_read_types_are_kept():
    tables = shared(type=["B", "A", "C", "A"], time=[1, 2, 3, 4], v=[10, 20, 30, 40], w=["p", "q", "r", "s"])
    history = normalise(tables, inputs=["A", "B"])
    assert sorted(history.tables) == ["A", "B"]
    assert history.tables["A"].to_pylist() == [{"time": 2, "v": 20, "w": "q"}, {"time": 4, "v": 40, "w": "s"}]
    assert history.tables["B"].to_pylist() == [{"time": 1, "v": 10, "w": "p"}]
    assert history.kind == TimeKind(timestamp=False, unit=None)
    assert history.schemas["A"].names == ("v", "w")
    assert not history.schemas["A"].ordered


def test_every_row_moves_the_clock_also_of_types_nobody_reads():
    history = normalise(shared(type=["X", "A", "Y"], time=[-5, 2, 9]), inputs=["A"])
    assert history.clock == (-5, 9)


def test_bad_and_outside_rows_do_not_move_the_clock():
    tables = shared(type=["A", None, "A", "A"], time=[1, 99, 3, 50], v=["1", "2", "3", "4"])
    history = normalise(tables, options=InputOptions(bad_rows="skip", until=10))
    assert history.clock == (1, 10)
    assert history.counts["bad"] == 1
    assert history.counts["outside"] == 1
    assert history.tables["A"]["time"].to_pylist() == [1, 3]


def test_a_row_whose_value_does_not_fit_is_no_part_of_the_clock():
    history = normalise(
        shared(type=["A", "A"], time=[1, 7], v=[1.0, 2.5]), schemas={"A": Schema((("v", Type.INT),))}, options=SKIP
    )
    assert history.clock == (1, 1)
    assert history.counts["bad: value does not fit"] == 1


def test_start_and_until_are_the_clock_even_without_rows_there():
    assert normalise(shared(type=["A"], time=[5]), options=InputOptions(start=0, until="10")).clock == (0, 10)
    assert normalise(shared(type=pa.array([], pa.string()), time=pa.array([], pa.int64()))).clock is None


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["2024-01-05T12:00:00Z"]),
        pa.array(["2024-01-05 12:00"]),
        pa.array(["2024-01-05T14:00:00+02:00"]),
        pa.array(["2024-01-05T12:00:00,000000000"]),
        pa.array(["2024-01-05T12:00:00Z"]).dictionary_encode(),
        pa.array([NOON // 1_000_000], pa.timestamp("s")),
        pa.array([NOON // 1_000], pa.timestamp("ms", "Europe/Rome")),
        pa.array([NOON], pa.timestamp("us", "UTC")),
        pa.array([NOON * 1000], pa.timestamp("ns")),
    ],
)
def test_timestamps_of_all_kinds_are_microseconds_and_naive_ones_are_utc(column):
    history = normalise(one(time=column))
    assert history.kind == TIMESTAMP
    assert history.tables["A"]["time"].to_pylist() == [NOON]


def test_dates_are_midnight():
    days = pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 31)])
    assert normalise(one(time=days)).tables["A"]["time"].to_pylist() == [86_400_000_000, -86_400_000_000]
    assert normalise(one(time=days.cast(pa.date64()))).clock == (-86_400_000_000, 86_400_000_000)


def test_finer_than_microseconds_is_refused_unless_whole():
    history = normalise(one(time=pa.array([1000, 1001, -1000], pa.timestamp("ns"))), options=SKIP)
    assert history.tables["A"]["time"].to_pylist() == [1, -1]
    assert history.counts["bad: unreadable time"] == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([3], pa.uint64()),
        pa.array([3.0]),
        pa.array(["3"]),
        pa.array([Decimal("3.00")], pa.decimal128(5, 2)),
        pa.array([3], pa.int8()),
    ],
)
def test_integer_times_count_the_declared_unit(column):
    history = normalise(one(time=column), options=InputOptions(time_unit="ms"))
    assert history.kind == TimeKind(timestamp=False, unit="ms")
    assert history.tables["A"]["time"].to_pylist() == [3]


def test_times_that_are_none_are_named_with_file_row_and_value():
    source = Source(pa.table({"time": ["2024-01-05", "soon", None, "2024-02-30"]}), "A", "a.csv", text=True)
    with pytest.raises(InputProblem) as caught:
        normalise([source])
    assert [(p.kind, p.file, p.row, p.value) for p in caught.value.problems] == [
        ("bad-time", "a.csv", 2, "soon"),
        ("bad-time", "a.csv", 3, None),
    ]
    assert "'soon'" in str(caught.value)
    history = normalise([source], options=SKIP)
    assert history.counts == {
        "rows": 4, "outside": 0, "empty": 0, "bad": 3, "bad: null time": 1, "bad: unreadable time": 2,
    }  # fmt: skip
    assert [(r["reason"], r["row"], r["value"]) for r in history.bad.to_pylist()] == [
        ("null time", 3, None),
        ("unreadable time", 2, "soon"),
        ("unreadable time", 4, "2024-02-30"),
    ]


def test_a_column_of_times_that_are_all_unreadable_is_an_error():
    with pytest.raises(InputProblem, match="unreadable time"):
        normalise(one(time=["soon", "later"]))
    with pytest.raises(InputProblem, match="unreadable time"):
        normalise(one(time=[True, False]))


def test_all_tables_count_time_alike():
    with pytest.raises(InputProblem, match="must have the same kind of time"):
        normalise({"A": pa.table({"time": [1]}), "B": pa.table({"time": ["2024-01-05"]})})
    with pytest.raises(UsageProblem, match="integer times"):
        normalise(one(time=pa.array([1], pa.timestamp("us"))), options=InputOptions(time_unit="ms"))
    with pytest.raises(UsageProblem, match="fortnight"):
        normalise(one(time=[1]), options=InputOptions(time_unit="fortnight"))


@pytest.mark.parametrize("value", ["yesterday", 7, True])
def test_the_clock_options_have_to_go_with_the_time(value):
    with pytest.raises(UsageProblem, match="--start"):
        normalise(one(time=["2024-01-05"]), options=InputOptions(start=value))
    with pytest.raises(UsageProblem, match="--until"):
        normalise(one(time=[1]), options=InputOptions(until="2024-01-05"))
    with pytest.raises(UsageProblem, match="after"):
        normalise(one(time=[1]), options=InputOptions(start=2, until=1))


def test_clock_options_may_be_texts_dates_and_datetimes():
    options = InputOptions(start=dt.date(2024, 1, 5), until=dt.datetime(2024, 1, 5, 12, tzinfo=dt.UTC))
    assert normalise(one(time=["2024-01-05T06:00Z"]), options=options).clock == (NOON - 43_200_000_000, NOON)


def test_nan_is_null():
    history = normalise(one(time=[1, 2], v=[float("nan"), 2.0]))
    assert history.tables["A"]["v"].to_pylist() == [None, 2.0]


@pytest.mark.parametrize(
    ("column", "declared", "expected"),
    [
        (pa.array([1, 2**53 + 1]), Type.FLOAT, [1.0, "bad"]),
        (pa.array([1.0, 2.5]), Type.INT, [1, "bad"]),
        (pa.array([1.0, 1e30]), Type.INT, [1, "bad"]),
        (pa.array([1, 2**63], pa.uint64()), Type.INT, [1, "bad"]),
        (pa.array(["x", None]), Type.INT, ["bad", None]),
        (pa.array([1, None]), Type.STRING, ["bad", None]),
        (pa.array([1, None]), Type.BOOL, ["bad", None]),
        (pa.array([None, None]), Type.BOOL, [None, None]),
        (pa.array(["2024-01-05T12:00:00Z", "12"]), Type.TIMESTAMP, [dt.datetime(2024, 1, 5, 12, tzinfo=dt.UTC), "bad"]),
        (pa.array(["a", "b"]).dictionary_encode(), Type.STRING, ["a", "b"]),
        (pa.array([1.5, 2.5], pa.float32()), None, [1.5, 2.5]),
        (pa.array(["a", "b"], pa.large_string()), None, ["a", "b"]),
        (pa.array([[1], [2]]), Type.INT, ["bad", "bad"]),
    ],
)
def test_declared_types_win_and_casts_are_lossless(column, declared, expected):
    schemas = {"A": Schema((("v", declared),))} if declared else None
    history = normalise(one(time=[1, 2], v=column), schemas=schemas, options=SKIP)
    assert history.tables["A"]["v"].to_pylist() == [v for v in expected if v != "bad"]
    assert history.counts["bad"] == expected.count("bad")


def test_a_null_type_is_bad_wherever_it_stands():
    """Also as a value of a dictionary, in a column of several pieces."""
    names = pa.array(["A", None, "B"])
    pieces = [pa.DictionaryArray.from_arrays(pa.array(at, pa.int32()), names) for at in ([0, 1, None], [2, 0])]
    table = pa.table({"type": pa.chunked_array(pieces), "time": range(5)})
    history = normalise({None: table}, options=SKIP)
    assert {t: table["time"].to_pylist() for t, table in history.tables.items()} == {"A": [0, 4], "B": [3]}
    assert history.counts["bad: null type"] == 2


def test_text_sources_are_read_as_declared():
    table = pa.table({"time": ["1", "2"], "v": ["7", "x"], "b": ["true", "FALSE"]})
    schema = Schema((("v", Type.INT), ("b", Type.BOOL)))
    history = normalise([Source(table, "A", text=True)], schemas={"A": schema}, options=SKIP)
    assert history.tables["A"].to_pylist() == [{"time": 1, "v": 7, "b": True}]
    with pytest.raises(InputProblem, match=r"row 2: string value in column `v` of `A`, which is int: 'x'"):
        normalise([Source(table, "A", text=True)], schemas={"A": schema})


def test_missing_columns_are_named_with_the_nearest():
    with pytest.raises(InputProblem) as caught:
        normalise(one(time=[1], aera=[1]), schemas={"A": Schema((("area", Type.INT),))})
    assert caught.value.kind == "missing-column"
    assert "did you mean `aera`?" in caught.value.hint
    with pytest.raises(InputProblem, match=r"no time column `time`(.|\n)*did you mean `tim`"):
        normalise(one(tim=[1]))
    with pytest.raises(InputProblem, match=r"no type column `type`, but the program reads `A`, `B`"):
        normalise(shared(time=[1]), inputs=["A", "B"])
    with pytest.raises(InputProblem, match="two columns"):
        normalise({"A": pa.table([pa.array([1]), pa.array([1]), pa.array([1])], names=["time", "v", "v"])})


def test_a_table_without_type_belongs_to_the_only_input():
    history = normalise(shared(time=[1], v=[2]), inputs=["A"])
    assert history.tables["A"].to_pylist() == [{"time": 1, "v": 2}]
    assert history.schemas["A"].ordered
    history = normalise(shared(time=[1], v=[2]), inputs=["A", "Derived"], external=["A"])
    assert history.tables["A"].to_pylist() == [{"time": 1, "v": 2}]


def test_special_columns_may_have_other_names():
    table = pa.table({"kind": [7, 8], "ts": [1, 2], "id": ["x", "y"], "n": [5, None], "v": [1, 2]})
    options = InputOptions(type="kind", time="ts", label="id", sequence="n", type_names={"7": "Smoke"})
    history = normalise({None: table}, options=options)
    assert history.tables["Smoke"].to_pylist() == [{"time": 1, "sequence": 5, "label": "x", "v": 1}]
    assert history.tables["8"].to_pylist() == [{"time": 2, "label": "y", "v": 2}]  # no sequence at all is no column


def test_what_lasts():
    table = pa.table({"time": [1, 2, 3, 4, 5], "end": [4, 2, None, 3, 99]})
    history = normalise({"S": table}, options=InputOptions(bad_rows="skip", until=10))
    assert history.tables["S"].to_pylist() == [
        {"time": 1, "end": 4},
        {"time": 3, "end": None},
        {"time": 5, "end": None},  # ends after the end of the clock
    ]
    assert history.schemas["S"].lasting
    assert (history.counts["empty"], history.counts["bad: end before time"]) == (1, 1)
    assert normalise({"S": table.slice(0, 1)}).clock == (1, 4)


def test_only_types_with_an_end_last():
    history = normalise(shared(type=["S", "A"], time=[1, 2], end=[3, None], v=[1, 2]))
    assert history.schemas["S"].lasting
    assert not history.schemas["A"].lasting
    assert "end" not in history.tables["A"].column_names


def test_types_without_rows():
    tables = shared(type=["A"], time=[1], v=[1], w=["x"])
    history = normalise(tables, schemas={"C": Schema((("k", Type.STRING),))}, inputs=["A", "B", "C"])
    assert len(history.tables["B"]) == 0
    assert history.tables["B"].schema.names == ["time", "v", "w"]
    assert history.tables["C"].schema.names == ["time", "k"]
    assert [(n.kind, n.severity) for n in history.notices] == [("unknown-type", "warning"), ("no-rows", "notice")]
    assert "`B`" in history.notices[0].message


def test_several_tables_of_one_type_widen():
    tables = [Source(pa.table({"time": [1], "v": [1]}), "A"), Source(pa.table({"time": [2], "v": [1.5]}), "A")]
    history = normalise(tables)
    assert history.tables["A"]["v"].to_pylist() == [1.0, 1.5]
    assert history.schemas["A"]["v"] is Type.FLOAT
    with pytest.raises(InputProblem, match="columns with different types"):
        normalise([*tables, Source(pa.table({"time": [2], "v": ["x"]}), "A")])


def test_an_empty_history():
    empty = pa.table(
        {"type": pa.array([], pa.string()), "time": pa.array([], pa.null()), "v": pa.array([], pa.int64())}
    )
    history = normalise({None: empty}, inputs=["A"])
    assert len(history.tables["A"]) == 0
    assert history.clock is None


def test_the_order_of_rows_and_chunks_does_not_matter():
    whole = pa.table({"type": ["A", "B"] * 50, "time": list(range(100)), "v": [str(i) for i in range(100)]})
    cut = pa.concat_tables([whole.slice(i, 7) for i in range(0, 100, 7)])
    assert normalise({None: cut}).tables["B"].to_pylist() == normalise({None: whole}).tables["B"].to_pylist()
