"""Times, durations, values and rows as the text of explanations."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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


def others_text(number: int, type: str) -> str:
    """How many rows of a type there are that a negation does not exclude, behind the statement of it."""
    if number == 0:
        return ""
    return f" ({number} {type} row{'s' if number != 1 else ''} there {'do' if number != 1 else 'does'} not match)"


def named(subject: str) -> str:
    """What has a value: an expression of several words in backquotes, so that its end is seen."""
    return f"`{subject}`" if " " in subject else subject


def must(needed: str) -> str:
    """What a clause needs, as the end of a sentence: ``must be > 45``, ``must not be "up"``."""
    sign, _, rest = needed.partition(" ")
    if sign in ("=", "!=") and rest:
        return f"must be {rest}" if sign == "=" else f"must not be {rest}"
    return f"must be in {needed}" if needed.startswith("[") else f"must be {needed}"


def within(path: Sequence[str]) -> str:
    """The operators of a formula that lead to a condition, behind the condition."""
    return f" (in `{' .. '.join(path)}`)" if path else ""


#: the relations of intervals that are no verbs, as verbs
_VERBS = {
    "before": "is before", "after": "is after", "met_by": "is met by", "overlapped_by": "is overlapped by",
    "finished_by": "is finished by", "started_by": "is started by", "during": "is during",
}  # fmt: skip


def related(left: str, relation: str, right: str) -> str:
    """Two intervals and their relation as a clause of a sentence: ``open [3, 9] is before cold at 12``."""
    return f"{left} {_VERBS.get(relation, relation)} {right}"


def shorter(old: str, new: str) -> tuple[str, str]:
    """Two long texts without what they begin with alike."""
    pairs = enumerate(zip(old, new, strict=False))
    alike = next((i for i, (a, b) in pairs if a != b), min(len(old), len(new)))
    cut = old[:alike].rstrip().rfind(" ") + 1
    if min(len(old), len(new)) <= 40 or cut < 20:
        return old, new
    return f".. {old[cut:]}", f".. {new[cut:]}"


def length(ticks: int, kind: TimeKind) -> str:
    """A duration in the greatest unit in which it is whole."""
    return duration_of(ticks, kind) if kind.tick is not None else f"{ticks} ticks"
