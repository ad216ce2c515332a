"""Addresses such as ``s3a://bucket/found``, in any file system that the session reaches: events are read there, and
detections are written as Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from occurs.connect.manifests import published
from occurs.connect.places import GIVEN, format_of
from occurs.connect.spark import is_remote, placed, read_files
from occurs.connect.sparkerrors import own_errors
from occurs.connect.sparkstore import SparkStore
from occurs.connect.sparktables.write import storable
from occurs.connect.tables import to_spark
from occurs.connect.writers import Tables, typed
from occurs.errors import InputProblem, ResourceProblem, UsageProblem
from occurs.model.source import InputOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from occurs.connect.sparktables.write import Frames

_ABSENT = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA", "FileNotFoundException")


def _absent(error: ResourceProblem) -> bool:
    """Is there nothing at the address that Spark was to read?"""
    return any(name in f"{error.message} {error.__cause__}" for name in _ABSENT)


@contextmanager
def reached(address: str, what: str) -> Iterator[None]:
    """Errors of Spark in the body, which reads ``what`` at an address of ``--events``.

    Raises:
        InputProblem: If there is nothing at the address (``missing-file``).
        ResourceProblem: If the session does not reach it, or a server does not answer.
    """
    try:
        with own_errors():
            yield
    except ResourceProblem as error:
        if _absent(error):
            text = f"there are no {what} at {address}"
            raise InputProblem.of("missing-file", text, file=address) from error
        raise ResourceProblem.of(error.kind, f"--events {address}: {error.message}") from error


@dataclass(frozen=True)
class Files:
    """Files of events at an address: one file, a folder, or a pattern such as ``s3a://bucket/events/*.csv``.

    Attributes:
        address: The address.
        format: ``csv``, ``json`` or ``parquet``.
    """

    address: str
    format: str

    @classmethod
    def of(cls, address: str, given: str | None) -> Files:
        """The files at an address; ``given``: what ``--format`` says.

        Raises UsageProblem: ``unknown-format`` if neither ``--format`` nor a suffix says it, ``unsupported`` for
        ``.zst``.
        """
        path = Path(address.rstrip("/"))
        found = format_of(path) if given is None else GIVEN[given]
        if found is None:
            hint = "add --format csv, jsonl or parquet"
            text = f"--events {address}: the format of these files is not known"
            raise UsageProblem.of("unknown-format", text, hint=hint)
        if path.suffix.lower() == ".zst":
            hint = "decompress it, or copy it to this machine and use --host local"
            raise UsageProblem.of("unsupported", f"{address}: Spark cannot read .zst files", hint=hint)
        return cls(address, found)

    def frame(self, session: SparkSession, options: InputOptions, *, skip: bool = False) -> DataFrame:
        """The rows as they are, with the columns ``PLACE`` as :func:`occurs.connect.spark.read_frames` gives them.

        ``skip`` leaves torn lines out.

        Raises:
            InputProblem: If there are no such files (``missing-file``).
            ResourceProblem: If the session does not reach the address, or its server does not answer.
        """
        with reached(self.address, f"{self.format} files"):
            found = placed(read_files(session, self.format, self._paths(session), options, skip), self.format)
            found.schema  # noqa: B018  a client of Spark Connect asks the server here
        return found

    def _paths(self, session: SparkSession) -> list[str]:
        """The address, or what manifests of `occurs follow` name there: other parts were not completed."""
        if is_remote(session) or has_magic(self.address):
            return [self.address]
        try:
            store = SparkStore(session, self.address, "--events")
            names = published(store)
        except OSError as error:
            raise ResourceProblem.of("spark-failed", f"the Spark job failed: {error}") from error
        return [self.address] if names is None else [store.address(name) for name in names]

    def __str__(self) -> str:
        return self.address


@dataclass(frozen=True)
class Folder:
    """A folder with a folder of Parquet files for each type, ``TYPE.parquet``, which Spark writes from its tasks.

    Spark adds a file ``_SUCCESS`` to the folder of a type when all its files are there.

    Attributes:
        address: The address of the folder.
        option: The option of the command line that names it, for messages.
        overwrite: Replace the files of types that are written.
    """

    address: str
    option: str = "--out"
    overwrite: bool = False

    def __post_init__(self) -> None:
        if format_of(Path(self.address.rstrip("/"))) is not None:
            hint = "leave the suffix out: at an address, each type has a folder of Parquet files"
            raise UsageProblem.of("unknown-format", f"{self.option} {self.address}: an address is a folder", hint=hint)

    def check(self, session: SparkSession, types: Iterable[str]) -> None:
        """Find out before any work if the folder can be written.

        Raises:
            UsageProblem: If it has Parquet files, unless they are to be replaced (``exists``).
            ResourceProblem: If the session does not reach it (``cannot-write``).
        """
        try:
            with own_errors():
                session.read.option("recursiveFileLookup", "true").parquet(self.address).schema  # noqa: B018
        except ResourceProblem as error:
            if _absent(error):
                return
            raise ResourceProblem.of("cannot-write", f"{self.option} {self.address}: {error.message}") from error
        if not self.overwrite:
            hint = "use another folder, or replace what is there with --overwrite"
            text = f"{self.option} {self.address}: the folder already has Parquet files"
            raise UsageProblem.of("exists", text, hint=hint)

    def write_frames(self, found: Frames) -> None:
        """Write all detections of a run on Spark, from its tasks; a file is in order of time.

        Raises ResourceProblem if they cannot be written.
        """
        for name in found:
            self._put(name, found[name].sortWithinPartitions("time"))

    def write(self, session: SparkSession, tables: Tables) -> None:
        """Write detections of this process, each with its ``type`` first.  Raises ResourceProblem."""
        for name, table in tables.items():
            self._put(name, to_spark(session, storable(typed(name, table))))

    def rows(self, session: SparkSession, table: pa.Table) -> None:
        """Write rows that are not events, to ``rows.parquet``.  Raises ResourceProblem."""
        self._put("rows", to_spark(session, storable(table)))

    def _put(self, name: str, frame: DataFrame) -> None:
        place = f"{self.address.rstrip('/')}/{quote(name, safe='')}.parquet"
        try:
            with own_errors():
                frame.write.mode("overwrite" if self.overwrite else "errorifexists").parquet(place)
        except ResourceProblem as error:
            if error.kind != "spark-failed":
                raise
            raise ResourceProblem.of("cannot-write", f"{self.option} {place}: {error.message}") from error
