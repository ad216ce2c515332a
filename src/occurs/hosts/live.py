"""Push and pull on the local host: events one by one through an engine in this process."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from occurs.engine.engine import Engine
from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.hosts.pushed import Layout, Row, joined
from occurs.model.elements import element_of
from occurs.model.history import History
from occurs.model.ticks import instant
from occurs.model.type_table import TypeTable
from occurs.model.types import Schema
from occurs.model.values import flattened, short
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

#: a time: ticks, or for timestamps also a datetime or ISO 8601 text
Time = int | str | dt.datetime
Detection = dict[str, Any]
#: reads tables, but for rows up to a tick (None: all rows)
Intake = Callable[[Any, int | None], History]

_INT64 = range(-(2**63), 2**63)
#: so many rows that complete nothing wait at most
_WAIT = 256


class Live:
    """A run that takes events one at a time, or some at once, and returns the detections that they complete.

    Use :meth:`occurs.Program.live` to make one.  Push events in time order; events of the same instant may arrive in
    any order.  An instant is evaluated when a later event or :meth:`advance` completes it, and the detections are those
    of a run over the whole history.  An event at or before the frontier is late: it is counted in ``late`` and ignored.
    An event of a type that the program does not read only moves the clock.

    A detection is a dict with ``type``, ``time``, ``end`` (intervals only) and the attributes, and with ``label`` and
    ``because`` if they were requested.

    Attributes:
        now: The time of the newest event, in ticks.
        frontier: The time up to which all instants have been evaluated, in ticks.
        late: The number of late events.
        never: The triggers that can no longer fire: ``type``, ``time`` and the generic variables of each.  The list
            grows until the caller empties it.
    """

    def __init__(self, stage: Stage, intake: Intake, *, labelled: bool = False, start: int | None = None):
        self.stage = stage
        self._intake = intake
        self.labelled = labelled
        self.start = start
        #: the time of the newest event
        self.now: int | None = None
        #: the greatest time or end of an event: the clock ends there when the history is closed
        self.last: int | None = None
        #: up to here all is judged
        self.frontier: int | None = None
        self.late = 0
        self.never: list[dict[str, Any]] = []
        self._closed = False
        self._engine = Engine(stage, labelled=labelled)
        #: rows of instants that are not complete: those that were pushed alone, and those that were pushed together
        self._waiting: dict[str, list[Row]] = {}
        self._tables: dict[str, list[TypeTable]] = {}
        #: types whose rows complete nothing, so that they wait for one that may; None: no rows wait.  With labels none
        #: wait, as a batch of rows has labels only if each of them brings one
        self._silent = None if labelled else stage.silent
        #: how many rows wait that may complete nothing, and whether one waits that may
        self._unheard, self._heard = 0, False
        self._layouts = {t: self._layout(t) for t in stage.inputs}
        #: reported types in the order in which their rows are given out, notices last
        self._order = {t: n for n, t in enumerate(t for t in stage.reported if t not in stage.notices)}
        # what lasts comes when it is final, by type (phenesthe.md, section 5)
        self._by_type = all(t in stage.families for t in stage.reported)

    def on_event(
        self,
        type: str,
        time: Time,
        attributes: Mapping[str, Any] | None = None,
        sequence: int | None = None,
        label: str | None = None,
    ) -> list[Detection]:
        """Push one event and return the detections of all instants before it.

        Args:
            type: The event type.
            time: The time: ticks, or for timestamps also a datetime or ISO 8601 text.
            attributes: The attributes by name.  Missing attributes are null, unused ones are ignored.  For an interval,
                ``end`` is one of them (missing or null: the interval is open).
            sequence: The position among simultaneous events.
            label: The unique identity of the event.

        Returns:
            The detections, in time order.

        Raises:
            InputProblem: If a value has the wrong type (``bad-time``, ``bad-value``).  The event is then ignored.
            UsageProblem: If the history was closed (``closed``).
        """
        self._check_open()
        ticks = self._ticks(time)
        if not isinstance(type, str) or not type:
            raise InputProblem.of("bad-value", f"the type of an event must be text, not {short(type)}", value=type)
        if attributes is not None and not isinstance(attributes, Mapping):
            text = f"attributes must be a mapping from names to values, not {short(attributes)}"
            raise InputProblem.of("bad-value", text, value=attributes)
        if type in self.stage.families:
            text = f"the rules define `{type}`, so events of this type cannot be pushed"
            raise InputProblem.of("conflicting-values", text, hint="rename the definition or the input type")
        layout = self._layouts.get(type)
        given = attributes or {}
        if any(isinstance(v, dict) for v in given.values()):
            given = flattened(given, () if layout is None else layout.names)
        if layout is not None and layout.elements:
            given = {**{n: element_of(given, n) for n in layout.elements}, **given}
        end = self._end(type, layout, ticks, given)
        row = None if layout is None else layout.row(ticks, end, given, sequence, label)
        if self.frontier is not None and ticks <= self.frontier:
            self.late += 1
            return []
        if self.start is not None and ticks < self.start:
            return []
        out: list[Detection] = []
        if end == ticks:
            row = None  # not an interval
        if self.now is not None and ticks > self.now:
            out = self.advance(ticks - 1)
        if self.start is None:
            self.start = ticks
        if self.now is None or ticks > self.now:
            self.now = ticks
        last = ticks if end is None or end < ticks else end
        if self.last is None or last > self.last:
            self.last = last
        if row is not None:
            self._waiting.setdefault(type, []).append(row)
            self._count(type, 1)
        return out

    def push_many(self, events: Any) -> list[Detection]:
        """Push the events of tables and return the detections of all instants before the last of them.

        The detections are those of :meth:`on_event`, called for one row after the other in order of time, and
        what was pushed before counts as usual.  Calls with many rows take far less time per event.

        Args:
            events: A table with the columns ``type`` and ``time``, or a mapping from event types to tables, as for
                :meth:`occurs.Program.detect`: tables of Arrow, pandas or Polars, with a column for each attribute and,
                optionally, ``end``, ``sequence`` and ``label``.  Their rows may be in any order.  Times are in the
                unit of the run.

        Returns:
            The detections of the call together, in the order of :meth:`advance`.

        Raises:
            InputProblem: If a column is missing or a row is unreadable (``missing-column``, ``bad-time``,
                ``bad-value``).  None of the events is then pushed.
            UsageProblem: If the history was closed (``closed``), or if the times are timestamps and the run counts
                integer times.

        Examples:
            >>> import occurs, pyarrow as pa
            >>> rules = "event Temp(Value: int) define Hot(v) from Temp(Value > 45) where v = Temp.Value"
            >>> live = occurs.parse(rules).live(time_unit="s")
            >>> live.push_many(pa.table({"type": ["Temp"] * 3, "time": [0, 60, 61], "Value": [20, 50, 60]}))
            [{'type': 'Hot', 'time': 60, 'v': 50}]
            >>> live.advance(61)
            [{'type': 'Hot', 'time': 61, 'v': 60}]
        """
        self._check_open()
        history = self._intake(events, self.frontier)
        late = 0 if self.frontier is None else history.counts["outside"]
        if self.start is not None and history.times is not None and history.times[0] < self.start:
            history = self._intake(events, self.start - 1)
        given = {t: self._layouts[t].conforming(history.rows(t)) for t in history.tables if t in self._layouts}
        if self.labelled:
            _check_labels(given)
        self.late += late
        if history.times is None or history.clock is None:
            return []
        (first, last), now = history.times, self.now
        end = history.clock[1]
        if now is not None and first <= now:
            given = self._wait(given, now)
        out: list[Detection] = []
        if now is None or last > now:
            done, newest = _cut(given, last - 1)
            if (now is not None or first < last) and (self.frontier is None or last - 1 > self.frontier):
                out = self._judge(last - 1, closing=False, given=done, start=first)
            self.now = last
            self._wait(newest, last)
        if self.start is None:
            self.start = first
        self.last = end if self.last is None else max(self.last, end)
        return out

    def _check_open(self) -> None:
        if self._closed and self.stage.decided_by_end:
            text = "the history was closed, so no more events can be pushed"
            raise UsageProblem.of("closed", text, hint="start again with Program.live")

    def advance(self, frontier: Time) -> list[Detection]:
        """Declare that all events up to and including ``frontier`` have arrived, and return the detections up to it.

        A frontier that is not later than the previous one has no effect.

        Args:
            frontier: The time: ticks, or for timestamps also a datetime or ISO 8601 text.

        Returns:
            The detections in time order; if the program has only Phenesthe definitions, ordered by type and then time.

        Raises:
            InputProblem: If the time is invalid (``bad-time``).
        """
        until = self._ticks(frontier)
        if self.frontier is not None and until <= self.frontier:
            return []
        return self._judge(until, closing=False)

    def _judge(
        self, until: int, closing: bool, given: Mapping[str, TypeTable] | None = None, start: int | None = None
    ) -> list[Detection]:
        """Evaluate the rows that wait, and behind them those ``given``, up to a tick.  ``start``: of the clock, if it
        has not begun."""
        if not closing and self._nothing_comes(given or {}):
            for t, table in (given or {}).items():
                self._tables.setdefault(t, []).append(table)
                self._count(t, len(table))
            self.frontier = until
            return []
        new = self._ready(until)
        for t, table in (given or {}).items():
            rows = self._layouts[t].rows((), [table])
            new[t] = joined(new[t], rows) if t in new else rows
        done = self._engine.advance(new, until, start if self.start is None else self.start, closing=closing)
        self.frontier = until
        found = done.found()
        if not found:
            return []
        out: list[Detection] = []
        for t, trigger in self.stage.notices.items():
            if t in found:
                self.never += [{**row, "type": trigger} for row in done.records(t)]
        for t in sorted(found.intersection(self._order), key=self._order.__getitem__):
            out += done.records(t, label=self.labelled, because=self.labelled)
        return out if len(out) < 2 else sorted(out, key=_type if self._by_type else _time)

    def _ready(self, until: int) -> dict[str, Rows]:
        """The rows that wait and are not later than a tick; they wait no more."""
        waiting, tables = self._waiting, self._tables
        self._waiting, self._tables = {}, {}
        if self.now is not None and self.now > until:
            for t, rows in waiting.items():
                self._waiting[t] = [r for r in rows if r[0] > until]
                waiting[t] = [r for r in rows if r[0] <= until]
            for t, found in tables.items():
                early, late = zip(*[_halves(table, until) for table in found], strict=True)
                tables[t], self._tables[t] = ([part for part in half if part is not None] for half in (early, late))
        ready = {}
        self._unheard, self._heard = 0, False
        for t, left in self._waiting.items():
            self._count(t, len(left))
        for t, parts in self._tables.items():
            self._count(t, sum(map(len, parts)))
        for t in waiting if not tables else {**waiting, **tables}:
            rows, found = waiting.get(t, []), tables.get(t, [])
            if rows or found:
                ready[t] = self._layouts[t].rows(rows, found)
        return ready

    def _wait(self, given: Mapping[str, TypeTable], until: int) -> dict[str, TypeTable]:
        """Let the rows up to a tick wait; returns the others."""
        early, rest = _cut(given, until)
        for t, table in early.items():
            self._tables.setdefault(t, []).append(table)
            self._count(t, len(table))
        return rest

    def _nothing_comes(self, given: Mapping[str, TypeTable]) -> bool:
        """Can the rows that wait, and those ``given``, complete nothing, and are they few?"""
        silent = self._silent
        return silent is not None and not self._heard and self._unheard < _WAIT and given.keys() <= silent

    def _count(self, type: str, rows: int) -> None:
        """Count rows that begin to wait."""
        if rows and self._silent is not None:
            if type in self._silent:
                self._unheard += rows
            else:
                self._heard = True

    def _layout(self, type: str) -> Layout:
        schema = self.stage.schemas.get(type, Schema())
        return Layout(type, schema, numbered=type in self.stage.numbered, labelled=self.labelled)

    def close(self) -> list[Detection]:
        """End the history and return the remaining detections and the open intervals.

        The history ends at the latest time or end of an event.
        """
        if self.last is None:
            return []
        done = self.frontier is not None and self.last <= self.frontier
        if done and (self._closed or not self.stage.decided_by_end):
            return []
        self._closed = True
        return self._judge(self.last if self.frontier is None else max(self.last, self.frontier), closing=True)

    def stream(self, events: Iterable[Mapping[str, Any]], *, ended: bool = True) -> Iterator[Detection]:
        """Iterate over the detections in an iterable of events (pull).

        Args:
            events: Mappings with ``type``, ``time``, the attributes and, optionally, ``sequence`` and ``label``.  An
                event is consumed when the next detection is requested.
            ended: Whether to close the history after the last event.

        Returns:
            An iterator over the detections.

        Raises:
            InputProblem: If an event is invalid.
        """
        special = ("type", "time", "sequence", "label")
        for number, event in enumerate(events, 1):
            if not isinstance(event, Mapping):
                text = f"event {number} is not a mapping: {short(event)}"
                raise InputProblem.of(
                    "bad-value", text, row=number, value=event, hint='pass a mapping with the keys "type", "time", ..'
                )
            missing = next((n for n in ("type", "time") if n not in event), None)
            if missing is not None:
                hint = did_you_mean(missing, [str(n) for n in event], "keys")
                raise InputProblem.of("missing-column", f"event {number} has no `{missing}`", row=number, hint=hint)
            attributes = {n: v for n, v in event.items() if isinstance(n, str) and n not in special}
            yield from self.on_event(
                event["type"], event["time"], attributes, event.get("sequence"), event.get("label")
            )
        if ended:
            yield from self.close()

    def _ticks(self, time: Time) -> int:
        if isinstance(time, bool) or not isinstance(time, int | str | dt.datetime):
            raise InputProblem.of(
                "bad-time", f"a time must be an integer, text or a datetime, not {short(time)}", value=time
            )
        if isinstance(time, int):
            if time not in _INT64:
                raise InputProblem.of("bad-time", f"the time {short(time)} does not fit into 64 bits", value=time)
            return time
        try:
            return instant(time, self.stage.kind, "time")
        except UsageProblem as error:
            raise InputProblem.of("bad-time", error.message, value=time, hint=error.hint) from error

    def _end(self, type: str, layout: Layout | None, time: int, attributes: Mapping[str, Any]) -> int | None:
        """Where a row ends, None if it has no end or still holds.  Raises InputProblem.

        The rows of a type that is read may have an end only if the type lasts; those of other types move the clock.
        """
        end = attributes.get("end")
        if end is None or not (layout is None or layout.lasting):
            return None
        ticks = self._ticks(end)
        if ticks < time:
            raise InputProblem.of("bad-value", f"a row of `{type}` ends before it starts", value=end)
        return ticks


def _halves(table: TypeTable, until: int) -> tuple[TypeTable | None, TypeTable | None]:
    """The rows up to a tick, and those after it; None if there are none."""
    early = table.column("time").to_numpy() <= until
    count = int(np.count_nonzero(early))
    if count in (0, len(table)):
        return (table, None) if count else (None, table if len(table) else None)
    if early[:count].all():
        return table.rows(slice(0, count)), table.rows(slice(count, None))
    return table.rows(np.flatnonzero(early)), table.rows(np.flatnonzero(~early))


def _cut(given: Mapping[str, TypeTable], until: int) -> tuple[dict[str, TypeTable], dict[str, TypeTable]]:
    """The same of several types; types without rows are left out."""
    halves = {t: _halves(table, until) for t, table in given.items()}
    early, late = ({t: part for t, both in halves.items() if (part := both[side]) is not None} for side in (0, 1))
    return early, late


def _check_labels(given: Mapping[str, TypeTable]) -> None:
    """Raise InputProblem for rows without a label in tables that have labels."""
    for t, table in given.items():
        if "label" in table.column_names and table.column("label").null_count:
            raise InputProblem.of("bad-value", f"a row of `{t}` has no label, but others have one")


def _time(row: Detection) -> Any:
    return row["time"]


def _type(row: Detection) -> Any:
    return row["type"]
