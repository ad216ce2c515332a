"""Detections into tables: all at once, or micro-batch by micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from occurs.connect.sparkerrors import own_errors
from occurs.connect.sparktables.place import WRITE, TablePlace
from occurs.connect.sparktables.read import configure
from occurs.connect.sparktables.session import table_errors
from occurs.connect.tables import to_spark
from occurs.connect.writers import Tables, one_table, typed
from occurs.errors import InputProblem, ResourceProblem, UsageProblem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Frames(Protocol):
    """Detections that are on Spark: a DataFrame for each type."""

    def __iter__(self) -> Iterator[str]: ...

    def __getitem__(self, name: str) -> DataFrame: ...

    def together(self) -> DataFrame:
        """The detections of all types; UsageProblem if attributes of one name have different types."""


@dataclass(frozen=True)
class Target:
    """A table that is written to.

    Attributes:
        place: The table, or with ``{type}`` in its address one table per type.
        option: The option of the command line that names it, for messages.
        overwrite: Replace a table that exists.
    """

    place: TablePlace
    option: str = "--out"
    overwrite: bool = False

    def __post_init__(self) -> None:
        self.place.options_for(WRITE, self.option)
        if self.place.scheme == "jdbc":
            hint = "write to a file, a Delta table or an Iceberg table; Spark can copy it to the database"
            raise UsageProblem.of("unsupported", f"{self.option} {self.place}: JDBC is only read", hint=hint)

    def check(self, session: SparkSession, types: Iterable[str]) -> None:
        """Find out before any work if the table can be written; ``types``: of the detections.

        Raises UsageProblem (``exists``) if it exists, unless it is to be replaced or appended to.
        """
        places = [self.place.of(t) for t in types] if self.place.many else [self.place]
        for place in places:
            if provider_of(session, place, self.option) is None or self.overwrite or place.mode:
                continue
            hint = "add ?mode=append to the address to add rows, or --overwrite to replace the table"
            raise UsageProblem.of("exists", f"{self.option} {place}: the table already exists", hint=hint)

    def write(self, session: SparkSession, tables: Tables) -> None:
        """Write all detections, each with its ``type`` first; also an empty table if there are none.

        Raises:
            UsageProblem: If the columns do not fit the table (``schema-conflict``).
            ResourceProblem: If the table cannot be written.
        """
        for place, table in self.parts(tables):
            self.put(session, place, table, provider_of(session, place, self.option))

    def write_frames(self, found: Frames) -> None:
        """Write all detections of a run on Spark, from its tasks: none of them comes to this process.

        Raises:
            UsageProblem: If attributes of one name have different types, or the columns do not fit the table
                (``schema-conflict``).
            ResourceProblem: If the table cannot be written.
        """
        for place, frame in self.frames(found):
            self.put(frame.sparkSession, place, frame, provider_of(frame.sparkSession, place, self.option))

    def frames(self, found: Frames) -> list[tuple[TablePlace, DataFrame]]:
        """The tables with the rows that they get, from Spark's tasks.  Raises UsageProblem (``schema-conflict``)."""
        if self.place.many:
            return [(self.place.of(name), found[name]) for name in found]
        try:
            return [(self.place, found.together())]
        except UsageProblem as error:
            hint = "write each type to a table of its own: {type} in the address"
            raise UsageProblem.of("schema-conflict", error.message, hint=hint) from error

    def rows(self, session: SparkSession, table: pa.Table) -> None:
        """Write rows that are not events.  Raises what :meth:`write` raises."""
        self.put(session, self.place, table, provider_of(session, self.place, self.option))

    def parts(self, tables: Tables) -> list[tuple[TablePlace, pa.Table]]:
        """The tables with the rows that they get."""
        if not self.place.many:
            return [(self.place, one_table(tables))]
        return [(self.place.of(name), typed(name, table)) for name, table in tables.items()]

    def put(
        self, session: SparkSession, place: TablePlace, table: pa.Table | DataFrame, provider: str | None, **more: str
    ) -> None:
        """Write rows to one table, which is made if it does not exist.

        Args:
            session: The session.
            place: The table.
            table: The rows; those of a DataFrame are in order of time in each file.
            provider: The format of the table, None if it does not exist.
            more: Options of the writer.
        """
        with writing_to(place, self.option):
            if isinstance(table, pa.Table):
                frame = to_spark(session, storable(table))
            else:
                frame = table.sortWithinPartitions("time")
            writer = frame.write.options(**place.options, **more)
            if self.overwrite:
                writer = writer.mode("overwrite").option("overwriteSchema", "true")
            else:
                writer = writer.mode("append")
            if place.scheme == "delta":
                writer.format("delta").save(place.name)
            else:
                made = provider or place.provider or ("iceberg" if place.scheme == "iceberg" else None)
                (writer.format(made) if made else writer).saveAsTable(place.sql)


class Batches:
    """Micro-batches of a query into a table.

    **Exactly once** into Delta Lake, which notes with each commit the writer and the number of the micro-batch
    (``txnAppId``, ``txnVersion``) and ignores a number that it has; and into Iceberg, where each snapshot carries both.
    Into tables of other formats **at least once**: after a crash the rows of the last micro-batch may be there twice.
    """

    def __init__(self, target: Target, identity: str) -> None:
        """``identity``: of this writer, the same after a restart and of no other writer."""
        self._target, self._identity = target, identity
        self._providers: dict[str, str] = {}
        self._seen: dict[str, int] = {}

    def write(
        self, session: SparkSession, batch: int, parts: Sequence[tuple[TablePlace, pa.Table | DataFrame]]
    ) -> None:
        """Write a micro-batch, unless its table has it.  Raises what :meth:`Target.write` raises."""
        for place, table in parts:
            if isinstance(table, pa.Table) and not len(table):
                continue
            there = self._providers.get(place.name) or provider_of(session, place, self._target.option)
            provider = there or place.provider or place.scheme
            more: dict[str, str] = {}
            if provider == "delta":
                more = {"txnAppId": self._identity, "txnVersion": str(batch)}
            elif provider == "iceberg":
                if there is not None and batch <= self._last(session, place):
                    continue
                more = {f"snapshot-property.{self._property}": str(batch)}
            self._target.put(session, place, table, there, **more)
            self._seen[place.name] = batch
            if there is not None:  # one that was made just now is looked at once more
                self._providers[place.name] = there

    @property
    def _property(self) -> str:
        return f"occurs.batch.{self._identity}"

    def _last(self, session: SparkSession, place: TablePlace) -> int:
        """The latest micro-batch of this writer in an Iceberg table, by its snapshots; -1 if there is none."""
        found = self._seen.get(place.name)
        if found is None:
            with writing_to(place, self._target.option):
                rows = session.table(f"{place.sql}.snapshots").select("summary").collect()
            numbers = [int(r[0][self._property]) for r in rows if self._property in r[0]]
            found = self._seen[place.name] = max(numbers, default=-1)
        return found


def provider_of(session: SparkSession, place: TablePlace, option: str) -> str | None:
    """The format of a table, such as ``delta``; None if there is no such table."""
    configure(session, place)
    try:
        with own_errors(), table_errors(place, option):
            if place.scheme == "delta":
                session.read.format("delta").load(place.name).schema  # noqa: B018
                return "delta"
            if not session.catalog.tableExists(place.sql):
                return None
            rows = session.sql(f"DESCRIBE TABLE EXTENDED {place.sql}").collect()
    except InputProblem as error:
        if error.kind == "missing-table":
            return None
        raise
    return next((str(r[1]).lower() for r in rows if r[0] == "Provider"), None)


@contextmanager
def writing_to(place: TablePlace, option: str) -> Iterator[None]:
    """A failure of Spark while it writes to a table, in words that name the table."""
    try:
        with own_errors(), table_errors(place, option):
            yield
    except ResourceProblem as error:
        if error.kind != "spark-failed":
            raise
        raise ResourceProblem.of("cannot-write", f"{option} {place}: {error.message}") from error


def storable(table: pa.Table) -> pa.Table:
    """A column that has no values, and so no type, is text: a table needs a type."""
    fields: list[Any] = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in table.schema]
    return table.cast(pa.schema(fields))
