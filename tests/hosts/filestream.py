"""Streams for tests on Structured Streaming: a directory that gets one file per micro-batch, and all that a query over
it gives, also over several starts from one checkpoint."""

from __future__ import annotations

import os
import random
import uuid
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import occurs
from occurs.connect.tables import to_arrow
from occurs.hosts.stream.batches import MicroBatch
from occurs.model.occurrence import Occurrence
from occurs.verify.compare import occurrences_of

#: of the oldest file; those written later are a second younger each, as the age decides the order
BIRTH = 1_700_000_000


def ticks(table: pa.Table) -> list[int]:
    return table.column("time").cast(pa.int64()).to_pylist()


def disordered(table: pa.Table, delay: int, seed: int) -> pa.Table:
    """The rows in disorder: none comes more than ``delay`` after one with a greater time."""
    rng = random.Random(seed)
    when = [t + rng.random() * delay for t in ticks(table)]
    return table.take(pa.array(sorted(range(len(when)), key=when.__getitem__), pa.int64()))


def cut(table: pa.Table, number: int) -> list[pa.Table]:
    """About ``number`` parts."""
    size = max(1, -(-len(table) // number))
    return [table.slice(n, size) for n in range(0, len(table), size)]


@dataclass
class Folder:
    """A directory of Parquet files as a stream, file by file."""

    path: Path
    number: int = 0

    def put(self, table: pa.Table) -> None:
        self.path.mkdir(parents=True, exist_ok=True)
        hidden = self.path / f".{self.number}"
        pq.write_table(table, hidden)
        os.utime(hidden, (BIRTH + self.number, BIRTH + self.number))
        hidden.rename(self.path / f"{self.number:05}.parquet")
        self.number += 1

    def stream(self, spark: Any, schema: pa.Schema, one_by_one: bool = True) -> Any:
        if not hasattr(self, "_like"):
            self._like = spark.createDataFrame(schema.empty_table()).schema
        reader = spark.readStream.schema(self._like)
        reader = reader.option("maxFilesPerTrigger", 1) if one_by_one else reader
        return reader.parquet(str(self.path))


@dataclass
class Followed:
    """A program that follows a directory.  ``batches``: what every micro-batch gave, by its number; one that is run
    again must give the same."""

    spark: Any
    program: occurs.Program
    folder: Folder
    schema: pa.Schema
    checkpoint: Path
    options: dict[str, Any]
    late: bool = False
    batches: dict[int, MicroBatch] = field(default_factory=dict)
    runs: int = 0

    @cached_property
    def ends(self) -> Folder:
        found = Folder(self.checkpoint.parent / f"{self.checkpoint.name}-ends")
        found.path.mkdir(parents=True)
        return found

    def start(self) -> Any:
        """A query that takes what there is, from where the last one has stopped; planned anew."""
        self.runs += 1
        control = self.ends.stream(self.spark, pa.schema([("end", pa.int64())]))
        frame = self.folder.stream(self.spark, self.schema)
        asked = self.program.detect(frame, **self.options).query(late=self.late, control=control)

        def keep(rows: Any, number: int) -> None:
            got = asked.read(rows.toArrow())
            if number in self.batches:
                again = {t: table.num_rows for t, table in got.found.items()}
                assert again == {t: table.num_rows for t, table in self.batches[number].found.items()}
            self.batches[number] = got

        writer = asked.frame.writeStream.foreachBatch(keep).option("checkpointLocation", str(self.checkpoint))
        return writer.outputMode("append").trigger(availableNow=True).start()

    def run(self) -> None:
        self.start().awaitTermination()

    def close(self) -> None:
        """Nothing comes any more."""
        self.ends.put(pa.table({"end": [1]}))
        self.run()

    @property
    def found(self) -> list[Occurrence]:
        return [e for _, b in sorted(self.batches.items()) for e in occurrences_of(b.found)]

    def total(self, name: str) -> int:
        return sum(b.figures[name] or 0 for b in self.batches.values())


def follow(
    spark: Any, program: occurs.Program, parts: list[pa.Table], place: Path, *, late: bool = False, **options: Any
) -> Followed:
    """All micro-batches, then the end."""
    folder = Folder(place / "in")
    for part in parts:
        folder.put(part)
    out = Followed(spark, program, folder, parts[0].schema, place / "checkpoint", options, late)
    out.run()
    out.close()
    return out


def collected(spark: Any, frame: Any, place: Path) -> pa.Table:
    """Everything that a streaming DataFrame gives, through a memory sink."""
    name = f"sink_{uuid.uuid4().hex}"
    writer = frame.writeStream.format("memory").queryName(name).option("checkpointLocation", str(place / name))
    writer.outputMode("append").trigger(availableNow=True).start().awaitTermination()
    return to_arrow(spark.table(name))
