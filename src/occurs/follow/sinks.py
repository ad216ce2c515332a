"""Where detections go, micro-batch by micro-batch.

A sink may be given a micro-batch again, with the same number and the same rows, if a run stopped before Spark had noted
that it was written.  What that means for whoever reads the output is said with each sink.
"""

from __future__ import annotations

import io
import json
import sys
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Protocol, runtime_checkable

import click
import pyarrow as pa
from rich.console import Console, RenderableType

from occurs.connect.atomic_files import durable, writing
from occurs.connect.manifests import (
    begin_of_parts,
    is_output,
    manifest,
    manifest_name,
    named_by,
    part_name,
    parts_of,
)
from occurs.connect.places import user_path
from occurs.connect.spark import set_to
from occurs.connect.sparkerrors import own_errors
from occurs.connect.store import Disk, Store
from occurs.connect.tables import to_spark
from occurs.connect.writers import check_target, in_order, json_blocks, json_rows, write_rows_to, write_to
from occurs.errors import CheckpointProblem, ResourceProblem, UsageProblem
from occurs.follow.checkpoint import misfit
from occurs.follow.metrics import Line
from occurs.hosts.stream.batches import MicroBatch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from occurs.connect.sparktables.place import TablePlace
    from occurs.hosts.stream.spread import Spread


Tables = Mapping[str, pa.Table]
#: by the names of parts what their manifest has of each
Parts = Mapping[str, Mapping[str, int]]
#: options of Spark's writer of files: the first part of their names; whether it writes an empty file at the end; the
#: number of the folder in which Hadoop's committer collects files, as it publishes all files there, also those of a
#: process that was stopped
_BASE, _SUCCESS = "mapreduce.output.basename", "mapreduce.fileoutputcommitter.marksuccessfuljobs"
_FOLDER = "mapreduce.job.application.attempt.id"
#: how it writes times
_TIMES = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
SUFFIXES = {"jsonl": "json", "csv": "csv", "parquet": "parquet"}
_OWNER = ".occurs-follow.json"
#: what to do if that file is damaged
_WHOLE = "restore it from a backup, or use a new --checkpoint and a new directory"


class Sink(Protocol):
    """``tables``: type to detections, in order; every type is there, also without rows."""

    def write(self, batch: int, tables: Tables) -> None: ...


@runtime_checkable
class SpreadSink(Sink, Protocol):
    """A sink that Spark's tasks write to, where there are many detections."""

    def spread(self, batch: int, found: Spread) -> None: ...


class SideSink(Protocol):
    """For what is no detection: rows, or texts that are JSON."""

    def rows(self, batch: int, table: pa.Table) -> None: ...

    def lines(self, batch: int, lines: list[str]) -> None: ...


class FileSink(ABC):
    """Files of one format, at most one file per micro-batch."""

    def __init__(self, suffix: str, option: str, place: str):
        """``place``: the directory or the address, as messages show it."""
        self._suffix, self._option, self._place = suffix, option, place

    def write(self, batch: int, tables: Tables) -> None:
        if any(len(t) for t in tables.values()):
            rows = sum(map(len, tables.values()))
            self._put(batch, rows, lambda out: write_to(out, SUFFIXES[self._suffix], tables))

    def rows(self, batch: int, table: pa.Table) -> None:
        """Rows that are no events."""
        if len(table):
            self._put(batch, len(table), lambda out: write_rows_to(out, SUFFIXES[self._suffix], table))

    def lines(self, batch: int, lines: list[str]) -> None:
        """JSON texts, one a line."""
        if lines:
            self._put(batch, len(lines), lambda out: out.write(("\n".join(lines) + "\n").encode()))

    @abstractmethod
    def _put(self, batch: int, rows: int, body: Callable[[IO[bytes]], object]) -> None:
        """Write a micro-batch of so many rows."""

    def _claim(self, store: Store, owner: str, is_output: Callable[[str], bool]) -> None:
        """Let a directory belong to a checkpoint; ``is_output``: whether this is the name of a file of a sink.

        Raises UsageProblem if it belongs to another one, CheckpointProblem if it cannot be read whose it is.
        """
        claim = json.dumps({"checkpoint": owner}).encode()
        data = store.get(_OWNER)
        if data is None:
            there = store.list()
            if _OWNER not in there and any(map(is_output, there)):
                text = f"{self._option} {self._place}: files in it would be overwritten"
                raise UsageProblem.of("bad-option", text, hint="use another directory")
            # if another one was faster, it is that one's
            data = claim if store.put_new(_OWNER, claim) else store.get(_OWNER) or b""
        mine = store.address(_OWNER)
        try:
            found = json.loads(data)
        except ValueError as error:
            raise CheckpointProblem.damaged(mine, error, _WHOLE) from error
        why = misfit(found, {"checkpoint": str})
        if why is not None:
            raise CheckpointProblem.damaged(mine, why, _WHOLE)
        if found["checkpoint"] != owner:
            text = f"{self._option} {self._place}: the directory has output of another checkpoint"
            hint = "micro-batches are numbered per checkpoint; use another directory, or that checkpoint"
            raise UsageProblem.of("bad-option", text, hint=hint)


class Files(FileSink):
    """A directory with one file per micro-batch that has rows: **exactly once**.

    A file appears whole, is on the disk before Spark notes that the micro-batch is done, and takes the same name if the
    micro-batch is written again.  Names count up: ``batch-000000000012.jsonl``.  Whoever reads the directory should
    pass over names that begin with a dot.
    """

    def __init__(self, path: str, suffix: str, owner: str, option: str):
        """``owner``: of the checkpoint, whose numbers the names are: no other may write here.

        Raises UsageProblem and ResourceProblem if nothing can be written there, CheckpointProblem (``bad-checkpoint``)
        if it cannot be read whose directory it is.
        """
        self.path = user_path(path, option)
        super().__init__(suffix, option, str(self.path))
        if self.path.suffix and not self.path.is_dir():
            text = f"{option} {path}: a stream writes to a directory, one file per micro-batch"
            raise UsageProblem.of(
                "bad-option", text, hint="use a name without a suffix; --out-format chooses jsonl, csv, .."
            )
        check_target(path, option)
        with writing(f"{option} {self.path}"):
            self.path.mkdir(exist_ok=True)
            self._claim(Disk(self.path), owner, lambda name: name.startswith("batch-"))

    def _put(self, batch: int, rows: int, body: Callable[[IO[bytes]], object]) -> None:
        with writing(f"{self._option} {self.path}"), durable(self.path / f"batch-{batch:012}.{self._suffix}") as out:
            body(out)


class Objects(FileSink):
    """A folder at an address, in which a manifest publishes each micro-batch that has rows: **exactly once**.

    The names and the protocol are those of :mod:`occurs.connect.manifests`.  A micro-batch that is written again is
    published already, or its part is written anew under another name; parts that a stopped run left are deleted when
    the manifest is there, as then no process can publish them.
    """

    def __init__(self, store: Store, suffix: str, owner: str, option: str, fence: Callable[[], None] = lambda: None):
        """``owner``: of the checkpoint, whose numbers the names are: no other may write here; ``fence``: called before
        a manifest is written, raises if another follower has the checkpoint now.

        Raises ResourceProblem if nothing can be written there, and what :class:`Files` raises about its owner.
        """
        super().__init__(suffix, option, store.address())
        self._store, self._fence = store, fence
        #: of this process, in the names of its parts
        self._attempt = uuid.uuid4().hex[:12]
        #: may an earlier run have written the next micro-batch?
        self._again = True
        with writing(f"{option} {self._place}"):
            self._claim(store, owner, is_output)

    def _put(self, batch: int, rows: int, body: Callable[[IO[bytes]], object]) -> None:
        def write(attempt: str) -> Parts:
            out = io.BytesIO()
            body(out)
            part = part_name(batch, attempt, 0, self._suffix)
            self._store.put(part, out.getvalue())
            return {part: {"rows": rows, "bytes": out.tell()}}

        self._publish(batch, write)

    def _publish(self, batch: int, write: Callable[[str], Parts]) -> None:
        """Publish a micro-batch, unless it is; ``write``: writes its parts, whose names have the attempt that it
        gets."""
        name = manifest_name(batch)
        again, self._again = self._again, False
        parts: Parts = {}
        with writing(f"{self._option} {self._place}"):
            if not (again and self._store.get(name) is not None):
                parts = write(self._attempt)
                self._fence()
                made = self._store.put_new(name, manifest(batch, parts))
                if made and not again:
                    return
                # if it is there by now, it is of this call, repeated by the store, or of another follower
            data = self._store.get(name)
            if data is None:
                raise OSError(f"{name} cannot be read though it was written")
            kept = named_by(data, self._store.address(name))
            if again or not set(parts) <= set(kept):
                for left in parts_of(self._store.list(), batch):
                    if left not in kept:
                        self._store.delete(left)


class ParquetObjects(Objects):
    """As :class:`Objects`; where there are many detections, Spark's tasks write the parts.

    They write beside the other parts, under names of their own, by the committer that the session has for its file
    system.  A part of a task that was repeated or lost is never named.
    """

    def spread(self, batch: int, found: Spread) -> None:
        """Parts are in order of time."""

        def write(attempt: str) -> Parts:
            begin = begin_of_parts(batch, attempt)
            frame = found.together().sortWithinPartitions("time")
            own = str(int(attempt[:7], 16))
            writer = frame.write.mode("append").options(**{_BASE: begin, _SUCCESS: "false", _FOLDER: own})
            with own_errors(), set_to(frame.sparkSession, _TIMES):
                writer.parquet(self._store.address())
            return {name: {} for name in sorted(self._store.list()) if name.startswith(f"{begin}-")}

        self._publish(batch, write)


class Lines:
    """JSON lines on stdout: **at least once**: after a crash the rows of the last micro-batch may come again."""

    def write(self, batch: int, tables: Tables) -> None:
        try:
            for text in json_blocks(tables):
                click.echo(text, nl=False)
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise ResourceProblem.of("cannot-write", f"stdout: {error.strerror or error}") from error


class Shown:
    """Tables on a terminal, for people: at least once."""

    def __init__(self, draw: Callable[[str, pa.Table], RenderableType], line: Line):
        """``line``: what else may be on the terminal."""
        self._draw, self._line = draw, line
        self._console = Console()

    def write(self, batch: int, tables: Tables) -> None:
        with self._line.aside():
            for name, table in tables.items():
                if len(table):
                    self._console.print(self._draw(name, table))


class Topic:
    """A topic of Kafka: **exactly once**, as :class:`occurs.connect.kafka.KafkaSink` says.

    A message is a detection as a JSON object, as in a line of a ``.jsonl`` file.
    """

    def __init__(self, address: str, identity: str, store: Store, session: Callable[[], SparkSession]):
        """``identity``: of this sink; ``store``: of the checkpoint, which has its notes, too."""
        from occurs.connect.kafka import KafkaPlace, KafkaSink

        self._sink = KafkaSink(KafkaPlace.parse(address), identity, store)
        self._session = session

    def write(self, batch: int, tables: Tables) -> None:
        self._put(batch, detections(tables))

    def spread(self, batch: int, found: Spread) -> None:
        """Messages of one task are in order of time, type by type."""
        self._sink.write(batch, found.made(detections))

    def rows(self, batch: int, table: pa.Table) -> None:
        """Bad rows: each once, as it came, its reasons and its place in headers."""
        found: dict[tuple[str, int], tuple[str, list[str]]] = {}
        for r in table.to_pylist():
            text = r["value"] if r["column"] == "value" and r["data"] in (None, "{}") else r["data"]
            found.setdefault((r["file"], r["row"]), (text, []))[1].append(r["reason"])
        places = [f"{file}@{row}" for file, row in found]
        reasons = pa.array(["; ".join(why) for _, why in found.values()], pa.string())
        texts = pa.array([text for text, _ in found.values()], pa.string())
        nothing = pa.nulls(len(found), pa.string())
        rows = _messages(texts, nothing, pa.array(places, pa.string()))
        self._put(batch, rows.append_column("reason", reasons).append_column("place", pa.array(places, pa.string())))

    def lines(self, batch: int, lines: list[str]) -> None:
        nothing = pa.nulls(len(lines), pa.string())
        self._put(batch, _messages(pa.array(lines, pa.string()), nothing, nothing))

    def _put(self, batch: int, rows: pa.Table) -> None:
        if len(rows):
            self._sink.write(batch, to_spark(self._session(), rows))


class Table:
    """A table of Spark: **exactly once** into Delta Lake and Iceberg, as
    :class:`occurs.connect.sparktables.write.Batches` says.

    Detections of all types are in one table, or each type in a table of its own if its address has ``{type}``.
    """

    def __init__(self, address: str, option: str, owner: str, session: Callable[[], SparkSession]):
        """``owner``: of the checkpoint.  Raises UsageProblem for an address that cannot be written to."""
        from occurs.connect.sparktables.place import TablePlace
        from occurs.connect.sparktables.write import Batches, Target

        self._target = Target(TablePlace.parse(address), option)
        self._batches = Batches(self._target, f"occurs-{owner}{option[1:]}")
        self._session = session

    def write(self, batch: int, tables: Tables) -> None:
        if any(len(t) for t in tables.values()):
            self._put(batch, self._target.parts(tables))

    def spread(self, batch: int, found: Spread) -> None:
        """Files of the table are in order of time."""
        self._put(batch, self._target.frames(found))

    def rows(self, batch: int, table: pa.Table) -> None:
        """Rows that are no events."""
        self._put(batch, [(self._target.place, table)])

    def lines(self, batch: int, lines: list[str]) -> None:
        """JSON texts, one a row."""
        self._put(batch, [(self._target.place, pa.table({"row": pa.array(lines, pa.string())}))])

    def _put(self, batch: int, parts: Sequence[tuple[TablePlace, pa.Table | DataFrame]]) -> None:
        self._batches.write(self._session(), batch, parts)


def detections(tables: Tables) -> pa.Table:
    """Detections as messages, type by type."""
    parts = [_messages(pa.chunked_array([], pa.string()), pa.nulls(0, pa.string()), pa.chunked_array([], pa.string()))]
    for name, table in tables.items():
        label = table["label"] if "label" in table.column_names else pa.nulls(len(table), pa.string())
        parts.append(_messages(json_rows(table, name), pa.array([name] * len(table), pa.string()), label))
    return pa.concat_tables(parts)


def _messages(value: pa.ChunkedArray, kind: pa.Array, label: pa.ChunkedArray) -> pa.Table:
    nothing = pa.nulls(len(value), pa.string())
    return pa.table({"key": nothing, "value": value, "type": kind.cast(pa.string()), "label": label})


@dataclass
class Outputs:
    """``found``: detections; ``late``: rows that came too late, as they came; ``bad``: rows left out, with reasons;
    ``timeouts``: partial matches that guards ended; ``never``: notices of triggers that can fire no more."""

    found: Sink
    late: SideSink | None = None
    bad: SideSink | None = None
    #: of the files of detections, if it is files
    suffix: str | None = None
    timeouts: Sink | None = None
    #: of the files of partial matches, if it is files
    timeouts_suffix: str | None = None
    never: Sink | None = None

    @property
    def by_tasks(self) -> bool:
        """Are many detections written from Spark's tasks?"""
        return isinstance(self.found, SpreadSink)

    def check(self, nothing: MicroBatch) -> None:
        """Raises UsageProblem (``schema-conflict``) if the types cannot be in one file; the micro-batch is empty."""
        for suffix, tables in ((self.suffix, nothing.found), (self.timeouts_suffix, nothing.timeouts)):
            if suffix is not None:
                write_to(io.BytesIO(), SUFFIXES[suffix], tables)

    def write(self, batch: int, done: MicroBatch) -> None:
        """Raises ResourceProblem."""
        if self.late is not None:
            self.late.lines(batch, done.late)
        if self.bad is not None:
            self.bad.rows(batch, done.bad.select(["reason", "file", "row", "column", "value", "data"]))
        if self.timeouts is not None:
            self.timeouts.write(batch, _in_order(done.timeouts))
        if self.never is not None:
            self.never.write(batch, _in_order(done.never))
        if done.spread is None:
            self.found.write(batch, _in_order(done.found))
        else:
            assert isinstance(self.found, SpreadSink)
            self.found.spread(batch, done.spread)


def _in_order(tables: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    return {t: in_order(table) for t, table in tables.items()}
