"""A program of Phenesthe run by itself, in one process: its nets call by call, each on the output of those before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from occurs.languages.phenesthe.checks.catalogue import Phenomenon
from occurs.languages.phenesthe.compile import Compiled
from occurs.model.types import Type, from_arrow
from occurs.operators.columns import Column
from occurs.operators.interval.network import Source, State
from occurs.operators.interval.signals import NEVER, Instants, Signal
from occurs.operators.interval.values import Values
from occurs.operators.rows import Rows


class Running:
    """Compiled definitions, each behind those it reads, with what they have kept since the first call."""

    def __init__(self, definitions: Sequence[Compiled]) -> None:
        self.definitions = tuple(definitions)
        self.values = Values()
        self.since = NEVER
        self.states: dict[str, State] = {d.name: d.net.fresh() for d in definitions}

    def advance(self, rows: Mapping[str, Rows], frontier: int, closing: bool = False) -> dict[str, Rows]:
        """The rows of every definition that became final.  ``rows``: by input type those of the instants behind the
        last call's frontier, up to ``frontier``."""
        call = Instants(self.since, frontier, self.values, closing)
        sources: dict[str, Source] = dict(rows)
        signals: dict[str, Signal] = {}
        out = {}
        for d in self.definitions:
            self.states[d.name], given = d.net.advance(self.states[d.name], {**sources, **signals}, call)
            signals[d.name] = given.signal
            out[d.name] = d.answer.final(given.report, call, given.events)
        self.since = frontier
        return out

    def saved(self) -> dict[str, pa.Table]:
        """What is kept, as tables by name; the frontier is not among it."""
        return {
            f"{d.name}.{name}": table
            for d in self.definitions
            for name, table in d.net.saved(self.states[d.name], self.values).items()
        }

    @staticmethod
    def restored(definitions: Sequence[Compiled], tables: Mapping[str, pa.Table], since: int) -> Running:
        """As it was when the tables were saved, behind the frontier ``since``."""
        made = Running(definitions)
        made.since = since
        for d in definitions:
            mine = {n.removeprefix(f"{d.name}."): t for n, t in tables.items() if n.startswith(f"{d.name}.")}
            made.states[d.name] = d.net.restored(mine, made.values)
        return made


class Input:
    """Tables of rows by type, some of one type perhaps with different columns, made ready to be cut into calls.

    ``start``, ``until``: the ends of the clock; rows outside are left out, an end after ``until`` is not known.
    """

    def __init__(
        self, phenomena: Mapping[str, Phenomenon], tables: Mapping[str, Sequence[pa.Table]],
        start: int | None = None, until: int | None = None,
    ) -> None:  # fmt: skip
        self.rows = {
            name: _rows(phenomena[name], given, start, until) for name, given in tables.items() if name in phenomena
        }
        ends = [c.values[c.is_valid()] for r in self.rows.values() if (c := r.columns.get("end")) is not None]
        self.instants = np.unique(np.concatenate([np.zeros(0, np.int64), *(r.time for r in self.rows.values()), *ends]))
        #: the end of the clock
        self.now = until if until is not None else int(self.instants[-1]) if len(self.instants) else 0

    def between(self, since: int, frontier: int) -> dict[str, Rows]:
        """The rows of the instants in (since, frontier]."""
        out = {}
        for name, rows in self.rows.items():
            first, last = np.searchsorted(rows.time, [since, frontier], side="right")
            out[name] = rows.slice(int(first) if since != NEVER else 0, int(last))
        return out


def _rows(known: Phenomenon, tables: Sequence[pa.Table], start: int | None, until: int | None) -> Rows:
    """The rows of a type by time, under the names and in the types that they are declared with."""
    parts = []
    for table in tables:
        columns = {name: _column(table, name, type) for name, type in known.attributes}
        if known.changes:
            columns["holds"] = _column(table, "holds", Type.BOOL)
        elif known.sort != "event":
            columns["end"] = _column(table, "end", Type.TIMESTAMP)
        parts.append({"time": _column(table, "time", Type.TIMESTAMP), **columns})
    whole = {name: Column.concat([p[name] for p in parts]) for name in parts[0]}
    time = whole.pop("time").values
    if until is not None and "end" in whole:
        end = whole["end"]
        whole["end"] = Column(Type.TIMESTAMP, end.values, end.is_valid() & (end.values <= until))
    order = np.argsort(time, kind="stable")
    first = 0 if start is None else int(np.searchsorted(time[order], start))
    last = len(order) if until is None else int(np.searchsorted(time[order], until, side="right"))
    order = order[first:last]
    return Rows(known.name, time[order], {n: c.take(order) for n, c in whole.items()})


def _column(table: pa.Table, attribute: str, type: Type) -> Column:
    """A column by its name, else ignoring case if only one fits; null if there is none."""
    alike = [n for n in table.column_names if n.lower() == attribute.lower()]
    name = attribute if attribute in alike else alike[0] if len(alike) == 1 else None
    if name is None:
        return Column.nulls(type, table.num_rows)
    array = table.column(name)
    return Column.of(array, from_arrow(array.type) or Type.NULL).cast(type)
