"""The numbers of a running application: one table of metrics, and their values.

Nothing here knows how values are published: :mod:`occurs.monitoring.prometheus` reads them when they are asked for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

COUNTER, GAUGE = "counter", "gauge"


@dataclass(frozen=True)
class Metric:
    """A metric: its name in Prometheus without ``_total``, its kind, what it counts, and the names of its labels."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()

    @property
    def exposed(self) -> str:
        """The name under which Prometheus has it."""
        return f"{self.name}_total" if self.kind == COUNTER else self.name


#: the metrics of `occurs follow`
FOLLOW = (
    Metric("occurs_events", COUNTER, "Rows read from the source."),
    Metric("occurs_bad_rows", COUNTER, "Rows skipped because they could not be read."),
    Metric("occurs_late_rows", COUNTER, "Rows skipped because they arrived behind the frontier."),
    Metric("occurs_outside_rows", COUNTER, "Rows skipped because their time is outside --start and --until."),
    Metric("occurs_empty_intervals", COUNTER, "Intervals skipped because they end when they begin."),
    Metric("occurs_batches", COUNTER, "Micro-batches completed."),
    Metric("occurs_batch_seconds", COUNTER, "Time spent in micro-batches, in seconds."),
    Metric("occurs_last_batch_seconds", GAUGE, "Duration of the last micro-batch, in seconds."),
    Metric("occurs_last_batch_timestamp_seconds", GAUGE, "Time at which the last micro-batch was completed."),
    Metric("occurs_state_written_bytes", COUNTER, "Bytes of state written."),
    Metric("occurs_state_read_bytes", COUNTER, "Bytes of state read from Spark's state store."),
    Metric("occurs_backlog", GAUGE, "Input of the source that is not yet read, as `backlog` of --metrics."),
    Metric("occurs_limit", GAUGE, "Most input of a micro-batch, as `limit` of --metrics."),
    Metric("occurs_waiting_rows", GAUGE, "Rows that wait for the frontier."),
    Metric("occurs_frontier_timestamp_seconds", GAUGE, "Time up to which results are final."),
    Metric("occurs_newest_event_timestamp_seconds", GAUGE, "Greatest event time read so far."),
    Metric("occurs_timeouts", COUNTER, "Partial matches that ran out of time.", ("definition",)),
)
#: the metrics of both
SHARED = (
    Metric("occurs_info", GAUGE, "Always 1; has the application and the version.", ("application", "version")),
    Metric("occurs_detections", COUNTER, "Detections written.", ("type",)),
    Metric("occurs_detection_lag_seconds", GAUGE, "Time from the latest detection to its writing.", ("type",)),
    Metric("occurs_lag_seconds", GAUGE, "How far results are behind: see the guide on monitoring."),
    Metric("occurs_state_rows", GAUGE, "Rows of state, of all definitions and of the past that they share."),
    Metric("occurs_definition_state_rows", GAUGE, "Rows in the saved tables of a definition.", ("definition",)),
    Metric("occurs_past_rows", GAUGE, "Past rows of a type that definitions still need.", ("type",)),
)  # fmt: skip
#: the metrics of `occurs watch`
WATCH = (
    Metric("occurs_states", COUNTER, "States of the database evaluated."),
    Metric("occurs_transactions", COUNTER, "Transactions read from the change log."),
    Metric("occurs_merged_transactions", COUNTER, "Transactions merged into one state with others."),
    Metric("occurs_log_position", GAUGE, "Position in the change log up to which everything is done."),
    Metric("occurs_executed_statements", COUNTER, "Statements executed in the database."),
    Metric("occurs_notices", COUNTER, "Notices of triggers that can no longer fire."),
    Metric("occurs_failed_actions", COUNTER, "Actions that failed after all attempts."),
)
METRICS: Mapping[str, Metric] = {m.name: m for m in (*SHARED, *FOLLOW, *WATCH)}


class Instruments:
    """The values of metrics; safe to use from several threads.

    Args:
        names: The metrics of the application; a counter without labels begins at 0.
    """

    def __init__(self, names: tuple[Metric, ...]) -> None:
        self._lock = threading.Lock()
        self._metrics = {m.name: m for m in names}
        self._values: dict[str, dict[tuple[str, ...], float]] = {
            m.name: {(): 0.0} if m.kind == COUNTER and not m.labels else {} for m in names
        }

    def add(self, name: str, amount: float, *labels: str) -> None:
        """Add to a counter."""
        with self._lock:
            values = self._values[name]
            values[labels] = values.get(labels, 0.0) + amount

    def set(self, name: str, value: float, *labels: str) -> None:
        """Set a gauge, or a counter whose total is counted elsewhere."""
        with self._lock:
            self._values[name][labels] = float(value)

    def value(self, name: str, *labels: str) -> float | None:
        """The value of a metric; None if it has none yet."""
        with self._lock:
            return self._values[name].get(labels)

    def replace(self, name: str, values: Mapping[str, float]) -> None:
        """Set a gauge with one label for all its values; other values are forgotten."""
        with self._lock:
            self._values[name] = {(label,): float(value) for label, value in values.items()}

    def read(self) -> list[tuple[Metric, dict[tuple[str, ...], float]]]:
        """All metrics with their values by labels."""
        with self._lock:
            return [(m, dict(self._values[m.name])) for m in self._metrics.values()]


class Health:
    """Whether a process makes progress, and whether it does its work.

    Attributes:
        patience: After so many seconds without a sign of life the process counts as dead.
        ready: Whether the application runs: it has started, and was not asked to stop.
    """

    def __init__(self, patience: float = 300.0) -> None:
        self.patience = patience
        self.ready = False
        self._last = time.monotonic()

    def beat(self) -> None:
        """Give a sign of life."""
        self._last = time.monotonic()

    @property
    def alive(self) -> bool:
        """Whether the last sign of life is recent enough."""
        return time.monotonic() - self._last <= self.patience


@dataclass(frozen=True)
class Monitor:
    """What an application reports to: its numbers and its health."""

    instruments: Instruments
    health: Health

    @classmethod
    def of(cls, application: str, version: str) -> Monitor:
        """The monitor of ``follow`` or ``watch``."""
        instruments = Instruments((*SHARED, *{"follow": FOLLOW, "watch": WATCH}[application]))
        instruments.set("occurs_info", 1, application, version)
        return cls(instruments, Health())
