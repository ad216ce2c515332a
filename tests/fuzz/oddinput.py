"""Input that no one would send on purpose: columns of every Arrow type, torn lines, odd options and values, by seed."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import json
import random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

#: rules over A and B, one program per language; none has timers, which would run through all of int64
PROGRAMS = {
    "tesla": (
        "event A(v: int, s: string, f: float, b: bool, t: timestamp)\n"
        "define X(v, s) from A(v > 0, s = $s) and last B(s = $s) within 5 tick from A where v = A.v, s = A.s\n"
        "define Y(n: int) from A() where n = COUNT(B()) within 5 tick from A\n"
    ),
    "epl": "insert into X select a.v as v from pattern [every a=A -> b=B];\n",
    "phenesthe": (
        "input event A(v, s). input state B(v).\nevent X(V) : A(V, _).\nstate Y(V) : A(V, _) ~> end(B(V)).\n"
    ),
    "ptl": (
        "event A(v int, s string)\ntable B(v int key, s string)\n"
        'trigger X for each v in (select v from B): once A(v, "x")\n'
    ),
    "match_recognize": (
        "CREATE VIEW X AS SELECT * FROM A MATCH_RECOGNIZE (\n"
        "  PARTITION BY s MEASURES LAST(v) AS l, COUNT(*) AS n PATTERN (P Q*) DEFINE Q AS v > PREV(v));\n"
        "CREATE VIEW Y AS SELECT l2 FROM X MATCH_RECOGNIZE (MEASURES l AS l2 PATTERN (P) DEFINE P AS l > 0);\n"
    ),
    "esql": "DEFINE Out AS THE SUM OF A.v.  DEFINE Other AS A.s.\n",
}
LONE = "a\ud800b"
_GREAT = [0, 1, -1, 2, 5, 2**31, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]


def _of(draw: random.Random, n: int, values: list[Any], kind: pa.DataType, nulls: float = 0.2) -> pa.Array:
    return pa.array([None if draw.random() < nulls else draw.choice(values) for _ in range(n)], kind)


def _stamps(draw: random.Random, n: int) -> pa.Array:
    kind = draw.choice(
        [pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC", "Europe/Rome", "+05:30")]
        + [pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.duration("s"), pa.duration("ns")]
    )
    bits = kind.bit_width
    top = 2 ** (bits - 1)
    values = [v for v in [*_GREAT, top - 1, -top, 1_700_000_000] if -top <= v < top]
    return _of(draw, n, values, pa.int64() if bits == 64 else pa.int32()).view(kind)


def _numbers(draw: random.Random, n: int) -> pa.Array:
    kind = draw.choice(
        [
            pa.int8(),
            pa.int16(),
            pa.int32(),
            pa.int64(),
            pa.uint8(),
            pa.uint64(),
            pa.float16(),
            pa.float32(),
            pa.float64(),
            pa.decimal128(38, 2),
            pa.decimal256(60, 0),
            pa.bool_(),
            pa.null(),
        ]
    )
    if pa.types.is_null(kind):
        return pa.nulls(n)
    if pa.types.is_boolean(kind):
        return _of(draw, n, [True, False], kind)
    if pa.types.is_integer(kind):
        low, high = (
            (0, 2**kind.bit_width) if "uint" in str(kind) else (-(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1))
        )
        return _of(draw, n, [v for v in [*_GREAT, high - 1, low] if low <= v < high], kind)
    if pa.types.is_decimal(kind):
        return _of(draw, n, [decimal.Decimal(v) for v in (0, 1, 2, 2**53 + 1, 2**63, 10**30)], kind)
    values = [0.0, -0.0, 1.0, 2.5, float("nan"), float("inf"), float("-inf"), 2.0**63, 5e-324]
    return pa.array(
        [np.float64(v) if v is not None else None for v in _of(draw, n, values, pa.float64()).to_pylist()]
    ).cast(kind, safe=False)


def _texts(draw: random.Random, n: int) -> pa.Array:
    kind = draw.choice(
        [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]
    )
    values: list[Any] = [
        "A",
        "B",
        "",
        " ",
        "x",
        "1",
        "2",
        "1e3",
        "true",
        "2024-01-05T09:00:00Z",
        "0001-01-01",
        "é\0",
        "9" * 30,
    ]
    if "binary" in str(kind):
        values = [v.encode() for v in values] + [b"\xff", b"A\xff"]
    return _of(draw, n, values, kind)


def _nested(draw: random.Random, n: int) -> pa.Array:
    inner = draw.choice([_numbers, _texts, _stamps])(draw, n)
    match draw.randrange(9):
        case 0:
            return pa.array([[v] for v in range(n)], pa.list_(pa.int64()))
        case 1:
            return pa.StructArray.from_arrays([inner], ["a"])
        case 2:
            return _of(draw, n, [[("k", 1)], []], pa.map_(pa.string(), pa.int64()))
        case 3:
            tags = pa.array([i % 2 for i in range(n)], pa.int8())
            return pa.UnionArray.from_sparse(tags, [inner, pa.array(["A"] * n)])
        case 4:
            return _of(draw, n, [(1, 2, 3)], pa.month_day_nano_interval())
        case 5:
            return _of(
                draw, n, [["A"], [], [None]], draw.choice([pa.list_view(pa.string()), pa.large_list(pa.string())])
            )
        case 6:
            return pa.ListArray.from_arrays(pa.array(range(n + 1), pa.int32()), inner)
        case 7:
            return pa.ExtensionArray.from_storage(pa.uuid(), _of(draw, n, [b"0" * 16], pa.binary(16)))
        case _:
            return _of(draw, n, [[1, 2]], pa.list_(pa.int64(), 2))


def odd(draw: random.Random, n: int) -> pa.Array:
    """A column of n values of some Arrow type."""
    found = draw.choice([_stamps, _numbers, _texts, _nested])(draw, n)
    plain = pa.types.is_primitive(found.type) or pa.types.is_string(found.type) or pa.types.is_binary(found.type)
    if plain and draw.random() < 0.15 and not pa.types.is_null(found.type):
        return found.dictionary_encode()
    if plain and draw.random() < 0.1 and n and not (pa.types.is_date64(found.type) or pa.types.is_time(found.type)):
        return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, n + 1), pa.int32()), found)
    return found


def table(draw: random.Random, *, typed: bool = True) -> pa.Table:
    """A table with mostly good columns, and some that are odd."""
    n = draw.choice([0, 1, 2, 3, 6])
    good = {
        "type": lambda: _of(draw, n, ["A", "B", "C"], pa.string(), 0.1),
        "time": lambda: pa.array(sorted(draw.randrange(9) for _ in range(n)), pa.int64()),
        "v": lambda: _of(draw, n, [0, 1, 2], pa.int64()),
        "s": lambda: _of(draw, n, ["x", "y"], pa.string()),
        "f": lambda: _of(draw, n, [0.5, 1.0], pa.float64()),
        "b": lambda: _of(draw, n, [True, False], pa.bool_()),
        "t": lambda: _of(draw, n, [0, 1], pa.timestamp("us", "UTC")),
    }
    if not typed:
        del good["type"]
    for name in ("end", "sequence", "label", "op", "holds", "extra"):
        if draw.random() < 0.15:
            good[name] = lambda: odd(draw, n)
    columns, names = [], []
    for name, make in good.items():
        if draw.random() < 0.02:
            continue
        columns.append(odd(draw, n) if draw.random() < 0.15 else make())
        names.append(draw.choice(good_names) if draw.random() < 0.01 else name)
    return pa.Table.from_arrays(columns, names)


good_names = ["v", "time", "type", "", "é", "V", "because", "final"]
_ODD = [
    None,
    0,
    1,
    -1,
    2**63 - 1,
    -(2**63),
    2**63,
    2**80,
    -(2**80),
    1.5,
    float("nan"),
    float("inf"),
    True,
    "",
    "x",
    "1",
    "s",
    "ms",
    "UTC",
    "2024-01-05",
    "0001-01-01",
    "9999-12-31T23:59:59Z",
    LONE,
    "\0",
    b"x",
    [],
    ["X"],
    [1],
    {},
    object,
    dt.datetime.max,
    dt.datetime.min,
    dt.date.max,
    dt.timedelta.max,
    dt.timedelta(1),
    decimal.Decimal(1),
    pd.NaT,
    pd.NA,
    np.int64(3),
    np.datetime64("2024-01-05"),
    np.array([1, 2]),
    "skip",
    "error",
    "9" * 40,
    10**5000,
]
_OPTIONS = [
    "start",
    "until",
    "time_unit",
    "type",
    "time",
    "end",
    "sequence",
    "label",
    "bad_rows",
    "only",
    "zone",
    "facts",
    "max_instances",
    "window",
    "step",
    "ended",
    "because",
    "with_label",
    "strict",
    "require_bounds",
    "timeouts",
    "provisional",
]


def value(draw: random.Random) -> Any:
    """A value that may be anything."""
    return draw.choice(_ODD)


def options(draw: random.Random) -> dict[str, Any]:
    """Options of ``detect``: mostly good ones."""
    out: dict[str, Any] = {}
    if draw.random() < 0.7:
        out["time_unit"] = draw.choice(["us", "ms", "s", "d"])
    if draw.random() < 0.7:
        out["bad_rows"] = "skip"
    for name in ("start", "until"):
        if draw.random() < 0.15:
            out[name] = draw.choice([0, 3, 8, *_GREAT])
    for name in ("because", "with_label"):
        out[name] = draw.random() < 0.3
    if draw.random() < 0.3:
        out["ended"] = False
    if draw.random() < 0.15:
        out[draw.choice(_OPTIONS)] = value(draw)
    return out


def _row(draw: random.Random) -> bytes:
    made: dict[str, Any] = {"type": draw.choice("AABC"), "time": draw.randrange(9), "v": draw.randrange(3), "s": "x"}
    for _ in range(draw.choice([0, 0, 1, 2])):
        name = draw.choice([*made, "end", "sequence", "label", "f", "b", "t", "extra", "é"])
        made[name] = draw.choice(
            [
                None,
                True,
                1,
                2**63,
                10**40,
                1.5,
                1e308,
                float("nan"),
                float("inf"),
                "",
                LONE,
                "\0",
                "x",
                "2024-01-05",
                [],
                [1],
                [[]],
                ["x", 1],
                {},
                {"a": {"b": [1]}},
                [{"a": 1}, {"a": "x"}],
            ]
        )
    text = json.dumps(made).encode()
    if draw.random() < 0.08:
        depth = draw.choice([99, 100, 101, 1_000, 2_000, 30_000])
        opening, closing = draw.choice([(b"[", b"]"), (b'{"a":', b"}")])
        deep = opening * depth + b"1" + closing * draw.choice([depth, depth, depth - 1, 0])
        text = text[:-1] + b', "' + draw.choice([b"v", b"extra", b"type", b"time"]) + b'": ' + deep + b"}"
    return text


def mutated(draw: random.Random, data: bytes) -> bytes:
    """Bytes with some changed, left out or doubled; no line feeds are made or lost."""
    out = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5])):
        if not out:
            break
        at = draw.randrange(len(out))
        if out[at] == 10:
            continue
        match draw.randrange(3):
            case 0:
                out[at] = draw.choice(b'\0\t "[]{},:\\\xff\xc3x0-e')
            case 1:
                del out[at]
            case _:
                out.insert(at, out[at])
    return bytes(out)


def json_lines(draw: random.Random) -> tuple[bytes, int]:
    """A file of JSON lines, and how many of its lines are not blank."""
    lines = [_row(draw) for _ in range(draw.choice([0, 1, 3, 8]))]
    lines = [mutated(draw, line) if draw.random() < 0.2 else line for line in lines]
    lines = [
        draw.choice([b"[]", b"1", b'"x"', b"null", b"{}", b"nonsense"]) if draw.random() < 0.05 else x for x in lines
    ]
    lines = [b"" if draw.random() < 0.05 else line for line in lines]
    # the first line must not begin as an array: then the file is one
    if lines and lines[0].lstrip()[:1] == b"[":
        lines[0] = b"{}"
    ends = draw.choice([b"\n", b"\n", b"\r\n"])
    return ends.join(lines) + draw.choice([b"", ends]), sum(bool(line.strip(b" \t\r\n\f\v")) for line in lines)


def csv_lines(draw: random.Random) -> tuple[bytes, int]:
    """A CSV file without quotes, and how many lines it has below the header."""
    names = [
        "type",
        "time",
        "v",
        "s",
        *draw.sample(["end", "sequence", "label", "f", "b", "t", "extra"], draw.randrange(3)),
    ]
    cells = [
        "A",
        "B",
        "1",
        "2",
        "3",
        "",
        "x",
        "1.5",
        "nan",
        "inf",
        "1e400",
        "true",
        "9" * 30,
        "2024-01-05T09:00:00Z",
        "12:30",
    ]
    lines = [",".join(names).encode()]
    for _ in range(draw.choice([0, 1, 3, 8])):
        row = [
            draw.choice("AB"),
            str(draw.randrange(9)),
            str(draw.randrange(3)),
            *(draw.choice("xy") for _ in names[3:]),
        ]
        row = [draw.choice(cells) if draw.random() < 0.1 else c for c in row][
            : draw.choice([None, None, None, None, 2])
        ]
        line = ",".join(row).encode()
        if draw.random() < 0.1:
            line = line[:-1] + draw.choice([b"\xff", b"\0", b",", b",,"])
        lines.append(line)
    return b"\n".join(lines) + b"\n", len(lines) - 1


def parquet(draw: random.Random) -> bytes:
    """A Parquet file, often a torn one; empty where Parquet has no such type."""
    sink = io.BytesIO()
    try:
        pq.write_table(table(draw), sink)
    except (pa.ArrowException, ValueError):
        return b""
    data = sink.getvalue()
    if draw.random() < 0.3:
        return data[: draw.randrange(len(data))]
    return mutated(draw, data) if draw.random() < 0.3 else data
