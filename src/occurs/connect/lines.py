"""On which lines of their files rows stand."""

from __future__ import annotations

import mmap

import numpy as np

from occurs.connect.places import Place
from occurs.model.source import InputOptions, Source, is_utf8

#: bytes that are looked at together
_BLOCK = 1 << 26
_LINE_FEED, _RETURN, _QUOTE = 10, 13, 34


def line_numbers(place: Place, source: Source, options: InputOptions) -> np.ndarray | None:
    """The line of each row of a source that was read of a file, from 1; None where rows are no lines (Parquet, an
    array of JSON)."""
    rows = np.arange(1, len(source.table) + 1) if source.rows is None else source.rows
    if place.format == "parquet" or (place.format == "json" and _begins_with_bracket(place)):
        return None
    if place.format == "json":
        return rows
    begins = _record_lines(_data(place, options), len(rows) + len(source.torn))
    return None if begins is None else begins[rows]


def _begins_with_bracket(place: Place) -> bool:
    if place.packed is None and place.data is None:
        with place.path.open("rb") as file:
            head = file.read(64)
    else:
        head = place.content()[:64]
    return head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["


def _data(place: Place, options: InputOptions) -> np.ndarray:
    if not is_utf8(options.encoding):
        return np.frombuffer(place.content().decode(options.encoding).encode(), np.uint8)
    if place.packed is None and place.data is None and place.size:
        with place.path.open("rb") as file:
            return np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    return np.frombuffer(place.content(), np.uint8)


def _record_lines(data: np.ndarray, rows: int) -> np.ndarray | None:
    """The first line of the header (0) and of each of the ``rows`` of CSV; None if the records that quotes make are not
    as many.

    Usually every line is a record; else line feeds within quotes end none, and blank lines are none.
    """
    feeds = [np.flatnonzero(data[i : i + _BLOCK] == _LINE_FEED) + i for i in range(0, len(data), _BLOCK)]
    ends = np.concatenate([np.zeros(0, np.int64), *feeds])
    if not len(data) or data[-1] != _LINE_FEED:
        ends = np.append(ends, len(data))
    if len(ends) == rows + 1:
        return np.arange(1, rows + 2)
    quotes = [np.flatnonzero(data[i : i + _BLOCK] == _QUOTE) + i for i in range(0, len(data), _BLOCK)]
    quoted = np.searchsorted(np.concatenate([np.zeros(0, np.int64), *quotes]), ends) % 2 == 1
    lines = np.arange(1, len(ends) + 1)[~quoted]
    stops = ends[~quoted]
    starts = np.concatenate([[0], stops[:-1] + 1]) if len(stops) else stops
    first = np.concatenate([[1], lines[:-1] + 1]) if len(lines) else lines
    size = stops - starts
    blank = (size == 0) | ((size == 1) & (data[np.minimum(starts, len(data) - 1)] == _RETURN))
    begins = first[~blank]
    return begins if len(begins) == rows + 1 else None
