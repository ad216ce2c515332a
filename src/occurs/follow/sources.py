"""What a stream may be read from: directories that are watched, a record that is replayed (topics: ``topics``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from occurs.connect.files import read_sources
from occurs.connect.places import user_path
from occurs.errors import UsageProblem
from occurs.follow import folders, replay
from occurs.follow.checkpoint import Checkpoint
from occurs.follow.expected import Expected, Pinned
from occurs.hosts.stream.source import StreamSource
from occurs.model.source import InputOptions
from occurs.model.source import Source as Table
from occurs.program import Program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Source(Protocol):
    """Where events come from.

    ``ends``: does it end by itself?  ``trigger``: how often to look for events, if nothing is said.  ``needs_session``:
    must Spark be asked what events look like?
    """

    @property
    def name(self) -> str: ...
    @property
    def ends(self) -> bool: ...
    @property
    def trigger(self) -> str: ...
    @property
    def needs_session(self) -> bool: ...

    def refuse_inside(self, option: str, target: str) -> None:
        """Raise UsageProblem if what is written to ``target`` would be read as events."""

    def look(self, program: Program, options: InputOptions, session: SparkSession | None) -> Pinned:
        """What events look like, by what is there."""

    def prepare(self, expected: Expected, checkpoint: Checkpoint) -> None:
        """Do all that can fail before Spark is asked."""

    def identity(self) -> list[str]:
        """What a checkpoint remembers it by."""

    def stream(self, session: SparkSession, program: Program, expected: Expected, delay: int) -> StreamSource:
        """The rows as a stream; ``delay``: of the watermark, in ticks."""

    def start(self) -> None:
        """The query is about to run."""

    def fed(self) -> bool:
        """Has all been handed to Spark, for ever?"""

    def check(self) -> None:
        """Raise what has gone wrong beside the query."""

    def close(self) -> None:
        """The query has ended."""


class Passive:
    """A source that Spark reads by itself."""

    ends = False
    trigger = "1 s"
    needs_session = False

    def refuse_inside(self, option: str, target: str) -> None:
        return None

    def prepare(self, expected: Expected, checkpoint: Checkpoint) -> None:
        return None

    def start(self) -> None:
        return None

    def fed(self) -> bool:
        return False

    def check(self) -> None:
        return None

    def close(self) -> None:
        return None


class Folders(Passive):
    """Directories into which files are moved."""

    name = "directory"

    def __init__(self, texts: Sequence[str]):
        self._folders = folders.parse_folders(texts)

    def refuse_inside(self, option: str, target: str) -> None:
        path = user_path(target, option).resolve()
        for folder in self._folders:
            if path.is_relative_to(folder.path.resolve()):
                text = f"{option} {target} is inside the directory {folder.path} and would be read as events"
                raise UsageProblem.of("bad-option", text, hint="use a path outside of --events")

    def look(self, program: Program, options: InputOptions, session: SparkSession | None) -> Pinned:
        return _pinned(program, folders.first_look(self._folders, program, options), options)

    def stream(self, session: SparkSession, program: Program, expected: Expected, delay: int) -> StreamSource:
        return _source(folders.stream(session, self._folders, expected), expected, delay)

    def identity(self) -> list[str]:
        return [f"{f.type}={f.path.resolve()}" if f.type else str(f.path.resolve()) for f in self._folders]


class Replay(Passive):
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

    def _read(self, program: Program, options: InputOptions) -> list[Table]:
        if self._sources is None:
            self._sources = read_sources(self._texts, schemas=program.declared, options=options)
        return self._sources

    def look(self, program: Program, options: InputOptions, session: SparkSession | None) -> Pinned:
        return _pinned(program, self._read(program, options), options)

    def prepare(self, expected: Expected, checkpoint: Checkpoint) -> None:
        sources = self._sources
        if sources is None:
            schemas = expected.pinned.schemas
            sources = read_sources(self._texts, schemas=schemas, options=expected.options)
        record = replay.Record(sources, expected)
        self._sources = None  # the rows are in the record now
        self._spool = checkpoint.spool
        self._identity = record.identity
        self._feeder = replay.Feeder(record, checkpoint.spool, self._speed, expected.pinned.kind)

    def stream(self, session: SparkSession, program: Program, expected: Expected, delay: int) -> StreamSource:
        frame = replay.stream(session, self._spool, expected, chunks=self._speed is None)
        return _source(frame, expected, delay)

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


def _source(frame: DataFrame, expected: Expected, delay: int) -> StreamSource:
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


def _pinned(program: Program, sources: list[Table], options: InputOptions) -> Pinned:
    program.refuse_files("a stream")
    history = program.history(sources, replace(options, bad_rows="skip"))
    return Pinned.of(program, history, sources, options)
