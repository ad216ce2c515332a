"""Tables as they come: how they are to be read, where each row is from, and the special columns once they are read;
text files whose lines are events, and facts, which have no time."""

from __future__ import annotations

import codecs
import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pyarrow as pa

from occurs.errors import InputProblem, Problem, Span, UsageProblem, did_you_mean, nearest
from occurs.model.attribute_types import clean, fit
from occurs.model.grouping import count
from occurs.model.timeformat import TimeFormat
from occurs.model.types import Schema, Type, from_arrow
from occurs.model.values import plain_layout, short

#: what helps if text is in another encoding
ENCODING = "if the file has another encoding, use --encoding latin-1 (or cp1252, utf-16, ..)"
#: the usual ones, for hints
_ENCODINGS = ("utf-8", "utf-16", "latin-1", "cp1252", "cp1250", "cp1251", "iso-8859-15", "shift_jis", "gb18030")
Instant = int | str | dt.datetime | dt.date


@dataclass(frozen=True)
class InputOptions:
    """How the input is to be read.  The five names are those of the special columns; None: there is none.

    ``time_unit``: what an integer time counts (us, ms, s, min, h, d).  ``time_format``: how times are written, in the
    directives of strptime (None: ISO 8601).  ``delimiter`` (of CSV) and ``encoding``: of text files.
    ``format``: of all files, whatever their suffixes: csv, jsonl, json or parquet.  ``type_names``: names for the
    values of the type column (TESLA's ``Assign``).  ``lists``: columns of lists are read, as records; else they are
    left out.  ``elements``: the elements of lists and maps that become columns (:mod:`occurs.model.elements`).
    ``places``: it is kept from where each row is (``History.places``).  ``coded``: columns of few distinct texts stay
    the dictionaries that they are.
    Raises UsageProblem for names that are not text, and for a format, delimiter or encoding that cannot be.
    """

    type: str | None = "type"
    time: str = "time"
    end: str | None = "end"
    sequence: str | None = "sequence"
    label: str | None = "label"
    time_unit: str | None = None
    start: Instant | None = None
    until: Instant | None = None
    bad_rows: Literal["error", "skip"] = "error"
    time_format: str | None = None
    delimiter: str = ","
    encoding: str = "utf-8"
    format: str | None = None
    type_names: Mapping[str, str] = field(default_factory=dict)
    lists: bool = False
    elements: frozenset[str] = frozenset()
    places: bool = False
    coded: bool = False

    def __post_init__(self) -> None:
        for name in ("type", "time", "end", "sequence", "label", "time_unit", "time_format", "bad_rows"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("time", "bad_rows")):
                raise UsageProblem.of("bad-option", f"{name} must be text, not {short(value)}")
        if self.time_format is not None and self.time_unit is not None:
            text = "--time-format is for dates in text, --time-unit is for integer times"
            raise UsageProblem.of("bad-option", text, hint="one of them")
        self.written  # noqa: B018
        if (wrong := _not_delimiter(self.delimiter)) is not None:
            text = f"--delimiter {short(self.delimiter)} {wrong}"
            raise UsageProblem.of("bad-option", text, hint="use one character such as `;`, or `\\t` for a tab")
        try:
            "".encode(self.encoding)
        except (LookupError, TypeError, ValueError) as error:
            hint = did_you_mean(str(self.encoding), _ENCODINGS, "encodings")
            raise UsageProblem.of("bad-option", f"unknown --encoding {short(self.encoding)}", hint=hint) from error

    @property
    def written(self) -> TimeFormat | None:
        """The format of times, None if they are written as ISO 8601."""
        return None if self.time_format is None else TimeFormat.of(self.time_format)

    @property
    def spelled(self) -> frozenset[str]:
        """Columns of text files that are wanted as they are written, whatever they look like."""
        return frozenset(filter(None, (self.time, self.end))) if self.time_format is not None else frozenset()

    @property
    def special(self) -> tuple[str | None, ...]:
        return (self.type, self.time, self.end, self.sequence, self.label)


#: a column of rows with their places while they are read, which no column of an input can be called
PLACE = "\0place"
#: rows of one source, at most, as places count them
_ROWS = 2**40


def places_of(source: int, rows: np.ndarray) -> np.ndarray:
    """The places of rows of a source: its number, and theirs from 0, as one number each (int64)."""
    return source * _ROWS + rows.astype(np.int64)


def source_and_row(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the source and of the row that places name."""
    return places // _ROWS, places % _ROWS


@dataclass(frozen=True)
class Source:
    """A table with its origin.  Its columns are in plain layouts: no views of text or bytes, no run-end encoding.

    ``type``: all its rows are of this type.  ``file`` names it in messages.  ``rows``: the place of each row in the
    file, counted from 1 (None: 1, 2, ..).  ``text``: values were written as text, so a declared type decides how they
    are read; ``as_text``: columns in their original spelling.  ``torn``: (row, text) of what was not a row at all.
    ``misfits``: column -> index of a row -> the value that was not of the column's type (the table has null there).
    ``hint``: what the reader of the file would change, if it looks as if it was written in another way.
    """

    table: pa.Table
    type: str | None = None
    file: str | None = None
    rows: np.ndarray | None = None
    text: bool = False
    as_text: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    torn: Sequence[tuple[int, str]] = ()
    misfits: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    hint: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", plain_layout(self.table))

    @property
    def place(self) -> str | None:
        """What messages call it: its file, else its type."""
        return self.file or (f"<{self.type}>" if self.type else None)


@dataclass
class Intake:
    """One source with its special columns read: ``codes`` index ``types``, -1 for rows that are out.

    The codes are changed by :meth:`leave_out` only.
    """

    source: Source
    number: int
    codes: np.ndarray
    types: list[str]
    time: np.ndarray
    end: pa.ChunkedArray | None
    stamped: bool | None
    schema: Schema

    @cached_property
    def counts(self) -> np.ndarray:
        """How many rows there are of each of the ``types``."""
        return count(self.codes, len(self.types))

    @cached_property
    def increasing(self) -> bool:
        """Is every row later than the one before it?"""
        return bool((self.time[1:] > self.time[:-1]).all())

    @property
    def whole(self) -> bool:
        """Is no row left out?"""
        return int(self.counts.sum()) == len(self.codes)

    def leave_out(self, rows: np.ndarray) -> None:
        """Leave out some rows: their numbers, or a boolean for each row."""
        self.codes[rows] = -1
        self.__dict__.pop("counts", None)


def _not_delimiter(text: object) -> str | None:
    """Why a text cannot stand between the values of CSV, None if it can."""
    if not isinstance(text, str) or len(text) != 1:
        return "must be a single character"
    if text == '"':
        return "cannot be a delimiter: quotes enclose values"
    if text in "\r\n":
        return "cannot be a delimiter: it ends a row"
    return None if "\0" < text < "\x80" else "must be an ASCII character"


def ints(column: pa.ChunkedArray) -> np.ndarray:
    """int64 values, 0 where null."""
    return (column.fill_null(0) if column.null_count else column).to_numpy()


def input_problem(kind: str, message: str, source: Source, hint: str | None = None) -> Problem:
    return Problem(kind, message, file=source.place, hint=hint)


def records(options: InputOptions, columns: Collection[str]) -> list[tuple[str, str]]:
    """(message, hint) of the special columns that are records: their values have columns of their own."""
    out = []
    for name in dict.fromkeys(options.special):
        inside = [c for c in columns if name is not None and name not in columns and c.startswith(f"{name}.")]
        if inside:
            what = "the type column" if name == options.type else "the column"
            which = " and cannot name event types" if name == options.type else ""
            hint = f"use one of its fields, which are columns: {listed(inside)}"
            out.append((f"{what} `{name}` is of type struct{which}", hint))
    return out


def time_column(options: InputOptions, columns: Collection[str], stamps: Sequence[str] = ()) -> str:
    """How to name the time column; ``stamps``: the columns of times."""
    likely = list(stamps[:1]) or nearest(options.time, columns)[:1] or [c for c in columns if c.lower() in _TIMES][:1]
    if likely:
        return f'did you mean `{likely[0]}`? --time-column {likely[0]} (Python: time="{likely[0]}")'
    return f'name it with --time-column NAME (Python: time="NAME"); {did_you_mean(options.time, columns, "columns")}'


def type_column(options: InputOptions, columns: Collection[str], naming: Sequence[str], types: Collection[str]) -> str:
    """How to name the type column, or the one type of a table; ``naming``: columns that hold names of ``types``."""
    likely = list(naming[:1]) or nearest(options.type or "type", columns)[:1]
    one = sorted(types)[0] if types else "TYPE"
    rest = f'if all rows have one type, --type {one} (Python: {{"{one}": table}})'
    if likely:
        return f'did you mean `{likely[0]}`? --type-column {likely[0]} (Python: type="{likely[0]}"); or, {rest}'
    return f"name it with --type-column NAME; or, {rest}; {did_you_mean(options.type or 'type', columns, 'columns')}"


#: names that time columns often have
_TIMES = {"timestamp", "ts", "datetime", "date", "when", "at", "t", "event_time", "eventtime", "created_at"}


def listed(names: Collection[str]) -> str:
    return ", ".join(f"`{n}`" for n in sorted(names))


def is_utf8(encoding: str) -> bool:
    """Does an encoding, which Python knows, have this name?"""
    return codecs.lookup(encoding).name == "utf-8"


def column_of(attribute: str, columns: Collection[str], loose: bool) -> str | None:
    """The column of an attribute: of its name, else if ``loose`` ignoring case if one only fits."""
    if attribute in columns:
        return attribute
    near = [c for c in columns if c.casefold() == attribute.casefold()] if loose else []
    return near[0] if len(near) == 1 else None


#: the one attribute of an event that is a line
LINE = "line"


@dataclass(frozen=True)
class TextFile:
    """A file whose lines are read: its ``path`` as it is written, in the rules ``file`` at ``span``, and the
    ``definition`` that reads it."""

    path: str
    file: str | None
    definition: str
    span: Span | None = None


# --- facts: tables without time (common.md, section 1; phenesthe.md, section 2) ---------------------------------------


def fact_table(name: str, table: pa.Table, schema: Schema) -> pa.Table:
    """The declared columns of ``table``, under their declared names and in their types (NULL: as they come), and if
    the schema is open all others.

    Columns are found by their names, else ignoring case if one only fits.  Raises InputProblem (``missing-column``,
    ``bad-value``).
    """
    columns, taken = {}, set()
    for attribute, declared in schema:
        found = column_of(attribute, table.column_names, loose=True)
        if found is None:
            hint = did_you_mean(attribute, table.column_names, "columns")
            text = f"column `{attribute}` of the fact `{name}` is declared but missing"
            raise InputProblem.of("missing-column", text, hint=hint)
        before = clean(table.column(found))
        after = fit(before, None if declared is Type.NULL else declared, text=True)
        if after is None or after.null_count > before.null_count:
            text = (
                f"column `{found}` of the fact `{name}` is {before.type}, but `{attribute}` is declared as {declared}"
            )
            raise InputProblem.of("bad-value", text, hint="change the type of the attribute in the declaration")
        columns[attribute] = after
        taken.add(found)
    if schema.rest:
        others = [n for n in table.column_names if n not in taken and n not in columns]
        cleaned = {n: clean(table.column(n)) for n in others}
        columns |= {n: c for n, c in cleaned.items() if from_arrow(c.type) is not None}
    return pa.table(columns)


def schema_of_table(table: pa.Table) -> Schema:
    """The columns of a table of facts."""
    return Schema(tuple((f.name, from_arrow(f.type) or Type.NULL) for f in table.schema))
