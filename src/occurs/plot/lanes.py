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
from occurs.model.colours import COLOURS, FAILED, INPUT
from occurs.model.time import TimeKind
from occurs.plot.order import natural

#: bars that overlap in one lane stand below one another, in so many rows at most
MOST_STACKED = 10
#: columns that are no attributes
_SPECIAL = ("type", "time", "end", "label", "because", "final", "query")
#: wider labels are cut
_LABEL = 40
#: points of a signal that are drawn; of more, the least and the greatest of each step of time
MOST_POINTS = 4000
#: attributes that are drawn as signals of one type, if nobody names them
MOST_SIGNALS = 4
#: whole numbers whose name ends so are identities, and not measured
_IDENTITY = re.compile(r"(?i:(^|_)id|number|code)$|(?<=[a-z])(Id|ID)$")


@dataclass(frozen=True)
class Lane:
    """What happened of one type under one key, by start; times are ticks.

    ``end`` is the start of what does not last, and the end of the picture of what is ``open``.  ``row``: which of the
    ``rows`` of the lane; ``crowded``: others are drawn over it.  ``label``: the attributes in short, ``text``:
    everything, a line each.  A lane with ``values`` is a signal: the numbers of the attribute ``signal`` (NaN: null).
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
    signal: str = ""
    values: np.ndarray | None = None

    @property
    def name(self) -> str:
        """What stands beside the lane."""
        return f"{self.type}.{self.signal}" if self.signal else self.type


@dataclass(frozen=True)
class Group:
    """The lanes of one key; ``name`` is empty if rows are not grouped."""

    name: str
    lanes: tuple[Lane, ...]


@dataclass(frozen=True)
class Answer:
    """What the timeline of an answer shows beside rows: types whose rows ``failed``, types whose rows are ``added``
    (dashed: they are not in the input), and the time that was ``asked`` for, from a tick to a tick."""

    failed: frozenset[str] = frozenset()
    added: frozenset[str] = frozenset()
    asked: tuple[int, int] | None = None


@dataclass(frozen=True)
class Chart:
    """A timeline from ``start`` to ``end`` (ticks of ``kind``); ``notices``: the rows that are not shown, and why.

    ``inputs``: those of the ``types`` whose rows are input events and not detections.
    """

    title: str
    kind: TimeKind
    start: int
    end: int
    types: tuple[str, ...]
    groups: tuple[Group, ...]
    notices: tuple[str, ...]
    inputs: frozenset[str] = frozenset()
    answer: Answer = Answer()

    @property
    def colours(self) -> dict[str, str]:
        """The fill colour of each type: input events share one, and so do rows that failed, whose colour no other type
        has then."""
        marked = self.answer.failed
        found = [t for t in self.types if t not in self.inputs | marked]
        free = [c for c in COLOURS if not marked or c != FAILED]
        own = {t: free[i % len(free)] for i, t in enumerate(found)} | dict.fromkeys(marked, FAILED)
        return {t: own.get(t, INPUT) for t in self.types}

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
    signals: tuple[str, ...] = ()

    def take(self, at: np.ndarray) -> _Rows:
        group = [self.group[i] for i in at.tolist()]
        table = self.table.take(pa.array(at))
        parts = self.start[at], self.end[at], self.open[at], self.lasting, group, self.signals
        return _Rows(self.type, table, *parts)


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
    columns: Mapping[str, Sequence[str]] | None = None,
    inputs: Mapping[str, pa.Table] | None = None,
    signals: Sequence[str] | None = None,
    answer: Answer | None = None,
) -> Chart:
    """The timeline of ``tables``: type to rows with ``time`` (int64 ticks), ``end`` of what lasts (null: open).

    ``key``: attributes to group by (in any case of letters); rows of types without them are a group of their own.
    ``columns``: what the attributes of ``key`` are called in some types.  ``inputs``: tables of input events, drawn
    above; their numeric attributes are ``signals`` (None: those that :func:`measured` finds).  At most ``most_rows``
    rows are shown, and whole groups of ``most_lanes`` lanes together.  ``answer``: what stands out in the answer to a
    question.  Raises UsageProblem if no type has an attribute of ``key``, or no input one of ``signals``.
    """
    events = {name: table for name, table in (inputs or {}).items() if name not in tables}
    everything = {**events, **tables}
    _need(key, everything, "no type has an attribute", columns)
    _need(signals or (), events, "no input event has an attribute")
    parts: list[_Rows] = []
    drawn: list[_Rows] = []
    for name, table in everything.items():
        own = tuple((columns or {}).get(name, key))
        found = measured(table, own, signals) if name in events else ()
        part = _rows(name, table, key, own, start, end, found)
        if len(part.start):
            (drawn if found else parts).append(part)
    notices: list[str] = []
    parts, drawn = _fewer_groups(parts, drawn, most_lanes, frozenset(tables), notices)
    parts = _fewer_rows(parts, most_rows, kind, notices, frozenset(tables))
    both = [p for name in everything for p in (*drawn, *parts) if p.type == name]
    first = min((int(p.start.min()) for p in both), default=0) if start is None else start
    last = max((int(p.end[~p.open].max(initial=p.start.max())) for p in both), default=first) if end is None else end
    last = max(last, first)
    lanes: dict[str, list[Lane]] = {}
    for p in both:
        for name, at in _members(p).items():
            there = lanes.setdefault(name, [])
            one = p.take(at)
            if p.signals:
                there += (_signal(one, s, kind, (first, last), notices) for s in p.signals)
            else:
                there.append(_lane(one, name, key, (columns or {}).get(p.type, key), kind, last, notices))
    groups = [Group(name, tuple(lanes[name])) for name in sorted(lanes, key=natural)]
    types = tuple(p.type for p in both)
    shown = tuple(dict.fromkeys(notices))
    known = frozenset(events) & {*types}
    return Chart(title, kind, first, last, types, tuple(groups), shown, known, answer or Answer())


def _need(
    names: Sequence[str], tables: Mapping[str, pa.Table], text: str, columns: Mapping[str, Sequence[str]] | None = None
) -> None:
    known = {c for t in tables.values() for c in t.column_names if c not in _SPECIAL}
    for name in names:
        if tables and not columns and not any(c.lower() == name.lower() for c in known):
            hint = did_you_mean(name, known, "attributes")
            raise UsageProblem.of("unknown-attribute", f"{text} `{name}`", hint=hint)


def measured(table: pa.Table, key: Sequence[str], signals: Sequence[str] | None = None) -> tuple[str, ...]:
    """The attributes of a type that are drawn as signals: those of ``signals``, without them the first numeric ones
    that are not part of the key, have a value and are not identities by their name."""
    grouped, out = {k.lower() for k in key}, []
    for c in table.column_names:
        number = pa.types.is_floating(table[c].type) or pa.types.is_integer(table[c].type)
        if c in (*_SPECIAL, "sequence") or not number or "end" in table.column_names:
            continue
        if signals is not None:
            if any(s.lower() == c.lower() for s in signals):
                out.append(c)
        elif c.lower() not in grouped and table[c].null_count < len(table):
            out += [c] * (pa.types.is_floating(table[c].type) or not _IDENTITY.search(c))
    return tuple(out if signals is not None else out[:MOST_SIGNALS])


def _rows(
    name: str,
    table: pa.Table,
    key: Sequence[str],
    own: Sequence[str],
    start: int | None,
    end: int | None,
    signals: tuple[str, ...],
) -> _Rows:
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
    return _Rows(name, table, begin[at], stop[at], open_[at], lasting, _groups(table, key, own), signals)


def _groups(table: pa.Table, key: Sequence[str], own: Sequence[str]) -> list[str]:
    """The name of each row's group; ``own``: what this type calls the attributes of the key."""
    columns = [next((c for c in table.column_names if c.lower() == k.lower()), None) for k in own]
    columns += [None] * (len(key) - len(columns))
    if not key or any(c is None for c in columns):
        return [f"no {', '.join(key)}" if key else ""] * len(table)
    parts = [
        pc.binary_join_element_wise(k, pc.fill_null(plain_text(table[str(c)]), "null"), " ")
        for k, c in zip(key, columns)
    ]
    names: list[str] = pc.binary_join_element_wise(*parts, ", ").to_pylist()
    return names


def _fewer_groups(
    parts: list[_Rows], drawn: list[_Rows], most: int, detections: frozenset[str], notices: list[str]
) -> tuple[list[_Rows], list[_Rows]]:
    """Whole groups as long as their lanes fit, those with detections before others: one at least."""
    lanes: dict[str, int] = {}
    first: set[str] = set()
    for p in (*parts, *drawn):
        for name in set(p.group):
            lanes[name] = lanes.get(name, 0) + max(1, len(p.signals))
        if p.type in detections:
            first.update(p.group)
    shown: set[str] = set()
    total = 0
    for name in sorted(lanes, key=lambda n: (n not in first, natural(n))):
        total += lanes[name]
        if shown and total > most:
            break
        shown.add(name)
    if len(shown) == len(lanes):
        return parts, drawn
    which = "the first in their order" if len(first) in (0, len(lanes)) else "those with detections first"
    notices.append(f"{len(shown):,} of {len(lanes):,} keys are shown, {which}")

    def taken(some: list[_Rows]) -> list[_Rows]:
        kept = (p.take(np.flatnonzero([g in shown for g in p.group])) for p in some)
        return [p for p in kept if len(p.start)]

    return taken(parts), taken(drawn)


def _fewer_rows(
    parts: list[_Rows], most: int, kind: TimeKind, notices: list[str], detections: frozenset[str]
) -> list[_Rows]:
    """The first rows by their start, those of detections before those of input events."""
    total = sum(len(p.start) for p in parts)
    if total <= most:
        return parts
    starts = np.concatenate([p.start for p in parts])
    later = np.concatenate([np.full(len(p.start), p.type not in detections) for p in parts])
    order = np.lexsort((np.arange(total), starts, later))[:most]
    kept = np.zeros(total, bool)
    kept[order] = True
    until = time_text(starts[order[-1:]], kind)[0]
    what = "those that begin by" if not later.any() else "detections first, then input events until"
    notices.append(f"{most:,} of {total:,} rows are shown, {what} {until}")
    bounds = np.cumsum([0, *(len(p.start) for p in parts)])
    taken = (p.take(np.flatnonzero(kept[a:b])) for p, a, b in zip(parts, bounds, bounds[1:]))
    return [p for p in taken if len(p.start)]


def _members(p: _Rows) -> dict[str, np.ndarray]:
    """The rows of each group."""
    found: dict[str, list[int]] = {}
    for i, name in enumerate(p.group):
        found.setdefault(name, []).append(i)
    return {name: np.array(at) for name, at in found.items()}


def _signal(p: _Rows, name: str, kind: TimeKind, ends: tuple[int, int], notices: list[str]) -> Lane:
    """The values of one attribute; of very many, the least and the greatest of each step of time."""
    values = p.table[name].cast(pa.float64(), safe=False).combine_chunks().to_numpy(zero_copy_only=False)
    values = np.where(np.isinf(values), np.nan, values)
    start = p.start
    if len(start) > MOST_POINTS:
        at = _thinned(start, values, ends)
        counts = f"{len(start):,} values of {p.type}.{name} are drawn as {len(at):,}"
        notices.append(f"{counts}: minimum and maximum per step")
        start, values = start[at], values[at]
    shown = time_text(start, kind)
    numbers = ["null" if np.isnan(v) else f"{v:.6g}" for v in values.tolist()]
    text = [f"{p.type}\n{when}\n{name} = {v}" for when, v in zip(shown, numbers)]
    none, zero = np.zeros(len(start), bool), np.zeros(len(start), np.int64)
    return Lane(p.type, False, start, start, none, zero, 2, none, [""] * len(start), text, name, values)


def _thinned(start: np.ndarray, values: np.ndarray, ends: tuple[int, int]) -> np.ndarray:
    """The places of the least and the greatest value of each of many steps of time."""
    steps = MOST_POINTS // 2
    step = ((start - ends[0]).astype(float) / max(ends[1] - ends[0], 1) * steps).astype(np.int64)
    order = np.lexsort((values, step))
    order = order[~np.isnan(values[order])]
    new = np.flatnonzero(np.diff(step[order], prepend=-1))
    last = np.append(new[1:], len(order)) - 1
    return np.unique(np.concatenate([order[new], order[last]]))


def _lane(
    p: _Rows, group: str, key: Sequence[str], own: Sequence[str], kind: TimeKind, last: int, notices: list[str]
) -> Lane:
    row = _stacked(p.start, p.end) if p.lasting else np.zeros(len(p.start), np.int64)
    crowded = np.full(len(row), row.max() >= MOST_STACKED) & (row >= MOST_STACKED - 1)
    if row.max() >= MOST_STACKED:
        over = int((row >= MOST_STACKED).sum())
        place, hint = (f" of {group}", "show less time") if group else ("", "use --key to separate them")
        notices.append(f"{over:,} overlapping `{p.type}` bars{place} share a row; {hint}")
        row = np.minimum(row, MOST_STACKED - 1)
    grouped = {k.lower() for k in (*key, *own)}
    names = [c for c in p.table.column_names if c not in _SPECIAL and not pa.types.is_nested(p.table[c].type)]
    values = {c: plain_text(p.table[c]).to_pylist() for c in names}
    shown = [c for c in names if c.lower() not in grouped]
    brief = {c: _brief(p.table[c], values[c]) for c in shown}
    label = [_cut(" ".join(str(brief[c][i]) for c in shown if brief[c][i] is not None)) for i in range(len(p.start))]
    begin, end = time_text(p.start, kind), time_text(np.where(p.open, 0, p.end), kind)
    text = []
    for i in range(len(p.start)):
        when = begin[i] if not p.lasting else f"{begin[i]} to {'now (open)' if p.open[i] else end[i]}"
        text.append("\n".join([p.type, when, *(f"{c} = {_or_null(values[c][i])}" for c in names)]))
    end_ = np.where(p.open, np.maximum(last, p.start), p.end)
    return Lane(p.type, p.lasting, p.start, end_, p.open, row, int(row.max()) + 1, crowded, label, text)


def _brief(column: pa.ChunkedArray, text: list[str | None]) -> list[str | None]:
    """Values in few letters: floats with four digits."""
    if not pa.types.is_floating(column.type):
        return text
    return [None if v is None else f"{v:.4g}" for v in column.to_pylist()]


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
