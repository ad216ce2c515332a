"""Detections to files: ``.jsonl``, ``.csv``, ``.parquet``, or a directory with one Parquet file per type."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from occurs.connect.atomic_files import Whole, writing
from occurs.connect.places import format_of, user_path
from occurs.errors import ResourceProblem, UsageProblem
from occurs.model.astext import json_text, plain_text
from occurs.model.types import arrow_type, from_arrow, widen

#: rows written at a time
BLOCK = 65_536

Tables = Mapping[str, pa.Table]


def in_order(table: pa.Table) -> pa.Table:
    """By query if there are queries, by time, then by the other columns: what Spark finds comes in no order of its own;
    columns may hold nulls, which are first, but an end that is not known is last."""
    table = table.cast(pa.schema([f.with_nullable(True) for f in table.schema]))
    first = [name for name in ("query", "time", "end") if name in table.column_names]
    ticks = table.column(first[0]).cast(pa.int64()).to_numpy()
    if (ticks[1:] > ticks[:-1]).all():  # this key alone decides, as for most types, which have few rows
        return table
    keys = {name: table.column(name) for name in first}
    for number, field in enumerate(table.schema):
        if field.name not in ("type", *first) and not pa.types.is_nested(field.type):
            keys[f"valid {number}"], keys[f"value {number}"] = pc.is_valid(table.column(number)), table.column(number)
    return table.take(pc.sort_indices(pa.table(keys), sort_keys=[(name, "ascending") for name in keys]))


def check_target(path: str, option: str = "--out") -> None:
    """Find out before any work if nothing can be written there.

    Raises UsageProblem (an unknown suffix, or no such directory) and ResourceProblem (no right to write).
    """
    target = user_path(path, option)
    if target.suffix and not target.is_dir() and format_of(target) is None:
        hint = "use .jsonl, .csv or .parquet, or a path without a suffix: a directory with one Parquet file per type"
        text = f"{option} {path}: unsupported output format `{target.suffix}`"
        raise UsageProblem.of("unknown-format", text, hint=hint)
    if not target.parent.is_dir():
        raise UsageProblem.of("missing-file", f"{option} {path}: there is no directory {target.parent}")
    kind = format_of(target)
    if kind is not None and target.is_dir():
        raise ResourceProblem.of("cannot-write", f"{option} {path}: a directory of that name exists")
    if kind is None and target.exists() and not target.is_dir():
        raise ResourceProblem.of("cannot-write", f"{option} {path}: it is a file without a suffix, not a directory")
    if not os.access(target if target.is_dir() else target.parent, os.W_OK | os.X_OK):
        raise ResourceProblem.of("cannot-write", f"{option} {path}: no permission to write")


def write(path: str, tables: Tables, option: str = "--out") -> None:
    """Write all rows of ``tables`` (type -> table, in evaluation order) to ``path``, each with its ``type`` first.

    In one file the rows of all types are merged by time.  A file appears whole or not at all.  Raises ResourceProblem
    if it cannot be written, UsageProblem (``schema-conflict``) if two types' columns cannot be in one Parquet file.
    """
    check_target(path, option)
    target = user_path(path, option)
    kind = format_of(target)
    with writing(path):
        if kind is None:
            target.mkdir(exist_ok=True)
            for name, table in tables.items():
                with Whole(target / f"{quote(name, safe=' ')}.parquet") as out:
                    _put_parquet(typed(name, table), out)
            return
        with Whole(target) as file, _packed(file, target) as out:
            write_to(out, kind, tables)


def write_to(out: IO[bytes], kind: str, tables: Tables) -> None:
    """All rows, merged by time, as ``csv``, ``json`` or ``parquet``.  Raises UsageProblem (``schema-conflict``)."""
    if kind == "parquet":
        _put_parquet(one_table(tables), out)
        return
    for text in csv_blocks(tables) if kind == "csv" else json_blocks(tables):
        out.write(text.encode())


def _packed(file: IO[bytes], path: Path) -> AbstractContextManager[IO[bytes]]:
    """What is written goes to ``file``, packed as the suffix of ``path`` says."""
    suffix = path.suffix.lower()
    if suffix == ".gz":  # without a time of its own: the same rows are the same bytes
        return gzip.GzipFile(fileobj=file, mode="wb", mtime=0)  # type: ignore[return-value]
    if suffix == ".zst":
        return pa.CompressedOutputStream(pa.PythonFile(file, "w"), "zstd")
    return nullcontext(file)


def write_rows(path: str, table: pa.Table | None, option: str = "--bad") -> None:
    """Rows that are no events, such as bad ones: their columns and nothing else; None: an empty table."""
    check_target(path, option)
    target = user_path(path, option)
    table = pa.table({"reason": pa.array([], pa.string())}) if table is None else table
    kind = format_of(target)
    with writing(path):
        if kind is None:
            target.mkdir(exist_ok=True)
            target, kind = target / "rows.parquet", "parquet"
        with Whole(target) as file, _packed(file, target) as out:
            write_rows_to(out, kind, table)


def _put_parquet(table: pa.Table, out: IO[bytes]) -> None:
    import pyarrow.parquet as pq  # takes a while, and is rarely asked for

    pq.write_table(table, out)


def write_rows_to(out: IO[bytes], kind: str, table: pa.Table) -> None:
    """Rows that are no events, as ``csv``, ``json`` or ``parquet``."""
    if kind == "parquet":
        _put_parquet(table, out)
        return
    if kind == "csv":
        out.write((",".join(table.column_names) + "\n").encode())
    lines = _csv_lines(None, table, table.column_names) if kind == "csv" else _json_lines(None, table)
    for text in _text(lines):
        out.write(text.encode())


def json_blocks(tables: Tables) -> Iterator[str]:
    """JSON lines in blocks: every row has the columns of its own type."""
    yield from _merged(tables, {name: _json_lines(name, table) for name, table in tables.items()})


def json_rows(table: pa.Table, name: str | None = None) -> pa.ChunkedArray:
    """Every row as a JSON object: one text each; with a ``name`` as the event type in front."""
    return _json_lines(name, table)


def csv_blocks(tables: Tables) -> Iterator[str]:
    """A header line with the columns of all types, then the rows in blocks; null is an empty field, ``""`` is text."""
    columns = _columns(tables)
    yield ",".join(_csv_field(_column([c]))[0].as_py() for c in ["type", *columns]) + "\n"
    yield from _merged(tables, {name: _csv_lines(name, table, columns) for name, table in tables.items()})


def _json_lines(name: str | None, table: pa.Table) -> pa.ChunkedArray:
    if not len(table):
        return _column([])
    values = {} if name is None else {"type": pa.scalar(json_text(_column([name]))[0].as_py())}
    values |= {c: json_text(table[c]) for c in table.column_names if c not in values}
    parts: list[object] = []
    for key, value in values.items():
        parts += [(", " if parts else "{") + json_text(_column([key]))[0].as_py() + ": ", value]
    return pc.binary_join_element_wise(*parts, "}", "")


def _csv_lines(name: str | None, table: pa.Table, columns: list[str]) -> pa.ChunkedArray:
    if not len(table):
        return _column([])
    parts: list[object] = [] if name is None else [pa.scalar(_csv_field(_column([name]))[0].as_py())]
    own = set(table.column_names)
    for column in columns:
        known = column in own
        parts.append(pc.fill_null(_csv_field(plain_text(table[column])), "") if known else pa.scalar(""))
    return pc.binary_join_element_wise(*parts, ",")


def _column(values: list[str]) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(values, pa.string())])


def _csv_field(text: pa.ChunkedArray) -> pa.ChunkedArray:
    special = pc.or_(pc.match_substring_regex(text, r'[",\r\n]|^\s|\s$'), pc.equal(text, ""))
    if not pc.any(special).as_py():
        return text
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
    return pc.if_else(special, quoted, text)


def _merged(tables: Tables, texts: Mapping[str, pa.ChunkedArray]) -> Iterator[str]:
    """The lines of all types, merged by time, in blocks of text."""
    used = [name for name in texts if len(texts[name])]
    lines = pa.chunked_array([c for name in used for c in texts[name].chunks], pa.string())
    if len(used) > 1:
        lines = lines.take(_by_time([tables[name] for name in used]))
    yield from _text(lines)


def _text(lines: pa.ChunkedArray) -> Iterator[str]:
    for start in range(0, len(lines), BLOCK):
        yield "\n".join(lines.slice(start, BLOCK).to_pylist()) + "\n"


def _by_time(tables: list[pa.Table]) -> pa.Array:
    """The order of all rows by time, before that by query where there are queries; stable, so rows of one time stay in
    evaluation order."""
    keys = [k for k in ("query", "time") if all(k in t.column_names for t in tables)]
    columns = {k: pa.chunked_array([c for t in tables for c in t[k].chunks]) for k in keys}
    return pc.sort_indices(pa.table(columns), sort_keys=[(k, "ascending") for k in keys])


def _columns(tables: Tables) -> list[str]:
    """``time``, ``end``, the attributes of all types in their order, then what was asked for."""
    names = [n for n in dict.fromkeys(n for t in tables.values() for n in t.column_names) if n != "type"]
    last = [n for n in ("query", "about", "final", "label", "because") if n in names]
    first = [n for n in ("time", "end") if n in names]
    return first + [n for n in names if n not in first and n not in last] + last


def one_table(tables: Tables) -> pa.Table:
    """The rows of all types in one table, merged by time, with the columns of all; nulls where a type has none.

    Raises UsageProblem (``schema-conflict``) if two types' columns of one name differ.
    """
    columns = _columns(tables)
    common = _common(tables)
    parts = []
    for name, table in tables.items():
        part = typed(name, table)
        for at, column in enumerate(part.schema):
            other = common[column.name]
            if other != column.type:
                part = part.set_column(at, column.name, part[column.name].cast(other))
        parts.append(part)
    if not parts:
        return pa.table({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64())})
    whole = pa.concat_tables(parts, promote_options="default").select(["type", *columns])
    return whole.take(_by_time([whole])) if len(parts) > 1 else whole


def _common(tables: Tables) -> dict[str, pa.DataType]:
    """The one type of every column, which several tables may have."""
    kinds: dict[str, dict[pa.DataType, None]] = {}
    for table in tables.values():
        for field in table.schema:
            kinds.setdefault(field.name, {})[field.type] = None
    return {**{column: _widest(column, list(types)) for column, types in kinds.items()}, "type": pa.string()}


def _widest(column: str, types: list[pa.DataType]) -> pa.DataType:
    """The one type that all values of a column have, which has these in several tables."""
    if column == "type" or len(types) == 1:
        return types[0]
    a = from_arrow(types[0])
    for t in types[1:]:
        b = from_arrow(t)
        a = widen(a, b) if a is not None and b is not None else None
    if a is None:
        text = f"column `{column}` has different types in the event types: {', '.join(map(str, types))}"
        raise UsageProblem.of("schema-conflict", text, hint="write to a directory, one file per type")
    return arrow_type(a)


def typed(name: str, table: pa.Table) -> pa.Table:
    """With the column ``type``, and as Parquet takes it: what is of several types as text."""
    for at, field in enumerate(table.schema):
        if pa.types.is_union(field.type):
            table = table.set_column(at, field.name, plain_text(table.column(at)))
    if "type" in table.column_names:
        return table
    return table.add_column(0, "type", pa.array([name] * len(table), pa.string()))
