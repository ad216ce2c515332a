"""What a stream does, in numbers: per micro-batch, in all, and on a line that is always the latest."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.text import Text

from occurs.errors import Problem
from occurs.hosts.frequent import HEAVY
from occurs.hosts.stream.batches import MicroBatch
from occurs.model.time import TimeKind
from occurs.monitoring.instruments import Instruments

#: micro-batches over which events per second are told
_RECENT = 10
#: a key with this part of the rows of an average bucket is named in the metrics
FREQUENT = 0.05


@dataclass
class Totals:
    """The counts of this run.

    ``ended``: partial matches that guards ended; ``lasting``: detected types that are intervals; ``last``: the latest
    micro-batch as in ``--metrics``.
    """

    found: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    never: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    lasting: set[str] = field(default_factory=set)
    last: dict[str, Any] = field(default_factory=dict)
    batches: int = 0
    _recent: list[tuple[float, int]] = field(default_factory=list)
    _warned: set[str] = field(default_factory=set)

    def add(
        self,
        batch: int,
        seconds: float,
        done: MicroBatch,
        limit: int | None = None,
        backlog: int | None = None,
        buckets: int = 1,
    ) -> dict[str, Any]:
        """One micro-batch: its figures as one flat object.  ``limit``: what it might take of its source; ``backlog``:
        what is left there; ``buckets``: tasks that share the rows."""
        found = done.counts
        f = done.figures
        self.found.update(found)
        self.lasting.update(t for t, table in done.found.items() if "end" in table.column_names)
        self.never.update({name: len(table) for name, table in done.never.items()})
        self.ended.update({name: len(table) for name, table in done.timeouts.items()})
        self.counts.update({n: f[n] or 0 for n in ("rows", "bad", "outside", "empty", "late")})
        reasons = [r.as_py() for r in done.bad.column("reason")]
        self.counts.update(f"bad: {r}" for r in reasons)
        self.batches += 1
        frontier, newest = f["frontier"], f["newest"]
        lag = None if frontier is None or newest is None else newest - frontier
        now = time.time()
        self._recent = [*self._recent, (now, f["rows"] or 0)][-_RECENT:]
        self.last = {"batch": batch, "wall": round(now, 3), "seconds": round(seconds, 3)}
        self.last |= {n: f[n] for n in ("rows", "bad", "outside", "empty", "late", "waiting", "kept", "size", "read")}
        self.last |= {"limit": limit, "backlog": backlog}
        # of a key that several lanes name, the greatest part counts
        shares = sorted(((k.text(), k.rows / f["rows"]) for k in done.frequent if f["rows"]), key=lambda s: s[1])
        self.last["frequent"] = {text: round(part, 3) for text, part in shares if part * buckets >= FREQUENT}
        self.last |= {"frontier": frontier, "newest": newest, "lag": lag, "found": found}
        return self.last

    def heavy(self, done: MicroBatch, buckets: int) -> list[Problem]:
        """A warning of every key, once, that has so many rows that its bucket works longer than the others."""
        rows = done.figures["rows"] or 0
        out = []
        for key in done.frequent:
            text, part = key.text(), key.rows / rows if rows else 0
            if buckets < 2 or part / key.parts * buckets < HEAVY or text in self._warned:
                continue
            self._warned.add(text)
            out.append(key.warning(part, buckets, "buckets"))
        return out

    @property
    def rate(self) -> float:
        """Events per second over the latest micro-batches."""
        if not self._recent:
            return 0.0
        began, rows = self._recent[0][0], sum(n for _, n in self._recent[1:])
        if len(self._recent) == 1:
            began, rows = self._recent[0][0] - self.last["seconds"], self._recent[0][1]
        passed = time.time() - began
        return rows / passed if passed > 0 else 0.0

    def line(self, kind: TimeKind) -> str:
        """The status line: events/s, detections, the frontier and its lag, rows buffered, kept, late or bad."""
        if not self.last:
            return "waiting for events"
        last = self.last
        parts = [
            f"{self.counts['rows']:,} events ({self.rate:,.0f}/s)",
            f"{sum(self.found.values()):,} detections",
            f"frontier {shown_time(last['frontier'], kind)} (lag {shown_span(last['lag'], kind)})",
            f"{last['waiting']:,} buffered",
            f"{last['kept']:,} rows of state",
        ]
        parts += [f"{self.counts[n]:,} {n}" for n in ("late", "bad") if self.counts[n]]
        return ", ".join(parts)


def publish(to: Instruments, last: dict[str, Any], done: MicroBatch, kind: TimeKind) -> None:
    """Publish a micro-batch.

    Args:
        to: The instruments of the follower.
        last: The figures of the micro-batch, as in ``--metrics``.
        done: The micro-batch.
        kind: The kind of time; without a unit, times are not published.
    """
    names = {"rows": "events", "bad": "bad_rows", "late": "late_rows", "outside": "outside_rows"}
    names |= {"empty": "empty_intervals", "size": "state_written_bytes", "read": "state_read_bytes"}
    for figure, name in names.items():
        to.add(f"occurs_{name}", last[figure] or 0)
    to.add("occurs_batches", 1)
    to.add("occurs_batch_seconds", last["seconds"])
    to.set("occurs_last_batch_seconds", last["seconds"])
    to.set("occurs_last_batch_timestamp_seconds", last["wall"])
    for figure in ("backlog", "limit"):
        if last[figure] is not None:
            to.set(f"occurs_{figure}", last[figure])
    to.set("occurs_waiting_rows", last["waiting"] or 0)
    to.set("occurs_state_rows", last["kept"] or 0)
    to.replace("occurs_definition_state_rows", done.states)
    to.replace("occurs_past_rows", done.pasts)
    for name, table in done.timeouts.items():
        to.add("occurs_timeouts", len(table), name)
    for name, number in done.counts.items():
        to.add("occurs_detections", number, name)
        newest = done.newest(name)
        if kind.timestamp and newest is not None:
            to.set("occurs_detection_lag_seconds", last["wall"] - newest / 1e6, name)
    if kind.tick is not None:
        for figure, name in (("frontier", "frontier_timestamp"), ("newest", "newest_event_timestamp"), ("lag", "lag")):
            if last[figure] is not None:
                to.set(f"occurs_{name}_seconds", last[figure] * kind.tick / 1e6)


def shown_time(ticks: int | None, kind: TimeKind) -> str:
    """A time for people."""
    if ticks is None:
        return "not yet"
    if not kind.timestamp:
        return f"{ticks:,}"
    stamp = pa.array([(ticks + 500_000) // 1_000_000], pa.int64()).cast(pa.timestamp("s"))
    return str(stamp.cast(pa.string())[0].as_py())


def shown_span(ticks: int | None, kind: TimeKind) -> str:
    """A length of time for people."""
    if ticks is None:
        return "?"
    if kind.tick is None:
        return f"{ticks:,} ticks"
    return f"{ticks * kind.tick / 1_000_000:,.1f} s"


class Line:
    """A status line on stderr while the body runs, if a person is looking at it."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._status = self._console.status("starting") if self._console.is_terminal else None

    def show(self, text: str) -> None:
        if self._status is not None:
            self._status.update(Text(text, no_wrap=True, overflow="ellipsis"))

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Out of the way while the body writes on the same terminal."""
        if self._status is None:
            yield
            return
        self._status.stop()
        try:
            yield
        finally:
            self._status.start()

    def __enter__(self) -> Line:
        if self._status is not None:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
