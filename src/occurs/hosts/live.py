"""Push and pull on the local host: events one by one through an engine in this process."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from occurs.engine.engine import Engine
from occurs.engine.order import input_rows
from occurs.errors import InputProblem, UsageProblem, did_you_mean
from occurs.model.lists import is_list
from occurs.model.ticks import instant
from occurs.model.types import Schema, Type, from_arrow
from occurs.model.values import flattened, is_text, short
from occurs.operators.rows import Rows
from occurs.plan.stage import Stage

#: a time: ticks, or for timestamps also a datetime or ISO 8601 text
Time = int | str | dt.datetime
Detection = dict[str, Any]

_INT64 = range(-(2**63), 2**63)


class Live:
    """A run that takes events one at a time and returns the detections that they complete.

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

    def __init__(self, stage: Stage, *, labelled: bool = False, start: int | None = None):
        self.stage = stage
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
        self._waiting: dict[str, list[dict[str, Any]]] = {}
        self._columns: dict[tuple[str, bool, bool], pa.Schema] = {}

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
        if self._closed and self.stage.decided_by_end:
            text = "the history was closed, so no more events can be pushed"
            raise UsageProblem.of("closed", text, hint="start again with Program.live")
        ticks = self._ticks(time)
        if not isinstance(type, str) or not type:
            raise InputProblem.of("bad-value", f"the type of an event must be text, not {short(type)}", value=type)
        if attributes is not None and not isinstance(attributes, Mapping):
            text = f"attributes must be a mapping from names to values, not {short(attributes)}"
            raise InputProblem.of("bad-value", text, value=attributes)
        if type in self.stage.families:
            text = f"the rules define `{type}`, so events of this type cannot be pushed"
            raise InputProblem.of("conflicting-values", text, hint="rename the definition or the input type")
        given = flattened(attributes or {}, self.stage.schemas.get(type, Schema()).names)
        end = self._end(type, ticks, given)
        row = self._row(type, ticks, end, given, sequence, label) if type in self.stage.inputs else None
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
        self.now = ticks if self.now is None else max(self.now, ticks)
        self.last = max(t for t in (self.last, ticks, end) if t is not None)
        if row is not None:
            self._waiting.setdefault(type, []).append(row)
        return out

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

    def _judge(self, until: int, closing: bool) -> list[Detection]:
        ready: dict[str, list[dict[str, Any]]] = {}
        for t, rows in self._waiting.items():
            ready[t] = [r for r in rows if r["time"] <= until]
            self._waiting[t] = [r for r in rows if r["time"] > until]
        new = {t: self._rows(t, rows) for t, rows in ready.items() if rows}
        done = self._engine.advance(new, until, self.start, closing=closing)
        self.frontier = until
        out: list[Detection] = []
        for t, trigger in self.stage.notices.items():
            self.never += [{**row, "type": trigger} for row in done.table(t).to_pylist()]
        for t in (t for t in self.stage.reported if t not in self.stage.notices):
            out += done.table(t, label=self.labelled, because=self.labelled).to_pylist()
        # what lasts comes when it is final, by type (phenesthe.md, section 5)
        alone = all(t in self.stage.families for t in self.stage.reported)
        return sorted(out, key=lambda r: r["type"] if alone else r["time"])

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

    def _end(self, type: str, time: int, attributes: Mapping[str, Any]) -> int | None:
        """Where a row ends, None if it has no end or still holds.  Raises InputProblem.

        The rows of a type that is read may have an end only if the type lasts; those of other types move the clock.
        """
        end = attributes.get("end")
        if end is None or not (type not in self.stage.inputs or self.stage.schemas.get(type, Schema()).lasting):
            return None
        ticks = self._ticks(end)
        if ticks < time:
            raise InputProblem.of("bad-value", f"a row of `{type}` ends before it starts", value=end)
        return ticks

    def _row(
        self,
        type: str,
        time: int,
        end: int | None,
        attributes: Mapping[str, Any],
        sequence: int | None,
        label: str | None,
    ) -> dict[str, Any]:
        row: dict[str, Any] = {"time": time, "sequence": _fit(type, "sequence", sequence, Type.INT)}
        row["label"] = _fit(type, "label", label, Type.STRING)
        if self.stage.schemas.get(type, Schema()).lasting:
            row["end"] = end
        schema = self.stage.schemas.get(type, Schema())
        lists = dict(schema.records)
        for name, want in schema:
            value = attributes.get(name)
            row[name] = _fit_list(type, name, value, lists[name]) if name in lists else _fit(type, name, value, want)
        return row

    def _rows(self, type: str, rows: list[dict[str, Any]]) -> Rows:
        schema = self.stage.schemas.get(type, Schema())
        named = any(r["sequence"] is not None for r in rows), all(r["label"] is not None for r in rows)
        columns = self._columns.get((type, *named)) or self._columns.setdefault(
            (type, *named), _columns(schema, *named)
        )
        table = pa.Table.from_arrays([pa.array([r[f.name] for r in rows], f.type) for f in columns], schema=columns)
        return input_rows(type, table, schema, self.labelled, numbered=type in self.stage.numbered)


def _columns(schema: Schema, sequence: bool, label: bool) -> pa.Schema:
    """The columns of rows that were pushed."""
    fields = [pa.field("time", pa.int64())]
    fields += [pa.field("end", pa.int64())] if schema.lasting else []
    fields += [pa.field(n, schema.arrow_of(n, t)) for n, t in schema]
    fields += [pa.field("sequence", pa.int64())] if sequence else []
    fields += [pa.field("label", pa.string())] if label else []
    return pa.schema(fields)


def _fit_list(type: str, name: str, value: Any, want: pa.DataType) -> Any:
    """A list, or an array of NumPy, if all that is in it is of its type; of structs mappings."""
    if value is None:
        return None
    value = value.tolist() if hasattr(value, "tolist") else value
    if pa.types.is_struct(want) and isinstance(value, Mapping):
        return {f.name: _fit_list(type, name, value.get(f.name), f.type) for f in want}
    if is_list(want) and isinstance(value, list | tuple):
        return [_fit_list(type, name, v, want.value_type) for v in value]
    of = None if pa.types.is_nested(want) else from_arrow(want)
    if of is not None:
        return _fit(type, name, value, of)
    text = f"`{name}` of `{type}` must be {want}, not {short(value)} ({value.__class__.__name__})"
    raise InputProblem.of("bad-value", text, value=value)


def _fit(type: str, name: str, value: Any, want: Type) -> Any:
    """The value if it is of its type; NaN is null.  An integer is a float if nothing is lost."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if hasattr(value, "item") and not isinstance(value, int | float | str) and getattr(value, "ndim", 0) == 0:
        # a NumPy scalar
        value = value.item()
    good = (
        (want is Type.INT and isinstance(value, int) and not isinstance(value, bool) and value in _INT64)
        or (want is Type.FLOAT and isinstance(value, float))
        or (want is Type.STRING and isinstance(value, str) and is_text(value))
        or (want is Type.BOOL and isinstance(value, bool))
        or (want is Type.TIMESTAMP and isinstance(value, dt.datetime))
        or (want is Type.NULL)
    )
    if good:
        return None if want is Type.NULL else value
    if want is Type.FLOAT and isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53:
        return float(value)
    what = value.__class__.__name__
    text = f"`{name}` of `{type}` must be {want}, not {short(value)} ({what})"
    raise InputProblem.of("bad-value", text, value=value)
