"""The sources of a stream: directories that are watched, a record that is replayed (topics: ``topics``), and history
for rules that are new."""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from occurs.checked_program import CheckedProgram
from occurs.connect.atomic_files import writing
from occurs.connect.files import read_sources
from occurs.connect.places import is_address, is_table, split_type, user_path
from occurs.connect.store import Disk, Store
from occurs.errors import CheckpointProblem, OccursError, ResourceProblem, UsageProblem
from occurs.follow import folders
from occurs.follow.checkpoint import PAST, SPOOL, Checkpoint
from occurs.follow.folders import PARQUET, watched
from occurs.follow.limits import Limit, Untaken
from occurs.follow.wide import GOOD, Expected, Pinned, wide
from occurs.hosts.stream.source import StreamSource
from occurs.model.canonical import fingerprint
from occurs.model.source import InputOptions
from occurs.model.source import Source as Table
from occurs.model.time import TimeKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def source_of(texts: Sequence[str], speed: float | None) -> Source:
    """The source that ``--events`` names.  Raises UsageProblem and InputProblem."""
    spelled = [split_type(text)[1] for text in texts]
    if "-" in spelled:
        text = "--events -: standard input is a history and cannot be followed"
        hint = "use `occurs run`, which reads it to its end; to follow events, move files into a directory"
        raise UsageProblem.of("unsupported", text, hint=hint)
    topics = [text.startswith("kafka:") for text in spelled]
    if any(topics):
        from occurs.follow.topics import Topics

        if not all(topics) or speed is not None:
            raise UsageProblem.of("bad-option", "--events: Kafka topics cannot be combined with files or with --speed")
        return Topics(texts)
    tables = [is_table(text) for text in spelled]
    if any(tables):
        from occurs.follow.tables import Tables

        if not all(tables) or speed is not None:
            raise UsageProblem.of("bad-option", "--events: tables cannot be combined with files or with --speed")
        return Tables(texts)
    addresses = [is_address(text) for text in spelled]
    if any(addresses):
        from occurs.follow.addresses import Addresses

        if not all(addresses) or speed is not None:
            text = "--events: addresses cannot be combined with files on this machine or with --speed"
            raise UsageProblem.of("bad-option", text)
        return Addresses(texts)
    directories = [user_path(text).is_dir() for text in spelled]
    if speed is not None or not any(directories):
        missing = [t for t in spelled if not user_path(t).exists()]
        if missing and speed is None and not Path(missing[0]).suffix:
            return Folders(texts)  # says that there is no such directory
        return Replay(texts, speed)
    if not all(directories):
        file = texts[directories.index(False)]
        text = f"--events {file} is a file, but others are directories"
        raise UsageProblem.of(
            "bad-option", text, hint="pass only directories to follow them, or use --speed to replay all of them"
        )
    return Folders(texts)


class Source(ABC):
    """Where events come from: unless a method says otherwise, Spark reads the source by itself.

    ``ends``: does it end by itself?  ``trigger``: how often to look for events, if nothing is said.  ``needs_session``:
    must Spark be asked what events look like?
    """

    name: str
    ends = False
    trigger = "1 s"
    needs_session = False

    @abstractmethod
    def look(self, program: CheckedProgram, options: InputOptions, session: SparkSession | None) -> Pinned:
        """What events look like, by what is there."""

    @abstractmethod
    def stream(
        self, session: SparkSession, program: CheckedProgram, expected: Expected, delay: int, limit: Limit | None
    ) -> StreamSource:
        """The rows as a stream; ``delay``: of the watermark, in ticks; ``limit``: of a micro-batch."""

    @property
    def limited(self) -> bool:
        """Has a micro-batch a limit if nothing is said?  Not where that could make rows late: a micro-batch with a part
        of each of several inputs may have newer rows of one than of another."""
        return False

    def taken(self, limit: Limit) -> int | None:
        """Of a limit the number that counts here; None: neither."""
        return None

    def backlog(self, store: Store, progress: Any) -> int | None:
        """What is left after a micro-batch, counted as :meth:`taken` does; None: not known.  ``store``: of the
        checkpoint; ``progress``: of the micro-batch before."""
        return None

    @abstractmethod
    def identity(self) -> list[str]:
        """What a checkpoint remembers it by."""

    def refuse_inside(self, option: str, target: str) -> None:  # noqa: B027
        """Raise UsageProblem if what is written to ``target`` would be read as events."""

    def prepare(self, expected: Expected, checkpoint: Checkpoint) -> None:  # noqa: B027
        """Do all that can fail before Spark is asked."""

    def start(self) -> None:  # noqa: B027
        """The query is about to run."""

    def fed(self) -> bool:
        """Has all been handed to Spark, for ever?"""
        return False

    def check(self) -> None:  # noqa: B027
        """Raise what has gone wrong beside the query."""

    def close(self) -> None:  # noqa: B027
        """The query has ended."""


class Folders(Source):
    """Directories into which files are moved."""

    name = "directory"

    def __init__(self, texts: Sequence[str]):
        self._folders = folders.parse_folders(texts)

    def refuse_inside(self, option: str, target: str) -> None:
        if is_address(target):
            return
        path = user_path(target, option).resolve()
        for folder in self._folders:
            if path.is_relative_to(folder.path.resolve()):
                text = f"{option} {target} is inside the directory {folder.path} and would be read as events"
                raise UsageProblem.of("bad-option", text, hint="use a path outside of --events")

    def look(self, program: CheckedProgram, options: InputOptions, session: SparkSession | None) -> Pinned:
        return pinned(program, folders.first_look(self._folders, program, options), options)

    def stream(
        self, session: SparkSession, program: CheckedProgram, expected: Expected, delay: int, limit: Limit | None
    ) -> StreamSource:
        self._untaken = Untaken(self._folders, expected.options.format)
        most = None if limit is None else limit.shared(len(self._folders)).bytes
        return stream_source(folders.stream(session, self._folders, expected, most), expected, delay)

    @property
    def limited(self) -> bool:
        return len(self._folders) == 1

    def taken(self, limit: Limit) -> int | None:
        return limit.bytes

    def backlog(self, store: Store, progress: Any) -> int | None:
        return self._untaken.bytes(store)

    def identity(self) -> list[str]:
        return [f"{f.type}={f.path.resolve()}" if f.type else str(f.path.resolve()) for f in self._folders]


class Replay(Source):
    """Recorded events, at ``speed`` times the speed they had; None: as fast as they are judged."""

    name = "record"
    ends = True

    def __init__(self, texts: Sequence[str], speed: float | None):
        if speed is not None and not 0 < speed < float("inf"):
            raise UsageProblem.of(
                "bad-option", f"--speed {speed:g}", hint="use a number above 0; 60 replays one minute per second"
            )
        self._texts, self._speed = texts, speed
        self.trigger = "0 s" if speed is None else "1 s"
        self._sources: list[Table] | None = None

    def _read(self, program: CheckedProgram, options: InputOptions) -> list[Table]:
        if self._sources is None:
            self._sources = read_sources(self._texts, schemas=program.declared, options=options)
        return self._sources

    def look(self, program: CheckedProgram, options: InputOptions, session: SparkSession | None) -> Pinned:
        return pinned(program, self._read(program, options), options)

    def prepare(self, expected: Expected, checkpoint: Checkpoint) -> None:
        sources = self._sources
        if sources is None:
            schemas = expected.pinned.schemas
            sources = read_sources(self._texts, schemas=schemas, options=expected.options)
        record = Record(sources, expected)
        self._sources = None  # the rows are in the record now
        self._store = checkpoint.store
        self._identity = record.identity
        self._feeder = Feeder(record, checkpoint.store, self._speed, expected.pinned.kind)

    def stream(
        self, session: SparkSession, program: CheckedProgram, expected: Expected, delay: int, limit: Limit | None
    ) -> StreamSource:
        frame = spooled(session, self._store, expected, chunks=self._speed is None)
        return stream_source(frame, expected, delay)

    def identity(self) -> list[str]:
        return [self._identity]

    def start(self) -> None:
        self._feeder.start()

    def fed(self) -> bool:
        return not self._feeder.is_alive()

    def check(self) -> None:
        if self._feeder.error is not None:
            raise self._feeder.error

    def close(self) -> None:
        self._feeder.stop()


def stream_source(frame: DataFrame, expected: Expected, delay: int) -> StreamSource:
    """Wide rows, and what ``expected`` says of them."""
    pinned = expected.pinned
    return StreamSource(
        frame=frame,
        schemas=dict(pinned.schemas),
        kind=pinned.kind,
        physical=expected.physical,
        has_sequence=pinned.sequence,
        labelled=frozenset(pinned.schemas) if pinned.label else frozenset(),
        start=expected.start,
        until=expected.until,
        delay=delay,
        fields={},
        has_end=pinned.end or any(s.lasting for s in pinned.schemas.values()),
    )


def pinned(program: CheckedProgram, sources: list[Table], options: InputOptions) -> Pinned:
    program.refuse_files("a stream")
    history = program.history(sources, replace(options, bad_rows="skip"))
    return Pinned.of(program, history, sources, options)


# --- recorded events as a stream --------------------------------------------------------------------------------------
# Rows in order of time, as they become due, through small files in the checkpoint.  The files are the source that Spark
# reads, so what was handed out before a crash is neither lost nor handed out anew: their names say which rows they
# hold.

#: rows of a file if there is no speed to keep to: so many are a micro-batch
CHUNK = 100_000
#: seconds between two looks at what is due
_EVERY = 0.2
_NAME = re.compile(r"rows-(\d{12})-(\d{12})\.parquet")


class Record:
    """The rows of some sources as wide rows in order of time; those without one (bad rows) come first."""

    def __init__(self, sources: Sequence[Table], expected: Expected):
        rows = wide(sources, expected)
        times = rows.column("__time")
        first = times.is_null().to_numpy()
        self.times = np.where(first, np.iinfo(np.int64).min, times.fill_null(0).to_numpy())
        order = np.argsort(self.times, kind="stable")
        self.times = self.times[order]
        self.rows = rows.take(pa.array(order))

    @property
    def identity(self) -> str:
        """The same for the same record."""
        return hashlib.blake2b(self.times.tobytes(), digest_size=8).hexdigest()


class Feeder(threading.Thread):
    """Writes what is due into the spool of a checkpoint, from where a run before has stopped, until the record ends or
    it is stopped.

    ``speed``: how many times as fast as it was recorded; None: without delay.  ``error``: what has ended it, if
    something went wrong.  Raises UsageProblem (``missing-unit``) if the length of a tick is unknown.
    """

    def __init__(self, record: Record, store: Store, speed: float | None, kind: TimeKind):
        super().__init__(name="occurs-replay", daemon=True)
        if speed is not None and kind.tick is None:
            hint = "specify the unit of integer times: --time-unit"
            raise UsageProblem.of("missing-unit", f"--speed {speed:g}: the length of a tick is unknown", hint=hint)
        self._record, self._store, self._speed, self._tick = record, store, speed, kind.tick or 1
        self._halt = threading.Event()
        self.error: OccursError | None = None
        with writing(store.address(SPOOL), "disk"):
            names = [n for n in store.list(SPOOL) if _NAME.fullmatch(n.rpartition("/")[2])]
        self._at = _end(store.address(SPOOL), names)
        # elsewhere the store stamps the files, in the order in which they are written
        self._stamp = _stamped([store.path / name for name in names]) if isinstance(store, Disk) else 0.0

    def run(self) -> None:
        times = self._record.times
        began, first = time.monotonic(), self._first()
        while self._at < len(times) and not self._halt.is_set():
            to = min(self._at + CHUNK, len(times))
            if self._speed is not None:
                due = first + int((time.monotonic() - began) * self._speed * 1_000_000 / self._tick)
                to = int(np.searchsorted(times, due, side="right"))
            if to > self._at:
                try:
                    self._write(to)
                except OSError as error:
                    text = f"{self._store.address(SPOOL)}: {error.strerror or error}"
                    self.error = ResourceProblem.of("disk", text)
                    return
            if self._speed is not None and self._at < len(times):
                self._halt.wait(_EVERY)

    def _first(self) -> int:
        """The time that is now: of the row that is next, after a restart too; of the first that has one."""
        known = self._record.times[self._at :]
        known = known[known > np.iinfo(np.int64).min]
        return int(known[0]) if len(known) else 0

    def _write(self, to: int) -> None:
        data = _parquet(self._record.rows.slice(self._at, to - self._at))
        self._store.put(f"{SPOOL}/rows-{self._at:012}-{to:012}.parquet", data, stamp=self._next_stamp())
        self._at = to

    def _next_stamp(self) -> float:
        """Spark takes files in the order of their times of change, which are milliseconds: no two have the same."""
        self._stamp = max(time.time(), self._stamp + 0.002)
        return self._stamp

    @property
    def done(self) -> bool:
        return self._at >= len(self._record.times)

    def stop(self) -> None:
        self._halt.set()
        if self.is_alive():
            self.join()


def _stamped(files: Sequence[Path]) -> float:
    """Let the times of change of files ascend, as they may not in a copy of a checkpoint; returns the last one.

    Spark takes the files in this order, and knows those that it has taken by their names.
    """
    last = 0.0
    for path in files:
        stamp = path.stat().st_mtime
        if stamp <= last:
            stamp = last + 0.002
            os.utime(path, (stamp, stamp))
        last = stamp
    return last


def _parquet(rows: pa.Table) -> bytes:
    """A file whose pages have checksums."""
    out = io.BytesIO()
    pq.write_table(rows, out, write_page_checksum=True)
    return out.getvalue()


def _end(spool: object, names: Sequence[str]) -> int:
    """How many rows the files of a spool hold, all from the first.  Raises CheckpointProblem (``bad-checkpoint``)."""
    end = 0
    for first, last in (map(int, re.findall(r"\d{12}", name)) for name in names):
        if first != end:
            raise CheckpointProblem.damaged(spool, f"a file with the rows from {end:,} to {first:,} is missing")
        end = last
    return end


def spooled(session: SparkSession, store: Store, expected: Expected, *, chunks: bool) -> DataFrame:
    """The wide rows that a feeder writes; ``chunks``: one file per micro-batch."""
    reader = session.readStream.schema(expected.ddl).option("maxFileAge", "36500d").options(**PARQUET)
    if chunks:
        reader = reader.option("maxFilesPerTrigger", "1")
    return reader.parquet(watched(store, SPOOL))


# --- `--replay-from`: history for rules that are new on a stream, through files in the checkpoint --------------------

#: the state of rows of history, as the streaming host has it
HISTORY = 4


def write_history(paths: Sequence[str], expected: Expected, checkpoint: Checkpoint, rules: Mapping[str, str]) -> int:
    """Read recorded events (``PATH`` or ``TYPE=PATH``) and leave them where :func:`history` finds them, once for these
    ``rules``; returns how many.  Raises InputProblem for what cannot be read; nothing is written then."""
    options = expected.options
    sources = read_sources(paths, schemas=expected.pinned.schemas, options=options)
    plain = replace(expected, start=None, until=None, late=False)
    rows = wide(sources, plain)
    rows = rows.filter(pc.equal(rows.column("__state"), GOOD))
    at = rows.schema.get_field_index("__state")
    rows = rows.set_column(at, rows.schema.field(at), pa.array([HISTORY] * len(rows), pa.int32()))
    checkpoint.lay(f"history-{fingerprint(rules, 8)}.parquet", _parquet(rows))
    return len(rows)


def history(session: SparkSession, expected: Expected, source: StreamSource, store: Store) -> DataFrame:
    """What was left there as wide rows of ``source``.  Every query has this stream, as a checkpoint counts them."""
    reader = session.readStream.schema(replace(expected, late=False).ddl)
    reader = reader.option("maxFileAge", "36500d").options(**PARQUET)
    frame = reader.parquet(watched(store, PAST))
    names = {column: source.physical[place] for place, column in expected.physical.items() if place in source.physical}
    special = [c for c in frame.columns if c.startswith("__")]
    return frame.selectExpr(*special, *(f"{have} as {wanted}" for have, wanted in names.items()))
