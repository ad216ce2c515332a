"""Columns, options, names and values that no reader expects: each is a result, a bad row, or an error of ours."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import occurs
from occurs.errors import InputProblem, UsageProblem

RULES = "event A(v: int, s: string)\ndefine X(v, s) from A() where v = A.v, s = A.s\n"
GOOD = {"type": ["A", "A"], "time": [1, 2], "v": [1, 2], "s": ["x", "y"]}
LONE = "a\ud800b"


@pytest.fixture(scope="module")
def program():
    return occurs.parse(RULES)


def union():
    return pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array(["A", "B"])])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([["A"], None]),
        pa.array([["A"], None], pa.list_view(pa.string())),
        pa.array([[1, 2], None], pa.list_(pa.int64(), 2)),
        pa.array([{"a": 1}, None]),
        pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        union(),
        pa.array([(1, 2, 3), None], pa.month_day_nano_interval()),
        pa.array([1, None], pa.duration("s")),
    ],
    ids=lambda c: str(c.type),
)
@pytest.mark.parametrize("mode", ["error", "skip"])
def test_a_type_column_that_names_no_types(program, column, mode):
    with pytest.raises(
        InputProblem, match=r"the type column `type` is of type .* and cannot name event types"
    ) as caught:
        program.detect(pa.table({**GOOD, "type": column}), bad_rows=mode)
    assert caught.value.kind == "bad-value"


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(1)], ids=str)
@pytest.mark.parametrize("encoded", [False, True])
def test_a_type_column_of_bytes_is_read_as_utf8(program, kind, encoded):
    column = pa.array([b"A", b"\xff"], kind)
    table = pa.table({**GOOD, "type": column.dictionary_encode() if encoded and kind != pa.binary_view() else column})
    with pytest.raises(InputProblem, match=r"row 2: unreadable type in column `type`: b'\\xff'"):
        program.detect(table)
    found = program.detect(table, bad_rows="skip")
    assert found["X"].column("v").to_pylist() == [1]
    assert [(r["reason"], r["row"], r["value"]) for r in found.bad.to_pylist()] == [("unreadable type", 2, "b'\\xff'")]


@pytest.mark.parametrize("name", ["type", "time", "v", "s", "label", "sequence"])
def test_views_and_run_ends_are_read_as_plain_columns(program, name):
    plain = pa.table({**GOOD, "label": ["k", "l"], "sequence": [1, 2]})
    column = plain[name].combine_chunks()
    odd = [pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), column)]
    if column.type == pa.string():
        view = column.cast(pa.string_view())
        odd += [view, pa.DictionaryArray.from_arrays(pa.array([0, 1]), view)]
    for one in odd:
        table = plain.set_column(plain.column_names.index(name), name, one)
        assert program.detect(table)["X"].to_pylist() == program.detect(plain)["X"].to_pylist()
        bad = table.set_column(table.column_names.index("time"), "time", pa.array(["soon", "2"]))
        if name != "time":
            assert program.detect(bad, time_unit="s", bad_rows="skip").counts["bad"] == 1


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Europe/Rome")),
        pa.date32(),
        pa.date64(),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["time", "end", "label", "sequence", "s", "v"])
def test_the_greatest_and_least_times_can_be_worded(program, kind, name):
    bits = 32 if kind == pa.date32() else 64
    extremes = pa.array([2 ** (bits - 1) - 1, -(2 ** (bits - 1))], pa.int32() if bits == 32 else pa.int64())
    table = pa.table({**GOOD, "time": pa.array([1, 2], pa.timestamp("us"))}) if name != "time" else pa.table(GOOD)
    table = table.drop_columns(name) if name in table.column_names else table
    table = table.append_column(name, extremes.view(kind))
    found = program.detect(table, bad_rows="skip")
    assert len(found["X"]) + found.counts["bad"] == 2
    if found.counts["bad"]:
        with pytest.raises(InputProblem, match=r"row [12]: ") as caught:
            program.detect(table)
        assert caught.value.kind in ("bad-time", "bad-value")


def test_a_decimal_is_read_to_its_last_digit(program):
    table = pa.table({**GOOD, "v": pa.array([2**53 + 1, 2], pa.decimal128(38, 2))})
    assert program.detect(table)["X"].column("v").to_pylist() == [2**53 + 1, 2]
    table = pa.table({**GOOD, "v": pa.array([2**63, 2], pa.decimal128(38, 2))})
    assert program.detect(table, bad_rows="skip").counts["bad"] == 1


@pytest.mark.parametrize("option", ["start", "until"])
@pytest.mark.parametrize(
    "value",
    [2**80, -(2**80), 2**63, str(2**80), 10**5000, 1.5, float("nan"), "", "x", LONE, b"5", True, [1], dt.timedelta(1)],
    ids=lambda v: ascii(v)[:20] if not isinstance(v, int) else "int",
)
def test_ends_of_the_clock_that_are_none(program, option, value):
    for time in (pa.array([1, 2]), pa.array([1, 2], pa.timestamp("us"))):
        with pytest.raises(UsageProblem) as caught:
            program.detect(pa.table({**GOOD, "time": time}), **{option: value})
        assert caught.value.kind == "bad-time"
    live = {} if option == "until" else {"start": value}
    if live:
        with pytest.raises(UsageProblem):
            program.live(time_unit="s", **live)


@pytest.mark.parametrize(
    "options",
    [
        {"facts": 1}, {"facts": [1]}, {"facts": "x"}, {"facts": {1: pa.table(GOOD)}}, {"facts": pd.DataFrame()},
        {"time": None}, {"time": 1}, {"type": 1}, {"end": []}, {"sequence": b"x"}, {"label": {}}, {"time_unit": [1]},
        {"bad_rows": 1}, {"only": 1}, {"only": "X"}, {"only": [1]}, {"zone": 1}, {"zone": None}, {"zone": [1]},
        {"max_instances": "x"}, {"max_instances": 1.5}, {"max_instances": 2**80}, {"nonsense": 1},
    ],
    ids=str,
)  # fmt: skip
def test_options_of_the_wrong_kind(program, options):
    with pytest.raises(UsageProblem):
        program.detect(pa.table(GOOD), **options)


@pytest.mark.parametrize("name", [1, b"A", ("A",), 1.5, True, LONE], ids=ascii)
def test_names_of_tables_are_text(program, name):
    table = pa.table(GOOD).drop_columns("type")
    with pytest.raises(UsageProblem, match="the name of a table must be text"):
        program.detect({name: table})


def test_text_with_half_of_a_surrogate_pair_is_refused_where_it_comes_from(program):
    live = program.live(time_unit="s", because=True)
    live.on_event("A", 1, {"v": 1, "s": "x"})
    for attributes, label in (({"s": LONE}, None), ({}, LONE)):
        with pytest.raises(InputProblem, match=r"must be string, not 'a.ud800b'") as caught:
            live.on_event("A", 2, attributes, label=label)
        assert caught.value.kind == "bad-value"
    assert [row["v"] for row in live.close()] == [1]  # the others are none the worse
    with pytest.raises(InputProblem):
        program.detect(pd.DataFrame({**GOOD, "s": [LONE, "y"]}))
    with pytest.raises(InputProblem):
        program.detect(pd.DataFrame({**GOOD, LONE: [1, 2]}))


def test_values_that_pandas_has_and_arrow_has_not(program):
    with pytest.raises(InputProblem, match="column `v`"):
        program.detect(pd.DataFrame({**GOOD, "v": [2**80, 1]}))


@pytest.mark.parametrize("event", [1, None, "x", [], b"x", 1.5, object()], ids=lambda e: type(e).__name__)
def test_events_that_are_no_mappings(program, event):
    with pytest.raises(InputProblem):
        list(program.stream([event], time_unit="s"))
    with pytest.raises((UsageProblem, InputProblem)):
        occurs.parse("define X(v: int) from A() where v = A.v").live({"A": event})


def test_an_array_is_no_value_of_an_attribute(program):
    with pytest.raises(InputProblem, match="`v` of `A` must be int"):
        program.live(time_unit="s").on_event("A", 1, {"v": np.array([1, 2])})
