"""Comparing detections as multisets: type, time and attributes; floats within 1e-9 relative, null equal to null."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from occurs.model.lists import times_as
from occurs.model.occurrence import Occurrence

RELATIVE = 1e-9

Row = tuple[str, int, tuple[tuple[str, Any], ...]]


def row_of(event: Occurrence) -> Row:
    """(type, time, attributes by name)."""
    return (event.type, event.time, tuple((n, _hashable(v)) for n, v in sorted(event.attributes.items())))


def _hashable(value: Any) -> Any:
    """Records and lists as tuples."""
    if isinstance(value, dict):
        return tuple((n, _hashable(v)) for n, v in sorted(value.items()))
    return tuple(_hashable(v) for v in value) if isinstance(value, list | tuple) else value


def occurrences_of(found: Mapping[str, pa.Table]) -> list[Occurrence]:
    """The rows of tables by type (a ``time`` column, attributes) as events; timestamps become microseconds."""
    out = []
    for name, table in found.items():
        columns = {c: _plain(table.column(c)) for c in table.column_names if c != "type"}
        times = columns.pop("time")
        out += [Occurrence(name, time, {c: values[i] for c, values in columns.items()}) for i, time in enumerate(times)]
    return out


def _plain(column: pa.ChunkedArray) -> list[Any]:
    plain = times_as(pa.int64(), column.type)
    if plain != column.type:
        column = column.cast(times_as(pa.timestamp("us", tz="UTC"), column.type)).cast(plain)
    return column.to_pylist()


def same_value(a: Any, b: Any) -> bool:
    """Equal, or floats within ``RELATIVE``; an int equals the same float, a bool equals only a bool."""
    if a is None or b is None or isinstance(a, str) or isinstance(b, str):
        return a == b
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if a == b or (a != a and b != b):
        return True
    return (isinstance(a, float) or isinstance(b, float)) and math.isclose(a, b, rel_tol=RELATIVE, abs_tol=1e-12)


def same_row(a: Row, b: Row) -> bool:
    """Same type, time and attribute names, and values equal by :func:`same_value`."""
    return (
        a[:2] == b[:2]
        and len(a[2]) == len(b[2])
        and all(x[0] == y[0] and same_value(x[1], y[1]) for x, y in zip(a[2], b[2], strict=True))
    )


def _exact(row: Row) -> Row:
    """A key under which True and 1 differ, and the ints 1 and 1.0 do not."""
    return (row[0], row[1], tuple((n, str(v) if isinstance(v, bool) else (v,)) for n, v in row[2]))


def unmatched(expected: Iterable[Occurrence], found: Iterable[Occurrence]) -> tuple[list[Row], list[Row]]:
    """(rows expected but not found, rows found but not expected), each as often as it is too much."""
    want, have = [row_of(e) for e in expected], [row_of(e) for e in found]
    # equal rows first, by hashing; what is left may still agree within the tolerance
    missing = _surplus(want, Counter(_exact(r) for r in have))
    extra = _surplus(have, Counter(_exact(r) for r in want))
    for row in list(missing):
        partner = next((r for r in extra if same_row(row, r)), None)
        if partner is not None:
            missing.remove(row)
            extra.remove(partner)
    return missing, extra


def _surplus(rows: list[Row], others: Counter[Row]) -> list[Row]:
    out = []
    for row in rows:
        key = _exact(row)
        if others[key] > 0:
            others[key] -= 1
        else:
            out.append(row)
    return out


def show(row: Row) -> str:
    """``Type@time(name=value, ...)``."""
    return f"{row[0]}@{row[1]}({', '.join(f'{n}={v!r}' for n, v in row[2])})"


def by_instant(events: Iterable[Occurrence]) -> dict[tuple[str, int], list[Occurrence]]:
    """Events by type and time."""
    out: dict[tuple[str, int], list[Occurrence]] = {}
    for e in events:
        out.setdefault((e.type, e.time), []).append(e)
    return out


def first_difference(one: Sequence[Occurrence], other: Sequence[Occurrence], type_: str) -> tuple[int, str] | None:
    """The first instant at which two sides derived otherwise of a type, and how; None if they agree."""
    left, right = by_instant(one), by_instant(other)
    for kind, time in sorted({k for k in (*left, *right) if k[0] == type_}, key=lambda k: k[1]):
        text = difference(left.get((kind, time), []), right.get((kind, time), []))
        if text:
            return time, text
    return None


def difference(expected: Iterable[Occurrence], found: Iterable[Occurrence], limit: int = 20) -> str | None:
    """Format the difference of two multisets of events.

    Args:
        expected: The events that should be detected.
        found: The events that were detected.
        limit: The maximum number of rows to list of each kind.

    Returns:
        The missing and the unexpected events as text, or None if there are none.
    """
    missing, extra = unmatched(expected, found)
    if not missing and not extra:
        return None
    lines = []
    for title, rows in (("missing", missing), ("unexpected", extra)):
        if rows:
            lines.append(f"{title} ({len(rows)}):")
            lines += [f"  {show(r)}" for r in sorted(rows, key=lambda r: (r[1], r[0], repr(r[2])))[:limit]]
            if len(rows) > limit:
                lines.append("  ...")
    return "\n".join(lines)
