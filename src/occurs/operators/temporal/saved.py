"""What monitors keep, as JSON: values, obligations, records.  No pickle: a checkpoint must not be able to run code."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from occurs.errors import Problem
from occurs.operators.temporal.residual import MARKS, Mark, Several, Unknown
from occurs.operators.temporal.rule import Sources
from occurs.operators.temporal.sql import Database
from occurs.operators.temporal.tables import Table
from occurs.operators.temporal.values import Lost, Relation


def dumps(value: Any) -> str:
    """As text."""
    return json.dumps(_plain(value), separators=(",", ":"))


def _plain(value: Any) -> Any:
    """Tuples are lists; what JSON does not have is an object with one key."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case (dict() as tables, Database()):
            return {"tables": {n: [[k, list(map(_plain, row))] for k, row in t.entries()] for n, t in tables.items()}}
        case tuple():
            return [_plain(v) for v in value]
        case dict():
            # the rows of one table by key
            return {"rows": [[k, list(map(_plain, row))] for k, row in value.values()], "keys": [
                _plain(key) for key in value]}  # fmt: skip
        case Fraction():
            return {"fraction": [value.numerator, value.denominator]}
        case Relation():
            return {"relation": [list(value.columns), _plain(value.rows)]}
        case Lost():
            return {"lost": [value.problem.kind, value.problem.message]}
        case Mark():
            return {"mark": value.name}
        case Unknown():
            return {"unknown": [_plain(value.lost), value.new]}
        case Several():
            return {"and" if value.conjunction else "or": [_plain(p) for p in value.parts]}
    raise TypeError(f"this value cannot be saved: {type(value).__name__}")


def loads(text: str, sources: Sources) -> Any:
    """What :func:`dumps` has made a text."""
    return _value(json.loads(text), sources)


def _value(value: Any, sources: Sources) -> Any:
    if isinstance(value, list):
        return tuple(_value(v, sources) for v in value)
    if not isinstance(value, dict):
        return value
    tag, inner = next(iter(value.items())) if len(value) == 1 else ("rows", value)
    match tag:
        case "tables":
            tables = {n: table_of(sources, n, rows) for n, rows in inner.items()}
            return tables, database(sources)
        case "rows":
            keys = [_value(k, sources) for k in inner["keys"]]
            return {k: (n, tuple(row)) for k, (n, row) in zip(keys, inner["rows"], strict=True)}
        case "fraction":
            return Fraction(*inner)
        case "relation":
            return Relation(tuple(inner[0]), _value(inner[1], sources))
        case "lost":
            return Lost(Problem(inner[0], inner[1]))
        case "mark":
            return MARKS[str(inner)]
        case "unknown":
            return Unknown(_value(inner[0], sources), inner[1])
    return Several(tag == "and", tuple(_value(v, sources) for v in inner))


def table_of(sources: Sources, name: str, rows: list[Any]) -> Table:
    """A table with rows: (number, row) each."""
    table = Table(sources.tables[name])
    for number, row in rows:
        row = tuple(row)
        key = table.key(row) if table.shape.keys else number
        table.rows[key] = (number, row)
        table.next = max(table.next, number + 1)
    return table


def database(sources: Sources) -> Database:
    """SQL over the tables of a program."""
    return Database(sources.types, {n: v.sql for n, v in sources.views.items() if not v.parameters})
