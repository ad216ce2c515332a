"""The query that runs: micro-batches into sinks, until the source ends, something fails, or it is told to stop."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from occurs.connect.sparkerrors import own_errors
from occurs.errors import OccursError
from occurs.follow.checkpoint import SPARK, Checkpoint, check, explained
from occurs.hosts.stream.batches import MicroBatch, StreamQuery
from occurs.monitoring.instruments import Health

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger("occurs.follow")
#: seconds between two looks at a query that runs
EVERY = 0.1
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class _Stopped(Exception):
    """Ends a query between two micro-batches."""


def settings(buckets: int) -> dict[str, str]:
    """What a session is set to while a stream is followed: what a micro-batch costs beside its rows is to be small."""
    return {
        "spark.sql.shuffle.partitions": str(buckets),
        "spark.sql.streaming.stateStore.providerClass": _ROCKSDB,
        # only what has changed is written at the end of a micro-batch
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        # our frontier moves with rows, never without
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
        "spark.sql.adaptive.enabled": "false",
        # how long notes of files that were read stay when they have been put together: Spark's ten minutes are for
        # stores that list a file some time after it was written
        "spark.sql.streaming.fileSource.log.cleanupDelay": "60000",
        # how often an idle source is looked at
        "spark.sql.streaming.pollingDelay": "50ms",
    }


@contextmanager
def stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """Ctrl-C and SIGTERM set ``stop``; a second Ctrl-C does not wait for anything."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def told(number: int, frame: Any) -> None:
        if stop.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, told) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@dataclass
class Loop:
    """``take``: gets every micro-batch (its number, how long it took to compute in seconds, what it gave) and is done
    when it returns; ``by_tasks``: it writes many detections from Spark's tasks; ``stop``: set from outside, it ends the
    query after the current micro-batch; ``health``: gets signs of life, and is ready while the query runs."""

    query: StreamQuery
    checkpoint: Checkpoint
    take: Callable[[int, float, MicroBatch], None]
    by_tasks: bool = False
    stop: threading.Event = field(default_factory=threading.Event)
    health: Health = field(default_factory=Health)
    _error: BaseException | None = None
    _running: StreamingQuery | None = None

    @property
    def progress(self) -> Any:
        """Spark's progress of the micro-batch before this one; None for the first one of a run."""
        return None if self._running is None else self._running.lastProgress

    def run(
        self,
        trigger: dict[str, Any],
        fed: Callable[[], bool] | None = None,
        last: Callable[[], None] | None = None,
    ) -> None:
        """Run the query until it ends by itself, or ``fed`` says that its source is complete and all of it is done, or
        ``stop``.  ``last`` is called when all is done, and what it gives the query to do is done, too.

        Raises what a sink or a task has raised, as an error of ours if it is foreign.
        """
        store = self.checkpoint.store
        check(store)
        with own_errors(), explained(store):
            writer = self.query.frame.writeStream.outputMode("append").foreachBatch(self._batch)
            running = writer.option("checkpointLocation", store.address(SPARK)).trigger(**trigger).start()
            self._running = running
            log.debug("the query started", extra={"query": str(running.id)})
            try:
                self._watch(running, fed, last)
            finally:
                self.health.ready = False
                log.debug("the query stops", extra={"asked": self.stop.is_set()})
                halted = running.isActive
                if halted:
                    running.stop()
            error = self._error or running.exception()
            if error is None or isinstance(error, _Stopped) or (halted and not isinstance(error, OccursError)):
                return  # what a query says that is stopped in a micro-batch is no news
            self.checkpoint.check_held()  # two followers stop each other in many ways: this is the reason
            raise error

    def repeat(self) -> bool:
        """Run the micro-batch that was interrupted, and no other; false if it was stopped."""
        self.run({"once": True})
        return not self.stop.is_set()

    def _watch(self, running: StreamingQuery, fed: Callable[[], bool] | None, last: Callable[[], None] | None) -> None:
        while running.isActive:
            self.health.beat()
            if self.checkpoint.lost:
                self.checkpoint.check_held()
            self.health.ready = not self.stop.is_set()
            if self.stop.is_set() and not running.status["isTriggerActive"]:
                return  # between two micro-batches
            if fed is not None and not self.stop.is_set() and fed():
                if self._done(running) and last is not None and not self.stop.is_set():
                    last()
                    self._done(running)
                return
            self.stop.wait(EVERY) if not self.stop.is_set() else time.sleep(EVERY)

    def _done(self, running: StreamingQuery) -> bool:
        """Wait until all that there is has been judged; False if the query has failed, which :meth:`run` tells."""
        try:
            running.processAllAvailable()
        except Exception:
            if running.exception() is None and self._error is None:
                raise
            return False
        return True

    def _batch(self, frame: DataFrame, number: int) -> None:
        if self.stop.is_set():
            self._error = _Stopped()
            raise self._error
        try:
            self.health.beat()
            began = time.monotonic()
            with self.query.batch(frame) if self.by_tasks else nullcontext(self.query.read(frame.toArrow())) as done:
                self.take(number, time.monotonic() - began, done)
        except BaseException as error:
            self._error = error
            raise
