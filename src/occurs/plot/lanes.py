"""What a timeline shows, and where: a group per key, in it a lane per type, in a lane rows of bars or of marks."""

from __future__ import annotations

import heapq
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from occurs.errors import UsageProblem, did_you_mean
from occurs.model.astext import plain_text
from occurs.model.time import TimeKind

#: bars that overlap in one lane stand below one another, in so many rows at most
MOST_STACKED = 10
#: columns that are no attributes
_SPECIAL = ("type", "time", "end", "label", "because", "final", "query")
#: wider labels are cut
_LABEL = 40


@dataclass(frozen=True)
class Lane:
    """What happened of one type under one key, by start; times are ticks.

    ``end`` is the start of what does not last, and the end of the picture of what is ``open``.  ``row``: which of the
    ``rows`` of the lane; ``crowded``: others are drawn over it.  ``label``: the attributes in short, ``text``:
    everything, a line each.
    """

    type: str
    lasting: bool
    start: np.ndarray
    end: np.ndarray
    open: np.ndarray
    row: np.ndarray
    rows: int
    crowded: np.ndarray
    label: list[str]
    text: list[str]


@dataclass(frozen=True)
class Group:
    """The lanes of one key; ``name`` is empty if rows are not grouped."""

    name: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class Chart:
    """A timeline from ``start`` to ``end`` (ticks of ``kind``); ``notices``: what is not shown."""

    title: str
    kind: TimeKind
    start: int
    end: int
    types: tuple[str, ...]
    groups: tuple[Group, ...]
    notices: tuple[str, ...]

    @property
    def rows(self) -> int:
        """The height, in rows: of all lanes, and one for the name of each group."""
        return sum(bool(g.name) + sum(lane.rows for lane in g.lanes) for g in self.groups)


@dataclass
class _Rows:
    """The rows of one type within the picture."""

    type: str
    table: pa.Table
    start: np.ndarray
    #: the latest tick of a row that is open
    end: np.ndarray
    open: np.ndarray
    lasting: bool
    group: list[str]

    def take(self, at: np.ndarray) -> _Rows:
        group = [self.group[i] for i in at.tolist()]
        table = self.table.take(pa.array(at))
        return _Rows(self.type, table, self.start[at], self.end[at], self.open[at], self.lasting, group)


def chart(
    tables: Mapping[str, pa.Table],
    kind: TimeKind,
    *,
    key: Sequence[str] = (),
    start: int | None = None,
    end: int | None = None,
    title: str = "",
    most_rows: int,
    most_lanes: int,
) -> Chart:
    """The timeline of ``tables``: type to rows with ``time`` (int64 ticks), ``end`` of what lasts (null: open).

    ``key``: attributes to group by (in any case of letters); rows of types without them are a group of their own.  At
    most ``most_rows`` rows are shown, and whole groups of ``most_lanes`` lanes together.  Raises UsageProblem if no
    type has an attribute of ``key``.
    """
    for name in key:
        known = {c for t in tables.values() for c in t.column_names if c not in _SPECIAL}
        if tables and not any(c.lower() == name.lower() for c in known):
            hint = did_you_mean(name, known, "attributes")
            raise UsageProblem.of("unknown-attribute", f"no type has an attribute `{name}`", hint=hint)
    parts = [part for name, table in tables.items() if len((part := _rows(name, table, key, start, end)).start)]
    notices: list[str] = []
    parts = _fewer_groups(parts, most_lanes, notices)
    parts = _fewer_rows(parts, most_rows, kind, notices)
    first = min((int(p.start.min()) for p in parts), default=0) if start is None else start
    last = max((int(p.end[~p.open].max(initial=p.start.max())) for p in parts), default=first) if end is None else end
    lanes: dict[str, list[Lane]] = {}
    for p in parts:
        for name, at in _members(p).items():
            lanes.setdefault(name, []).append(_lane(p.take(at), name, key, kind, max(last, first), notices))
    groups = [Group(name, tuple(lanes[name])) for name in sorted(lanes, key=_natural)]
    types = tuple(p.type for p in parts)
    return Chart(title, kind, first, max(last, first), types, tuple(groups), tuple(dict.fromkeys(notices)))


def _rows(name: str, table: pa.Table, key: Sequence[str], start: int | None, end: int | None) -> _Rows:
    begin = table["time"].to_numpy()
    lasting = "end" in table.column_names
    open_ = table["end"].is_null().to_numpy() if lasting else np.zeros(len(table), bool)
    stop = np.where(open_, np.iinfo(np.int64).max, table["end"].fill_null(0).to_numpy()) if lasting else begin
    inside = np.ones(len(table), bool)
    if start is not None:
        inside &= stop >= start
    if end is not None:
        inside &= begin <= end
    at = np.flatnonzero(inside)
    at = at[np.argsort(begin[at], kind="stable")]
    table = table.take(pa.array(at))
    return _Rows(name, table, begin[at], stop[at], open_[at], lasting, _groups(table, key))


def _groups(table: pa.Table, key: Sequence[str]) -> list[str]:
    """The name of each row's group."""
    columns = [next((c for c in table.column_names if c.lower() == k.lower()), None) for k in key]
    if not key or any(c is None for c in columns):
        return [f"no {', '.join(key)}" if key else ""] * len(table)
    parts = [
        pc.binary_join_element_wise(k, pc.fill_null(plain_text(table[str(c)]), "null"), " ")
        for k, c in zip(key, columns)
    ]
    names: list[str] = pc.binary_join_element_wise(*parts, ", ").to_pylist()
    return names


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Numbers in names by their value."""
    parts = (p for p in re.split(r"(\d+)", name) if p)
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in parts]


def _fewer_groups(parts: list[_Rows], most: int, notices: list[str]) -> list[_Rows]:
    """Whole groups as long as their lanes fit: one at least."""
    lanes: dict[str, int] = {}
    for p in parts:
        for name in set(p.group):
            lanes[name] = lanes.get(name, 0) + 1
    shown: set[str] = set()
    total = 0
    for name in sorted(lanes, key=_natural):
        total += lanes[name]
        if shown and total > most:
            break
        shown.add(name)
    if len(shown) == len(lanes):
        return parts
    notices.append(f"{len(shown):,} of {len(lanes):,} keys are shown, the first in their order")
    taken = (p.take(np.flatnonzero([g in shown for g in p.group])) for p in parts)
    return [p for p in taken if len(p.start)]


def _fewer_rows(parts: list[_Rows], most: int, kind: TimeKind, notices: list[str]) -> list[_Rows]:
    """The first rows by their start."""
    total = sum(len(p.start) for p in parts)
    if total <= most:
        return parts
    starts = np.concatenate([p.start for p in parts])
    order = np.argsort(starts, kind="stable")[:most]
    kept = np.zeros(total, bool)
    kept[order] = True
    until = time_text(starts[order[-1:]], kind)[0]
    notices.append(f"{most:,} of {total:,} rows are shown, those that begin by {until}")
    bounds = np.cumsum([0, *(len(p.start) for p in parts)])
    taken = (p.take(np.flatnonzero(kept[a:b])) for p, a, b in zip(parts, bounds, bounds[1:]))
    return [p for p in taken if len(p.start)]


def _members(p: _Rows) -> dict[str, np.ndarray]:
    """The rows of each group."""
    found: dict[str, list[int]] = {}
    for i, name in enumerate(p.group):
        found.setdefault(name, []).append(i)
    return {name: np.array(at) for name, at in found.items()}


def _lane(p: _Rows, group: str, key: Sequence[str], kind: TimeKind, last: int, notices: list[str]) -> Lane:
    row = _stacked(p.start, p.end) if p.lasting else np.zeros(len(p.start), np.int64)
    crowded = np.full(len(row), row.max() >= MOST_STACKED) & (row >= MOST_STACKED - 1)
    if row.max() >= MOST_STACKED:
        over = int((row >= MOST_STACKED).sum())
        place = f" of {group}" if group else ""
        notices.append(f"{over:,} bars of {p.type}{place} overlap too many others: they are drawn over one another")
        row = np.minimum(row, MOST_STACKED - 1)
    grouped = {k.lower() for k in key}
    names = [c for c in p.table.column_names if c not in _SPECIAL and not pa.types.is_nested(p.table[c].type)]
    values = {c: plain_text(p.table[c]).to_pylist() for c in names}
    shown = [c for c in names if c.lower() not in grouped]
    label = [_cut(" ".join(str(values[c][i]) for c in shown if values[c][i] is not None)) for i in range(len(p.start))]
    begin, end = time_text(p.start, kind), time_text(np.where(p.open, 0, p.end), kind)
    text = []
    for i in range(len(p.start)):
        when = begin[i] if not p.lasting else f"{begin[i]} to {'now (open)' if p.open[i] else end[i]}"
        text.append("\n".join([p.type, when, *(f"{c} = {_or_null(values[c][i])}" for c in names)]))
    end_ = np.where(p.open, np.maximum(last, p.start), p.end)
    return Lane(p.type, p.lasting, p.start, end_, p.open, row, int(row.max()) + 1, crowded, label, text)


def _or_null(value: str | None) -> str:
    return "null" if value is None else value


def _cut(label: str) -> str:
    return label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"


def _stacked(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The first row in which each bar, in order of starts, overlaps none before it; bars that touch may follow."""
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    out = np.empty(len(start), np.int64)
    used = 0
    for i, (begin, stop) in enumerate(zip(start.tolist(), end.tolist())):
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free:
            free.append(used)
            used += 1
        out[i] = heapq.heappop(free)
        heapq.heappush(busy, (stop, int(out[i])))
    return out


def time_text(ticks: np.ndarray, kind: TimeKind) -> list[str]:
    """Times as they are read: dates in UTC, or numbers."""
    if not kind.timestamp:
        return [str(t) for t in ticks.tolist()]
    column = pa.chunked_array([pa.array(ticks, pa.int64()).cast(pa.timestamp("us", tz="UTC"))])
    return [t.replace("T", " ").removesuffix("Z") for t in plain_text(column).to_pylist()]
