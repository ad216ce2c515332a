"""CSV: an empty field is null, ``""`` is the empty text; column types are inferred from the whole column."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from occurs.connect.places import Place, decodes
from occurs.errors import InputProblem
from occurs.model.attribute_types import fit
from occurs.model.source import ENCODING, InputOptions, Source, is_utf8
from occurs.model.types import Type

#: how long threads of Arrow are waited for, in seconds
PATIENCE = 2.0


def read_csv(place: Place, texts: Collection[str], options: InputOptions) -> Source:
    """One file with a header line, its columns and its encoding as ``options`` say.

    ``texts``: columns that some declared type wants as text, kept as written beside what they were inferred to be.
    Lines with too few or too many fields are the source's ``torn`` rows; rows count from 1 below the header.
    """
    torn: list[csv.InvalidRow] = []
    misfits: dict[str, dict[int, str]] = {}
    content = _Content.of(place, options)
    path, name = place.name, place.type
    try:
        table = _read(content, torn)
    except pa.ArrowInvalid as error:
        if str(error).removeprefix("CSV parse error: ").startswith("Empty CSV file"):
            raise InputProblem.of(
                "missing-column",
                "the file is empty and has no header line",
                file=path,
                hint="write a header line; a file with only a header is an empty history",
            ) from None
        if "conversion error" not in str(error):
            raise
        # types are inferred from the first block of a file, and a later one did not agree: see the columns as a whole
        torn.clear()
        header = _header(content)
        if len(set(header)) < len(header):
            raise InputProblem.of(
                "duplicate-name", f"two columns are called `{_twice(header)}`", file=path
            ) from None
        table = _read(content, torn, dict.fromkeys(header, pa.binary()))
        table, misfits = _as_utf8(table)
        table = pa.table([_infer(c) for c in table.columns], names=table.column_names)
    if torn:  # only one thread knows the numbers of the rows it leaves out
        torn.clear()
        text = pa.string()
        table = _read(
            content, torn, {f.name: pa.binary() if f.type == text else f.type for f in table.schema}, threads=False
        )
    table, found = _as_utf8(table)
    for column in found:  # the others of the column decide its type
        table = table.set_column(table.column_names.index(column), column, _infer(table[column]))
    misfits |= found
    spelled = {
        f.name for f in table.schema if (f.name in texts and not pa.types.is_string(f.type)) or pa.types.is_time(f.type)
    }
    as_text = {}
    if spelled:
        whole, _ = _as_utf8(_read(content, [], dict.fromkeys(spelled, pa.binary()), only=sorted(spelled)))
        as_text = {c: whole[c] for c in sorted(spelled)}
        for at, field in enumerate(table.schema):
            if pa.types.is_time(field.type):  # a time of day is no type of ours
                table = table.set_column(at, field.name, as_text[field.name])
    rows = None
    if torn:
        gone = np.array([r.number - 1 for r in torn])  # numbered from the header line, which is 1
        rows = np.setdiff1d(np.arange(1, len(table) + len(torn) + 1), gone)
    pairs = [(r.number - 1, r.text) for r in torn]
    hint = ENCODING if content.bytewise else _looks_like(table.column_names, options.delimiter)
    return Source(table, name, path, rows, text=True, as_text=as_text, torn=pairs, misfits=misfits, hint=hint)


def _looks_like(header: list[str], delimiter: str) -> str | None:
    """What the header line looks like, if not like the names of columns."""
    if header and header[0].lstrip().startswith("{"):
        return "the file looks like JSON lines; use --format jsonl"
    found = [d for d in (",", ";", "\t", "|") if d != delimiter and len(header) == 1 and d in header[0]]
    named = {"\t": "a tab", ",": "a comma", ";": "a semicolon", "|": "a bar"}
    return f"the columns seem to be separated by {named[found[0]]}; use --delimiter {found[0]!r}" if found else None


@dataclass(frozen=True)
class _Content:
    """What is in a file.  ``bytewise``: it is not UTF-8, and each byte stands as one character, so that Arrow reads it
    and can name the rows that it leaves out."""

    data: pa.Buffer
    bytewise: bool
    delimiter: str

    @classmethod
    def of(cls, place: Place, options: InputOptions) -> _Content:
        if not is_utf8(options.encoding):
            return cls(pa.py_buffer(place.content().decode(options.encoding).encode()), False, options.delimiter)
        if place.packed is None and place.data is None and place.path.is_file() and place.size:
            data = pa.memory_map(str(place.path)).read_buffer()
        else:
            data = pa.py_buffer(place.content())
        offsets = pa.py_buffer(np.array([0, len(data)], np.int64))
        try:
            pa.LargeBinaryArray.from_buffers(pa.large_binary(), 1, [None, offsets, data]).cast(pa.large_string())
        except pa.ArrowInvalid:
            return cls(pa.py_buffer(_shown(data.to_pybytes()).encode()), True, options.delimiter)
        return cls(data, False, options.delimiter)

    def parsing(self, handler: Callable[[csv.InvalidRow], str] | None = None) -> csv.ParseOptions:
        return csv.ParseOptions(newlines_in_values=True, delimiter=self.delimiter, invalid_row_handler=handler)

    def table(self, found: pa.Table) -> pa.Table:
        """A table of the content with the bytes that the file has; text where all of a column is UTF-8."""
        if not self.bytewise:
            return found
        columns = []
        for column in found.columns:
            if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
                text = column.cast(pa.string()).to_pylist()
                column = pa.chunked_array([pa.array([None if v is None else _bytes(v) for v in text], pa.binary())])
                column = (
                    column if any(v is not None and not decodes(_bytes(v)) for v in text) else column.cast(pa.string())
                )
            columns.append(column)
        return pa.table(columns, names=[self.name(n) for n in found.column_names])

    def name(self, found: str) -> str:
        """The name of a column.  Raises UnicodeDecodeError."""
        return _bytes(found).decode() if self.bytewise else found

    def spelled(self, name: str) -> str:
        """The name of a column as Arrow finds it."""
        return _shown(name.encode()) if self.bytewise else name


def _shown(data: bytes) -> str:
    """Bytes as characters, one each."""
    return data.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def _read(
    content: _Content,
    torn: list[csv.InvalidRow],
    types: dict[str, pa.DataType] | None = None,
    *,
    threads: bool = True,
    only: list[str] | None = None,
) -> pa.Table:
    def note(row: csv.InvalidRow) -> str:
        text = _bytes(row.text).decode(errors="backslashreplace") if content.bytewise else row.text
        torn.append(row._replace(text=text))
        return "skip"

    held = sys.getrefcount(note)
    try:
        found = csv.read_csv(
            pa.BufferReader(content.data),
            read_options=csv.ReadOptions(use_threads=threads, block_size=1 << 24),
            parse_options=content.parsing(note),
            convert_options=csv.ConvertOptions(
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                column_types=None if types is None else {content.spelled(n): t for n, t in types.items()},
                include_columns=None if only is None else [content.spelled(n) for n in only],
            ),
        )
        return content.table(found)
    finally:
        _let_go(note, held)


def _let_go(handler: object, held: int) -> None:
    """Wait until no thread of Arrow holds the handler any more.

    One that gives it back when Python has begun to end would take the whole process down.
    """
    until = time.monotonic() + PATIENCE
    while sys.getrefcount(handler) > held + 1 and time.monotonic() < until:
        time.sleep(0.0005)


def _header(content: _Content) -> list[str]:
    with csv.open_csv(pa.BufferReader(content.data), parse_options=content.parsing()) as reader:
        return [content.name(n) for n in reader.schema.names]


def _infer(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """The first of int, float, bool, timestamp that holds all values; else text."""
    if text.null_count == len(text):
        return pa.chunked_array([pa.nulls(len(text))])
    for t in (Type.INT, Type.FLOAT, Type.BOOL, Type.TIMESTAMP):
        found = fit(text, t, text=True)
        if found is not None and found.null_count == text.null_count:
            return found
    return text


def _twice(names: list[str]) -> str:
    return next(n for i, n in enumerate(names) if n in names[:i])


def _as_utf8(table: pa.Table) -> tuple[pa.Table, dict[str, dict[int, str]]]:
    """Columns of bytes as text, null where they are not UTF-8; and these: column -> index of a row -> the bytes."""
    misfits = {}
    for at, field in enumerate(table.schema):
        if not pa.types.is_binary(field.type):
            continue
        column = table.column(at)
        try:
            text = column.cast(pa.string())
        except pa.ArrowInvalid:
            values = column.to_pylist()
            strange = [i for i, v in enumerate(values) if v is not None and not decodes(v)]
            wrong = {i: f"{values[i]!r}, not UTF-8," for i in strange}
            text = pa.chunked_array([pa.array([None if i in wrong else v for i, v in enumerate(values)], pa.string())])
            misfits[field.name] = wrong
        table = table.set_column(at, field.name, text)
    return table, misfits
