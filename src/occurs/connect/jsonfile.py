"""JSON lines: one object per line, columns typed per event type; a missing key is null, a torn line a bad row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from occurs.connect.places import Place, decodes
from occurs.errors import InputProblem
from occurs.model.lists import fit_lists, list_type, one_by_one, times_as
from occurs.model.nesting import DEEPEST, depths, too_deep
from occurs.model.nesting import read_json as loads
from occurs.model.source import ENCODING, InputOptions, Source, is_utf8
from occurs.model.types import Schema, Type, arrow_type, json_type
from occurs.model.values import flattened, is_text, plain_layout

#: lines whose nesting is measured at once
MEASURED = 2_000
#: what a JSON text is made of, for one that is cut and not parsed; of a text in quotes only the whole
_MARKS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{},]', re.DOTALL)


def read_json(place: Place, options: InputOptions, schemas: Mapping[str, Schema]) -> list[Source]:
    """The sources of one file: one per event type, or one if all rows are of the type of the place.

    Rows are lines, counted from 1.  Columns take the type of their values; where they mix kinds, the declared type or
    else that of the first value decides, and the others are misfits of the source.  Text stays text, whatever it looks
    like.  A file that holds one JSON array is read item by item.
    """
    path, name, type_column, hint = place.name, place.type, options.type, None
    data = place.content()
    if not is_utf8(options.encoding):
        data = data.decode(options.encoding).encode()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data[:64].lstrip()[:1] == b"[":
        data = _items(data, path)
    lines, rows = _lines(data)
    # Arrow's reader skips `null`, and crashes on it in the first line
    good = ~_deep(lines) & pc.match_substring_regex(lines, r"^\s*\{").to_numpy(zero_copy_only=False)
    if not decodes(data):  # Arrow's reader would not mind
        hint = ENCODING
        good &= np.array([decodes(line) for line in lines.to_pylist()], bool)
    strange: list[tuple[int, str]] = []
    if not good.all():
        strange = [(int(rows[i]), _shown(lines[int(i)].as_py())) for i in np.flatnonzero(~good)]
        lines, rows = lines.filter(pa.array(good)), rows[good]
    if not len(lines):
        if strange and not strange[0][1].lstrip().startswith(("{", "[")):
            hint = "the file does not look like JSON lines; if it is CSV, use --format csv"
        return [Source(pa.table({}), name, path, torn=strange, hint=hint)]
    torn: list[tuple[int, str]] = []
    groups: Iterable[tuple[str | None, np.ndarray]]
    if name is not None or type_column is None:
        groups = [(name, np.arange(len(lines)))]
    else:
        groups, torn = _by_type(lines, rows, type_column)
    parts = []
    for kind, at in groups:
        part = lines if len(at) == len(lines) else lines.take(pa.array(at))
        table, misfits, whole = _table(part, schemas.get(kind or ""), options.spelled)
        if not whole.all():
            torn += [(int(rows[i]), _shown(lines[int(i)].as_py())) for i in at[~whole]]
            at = at[whole]
        if len(at):
            parts.append((at, plain_layout(table), misfits))
    out = []
    keys = list(dict.fromkeys(c for _, table, _ in parts for c in table.column_names))
    # what is an object in some lines, and else null, is no column beside those of the object
    objects = {k[:at] for k in keys for at, c in enumerate(k) if c == "."}
    objects -= {f.name for _, table, _ in parts for f in table.schema if not pa.types.is_null(f.type)}
    for at, table, misfits in parts:
        table = table.drop_columns([c for c in table.column_names if c in objects])
        for key in keys:  # a missing key is null, also if all objects of a type lack it
            if key not in table.column_names and key not in objects:
                table = table.append_column(key, pa.nulls(len(table)))
        out.append(Source(table, name, path, rows[at], misfits=misfits))
    torn = sorted(torn + strange)
    if torn:
        first = out[0] if out else Source(pa.table({}), name, path)
        out[:1] = [replace(first, torn=torn, hint=hint)]
    return out


def _items(data: bytes, path: str) -> bytes:
    """The items of a JSON array, one a line; those that nest too deep as they are written."""
    if too_deep(data):
        return b"\n".join(_cut(data))
    try:
        return b"\n".join(json.dumps(item).encode() for item in loads(data))
    except ValueError as error:
        text = f"{path} cannot be read: it starts as a JSON array, but {error}"
        raise InputProblem.of("bad-value", text, file=path) from error


def _cut(data: bytes) -> Iterator[bytes]:
    """The texts between the commas of a JSON array, each on one line, without a look at what is in them."""
    level, begin, parts = 0, data.index(b"[") + 1, []
    for mark in _MARKS.finditer(data):
        if mark[0] in b"[{":
            level += 1
        elif mark[0] in b"]}":
            level -= 1
        if level == (0 if mark[0] == b"]" else 1) and mark[0] in b",]":
            parts.append(data[begin : mark.start()])
            begin = mark.end()
    if data[begin:].strip():  # text behind the array, or the end of one that is not closed
        parts.append(data[begin:])
    for part in parts:  # a blank line would not count as a row
        yield part.replace(b"\n", b" ") if part.strip() else b","


def _deep(lines: pa.LargeBinaryArray) -> np.ndarray:
    """Which lines nest deeper than any parser should go, bool (len(lines))."""
    deep = np.zeros(len(lines), bool)
    # a line that opens few lists and objects cannot be one of them
    long = pc.greater(pc.binary_length(lines), DEEPEST).to_numpy(zero_copy_only=False)
    some = lines if long.all() else lines.filter(pa.array(long))
    opened = pc.add(pc.count_substring(some, "["), pc.count_substring(some, "{"))
    suspect = np.flatnonzero(long)[pc.greater(opened, DEEPEST).to_numpy(zero_copy_only=False)]
    for at in range(0, len(suspect), MEASURED):
        part = suspect[at : at + MEASURED]
        deep[part] = depths(_join(lines.take(pa.array(part))).to_pybytes()) > DEEPEST
    return deep


def _shown(line: bytes) -> str:
    return line.decode(errors="backslashreplace").strip()


def _lines(data: bytes) -> tuple[pa.LargeBinaryArray, np.ndarray]:
    """The lines that are not blank, each with its line feed, and their numbers."""
    if data and not data.endswith(b"\n"):
        data += b"\n"
    stops = np.flatnonzero(np.frombuffer(data, np.uint8) == 10) + 1
    offsets = np.concatenate([np.zeros(1, np.int64), stops.astype(np.int64)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    lines = pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(stops), buffers)
    blank = pc.match_substring_regex(lines, r"^\s*$")
    rows = np.arange(1, len(lines) + 1)
    if pc.any(blank).as_py():
        lines = lines.filter(pc.invert(blank))
        rows = rows[~blank.to_numpy(zero_copy_only=False)]
    return lines, rows


def _join(lines: pa.LargeBinaryArray) -> pa.Buffer:
    """The lines as one text again."""
    offsets = np.frombuffer(lines.buffers()[1], np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return lines.buffers()[2].slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def _fast(text: pa.Buffer, types: Mapping[str, pa.DataType], *, ignore: bool = False) -> pa.Table | None:
    """Arrow's reader; None if it meets anything it cannot read as one table.  One block: types see all of the text."""
    how = pj.ParseOptions(
        explicit_schema=pa.schema(list(types.items())) if types else None,
        unexpected_field_behavior="ignore" if ignore else "infer",
    )
    size = min(len(text) + 1, 2**31 - 1)
    try:
        return pj.read_json(pa.BufferReader(text), read_options=pj.ReadOptions(block_size=size), parse_options=how)
    except pa.ArrowInvalid:
        return None


def _by_type(
    lines: pa.LargeBinaryArray, rows: np.ndarray, column: str
) -> tuple[list[tuple[str | None, np.ndarray]], list[tuple[int, str]]]:
    """Line indices per value of the type column (None: it has none), in order of appearance; and the torn lines."""
    text = _join(lines)
    torn: list[tuple[int, str]] = []
    table = _fast(text, {column: pa.string()}, ignore=True)
    nested = "." in column and table is not None and table[column].null_count == len(table)
    if table is not None and len(table) == len(lines) and not nested:
        codes = table[column].combine_chunks().dictionary_encode()
        codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
        names: list[str | None] = [*codes.dictionary.to_pylist(), None]
        code = codes.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False)
        at = np.arange(len(lines))
    else:
        found, torn, at = _check(lines, rows, column)
        names = list(dict.fromkeys(found))
        number = {n: i for i, n in enumerate(names)}
        code = np.array([number[n] for n in found], np.int64)
    order = np.argsort(code, kind="stable")
    stops = np.searchsorted(code[order], np.arange(len(names) + 1))
    groups = [(n, at[order[stops[i] : stops[i + 1]]]) for i, n in enumerate(names) if stops[i] < stops[i + 1]]
    return groups, torn


def _check(
    lines: pa.LargeBinaryArray, rows: np.ndarray, column: str
) -> tuple[list[str | None], list[tuple[int, str]], np.ndarray]:
    """Line by line: the type of each object, the lines that are none, and the indices of those that are."""
    found: list[str | None] = []
    torn: list[tuple[int, str]] = []
    good: list[int] = []
    for at, line in enumerate(lines.to_pylist()):
        item = _object(line)
        if item is None:
            torn.append((int(rows[at]), _shown(line)))
        else:
            value = flattened(item).get(column)
            found.append(None if value is None else str(value))
            good.append(at)
    return found, torn, np.array(good, np.int64)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        item = json.loads(line)
    except ValueError:
        return None
    return item if isinstance(item, dict) else None


def _table(
    lines: pa.LargeBinaryArray, schema: Schema | None, spelled: frozenset[str]
) -> tuple[pa.Table, dict[str, dict[int, str]], np.ndarray]:
    """The table of some lines; what did not fit: column -> row index -> the value as JSON; and which lines are objects,
    bool (len(lines)): the others have no row."""
    texts = _nested(n for n, t in schema or () if t is Type.STRING)
    table = _fast(_join(lines), texts)
    times = {} if table is None else {f.name: t for f in table.schema if (t := times_as(pa.string(), f.type)) != f.type}
    if table is not None:
        there = set(plain_layout(table.slice(0, 0)).column_names)
        times |= _nested(spelled & there)
    if times:
        texts |= times
        table = _fast(_join(lines), texts)
    if table is not None and len(table) == len(lines):
        missing = [n for n in texts if n not in table.column_names]
        return table.drop_columns(missing) if missing else table, {}, np.ones(len(lines), bool)
    items = [_object(line) for line in lines.to_pylist()]
    objects = [item for item in items if item is not None]
    plain = {name for item in objects for name, value in flattened(item).items() if value is not None}
    plain |= set(() if schema is None else schema.names)
    table, misfits = _slow([flattened(item, plain) for item in objects], schema)
    return table, misfits, np.array([item is not None for item in items], bool)


def _nested(names: Iterable[str]) -> dict[str, pa.DataType]:
    """Columns of text for Arrow's reader; ``a.b`` is the text ``b`` in the object ``a``."""
    out: dict[str, pa.DataType] = {}
    for name in names:
        first, *rest = name.split(".")
        kind: pa.DataType = pa.string()
        for inner in reversed(rest):
            kind = pa.struct([(inner, kind)])
        out[first] = kind if first not in out else _merged(out[first], kind)
    return out


def _merged(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """The fields of two types of objects."""
    if not (pa.types.is_struct(one) and pa.types.is_struct(other)):
        return one
    fields = {f.name: f.type for f in one}
    for f in other:
        fields[f.name] = f.type if f.name not in fields else _merged(fields[f.name], f.type)
    return pa.struct(list(fields.items()))


def _slow(items: list[dict[str, Any]], schema: Schema | None) -> tuple[pa.Table, dict[str, dict[int, str]]]:
    names = list(dict.fromkeys(name for item in items for name in item))
    columns: dict[str, pa.Array] = {}
    misfits: dict[str, dict[int, str]] = {}
    for name in names:
        values = [None if (v := item.get(name)) != v else v for item in items]  # NaN is null
        wanted = schema.get(name) if schema else None
        first = next((v for v in values if v is not None), None)
        if wanted is Type.RECORD or (wanted in (None, Type.NULL) and isinstance(first, list)):
            found = _lists(values, dict(schema.records)[name] if schema and wanted is Type.RECORD else None)
            if found is not None:
                columns[name], wrong = found
                misfits |= {name: wrong} if wrong else {}
            continue
        if wanted is Type.TIMESTAMP:
            wanted = Type.STRING  # as written; the intake reads it
        if wanted is None or wanted is Type.NULL:  # nobody says
            wanted = next((k for v in values if (k := json_type(v)) is not None), None)
            if wanted is Type.INT and any(isinstance(v, float) for v in values):
                wanted = Type.FLOAT
        if wanted is None:
            if all(v is None for v in values):
                columns[name] = pa.nulls(len(values))
            continue  # objects are no values of ours
        fits = [v is None or _fits(v, wanted) for v in values]
        columns[name] = pa.array([v if ok else None for v, ok in zip(values, fits, strict=True)], arrow_type(wanted))
        wrong = {i: _written(values[i]) for i, ok in enumerate(fits) if not ok}
        if wrong:
            misfits[name] = wrong
    if not columns:  # objects without a value of ours are rows all the same
        return pa.table({"": pa.nulls(len(items))}).drop_columns(""), misfits
    return pa.table(columns), misfits


def _lists(values: list[Any], wanted: pa.DataType | None) -> tuple[pa.Array, dict[int, str]] | None:
    """A column of lists of the type ``wanted`` (None: of that which holds them all), and what is no such list; None if
    there is no type that holds them."""
    lists = [v if isinstance(v, list) else None for v in values]
    try:
        kind = wanted or list_type(pa.array(lists).type)
        if kind is None:
            return None
    except (pa.ArrowException, OverflowError):
        return None
    column = fit_lists(pa.chunked_array([pa.array(lists)]), kind) if wanted is None else one_by_one(lists, kind)
    lost = (i for i, v in enumerate(values) if v is not None and not column[i].is_valid)
    return column, {i: _written(values[i]) for i in lost}


def _fits(value: object, wanted: Type) -> bool:
    kind = json_type(value)
    if kind is Type.INT and isinstance(value, int):
        exact = -(2**63) <= value < 2**63
        return exact and (wanted is Type.INT or (wanted is Type.FLOAT and int(float(value)) == value))
    if kind is Type.FLOAT and wanted is Type.INT and isinstance(value, float):
        return value.is_integer() and abs(value) < 2**63
    return kind is wanted and not (isinstance(value, str) and not is_text(value))


def _written(value: object) -> str:
    """As JSON, which can be written wherever it is told."""
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not is_text(value))
