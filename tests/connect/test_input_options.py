"""How files of events are told to be: times in a format, delimiters, encodings, packed files, patterns, stdin."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import itertools
import random
import sys

import pyarrow as pa
import pytest

from occurs.connect.files import read_sources
from occurs.connect.writers import write
from occurs.errors import InputProblem, UsageProblem
from occurs.model.history import InputOptions, normalise
from occurs.model.source import Source
from occurs.model.special import formats_of, time_hint
from occurs.model.ticks import to_ticks
from occurs.model.timeformat import TimeFormat

#: formats, and texts that Python's strptime reads as they are to be read here
FORMATS = [
    "%d/%m/%Y %H:%M:%S", "%m/%d/%y %I:%M %p", "%d.%m.%Y", "%Y%m%d%H%M%S", "%d/%b/%Y:%H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y", "%B %e, %Y %I:%M:%S%p", "%FT%T.%f%z", "%D %R", "%Y/%m/%d %%%H", "(%Y) [%d+%m] {%H|%M}^$",
]  # fmt: skip
UNREADABLE = ["", "soon", "2024-01-05", "31/02/2024 10:00:00", "05/01/2024", "05/13/2024 10:00:00", "1/1/24 13:00 PM"]


def ticks(texts: list[str | None], written: str) -> list[int | None]:
    column = pa.chunked_array([pa.array(texts, pa.string())])
    found, stamped = to_ticks(column, written=TimeFormat.of(written))
    assert stamped is True
    return found.to_pylist()


def python_ticks(text: str | None, written: str) -> int | None:
    try:
        at = dt.datetime.strptime(text or "", written.replace("%e", "%d").replace("%F", "%Y-%m-%d").replace(
            "%T", "%H:%M:%S").replace("%D", "%m/%d/%y").replace("%R", "%H:%M"))  # fmt: skip
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return (at - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)


def texts_of(written: str) -> list[str | None]:
    draw = random.Random(written)
    out: list[str | None] = [None, *UNREADABLE]
    for _ in range(60):
        at = dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=draw.randrange(-(10**9), 10**9))
        at = at.astimezone(dt.timezone(dt.timedelta(minutes=draw.choice([0, 60, -330]))))
        out.append(at.strftime(written))
    return out


@pytest.mark.parametrize("written", FORMATS)
def test_times_in_a_format_are_those_of_strptime(written):
    texts = texts_of(written)
    assert ticks(texts, written) == [python_ticks(t, written) for t in texts]


MONTHS_WRITTEN = {
    "5 March 2024": 3, "5 mar. 2024": 3, "5 SEPT 2024": 9, "5 Sept. 2024": 9, "5 september 2024": 9, "5 may 2024": 5,
    "5 marraskuu 2024": None, "5 maybe 2024": None, "5 decembre 2024": None, "5 ma 2024": None,
}  # fmt: skip


@pytest.mark.parametrize("directive", ["%b", "%B", "%h"])
def test_months_are_english_names_or_their_short_ones(directive):
    found = ticks(list(MONTHS_WRITTEN), f"%d {directive} %Y")
    expected = [m and python_ticks(f"2024-{m}-05", "%Y-%m-%d") for m in MONTHS_WRITTEN.values()]
    assert found == expected
    assert formats_of(["5 marraskuu 2024"]) == []


def test_whole_floats_and_decimals_are_read_in_a_format_by_their_digits():
    written = TimeFormat.of("%Y%m%d")
    at = 1704412800000000
    for kind in (pa.float64(), pa.decimal128(12, 2)):
        values = pa.array([20240105, None, 20240230, 5], pa.int32()).cast(kind)
        found = to_ticks(pa.chunked_array([values]), written=written)
        assert (found[0].to_pylist(), found[1]) == ([at, None, None, None], True)
    floats = pa.chunked_array([pa.array([20240105.0, 20240105.5, 1e300, float("nan")])])
    assert to_ticks(floats, written=written)[0].to_pylist() == [at, None, None, None]
    table = pa.table({"type": ["A", "A"], "time": [20240105.0, 3.0], "v": [1, 2]})
    how = InputOptions(time_format="%Y%m%d")
    with pytest.raises(InputProblem, match="unreadable time"):
        normalise([Source(table)], inputs=["A"], options=how)


@pytest.mark.spark
@pytest.mark.slow
def test_spark_reads_whole_floats_and_decimals_in_a_format_as_this_process_does(spark):
    from pyspark.sql import functions as F

    from occurs.connect.sparkcolumns import convert
    from occurs.model.types import Type

    values = [20240105.0, None, 20240230.0, 5.0, 20240105.5, 1e300, float("nan")]
    frame = spark.createDataFrame([(n, v) for n, v in enumerate(values)], "n int, t double")
    frame = frame.withColumn("d", F.col("t").try_cast("decimal(12,2)"))
    made = [convert(F.col(c), frame.schema[c].dataType, Type.TIMESTAMP, written=TimeFormat.of("%Y%m%d")) for c in "td"]
    columns = [c for pair in made for c in pair]
    rows = frame.orderBy("n").select(*columns).collect()
    at = 1704412800000000
    assert [r[0] for r in rows] == [r[2] for r in rows] == [at] + [None] * 6
    assert [r[1] for r in rows] == [False, False, True, True, True, True, False]
    assert [r[3] for r in rows] == [False, False, True, True, True, False, False]


@pytest.mark.spark
@pytest.mark.slow
def test_spark_reads_times_in_a_format_as_this_process_does(spark):
    from pyspark.sql import functions as F
    from pyspark.sql.types import StringType

    from occurs.connect.sparkcolumns import convert
    from occurs.model.types import Type

    rows = [(n, t) for n, written in enumerate(FORMATS) for t in texts_of(written)]
    rows += [(len(FORMATS), t) for t in MONTHS_WRITTEN]
    formats = [*FORMATS, "%d %b %Y"]
    frame = spark.createDataFrame(rows, "n int, t string")
    made = F.lit(None).cast("long")
    for n, written in enumerate(formats):
        value, _ = convert(F.col("t"), StringType(), Type.TIMESTAMP, written=TimeFormat.of(written))
        made = F.when(F.col("n") == n, value).otherwise(made)
    found = sorted(map(repr, frame.select("n", "t", made.alias("at")).toArrow().to_pylist()))
    expected = []
    for n, texts in itertools.groupby(rows, key=lambda row: row[0]):
        column = [t for _, t in texts]
        expected += [{"n": n, "t": t, "at": at} for t, at in zip(column, ticks(column, formats[n]), strict=True)]
    assert found == sorted(map(repr, expected))


@pytest.mark.parametrize(
    ("written", "why"),
    {
        "dd/MM/yyyy": "it has no directives",
        "%H:%M": "it has no year",
        "%b %d %H:%M:%S": "it has no year",
        "%Y %m": "it has no day",
        "%Y-%d": "it has no month",
        "%Y-%m-%d %q": "`%q` is not supported",
        "%s": "`%s` is not supported",
        "%Y-%m-%d %Y": "`%Y` occurs twice",
        "%Y-%m-%d %I": "must be used together",
        "%Y-%m-%d %": "is not followed by a directive",
    }.items(),
)
def test_formats_that_make_no_times_are_refused(written, why):
    with pytest.raises(UsageProblem, match=why) as caught:
        InputOptions(time_format=written)
    assert caught.value.hint
    with pytest.raises(UsageProblem, match="--time-unit is for integer times"):
        InputOptions(time_format="%Y%m%d", time_unit="s")


@pytest.mark.parametrize(
    ("text", "written"),
    {
        "05/01/2024": "%d/%m/%Y",
        "25.12.2024 23:59": "%d.%m.%Y %H:%M",
        "05/Jan/2024:09:00:00 +0100": "%d/%b/%Y:%H:%M:%S %z",
        "Fri, 05 Jan 2024 09:00:00 GMT": "%a, %d %b %Y %H:%M:%S %Z",
        "Fri Jan  5 09:00:00 2024": "%a %b %d %H:%M:%S %Y",
        "2024/01/05 09:00:00.25": "%Y/%m/%d %H:%M:%S.%f",
        "20240105 090000": "%Y%m%d %H%M%S",
        "January 5, 2024 9:00 AM": "%b %d, %Y %I:%M %p",
    }.items(),
)
def test_common_formats_are_recognised_for_hints(text, written):
    assert formats_of([text])[0] == written
    assert ticks([text], written) != [None]
    assert f'--time-format "{written}"' in str(time_hint([text], None))


def test_all_values_decide_which_formats_are_meant():
    assert formats_of(["05/01/2024", "01/25/2024"]) == ["%m/%d/%Y"]
    assert "if the day comes first" in str(time_hint(["05/01/2024"], None))
    assert formats_of(["05/01/2024", "soon"]) == formats_of([]) == formats_of(["soon"]) == []
    assert time_hint(["soon"], None) is None
    assert "do not match" in str(time_hint(["soon"], "%Y%m%d"))


CSV = "type,time,v\nA,05/01/2024 10:00,1\nB,06/01/2024 10:00,2\n"
ROWS = [{"time": 1704448800000000, "v": 1}]


def read(*texts: str, **options: str) -> list[dict]:
    how = InputOptions(**({"time_format": "%d/%m/%Y %H:%M"} | options))
    return normalise(read_sources(texts, options=how), inputs=["A"], options=how).tables["A"].to_pylist()


def test_delimiters_and_encodings(tmp_path):
    path = tmp_path / "a.csv"
    for delimiter in (";", "\t", "|", "§"):
        if ord(delimiter) < 128:
            path.write_text(CSV.replace(",", delimiter))
            assert read(str(path), delimiter=delimiter) == ROWS
    for encoding in ("latin-1", "utf-16", "cp1252", "utf-8-sig"):
        path.write_bytes(CSV.replace("v\n", "ü\n").encode(encoding))
        assert read(str(path), encoding=encoding) == [{"time": ROWS[0]["time"], "ü": 1}]
        lines = '{"type": "A", "time": "05/01/2024 10:00", "ü": 1}\n'
        (tmp_path / "a.jsonl").write_bytes(lines.encode(encoding))
        assert read(str(tmp_path / "a.jsonl"), encoding=encoding) == [{"time": ROWS[0]["time"], "ü": 1}]
    path.write_bytes(b"\xff\xff\xff")
    with pytest.raises(InputProblem, match="it is not ASCII") as caught:
        read(str(path), encoding="ascii")
    assert "--encoding" in str(caught.value.hint)
    refused = {"||": "one character", "": "one character", '"': "quotes", "\n": "row", "é": "ASCII"}
    for delimiter, why in refused.items():
        with pytest.raises(UsageProblem, match=why):
            InputOptions(delimiter=delimiter)
    with pytest.raises(UsageProblem):
        InputOptions(encoding="utf9")


def test_a_format_of_times_is_a_text():
    with pytest.raises(UsageProblem, match="time_format must be text, not 3"):
        InputOptions(time_format=3)


def test_times_that_look_like_something_else_are_read_as_they_are_written(tmp_path):
    for text, written, day in (
        ("2024-05-01", "%Y-%d-%m", 5), ("20240105", "%Y%m%d", 5), ("010524", "%d%m%y", 1),
    ):  # fmt: skip
        at = dt.datetime.strptime(text, written).replace(tzinfo=dt.UTC).timestamp() * 1e6
        (tmp_path / "a.csv").write_text(f"type,time,v\nA,{text},1\n")
        assert read(str(tmp_path / "a.csv"), time_format=written) == [{"time": at, "v": 1}], day
        (tmp_path / "a.jsonl").write_text(f'{{"type": "A", "time": "{text}", "v": 1}}\n')
        assert read(str(tmp_path / "a.jsonl"), time_format=written) == [{"time": at, "v": 1}]
    (tmp_path / "a.jsonl").write_text('{"type": "A", "time": 20240105, "v": 1}\n')
    assert read(str(tmp_path / "a.jsonl"), time_format="%Y%m%d") == [{"time": 1704412800000000, "v": 1}]


def test_the_end_of_an_interval_is_in_the_format_too(tmp_path):
    (tmp_path / "a.csv").write_text("type,time,end,v\nA,05/01/2024 10:00,05/01/2024 10:01,1\n")
    assert read(str(tmp_path / "a.csv")) == [{"time": ROWS[0]["time"], "end": ROWS[0]["time"] + 60_000_000, "v": 1}]


def test_packed_files_are_unpacked_and_written(tmp_path):
    packed = pa.compress(CSV.encode(), "zstd", asbytes=True)
    (tmp_path / "a.csv.zst").write_bytes(packed + pa.compress(b"A,05/01/2024 10:00,1\n", "zstd", asbytes=True))
    (tmp_path / "a.csv.GZ").write_bytes(gzip.compress(CSV.encode()))
    assert read(str(tmp_path / "a.csv.zst")) == ROWS * 2
    assert read(str(tmp_path / "a.csv.GZ")) == ROWS
    (tmp_path / "b.csv.zst").write_bytes(packed[:-9])
    (tmp_path / "c.csv.zst").write_text(CSV)
    for name in ("b", "c"):
        with pytest.raises(InputProblem, match=f"{name}.csv.zst cannot be read"):
            read(str(tmp_path / f"{name}.csv.zst"))
    table = pa.table({"time": pa.array([0], pa.timestamp("us", "UTC")), "v": [1]})
    for suffix in ("csv.gz", "jsonl.zst"):
        write(str(tmp_path / f"out.{suffix}"), {"A": table})
        [source] = read_sources([str(tmp_path / f"out.{suffix}")])
        assert source.table["v"].to_pylist() == [1]


def test_patterns_and_formats_by_name(tmp_path):
    for name in ("a1.csv", "a2.csv", "b1.txt", "[x].csv"):
        (tmp_path / name).write_text(CSV)
    assert read(str(tmp_path / "a*.csv")) == ROWS * 2
    assert read(str(tmp_path / "[x].csv")) == ROWS  # a file of this name is meant
    assert read(str(tmp_path / "b1.txt"), format="csv") == ROWS
    assert read(str(tmp_path), format="csv") == ROWS * 4
    with pytest.raises(InputProblem, match="no file matches the pattern") as caught:
        read(str(tmp_path / "c*.csv"))
    assert "a1.csv" in str(caught.value.hint)
    with pytest.raises(UsageProblem, match="suffix"):
        read(str(tmp_path / "b?.txt"))


def test_standard_input(monkeypatch):
    def given(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    given(CSV.encode())
    assert read("-", format="csv") == ROWS
    given(b'{"time": "05/01/2024 10:00", "v": 1}\n')
    assert read("A=-", format="jsonl") == ROWS
    given(b"type,time\nA,soon\n")
    with pytest.raises(InputProblem, match="<stdin>: error"):
        read("-", format="csv")
    with pytest.raises(UsageProblem, match="the format of standard input is unknown"):
        read("-")
    with pytest.raises(UsageProblem, match="can only be read once"):
        read("A=-", "B=-", format="csv")
