"""Rows with the rows that they are made of, from the `because` of a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from occurs.explain.words import ticks_of
from occurs.hosts.detections import LocalDetections
from occurs.languages.kit.clauses import Whole

SPECIAL = ("type", "time", "end", "label", "because", "query", "about", "final")


@dataclass(frozen=True)
class RowNode:
    """A row: an input row, or a derived one with its constituents; or a check of a rule (``label`` None).

    ``values``: its attributes.  ``lasting``: whether it is an interval, whose ``end`` is None while it is open.
    """

    role: str | None
    type: str
    time: int
    end: int | None
    label: str | None
    values: Mapping[str, Any] = field(compare=False)
    children: tuple[RowNode, ...] = field(default=(), compare=False)
    derived: bool = False
    lasting: bool = False

    def walk(self) -> Iterator[RowNode]:
        """This row and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


#: roles of constituents without a label of their own
UNLABELLED = ("activation", "state", "timer")


def is_row(node: RowNode) -> bool:
    """Whether a constituent is a row, a state or a timer, and not a check of the rule."""
    return node.label is not None or node.role in UNLABELLED


class Trees:
    """The derivations of a run with reasons.  ``defined``: the types that rules define."""

    def __init__(self, found: LocalDetections, defined: Collection[str]):
        self.found, self.defined = found, defined
        self.tables: dict[str, dict[str, Mapping[str, Any]]] = {}
        self.made: dict[str, RowNode] = {}

    def rows(self, type: str) -> dict[str, Mapping[str, Any]]:
        """The derived rows of a type by label."""
        if type not in self.tables:
            rows = self.found.arrow(type).to_pylist()
            self.tables[type] = {str(r["label"]): r for r in rows}
        return self.tables[type]

    def table(self, type: str, given: Mapping[str, pa.Table]) -> pa.Table | None:
        """The rows of a type, derived or ``given``."""
        return self.found.arrow(type) if type in self.defined else given.get(type)

    def of_row(self, type: str, row: Mapping[str, Any], role: str | None = None) -> RowNode:
        """The derivation of a derived row."""
        values = {n: v for n, v in row.items() if n not in SPECIAL}
        children = tuple(self.of_part(p) for p in row.get("because") or ())
        end = ticks_of(row["end"]) if "end" in row else None
        time = ticks_of(row["time"])
        assert time is not None
        return RowNode(role, type, time, end, row["label"], values, children, True, "end" in row)

    def of_part(self, part: Mapping[str, Any]) -> RowNode:
        """The derivation of a constituent."""
        type, label = part["type"], part["label"]
        if label is not None and type in self.defined and label in self.rows(type):
            if label not in self.made:
                self.made[label] = self.of_row(type, self.rows(type)[label])
            made = self.made[label]
            return RowNode(
                part["role"], made.type, made.time, made.end, label, made.values, made.children, True, made.lasting
            )
        values = json.loads(part["attributes"]) if part["attributes"] else {}
        time = ticks_of(part["time"])
        return RowNode(part["role"], type, time or 0, ticks_of(part["end"]), label, values)


def instants(whole: Whole, node: RowNode, tables: Callable[[str], pa.Table | None]) -> list[int]:
    """The times of the states among which a derived row of a formula has its own, as far as they are known.

    Args:
        whole: The formula.
        node: The derived row.
        tables: The rows of a type; None if there are none.
    """
    found: set[int] = set()
    for type in whole.observed:
        table = tables(type)
        if table is None:
            continue
        for name, of in whole.keys.items() if whole.apart else ():
            if name in table.column_names and of in node.values:
                value = node.values[of]
                table = table.filter(pc.is_null(table[name]) if value is None else pc.equal(table[name], value))
        found.update(t for t in map(ticks_of, table["time"].to_pylist()) if t is not None)
    return sorted(found)
