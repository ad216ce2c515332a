"""The data of a change log, whatever the database: watched tables, changes, commits, and values of a type."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from occurs.errors import InputProblem
from occurs.model.types import Type

Row = Mapping[str, Any]

INSERT, UPDATE, DELETE, TRUNCATE = "insert", "update", "delete", "truncate"
TABLE, EVENT, STATE = "table", "event", "state"


@dataclass(frozen=True)
class Column:
    """A column as the database has it: ``type`` is None if none of ours fits, ``declared`` is its own word for it."""

    name: str
    type: Type | None
    declared: str


@dataclass(frozen=True)
class Described:
    """A table of the catalogue.  ``unique``: the sets of columns that identify a row; ``why_not``: it cannot be
    watched, for this reason."""

    name: str
    columns: tuple[Column, ...]
    unique: tuple[frozenset[str], ...] = ()
    #: the columns of the primary key, in its order
    primary: tuple[str, ...] = ()
    why_not: str | None = None

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class Watched:
    """A table whose changes are logged: these columns of it, with the types that the rules give them.

    ``role``: what the rules say it is: of a ``table`` all changes count, of an ``event`` what is inserted, of a
    ``state`` what is inserted or updated.
    """

    name: str
    columns: tuple[tuple[str, Type], ...]
    keys: tuple[str, ...] = ()
    role: str = TABLE

    @property
    def keeps(self) -> bool:
        """Do its rows stay?"""
        return self.role == TABLE

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.columns)


@dataclass(frozen=True)
class Change:
    """A row was written: ``old`` as it was (update, delete), ``new`` as it is (insert, update)."""

    table: str
    op: str
    old: Row | None = None
    new: Row | None = None


@dataclass(frozen=True)
class Commit:
    """One state: what committed transactions have changed.

    ``position``: in the order of commits (of several transactions that are one state: the last).  ``time``:
    microseconds since 1970, increasing with the position.  ``transactions``: how many of them are one state (more than
    one: coalesced).  ``raised``: how often the clock was behind the time before.  Without changes only time goes on.
    """

    position: int
    time: int
    changes: tuple[Change, ...] = ()
    transactions: int = 1
    raised: int = 0


#: what to do about damage in what a watcher has saved
ANEW = "restore the tables from a backup of the database, or start again with --uninstall, then --install"


@dataclass(frozen=True)
class Saved:
    """Where a watcher stopped: the last position it has judged, its time, and the monitors' state by piece.

    ``fresh``: it has judged nothing yet.  ``rules``: what it was watching for.
    """

    position: int
    time: int | None
    rules: str
    pieces: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def fresh(self) -> bool:
        return self.time is None


@dataclass(frozen=True)
class Fired:
    """A firing, or a notice that there will be none, with the actions that are left to do.

    ``content``: a JSON object, the watcher's own.
    """

    label: str
    position: int
    content: str


class ActionFailed(Exception):
    """A statement was refused; ``transient``: it may be otherwise the next time."""

    def __init__(self, message: str, transient: bool):
        super().__init__(message)
        self.transient = transient


# --- values -----------------------------------------------------------------------------------------------------------


_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MICROSECOND = dt.timedelta(microseconds=1)
_INT64 = range(-(2**63), 2**63)
#: numbers that JSON has no words for
_NUMBERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def fitted(table: Watched, row: Mapping[str, Any] | None) -> Row | None:
    """The watched columns of a row, each with a value of its type.

    Raises InputProblem: ``bad-value``, or ``missing-column`` if a column is gone.
    """
    if row is None:
        return None
    out: dict[str, Any] = {}
    for name, type_ in table.columns:
        if name not in row:
            text = f"`{table.name}` no longer has a column `{name}`"
            hint = "change the rules, then run --uninstall, then --install"
            raise InputProblem.of("missing-column", text, hint=hint, value=name)
        try:
            out[name] = fit(row[name], type_)
        except (ValueError, OverflowError) as error:
            text = f"{table.name}.{name}: {row[name]!r} is not a valid {type_}"
            raise InputProblem.of("bad-value", text, value=row[name]) from error
    return out


def fit(value: Any, type_: Type) -> Any:
    """A value of a type; NaN is null.  ValueError, OverflowError."""
    if value is None:
        return None
    match type_:
        case Type.BOOL:
            return _boolean(value)
        case Type.TIMESTAMP:
            return microseconds(value)
        case Type.STRING:
            if isinstance(value, str):
                return value
        case Type.FLOAT:
            number = _NUMBERS.get(value, value) if isinstance(value, str) else value
            if isinstance(number, int | float | Decimal) and not isinstance(number, bool):
                found = float(number)
                return None if math.isnan(found) else found
        case Type.INT:
            if isinstance(value, int | float | Decimal) and not isinstance(value, bool) and value == int(value):
                if int(value) not in _INT64:
                    raise OverflowError
                return int(value)
        case Type.NULL:
            return value
    raise ValueError


def _boolean(value: Any) -> bool:
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise ValueError


def microseconds(value: Any) -> int:
    """Of ISO 8601 text or a datetime; without a zone it is UTC.  ValueError."""
    found = dt.datetime.fromisoformat(value) if isinstance(value, str) else value
    if not isinstance(found, dt.datetime):
        raise ValueError
    found = found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found
    return (found - _EPOCH) // _MICROSECOND


def instant(time: int) -> dt.datetime:
    """The datetime of microseconds since 1970."""
    return _EPOCH + dt.timedelta(microseconds=time)
