"""Tables as they come: how they are to be read, where each row is from, and the special columns once they are read."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pyarrow as pa

from occurs.errors import Problem, UsageProblem
from occurs.model.types import Schema
from occurs.model.values import plain_layout, short

Instant = int | str | dt.datetime | dt.date


@dataclass(frozen=True)
class InputOptions:
    """How the input is to be read.  The five names are those of the special columns; None: there is none.

    ``time_unit``: what an integer time counts (us, ms, s, min, h, d).  ``type_names``: names for the values of the type
    column (TESLA's ``Assign``).  ``lists``: columns of lists are read, as records; else they are left out.
    Raises UsageProblem for names that are not text.
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
    type_names: Mapping[str, str] = field(default_factory=dict)
    lists: bool = False

    def __post_init__(self) -> None:
        for name in ("type", "time", "end", "sequence", "label", "time_unit", "bad_rows"):
            value = getattr(self, name)
            if not isinstance(value, str) and (value is not None or name in ("time", "bad_rows")):
                raise UsageProblem.of("bad-option", f"{name}: a text was expected, not {short(value)}")

    @property
    def special(self) -> tuple[str | None, ...]:
        return (self.type, self.time, self.end, self.sequence, self.label)


@dataclass(frozen=True)
class Source:
    """A table with its origin.  Its columns are in plain layouts: no views of text or bytes, no run-end encoding.

    ``type``: all its rows are of this type.  ``file`` names it in messages.  ``rows``: the place of each row in the
    file, counted from 1 (None: 1, 2, ..).  ``text``: values were written as text, so a declared type decides how they
    are read; ``as_text``: columns in their original spelling.  ``torn``: (row, text) of what was not a row at all.
    ``misfits``: column -> index of a row -> the value that was not of the column's type (the table has null there).
    """

    table: pa.Table
    type: str | None = None
    file: str | None = None
    rows: np.ndarray | None = None
    text: bool = False
    as_text: Mapping[str, pa.ChunkedArray] = field(default_factory=dict)
    torn: Sequence[tuple[int, str]] = ()
    misfits: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", plain_layout(self.table))


@dataclass
class Intake:
    """One source with its special columns read: ``codes`` index ``types``, -1 for rows that are out."""

    source: Source
    number: int
    codes: np.ndarray
    types: list[str]
    time: np.ndarray
    end: pa.ChunkedArray | None
    stamped: bool | None
    schema: Schema


def ints(column: pa.ChunkedArray) -> np.ndarray:
    """int64 values, 0 where null."""
    return (column.fill_null(0) if column.null_count else column).to_numpy()


def input_problem(kind: str, message: str, source: Source, hint: str | None = None) -> Problem:
    file = source.file or (f"<{source.type}>" if source.type else None)
    return Problem(kind, message, file=file, hint=hint)


def listed(names: Collection[str]) -> str:
    return ", ".join(f"`{n}`" for n in sorted(names))


def column_of(attribute: str, columns: Collection[str], loose: bool) -> str | None:
    """The column of an attribute: of its name, else if ``loose`` ignoring case if one only fits."""
    if attribute in columns:
        return attribute
    near = [c for c in columns if c.casefold() == attribute.casefold()] if loose else []
    return near[0] if len(near) == 1 else None
