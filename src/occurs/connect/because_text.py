"""Detections with their constituents as text that a person reads: terminals and notebooks show the same words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.model.astext import dumps, is_because, json_objects, plain_text

#: columns of a detection that are not its attributes
_SPECIAL = ("type", "time", "end", "label", "because")


@dataclass(frozen=True)
class Line:
    """A row as its parts: ``head``, what it is; ``when``; ``values``, its attributes."""

    head: str
    when: str
    values: str

    def __str__(self) -> str:
        return "  ".join(part for part in (self.head, self.when, self.values) if part)


@dataclass(frozen=True)
class Reason:
    """A detection and its constituents, in their order; ``label``: of the detection."""

    detection: Line
    constituents: tuple[Line, ...]
    label: str = ""


def has_reasons(table: pa.Table) -> bool:
    """Do the rows of a table of detections have their constituents?"""
    return "because" in table.column_names and is_because(table.schema.field("because").type)


def reasons(type: str, table: pa.Table) -> Iterator[Reason]:
    """The rows of a type with their constituents (the table has them)."""
    names = [n for n in table.column_names if n not in _SPECIAL]
    values = json_objects({n: whole(table[n]) for n in names}, len(table)).to_pylist()
    time = plain_text(table["time"]).to_pylist()
    end = plain_text(table["end"]).to_pylist() if "end" in table.column_names else [""] * len(table)
    labels = table["label"].to_pylist() if "label" in table.column_names else [""] * len(table)
    because = whole(table["because"])
    parts = _lines(because.flatten())
    counts = pc.fill_null(pc.list_value_length(because), 0).to_pylist()
    for number, count in enumerate(counts):
        head = Line(type, _when(time[number], end[number]), written(json.loads(values[number])))
        yield Reason(head, tuple(next(parts) for _ in range(count)), labels[number] or "")


def _lines(parts: pa.StructArray) -> Iterator[Line]:
    role, type, time, end, _, attributes = (pa.chunked_array([field]) for field in parts.flatten())
    every = (role.to_pylist(), type.to_pylist(), plain_text(time).to_pylist(), plain_text(end).to_pylist())
    for r, t, began, ended, text in zip(*every, attributes.to_pylist(), strict=True):
        head = r if re.search(rf"\b{re.escape(t)}\b", r) else f"{r}: {t}"  # `not Rain` has its type in it
        yield Line(head, _when(began, ended or ""), written(json.loads(text)))


def whole(column: pa.ChunkedArray) -> pa.Array:
    """A column as one array."""
    found = column.combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def _when(time: str, end: str | None) -> str:
    """An instant, or an interval; ``end``: empty of an instant, None of an interval that is still open."""
    if end == "":
        return time
    return f"{time} to {'..' if end is None else end}"


def written(values: Mapping[str, Any]) -> str:
    """Attributes as `name = value`, without those that have none."""
    return ", ".join(f"{n} = {dumps(v)}" for n, v in values.items() if v is not None)


def shown(lines: Sequence[Line]) -> list[str]:
    """Lines as text, their parts below one another."""
    head = max((len(x.head) for x in lines), default=0)
    when = max((len(x.when) for x in lines), default=0)
    return [f"{x.head:<{head}}  {x.when:<{when}}  {x.values}".rstrip() for x in lines]
