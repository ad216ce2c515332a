"""Detections, and poison messages, to a topic: each micro-batch once, also if it is written again after a crash."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from occurs.connect.atomic_files import sealed, unsealed
from occurs.connect.kafka.place import KafkaPlace
from occurs.connect.kafka.session import kafka_errors, reach
from occurs.connect.kafka.source import BROKEN, REASON
from occurs.connect.spark import is_remote
from occurs.connect.sparkcolumns import PLACE
from occurs.connect.store import Disk, Store
from occurs.errors import CheckpointProblem, InputProblem, ResourceProblem, UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

log = logging.getLogger("occurs.follow")
#: columns that become headers ``occurs-NAME`` where they are not null; dead letters have the last two
_HEADERS = ("type", "label", "reason", "place")
_WANTED = ("key", "value", "type", "label")
#: what a task that is repeated says
_REPEATED = "a task that writes to Kafka is repeated"
#: how often the sink writes the rest of a micro-batch while tasks fail
ATTEMPTS = 3
#: seconds in which producers of stopped tasks send their last records
SETTLED = 5
#: how far clocks of writers and brokers may be apart, in seconds
SLACK = 600


class KafkaSink:
    """Writes the micro-batches of one streaming query to one topic, each record once.

    ``identity`` names the query: the same after a restart from its checkpoint, unlike that of every other writer to
    the topic.  ``directory``, or the store of a checkpoint, lives and dies with the checkpoint.  Every record has the
    headers ``occurs-type``, ``occurs-label`` (where the row has them), ``occurs-batch`` and ``occurs-writer``.

    **Why each record is in the topic once.**  Spark hands a micro-batch over again, with the same number and the same
    rows, until it has noted in the checkpoint that it was written; so nothing is lost.  A batch is written twice only
    if a run stopped between its first record and that note.  Before the first record the sink puts the batch number
    and the time on the disk, so the run that writes it again knows that, and since when records of it may be there.
    It reads the topic from that time on, less ``slack`` seconds, keeps the records whose headers say this writer and
    this batch, and writes only rows that are not among them: compared by label and value first, then by label alone,
    each record standing for one row.  Records of a run that was killed half-way, or again while it made up for that,
    are found in the same way.  Within one run Kafka's own idempotent producer keeps retries from doubling a record.

    **What it relies on.**  (1) One writer of this identity at a time: a second one that is still alive, such as a task
    on a machine that has lost its driver, may write after the topic was read; stop it before the restart.  (2) The
    topic still has the records of the interrupted batch: not if its retention is shorter than the outage, or if it is
    compacted and its keys are not unique.  (3) Clocks of writers and brokers agree up to ``slack``, and the topic's
    records have the time of their writing.  (4) The rows of a batch are the same when it comes again: true of all of
    Occurs's, not of a program that was changed in between.  (5) Records are seen by consumers as they arrive, in no
    transaction: one that reads between a crash and the restart sees half a batch, later the rest, nothing twice.
    (6) ``acks`` is ``all``, the default; with less the broker may lose what it had acknowledged.

    On a cluster Spark repeats a task that has failed, which would write again what its first attempt wrote.  So rows
    are computed there before any is written, and the second attempt of a task that writes fails at once: the sink then
    reads what has arrived and writes the rest, as the next run would.
    """

    def __init__(self, place: KafkaPlace, identity: str, directory: Path | str | Store, *, slack: float = SLACK):
        """Raises UsageProblem (``bad-option``) for a place with several topics or with options for reading, and for an
        identity that is not made of letters, digits, ``.``, ``_`` and ``-``."""
        given = [*place.reading, *place.exposed]
        if given:
            raise UsageProblem.of(
                "bad-option", f"{place}: `{given[0]}` is an option for reading, but this topic is written"
            )
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,200}", identity):
            raise UsageProblem.of(
                "bad-option", f"`{identity}` is not a valid writer name; use letters, digits, `.`, `_`, `-`"
            )
        self.place = place
        self.topic = place.topic
        self.identity = identity
        self.slack = slack
        name = f"kafka-sink-{identity}.json"
        if isinstance(directory, Store):
            self._notes = Notes(directory, f"kafka/{name}")
        else:
            self._notes = Notes(Disk(Path(directory)), name)
        #: whether the topic was there when this run came to it; None before
        self._there: bool | None = None

    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Write a micro-batch; returns when all its records are acknowledged.

        ``rows``: ``key``, ``value``, ``type``, ``label``, and for dead letters ``reason`` and ``place``, all text.
        They are computed once, also if they are compared with the topic.  Raises ResourceProblem (``unreachable``,
        ``no-kafka``, ``disk``), InputProblem (``missing-topic``) and CheckpointProblem.
        """
        wide = _completed(rows)
        self._reach(rows.sparkSession)
        now = int(time.time() * 1000)
        since = self._notes.begin(batch_id, now)
        again = since is not None and self._there
        repeats = _repeats(rows.sparkSession)
        with kafka_errors(self.place):
            held = wide.persist() if again or repeats else wide
            try:
                if repeats:
                    held.count()  # a task that fails while rows are computed is repeated: it has written nothing
                if not again:
                    if self._whole(batch_id, held):
                        return
                    since = now
                assert since is not None
                for _ in range(ATTEMPTS):
                    written = self._written(rows.sparkSession, batch_id, since)
                    if self._whole(batch_id, _missing(held, written)):
                        return
            finally:
                held.unpersist()
        text = f"{self.place}: Spark's tasks failed {ATTEMPTS} times while they wrote a micro-batch"
        raise ResourceProblem.of("spark-failed", text, hint="the reasons are in the logs of the executors")

    def _whole(self, batch_id: int, rows: DataFrame) -> bool:
        """Write rows; False if a task failed on the way, so that some are written and others not."""
        try:
            self._append(batch_id, rows)
        except Exception as error:
            if _REPEATED not in str(error):
                raise
            log.warning("a task failed while it wrote to %s; the sink writes the missing records", self.place)
            time.sleep(SETTLED)
            return False
        return True

    def _reach(self, session: SparkSession) -> None:
        """Once a run: a broker that does not answer is told of in seconds, not after the producer's minutes."""
        if self._there is not None:
            return
        try:
            reach(session, self.place)
            self._there = True
        except InputProblem as error:
            if error.kind != "missing-topic":
                raise
            # brokers may be set to make topics when they are written to; if not, the write says that it is missing
            self._there = False

    def _append(self, batch_id: int, rows: DataFrame) -> None:
        from pyspark.sql import functions as F

        headers = {name: F.col(name) for name in _HEADERS}
        headers |= {"batch": F.lit(str(batch_id)), "writer": F.lit(self.identity)}
        every = F.array(
            *(F.struct(F.lit(f"occurs-{n}").alias("key"), c.cast("binary").alias("value")) for n, c in headers.items())
        )
        known = F.filter(every, lambda h: h["value"].isNotNull()).alias("headers")
        records = rows.select("key", "value", known)
        if _repeats(rows.sparkSession):
            records = records.mapInArrow(first_attempt, records.schema)
        records.write.format("kafka").options(**self.place.connection()).option("topic", self.topic).save()

    def _written(self, session: SparkSession, batch_id: int, since: int) -> DataFrame:
        """(value, label) of the records of a batch that are in the topic."""
        from pyspark.sql import functions as F

        start = str(max(0, int(since - self.slack * 1000)))
        options = {
            **self.place.connection(),
            "subscribe": self.topic,
            "startingTimestamp": start,
            "startingOffsetsByTimestampStrategy": "latest",  # nothing that new: nothing was written
            "includeHeaders": "true",
        }

        def header(name: str) -> Column:
            found = F.try_element_at(F.filter(F.col("headers"), lambda h: h["key"] == name), F.lit(1))
            return F.make_valid_utf8(found["value"].cast("string"))

        records = session.read.format("kafka").options(**options).load()
        mine = (header("occurs-writer") == self.identity) & (header("occurs-batch") == str(batch_id))
        value = F.make_valid_utf8(F.col("value").cast("string"))
        return records.where(mine).select(value.alias("value"), header("occurs-label").alias("label"))


def first_attempt(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows of a task, unless it is repeated: what its first attempt wrote would be there twice."""
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() > 0:
        raise RuntimeError(_REPEATED)
    yield from batches


def _repeats(session: SparkSession) -> bool:
    """May Spark repeat a task?  Not in this process, unless its master says so."""
    if is_remote(session):
        return True
    return re.fullmatch(r"local(\[[^,\]]*\])?", str(session.sparkContext.master)) is None


def letters(messages: DataFrame) -> DataFrame:
    """Dead letters: the broken ones among messages of :func:`~occurs.connect.kafka.source.stream` as rows of a sink.

    The value is the original text, the headers ``occurs-reason`` and ``occurs-place`` say why it is broken and where
    it was (``kafka://topic[partition]@offset``); that is its label, too, so that it is written once.
    """
    from pyspark.sql import functions as F

    at = F.concat(F.col(PLACE[0]), F.lit("@"), F.col(PLACE[1]).cast("string"))
    return messages.where(F.col(BROKEN).isNotNull()).select(
        F.lit(None).cast("string").alias("key"),
        F.col(BROKEN).alias("value"),
        F.lit(None).cast("string").alias("type"),
        at.alias("label"),
        F.col(REASON).alias("reason"),
        at.alias("place"),
    )


def _completed(rows: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    missing = [name for name in _WANTED if name not in rows.columns]
    if missing:
        text = f"rows for Kafka have the columns key, value, type and label; there is no `{missing[0]}`"
        raise UsageProblem.of("missing-column", text)
    known = {name: F.col(name) if name in rows.columns else F.lit(None) for name in (*_WANTED, *_HEADERS)}
    return rows.select(*(column.cast("string").alias(name) for name, column in known.items()))


def _missing(rows: DataFrame, written: DataFrame) -> DataFrame:
    """``rows`` without one for each of the ``written`` ones: one alike in label and value, else one of that label."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    columns = rows.columns
    both = rows.withColumn("theirs", F.lit(0)).unionByName(written.withColumn("theirs", F.lit(1)), True)
    both = both.repartition("label")  # serves all windows
    for by in (["label", "value"], ["label"]):
        here = Window.partitionBy(*by)
        number = F.row_number().over(Window.partitionBy(*by, "theirs").orderBy("value"))
        others = F.sum(F.when(F.col("theirs") == 1, 0).otherwise(1)).over(here), F.sum("theirs").over(here)
        both = both.withColumn("rest", number > F.when(F.col("theirs") == 1, others[0]).otherwise(others[1]))
        both = both.where("rest").drop("rest")
    return both.where(F.col("theirs") == 0).select(columns)


# --- notes ------------------------------------------------------------------------------------------------------------
# What a sink notes durably before it writes a micro-batch: its number and when its writing began.

#: batches remembered; a checkpoint set back by more is read back from the start of the topic
KEPT = 100
_VERSION = 1


class Notes:
    """The object ``name`` of a store: batch number -> when its writing began, in milliseconds.

    Raises CheckpointProblem (``bad-checkpoint``) for a file that is none of these, ResourceProblem (``disk``).
    """

    def __init__(self, store: Store, name: str):
        self._store, self._name, self.path = store, name, store.address(name)

    def begin(self, batch: int, now: int) -> int | None:
        """Note ``batch`` if it is new: None, and its writing may begin.

        Else the time since when records of it may be in the topic: of its first start, 0 if that is forgotten.
        """
        started = self._read()
        if batch in started:
            return started[batch]
        if started and batch < max(started):
            return 0
        kept = dict(sorted({**started, batch: now}.items())[-KEPT:])
        entry = {"version": _VERSION, "started": {str(b): t for b, t in kept.items()}}
        try:
            self._store.put(self._name, sealed(entry))
        except OSError as error:
            raise ResourceProblem.of("disk", f"{self.path} cannot be written: {error.strerror or error}") from error
        return None

    def _read(self) -> dict[int, int]:
        try:
            data = self._store.get(self._name)
        except OSError as error:
            raise ResourceProblem.of("disk", f"{self.path} cannot be read: {error.strerror or error}") from error
        if data is None:
            return {}
        try:
            found = unsealed(data)
            if found["version"] == _VERSION:
                return {int(batch): int(time) for batch, time in found["started"].items()}
            why = f"it has version {found['version']}, but this Occurs reads version {_VERSION}"
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            why = f"it is damaged ({error!r})"
        hint = "use a new checkpoint, or restore the file from a backup"
        raise CheckpointProblem.of("bad-checkpoint", f"{self.path}: {why}", file=self.path, hint=hint)
