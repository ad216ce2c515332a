"""Values of a database as ours: whole numbers, floats, texts, booleans, times as microseconds since 1970 (UTC)."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from occurs.connect.changes.model import Row, Watched
from occurs.errors import InputProblem
from occurs.model.types import Type

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
