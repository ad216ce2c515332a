"""The catalogue: every example, totality, nulls, whole columns against one row at a time."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from tests.amount import ALL

from occurs.expr.evaluate import evaluate
from occurs.expr.functions import CATALOGUE
from occurs.expr.tree import Call, Expr, Literal, Ref
from occurs.model.time import TimeKind
from occurs.model.types import Type

REFERENCE = {name: known.reference for name, known in CATALOGUE.items() if known.reference is not None}
ARROW = {
    Type.INT: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.STRING: pa.string(),
    Type.BOOL: pa.bool_(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    Type.NULL: pa.null(),
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def type_of(value: Any) -> Type:
    types = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STRING, datetime: Type.TIMESTAMP}
    return types.get(type(value), Type.NULL)


def constant(value: Any) -> Literal:
    if isinstance(value, datetime):
        return Literal((value - EPOCH) // timedelta(microseconds=1), Type.TIMESTAMP)
    return Literal(value, type_of(value))


def call(name: str, *args: Any) -> Any:
    """One call with constants: folded."""
    node = Call(name, tuple(constant(a) for a in args))
    got = evaluate(node, lambda leaf: pa.nulls(1), 1, kind=TimeKind())
    assert got.overflow is None
    return got.values[0].as_py()


def call_columns(name: str, *args: Any) -> list[Any]:
    """The same call with columns: the row, a row of nulls, the row again."""
    columns: dict[Expr, pa.Array] = {}
    for i, a in enumerate(args):
        columns[Ref(None, f"a{i}")] = pa.array([a, None, a], ARROW[type_of(a)])
    got = evaluate(Call(name, tuple(columns)), columns.__getitem__, 3, kind=TimeKind())
    assert got.overflow is None
    return got.values.to_pylist()


def close(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (a == b or (isinstance(a, float) and math.isclose(a, b, rel_tol=1e-15)))


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_example(name: str) -> None:
    known = CATALOGUE[name]
    assert known.doc.endswith(".")
    args, expected = known.example
    assert close(call(name, *args), expected)


@pytest.mark.parametrize("name", sorted(set(CATALOGUE) - {"coalesce", "if", "nullif"}))
def test_null_in_null_out(name: str) -> None:
    args, expected = CATALOGUE[name].example
    got = call_columns(name, *args)
    assert close(got[0], expected)
    assert got[1] is None
    assert close(got[2], expected)
    for i in range(len(args)):
        assert call(name, *(None if i == j else a for j, a in enumerate(args))) is None


@pytest.mark.parametrize("name", sorted(CATALOGUE))
def test_no_rows(name: str) -> None:
    args, _ = CATALOGUE[name].example
    columns = {Ref(None, f"a{i}"): pa.array([], ARROW[type_of(a)]) for i, a in enumerate(args)}
    assert len(evaluate(Call(name, tuple(columns)), columns.__getitem__, 0, kind=TimeKind()).values) == 0


STAMP = datetime(2024, 2, 29, 23, 59, 59, 999_000, tzinfo=UTC)
MICROSECONDS = (STAMP - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    [
        ("abs", (-2.5,), 2.5),
        ("round", (2.5,), 3.0),
        ("round", (-0.5,), -1.0),
        ("round", (0.49999999999999994,), 0.0),
        ("round", (1.005, 2), 1.01),
        ("round", (2.3449999999, 2), 2.34),
        ("round", (0.285, 2), 0.29),
        ("round", (-0.285, 2), -0.29),
        ("round", (5.015, 2), 5.02),
        ("round", (44745888891.65, 5), 44745888891.65),
        ("round", (2.5, 10**8), 2.5),
        ("round", (math.inf, -400), math.inf),
        ("round", (250.0, -(10**8)), 0.0),
        ("round", (250, -(10**8)), 0),
        ("round", (1e300, 300), 1e300),
        ("round", (1e300, -400), 0.0),
        ("round", (1234.5, -2), 1200.0),
        ("round", (7, 3), 7),
        ("round", (1250, -2), 1300),
        ("round", (-1250, -2), -1300),
        ("round", (2**63 - 1, -25), 0),
        ("round", (2**62, -19), 0),
        ("round", (math.inf, 2), math.inf),
        ("floor", (7,), 7),
        ("floor", (-0.5,), -1.0),
        ("sqrt", (-1,), None),
        ("sqrt", (4,), 2.0),
        ("power", (0, -1), None),
        ("power", (-8.0, 1 / 3), None),
        ("power", (10, 400), math.inf),
        ("ln", (0,), None),
        ("log10", (-1.0,), None),
        ("exp", (1000,), math.inf),
        ("sin", (math.inf,), None),
        ("sign", (-7,), -1),
        ("sign", (0.0,), 0),
        ("least", (1, 2.5), 1.0),
        ("greatest", ("a", "é", "z"), "é"),
        ("greatest", ("\uffff", "\U0001f600"), "\U0001f600"),
        ("coalesce", (None, None), None),
        ("coalesce", (None, "x"), "x"),
        ("nullif", (2, 2.0), None),
        ("nullif", (2, 3), 2),
        ("if", (None, 1, 2), 2),
        ("if", (False, 1, True, 2, 3), 2),
        ("if", (True, 1, 2.5), 1.0),
        ("string", (0.1,), "0.1"),
        ("string", (1e300,), "1e+300"),
        ("string", (-7,), "-7"),
        ("string", (True,), "true"),
        ("string", (STAMP,), "2024-02-29T23:59:59.999000Z"),
        ("string", (EPOCH,), "1970-01-01T00:00:00Z"),
        ("float", (" +1e3 ",), 1000.0),
        ("float", (".5",), 0.5),
        ("float", ("1_0",), None),
        ("float", ("nan",), None),
        ("float", ("",), None),
        ("float", ("1e999",), math.inf),
        ("float", (True,), 1.0),
        ("number", (2**53 + 1,), 2.0**53),
        ("int", ("-007",), -7),
        ("int", ("9223372036854775807",), 2**63 - 1),
        ("int", ("-9223372036854775808",), -(2**63)),
        ("int", ("9223372036854775808",), None),
        ("int", ("0" * 30 + "5",), 5),
        ("int", ("2.5",), None),
        ("int", (1e19,), None),
        ("int", (-(2.0**63),), -(2**63)),
        ("int", (2.0**63,), None),
        ("int", (False,), 0),
        ("timestamp", ("2024-02-29 23:59:59.999",), MICROSECONDS),
        ("timestamp", ("2024-02-30",), None),
        ("timestamp", ("2024-03-01T01:59:59.999+02:00",), MICROSECONDS),
        ("lower", ("ÀB",), "àb"),
        ("length", ("\U0001f600é",), 2),
        ("substring", ("hello", 2), "ello"),
        ("substring", ("hello", -3), "llo"),
        ("substring", ("hello", -3, 2), "ll"),
        ("substring", ("hello", -7, 4), "he"),
        ("substring", ("hello", 0, 2), "he"),
        ("substring", ("hello", 9, 2), ""),
        ("substring", ("hello", 2, -1), ""),
        ("substring", ("hello", 2, 2**62), "ello"),
        ("substring", ("hello", 2**62, 2), ""),
        ("substring", ("hello", -(2**62), 2), ""),
        ("left", ("hello", 9), "hello"),
        ("right", ("hello", 0), ""),
        ("right", ("hello", 99), "hello"),
        ("trim", ("xxaxx", "x"), "a"),
        ("replace", ("a.b", ".", ""), "ab"),
        ("replace", ("ab", "", "x"), "ab"),
        ("position", ("é", "aéb"), 2),
        ("position", ("x", ""), 0),
        ("position", ("", "abc"), 1),
        ("strpos", ("", ""), 1),
        ("split_part", ("a,b", ",", 3), ""),
        ("split_part", ("a,b", ",", -1), "b"),
        ("split_part", ("a,b", ",", 0), None),
        ("split_part", ("a,b", "", 1), "a,b"),
        ("lpad", ("abc", 2), "ab"),
        ("lpad", ("é", 4, "xy"), "xyxé"),
        ("lpad", ("a", 3, ""), "a"),
        ("rpad", ("a", -1, "x"), ""),
        ("rpad", ("a", 2**40, "x"), None),
        ("repeat", ("ab", -1), ""),
        ("reverse", ("é\U0001f600",), "\U0001f600é"),
        ("regexp_like", ("a\nb", "a.b"), False),
        ("regexp_like", ("abc", "("), None),
        ("regexp_replace", ("ab", "(a)", "\\1\\1"), "aab"),
        ("regexp_extract", ("abc", "x"), None),
        ("contains", ("a%b", "%"), True),
        ("year", (STAMP,), 2024),
        ("month", (STAMP,), 2),
        ("dayofyear", (STAMP,), 60),
        ("dayofweek", (datetime(2024, 1, 7, tzinfo=UTC),), 7),
        ("dayofweek", (datetime(2024, 1, 8, tzinfo=UTC),), 1),
        ("week", (datetime(2024, 12, 31, tzinfo=UTC),), 1),
        ("millisecond", (STAMP,), 999),
        ("second", (datetime(1969, 12, 31, 23, 59, 58, tzinfo=UTC),), 58),
        ("date_trunc", ("month", STAMP), (datetime(2024, 2, 1, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)),
        ("date_trunc", ("WEEK", STAMP), (datetime(2024, 2, 26, tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)),
        ("date_trunc", ("fortnight", STAMP), None),
    ],
)
def test_values(name: str, args: tuple, expected: Any) -> None:
    assert close(call(name, *args), expected)
    if all(a is not None for a in args):
        got = call_columns(name, *args)
        assert close(got[0], expected)
        assert close(got[2], expected)


def test_digits_and_patterns_may_come_from_columns() -> None:
    columns = {
        Ref(None, "x"): pa.array([1.25, 1.25, None, 1.25, 15.0]),
        Ref(None, "n"): pa.array([1, 0, 1, None, -1]),
        Ref(None, "s"): pa.array(["abc", "abc", "abc", None, "xyz"]),
        Ref(None, "p"): pa.array(["a", "^b", None, "c", "z$"]),
    }
    x, n, s, p = columns
    round_ = evaluate(Call("round", (x, n)), columns.__getitem__, 5, kind=TimeKind())
    assert round_.values.to_pylist() == [1.3, 1.0, None, None, 20.0]
    like = evaluate(Call("regexp_like", (s, p)), columns.__getitem__, 5, kind=TimeKind())
    assert like.values.to_pylist() == [True, False, None, None, True]


def test_overflow_in_functions() -> None:
    columns = {Ref(None, "x"): pa.array([-(2**63), -5, None, 2**63 - 1])}
    (x,) = columns
    got = evaluate(Call("abs", (x,)), columns.__getitem__, 4, kind=TimeKind())
    assert got.values.to_pylist() == [None, 5, None, 2**63 - 1]
    assert got.overflow is not None
    assert got.overflow.tolist() == [True, False, False, False]
    got = evaluate(Call("round", (x, Literal(-1, Type.INT))), columns.__getitem__, 4, kind=TimeKind())
    assert got.values.to_pylist() == [None, -10, None, None]
    assert got.overflow is not None
    assert got.overflow.tolist() == [True, False, False, True]


@pytest.mark.parametrize("name", sorted(set(REFERENCE) & set(CATALOGUE)))
def test_the_references_agree_with_the_example(name: str) -> None:
    args, expected = CATALOGUE[name].example
    got = REFERENCE[name](*((a - EPOCH) // timedelta(microseconds=1) if isinstance(a, datetime) else a for a in args))
    assert got == pytest.approx(expected, rel=1e-12) if isinstance(expected, float) else got == expected


@pytest.mark.parametrize("zone", ["UTC", "Europe/Rome", "Asia/Kolkata", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("year", [2024, 2038])
def test_calendars_of_zones(zone: str, year: int) -> None:
    """Every half hour of a year and around it, in the engine and in the references; in the fast run those of the first
    and the last week and of the days around a change of the clocks, and every fifth hour."""
    first = datetime(year - 1, 12, 31, 20, 15, tzinfo=UTC)
    whole = [first + timedelta(minutes=30 * i) for i in range(48 * 367)]
    day, rules = timedelta(days=1), ZoneInfo(zone)

    def changes(when: datetime) -> bool:
        before, after = ((when + d).astimezone(rules).utcoffset() for d in (-day, day))
        return before != after

    chosen = [
        when for i, when in enumerate(whole) if ALL or i % 11 == 0 or min(i, len(whole) - i) < 48 * 7 or changes(when)
    ]
    times = [int(when.timestamp()) * 1_000_000 for when in chosen]
    column = pa.array(times, pa.int64())
    for name in ("year", "quarter", "week", "dayofyear", "dayofweek", "hour", "minute", "day_name", "date"):
        assert CATALOGUE[name].run(column, zone).to_pylist() == [REFERENCE[name](t, zone) for t in times]
    for unit in ("hour", "day", "week", "quarter"):
        got = CATALOGUE["date_trunc"].run(unit, column, zone).to_pylist()
        assert got == [REFERENCE["date_trunc"](unit, t, zone) for t in times]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Rome"])
def test_calendars_of_null(zone: str) -> None:
    column = pa.array([None, 2_161_555_200_000_000, None], pa.int64())  # 2038-07-01
    assert CATALOGUE["hour"].run(column, zone).to_pylist() == [None, 0 if zone == "UTC" else 2, None]
    assert CATALOGUE["date_trunc"].run("day", column, zone).null_count == 2
    assert CATALOGUE["hour"].run(column[:1], zone).to_pylist() == [None]


def test_what_the_catalogue_refuses_is_null() -> None:
    assert call("hour", EPOCH, "Rome") is None
    assert call("date_trunc", "day", EPOCH, "Rome") is None
    for offset in ("+02:00", "-0200", "02:00"):
        assert call("hour", EPOCH, offset) is REFERENCE["hour"](0, offset) is None
        for name, place in (("hour", 1), ("date_trunc", 2)):
            assert CATALOGUE[name].problem[place](offset).startswith(f"`{offset}` is an offset")
    assert call("bucket", "a", 0) is None
    assert call("regexp_extract", "abc", "a(b)", 2) is None
    assert call("regexp_extract", "abc", "a(b)", -1) is None
    assert call("distance", 91.0, 0.0, 0.0, 0.0) is None
    assert call("distance", 45.0, math.inf, 0.0, 0.0) is None


@pytest.mark.parametrize("digits", [-400, -3, -1, 0, 1, 2, 3, 5, 9, 20, 400])
def test_round_as_the_reference(digits: int) -> None:
    random = Random(digits)
    halves = [float(f"{random.randint(-(10**6), 10**6)}5e-{random.randint(0, 9)}") for _ in range(300)]
    halves += [0.285, 1.005, 5.015, -0.285, 1.255, 0.145, 44745888891.65, math.inf, -math.inf]
    values = [*halves, *(math.nextafter(v, s) for v in halves for s in (-math.inf, math.inf))]
    values = [v for v in values if v == v]
    got = CATALOGUE["round"].run(pa.array(values), digits).to_pylist()
    assert got == [REFERENCE["round"](v, digits) for v in values]
    if 0 <= digits <= 5:
        places = Decimal(1).scaleb(-digits)
        sevens = [v for v in halves if abs(v) < 1e8]
        expected = [float(Decimal(repr(v)).quantize(places, ROUND_HALF_UP)) for v in sevens]
        assert CATALOGUE["round"].run(pa.array(sevens), digits).to_pylist() == expected
    ints = [random.randint(-(10**17), 10**17) for _ in range(100)] + [5, -5, 15, 250, -250, 1499]
    got = CATALOGUE["round"].run(pa.array(ints), digits).to_pylist()
    assert got == [REFERENCE["round"](v, digits) for v in ints]
