"""Tables of Spark as a stream: the rows that a table has, then those that are appended to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from occurs.checked_program import CheckedProgram
from occurs.connect.libraries import Library
from occurs.connect.sparktables.place import STREAM, table_places
from occurs.connect.sparktables.read import stream_of
from occurs.errors import UsageProblem
from occurs.follow.limits import Limit
from occurs.follow.sources import Source
from occurs.follow.wide import Expected, Pinned
from occurs.hosts.spark.read import prepare
from occurs.hosts.stream.source import StreamSource, read_stream
from occurs.model.source import InputOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


#: options that let a micro-batch take all that there is: Delta Lake takes 1,000 files without one, in no order of time
_ALL = {"maxFilesPerTrigger": str(2**31 - 1)}


class Tables(Source):
    """``table:NAME``, ``delta:PATH``, ``iceberg:NAME``, or ``TYPE=`` and one of these for the events of one type."""

    name = "table"
    needs_session = True

    def __init__(self, texts: Sequence[str]):
        self.places = table_places(texts)
        names = [name for name, _ in self.places]
        if len(names) > 1 and (None in names or len(set(names)) < len(names)):
            hint = "use TYPE=delta:PATH and the like, each type once"
            raise UsageProblem.of("bad-option", f"--events has {len(names)} tables", hint=hint)
        for _, place in self.places:
            place.options_for(STREAM, "--events")

    def look(self, program: CheckedProgram, options: InputOptions, session: SparkSession | None) -> Pinned:
        """By the columns of the tables."""
        assert session is not None
        if options.format is not None or options.delimiter != ",":
            text = "--format and --delimiter are for files; a table has columns of its own"
            raise UsageProblem.of("bad-option", text, hint="remove these options")
        program.refuse_files("a stream")
        reading = prepare(program, self._frames(session, None), replace(options, bad_rows="skip"))
        columns = {c for part in reading.parts for c in part.columns}
        sequence, label, end = (c in columns for c in (options.sequence, options.label, options.end))
        schemas = {t: s for t, s in reading.schemas.items() if t in program.reads}
        return Pinned(schemas, reading.kind, sequence, label, end, tuple(reading.unread))

    def taken(self, limit: Limit) -> int | None:
        return limit.bytes

    def identity(self) -> list[str]:
        return [f"{name}={place}" if name else str(place) for name, place in self.places]

    def stream(
        self, session: SparkSession, program: CheckedProgram, expected: Expected, delay: int, limit: Limit | None
    ) -> StreamSource:
        most = None if limit is None else limit.shared(len(self.places))
        frames = self._frames(session, most)
        return read_stream(program, frames, expected.options, delay=delay, late=expected.late)

    def _frames(self, session: SparkSession, most: Limit | None) -> dict[str | None, DataFrame]:
        limits = _ALL
        if most is not None:
            limits = {"maxBytesPerTrigger": str(most.bytes), "streaming-max-rows-per-micro-batch": str(most.rows)}
        return {name: stream_of(session, place, limits) for name, place in self.places}


def stream_session(targets: Sequence[str], source: Source, libraries: Sequence[Library]) -> SparkSession:
    """The session of a follower, with the libraries of the tables that it reads and writes, and ``libraries``."""
    from occurs.connect.sparktables.place import TablePlace
    from occurs.connect.sparktables.session import table_session

    read = [place for _, place in source.places] if isinstance(source, Tables) else []
    return table_session([*read, *map(TablePlace.parse, targets)], libraries)
