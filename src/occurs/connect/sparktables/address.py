"""Detections as Parquet at an address, such as ``s3a://bucket/found``, in any file system that the session reaches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa

from occurs.connect.places import format_of
from occurs.connect.sparkerrors import own_errors
from occurs.connect.sparktables.write import storable
from occurs.connect.writers import Tables, typed
from occurs.errors import ResourceProblem, UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from occurs.connect.sparktables.write import Frames

#: schemes that are not those of a file system
_OTHERS = ("http", "https", "ftp", "kafka")
_ABSENT = ("PATH_NOT_FOUND", "UNABLE_TO_INFER_SCHEMA", "FileNotFoundException")


def is_address(text: str) -> bool:
    """Is this an address in a file system, such as ``hdfs://name/folder``?"""
    scheme, found, _ = text.partition("://")
    return bool(found) and scheme.isalnum() and scheme.lower() not in _OTHERS


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
            cause = f"{error.message} {error.__cause__}"
            if any(name in cause for name in _ABSENT):
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
            self._put(name, session.createDataFrame(storable(typed(name, table))))

    def rows(self, session: SparkSession, table: pa.Table) -> None:
        """Write rows that are not events, to ``rows.parquet``.  Raises ResourceProblem."""
        self._put("rows", session.createDataFrame(storable(table)))

    def _put(self, name: str, frame: DataFrame) -> None:
        place = f"{self.address.rstrip('/')}/{quote(name, safe='')}.parquet"
        try:
            with own_errors():
                frame.write.mode("overwrite" if self.overwrite else "errorifexists").parquet(place)
        except ResourceProblem as error:
            if error.kind != "spark-failed":
                raise
            raise ResourceProblem.of("cannot-write", f"{self.option} {place}: {error.message}") from error
