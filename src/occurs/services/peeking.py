"""A look at the head of files of events: their types, their first rows, what is wrong with them."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from occurs.connect.files import read_place, unreadable
from occurs.connect.lines import line_numbers
from occurs.connect.places import Place
from occurs.errors import InputProblem, OccursError, Problem
from occurs.model.astext import plain_text
from occurs.model.history import History, normalise
from occurs.model.source import InputOptions, Source, source_and_row
from occurs.model.values import python_values
from occurs.services.answers import Peeked, PeekedRow, PeekedType
from occurs.services.checks import told
from occurs.services.events import RunOptions, files_of

#: bytes of a file that are read, and files
HEAD, FILES = 1 << 20, 50
#: bytes that are read of the end of a longer file, for its latest times
TAIL = 1 << 16
#: rows of Parquet that are read
_BATCH = 10_000


def peek(events: Sequence[str], options: Mapping[str, Any] | None = None, rows: int = 100) -> Peeked:
    """Look at files of events, of which only the first megabyte is read.

    Args:
        events: ``PATH`` or ``TYPE=PATH``, below the working directory.
        options: Options of :meth:`occurs.Program.detect` that describe the input, and ``delimiter``, ``encoding``,
            ``format``.
        rows: The most rows to show.

    Returns:
        The types, the first rows of every file, and the problems: bad rows are warnings if the options skip them.
        Times of longer files are those of their beginning and their end.

    Examples:
        >>> import os, pathlib, tempfile
        >>> here = os.getcwd()
        >>> os.chdir(tempfile.mkdtemp())
        >>> _ = pathlib.Path("rows.csv").write_text("type,time,v\\nA,1,7\\n")
        >>> found = peek(["rows.csv"], {"time_unit": "s"})
        >>> os.chdir(here)
        >>> found.types[0].name, found.types[0].schema, found.rows[0].values
        ('A', {'v': 'int'}, {'v': 7})
    """
    try:
        given = RunOptions(options or {}).input
        files = files_of(events, given)
    except OccursError as error:
        return Peeked((), (), tuple(told(error.problems)))
    problems: list[Problem] = []
    heads: list[_Head] = []
    for place in files[:FILES]:
        try:
            heads += _heads(place, given)
        except InputProblem as error:
            problems += error.problems
    whole = len(files) <= FILES and all(head.whole for head in heads)
    history = _history([h.source for h in heads], given, problems)
    if history is None:  # one by one, so that a bad file hides no good one
        good = [h for h in heads if _history([h.source], given, []) is not None]
        heads, whole = good, False
        history = _history([h.source for h in heads], given, [])
    if history is None:
        return Peeked((), (), tuple(told(replace(p, value=None) for p in problems)))
    ends = None if whole else _history([s for place in files[:FILES] for s in _tail(place, given)], given, [])
    latest = history.tables if whole else _latest(history, ends)
    types = tuple(_type(n, table, history, whole, latest.get(n)) for n, table in history.tables.items() if len(table))
    each = max(1, rows // max(1, len(heads)))
    shown = [row for number, head in enumerate(heads) for row in _rows(number, head, history, each)]
    return Peeked(types, tuple(shown[:rows]), tuple(told(replace(p, value=None) for p in problems)))


def heads(events: Sequence[str], options: Mapping[str, Any] | None = None) -> list[Source]:
    """The first megabyte of files of events, read: enough to know their columns.

    Raises InputProblem and UsageProblem.
    """
    given = RunOptions(options or {}).input
    return [source for place in files_of(events, given)[:FILES] for source in head_of(place, given)]


def head_of(place: Place, options: InputOptions) -> list[Source]:
    """The first megabyte of a file, read.  Raises InputProblem."""
    return [head.source for head in _heads(place, options)]


class _Head:
    """The beginning of a file, read; ``whole``: it is all of the file."""

    def __init__(self, source: Source, lines: np.ndarray | None, whole: bool) -> None:
        self.source, self.lines, self.whole = source, lines, whole


def _heads(place: Place, options: InputOptions) -> list[_Head]:
    if place.format == "parquet":
        source, whole = _parquet(place)
        return [_Head(source, None, whole)]
    try:
        data, whole = _bytes(place)
    except (OSError, EOFError, zlib.error, pa.ArrowException) as error:
        raise unreadable(place.path, str(error)) from error
    head = replace(place, data=data)
    array = place.format == "json" and data[:64].lstrip()[:1] == b"["
    if not whole:
        head = replace(head, data=_items(data) if array else _lines(data))
    sources = read_place(head, {}, options)
    out = [_Head(source, None if array else line_numbers(head, source, options), whole) for source in sources]
    if not whole:  # the last record may have been cut
        last = max((number for head in out for number, _ in head.source.torn), default=0)
        for one in out:
            below = max((int(h.lines[-1]) for h in out if h.lines is not None and len(h.lines)), default=last)
            one.source = replace(one.source, torn=[t for t in one.source.torn if t[0] != last or t[0] < below])
    return out


def _bytes(place: Place) -> tuple[bytes, bool]:
    """The first bytes of a file, unpacked, and whether they are all."""
    if place.packed == ".gz":
        with gzip.open(place.path) as file:
            data = file.read(HEAD + 1)
    elif place.packed == ".zst":
        with pa.CompressedInputStream(pa.OSFile(str(place.path)), "zstd") as stream:
            data = bytes(stream.read(HEAD + 1))
    else:
        with place.path.open("rb") as file:
            data = file.read(HEAD + 1)
    return data[:HEAD], len(data) <= HEAD


def _lines(data: bytes) -> bytes:
    """The whole lines of a head."""
    return data[: data.rfind(b"\n") + 1] or data


def _items(data: bytes) -> bytes:
    """The whole items of the head of a JSON array, one a line."""
    text, decoder, out = data.decode(errors="ignore"), json.JSONDecoder(), io.StringIO()
    at = text.index("[") + 1
    while True:
        at += len(text) - at - len(text[at:].lstrip(" \t\r\n,"))
        try:
            item, at = decoder.raw_decode(text, at)
        except ValueError:
            return out.getvalue().encode()
        out.write(json.dumps(item) + "\n")


def _parquet(place: Place) -> tuple[Source, bool]:
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(place.path) as file:
            batch = next(file.iter_batches(batch_size=_BATCH), None)
            table = file.schema_arrow.empty_table() if batch is None else pa.Table.from_batches([batch])
            return Source(table, place.type, str(place.path)), len(table) == file.metadata.num_rows
    except (pa.ArrowException, OSError, EOFError) as error:
        raise unreadable(place.path, str(error)) from error


def _tail(place: Place, options: InputOptions) -> list[Source]:
    """The end of a file that is longer than its head, read; nothing if it cannot be read by itself."""
    try:
        if place.format == "parquet":
            return _last_rows(place)
        size = place.path.stat().st_size
        if place.packed is not None or size <= HEAD:
            return []
        with place.path.open("rb") as file:
            first = file.readline(HEAD)
            file.seek(max(len(first), size - TAIL) - 1)  # the sign before may end a line
            end = file.read(TAIL + 1)
        lines = end[end.find(b"\n") + 1 :]
        return read_place(replace(place, data=first + lines if place.format == "csv" else lines), {}, options)
    except (OccursError, OSError, pa.ArrowException):
        return []


def _last_rows(place: Place) -> list[Source]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(place.path) as file:
        if file.metadata.num_rows <= _BATCH:
            return []
        table = file.read_row_group(file.num_row_groups - 1)
        return [Source(table.slice(max(0, len(table) - _BATCH)), place.type, str(place.path))]


def _latest(history: History, ends: History | None) -> dict[str, pa.Table]:
    """By type the rows of heads and ends, where their times are of one kind."""
    if ends is None or ends.kind != history.kind:
        return {}
    tables = {name: table for name, table in ends.tables.items() if name in history.tables and len(table)}
    times = {name: (history.tables[name]["time"], table["time"]) for name, table in tables.items()}
    return {n: pa.table({"time": pa.chunked_array([*a.chunks, *b.chunks])}) for n, (a, b) in times.items()}


def _history(sources: list[Source], options: InputOptions, problems: list[Problem]) -> History | None:
    """The heads as events, without bad rows, which are ``problems``; None if they cannot be read."""
    skipped = options.bad_rows == "skip"
    try:
        return normalise(sources, options=replace(options, bad_rows="error", places=True))
    except InputProblem as error:
        found = error.problems
    except OccursError as error:
        problems += error.problems
        return None
    try:
        history = normalise(sources, options=replace(options, bad_rows="skip", places=True))
    except OccursError:
        history = None
    warned = history is not None and skipped
    problems += [replace(p, severity="warning") if warned else p for p in found]
    return history


def _type(name: str, table: pa.Table, history: History, whole: bool, latest: pa.Table | None) -> PeekedType:
    """``latest``: rows of which the greatest time is the last one, as far as that is known."""
    schema = {n: str(t) for n, t in history.schemas[name]}
    first = _times(pa.compute.sort_indices(table["time"])[:1], table["time"], history)[0]
    last = None
    if latest is not None:
        last = _times(pa.compute.sort_indices(latest["time"])[-1:], latest["time"], history)[0]
    return PeekedType(name, schema, len(table) if whole else None, first, last)


def _times(at: pa.Array, column: pa.ChunkedArray, history: History) -> list[Any]:
    """Times as people see them."""
    found = column.take(at)
    if not history.kind.timestamp:
        return list(found.to_pylist())
    return list(plain_text(found.cast(pa.timestamp("us", tz="UTC"))).to_pylist())


def _rows(number: int, head: _Head, history: History, most: int) -> list[PeekedRow]:
    """The first rows of a file, in their order."""
    out: list[tuple[int, PeekedRow]] = []
    for name, table in history.tables.items():
        source, row = source_and_row(history.places[name])
        mine = np.flatnonzero(source == number)
        mine = mine[np.argsort(row[mine], kind="stable")][:most]
        part = table.take(pa.array(mine))
        every = pa.array(np.arange(len(part)))
        time = _times(every, part["time"], history)
        end = _times(every, part["end"], history) if "end" in part.column_names else [None] * len(part)
        names = [n for n in part.column_names if n not in ("time", "end")]
        values = {n: python_values(part[n]) for n in names}
        for i, at in enumerate(row[mine].tolist()):
            line = None if head.lines is None else int(head.lines[at])
            place = at + 1 if head.source.rows is None else int(head.source.rows[at])
            shown = {n: v[i] for n, v in values.items()}
            out.append((at, PeekedRow(name, time[i], end[i], shown, head.source.file, line, place)))
    return [row for _, row in sorted(out, key=lambda one: one[0])[:most]]
