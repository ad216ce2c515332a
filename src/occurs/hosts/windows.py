"""Window mode: at every query the answer over what has come by then, as far as it reaches into the window
(phenesthe.md, section 5).

The engine goes from query to query and gives what became final; a look at what closing would give there, after which it
goes on as if nobody had looked, gives the rest.  So a query costs what has come since the one before and what still
holds, however long the window is; that rows are repeated costs only where they are written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa

from occurs.engine.blocks import Part
from occurs.engine.engine import Engine
from occurs.engine.outputs import in_order, table_of, time_array
from occurs.engine.results import Parts, TypeRows
from occurs.engine.tables import concat_rows
from occurs.model.time import TimeKind
from occurs.model.types import Schema
from occurs.operators.rows import Rows
from occurs.options import Window

#: between any two ticks there are at most so many
_LONGEST = 2**64 - 1


@dataclass(frozen=True)
class Asked:
    """The queries of a history, each over the ``window`` before it; ``at``: their times, none without a clock."""

    window: Window
    at: range

    @classmethod
    def over(cls, window: Window, clock: tuple[int, int] | None, started: bool) -> Asked:
        """See :meth:`Window.queries`."""
        return cls(window, range(0) if clock is None else window.queries(clock, started))


def answers(
    engine: Engine, calls: Iterable[tuple[int, Mapping[str, Rows]]], asked: Asked, start: int, most: int | None = None
) -> Iterator[WindowRows]:
    """The answers of all queries in order, in parts: a part ends with a query behind which it has ``most`` rows or more
    (None: there is one part).

    ``calls``: (frontier, the rows up to it) in order of time, instants whole, the last frontier that of the last query;
    all definitions of the engine's stage are nets.  ``start``: of the clock.
    """
    found = WindowRows.nothing(engine, asked)
    number = 0
    for frontier, rows in calls:
        stops = [*asked.at[number : bisect_right(asked.at, frontier)]]
        if not stops or stops[-1] < frontier:  # what has come since the last query must not wait in memory
            stops.append(frontier)
        cuts = {t: [0, *np.searchsorted(r.time, stops, side="right").tolist()] for t, r in rows.items()}
        for i, at in enumerate(stops):
            new = {t: r.slice(cuts[t][i], cuts[t][i + 1]) for t, r in rows.items()}
            # what became final since a query stands in the answer of the next one
            found.put(found.final, number, engine.advance(new, at, start))
            if at != asked.at[number]:
                continue
            found.put(found.held, number, engine.peek(at, start))
            number += 1
            if most is not None and found.size >= most:
                yield found
                found = WindowRows.nothing(engine, asked)
    yield found


@dataclass
class Given:
    """Rows of one type with the number of the query at which they were known first."""

    parts: list[Part] = field(default_factory=list)
    query: list[int] = field(default_factory=list)

    def numbers(self) -> np.ndarray:
        """The number of the query of every row."""
        return np.repeat(np.array(self.query, np.int64), np.array([len(p) for p in self.parts], np.int64))


@dataclass
class WindowRows(TypeRows):
    """The reported rows of all queries, per type: those that are ``final`` stand in the answer of the query at which
    they became so and of all later ones whose windows they reach into, the others, ``held``, in that of one query."""

    asked: Asked = Asked(Window(1, 1), range(0))
    final: dict[str, Given] = field(default_factory=dict)
    held: dict[str, Given] = field(default_factory=dict)
    #: rows that are kept here
    size: int = 0

    @classmethod
    def nothing(cls, engine: Engine, asked: Asked) -> WindowRows:
        """No rows yet."""
        return cls(engine.stage, Parts(engine.stage, [], ()), {}, asked=asked)

    def put(self, given: dict[str, Given], number: int, found: TypeRows) -> None:
        """Add what a call has found at a query."""
        for type, parts in found.parts.items():
            for part in parts:
                one = given.setdefault(type, Given())
                one.parts.append(part)
                one.query.append(number)
                self.size += len(part)

    def found(self) -> set[str]:
        return {*self.final, *self.held}

    def count(self, type: str) -> int:
        rows, first, final = self._all(type)
        return 0 if rows is None else int(self._times(type, rows, first, final).sum())

    def table(
        self, type: str, *, label: bool = False, because: bool = False, final: bool = False,
        wanted: Callable[[pa.Table], pa.ChunkedArray] | None = None,
    ) -> pa.Table:  # fmt: skip
        """The answers in the order of the queries, each in key order, with the column ``query``."""
        schema = self.stage.schemas[type]
        rows, first, settled = self._all(type)
        if rows is None:
            table = TypeRows(self.stage, Parts(self.stage, [], ()), {}).table(type, label=label, because=because)
            return self._with_queries(table, np.zeros(0, np.int64), schema)
        table = self._rows(type, rows, label, because)
        by = in_order(table, schema)
        times = self._times(type, rows, first, settled)[by]
        at = np.repeat(np.arange(len(by)), times)
        number = np.repeat(first[by], times) + np.arange(len(at)) - np.repeat(np.cumsum(times) - times, times)
        order = np.argsort(number, kind="stable")
        table = table.take(pa.array(by[at[order]]))
        table = self._with_queries(table, self._queries[number[order]], schema)
        return table if wanted is None else table.filter(wanted(table))

    def pieces(self, type: str, most: int, *, label: bool = False, because: bool = False) -> Iterator[pa.Table]:
        table = self.table(type, label=label, because=because)
        yield from (table.slice(i, most) for i in range(0, len(table), most))

    def once(self, type: str, *, label: bool = False, because: bool = False) -> pa.Table:
        """Every row that stands in an answer once, in no order: with the tick of the first query that gives it
        (``query``), and how many queries do, one after the other (``times``)."""
        rows, first, final = self._all(type)
        assert rows is not None
        times = self._times(type, rows, first, final)
        table = self._rows(type, rows, label, because)
        table = table.append_column("query", pa.array(self._queries[first])).append_column("times", pa.array(times))
        return table.filter(pa.array(times > 0))

    def _rows(self, type: str, rows: Rows, label: bool, because: bool) -> pa.Table:
        """All rows of a type, as they were given, without queries."""
        kind = self.stage.kind
        reasons = self._reasons(type, kind) if because else None
        labels = rows.labels if label else None
        return table_of(type, rows.time, rows.columns, self.stage.schemas[type], kind, labels, reasons)

    @cached_property
    def _queries(self) -> np.ndarray:
        return np.array(self.asked.at, np.int64)

    def _with_queries(self, table: pa.Table, queries: np.ndarray, schema: Schema) -> pa.Table:
        place = 2 + schema.lasting + len(schema.names)
        return table.add_column(place, "query", time_array(queries, self.stage.kind))

    def _all(self, type: str) -> tuple[Rows | None, np.ndarray, np.ndarray]:
        """All rows of a type, each with the number of its first query; and whether they are final."""
        given = [g for g in (self.final.get(type), self.held.get(type)) if g is not None]
        if not given:
            return None, np.zeros(0, np.int64), np.zeros(0, np.bool_)
        numbers = [g.numbers() for g in given]
        final = np.repeat([g is self.final.get(type) for g in given], [len(n) for n in numbers])
        return concat_rows([p.rows() for g in given for p in g.parts]), np.concatenate(numbers), final

    def _reasons(self, type: str, kind: TimeKind) -> pa.Array:
        """Of what the rows of a type are made."""
        given = [g for g in (self.final.get(type), self.held.get(type)) if g is not None]
        parts = [p for g in given for p in g.parts]
        return pa.concat_arrays([p.because(kind) for p in parts])

    def _times(self, type: str, rows: Rows, first: np.ndarray, final: np.ndarray) -> np.ndarray:
        """In how many answers each row stands."""
        length, step, last = self.asked.window.length, self.asked.window.step, len(self._queries) - 1
        end, known = rows.time, np.ones(len(rows), np.bool_)
        if self.stage.schemas[type].lasting:
            column = rows.columns["end"]
            end, known = column.values, column.is_valid()
        # what is known at a query is not later; so the difference fits, and the sum in which it is used
        ago = self._queries[first].astype(np.uint64) - np.where(known, end, self._queries[first]).astype(np.uint64)
        left = np.uint64(min(length - 1, _LONGEST))
        more = np.minimum((left - np.minimum(ago, left)) // np.uint64(min(step, _LONGEST)), np.uint64(last))
        latest = np.where(final, np.minimum(first + more.astype(np.int64), last), first)
        return np.where(ago <= left, latest - first + 1, 0)
