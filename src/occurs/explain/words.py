"""Times, durations, values and rows as the text of explanations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from occurs.expr.render import string_text
from occurs.languages.kit.clauses import duration_of
from occurs.model.astext import plain_text
from occurs.model.time import TimeKind


def ticks_of(value: Any) -> int | None:
    """A time of a table as ticks."""
    if value is None or isinstance(value, int):
        return value
    found = pa.scalar(value, pa.timestamp("us", tz="UTC")).cast(pa.int64()).as_py()
    return int(found)


def when(ticks: int | None, kind: TimeKind) -> str:
    """A time as text: ISO 8601, or ticks."""
    if ticks is None:
        return ".."
    if not kind.timestamp:
        return str(ticks)
    try:
        column = pa.chunked_array([pa.array([ticks], pa.int64()).cast(pa.timestamp("us", tz="UTC"))])
        return str(plain_text(column)[0].as_py())
    except (pa.ArrowInvalid, ValueError, OverflowError):
        return str(ticks)


def json_time(ticks: int | None, kind: TimeKind) -> str | int | None:
    """A time as JSON."""
    return ticks if ticks is None or not kind.timestamp else when(ticks, kind)


def value_text(value: Any) -> str:
    """A value of an attribute: text in quotes, numbers as in output."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, int | float):
        return str(value)
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).replace("+00:00", "Z")
    return json.dumps(value, ensure_ascii=False, default=str)


def values_text(values: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> str:
    """Attributes: ``Area = "hall", Value = 50``; those without a value are left out.  The events of a state:
    ``Temp(Area = "hall")``."""
    items = values.items() if isinstance(values, Mapping) else values
    return ", ".join(_item(n, v) for n, v in items if v is not None)


def _item(name: str, value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        return ", ".join(f"{name}({values_text(row)})" if values_text(row) else name for row in value)
    return f"{name} = {value_text(value)}"


#: roles that only say how a language works
INNER = ("state", "step", "about", "activation", "timer")


def role_text(role: str | None, type: str) -> str:
    """A row as a sentence names it: by its role, if the rule writes it, else by its type."""
    return role if role is not None and role.isidentifier() and role not in INNER else type


def others_text(number: int) -> str:
    """How many other rows there are, behind a statement about some."""
    return f"({number} other{'s' if number != 1 else ''})"


def length(ticks: int, kind: TimeKind) -> str:
    """A duration in the greatest unit in which it is whole."""
    return duration_of(ticks, kind) if kind.tick is not None else f"{ticks} ticks"


#: the relations of intervals that are no verbs, as verbs
_VERBS = {
    "before": "is before", "after": "is after", "met_by": "is met by", "overlapped_by": "is overlapped by",
    "finished_by": "is finished by", "started_by": "is started by", "during": "is during",
}  # fmt: skip


def related(left: str, relation: str, right: str) -> str:
    """Two intervals and their relation as a clause of a sentence: ``open [3, 9] is before cold at 12``."""
    return f"{left} {_VERBS.get(relation, relation)} {right}"
