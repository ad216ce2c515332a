"""The reference semantics of row patterns: what queries derive from a finite history (match-recognize.md, 3 to 9).

A direct transcription that is meant to be checked by reading; it shares nothing with the engine.  The search for one
match is in :mod:`search`, the values of expressions are in :mod:`values`; here are partitions and their order, the
scan, the output of the clause, and SELECT and WHERE over it.

Readings where the specification is silent: a column of PARTITION BY has the value of the row that an output row stands
behind; a condition waits if NEXT inside it reaches a row that is not known yet, whatever the rest of the condition
says; the measures of a timeout see no row later than the timeout itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from occurs.errors import DefinitionProblem, InputProblem
from occurs.languages.kit.reference_rows import as_declared, place
from occurs.languages.match_recognize import syntax
from occurs.languages.match_recognize.checks.analysis import ResolvedQuery
from occurs.languages.match_recognize.semantics.search import Mapped, Waiting, search
from occurs.languages.match_recognize.semantics.values import Cells, Partition, Seen, settled
from occurs.model.occurrence import Occurrence
from occurs.model.time import TimeKind
from occurs.model.types import Schema, Type
from occurs.operators.rowpattern.tree import At, Key, Value

Row = Occurrence


def evaluate(
    queries: Sequence[ResolvedQuery],
    schemas: Mapping[str, Schema],
    history: Sequence[Row],
    *,
    kind: TimeKind,
    start: int | None = None,
    until: int | None = None,
    ended: bool = True,
) -> list[Occurrence]:
    """All derived rows in the total order.

    ``queries`` have passed the checks and stand in any order; ``schemas``: by type, for the input.  ``start`` and
    ``until`` are the ends of the clock in ticks, by default the times of the first and the last row.  ``ended``: no
    row follows; without it, what a stream has emitted when its frontier is ``until``.  The label of a derived row is
    (type, what it is, ((variable, label of the row), ..), its position in the match or None); its constituents are the
    mapped rows.  Raises InputProblem (``overflow``, ``bad-skip``) and DefinitionProblem (``unsupported``).
    """
    run = _Run(queries, schemas, history, kind, start, until, ended)
    return [row for query in run.queries for row in run.of(query).rows]


def timeouts(
    queries: Sequence[ResolvedQuery],
    schemas: Mapping[str, Schema],
    history: Sequence[Row],
    *,
    kind: TimeKind,
    start: int | None = None,
    until: int | None = None,
    ended: bool = True,
) -> list[Occurrence]:
    """The attempts that WITHIN has ended, with the same arguments as :func:`evaluate`, by time."""
    run = _Run(queries, schemas, history, kind, start, until, ended)
    return [row for query in run.queries for row in run.of(query).timeouts]


@dataclass
class Found:
    """What one query derives: its rows, and the attempts that WITHIN has ended.

    ``complete``: no further row has this time or an earlier one.
    """

    rows: list[Occurrence]
    timeouts: list[Occurrence]
    complete: int


class _Run:
    """One evaluation of a history; a query runs behind the one that makes what it reads."""

    def __init__(
        self,
        queries: Sequence[ResolvedQuery],
        schemas: Mapping[str, Schema],
        history: Sequence[Row],
        kind: TimeKind,
        start: int | None,
        until: int | None,
        ended: bool,
    ) -> None:
        inside = [e for e in history if (start is None or e.time >= start) and (until is None or e.time <= until)]
        rows = [replace(e, label=("row", n), attributes=as_declared(e, schemas)) for n, e in enumerate(inside)]
        self.rows = sorted(rows, key=lambda e: (e.time, *place(e), e.label))
        self.until = max((e.time for e in inside), default=0) if until is None else until
        self.queries, self.kind, self.ended = queries, kind, ended
        self.makers = {q.name: q for q in queries}
        self.done: dict[str, Found] = {}

    def of(self, query: ResolvedQuery) -> Found:
        """What a query derives, computed once."""
        if query.name not in self.done:
            maker = self.makers.get(query.source)
            if maker is None:
                rows, until = [e for e in self.rows if e.type == query.source], self.until
            else:
                rows, until = self.of(maker).rows, self.of(maker).complete
            known = rows if self.ended else [e for e in rows if e.time <= until]
            self.done[query.name] = found_by(query, known, self.kind, self.until if self.ended else until, self.ended)
        return self.done[query.name]


def found_by(query: ResolvedQuery, rows: Sequence[Row], kind: TimeKind, until: int, ended: bool) -> Found:
    """What one query derives from the rows that it reads, which are in the total order."""
    if not ended and query.order[0] != Key("time"):
        message = f"`{query.name}` cannot run on a stream: its ORDER BY does not begin with `time`"
        raise DefinitionProblem.of("unsupported", message, hint="begin ORDER BY with `time`")
    partitions: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        partitions.setdefault(tuple(_value(row, c) for c in query.partition), []).append(number)
    out, late, complete = [], [], until
    for numbers in partitions.values():
        scan = _Scan(query, [rows[n] for n in ordered(numbers, rows, query.order)], kind, until, ended)
        scan.run()
        out += scan.out
        late += scan.late
        if scan.waits is not None and not at_once(query):
            # an attempt that waits may still derive a row at the time of its first row
            complete = min(complete, scan.waits - 1)
    places = {id(row): number for number, row in enumerate(rows)}
    out.sort(key=lambda o: (places[id(o.behind)], o.number or 0, o.position or 0))
    late.sort(key=lambda o: (o.time, places[id(o.behind)]))
    return Found([o.row for o in out], [o.row for o in late], complete)


def at_once(query: ResolvedQuery) -> bool:
    """Whether every row is known at its time: it stands behind the last row of a match, all matches have as many rows,
    and nothing looks behind them."""
    looks = any(isinstance(n, syntax.Anchor) and n.end for n in query.pattern.walk()) or any(
        isinstance(n, At) and n.move > 0
        for e in (*query.conditions.values(), *(m.expr for m in query.measures))
        for n in e.walk()
    )
    low, high = sizes(query.pattern)
    return query.rows == syntax.ONE and not looks and low == high


def sizes(pattern: syntax.Pattern) -> tuple[int, float]:
    """How many rows a pattern maps at least, and at most."""
    match pattern:
        case syntax.Variable():
            return 1, 1
        case syntax.Anchor():
            return 0, 0
        case syntax.Exclusion(part=part):
            return sizes(part)
        case syntax.Repeat(part=part, low=least, high=most):
            low, high = sizes(part)
            return low * least, 0 if high == 0 else high * (math.inf if most is None else most)
        case syntax.Alternation(parts=parts):
            found = [sizes(p) for p in parts]
            return min(low for low, _ in found), max(high for _, high in found)
        case syntax.Sequence(parts=parts) | syntax.Permute(parts=parts):
            found = [sizes(p) for p in parts]
            return sum(low for low, _ in found), sum(high for _, high in found)
    raise AssertionError(f"not a pattern: {pattern}")


def ordered(numbers: Sequence[int], rows: Sequence[Row], order: Sequence[Key]) -> list[int]:
    """The rows of a partition in the order of ORDER BY, ties in the total order."""
    out = list(numbers)
    for key in reversed(order):
        known = [n for n in out if _value(rows[n], key.column) is not None]
        null = [n for n in out if _value(rows[n], key.column) is None]
        known.sort(key=lambda n: _value(rows[n], key.column), reverse=key.descending)
        out = null + known if key.nulls_first else known + null
    return out


def _value(row: Row, column: str) -> Any:
    return row.time if column == "time" else row.attributes.get(column)


# --- the scan of one partition ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Out:
    """A derived row, behind which row of the input it stands, and its rank there."""

    row: Occurrence
    behind: Row
    number: int | None = None
    position: int | None = None

    @property
    def time(self) -> int:
        return self.row.time


@dataclass
class _Scan:
    """The scan of one partition (match-recognize.md, section 4)."""

    query: ResolvedQuery
    rows: list[Row]
    kind: TimeKind
    until: int
    ended: bool
    out: list[Out] = field(default_factory=list)
    late: list[Out] = field(default_factory=list)
    #: the time of the first row of the attempt that waits
    waits: int | None = None

    def run(self) -> None:
        """Every attempt, in turn, up to the first that waits."""
        query, every = self.query, self.query.rows != syntax.ONE
        partition = Partition(self.rows, self.kind, self.until, self.ended)
        at, number = 0, 0
        matched: set[int] = set()
        while at < len(self.rows):
            try:
                attempt = search(query, partition, at, number + 1)
                if attempt.match is None:
                    if query.rows == syntax.UNMATCHED and at not in matched:
                        self._outside(at, "unmatched", None)
                    if attempt.late is not None:
                        self._timeout(partition, at, attempt.late)
                    at += 1
                elif not attempt.match:
                    number += 1
                    if query.rows != syntax.OMIT:
                        self._empty(partition, at, number)
                    at += 1
                else:
                    found = Seen(partition, at, attempt.match, number + 1)
                    # all values before any row: a measure that waits holds the whole match back
                    made = list(self._all_rows(found) if every else self._one_row(found))
                    number += 1
                    self.out += [o for o in made if o is not None]
                    matched |= set(range(at, at + len(attempt.match)))
                    at = self._next(at, attempt.match)
            except Waiting:
                self.waits = self.rows[at].time
                return

    def _next(self, at: int, match: Mapped) -> int:
        """Where the scan goes on behind a match (AFTER MATCH SKIP)."""
        skip = self.query.skip
        if skip.to == "past":
            return at + len(match)
        if skip.to == "next":
            return at + 1
        found = [i for i, (variable, _) in enumerate(match) if variable in skip.variables]
        if not found or found[0 if skip.to == "first" else -1] == 0:
            why = "no row is mapped to it" if not found else "it is the first row of the match"
            key = ", ".join(f"{c} = {_value(self.rows[at], c)}" for c in self.query.partition)
            message = f"{self.query.name}: cannot skip to {skip.to.upper()} {skip.name}: {why}"
            message += f" (the match at time {self.rows[at].time}{f', {key}' if key else ''})"
            raise InputProblem.of("bad-skip", message, definition=self.query.name)
        return at + found[0 if skip.to == "first" else -1]

    # --- output ------------------------------------------------------------------------------------------------------

    def _one_row(self, found: Seen) -> Iterator[Out | None]:
        """The row of a match with ONE ROW PER MATCH."""
        last = found.rows[-1]
        measures = found.at_position(len(found.match) - 1).measures(self.query.measures)
        yield self._row(last, measures, found, found.number, None)

    def _all_rows(self, found: Seen) -> Iterator[Out | None]:
        """The rows of a match with ALL ROWS PER MATCH; excluded ones are left out."""
        for position, row in enumerate(found.rows):
            measures = found.at_position(position).measures(self.query.measures)
            if not found.match[position][1]:
                yield self._row(row, measures, found, found.number, position)

    def _empty(self, partition: Partition, at: int, number: int) -> None:
        """The row of an empty match."""
        seen = Seen(partition, at, (), number)
        self._outside(at, "empty", seen)

    def _outside(self, at: int, what: str, seen: Seen | None) -> None:
        """A row that is not mapped: of an empty match, or without a match, whose measures are null."""
        row = self.rows[at]
        measures = {m.name: None for m in self.query.measures}
        if seen is not None:
            measures = seen.measures(self.query.measures)
        label = (self.query.name, what, (("", row.label),), None)
        made = self._selected(row, measures, label, ())
        if made is not None:
            self.out.append(Out(made, row, None if seen is None else seen.number))

    def _row(
        self, row: Row, measures: Mapping[str, Any], found: Seen, number: int | None, position: int | None
    ) -> Out | None:
        mapped = tuple((v, r.label) for (v, _), r in zip(found.match, found.rows, strict=True))
        made = self._selected(row, measures, (self.query.name, "match", mapped, position), tuple(found.rows))
        return None if made is None else Out(made, row, number, position)

    def _selected(
        self, row: Row, measures: Mapping[str, Any], label: tuple[Any, ...], because: tuple[Row, ...]
    ) -> Occurrence | None:
        """The derived row of SELECT, None if WHERE is not true."""
        query = self.query
        columns = {n: _value(row, n) for n, _ in query.columns if n not in measures} | dict(measures)
        cells = Cells({**columns, "time": row.time}, self._types(), self.kind)
        if query.where is not None and settled(cells.condition(query.where), query.name, "WHERE") is not True:
            return None
        values = {o.name: _cell(settled(cells.value(o.expr), query.name, o.name), o) for o in query.outputs}
        return Occurrence(query.name, row.time, values, label=label, constituents=because)

    def _types(self) -> dict[str, Type]:
        return {**dict(self.query.columns), "time": Type.TIMESTAMP if self.kind.timestamp else Type.INT}

    def _timeout(self, partition: Partition, at: int, late: Mapped) -> None:
        """The row of an attempt that WITHIN has ended: the layout of ONE ROW PER MATCH, over the rows mapped so far."""
        query = self.query
        assert query.within is not None
        due = self.rows[at].time + _ticks(query, self.kind)
        if due > self.until:
            return
        known = Partition([r for r in self.rows if r.time <= due], self.kind, due, True)
        seen = Seen(known, at, late, None)
        measures = seen.at_position(len(late) - 1).measures(query.measures)
        row = seen.rows[-1]
        values = {n: _value(row, n) for n in query.partition} | {
            m.name: _cell(settled(measures[m.name], query.name, m.name), m) for m in query.measures
        }
        mapped = tuple((v, r.label) for (v, _), r in zip(late, seen.rows, strict=True))
        made = Occurrence(query.name, due, values, label=(query.name, "timeout", mapped, None),
                          constituents=tuple(seen.rows))  # fmt: skip
        self.late.append(Out(made, self.rows[at]))


def _ticks(query: ResolvedQuery, kind: TimeKind) -> int:
    assert query.within is not None
    exact = kind.convert(query.within)
    assert exact is not None
    return int(exact)


def _cell(value: Any, of: Value) -> Any:
    """An int in a column of floats is a float."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and of.type is Type.FLOAT else value
